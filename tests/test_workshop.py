"""The workshop's commands, as they are typed; and that a project's own marts and charts need no Python."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from page_reader import read_page
from project import built, event, write_project

from reportgen import build
from reportgen.cli import run
from reportgen.errors import ReportgenError
from reportgen.newdetector import new_detector

Said = tuple[int, str, str]

MARKED = """/*---
title = "Runs of one agent"
finding = "{subject} has {observed} and {extra}."
action = "Look at {subject}."
subject_kind = "run"
[params.least]
default = 1
unit = "agents"
doc = "Reported from here."
---*/
select pipeline, run as subject, run_key as subject_key, agents as observed, null as baseline, p.least as threshold,
    1 as occurrences, 1 as affected_runs, 2 as total_runs, 'x' as extra
from runs cross join params.lone_runs as p
where agents >= p.least
order by pipeline, run_key
"""


def rows() -> list[dict[str, Any]]:
    return [event(f"2026-11-0{day}T09:00:00Z", "writer", run_id=f"r{day}", cost_usd=1) for day in (2, 3)]


def said(capsys: pytest.CaptureFixture[str], *args: str) -> Said:
    """Run a command line; its exit code, stdout and stderr."""
    capsys.readouterr()
    code = run(list(args))
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = write_project(tmp_path / "home", rows(), files={"sql/detectors/lone_runs.sql": MARKED})
    monkeypatch.chdir(home)
    return home


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a detector of its own that has been built."""
    home = tmp_path_factory.mktemp("finished")
    write_project(home, rows(), files={"sql/detectors/lone_runs.sql": MARKED})
    build(home)
    return home


# --- detectors ------------------------------------------------------------------------------------------------------


def listed(text: str, name: str) -> list[str]:
    (line,) = [line for line in text.splitlines() if line.startswith(f"{name} ")]
    return [part for part in line.split("  ") if part]


def test_detectors_before_a_build_and_after(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, "detectors")
    assert (code, listed(out, "lone_runs")[1].strip()) == (0, "not run yet")
    assert [part.strip() for part in listed(out, "cost_outlier")] == [
        "cost_outlier",
        "not run yet",
        "min_ratio = 3",
        "built-in",
    ]
    build(project)
    out = said(capsys, "detectors", "list")[1]
    wanted = ["lone_runs", "2 found", "least = 1", "sql/detectors/lone_runs.sql"]
    assert [part.strip() for part in listed(out, "lone_runs")] == wanted
    assert listed(out, "cost_outlier")[1].strip() == "nothing found"
    assert listed(out, "revision_loops")[1].strip() == "skipped"
    (project / "reportgen.toml").write_text(
        "[detectors.cost_outlier]\nenabled = false\n[detectors.lone_runs]\nleast = 2\n"
    )
    (project / "sql/detectors/lone_runs.sql").write_text(MARKED.replace("Look at", "Look well at"))
    out = said(capsys, "detectors")[1]
    assert listed(out, "cost_outlier")[1].strip() == "off"
    assert [part.strip() for part in listed(out, "lone_runs")][1:3] == ["2 found, file changed since", "least = 2"]
    (project / "sql/detectors/lone_runs.sql").write_text(MARKED.replace("title", "titel"))
    out = said(capsys, "detectors")[1]
    assert listed(out, "lone_runs")[1].strip() == "error, file changed since"
    assert "lone_runs: sql/detectors/lone_runs.sql:2: unknown key 'titel'; did you mean 'title'?" in out


def test_detectors_for_a_machine(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, "detectors", "--project", str(finished), "--json")
    (mine,) = [d for d in json.loads(out) if d["detector"] == "lone_runs"]
    assert code == 0
    assert (mine["outcome"], mine["findings"], mine["parameters"], mine["origin"]) == (
        "found",
        2,
        {"least": "1"},
        "project",
    )
    assert mine["path"] == str(finished / "sql/detectors/lone_runs.sql")
    one = json.loads(said(capsys, "detectors", "show", "lone_runs", "-p", str(finished), "--json")[1])
    assert one["parameters"] == [
        {"name": "least", "value": "1", "default": "1", "unit": "agents", "doc": "Reported from here."}
    ]
    assert [c["name"] for c in one["columns"]][:4] == ["pipeline", "subject", "subject_key", "observed"]
    assert (one["test_file"], one["cases"]) == (None, [])


