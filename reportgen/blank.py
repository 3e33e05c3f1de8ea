"""A warehouse with all built-in tables and nothing in them: made once, and kept beside the built-in SQL.

To create forty tables and say of each column what it holds takes longer than to fill them for a small project. Only
where a project brings no table or macro of its own, and where everything of the built-in files is known from an earlier
build; whoever deletes it has it made anew.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from reportgen import compiled
from reportgen.quickclass import dataclass
from reportgen.rawtables import EVENT_COLUMNS, RAW_TABLES
from reportgen.resources import resource_dir
from reportgen.shapes import Shapes
from reportgen.sqlfacts import Facts
from reportgen.sqlfile import SqlFile
from reportgen.sqlorder import in_order
from reportgen.sqltext import quoted

_PLACE = resource_dir("sql") / "blank"


@dataclass(frozen=True, slots=True)
class Blank:
    """A warehouse file, and the statements that were run in it."""

    data: bytes
    statements: frozenset[str]


def statements(
    macros: str, files: Sequence[Sequence[SqlFile]], facts: Mapping[str, Facts], shapes: Shapes
) -> list[str] | None:
    """Return what makes the blank: `files` in groups that are made one after the other; None where a column is not
    known yet.
    """
    found = ["create schema raw"]
    for name, columns in RAW_TABLES.items():
        found.append(create_raw(name))
        shapes.made(f"raw.{name}", None, columns)
    events = ", ".join(f"{name} {kind}" for name, kind in EVENT_COLUMNS.items())
    found.append(f"create table raw.events ({events})")
    shapes.made("raw.events", None, events)
    found.append(macros)
    comments: list[str] = []
    for group in files:
        for file in in_order(group, facts):
            source = shapes.source(file.text, facts[file.text])
            shape = shapes.get(source)
            shapes.made(file.id, None, source)
            if shape is None:
                return None
            found.append(create(file, shape.as_columns()))
            comments += comments_of(file)
    return [*found, *comments]


def read(texts: Sequence[str], version: str) -> Blank | None:
    """Return the blank that these statements made with this version of DuckDB, where there is one."""
    data = compiled.read(_PLACE, compiled.key_of("blank", version, *texts))
    return None if data is None else Blank(data, frozenset(texts))


def keep(texts: Sequence[str], version: str, data: bytes) -> None:
    """Keep what the statements made, for the next process."""
    compiled.write(_PLACE, compiled.key_of("blank", version, *texts), data)


def can_be_kept() -> bool:
    """Say whether there is a place for it: to make one that nobody finds would take longer than it saves."""
    return not sys.dont_write_bytecode and os.access(_PLACE.parent, os.W_OK)


def create_raw(name: str) -> str:
    """Return the statement that makes a table of the schema `raw`."""
    return f"create table raw.{name} ({RAW_TABLES[name]})"


def create(file: SqlFile, columns: str) -> str:
    """Return the statement that makes what a file is kept as: a view, or a table of these columns."""
    if kind_of(file) == "view":
        return f"create view {file.id} as {file.text.rstrip().rstrip(';')}"
    return f"create table {file.id} ({columns})"


def kind_of(file: SqlFile) -> str:
    """Return what a file is kept as. What few others read is not stored a second time."""
    return "view" if file.front.get("view") is True else "table"


def comments_of(file: SqlFile, kind: str | None = None) -> list[str]:
    """Return the statements that say what a file says of itself and of its columns."""
    doc = str(file.front.get("doc") or file.front.get("title") or "").strip()
    said = [f"comment on {kind or kind_of(file)} {file.id} is {quoted(doc)}"] if doc else []
    for column, text in file.front.get("columns", {}).items():
        name = column.replace('"', '""')
        said.append(f'comment on column {file.id}."{name}" is {quoted(str(text))}')
    return said
