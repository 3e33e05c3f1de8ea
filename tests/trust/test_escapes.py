"""Locked SQL: every attempt is refused, in every kind of file of a project, and leaves nothing behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from project import event, read_report_json, write_project

from reportgen import build
from reportgen.errors import ReportgenError
from reportgen.querying import run_query
from reportgen.warehouse import SqlError
from trust.escapes import ATTEMPTS, CALLED, HIDDEN, MACROS, READING, WRITING, Place, escaped


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    made = Place(tmp_path_factory.mktemp("locked"))
    with made.store:
        yield made


def test_the_lock_is_what_refuses_and_not_a_missing_table(place: Place) -> None:
    assert len(ATTEMPTS) >= 40
    assert len(set(ATTEMPTS)) == len(ATTEMPTS)
    assert place.run("select n from runs") == [(7,)]


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_an_attempt_to_get_out_is_refused(place: Place, attempt: str) -> None:
    assert escaped(place, attempt) is None


@pytest.mark.parametrize("macro", MACROS)
def test_macros_open_no_way_out(place: Place, macro: str) -> None:
    with pytest.raises((ReportgenError, SqlError)):
        place.run_macros(macro)
    assert place.is_as_before()


@pytest.mark.parametrize(("macro", "call"), CALLED)
def test_nor_do_macros_that_are_told_what_to_read(place: Place, macro: str, call: str) -> None:
    place.run_macros(macro)
    assert escaped(place, call) is None


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Build a project whose detectors, charts and tables try to get out; return it, and the file with the words."""
    root = tmp_path_factory.mktemp("project")
    hidden = root / "hidden.csv"
    hidden.write_text(f"a\n{HIDDEN}\n", encoding="utf-8")
    front = {
        "detectors": 'title = "Leak"\naction = "None."',
        "charts": 'title = "Leak"\npage = "overview"\nkind = "bars"\nx = "n"\ny = "n"',
        "tables": 'title = "Leak"\npage = "overview"',
    }
    files = {
        f"sql/{kind}/leak_{number}.sql": f"/*---\n{head}\n---*/\n"
        + attempt.format(f=hidden, out=root / "out", dir=root)
        for kind, head in front.items()
        for number, attempt in enumerate((READING[0], READING[2], READING[8], WRITING[0], "update extensions"))
    }
    return write_project(root / "own", [event(cost_usd=1)], files=files), hidden


def test_no_kind_of_file_gets_out(built: tuple[Path, Path]) -> None:
    project, hidden = built
    result = build(project)
    report = read_report_json(result)
    assert result.exit_code == 1
    assert {d["detector"]: d["status"] for d in report["detectors"] if d["detector"].startswith("leak")} == {
        f"leak_{number}": "error" for number in range(5)
    }
    failed = {n["file"].split(":")[0] for n in report["notices"] if n["code"] in ("chart-failed", "table-failed")}
    assert failed == {f"sql/{kind}/leak_{number}.sql" for kind in ("charts", "tables") for number in range(5)}
    assert not (hidden.parent / "out").exists()
    for path in project.rglob("*"):
        assert not path.is_file() or HIDDEN.encode() not in path.read_bytes(), path
    for attempt in (READING[2], WRITING[0], "update extensions", "pragma database_list"):
        with pytest.raises(ReportgenError):
            run_query(project, attempt.format(f=hidden, out=hidden.parent / "out", dir=hidden.parent))


@pytest.mark.parametrize("kind", ["sources", "marts", "scoring"])
def test_a_mart_that_tries_stops_the_build(tmp_path: Path, kind: str) -> None:
    own = f"sql/{kind}/leak.sql"
    with pytest.raises(ReportgenError, match=own):
        build(write_project(tmp_path, [event()], files={own: "select * from read_text('/etc/passwd')"}))
    assert not (tmp_path / "site").exists()
