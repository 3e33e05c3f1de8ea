"""The database in which opencode keeps its sessions, as lines: a JSON object for each message, session by session.

Only what tells who spent what is taken out of the database: no prompt, no answer and no command. It is never written
to, and nothing is put beside it where that can be helped. This room alone asks SQLite.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from reportgen.inputs.formats import pruner
from reportgen.inputs.records import NumberText
from reportgen.inputs.sqlitefile import write_ahead

#: What is looked at in a message: name in the line, path in the data of both generations.
_TOLD = {
    "role": ("$.role", "$.role"),
    "agent": ("$.agent", "$.agent"),
    "mode": ("$.mode", "$.mode"),
    "model": ("$.modelID", "$.model.id"),
    "cwd": ("$.path.cwd", "$.path.cwd"),
    "created": ("$.time.created", "$.time.created"),
    "completed": ("$.time.completed", "$.time.completed"),
    "cost": ("$.cost", "$.cost"),
    "tokens": ("$.tokens", "$.tokens"),
    "error": ("$.error.name", "$.error.type"),
    "status": ("$.error.data.statusCode", "$.error.status"),
}
#: The first tool of each message: where each generation says which it is.
_TOOLS = {
    "message": """
        select cast(p.message_id as text), min(p.id), cast(json_extract(p.data, '$.tool') as text)
        from part as p
        where case when json_valid(p.data) then json_extract(p.data, '$.type') end = 'tool'
        group by p.message_id
    """,
    "session_message": """
        select cast(m.id as text), min(c.key), cast(json_extract(c.value, '$.name') as text)
        from session_message as m, json_each(case when json_valid(m.data) then m.data else '{}' end, '$.content') as c
        where case when c.type = 'object' then json_extract(c.value, '$.type') end = 'tool'
        group by m.id
    """,
}
_NEEDED = {"message": {"id", "session_id", "data"}, "session_message": {"id", "session_id", "type", "data"}}
_DEEPEST = 100
#: In the byte of a database by which SQLite decides how to read it: changes go to a file beside it first.
_WITH_LOG = b"\x02"
_TRIES = 3
#: So many bytes of lines are held in memory, and more in a file.
_HELD = 16 << 20
_written = pruner({})


class StrangeError(Exception):
    """A file of SQLite that is no database of opencode."""


def lines(path: Path) -> Iterator[bytes]:
    """Yield a line for each message. Raises StrangeError, and sqlite3.Error where the database can't be read."""
    path = Path(os.path.realpath(path))
    if not _is_still(path):
        with closing(_opened(path)) as con:
            yield from _all(con)
        return
    # Without its locks, which would put files beside it, nothing keeps a database as it is while it is read.
    with tempfile.SpooledTemporaryFile(_HELD) as held:
        for _ in range(_TRIES):
            before = _stamps(path)
            held.seek(0)
            held.truncate()
            with closing(_connect(path, "immutable=1")) as con:
                try:
                    held.writelines(_all(con))
                except (sqlite3.Error, StrangeError):
                    if _stamps(path) == before:
                        held.seek(0)
                        yield from held
                        raise
                    continue
            if _stamps(path) == before:
                held.seek(0)
                yield from held
                return
    # Somebody opens and closes it all the time.
    with closing(_of_copy(path)) as con:
        yield from _all(con)


def _all(con: sqlite3.Connection) -> Iterator[bytes]:
    con.execute("pragma trusted_schema = off")
    # What is read belongs to one moment, whatever is written meanwhile.
    con.execute("begin")
    columns = {name: _columns(con, name) for name in (*_NEEDED, "session", "session_v2", "part")}
    tables = [name for name, needed in _NEEDED.items() if needed <= columns[name]]
    if not tables:
        raise StrangeError
    sessions = _sessions(con, columns)
    for table in tables:
        yield from _messages(con, table, columns, sessions)


def _stamps(path: Path) -> list[tuple[int, int, int] | None]:
    return [_stamp(one) for one in (path, write_ahead(path), _journal(path))]


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    # An empty file beside a database is as good as none.
    return (status.st_ino, status.st_size, status.st_mtime_ns) if status.st_size else None


def _journal(path: Path) -> Path:
    return path.with_name(f"{path.name}-journal")


def _is_still(path: Path) -> bool:
    """Say whether nobody writes to a database: the way opencode keeps it, a file is beside it as long as one does."""
    with path.open("rb") as file:
        version = file.read(20)[19:]
    return version == _WITH_LOG and _stamp(write_ahead(path)) is None


