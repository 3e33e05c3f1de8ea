"""Chart files: what they say they found is right, to the cent; what leads where; what is wrong with one is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from project import event, write_project

from reportgen import build
from reportgen.checking import check
from reportgen.model import Chart, Report
from reportgen.render.chartview import CHART_ROWS

BUDGET = "- window: daily\n- limit: 2000 cents\n"


def runs(pipeline: str, agent: str, costs: list[str], *, day: int = 2) -> list[dict[str, Any]]:
    """One event a run, a run a day."""
    return [
        event(f"2026-11-{day + n:02d}T09:00:00Z", agent, pipeline, run_id=f"{pipeline}-{n}", cost_usd=float(cost))
        for n, cost in enumerate(costs)
    ]


def reviews(agent: str, scores: list[int], pattern: str = "-") -> list[tuple[str, ...]]:
    return [(f"2026-11-{n + 1:02d}", "docs", agent, f"{score}/100", pattern) for n, score in enumerate(scores)]


#: docs: ten runs at $1 and one at $30; web: one run at $10, on the second day.
EVENTS = [
    *runs("docs", "writer", ["1"] * 10 + ["30"]),
    *runs("web", "tester", ["10"], day=3),
]
FEEDBACK = [
    *reviews("writer", [70] * 10 + [50] * 10),
    *reviews("tester", [90] * 19),
    *reviews("tester", [], "loop-excess"),
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    feedback = [*FEEDBACK, *[(f"2026-11-{day:02d}", "docs", "writer", "-", "loop-excess") for day in (3, 4, 9)]]
    home = write_project(tmp_path_factory.mktemp("home"), EVENTS, feedback, files={"BUDGET.md": BUDGET})
    return build(home).report


def only(report: Report, name: str, key: str = "") -> Chart:
    (found,) = [one for one in report.charts if one.id == name and one.key == key]
    return found


def columns(chart: Chart, *names: str) -> list[tuple[Any, ...]]:
    places = [[column.name for column in chart.columns].index(name) for name in names]
    return [tuple(row[place] for place in places) for row in chart.rows]


# ── what the charts say ──────────────────────────────────────────────────────────────────────────────────────────


def test_cost_per_day_names_the_dearest_and_the_days_over_the_budget(report: Report) -> None:
    chart = only(report, "cost-by-day")
    # 40 of 50 dollars; on 11-12 the run of $30 alone is over $20.
    assert chart.title == "docs costs most: $40.00, 80% of all; all agents together were over the daily budget on 1 day"
    assert chart.about == "Cost per day, by pipeline"
    assert (chart.line_at, chart.line_label) == ("20", "daily budget of all agents")


def test_the_budget_line_stands_only_where_the_bars_are_what_the_limit_is_of(tmp_path: Path) -> None:
    home = write_project(tmp_path / "one", EVENTS, files={"BUDGET.md": BUDGET})
    shown = only(build(home, pipeline="docs").report, "cost-by-day")
    assert (shown.title, shown.line_at) == ("docs costs $40.00 on 11 days", None)
    tokens = [event("2026-11-02T10:00:00Z", "scribe", "notes", run_id="n", total_tokens=900)]
    mixed = build(write_project(tmp_path / "two", [*EVENTS, *tokens], files={"BUDGET.md": BUDGET})).report
    assert [one.line_at for one in mixed.charts if one.id.startswith("cost-by-day")] == [None, None]
    weekly = build(
        write_project(tmp_path / "three", EVENTS, files={"BUDGET.md": "- window: weekly\n- limit: 900 cents"})
    )
    assert only(weekly.report, "cost-by-day").line_at is None


def test_of_many_pipelines_eleven_have_a_name_and_the_others_are_one(tmp_path: Path) -> None:
    events = [one for n in range(1, 15) for one in runs(f"p{n:02d}", "writer", [str(n)])]
    chart = only(build(write_project(tmp_path, events)).report, "cost-by-day")
    rows = dict(columns(chart, "pipeline", "cost"))
    assert len(rows) == 12
    assert (rows["p14"], rows["p04"], rows["(others)"]) == ("14", "4", "6")  # 3 + 2 + 1


def test_runs_say_how_many_are_outliers_and_lead_to_their_recommendation(report: Report) -> None:
    chart = only(report, "pipeline-runs", "docs")
    # The mean is 40 / 11; three times that is 10.909…
    assert chart.title == "1 of 11 runs cost 3x the mean or more"
    assert chart.line_at == "10.909090909091"
    (found,) = [one for one in report.recommendations if one.detector == "cost_outlier"]
    linked = [row for row in columns(chart, "run", "recommendation", "recommendation_id") if row[2]]
    assert linked == [("docs-10", found.title, found.id)]
    assert (chart.link, chart.link_to) == ("recommendation_id", "recommendations")
    # Of a single run nothing can be said.
    alone = only(report, "pipeline-runs", "web")
    assert (alone.title, alone.about) == ("Cost of each run", "")


def test_the_dearest_run_is_that_of_all_runs_drawn_or_not(tmp_path: Path) -> None:
    # 260 runs: the dearest is the first, and only the latest 100 are drawn.
    events = [
        event(f"2026-11-02T{n // 60:02d}:{n % 60:02d}:00Z", run_id=f"r{n:03d}", cost_usd=2 if n == 0 else 1)
        for n in range(260)
    ]
    chart = only(build(write_project(tmp_path, events)).report, "pipeline-runs", "docs")
    assert len(chart.rows) == 100
    # 2 x 260 / 261
    assert chart.title == "The dearest of 260 runs costs 1.99x the mean"


def test_scores_tell_the_two_windows_that_the_trend_compares(report: Report) -> None:
    chart = only(report, "agent-scores", "writer")
    assert chart.title == "Scores fell from 70 to 50: means of 10"
    assert chart.level == "window_mean"
    assert [level for _, level in columns(chart, "reviewed", "window_mean")] == ["70"] * 10 + ["50"] * 10
    # With one score less than two windows there is no level.
    less = only(report, "agent-scores", "tester")
    assert {level for _, level in columns(less, "reviewed", "window_mean")} == {None}
    assert less.title == "None of 19 scores is below 60"


def test_agents_stand_by_cost_and_score_and_an_unknown_score_is_no_zero(tmp_path: Path) -> None:
    more = runs("docs", "nobody-scored", ["7"], day=20)
    feedback = [*reviews("writer", [40, 50]), ("2026-11-03", "web", "tester", "90/100", "-")]
    chart = only(build(write_project(tmp_path, [*EVENTS, *more], feedback)).report, "agents-cost-score")
    assert chart.title == "writer costs $40.00 and scores 45 of 100"
    assert columns(chart, "agent", "cost", "mean_score", "runs", "low") == [
        ("writer", "40", "45", 11, True),
        ("tester", "10", "90", 1, False),
        ("nobody-scored", "7", None, 1, False),
    ]
    assert (chart.page, chart.link, chart.link_to) == ("agents", "agent", "agents")


def test_shares_of_events_stand_beside_one_and_a_half_times_an_even_share(tmp_path: Path) -> None:
    events = [event(agent=name, run_id="r") for name, count in (("a", 6), ("b", 1), ("c", 1)) for _ in range(count)]
    chart = only(build(write_project(tmp_path, events)).report, "pipeline-agents", "docs")
    # 6 of 8 events, an even share is a third; the line is at 1.5 / 3.
    assert chart.title == "a has 75% of the events, 2.25x an even share"
    assert chart.line_at == "0.5"
    assert columns(chart, "agent", "share", "bottleneck") == [
        ("a", "0.75", True),
        ("b", "0.125", False),
        ("c", "0.125", False),
    ]


def test_recommendations_stand_when_what_they_rest_on_happened(report: Report) -> None:
    chart = only(report, "recommendation-times")
    spans = {row[0]: row[1:] for row in columns(chart, "recommendation_id", "first_day", "last_day", "rests_on")}
    by_detector = {one.detector: one for one in report.recommendations}
    assert spans[by_detector["cost_outlier"].id] == ("2026-11-12", "2026-11-12", "the run")
    assert spans[by_detector["revision_loops"].id] == ("2026-11-03", "2026-11-09", "reviews tagged loop-excess")
    assert set(spans) == {one.id for one in report.recommendations}
    titles = dict(columns(chart, "recommendation_id", "recommendation"))
    assert titles == {one.id: one.title for one in report.recommendations}


def test_a_pipeline_alone_keeps_the_recommendations_that_are_shown(tmp_path: Path) -> None:
    home = write_project(tmp_path, [*EVENTS, *runs("web", "tester", ["1"] * 10 + ["90"], day=4)])
    shown = build(home, pipeline="web").report
    chart = only(shown, "recommendation-times")
    assert {row[0] for row in columns(chart, "recommendation_id")} == {one.id for one in shown.recommendations} != set()


def test_incidents_by_type_and_outcome(tmp_path: Path) -> None:
    def attempt(kind: str, number: int, action: str, run: str) -> dict[str, Any]:
        row = {"timestamp": f"2026-11-02T09:0{number}:00Z", "agent": "writer", "run_id": run, "error_type": kind}
        return {**row, "attempt": number, "action": action}

    log = [
        attempt("timeout", 1, "retry-shorter-scope", "a"),
        attempt("timeout", 1, "retry-shorter-scope", "b"),
        attempt("timeout", 2, "escalate", "b"),
        attempt("permission-denied", 1, "skip", "c"),
    ]
    made = build(write_project(tmp_path, EVENTS, healing=log)).report
    chart = only(made, "healing-by-type")
    assert chart.title == "timeout comes most often, 2 of 3 incidents; 1 escalated"
    assert columns(chart, "error_type", "outcome", "incidents") == [
        ("timeout", "escalated", 1),
        ("timeout", "presumed recovered", 1),
        ("permission-denied", "blocked", 1),
    ]
    assert chart.colours == {"presumed recovered": "good", "blocked": "warn", "escalated": "bad"}
    assert only(made, "healing-by-day").title == "4 recovery attempts on 1 day, most on 2026-11-02: 4"


# ── the contract ─────────────────────────────────────────────────────────────────────────────────────────────────

OWN = """/*---
title = "Plain"
headline = [
    "{who} costs {cost:usd}, or {share:share}, {cost:n} in all of {count}",
    "Nobody costs {cost:usd}",
]
page = "overview"
kind = "rows"
x = "cost"
y = "name"
[columns.count]
label = "Count"
unit = "runs"
---*/
"""


@pytest.mark.parametrize(
    ("select", "title", "about"),
    [
        (
            "'a<b>' as who, 1.5 as cost, 0.125 as share, 3 as count",
            "a<b> costs $1.50, or 13%, 1.5 in all of 3 runs",
            "Plain",
        ),
        ("null as who, 1.5 as cost, 0.125 as share, 3 as count", "Nobody costs $1.50", "Plain"),
        ("null as who, null as cost, 0.125 as share, 3 as count", "Plain", ""),
    ],
)
def test_the_first_headline_whose_values_are_known_is_said(tmp_path: Path, select: str, title: str, about: str) -> None:
    sql = f"{OWN}select 'n' as name, {select} order by name"
    chart = only(build(write_project(tmp_path, EVENTS, files={"sql/charts/own.sql": sql})).report, "own")
    assert (chart.title, chart.about) == (title, about)


def test_what_is_wrong_with_a_chart_file_is_told_with_its_line(tmp_path: Path) -> None:
    head = [
        "/*---",
        'title = "Wrong"',
        'headline = "{nobody} costs {n:dollars} {"',
        'page = "agents"',
        'kind = "spans"',
        'x = "n"',
        'y = "n"',
        'link = "agents"',
        "[colours]",
        'good = "gold"',
        "---*/",
        "select 1 as n order by n",
    ]
    write_project(tmp_path, EVENTS, files={"sql/charts/own.sql": "\n".join(head)})
    said = [f"{one.line} {one.what}" for one in check(tmp_path) if one.path == "sql/charts/own.sql"]
    assert said == [
        "1 front matter needs 'end'",
        "3 the SELECT gives no column 'nobody'",
        "3 unknown unit 'dollars' in 'headline'; did you mean 'usd'?",
        "8 the SELECT gives no column 'agents'",
        "8 unknown link 'agents'; did you mean 'agent'?",
        "10 unknown colour 'gold'; did you mean 'good'?",
    ]


def test_marked_rows_stand_in_the_page_with_their_link_however_far_down(tmp_path: Path) -> None:
    # The outlier is run 9 of 120: it is not among the latest rows, and is in the table all the same.
    events = [
        event(f"2026-11-02T{n // 60:02d}:{n % 60:02d}:00Z", run_id=f"r{n:03d}", cost_usd=50 if n == 9 else 1)
        for n in range(120)
    ]
    result = build(write_project(tmp_path, events))
    page = (result.site / "pipelines" / "docs.html").read_text("utf-8")
    (found,) = [one for one in result.report.recommendations if one.detector == "cost_outlier"]
    figure = page[page.index("id=chart-pipeline-runs") :]
    table = figure[figure.index("<table") : figure.index("</table>")]
    assert table.count("<tr>") == 1 + CHART_ROWS
    assert f"<a data-to=recommendations/{found.id} href=../recommendations/{found.id}.html>" in table
    assert "r009" in table
    assert "r050" not in table
