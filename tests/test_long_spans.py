"""Charts over time of a project that has grown for years: a bar stands for a week or a month, and nothing is lost."""

from __future__ import annotations

import csv
from collections import defaultdict
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from project import built, event, write_project

from reportgen.resources import resource_dir
from reportgen.warehouse import Warehouse

FIRST = date(2023, 1, 2)
#: No two of them more than a year apart: that would be a clock fault.
DAYS = [FIRST + timedelta(days=days) for days in (0, 1, 6, 7, 300, 600, 601, 900)]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two and a half years: two pipelines, one agent in both."""
    events = [
        event(f"{day}T09:00:00Z", pipeline=pipeline, run_id=f"{pipeline}-{day}", cost_usd=str(Decimal(place) / 10))
        for place, day in enumerate(DAYS, 1)
        for pipeline in ("docs", "hunt")
    ]
    folder = write_project(
        tmp_path_factory.mktemp("long"), events, files={"BUDGET.md": "- limit: 1 cents\n- window: daily\n"}
    )
    report = built(folder)
    assert [one["status"] for one in report["detectors"] if one["status"] == "error"] == []
    abouts = {one["file"]: one["about"] or one["title"] for one in report["charts"]}
    assert abouts["sql/charts/cost_by_day.sql"] == "Cost per week, by pipeline"
    assert abouts["sql/charts/pipeline_cost_by_day.sql"] == "Cost per week, by agent"
    assert abouts["sql/charts/agent_cost_by_day.sql"] == "Cost per week"
    return folder


def weeks() -> dict[str, Decimal]:
    """By the Monday of its week: what a pipeline cost."""
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for place, day in enumerate(DAYS, 1):
        sums[str(day - timedelta(days=day.weekday()))] += Decimal(place) / 10
    return dict(sums)


@pytest.mark.parametrize("name", ["cost-by-day", "pipeline-cost-by-day-docs", "agent-cost-by-day-writer"])
def test_a_bar_is_a_week_and_its_sum(project: Path, name: str) -> None:
    with (project / "site" / "data" / f"chart-{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for pipeline in {row.get("pipeline", "docs") for row in rows}:
        mine = [row for row in rows if row.get("pipeline", "docs") == pipeline]
        assert {row["day"]: Decimal(row["cost_usd"]) for row in mine} == weeks()
        assert len(mine) == len(weeks())
    # A daily limit is no limit of a week.
    assert not any(row.get("daily_limit") for row in rows)


@pytest.mark.parametrize(
    ("days", "bar", "start"),
    [(0, "day", "2026-05-20"), (200, "day", "2026-05-20"), (201, "week", "2026-05-18"), (1400, "week", "2026-05-18"),
     (1401, "month", "2026-05-01"), (6000, "month", "2026-05-01"), (6001, "year", "2026-01-01")],
)  # fmt: skip
def test_how_long_a_bar_is(days: int, bar: str, start: str) -> None:
    with Warehouse() as store:
        store.run_script((resource_dir("sql") / "macros.sql").read_text(encoding="utf-8"))
        told = store.query(
            f"select bar_of(date '2026-05-20', date '2026-05-20' + {days}),"
            f" cast(bar_start(date '2026-05-20', bar_of(date '2026-05-20', date '2026-05-20' + {days})) as varchar)"
        ).rows
    assert told == [(bar, start)]
