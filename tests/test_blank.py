"""A warehouse that begins with every table in it is the one that would have been made table by table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from reportgen import blank, build
from reportgen.inputs.sources import find_inputs
from reportgen.loading import open_warehouse
from reportgen.settings import load_settings

EVENTS = [
    {"timestamp": f"2026-11-01T09:0{n}:00Z", "tool_name": "Read", "agent": f"a-{n % 2}", "pipeline": "doc",
     "run_id": f"r{n % 3}", "model": "gpt-5", "input_tokens": 10, "output_tokens": n, "cost_usd": n / 100}
    for n in range(6)
]  # fmt: skip
_ASKED = (
    "select schema_name, table_name, column_name, data_type, comment from duckdb_columns() where not internal",
    "select schema_name, table_name, comment from duckdb_tables() where not internal",
    "select schema_name, view_name, comment from duckdb_views() where not internal",
    "select function_name, macro_definition from duckdb_functions() where not internal",
)


def _project(folder: Path) -> Path:
    (folder / "budget").mkdir(parents=True)
    (folder / "budget" / "cost-events.jsonl").write_text("".join(json.dumps(one) + "\n" for one in EVENTS))
    return folder


def _said(project: Path) -> list[Any]:
    """Return all that is in the warehouse of a project, its columns' kinds and comments included."""
    with duckdb.connect(str(project / ".reportgen" / "warehouse.duckdb"), read_only=True) as con:
        told = [con.execute(f"{text} order by all").fetchall() for text in _ASKED]
        names = [f'{schema}."{name}"' for schema, name, _ in (*told[1], *told[2])]
        return [told, {name: con.execute(f"select * from {name} order by all").fetchall() for name in names}]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the blank of these tests is kept: another than that of the checkout."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("blank")
        patch.setattr("sys.dont_write_bytecode", False)
        patch.setattr("sys.pycache_prefix", None)
        patch.setattr(blank, "_PLACE", folder / "blank")
        yield folder


@pytest.fixture(scope="module")
def first(place: Path) -> Path:
    """A project that was built when there was none."""
    project = _project(place / "first")
    build(project)
    return project


def _begun(project: Path) -> bool:
    settings = load_settings(project)
    with open_warehouse(settings, find_inputs(settings)) as store:
        return bool(store.query("select count(*) from duckdb_tables() where table_name = 'agent_runs'").rows[0][0])


def test_the_second_build_begins_with_it_and_makes_the_same(first: Path, place: Path) -> None:
    kept = list(place.glob("__pycache__/blank.*"))
    assert len(kept) == 1
    second = _project(place / "second")
    assert _begun(second)
    build(second)
    assert _said(second) == _said(first)
    pages = {path.relative_to(first): path.read_bytes() for path in first.rglob("site/**/*") if path.is_file()}
    assert len(pages) > 30
    assert {path: (second / path).read_bytes() for path in pages} == pages


@pytest.mark.parametrize("path", ["sql/marts/agents.sql", "sql/sources/mine.sql", "sql/macros.sql"])
def test_a_project_with_tables_or_macros_of_its_own_begins_with_nothing(first: Path, tmp_path: Path, path: str) -> None:
    project = _project(tmp_path / "own")
    (project / path).parent.mkdir(parents=True)
    (project / path).write_text("create or replace macro m(x) as x" if "macros" in path else "select 1 as one")
    assert first.is_dir()
    assert not _begun(project)


def test_one_that_was_cut_short_is_not_used(first: Path, place: Path) -> None:
    kept = next(place.glob("__pycache__/blank.*"))
    whole = kept.read_bytes()
    try:
        kept.write_bytes(whole[:-1])
        assert not _begun(first)
    finally:
        kept.write_bytes(whole)
    assert _begun(first)
