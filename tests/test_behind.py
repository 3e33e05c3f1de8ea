"""Behind every number: the SQL that made it, with what it reads and what reads it, and its rows as CSV."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from page_reader import Element, Page, goal_of, read_page
from project import event, read_report_json, write_project

from reportgen import build
from reportgen.building import BuildResult
from reportgen.checking import check
from reportgen.render.sqlpages import sql_place
from reportgen.resources import resource_dir

KINDS = ("sources", "marts", "scoring", "charts", "tables")
LONE = '/*---\ntitle = "Runs of one agent"\ndoc = "One row per run."\n---*/\nselect r.pipeline, r.run from runs as r\ninner join agents as a on r.pipeline = a.pipeline\nwhere r.agents = 1\n'  # fmt: skip
WIDE = '/*---\ntitle = "Wide runs"\n---*/\nselect pipeline, run from lone order by pipeline, run\n'
#: A built-in chart under its own name, that says something else.
OVER = '/*---\ntitle = "Tools, my way"\npage = "agent"\nkind = "rows"\nx = "events"\ny = "tool"\n---*/\nselect agent, tool, sum(events) as events from agent_tools group by all order by all\n'  # fmt: skip


def rows_of(site: Path, name: str) -> list[dict[str, str]]:
    with (site / "data" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def some_work() -> dict[str, Any]:
    """Two pipelines with all there is: costs, reviews, recoveries, a limit, an outlier and loops."""
    events = [
        event(f"2026-11-{day:02d}T0{hour}:00:00Z", agent, name, run_id=f"{name}-{day}", cost_usd=cost)
        for name in ("docs", "web")
        for day in range(2, 8)
        for hour, agent, cost in ((1, "writer", 0.3), (2, "writer", 0.25), (3, "editor", 0.1))
    ]
    events += [event("2026-11-08T01:00:00Z", "writer", "docs", run_id="dear", cost_usd=40)]
    feedback = [
        (f"2026-11-0{day}", "docs", "writer", f"{score}/100", "loop-excess")
        for day, score in ((3, 40), (4, 55), (5, 71))
    ]
    healing = [
        {"timestamp": "2026-11-03T01:30:00Z", "agent": "writer", "pipeline": "docs", "run_id": "docs-3", "error_type": "timeout",
         "attempt": 1, "max_attempts": 5, "action": "retry-shorter-scope", "exit_code": 0, "delay_seconds": 0, "reason": "r", "context": "c"}
    ]  # fmt: skip
    return {"events": events, "feedback": feedback, "healing": healing}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> BuildResult:
    files = {
        "BUDGET.md": "- limit: $5\n- window: daily\n",
        "sql/marts/lone.sql": LONE,
        "sql/tables/wide.sql": WIDE,
        "sql/charts/agent_tools.sql": OVER,
        "sql/macros.sql": "create or replace macro twice(a) as 2 * a;\n",
    }
    settings = "[detectors.low_cache_use]\nenabled = true\n"
    folder = tmp_path_factory.mktemp("work")
    result = build(write_project(folder, files=files, settings=settings, **some_work()))
    assert result.exit_code == 0, result.notices
    return result


@pytest.fixture(scope="module")
def pages(made: BuildResult) -> dict[str, Page]:
    return {p.relative_to(made.site).as_posix(): read_page(p.read_bytes()) for p in made.site.rglob("*.html")}


def heading(page: Page, anchor: str) -> int:
    return next(n for n, one in enumerate(page.elements) if one.attributes.get("id") == anchor)


# --- the pages of SQL -------------------------------------------------------------------------------------------------


def test_every_file_stands_once_with_its_text_and_an_anchor(made: BuildResult, pages: dict[str, Page]) -> None:
    own = {"sql/marts/lone.sql", "sql/tables/wide.sql", "sql/charts/agent_tools.sql"}
    files = {f"sql/{kind}/{path.name}" for kind in KINDS for path in (resource_dir("sql") / kind).glob("*.sql")}
    listed = [one for one in made.report.sql if one.kind != "macros"]
    assert sorted(one.file for one in listed) == sorted(files | own)
    assert {one.file for one in listed if one.origin == "project"} == own
    for one in listed:
        path, anchor = sql_place(one.file)[0].split("#")
        page = pages[path]
        after = page.elements[heading(page, anchor) :]
        shown = next(e for e in after if e.tag == "pre")
        # It is there to be copied: not a character is missing.
        assert shown.text == one.sql.strip("\n"), one.file
        assert any(e.has_class("code") for e in shown.inside)
    (chart,) = [one for one in listed if one.file == "sql/charts/agent_tools.sql"]
    assert chart.sql == OVER
    assert chart.title == "Tools, my way"


def test_functions_are_shown_the_built_in_and_the_projects(made: BuildResult, pages: dict[str, Page]) -> None:
    assert [(one.kind, one.origin) for one in made.report.sql if one.kind == "macros"] == [
        ("macros", "built-in"),
        ("macros", "project"),
    ]
    texts = [e.text for e in pages["sql/macros.html"].all("pre")]
    assert "macro prorate(" in texts[0]
    assert texts[1] == "create or replace macro twice(a) as 2 * a;"


def test_what_reads_what_is_told_and_linked_both_ways(made: BuildResult, pages: dict[str, Page]) -> None:
    reads = {one.file: one.reads for one in made.report.sql}
    assert reads["sql/marts/lone.sql"] == ["agents", "runs"]
    assert reads["sql/tables/wide.sql"] == ["lone"]
    assert reads["sql/scoring/points.sql"] == []
    outlier = next(one for one in made.report.detectors if one.detector == "cost_outlier")
    assert {"runs", "pipelines", "params.cost_outlier"} <= set(outlier.reads)
    page = pages["sql/marts.html"]
    start, end = heading(page, "lone"), heading(page, "measures")
    links = {e.text: goal_of("sql/marts.html", e.attributes["href"]) for e in page.elements[start:end] if e.tag == "a"}
    assert links == {"agents": "sql/marts.html", "runs": "sql/marts.html", "tables/wide": "sql/tables.html"}
    start = heading(page, "runs")
    readers = {e.text for e in page.elements[start:] if e.tag == "a"}
    assert {"marts/lone", "marts/pipelines", "detectors/cost_outlier", "tables/runs", "charts/pipeline_runs"} <= readers


def test_the_first_page_of_sql_leads_to_every_file(made: BuildResult, pages: dict[str, Page]) -> None:
    links = {e.attributes["href"] for e in pages["sql.html"].all("a")}
    for one in made.report.sql:
        if (one.kind, one.origin) != ("macros", "project"):
            assert sql_place(one.file)[0] in links
    assert "detectors.html" in links
    (row,) = [e for e in pages["sql.html"].all("tr") if e.text.lstrip().startswith("lone")]
    assert "project" in row.text


# --- under every table and chart --------------------------------------------------------------------------------------

#: Tables that show no number from SQL: parameters and their files, remarks of the readers, the files themselves.
NO_SQL = {"Parameters in force", "Detectors that are switched off", "Remarks"}


def behind(page: Page, table: Element) -> Element | None:
    """Return what stands behind a table: the first such line after it, in the same part of the page."""
    place = next(n for n, one in enumerate(page.elements) if one is table)
    around = [one for one in table.inside if one.tag in ("section", "figure", "article", "main")]
    for one in page.elements[place:]:
        if one.has_class("behind"):
            return one if around[-1] in one.inside else None
        if one.tag == "table" and one is not table:
            return None
    return None


def test_every_table_of_numbers_has_its_csv_and_its_sql(pages: dict[str, Page]) -> None:
    lacking = []
    for path, page in pages.items():
        if path in ("404.html", "how-to-read.html") or path.startswith("sql"):
            continue
        for table in page.all("table"):
            label = next(
                one.attributes["aria-label"] for one in reversed(table.inside) if "aria-label" in one.attributes
            )
            if label in NO_SQL or any(one.tag == "details" and not one.has_class("data") for one in table.inside):
                continue
            found = behind(page, table)
            links = [] if found is None else [e.attributes["href"] for e in page.all("a") if found in e.inside]
            goals = [goal_of(path, link) for link in links]
            kinds = {Path(goal).parts[0] for goal in goals}
            wanted = {"data"} if path in ("detectors.html", "data-quality.html") else {"data", "sql"}
            if not (wanted <= kinds or (wanted == {"data", "sql"} and {"data", "detectors"} <= kinds)):
                lacking.append((path, label, goals))
    assert lacking == []


def test_every_such_link_leads_to_a_file_and_an_anchor(made: BuildResult, pages: dict[str, Page]) -> None:
    seen = 0
    for path, page in pages.items():
        for link in (e for e in page.all("a") if any(one.has_class("behind") for one in e.inside)):
            goal = goal_of(path, link.attributes["href"])
            assert (made.site / goal).is_file(), (path, goal)
            if "#" in link.attributes["href"]:
                assert link.attributes["href"].split("#")[1] in pages[goal].ids, (path, goal)
            seen += 1
    assert seen > 50


def test_a_recommendation_leads_to_its_query_and_does_not_repeat_it(made: BuildResult, pages: dict[str, Page]) -> None:
    found = next(r for r in made.report.recommendations if r.detector == "cost_outlier")
    page = pages[f"recommendations/{found.id}.html"]
    assert "../detectors/cost_outlier.html#sql" in {e.attributes["href"] for e in page.all("a")}
    assert "with " not in "".join(e.text for e in page.all("code"))
    evidence = [r for r in rows_of(made.site, "evidence.csv") if r["id"] == found.id]
    assert [(r["name"], r["value"]) for r in evidence] == [(e.name, e.value or "") for e in found.evidence]


def test_a_pages_own_name_for_sql_or_csv_that_is_not_there_gives_no_link(tmp_path: Path) -> None:
    """A project's own template may call the macro; what the site does not have is left out, and is no error."""
    own = '{% extends "_base.html" %}{% import "_parts.html" as p with context %}{% block content %}<h1>Own</h1>'
    own += '{{ p.behind("runs.csv", "marts/runs.sql") }}{{ p.behind("none.csv", ["marts/none.sql"]) }}{{ p.behind() }}'
    own += '{{ p.behind(sql=["sql/marts/runs.sql", "detectors/cost_outlier.sql"], part=true) }}{% endblock %}'
    result = build(write_project(tmp_path, [event(run_id="r", cost_usd=1)], files={"templates/own.html": own}))
    page = read_page((result.site / "own.html").read_bytes())
    lines = [[e.attributes["href"] for e in page.all("a") if line in e.inside] for line in page.all("div", "behind")]
    assert lines == [
        ["data/runs.csv", "sql/marts.html#runs"],
        ["sql/marts.html#runs", "detectors/cost_outlier.html#sql"],
    ]


