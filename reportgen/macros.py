"""SQL functions that detectors, charts and tables share: the built-in ones, then a project's `sql/macros.sql`.

Whatever reads a project's SQL goes through here, so that a build, a check, a test and a preview know the same macros.
"""

from __future__ import annotations

import re
from pathlib import Path

from reportgen.errors import ReportgenError
from reportgen.resources import resource_dir
from reportgen.sqlfile import Origin, SqlFile
from reportgen.sqltree import STEADY, read_tree
from reportgen.warehouse import SqlError, Warehouse

NAME = "macros.sql"
SHOWN = f"sql/{NAME}"
_NOTES = re.compile(r"\s+|--[^\n]*|/\*.*?\*/", re.DOTALL)
_MACRO = re.compile(r"create\s+(or\s+replace\s+)?(macro|function)\b", re.IGNORECASE)


def make_macros(store: Warehouse, own: Path | None) -> None:
    """Make the built-in macros, and over them those of `macros.sql` in `own`, a project's `sql/` (None: it has none).

    Raises ReportgenError where the project's file can't be read, holds anything else than `create macro`, or a macro
    gives another value in another build.
    """
    store.run_script((resource_dir("sql") / NAME).read_text(encoding="utf-8"))
    path = own / NAME if own is not None else None
    if path is None or not path.is_file():
        return
    try:
        text = path.read_text(encoding="utf-8-sig")
        for line, statement in store.statements(text):
            if not _MACRO.match(_without_notes(statement)):
                what = "holds a statement that makes no macro"
                raise ReportgenError(f"{SHOWN}:{line}", what, "Only `create or replace macro …;` stands there.")
        store.own_macros = True
        store.run_script(text)
    except SqlError as error:
        where = f"{SHOWN}:{error.line}" if error.line else SHOWN
        raise ReportgenError(where, error.message, "Mend the macros; nothing was written.") from error
    except (UnicodeDecodeError, OSError) as error:
        raise ReportgenError(SHOWN, f"can't be read: {error}", "Save it as UTF-8 text.") from error
    _refuse_unsteady(store)


def files(own: Path | None) -> list[SqlFile]:
    """Return the files that `make_macros` runs, for showing: the built-in one, then the project's where it has one."""
    places: list[tuple[Path, Origin]] = [(resource_dir("sql") / NAME, "built-in")]
    if own is not None and (own / NAME).is_file():
        places.append((own / NAME, "project"))
    front = {"title": "Functions that the other files use"}
    return [
        SqlFile("macros", path, SHOWN, origin, front, path.read_text(encoding="utf-8-sig", errors="replace"))
        for path, origin in places
    ]


def _without_notes(statement: str) -> str:
    at = 0
    while found := _NOTES.match(statement, at):
        at = found.end()
    return statement[at:]


def _refuse_unsteady(store: Warehouse) -> None:
    """Raise ReportgenError where a macro calls a clock, a random number or the like: no build could be repeated."""
    rows = store.query(
        "select function_name, function_type, macro_definition from duckdb_functions()"
        " where function_type in ('macro', 'table_macro') and not internal order by all"
    ).rows
    texts = [str(body) if kind == "table_macro" else f"select {body}" for _, kind, body in rows]
    for (name, _, _), tree in zip(rows, store.all_serialized(texts), strict=True):
        if unsteady := read_tree(tree).unsteady:
            what = f"macro {name} uses {unsteady[0].what}, which gives another value in another build"
            raise ReportgenError(SHOWN, what, STEADY)
