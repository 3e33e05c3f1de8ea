"""The database of opencode: what is read out of it, that it is left alone, and that a change in it is seen."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reportgen import build
from reportgen.inputs import database
from reportgen.inputs.lines import LineFile
from reportgen.inputs.sources import find_inputs
from reportgen.inputs.sqlitefile import STRANGE, UNREADABLE
from reportgen.marks import mark
from reportgen.settings import load_settings

#: 2026-05-02T09:00:00Z in milliseconds.
BEGAN = 1777712400000
SECRET = "the launch code is 0000"
FIRST = """
    create table session (id text primary key, parent_id text, directory text not null, title text not null);
    create table message (id text primary key, session_id text not null, time_created integer, data text not null);
    create table part (id text primary key, message_id text not null, session_id text not null, data text not null);
"""
SECOND = """
    create table session_v2 (id text primary key, parent_id text, directory text not null, title text);
    create table session_message (
        id text primary key, session_id text not null, type text not null, seq integer not null, data text not null
    );
"""


def usage(fresh: int, out: int, thought: int = 0, read: int = 0, written: int = 0) -> dict[str, Any]:
    return {"input": fresh, "output": out, "reasoning": thought, "cache": {"read": read, "write": written}}


def answer(after: int, **more: Any) -> str:
    """Return the data of an answer of the first generation, `after` milliseconds from the beginning."""
    told = {
        "role": "assistant", "time": {"created": BEGAN + after, "completed": BEGAN + after + 500}, "parentID": "msg_0",
        "modelID": "claude-sonnet-4-5", "providerID": "anthropic", "mode": "build", "agent": "build",
        "path": {"cwd": "/home/joe/shop", "root": "/home/joe/shop"}, "system": [SECRET],
        "cost": 0.25, "tokens": usage(10, 20),
    }  # fmt: skip
    return json.dumps(told | more)


class World:
    """A database that somebody writes to."""

    def __init__(self, path: Path, tables: str = FIRST) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.con = sqlite3.connect(path)
        self.con.execute("pragma journal_mode = wal")
        self.con.executescript(tables)

    def add(self, table: str, *values: object) -> None:
        self.con.execute(f"insert into {table} values ({', '.join('?' for _ in values)})", values)
        self.con.commit()

    def session(self, name: str, parent: str | None = None, folder: str = "/home/joe/shop") -> None:
        self.add("session", name, parent, folder, SECRET)

    def message(self, name: str, session: str, data: str) -> None:
        self.add("message", name, session, BEGAN, data)

    def part(self, name: str, message: str, **data: Any) -> None:
        self.add("part", name, message, "ses_1", json.dumps(data))


@contextmanager
def written(path: Path, tables: str = FIRST) -> Iterator[World]:
    """Give a database to write to, which is closed, and thus whole, at the end."""
    world = World(path, tables)
    with closing(world.con):
        yield world


def lines(path: Path) -> tuple[list[dict[str, Any]], str | None]:
    file = LineFile(path)
    return [json.loads(line) for line in file], file.damage


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_line_for_each_message_with_what_it_spent_and_no_word_of_it(tmp_path: Path) -> None:
    with written(tmp_path / "opencode.db") as world:
        world.session("ses_1")
        world.session("ses_2", parent="ses_1")
        world.message("msg_1", "ses_1", json.dumps({"role": "user", "time": {"created": BEGAN}, "text": SECRET}))
        world.message("msg_2", "ses_1", answer(1000, cost=0.1, tokens=usage(1, 2, 3, 4, 5), error={
            "name": "APIError", "data": {"message": SECRET, "statusCode": 429, "responseBody": SECRET},
        }))  # fmt: skip
        world.message("msg_3", "ses_2", answer(2000, agent="explore"))
        world.part("prt_3", "msg_2", type="tool", tool="edit", state={"input": {"text": SECRET}})
        world.part("prt_2", "msg_2", type="tool", tool="bash", state={"input": {"command": SECRET}})
        world.part("prt_1", "msg_2", type="text", text=SECRET, tool="none")
    found, damage = lines(tmp_path / "opencode.db")
    place = {"opencode": "message", "session": "ses_1", "root": "ses_1", "folder": "/home/joe/shop"}
    said = {
        "role": "assistant", "agent": "build", "mode": "build", "model": "claude-sonnet-4-5", "cwd": "/home/joe/shop",
    }  # fmt: skip
    assert found == [
        {**place, "id": "msg_1", "role": "user", "created": BEGAN},
        {
            **place, "id": "msg_2", **said, "tool": "bash", "created": BEGAN + 1000, "completed": BEGAN + 1500,
            "cost": 0.1, "tokens": usage(1, 2, 3, 4, 5), "error": "APIError", "status": 429,
        },
        {
            **place, "id": "msg_3", "session": "ses_2", **said, "agent": "explore", "created": BEGAN + 2000,
            "completed": BEGAN + 2500, "cost": 0.25, "tokens": usage(10, 20),
        },
    ]  # fmt: skip
    assert damage is None


def test_the_newer_tables_say_the_same_in_other_places(tmp_path: Path) -> None:
    with written(tmp_path / "opencode.db", SECOND) as world:
        world.add("session_v2", "ses_1", None, "/home/joe/shop", None)
        content = [
            {"type": "text", "text": SECRET},
            "odd",
            {"type": "tool", "name": "grep", "state": {"input": SECRET}},
        ]
        told = {
            "agent": "build", "model": {"id": "m", "providerID": "p"}, "content": content, "cost": 1.5,
            "tokens": usage(1, 2), "time": {"created": BEGAN, "completed": BEGAN + 9},
        }  # fmt: skip
        world.add("session_message", "msg_2", "ses_1", "assistant", 2, json.dumps(told))
        world.add(
            "session_message", "msg_1", "ses_1", "user", 1, json.dumps({"text": SECRET, "time": {"created": BEGAN}})
        )
    first, second = lines(tmp_path / "opencode.db")[0]
    place = {"opencode": "session_message", "session": "ses_1", "root": "ses_1", "folder": "/home/joe/shop"}
    assert first == {**place, "id": "msg_1", "role": "user", "created": BEGAN}
    assert second == {
        **place, "id": "msg_2", "role": "assistant", "agent": "build", "model": "m", "tool": "grep", "cost": 1.5,
        "tokens": usage(1, 2), "created": BEGAN, "completed": BEGAN + 9,
    }  # fmt: skip


def test_a_row_that_is_no_json_keeps_its_place_and_its_words_to_itself(tmp_path: Path) -> None:
    deep = '{"tokens":' + "[" * 900 + "]" * 900 + "}"
    with written(tmp_path / "opencode.db") as world:
        world.message("msg_1", "ses_1", f'{{"role":"assistant","text":"{SECRET}')
        world.message("msg_2", "ses_1", answer(0))
        world.message("msg_3", "ses_1", '{"role":"assistant","cost":1e999}')
        world.message("msg_4", "ses_1", deep)
        world.part("prt_1", "msg_2", type="tool", tool="bash")
        world.add("part", "prt_0", "msg_2", "ses_1", "no json")
    found = list(LineFile(tmp_path / "opencode.db"))
    assert len(found) == 4
    assert SECRET.encode() not in b"".join(found)
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(found[0])
    assert (json.loads(found[1])["tool"], b'"id":"msg_4"' in found[3]) == ("bash", True)


def test_numbers_and_texts_are_told_as_they_stand_in_the_database(tmp_path: Path) -> None:
    with written(tmp_path / "opencode.db") as world:
        world.message("msg_1", "ses_1", '{"role":"assistant","cost":123456789.1234567891,"modelID":"a\\ud800b"}')
        world.message("msg_2", "ses_1", '{"role":"assistant","cost":1e999}')
    first, second = LineFile(tmp_path / "opencode.db")
    assert (b'"cost":123456789.1234567891' in first, b'"model":"a\\ud800b"' in first) == (True, True)
    assert json.loads(second)["cost"] == float("inf")


def test_sessions_that_call_each_other_in_a_circle_end_somewhere(tmp_path: Path) -> None:
    with written(tmp_path / "opencode.db") as world:
        world.session("ses_1", parent="ses_2")
        world.session("ses_2", parent="ses_1")
        world.message("msg_1", "ses_1", answer(0))
    assert lines(tmp_path / "opencode.db")[0][0]["root"] in {"ses_1", "ses_2"}


def test_another_database_and_a_damaged_one_say_so(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db")) as con:
        con.execute("create table message (text)")
        con.commit()
    with written(tmp_path / "whole.db") as world:
        for number in range(500):
            world.message(f"msg_{number:03}", "ses_1", answer(number))
    (tmp_path / "cut.db").write_bytes((tmp_path / "whole.db").read_bytes()[:20_000])
    (tmp_path / "head.db").write_bytes((tmp_path / "whole.db").read_bytes()[:16])
    assert lines(tmp_path / "other.db") == ([], STRANGE)
    assert lines(tmp_path / "head.db") == ([], UNREADABLE)
    some, damage = lines(tmp_path / "cut.db")
    assert (len(some) < 500, damage) == (True, UNREADABLE)
    assert len(lines(tmp_path / "whole.db")[0]) == 500


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with written(tmp_path_factory.mktemp("whole") / "opencode.db") as world:
        for number in range(40):
            world.message(f"msg_{number:03}", "ses_1", answer(number))
            world.part(f"prt_{number:03}", f"msg_{number:03}", type="tool", tool="bash")
    return world.path


def test_a_schema_that_is_no_text_is_damage(tmp_path: Path, whole: Path) -> None:
    path = tmp_path / "opencode.db"
    before = whole.read_bytes()
    assert before.lower().count(b"create table message") == 1
    path.write_bytes(re.sub(b"(?i)create table message", b"CREATE TUBLE m\xffssage", before))
    assert lines(path) == ([], UNREADABLE)


@settings(max_examples=200, deadline=None)
@given(
    changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=20),
    kept=st.floats(0.01, 1),
)
def test_whatever_is_broken_in_a_database_reading_it_ends_and_leaves_nothing_beside_it(
    tmp_path_factory: pytest.TempPathFactory, whole: Path, changes: list[tuple[float, int]], kept: float
) -> None:
    broken = bytearray(whole.read_bytes())
    for place, value in changes:
        # What makes it a database of SQLite stays.
        broken[16 + int(place * (len(broken) - 16))] = value
    path = tmp_path_factory.mktemp("broken") / "opencode.db"
    path.write_bytes(broken[: max(16, int(kept * len(broken)))])
    before = path.read_bytes()
    file = LineFile(path)
    assert all(line.startswith(b'{"opencode":') for line in file)
    assert file.damage in {None, UNREADABLE, STRANGE}
    assert (names_in(path.parent), path.read_bytes()) == ([path.name], before)


def test_nothing_is_put_beside_a_database_that_nobody_writes_to(tmp_path: Path) -> None:
    with written(tmp_path / "a #1?%20.db") as world:
        world.message("msg_1", "ses_1", answer(0))
    before = world.path.read_bytes()
    assert len(lines(world.path)[0]) == 1
    assert names_in(tmp_path) == [world.path.name]
    assert world.path.read_bytes() == before


def test_what_was_written_last_is_read_beside_a_writer_and_after_a_crash(tmp_path: Path) -> None:
    left = tmp_path / "left"
    left.mkdir()
    with written(tmp_path / "opencode.db") as world:
        world.message("msg_1", "ses_1", answer(0))
        wal = world.path.with_name("opencode.db-wal")
        assert wal.stat().st_size
        assert [one["id"] for one in lines(world.path)[0]] == ["msg_1"]
        # As after a crash: the writer is gone, and what it wrote last is not in the database yet.
        for path in (world.path, wal):
            (left / path.name).write_bytes(path.read_bytes())
    before = {path.name: path.read_bytes() for path in left.iterdir()}
    assert [one["id"] for one in lines(left / "opencode.db")[0]] == ["msg_1"]
    assert {path.name: path.read_bytes() for path in left.iterdir()} == before


def test_what_is_not_done_yet_is_not_there_in_a_database_without_a_log_either(tmp_path: Path) -> None:
    left = tmp_path / "left"
    left.mkdir()
    with written(tmp_path / "opencode.db") as world:
        world.con.execute("pragma journal_mode = delete")
        world.con.execute("pragma cache_size = 1")
        world.message("msg_1", "ses_1", answer(0))
        world.con.executemany(
            "insert into message values (?, 'ses_1', 0, ?)", [(f"new_{n:04}", answer(n)) for n in range(2000)]
        )
        for path in (world.path, world.path.with_name("opencode.db-journal")):
            (left / path.name).write_bytes(path.read_bytes())
        # It was written into the file already, and will be taken back.
        assert b"new_0001" in (left / "opencode.db").read_bytes()
        world.con.rollback()
        assert names_in(tmp_path) == ["left", "opencode.db"]
        assert [one["id"] for one in lines(world.path)[0]] == ["msg_1"]
        assert names_in(tmp_path) == ["left", "opencode.db"]
    assert lines(left / "opencode.db") == (lines(world.path)[0], None)
    assert names_in(left) == ["opencode.db", "opencode.db-journal"]


@pytest.mark.parametrize("times", [1, 2, 50])
def test_a_database_that_is_written_to_while_it_is_read_without_locks_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    with written(tmp_path / "opencode.db") as world:
        for number in range(3):
            world.message(f"msg_{number}", "ses_1", answer(number))
    passes = 0

    def beside(con: sqlite3.Connection) -> Iterator[bytes]:
        nonlocal passes
        passes += 1
        for number, line in enumerate(everything(con)):
            if number == 0 and passes <= times:
                # Somebody opens it, deletes a message, and closes it: nothing stays beside it.
                with closing(sqlite3.connect(world.path)) as other:
                    other.execute("delete from message where id = (select max(id) from message)")
                    other.execute("insert into message values ('msg_9' || ?, 'ses_1', 0, ?)", [passes, answer(9)])
                    other.commit()
            yield line

    everything = database._all
    monkeypatch.setattr(database, "_all", beside)
    found, damage = lines(world.path)
    # What is told is what was there at one moment: as many as ever, and none twice.
    assert (damage, len(found), len({one["id"] for one in found})) == (None, 3, 3)
    assert passes == min(times, 3) + 1


def test_a_database_behind_a_link_is_read_with_what_is_beside_itself(tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    (tmp_path / "real").mkdir()
    link = tmp_path / "links" / "opencode.db"
    with written(tmp_path / "real" / "opencode.db") as world:
        world.message("msg_1", "ses_1", answer(0))
        link.symlink_to(world.path)
        before = mark(link, "one")
        world.message("msg_2", "ses_1", answer(0))
        assert mark(link, "one") != before
        assert [one["id"] for one in lines(link)[0]] == ["msg_1", "msg_2"]
    assert names_in(link.parent) == ["opencode.db"]


def test_a_name_that_is_no_text_is_no_hindrance(tmp_path: Path) -> None:
    with written(tmp_path / "opencode.db") as world:
        world.message("msg_1", "ses_1", answer(0))
    odd = world.path.rename(tmp_path / "odd\udcff.db")
    assert [one["id"] for one in lines(odd)[0]] == ["msg_1"]


def test_a_view_in_place_of_a_table_is_not_asked(tmp_path: Path) -> None:
    endless = "with recursive n(x) as (select 1 union all select x + 1 from n)"
    with closing(sqlite3.connect(tmp_path / "opencode.db")) as con:
        con.execute(f"create view message as {endless} select x as id, x as session_id, '{{}}' as data from n")
        con.commit()
    assert lines(tmp_path / "opencode.db") == ([], STRANGE)


def test_two_databases_of_others_are_two_and_what_lies_beside_one_is_none(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    for name in ("a.db", "b.db"):
        with closing(sqlite3.connect(project / name)) as con:
            con.execute(f"create table {name[0]} (text)")
            con.commit()
    (project / "a.db-wal").write_bytes(b"")
    (project / "notes-wal").write_bytes(b"")
    inputs = find_inputs(
        load_settings(project, file=None, flags={"events": (f"{project}/*.db*", f"{project}/notes-*")})
    )
    assert [source.path.name for source in inputs.events] == ["a.db", "b.db", "notes-wal"]
    assert inputs.notices == ()


def test_what_is_still_beside_a_database_makes_its_mark_another(tmp_path: Path) -> None:
    with written(tmp_path / "opencode.db") as world:
        world.message("msg_1", "ses_1", answer(0))
        before, content = mark(world.path, "one", full=True), world.path.read_bytes()
        world.message("msg_2", "ses_1", answer(5))
        after = mark(world.path, "one", full=True)
        assert world.path.read_bytes() == content
        assert not after.is_as(before, full=False)
        assert not after.is_as(before, full=True)
        assert mark(world.path, "one", full=True).is_as(after, full=True)


def test_a_build_reads_it_exactly_sees_what_is_new_and_holds_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    project = tmp_path / "project"
    project.mkdir()
    with written(tmp_path / "share/opencode/opencode.db") as world:
        world.session("ses_1")
        world.session("ses_2", parent="ses_1")
        world.message("msg_1", "ses_1", answer(0))
        # With a subscription it says that nothing was paid: 10 + 20 tokens at 3 and 15 dollars a million.
        world.message("msg_2", "ses_1", answer(1000, cost=0))
        world.message("msg_3", "ses_2", answer(2000, agent="explore"))
        world.message("msg_4", "ses_1", "broken " + SECRET)
        world.part("prt_1", "msg_1", type="tool", tool="bash", state={"input": SECRET})
        first = build(project, source=("opencode",))
        (account,) = first.report.inputs
        assert (account.file, account.lines, account.used, account.rejected) == ("opencode/opencode.db", 4, 3, 1)
        (pipeline,) = first.report.pipelines
        assert (pipeline.pipeline, pipeline.runs, pipeline.cost) == ("shop", 1, "0.50033")
        assert sorted((one.agent, one.events) for one in first.report.agents) == [("explore", 1), ("main", 2)]
        assert build(project, source=("opencode",)).unchanged
        world.message("msg_5", "ses_1", answer(3000, cost=2))
        again = build(project, source=("opencode",))
        assert again.report.pipelines[0].cost == "2.50033"
    held = [path for path in project.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert held == []