def test_one_detector_explained(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, "detectors", "show", "cost_outlier", "--project", str(finished))
    assert code == 0
    for line in (
        "cost_outlier: Runs that cost three times the usual",
        "Outcome  nothing found",
        "Needs    events, runs: at least 1",
        "  min_ratio = 3 times the mean run",
        "  * observed        Cost of the run (cost)",
        # What no file describes is not described with its own name.
        "  * pipeline",
        "    saving",
        "Tests (sql/detectors/cost_outlier.test.md)",
        "  hit        A run at exactly three times the mean is reported",
    ):
        assert line in out.splitlines(), line
    assert any(line.startswith("  near miss  ") for line in out.splitlines())
    assert any("detectors show cost_outlier --sql > " in line and "sql/detectors/" in line for line in out.splitlines())
    sql = said(capsys, "detectors", "show", "cost_outlier", "--sql", "--project", str(finished))[1]
    assert sql == (Path(__file__).parent.parent / "sql/detectors/cost_outlier.sql").read_text("utf-8")
    code, out, err = said(capsys, "detectors", "show", "cost_outlir", "--project", str(finished))
    assert (code, out) == (2, "")
    assert "no detector 'cost_outlir'; did you mean 'cost_outlier'?" in err


# --- new ------------------------------------------------------------------------------------------------------------


def test_a_new_detector_passes_at_once_and_is_never_written_over(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = said(capsys, "new", "detector", "slow_handoffs")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "Wrote sql/detectors/slow_handoffs.sql",
        "Wrote sql/detectors/slow_handoffs.test.md",
        "Next: reportgen test slow_handoffs",
    ]
    assert said(capsys, "test", "slow_handoffs") == (0, "2 passed, 0 failed, 0 error\n", "")
    # What its author has still to say is told; nothing is wrong.
    code, out, _ = said(capsys, "check")
    told = [line for line in out.splitlines() if line.startswith("sql/detectors/slow_handoffs")]
    assert code == 0
    assert [("warning" in line, "still is what" in line) for line in told] == [(True, True)] * 2
    sql = project / "sql/detectors/slow_handoffs.sql"
    as_written = sql.read_text()
    sql.write_text(re.sub(r"Say what [^.]*\.", "It is said.", as_written))
    assert "slow_handoffs" not in said(capsys, "check")[1]
    sql.write_text(as_written)
    # It runs in the next build, and finds what its test says: a run with as many events as the parameter.
    (project / "reportgen.toml").write_text("[detectors.slow_handoffs]\nmin_events = 1\n")
    (project / "sql/detectors/slow_handoffs.sql").write_text(
        (project / "sql/detectors/slow_handoffs.sql").read_text().replace("runs = 5", "runs = 2")
    )
    mine = [r["subject"] for r in built(project)["recommendations"] if r["detector"] == "slow_handoffs"]
    assert sorted(mine) == ["r2", "r3"]
    before = (project / "sql/detectors/slow_handoffs.sql").read_bytes()
    code, _, err = said(capsys, "new", "detector", "slow_handoffs")
    assert (code, "is there already, and is left as it is" in err) == (2, True)
    assert (project / "sql/detectors/slow_handoffs.sql").read_bytes() == before


def test_a_new_detector_leaves_a_test_or_a_link_of_its_name_alone(tmp_path: Path) -> None:
    folder = tmp_path / "sql/detectors"
    folder.mkdir(parents=True)
    (folder / "a.test.md").write_text("mine")
    (folder / "b.sql").symlink_to(tmp_path / "elsewhere.sql")
    for name in "ab":
        with pytest.raises(ReportgenError, match="is there already"):
            new_detector(tmp_path, name)
    assert sorted(path.name for path in folder.iterdir()) == ["a.test.md", "b.sql"]
    assert (folder / "a.test.md").read_text() == "mine"
    assert not (tmp_path / "elsewhere.sql").exists()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Slow Handoffs", "Call it slow_handoffs."), ("slow-handoffs.sql", "Call it slow_handoffs."),
        ("../x", "Call it x."), ("order", "slow_handoffs is one."), ("report", "slow_handoffs is one."), ("", "slow_handoffs"),
        ("a" * 61, "Call it aaa"), ("1st", "Call it st."), ("cost_outlier", "show cost_outlier --sql"),
    ],
)  # fmt: skip
def test_names_that_no_new_detector_gets(tmp_path: Path, name: str, hint: str) -> None:
    with pytest.raises(ReportgenError) as caught:
        new_detector(tmp_path, name)
    assert hint in caught.value.next_step
    assert list(tmp_path.iterdir()) == []