# --- whole tables -----------------------------------------------------------------------------------------------------


def test_the_whole_tables_say_what_the_pages_say(made: BuildResult) -> None:
    report = made.report

    def number(text: str) -> float | None:
        return float(text) if text else None

    agents = {(r["pipeline"], r["agent"]): r for r in rows_of(made.site, "agents.csv")}
    assert len(agents) == len(report.agents)
    for a in report.agents:
        row = agents[a.pipeline, a.agent]
        assert (row["events"], row["runs"], row["cost"]) == (str(a.events), str(a.runs), a.cost or "")
        assert row["cost_per_run"] == (a.cost_per_run or "")
        for name in ("cost_share", "mean_score", "error_rate", "trend"):
            assert number(row[name]) == pytest.approx(getattr(a, name), abs=1e-6), (a.agent, name)
    pipelines = {r["pipeline"]: r for r in rows_of(made.site, "pipelines.csv")}
    for p in report.pipelines:
        row = pipelines[p.pipeline]
        assert (row["events"], row["runs"], row["cost"]) == (str(p.events), str(p.runs), p.cost)
        assert row["cost_per_run"] == p.mean_run_cost
        assert (row["earlier_cost_per_run"], row["recent_cost_per_run"]) == (p.earlier_run_cost, p.recent_run_cost)
        for name in ("cost_coverage", "mean_score", "earlier_score", "recent_score"):
            assert number(row[name]) == pytest.approx(getattr(p, name), abs=1e-6), (p.pipeline, name)
    # writer: 40, 55, 71; the flag is 60, so that two of three are low.
    assert (agents["docs", "writer"]["error_rate"], agents["docs", "writer"]["mean_score"]) == ("0.666667", "55.333333")
    assert [(r["pipeline"], r["agent"], r["tag"], r["feedback_rows"]) for r in rows_of(made.site, "tags.csv")] == [
        ("docs", "writer", "loop-excess", "3")
    ]
    assert [r["events"] for r in rows_of(made.site, "tools.csv")] == ["6", "13", "6", "12"]
    outcomes = {r["detector"]: (r["status"], r["findings"]) for r in rows_of(made.site, "detectors.csv")}
    assert outcomes["cost_outlier"] == ("found", "1")
    # What did not run has no count.
    assert outcomes["low_cache_use"] == ("skipped", "")