def _opened(path: Path) -> sqlite3.Connection:
    shared = path.with_name(f"{path.name}-shm")
    if shared.exists() or _stamp(write_ahead(path)) is None:
        with suppress(sqlite3.OperationalError):
            con = _connect(path, "mode=ro")
            try:
                con.execute("select 1 from sqlite_master limit 1").fetchall()
            except sqlite3.OperationalError:
                con.close()
                raise
            return con
    # What a writer left that came to no good end can only be read where SQLite may put it in order: in a copy.
    return _of_copy(path)


def _connect(path: Path, how: str) -> sqlite3.Connection:
    name = quote(os.fsencode(path.absolute()))
    con = sqlite3.connect(f"file:{name}?{how}", uri=True, isolation_level=None, timeout=10)
    con.text_factory = _decoded
    return con


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def _of_copy(path: Path) -> sqlite3.Connection:
    """Return a copy that is whole: of one moment, and gone from the disk where the system lets an open file go."""
    for _ in range(_TRIES):
        before = _stamps(path)
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            copy = Path(name) / "copy.db"
            for one, its in ((path, copy), (write_ahead(path), write_ahead(copy)), (_journal(path), _journal(copy))):
                with suppress(FileNotFoundError):
                    shutil.copyfile(one, its)
            if _stamps(path) != before:
                continue
            con = _connect(copy, "mode=rw")
            # Takes what was written last into the copy, whose other files are not needed then.
            con.execute("pragma journal_mode = delete")
            con.execute("select 1 from sqlite_master limit 1").fetchall()
            return con
    raise sqlite3.OperationalError("the database is written to all the time")


def _columns(con: sqlite3.Connection, table: str) -> set[str]:
    """Return the columns of a table; of a view, which may compute for ever, none."""
    if not con.execute("select 1 from sqlite_master where type = 'table' and name = ?", [table]).fetchall():
        return set()
    return {str(row[1]) for row in con.execute(f"pragma table_info({table})")}


def _sessions(con: sqlite3.Connection, columns: Mapping[str, set[str]]) -> dict[str, tuple[str | None, str | None]]:
    """Return the parent and the folder of each session."""
    found: dict[str, tuple[str | None, str | None]] = {}
    for table in ("session", "session_v2"):
        if "id" in columns[table]:
            parent, folder = (name if name in columns[table] else "null" for name in ("parent_id", "directory"))
            told = f"cast(id as text), cast({parent} as text), cast({folder} as text)"
            for one, its_parent, its_folder in con.execute(f"select {told} from {table}"):
                known_parent, known_folder = found.get(one, (None, None))
                found[one] = (its_parent or known_parent, its_folder or known_folder)
    return found


def _messages(
    con: sqlite3.Connection,
    table: str,
    columns: Mapping[str, set[str]],
    sessions: Mapping[str, tuple[str | None, str | None]],
) -> Iterator[bytes]:
    has_tools = table != "message" or {"id", "message_id", "data"} <= columns["part"]
    tools = {row[0]: row[2] for row in con.execute(_TOOLS[table])} if has_tools else {}
    place = list(_NEEDED).index(table)
    paths = ", ".join(f"'{both[place]}'" for both in _TOLD.values())
    role = "cast(type as text)" if table == "session_message" else "null"
    order = "seq, id" if "seq" in columns[table] else "id"
    rows = con.execute(
        f"select cast(id as text), cast(session_id as text), {role},"
        f" case when json_valid(data) then json_extract(data, {paths}) end from {table} order by session_id, {order}"
    )
    for one, session, kind, data in rows:
        line: dict[str, Any] = {"opencode": table, "id": one, "session": session, "root": _root(session, sessions)}
        line |= {"folder": sessions.get(session, (None, None))[1], "tool": tools.get(one)}
        try:
            values = json.loads(data, parse_float=NumberText)
            told = dict(zip(_TOLD, values, strict=True)) | ({} if kind is None else {"role": kind})
            yield _text(line | told) + b"\n"
        except (TypeError, ValueError, RecursionError):
            # No object, so that it is rejected under its number; what the broken text holds stays where it is.
            yield _text(line)[:-1] + b', "data": (no JSON)\n'


def _text(line: Mapping[str, Any]) -> bytes:
    # Numbers as they were written, to the last digit.
    return _written({name: value for name, value in line.items() if value is not None}).encode("ascii")


def _root(session: str, sessions: Mapping[str, tuple[str | None, str | None]]) -> str:
    """Return the session that began it all: an agent that is called works in a session of its own."""
    for _ in range(_DEEPEST):
        parent = sessions.get(session, (None, None))[0]
        if not parent:
            break
        session = parent
    return session
