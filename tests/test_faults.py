"""Faults that a hostile tester found once, each by its smallest example."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from project import built, event, outcomes, read_report_json, write_project

from reportgen import build
from reportgen.errors import ReportgenError
from reportgen.inspecting import inspect
from reportgen.warehouse import Warehouse

DETECTOR = """/*---
title = "Mine"
action = "Look."
finding = "{subject}"
---*/
select pipeline, pipeline as subject, 1 as observed, null as baseline, null as threshold, 1 as occurrences,
    1 as affected_runs, 1 as total_runs from pipelines order by pipeline
"""


def two_agents(folder: Path, **more: Any) -> Path:
    rows = [event(f"2026-05-01T10:{n:02d}:00Z", "wx"[n % 3 == 0], run_id=f"r{n % 9}", cost_usd=0.5) for n in range(20)]
    return write_project(folder, rows, **more)


@pytest.mark.parametrize(
    "name",
    ["my-detector", "1st", "a.b", "x;drop", "UPPER case", "a\nb", "b\\c", "\u202ex", "c\u00a0d", "\udcff", "a\n"],
)
def test_a_detector_of_an_impossible_name_stops_nothing(tmp_path: Path, name: str) -> None:
    two_agents(tmp_path, files={f"sql/detectors/{name}.sql": DETECTOR})
    result = build(tmp_path)
    (mine,) = [d for d in result.report.detectors if d.status == "error"]
    assert "name is its id" in (mine.message or "")
    assert result.exit_code == 1
    assert outcomes(read_report_json(result))["cost_outlier"] == "clear"


@pytest.mark.parametrize(
    ("file", "column"),
    [("scoring/vfm.sql", "finding_no"), ("marts/agents.sql", "scores"), ("marts/runs.sql", "run_key"),
     ("scoring/points.sql", "x_num"), ("sources/events.sql", "event_time")],
)  # fmt: skip
def test_an_override_that_lacks_a_column_is_named(tmp_path: Path, file: str, column: str) -> None:
    two_agents(tmp_path, files={f"sql/{file}": "select 1 as a\n"})
    with pytest.raises(ReportgenError) as caught:
        build(tmp_path)
    assert (caught.value.where, caught.value.exit_code) == (f"sql/{file}", 2)
    assert f"'{column}'" in caught.value.what


def test_enormous_token_counts_are_added_up(tmp_path: Path) -> None:
    rows = [event(f"2026-05-02T10:{n % 60:02d}:00Z", "a", run_id=f"r{n % 50}", total_tokens=999_999_999_999)
            for n in range(400)]  # fmt: skip
    report = built(write_project(tmp_path, rows))
    assert report["pipelines"][0]["cost"] == str(400 * 999_999_999_999)
    # 8 events of each of 50 runs.
    assert report["pipelines"][0]["mean_run_cost"] == str(8 * 999_999_999_999)


@pytest.mark.parametrize("flags", [{"since": "2027-01-01"}, {"until": "2020-01-01"}, {"as_of": "2020-01-01"}])
def test_a_period_that_holds_nothing_is_told_as_such(tmp_path: Path, flags: dict[str, Any]) -> None:
    two_agents(tmp_path, feedback=[("2026-05-01", "docs", "w", "50/100", "-")])
    result = build(tmp_path, **flags)
    report = read_report_json(result)
    assert sum(i["outside_period"] for i in report["inputs"]) == 21
    assert "period-empty" in {n["code"] for n in report["notices"]}
    text = result.recommendations.read_text("utf-8")
    assert "outside the period" in text
    assert "append one JSON object" not in text


def test_part_of_a_period_is_counted_but_no_warning(tmp_path: Path) -> None:
    report = built(two_agents(tmp_path), since="2026-05-01T10:10:00Z")
    assert [i["outside_period"] for i in report["inputs"]] == [10]
    assert "period-empty" not in {n["code"] for n in report["notices"]}


def test_a_markdown_template_of_ones_own_needs_no_marker(tmp_path: Path) -> None:
    two_agents(tmp_path, files={"templates/RECOMMENDATIONS.md.j2": "Mine alone\n"})
    assert build(tmp_path).exit_code == 0
    assert build(tmp_path).written == 0
    text = (tmp_path / "RECOMMENDATIONS.md").read_text("utf-8")
    assert text.startswith("<!-- reportgen:")
    assert text.endswith("Mine alone\n")


def test_a_ratio_below_one_saves_nothing_below_the_mean(tmp_path: Path) -> None:
    two_agents(tmp_path, settings="[detectors.bottleneck_agent]\nmin_ratio = 0.5\n")
    report = built(tmp_path)
    found = {r["subject"]: r["saving"] for r in report["recommendations"]}
    # 13 events of x and 7 of w: the mean is 10, and x's three above it cost $0.50 each.
    assert found == {"w": "1.5", "x": "0"} or found == {"x": "1.5", "w": "0"}


def test_a_ratio_below_one_saves_nothing_in_a_run_below_the_mean(tmp_path: Path) -> None:
    rows = [event(run_id="r1", cost_usd=3), event(run_id="r2", cost_usd=1)]
    report = built(write_project(tmp_path, rows, settings="[detectors.cost_outlier]\nmin_ratio = 0.1\n"))
    found = {r["subject"]: r["saving"] for r in report["recommendations"] if r["detector"] == "cost_outlier"}
    assert found == {"r1": "1", "r2": "0"}


@pytest.mark.parametrize("value", ["3.0000000000000000000000001", "1e30", "nan", "inf", "-1"])
def test_a_parameter_that_can_not_be_compared_exactly_is_refused(tmp_path: Path, value: str) -> None:
    two_agents(tmp_path, settings=f"[detectors.cost_outlier]\nmin_ratio = {value}\n")
    with pytest.raises(ReportgenError) as caught:
        build(tmp_path)
    assert caught.value.exit_code == 2


def test_a_folder_where_the_warehouse_belongs(tmp_path: Path) -> None:
    two_agents(tmp_path)
    (tmp_path / ".reportgen" / "warehouse.duckdb").mkdir(parents=True)
    with pytest.raises(ReportgenError, match="can't be replaced"):
        build(tmp_path)
    assert not (tmp_path / "site").exists()


def test_csv_holds_nothing_that_reorders_or_hides_text(tmp_path: Path) -> None:
    rows = [event(agent="abc\u202edcba"), event(agent="zero\u200bwidth"), event(agent="mark\ufeffed")]
    result = build(write_project(tmp_path, rows))
    for path in (result.site / "data").glob("*.csv"):
        assert not set("\u202e\u200b\ufeff") & set(path.read_text("utf-8")), path


@pytest.mark.parametrize(
    "flags",
    [{"recommendations": "healing-log.jsonl"}, {"recommendations": "BUDGET.md"}, {"recommendations": "FEEDBACK.md"},
     {"site": "sql"}, {"site": "templates"}],
)  # fmt: skip
def test_an_output_may_not_take_the_place_of_an_input_to_come(tmp_path: Path, flags: dict[str, str]) -> None:
    two_agents(tmp_path)
    places: dict[str, Any] = {name: tmp_path / place for name, place in flags.items()}
    with pytest.raises(ReportgenError) as caught:
        build(tmp_path, **places)
    assert caught.value.exit_code == 2
    assert not (tmp_path / next(iter(flags.values()))).exists()


def test_a_template_that_calls_itself_is_named(tmp_path: Path) -> None:
    two_agents(tmp_path, files={"templates/index.html": "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}"})
    with pytest.raises(ReportgenError, match=r"index\.html"):
        build(tmp_path)


def test_a_project_has_macros_of_its_own(tmp_path: Path) -> None:
    own = "create or replace macro plainly(amount) as 'about ' || amount;\n"
    folder = write_project(tmp_path, [event(run_id=f"r{n}", cost_usd=9 if n == 0 else 1) for n in range(10)],
                           files={"sql/macros.sql": own})  # fmt: skip
    (found,) = [r for r in built(folder)["recommendations"] if r["detector"] == "cost_outlier"]
    assert "about " in found["vfm_evidence"]["frequency"]
    (folder / "sql" / "macros.sql").write_text("create macro broken(", encoding="utf-8")
    with pytest.raises(ReportgenError, match=r"sql/macros\.sql"):
        build(folder)


def test_a_command_line_fault_is_never_exit_70(tmp_path: Path) -> None:
    two_agents(tmp_path, files={"sql/detectors/my-detector.sql": DETECTOR})
    done = subprocess.run(
        [sys.executable, "-m", "reportgen", "build", str(tmp_path), "--json"], capture_output=True, check=False
    )
    assert done.returncode == 1
    assert json.loads(done.stdout)["exit_code"] == 1


def test_who_works_where_does_not_depend_on_the_period(tmp_path: Path) -> None:
    """Four-field events name no pipeline: a window must not move an agent out of the one its reviews name."""
    rows = [event(f"2026-05-{d:02d}T10:00:00Z", "w", None, estimated_tokens=5) for d in range(1, 11)]
    folder = write_project(tmp_path, rows, [("2026-05-01", "docs", "w", "50/100", "-")])
    assert [p["pipeline"] for p in built(folder)["pipelines"]] == ["docs"]
    assert [(p["pipeline"], p["events"]) for p in built(folder, window="2d")["pipelines"]] == [("docs", 3)]
    # What came later than --as-of is not known then.
    write_project(tmp_path, None, [("2026-05-09", "docs", "w", "50/100", "-")])
    assert [p["pipeline"] for p in built(folder, as_of="2026-05-05")["pipelines"]] == ["(unassigned)"]


def test_what_nobody_looked_for_is_not_retired(tmp_path: Path) -> None:
    folder = write_project(tmp_path, [event(run_id=f"r{n}", cost_usd=9 if n == 0 else 1) for n in range(10)])
    (found,) = built(folder)["recommendations"]
    assert built(folder, since="2030-01-01")["retired"] == []
    assert built(folder, since=None)["retired"] == []
    # Now it is looked for and gone; and with its detector switched off it is nobody's.
    assert [r["id"] for r in built(write_project(folder, [event(run_id="r1", cost_usd=1)]))["retired"]] == [found["id"]]
    write_project(folder, None, settings="[detectors.cost_outlier]\nenabled = false\n")
    assert built(folder)["retired"] == []


def test_a_narrower_window_declares_nothing_gone(tmp_path: Path) -> None:
    # The outlier is a month before the others.
    rows = [event("2026-03-01T10:00:00Z", run_id="r0", cost_usd=9)]
    rows += [event(f"2026-05-{n:02}T10:00:00Z", run_id=f"r{n}", cost_usd=1) for n in range(1, 10)]
    folder = write_project(tmp_path, rows)
    (found,) = [one["id"] for one in built(folder)["recommendations"] if one["detector"] == "cost_outlier"]
    narrow = built(folder, window="21d")
    assert found not in [one["id"] for one in narrow["recommendations"]]
    assert narrow["retired"] == []
    # The same window again has nothing to say of it either, nor has the whole period, in which it is.
    assert built(folder, window="21d")["retired"] == []
    whole = built(folder)
    assert (found in [one["id"] for one in whole["recommendations"]], whole["retired"]) == (True, [])


def test_strict_is_blamed_only_when_it_was_asked_for(tmp_path: Path) -> None:
    two_agents(tmp_path, files={"sql/detectors/bad.sql": "select 1"})
    with (tmp_path / "budget" / "cost-events.jsonl").open("a", encoding="utf-8") as log:
        log.write("{broken}\n")
    assert build(tmp_path).rejected_errors == 0
    assert build(tmp_path, strict=True).rejected_errors == 1


def test_an_empty_file_of_the_project_says_how_to_get_the_built_in_one_back(tmp_path: Path) -> None:
    two_agents(tmp_path, files={"sql/detectors/cost_outlier.sql": "\n"})
    (outlier,) = [d for d in build(tmp_path).report.detectors if d.detector == "cost_outlier"]
    assert outlier.status == "error"
    assert "empty" in (outlier.message or "")


def test_an_incident_without_a_pipeline_goes_where_its_agent_is_reviewed(tmp_path: Path) -> None:
    """As its events do: with four-field events, a heal without --pipeline would count for nobody."""
    rows = [event(f"2026-05-{d:02d}T10:00:00Z", "w", None, estimated_tokens=5) for d in range(1, 5)]
    entry = {"timestamp": "2026-05-02T10:00:00Z", "agent": "w", "error_type": "odd", "attempt": 1, "action": "abort",
             "exit_code": 1, "max_attempts": 0, "delay_seconds": 0, "reason": "", "context": ""}  # fmt: skip
    folder = write_project(tmp_path, rows, [("2026-05-01", "docs", "w", "50/100", "-")], [entry])
    (incident,) = build(folder).report.healing.incident_list
    assert incident.pipeline == "docs"


def test_a_chart_of_too_many_rows_is_told_and_left_out(tmp_path: Path) -> None:
    chart = """/*---
title = "Long"
page = "overview"
kind = "points"
x = "n"
y = "n"
---*/
select i as n from range({rows}) as t (i) order by n
"""
    files = {"sql/charts/fits.sql": chart.format(rows=5000), "sql/charts/longer.sql": chart.format(rows=5001)}
    report = build(two_agents(tmp_path, files=files)).report
    assert {c.id for c in report.charts} & {"fits", "longer"} == {"fits"}
    (told,) = [n for n in report.notices if "longer" in (n.file or "") + n.message]
    assert "gives 5,001 rows for one page, more than 5,000" in told.message


@pytest.mark.parametrize("folder", ["charts", "tables"])
@pytest.mark.parametrize("name", ["a\nb", "\udcff", "b\\c"])
def test_an_impossible_name_of_a_chart_or_table_stops_nothing(tmp_path: Path, folder: str, name: str) -> None:
    result = build(two_agents(tmp_path, files={f"sql/{folder}/{name}.sql": "select 1 as n\n"}))
    assert result.exit_code == 1
    assert any("a SQL file's name is its id" in notice.message for notice in result.report.notices)


def test_too_little_memory_is_no_fault_of_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def needs_much(store: Warehouse, *_: object) -> None:
        store.query("select list(range) from range(1000000000)")

    monkeypatch.setattr(Warehouse, "load_raw", needs_much)
    (two_agents(tmp_path) / "reportgen.toml").write_text('[limits]\nmemory = "64MB"\n')
    with pytest.raises(ReportgenError, match=r"64MB is too little .* memory = \"4GB\"") as caught:
        build(tmp_path)
    assert (caught.value.where, caught.value.exit_code) == ("[limits] memory", 2)
    with pytest.raises(ReportgenError, match="64MB is too little"):
        inspect([str(tmp_path / "budget" / "cost-events.jsonl")], tmp_path)