def test_each_table_names_its_sql(made: BuildResult, pages: dict[str, Page]) -> None:
    by_file = {one.file: one.sql_file for one in made.report.tables}
    assert by_file["runs.csv"] == "sql/tables/runs.sql"
    assert by_file["wide.csv"] == "sql/tables/wide.sql"
    assert by_file["inputs.csv"] is by_file["rejected.csv"] is None
    assert {"sql/tables.html#wide", "data/wide.csv"} <= {e.attributes["href"] for e in pages["index.html"].all("a")}
    # The outlier's run and nothing else has one agent only.
    assert rows_of(made.site, "wide.csv") == [{"pipeline": "docs", "run": "dear"}] * 2


def test_of_one_pipeline_the_tables_have_its_part_only(tmp_path: Path) -> None:
    result = build(write_project(tmp_path, **some_work()), pipeline="web")
    for name in ("pipelines", "agents", "runs", "tools", "incidents", "healing", "feedback", "tags"):
        rows = rows_of(result.site, f"{name}.csv")
        assert {r["pipeline"] for r in rows} <= {"web"}, name
    assert len(rows_of(result.site, "runs.csv")) == 6


def test_a_table_that_fails_is_told_of_and_the_others_are_there(tmp_path: Path) -> None:
    files = {"sql/tables/runs.sql": "select nothing from runs order by 1\n", "sql/tables/bad.sql": "/*---\ntitel = 'x'\n---*/\nselect 1 as a\n"}  # fmt: skip
    result = build(write_project(tmp_path, [event(run_id="r", cost_usd=1)], files=files))
    assert result.exit_code == 1
    said = {n.file: n.message for n in result.notices if n.code == "table-failed"}
    assert set(said) == {"sql/tables/runs.sql:1", "sql/tables/bad.sql:2"}
    assert "titel" in said["sql/tables/bad.sql:2"]
    assert not (result.site / "data" / "runs.csv").exists()
    assert len(rows_of(result.site, "agents.csv")) == 1
    # No page leads to what is not there.
    for path in result.site.rglob("*.html"):
        assert "data/runs.csv" not in path.read_text("utf-8"), path


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("recommendations", "select 1 as a order by a\n", "recommendations.csv is made elsewhere"),
        ("mine", "select pipeline from runs\n", "the SELECT has no ORDER BY"),
        ("mine", "select pipelin from runs order by 1\n", 'Referenced column "pipelin" not found'),
        ("mine", "/*---\nnote = 'x'\n---*/\nselect 1 as a order by a\n", "unknown key 'note'"),
        ("mine", "select 1 as a, 2 as a order by 1\n", "two columns 'a'"),
    ],
)
def test_check_says_what_is_wrong_with_a_table(tmp_path: Path, name: str, text: str, said: str) -> None:
    project = write_project(tmp_path, [], files={f"sql/tables/{name}.sql": text})
    (found,) = check(project)
    assert found.path == f"sql/tables/{name}.sql"
    assert said in found.what


# --- report.json ------------------------------------------------------------------------------------------------------


def test_the_machines_view_names_csv_and_sql_and_repeats_neither(made: BuildResult) -> None:
    report = read_report_json(made)
    for chart in report["charts"]:
        assert "rows" not in chart
        assert (made.site / "data" / chart["csv"]).is_file()
        assert chart["file"] in {one["file"] for one in report["sql"]}
    assert len({chart["csv"] for chart in report["charts"]}) == len(report["charts"])
    text = json.dumps(report)
    for sql in (*(one.sql for one in made.report.sql), *(one.sql for one in made.report.detectors)):
        assert json.dumps(sql)[1:-1] not in text
    # A list is one line an item: what differs between two builds is a line.
    lines = (made.site / "data" / "report.json").read_text("utf-8").splitlines()
    assert sum(re.match(r'\{"id":"', line) is not None for line in lines) >= len(report["recommendations"])
