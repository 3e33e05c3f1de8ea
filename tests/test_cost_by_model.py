"""The chart of what each model costs: shares of the exact sums, what names no model last, one pipeline where asked."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from markdown_reading import table_with
from project import built, event, write_project


def rows_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "site" / "data" / "chart-cost-by-model.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def calls() -> list[dict[str, object]]:
    told: dict[str, Any] = {"input_tokens": 30, "cache_read_tokens": 60, "output_tokens": 10}
    return [
        event(model="large", cost_usd="0.03", **told),
        event(model="small", cost_usd="0.005", pipeline="hunt"),
        event(model="small", cost_usd="0.005"),
        event(model="odd"),
        event(cost_usd="0.01"),
    ]


def test_shares_are_of_the_exact_cost_and_unknown_stays_unknown(tmp_path: Path) -> None:
    report = built(write_project(tmp_path, calls()))
    assert [d for d in report["detectors"] if d["status"] == "error"] == []
    # 0.03, 0.01 and 0.01 of 0.05 dollars; of 90 tokens of input, 60 came from the cache.
    assert [(r["model"], r["cost"], r["share"], r["events"], r["unknown"], r["cached"]) for r in rows_of(tmp_path)] == [
        ("large", "0.03", "0.6", "1", "0", "0.666666666667"),
        ("small", "0.01", "0.2", "2", "0", ""),
        ("odd", "", "", "1", "1", ""),
        ("(none named)", "0.01", "0.2", "1", "0", ""),
    ]
    (chart,) = [one for one in report["charts"] if one["file"] == "sql/charts/cost_by_model.sql"]
    assert chart["title"] == "large is 60% of the cost that is known"
    # The same stands in RECOMMENDATIONS.md, for who reads no more than that.
    rows = table_with((tmp_path / "RECOMMENDATIONS.md").read_text("utf-8"), "Model")
    assert [row[:5] for row in rows] == [
        ["large", "$0.030", "60%", "1", "0"],
        ["small", "$0.010", "20%", "2", "0"],
        ["odd", "unknown", "–", "1", "1"],
        ["(none named)", "$0.010", "20%", "1", "0"],
    ]


def test_of_one_pipeline_only_its_models(tmp_path: Path) -> None:
    built(write_project(tmp_path, [*calls(), event(model="other", cost_usd="1", pipeline="hunt")]), pipeline="hunt")
    assert [(r["model"], r["cost"]) for r in rows_of(tmp_path)] == [("other", "1"), ("small", "0.005")]
