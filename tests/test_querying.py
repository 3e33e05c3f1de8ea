"""`reportgen query`: reads and nothing else; rows as text for a terminal, a spreadsheet, a machine, a page."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from project import event, write_project

from reportgen import build
from reportgen.errors import ReportgenError
from reportgen.querying import WIDEST, render_rows, run_query, schema, schema_text


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("queried")
    rows = [event(f"2026-11-0{day}T09:00:00Z", "writer", run_id=f"r{day}", cost_usd=0.1 * day) for day in (2, 3)]
    write_project(home, rows, settings='[limits]\nmemory = "100MB"\n')
    build(home)
    return home


def test_rows_are_those_of_the_warehouse(project: Path) -> None:
    result = run_query(project, "select run, cost from runs order by run")
    assert (result.columns, [(run, str(cost.normalize())) for run, cost in result.rows]) == (
        ("run", "cost"), [("r2", "0.2"), ("r3", "0.3")],
    )  # fmt: skip
    assert run_query(project, "from runs order by run", rows=1).rows[0][2] == "r2"
    # A detector pasted as it is, comments and parameters included.
    show = (Path(__file__).parent.parent / "sql/detectors/cost_outlier.sql").read_text("utf-8")
    assert "observed" in run_query(project, show).columns


@pytest.mark.parametrize(
    ("sql", "where", "what"),
    [
        ("select 1; select 2", "query:1:18", "must be exactly one SELECT, and holds 2 statements"),
        ("", "query", "must be exactly one SELECT, and holds no statement"),
        ("drop table runs", "query", "must be exactly one SELECT"),
        ("insert into runs select * from runs", "query", "must be exactly one SELECT"),
        ("set memory_limit = '1TB'", "query", "must be exactly one SELECT"),
        ("attach 'other.db'", "query", "must be exactly one SELECT"),
        ("copy runs to 'out.csv'", "query", "must be exactly one SELECT"),
        ("install httpfs", "query", "must be exactly one SELECT"),
        ("pragma version", "query", "must be exactly one SELECT"),
        ("select 1 +", "query:1:10", "syntax error"),
        ("select\n  nope\nfrom runs", "query:2:3", 'Referenced column "nope" not found'),
        ("select * from read_csv('/etc/passwd')", "query:1:15", "disabled by configuration"),
        ("select * from read_text('/etc/passwd')", "query:1:15", "disabled by configuration"),
        ("select * from glob('/*')", "query", "disabled by configuration"),
        ("select * from '/etc/passwd'", "query", "Table with name /etc/passwd does not exist"),
        ("select * from 'https://example.org/x.csv'", "query", "example.org"),
        ("select list(range) from range(1000000000)", "query", "needs more memory than 100MB"),
    ],
)
def test_only_reading_is_possible(project: Path, sql: str, where: str, what: str) -> None:
    before = sorted(project.rglob("*"))
    with pytest.raises(ReportgenError) as caught:
        run_query(project, sql)
    assert caught.value.where.startswith(where)
    assert what in caught.value.what
    assert sorted(project.rglob("*")) == before


def test_a_near_name_is_offered(project: Path) -> None:
    with pytest.raises(ReportgenError, match='Candidate bindings: "pipeline"'):
        run_query(project, "select pipelin from measures")


def test_without_a_warehouse_it_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(ReportgenError) as caught:
        run_query(tmp_path, "select 1")
    assert (caught.value.where, caught.value.what) == (".reportgen/warehouse.duckdb", "there is no warehouse yet")
    assert "reportgen build" in caught.value.next_step
    with pytest.raises(ReportgenError, match="no such directory"):
        run_query(tmp_path / "nowhere", "select 1")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / ".reportgen").mkdir()
    (tmp_path / ".reportgen/warehouse.duckdb").write_text("no database")
    with pytest.raises(ReportgenError, match="can't be opened as a DuckDB file"):
        run_query(tmp_path, "select 1")


def test_a_warehouse_that_another_program_writes_to_is_said(project: Path) -> None:
    path = project / ".reportgen/warehouse.duckdb"
    holder = (
        f"import duckdb, sys; con = duckdb.connect({os.fspath(path)!r}); print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", holder], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(ReportgenError) as caught:
            run_query(project, "select 1")
        other.communicate(b"")
    assert (caught.value.what, caught.value.where) == ("is open for writing in another program", str(path))


# --- forms ----------------------------------------------------------------------------------------------------------

ODD = """select 1 as n, cast('1.50' as decimal(9, 2)) as amount, null as nothing, '=1+1' as formula,
    concat('a', chr(27), '[31m', chr(8238), '|b') as hostile, '漢字' as wide, true as yes,
    timestamp '2026-11-02 09:00:00' as at, ['a', null] as items, 'nan'::double as odd, 9007199254740993 as large"""


def test_a_table_is_aligned_and_safe(project: Path) -> None:
    text = render_rows(
        run_query(project, f"{ODD} union all ({ODD.replace('1 as n', '1000 as n')}) order by n"), "table"
    )
    assert not set(text) & {"\x1b", "\u202e"}
    heads, rule, first, second, count = text.splitlines()
    assert [len(part) for part in rule.split("  ")] == [4, 6, 7, 7, 15, 4, 3, 20, 7, 4, 16]
    assert heads.startswith("   n  amount  nothing  formula")
    assert first.startswith("   1     1.5  null     =1+1     a[31m<U+202E>|b")
    assert second.startswith("1000     1.5")
    assert count == "(2 rows)"
    # Two wide characters take the room of four.
    assert "|b  漢字  yes  2026-11-02T09:00:00Z  a, null  null  9007199254740993" in first


def test_a_table_shows_long_cells_cut_and_no_rows_as_none(project: Path) -> None:
    assert render_rows(run_query(project, "select 'x' as a where false"), "table") == "a\n─\n(0 rows)\n"
    (line,) = [
        t for t in render_rows(run_query(project, "select repeat('漢', 50) as a"), "table").splitlines() if "漢" in t
    ]
    assert line == "漢" * ((WIDEST - 1) // 2) + "…"
    assert "(1 row)" in render_rows(run_query(project, "select 1"), "table")


def test_csv_is_safe_in_a_spreadsheet(project: Path) -> None:
    rows = list(csv.reader(io.StringIO(render_rows(run_query(project, ODD), "csv"))))
    assert rows[1][:4] == ["1", "1.5", "", "'=1+1"]
    assert rows[1][6:] == ["true", "2026-11-02T09:00:00Z", "a, null", "", "9007199254740993"]
    assert "\x1b" not in rows[1][4]


def test_json_is_exact(project: Path) -> None:
    text = render_rows(run_query(project, ODD), "json")
    assert text.isascii()
    (row,) = json.loads(text)
    assert row == {
        "n": 1, "amount": "1.5", "nothing": None, "formula": "=1+1", "hostile": "a\x1b[31m\u202e|b", "wide": "漢字",
        "yes": True, "at": "2026-11-02T09:00:00Z", "items": ["a", None], "odd": None, "large": "9007199254740993",
    }  # fmt: skip
    assert render_rows(run_query(project, "select 1 where false"), "json") == "[]\n"
    with pytest.raises(ReportgenError, match="two columns are named 'a'"):
        render_rows(run_query(project, "select 1 as a, 2 as a"), "json")


def test_markdown_is_a_table_that_no_cell_breaks(project: Path) -> None:
    text = render_rows(run_query(project, "select 1 as n, 'a|b' as t, '<b>' as h"), "markdown")
    assert text == "| n | t | h |\n| ---: | --- | --- |\n| 1 | a\\|b | \\<b> |\n"


# --- the schema -----------------------------------------------------------------------------------------------------


def test_the_schema_lists_tables_with_their_comments(project: Path) -> None:
    infos = {info.name: info for info in schema(project)}
    assert {"runs", "agents", "pipelines", "events", "vfm", "findings"} <= set(infos)
    assert infos["runs"].comment == "One row per run of a pipeline."
    assert ("run_rank", "BIGINT", "1 is the pipeline's first run by start; undated runs come last") in infos[
        "runs"
    ].columns
    text = schema_text(project, "runs")
    assert text.startswith("runs: One row per run of a pipeline.\n  pipeline ")
    assert "agents:" not in text
    assert "\nagents: " in schema_text(project)
    with pytest.raises(ReportgenError, match="no table 'rnus'; did you mean 'runs'"):
        schema_text(project, "rnus")