def test_a_new_detector_in_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ReportgenError, match="no such directory"):
        new_detector(tmp_path / "nowhere", "slow")
    (tmp_path / "sql").write_text("a file")
    with pytest.raises(ReportgenError, match="can't be written"):
        new_detector(tmp_path, "slow")


def test_a_new_format_says_what_it_took_for_what(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "steps.jsonl").write_text(
        '{"ev": "end", "who": "w", "at": "2026-11-02T09:00:00Z", "tok_in": 5, "usd": 1}\n'
    )
    code, out, err = said(capsys, "new", "format", "our_steps", "steps.jsonl")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "Wrote sql/formats/our_steps.sql",
        "Wrote sql/formats/our_steps.test.md",
        "Read: event_time from at, cost_usd from usd, input_tokens from tok_in, agent from who; found no pipeline,"
        " run_id, model, output_tokens. The test shows what comes of it.",
        "Next: reportgen test our_steps",
    ]
    assert said(capsys, "test", "our_steps") == (0, "1 passed, 0 failed, 0 error\n", "")
    code, _, err = said(capsys, "new", "format", "our_steps")
    assert (code, "is there already, and is left as it is" in err) == (2, True)


# --- check, test, query ---------------------------------------------------------------------------------------------


def test_check_says_where_what_and_what_next(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, "check")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "sql/detectors/lone_runs.sql:1:1: warning: has no test",
        "  next: Write sql/detectors/lone_runs.test.md beside it: a hit, and a near miss.",
        "0 errors, 1 warning",
    ]
    (project / "sql/detectors/lone_runs.sql").write_text(
        MARKED.replace("agents as", "agens as").replace("title", "titel")
    )
    code, out, _ = said(capsys, "check")
    assert code == 1
    assert "sql/detectors/lone_runs.sql:2:1: error: unknown key 'titel'; did you mean 'title'?" in out
    assert "sql/detectors/lone_runs.sql:11:58: error: Binder Error" in out
    assert '  next: Candidate bindings: "agents"' in out
    assert out.splitlines()[-1] == "3 errors, 1 warning"
    code, out, _ = said(capsys, "check", str(project), "--json")
    value = json.loads(out)
    assert (code, value["errors"], value["warnings"], len(value["problems"])) == (1, 3, 1, 4)
    assert set(value["problems"][0]) == {"path", "line", "column", "severity", "what", "next_step"}
    (project / "sql/detectors/lone_runs.sql").unlink()
    assert said(capsys, "check") == (0, "No problems.\n", "")
    assert said(capsys, "check", "nowhere")[0] == 2


def test_an_order_that_leaves_ties_is_a_warning_of_the_test(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "new", "detector", "slow")[0] == 0
    path = project / "sql/detectors/slow.sql"
    assert "check" not in said(capsys, "test", "slow")[1]
    text = path.read_text("utf-8")
    path.write_text(text[: text.rindex("order by")] + "order by observed\n", encoding="utf-8")
    code, out, _ = said(capsys, "test", "slow")
    what = "ORDER BY does not break ties: it lacks pipeline and subject_key"
    assert f"slow: {what}; `reportgen check` says where" in out.splitlines()
    assert code == 0


