"""The detectors that come switched off: what switches them on, what they need, and all nine on one project's files."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from project import built, event, findings, outcomes, read_report_json, write_project

from reportgen import build
from reportgen.detectorfile import COUNTS, counted
from reportgen.errors import ReportgenError

NINE = (
    "budget_forecast",
    "cost_per_point",
    "expensive_model",
    "healing_escalations",
    "low_cache_use",
    "recurring_pattern",
    "run_cost_trend",
    "score_regression",
    "tool_failure_hotspot",
)
FOUR = {"bottleneck_agent", "cost_outlier", "revision_loops", "underutilized_agent"}
ALL_ON = "".join(f"[detectors.{name}]\nenabled = true\n" for name in NINE)


def day(number: int) -> date:
    return date(2026, 11, 1) + timedelta(days=number)


def wasteful(folder: Path, settings: str = ALL_ON) -> Path:
    """Twenty-four days of `docs`: from the thirteenth on `writer` works on a model at five times the price, never from the
    cache, and its reviews fall; `ops` does little, and nothing wrong."""
    events, feedback, healing = [], [], []
    for n in range(24):
        late = n >= 12
        for call in range(5):
            tokens: dict[str, Any] = {"input_tokens": 4000, "output_tokens": 0, "cache_read_tokens": 0}
            price = 0.05 if late else 0.01
            time = f"{day(n)}T09:{call:02d}:00Z"
            model = "large" if late else "small"
            events.append(event(time, "writer", run_id=f"r{n}", model=model, cost_usd=price, **tokens))
            tokens = {"input_tokens": 4000, "output_tokens": 0, "cache_read_tokens": 3000}
            events.append(event(time, "editor", run_id=f"r{n}", model="small", cost_usd=0.002, **tokens))
        events.append(event(f"{day(n)}T12:00:00Z", "guard", "ops", run_id=f"o{n}", cost_usd=0.001, model="small"))
        tags = "timeout" if n in (3, 4, 5) else "-"
        feedback.append((str(day(n)), "docs", "writer", f"{30 if late else 90}/100", tags))
        feedback.append((str(day(n)), "docs", "editor", "90/100", "-"))
    for n in (3, 4, 6):
        for attempt in range(1, 7):
            action, code = ("retry-shorter-scope", 0) if attempt < 6 else ("escalate", 2)
            healing.append({
                "timestamp": f"{day(n)}T09:1{attempt}:00Z", "agent": "writer", "pipeline": "docs", "run_id": f"r{n}",
                "error_type": "timeout", "attempt": attempt, "max_attempts": 5, "action": action, "exit_code": code,
                "delay_seconds": 0, "reason": "made up", "context": "no answer",
            })  # fmt: skip
    budget = "# Budget\n\n- window: daily\n- limit: 500 cents\n- writer: 400 cents/monthly\n"
    return write_project(folder, events, feedback, healing, settings, {"BUDGET.md": budget})


def of_nine(report: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    return [one for one in findings(report) if one[0] in NINE]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wasteful(tmp_path_factory.mktemp("wasteful"))


@pytest.fixture(scope="module")
def report(project: Path) -> dict[str, Any]:
    return built(project)


def test_all_nine_find_what_is_in_the_files(report: dict[str, Any]) -> None:
    """Worked out from the files by hand; writer costs 0.05 a run at first, then 0.25, and editor 0.01.

    - forecast: in November 12 x 0.05 + 12 x 0.25 = 3.60 are spent by the 24th; 6 days at 0.25 make it 5.10 of 4.00.
    - a point: writer 0.15 a run at a mean of 60, 0.0025; but 60 is the flag and not below it: nothing is found.
    - 1,000 tokens: 0.0125 on large. small: 0.0025.
    - the cache: 0 of the input. The runs: 0.26 after the middle of the period, 0.06 before.
    - scores: 30 in the last ten. Of the ten before, two are 30 and eight are 90: 78.
    - tool failures: reviews on three days, two of them with an incident, and an incident on one more: 4.
    """
    assert of_nine(report) == [
        ("budget_forecast", "(all pipelines)", "writer, monthly", "5.1"),
        ("expensive_model", "docs", "writer", "0.0125"),
        ("healing_escalations", "docs", "docs", "3"),
        ("low_cache_use", "docs", "writer", "0"),
        ("recurring_pattern", "docs", "timeout", "3"),
        ("run_cost_trend", "docs", "docs", "0.26"),
        ("score_regression", "docs", "writer", "30"),
        ("tool_failure_hotspot", "docs", "writer", "4"),
    ]
    assert outcomes(report)["cost_per_point"] == "clear"


def test_one_more_low_review_makes_the_points_dear(project: Path, tmp_path: Path) -> None:
    folder = wasteful(tmp_path)
    with (folder / "FEEDBACK.md").open("a", encoding="utf-8") as log:
        log.write(f"| {day(23)} | docs | writer | 35/100 | issue | fix | - |\n")
    # 24 scores with a mean of 60 and one of 35: 59.00. 0.15 / 59, beside 0.01 / 90.
    assert [one for one in of_nine(built(folder)) if one[0] == "cost_per_point"] == [
        ("cost_per_point", "docs", "writer", "0.002542372881")
    ]


def test_a_pipeline_is_exactly_its_part_of_the_nine_too(project: Path, report: dict[str, Any], tmp_path: Path) -> None:
    for name in ("docs", "ops"):
        part = built(project, pipeline=name, site=tmp_path / name, recommendations=tmp_path / f"{name}.md")
        assert findings(part) == [one for one in findings(report) if one[1] == name]


def test_the_tool_and_the_advice_are_in_the_pages(project: Path, report: dict[str, Any]) -> None:
    (hotspot,) = [r for r in report["recommendations"] if r["detector"] == "tool_failure_hotspot"]
    assert hotspot["finding"] == (
        "4 of the 4 tool failures and timeouts of docs are writer's, told by 3 reviews and 3 incidents: on 4 of the 24"
        " days on which it worked. The latest was on 2026-11-07, none in the later half of the period (12 working days):"
        " the cause may be mended already."
    )
    assert hotspot["action"].endswith("Look first at Edit, which it used last before 3 of these incidents.")
    (pattern,) = [r for r in report["recommendations"] if r["detector"] == "recurring_pattern"]
    assert pattern["action"] == "Give the step a smaller scope or more time, and find out what it waits for."
    (forecast,) = [r for r in report["recommendations"] if r["detector"] == "budget_forecast"]
    assert forecast["title"] == "Budget forecast: writer, monthly"
    # 0.40 are left, and two days take 0.50.
    assert forecast["action"].startswith("Decide before 2026-11-26 whether ")
    # November is the first window: none before it was over, and this one is not over yet.
    assert forecast["vfm_evidence"]["frequency"].startswith("1 window forecast to go over in ")
    assert [e["value"] for e in forecast["evidence"] if e["label"] == "Earlier windows over the limit"] == ["0"]
    for one in report["recommendations"]:
        if one["detector"] in NINE:
            page = (project / "site" / "recommendations" / f"{one['id']}.html").read_text("utf-8")
            assert "In a picture" in page, one["id"]


def test_what_is_not_about_failures_counts_none(report: dict[str, Any]) -> None:
    parts = {r["detector"]: r["vfm"]["failure_reduction"] for r in report["recommendations"] if r["detector"] in NINE}
    assert parts == {
        "budget_forecast": 0,
        "expensive_model": 0,
        "healing_escalations": 18,
        "low_cache_use": 0,
        "recurring_pattern": 13,
        "run_cost_trend": 0,
        "score_regression": 18,
        "tool_failure_hotspot": 18,
    }


# --- off and on -----------------------------------------------------------------------------------------------------


def test_a_build_without_settings_runs_the_four_and_names_the_others(tmp_path: Path) -> None:
    result = build(wasteful(tmp_path, ""))
    report = read_report_json(result)
    assert set(outcomes(report)) == FOUR
    assert of_nine(report) == []
    assert [d["detector"] for d in report["detectors_off"]] == list(NINE)
    text = result.recommendations.read_text("utf-8")
    assert f"Switched off, so that they looked at nothing: {NINE[0]}," in text.replace("\n", " ")
    page = (tmp_path / "site" / "detectors.html").read_text("utf-8")
    assert all(name in page for name in NINE)


def test_each_is_switched_by_one_setting(tmp_path: Path) -> None:
    settings = "[detectors]\nlow_cache_use.enabled = true\ncost_outlier.enabled = false\n"
    report = built(wasteful(tmp_path, settings))
    assert set(outcomes(report)) == FOUR - {"cost_outlier"} | {"low_cache_use"}
    assert [d["detector"] for d in report["detectors_off"]] == sorted({*NINE, "cost_outlier"} - {"low_cache_use"})


def test_a_parameter_alone_switches_nothing_on(tmp_path: Path) -> None:
    assert set(outcomes(built(wasteful(tmp_path, "[detectors.low_cache_use]\nmin_runs = 2\n")))) == FOUR


def test_switching_on_what_does_not_exist_names_the_near_one(tmp_path: Path) -> None:
    with pytest.raises(ReportgenError, match="did you mean 'low_cache_use'"):
        build(wasteful(tmp_path, "[detectors.low_cash_use]\nenabled = true\n"))


def test_a_project_that_replaces_a_file_says_itself_whether_it_is_on(tmp_path: Path) -> None:
    from reportgen.resources import resource_dir

    text = (resource_dir("sql") / "detectors" / "low_cache_use.sql").read_text("utf-8")
    wasteful(tmp_path, "")
    write_project(tmp_path, None, files={"sql/detectors/low_cache_use.sql": text.replace("enabled = false\n", "")})
    assert outcomes(built(tmp_path))["low_cache_use"] == "found"


# --- too little to go by --------------------------------------------------------------------------------------------


def test_each_says_what_it_has_too_little_of(tmp_path: Path) -> None:
    rows = [event(f"2026-11-02T09:0{n}:00Z", run_id="r1", total_tokens=5) for n in range(3)]
    folder = write_project(tmp_path, rows, [("2026-11-02", "docs", "writer", "50/100", "-")], [], ALL_ON)
    report = built(folder)
    said = {d["detector"]: d["message"] for d in report["detectors"] if d["detector"] in NINE}
    assert {d["status"] for d in report["detectors"] if d["detector"] in NINE} == {"skipped"}
    assert said == {
        "budget_forecast": "missing input: it needs BUDGET.md",
        "cost_per_point": "not_enough_data: 1 of at least 10 review scores",
        "expensive_model": "not_enough_data: 0 of at least 10 events with a known cost in US dollars",
        "healing_escalations": "not_enough_data: 0 of at least 3 healing incidents",
        "low_cache_use": "not_enough_data: 0 of at least 25 events with input and cache-read tokens",
        "recurring_pattern": "not_enough_data: 0 of at least 3 feedback tags",
        "run_cost_trend": "not_enough_data: 1 of at least 20 runs of one pipeline",
        "score_regression": "not_enough_data: 1 of at least 20 review scores of one agent",
        "tool_failure_hotspot": "not_enough_data: 1 of at least 3 reports of reviewers and of the healing log",
    }


def test_a_daily_limit_is_no_limit_to_forecast(tmp_path: Path) -> None:
    folder = wasteful(tmp_path)
    write_project(folder, None, files={"BUDGET.md": "# Budget\n\n- window: daily\n- limit: 1 cent\n"})
    (one,) = [d for d in built(folder)["detectors"] if d["detector"] == "budget_forecast"]
    assert one["message"] == "not_enough_data: 0 of at least 1 weekly or monthly limit in BUDGET.md"


def test_counts_in_words_agree_with_their_number() -> None:
    assert {name: counted(name, 1) for name in COUNTS} == {
        "events": "1 event",
        "runs": "1 run",
        "pipeline_runs": "1 run of one pipeline",
        "days": "1 day with events",
        "priced_events": "1 event with a known cost in US dollars",
        "cache_events": "1 event with input and cache-read tokens",
        "feedback_rows": "1 review",
        "scores": "1 review score",
        "agent_scores": "1 review score of one agent",
        "tags": "1 feedback tag",
        "healing_attempts": "1 healing attempt",
        "incidents": "1 healing incident",
        "reports": "1 report of reviewers and of the healing log",
        "period_limits": "1 weekly or monthly limit in BUDGET.md",
    }
    assert counted("days", 1204) == "1,204 days with events"
