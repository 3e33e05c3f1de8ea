"""What is sure to have no rows: worked out from the parse tree, checked against DuckDB's own answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_cache import make_project

from reportgen import build
from reportgen.resources import resource_dir
from reportgen.sqlempty import empty_if, scalar_macros

SCALARS = frozenset({"coalesce", "+", "upper", "abs", "list_value"})


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as con:
        con.execute("create table a (x integer, y integer); create table b (x integer, y integer)")
        con.execute("create table c (x integer, y integer); create schema raw; create table raw.r (x integer)")
        yield con


def tree(con: duckdb.DuckDBPyConnection, text: str) -> str:
    return str(con.execute("select json_serialize_sql(?)", [text]).fetchall()[0][0])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("select x from a", ["a"]),
        ("select x from A where x > 1 order by x limit 3", ["a"]),
        ("select x from raw.r", ["raw.r"]),
        ("select 1", []),
        ("select a.x from a join b on a.x = b.x", ["a", "b"]),
        ("select a.x from a, b", ["a", "b"]),
        ("select a.x from a left join b on a.x = b.x", ["a"]),
        ("select a.x from a right join b on a.x = b.x", ["b"]),
        ("select a.x from a full join b on a.x = b.x", ["a+b"]),
        ("select a.x from a semi join b on a.x = b.x", ["a", "b"]),
        ("select a.x from a anti join b on a.x = b.x", ["a"]),
        ("select x from a union all select x from b", ["a+b"]),
        ("select x from a except select x from b", ["a"]),
        ("select x from a union all select 1", []),
        ("select count(*) from a", []),
        ("select 1 from a having count(*) = 0", []),
        ("select x, count(*) from a group by x", ["a"]),
        ("select x, count(*) from a group by grouping sets ((), (x))", []),
        ("select x, count(*) from a group by rollup (x)", []),
        ("select count(*) from a group by all", []),
        ("select x, count(*) from a group by all", ["a"]),
        ("select a.x as k, count(*) as n from a group by all order by k", ["a"]),
        ("select 1, count(*) from a group by all", []),
        ("select count(*) as n, n from a group by all", []),
        ("select upper(cast(x as varchar)) from a", ["a"]),
        ("select nobody_knows(x) from a", []),
        ("select (select count(*) from b) from a", ["a"]),
        ("select (select count(*)) from a", []),
        ("select (select sum(b.x) from b) from a", ["a"]),
        ("select (select sum(t.x) from b as t join c on t.x = c.x where t.x = a.x) from a", ["a"]),
        ("select (select sum(a.x) from b) from a", []),
        ("select (select sum(x) from b) from a", []),
        ("select (select sum(b.x) + max(a.x) from b) from a", []),
        ("select (select (select max(b.x) from c) from b) from a", []),
        ("select row_number() over (order by x) from a", ["a"]),
        ("select unnest([x, y]) from a", ["a"]),
        ("with w as (select x from a) select x from w", ["a"]),
        ("with a as (select 1 as x) select x from a", []),
        ("with w as (select count(*) as n from a) select n from w", []),
        ("with w as (select x from a), v as (select x from w join b using (x)) select x from v", ["a", "b"]),
        ("select x from (select x from a) as s", ["a"]),
        ("select x from range(3) as t (x)", []),
        ("values (1)", []),
        ("select a.x from a cross join lateral (select a.x as z) as l", ["a"]),
        ("with recursive t as (select 1 as n union all select n + 1 from t where n < 3) select n from t", []),
        ("select x from a; select x from b", []),
        ("select x from a using sample 10 rows", []),
        ("select x fro a", []),
    ],
)
def test_when_a_select_has_no_rows(con: duckdb.DuckDBPyConnection, text: str, wanted: list[str]) -> None:
    found = empty_if(tree(con, text), SCALARS)
    assert sorted("+".join(sorted(one)) for one in found) == wanted


SOURCES = st.sampled_from(["a", "b", "c"])
SELECTS = st.recursive(
    SOURCES.map(lambda name: f"select x, y from {name}"),
    lambda inner: st.one_of(
        st.tuples(inner, inner, st.sampled_from(["join", "left join", "right join", "full join"])).map(
            lambda p: f"select p.x, q.y from ({p[0]}) as p {p[2]} ({p[1]}) as q on p.x = q.x"
        ),
        st.tuples(inner, inner).map(lambda p: f"select p.x, q.y from ({p[0]}) as p, ({p[1]}) as q"),
        st.tuples(inner, inner, st.sampled_from(["union all", "union", "except", "intersect"])).map(
            lambda p: f"({p[0]}) {p[2]} ({p[1]})"
        ),
        inner.map(lambda p: f"select x, cast(count(*) as integer) as y from ({p}) as p group by x"),
        inner.map(lambda p: f"select max(x) as x, 1 as y from ({p}) as p"),
        inner.map(lambda p: f"with w as ({p}) select x, y from w where x is not null"),
    ),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None)
@given(text=SELECTS, empty=st.sets(SOURCES))
def test_what_is_said_to_be_empty_is(con: duckdb.DuckDBPyConnection, text: str, empty: set[str]) -> None:
    for name in ("a", "b", "c"):
        con.execute(f"delete from {name}")
        if name not in empty:
            con.execute(f"insert into {name} values (1, 2), (2, 3), (null, 1)")
    if any(one <= empty for one in empty_if(tree(con, text), SCALARS)):
        assert con.execute(text).fetchall() == []


def test_macros_of_scalars_are_scalars_and_others_are_not(con: duckdb.DuckDBPyConnection) -> None:
    bodies = {
        "twice": "select plus(x)",
        "plus": "select x + abs(x)",
        "all_of": "select sum(x)",
        "deep": "select all_of(x)",
    }
    trees = {name: tree(con, body) for name, body in bodies.items()}
    assert scalar_macros(SCALARS, trees) == {"twice", "plus"}


def test_every_built_in_file_has_no_rows_where_that_is_said(tmp_path: Path) -> None:
    """On a warehouse in which there is something of everything: each set of tables is emptied, and the file is asked."""
    project = make_project(tmp_path / "project")
    calls = [
        {"timestamp": f"2026-11-02T01:0{n}:00Z", "agent": "agent-1", "pipeline": "docs", "run_id": "r2", "attempt": n,
         "error_type": "timeout", "max_attempts": 5, "action": "retry-shorter-scope", "exit_code": 0}
        for n in (1, 2)
    ]  # fmt: skip
    (project / "healing-log.jsonl").write_text("".join(json.dumps(call) + "\n" for call in calls), encoding="utf-8")
    (project / "BUDGET.md").write_text("| Agent | Daily |\n|---|---|\n| agent-1 | $1 |\n", encoding="utf-8")
    build(project)
    asked = 0
    with duckdb.connect(str(project / ".reportgen" / "warehouse.duckdb")) as con:
        macros = {
            str(name): tree(con, f"select {body}")
            for name, body in con.execute(
                "select function_name, macro_definition from duckdb_functions() where function_type = 'macro'"
            ).fetchall()
        }
        scalars = frozenset(
            str(name).lower()
            for (name,) in con.execute(
                "select function_name from duckdb_functions() group by all having list(distinct function_type) = ['scalar']"
            ).fetchall()
        )
        known = scalars | scalar_macros(scalars, macros)
        views = {name for (name,) in con.execute("select view_name from duckdb_views() where not internal").fetchall()}
        for file in sorted(resource_dir("sql").glob("*/*.sql")):
            if file.parent.name == "formats":
                # They read raw lines, in a warehouse of their own.
                continue
            text = file.read_text(encoding="utf-8")
            for tables in empty_if(tree(con, text), known):
                if any(name.startswith("params.") for name in tables):
                    continue
                con.execute("begin")
                for name in tables:
                    if name in views:
                        con.execute(f"create table emptied as select * from {name} limit 0")
                        con.execute(f"drop view {name}; alter table emptied rename to {name}")
                    else:
                        con.execute(f"delete from {name}")
                assert con.execute(text).fetchall() == [], f"{file.name} without {sorted(tables)}"
                con.execute("rollback")
                asked += 1
    assert asked > 60