def test_failing_tests_are_exit_1_in_every_form(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = "## One\n\nGiven `runs`:\n\n| pipeline | run | run_key | agents |\n|---|---|---|---|\n| docs | r1 | id:r1 | 1 |\n\nExpect:\n\n| subject | observed |\n|---|---|\n| r1 | 2 |\n"
    (project / "sql/detectors/lone_runs.test.md").write_text(case)
    code, out, _ = said(capsys, "test", "lone_runs")
    assert code == 1
    assert out.splitlines() == [
        "sql/detectors/lone_runs.test.md:1: failed: One",
        "  expected 1 row, got 1 row",
        "    subject  observed",
        "  - r1       2",
        "  + r1       1",
        "             ^",
        "0 passed, 1 failed, 0 error",
    ]
    code, out, _ = said(capsys, "test", "lone_runs", "--json")
    assert (code, json.loads(out)["failed"]) == (1, 1)
    code, out, _ = said(capsys, "test", "lone_runs", "--junit", "-")
    assert (code, ElementTree.fromstring(out).get("failures")) == (1, "1")
    (project / "sql/detectors/lone_runs.test.md").write_text(case.replace("| 2 |", "| 1 |"))
    for _ in range(2):
        assert said(capsys, "test", "lone_runs", "--junit", "out.xml") == (0, "1 passed, 0 failed, 0 error\n", "")
    assert ElementTree.fromstring((project / "out.xml").read_text()).get("tests") == "1"
    # No file but one of its own is written over.
    (project / "FEEDBACK.md").write_text("mine")
    code, _, err = said(capsys, "test", "lone_runs", "--junit", "FEEDBACK.md")
    assert (code, "is no JUnit file of reportgen" in err) == (2, True)
    assert (project / "FEEDBACK.md").read_text() == "mine"
    code, _, err = said(capsys, "test", "lone_rns")
    assert (code, "did you mean 'lone_runs'?" in err) == (2, True)


def test_query_in_its_forms(
    finished: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    where = ("--project", str(finished))
    sql = "select run, cost from runs order by run"
    assert said(capsys, "query", sql, *where) == (0, "run  cost\n───  ────\nr2      1\nr3      1\n(2 rows)\n", "")
    assert said(capsys, "query", sql, *where, "-f", "csv")[1] == "run,cost\nr2,1\nr3,1\n"
    assert json.loads(said(capsys, "query", sql, *where, "-f", "json")[1]) == [
        {"run": "r2", "cost": "1"},
        {"run": "r3", "cost": "1"},
    ]
    assert said(capsys, "query", sql, *where, "-f", "markdown")[1].splitlines()[-1] == "| r3 | 1 |"
    code, out, err = said(capsys, "query", sql, *where, "--limit", "1")
    assert (code, out.splitlines()[-1], err) == (0, "(1 row)", "These are the first 1 rows; --limit 0 gives all.\n")
    many = "select range as n from range(1500) order by n"
    assert said(capsys, "query", many, *where)[1].splitlines()[-1] == "(1,000 rows)"
    assert said(capsys, "query", many, *where, "--limit", "0")[1].splitlines()[-1] == "(1,500 rows)"
    assert len(said(capsys, "query", many, *where, "-f", "csv")[1].splitlines()) == 1501
    assert said(capsys, "query", "--schema", "runs", *where)[1].startswith("runs: One row per run of a pipeline.\n")
    assert "\nagents: " in said(capsys, "query", "--schema", *where)[1]
    monkeypatch.setattr(sys, "stdin", io.StringIO("select 7 as n"))
    assert said(capsys, "query", *where, "-f", "csv")[1] == "n\n7\n"
    code, out, err = said(capsys, "query", "select nope from runs", *where)
    assert (code, out) == (2, "")
    assert err.startswith(
        'error: query:1:8: Binder Error: Referenced column "nope" not found in FROM clause\n  next: Candidate'
    )


def test_every_command_is_in_the_help_and_has_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, "--help")[1]
    for name in ("check", "detectors", "new", "query", "serve", "test"):
        assert f"\n  {name} " in out
        code, text, _ = said(capsys, name, "--help")
        assert (code, f"Usage: reportgen {name}" in text) == (0, True)
    code, _, err = said(capsys, "detektors")
    assert (code, "detektors" in err) == (2, True)


def test_a_build_does_not_pay_for_the_workshop(tmp_path: Path) -> None:
    code = (
        "import sys; from reportgen.cli import run; run(['build', '--help']);"
        "found = [m for m in sys.modules if m in ('reportgen.cli_workshop', 'reportgen.checking', 'duckdb')];"
        "print(found, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path, env=os.environ
    )
    assert done.stderr == "[]\n"


# --- a project's marts, charts and detectors, without Python ---------------------------------------------------------

CHART = """/*---
title = "Own {page}"
page = "{page}"
kind = "bars"
x = "n"
y = "n"
---*/
"""


def test_own_marts_are_built_in_the_order_of_their_needs(tmp_path: Path) -> None:
    files = {
        # By name the wrong way round: each needs the one after it.
        "sql/marts/a_shares.sql": "select run, double_cost from b_doubles",
        "sql/marts/b_doubles.sql": '/*---\ntitle = "Doubles"\n[columns]\nrun = "A run"\n---*/\nselect run, cost * 2 as double_cost from c_runs',
        "sql/marts/c_runs.sql": "select run, cost from runs",
        "sql/detectors/lone_runs.sql": MARKED.replace("from runs cross", "from (select r.* from runs as r inner join a_shares as a on r.run = a.run and a.double_cost = 2) cross"),
    }  # fmt: skip
    report = built(write_project(tmp_path, rows(), files=files))
    assert len([r for r in report["recommendations"] if r["detector"] == "lone_runs"]) == 2
    import duckdb

    with duckdb.connect(str(tmp_path / ".reportgen/warehouse.duckdb"), read_only=True) as con:
        told = con.execute(
            "select comment from duckdb_columns() where table_name = 'b_doubles' and column_name = 'run'"
        ).fetchone()
    assert told == ("A run",)


def test_marts_that_need_each_other_are_named(tmp_path: Path) -> None:
    files = {"sql/marts/a.sql": "select * from b", "sql/marts/b.sql": "select * from a"}
    with pytest.raises(ReportgenError) as caught:
        build(write_project(tmp_path, rows(), files=files))
    assert (caught.value.where, caught.value.what) == ("sql/…/a.sql and sql/…/b.sql", "these views need each other")
    assert not (tmp_path / "site").exists()


#: A chart for each page: its SELECT, and the pages that it must stand on.
CHARTS = {
    "overview": ("select 1 as n order by n", ["index.html"]),
    "recommendations": ("select 1 as n order by n", ["recommendations.html"]),
    "agents": ("select 1 as n order by n", ["agents.html"]),
    "pipeline": ("select pipeline, runs as n from pipelines order by pipeline", ["pipelines/docs.html"]),
    "agent": ("select agent, events as n from agents order by agent", ["agents/writer.html"]),
    "recommendation": (
        "select detector, pipeline, subject_key, 1 as n from findings order by finding_no",
        ["recommendations/lone-runs-r2-*.html", "recommendations/lone-runs-r3-*.html"],
    ),
    "healing": ("select count(*) as n from healing_attempts order by n", ["healing.html"]),
    "budget": ("select count(*) as n from budget_windows order by n", ["budget.html"]),
}


def test_a_chart_of_the_project_stands_on_the_page_that_it_names(tmp_path: Path) -> None:
    attempt = {"timestamp": "2026-11-02T09:00:00Z", "agent": "writer", "error_type": "timeout", "attempt": 1}
    files = {f"sql/charts/own_{page}.sql": CHART.replace("{page}", page) + sql for page, (sql, _) in CHARTS.items()}
    files |= {"sql/detectors/lone_runs.sql": MARKED, "BUDGET.md": "- limit: 500 cents\n- window: daily\n"}
    result = build(write_project(tmp_path, rows(), healing=[{**attempt, "action": "retry-backoff"}], files=files))
    assert result.exit_code == 0
    heads = {
        path.relative_to(result.site): [h.text for h in read_page(path.read_bytes()).elements if h.tag in ("h2", "h3")]
        for path in result.site.rglob("*.html")
    }
    for page, (_, wanted) in CHARTS.items():
        with_it = {path for path, texts in heads.items() if f"Own {page}" in texts}
        matched = {path for path in heads for pattern in wanted if path.match(pattern)}
        assert with_it == matched, page
        assert len(matched) == len(wanted)
