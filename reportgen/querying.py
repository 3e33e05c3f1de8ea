"""`reportgen query`: one SELECT on the warehouse of the last build, read-only and locked, and what tables there are."""

from __future__ import annotations

import datetime as dt
import json
import math
import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from reportgen.detectors import as_text
from reportgen.errors import ReportgenError
from reportgen.quickclass import dataclass
from reportgen.render.csvtext import csv_text
from reportgen.render.prose import escape_markdown, plain
from reportgen.settings import load_settings
from reportgen.sqlfile import near
from reportgen.sqlhint import syntax_step
from reportgen.sqltree import read_tree
from reportgen.warehouse import Limits, Result, SqlError, Warehouse

Form = Literal["table", "csv", "json", "markdown"]
FORMS: tuple[Form, ...] = ("table", "csv", "json", "markdown")
#: The widest that a cell of a table gets on a terminal.
WIDEST = 60
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
            "UHUGEINT", "DECIMAL", "DOUBLE", "FLOAT", "BIGNUM")  # fmt: skip


@dataclass(frozen=True, slots=True)
class TableInfo:
    """A table of the warehouse with its comment, and its columns: name, DuckDB type, comment."""

    name: str
    comment: str
    columns: tuple[tuple[str, str, str], ...]


def run_query(project: Path, sql: str, *, rows: int | None = None) -> Result:
    """Run one SELECT on the project's warehouse, which nothing can change; at most its first `rows` rows.

    Raises ReportgenError where there is no warehouse yet, where another program has it open for writing, where the
    text is anything but one SELECT, and where DuckDB refuses it (`query:line:column`).
    """
    with _open(project) as store:
        tree = read_tree(store.serialized(sql))
        if tree.wrong is not None:
            what, at = tree.wrong.what, tree.wrong.at
            step = syntax_step(sql, at, what) if what.startswith("Parser") else "Only reading is possible here."
            raise ReportgenError(_at(sql, at), what, step)
        try:
            if rows is None:
                return store.query(sql, bounded=True)
            return store.first_rows(sql, rows, bounded=True)
        except SqlError as error:
            where = f"query:{error.line}:{error.column}" if error.line else "query"
            next_step = error.hint or "`reportgen query --schema` lists the tables and their columns."
            raise ReportgenError(where, error.message, next_step) from error


def _open(project: Path) -> Warehouse:
    settings = load_settings(project)
    path = settings.work / "warehouse.duckdb"
    if not path.is_file():
        name = path.relative_to(settings.project).as_posix()
        raise ReportgenError(name, "there is no warehouse yet", "Run `reportgen build` first; it makes one.")
    store = Warehouse(path, read_only=True, limits=Limits(settings.detector_seconds, settings.memory))
    store.lock()
    return store


def _at(sql: str, byte: int | None) -> str:
    if byte is None:
        return "query"
    before = sql.encode()[:byte].decode("utf-8", "replace")
    return f"query:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


# --- rows to text ---------------------------------------------------------------------------------------------------


def render_rows(result: Result, form: Form) -> str:
    """Return the rows as text that ends with a line end.

    `table`: aligned, on one line each, safe on a terminal; `csv`: what a spreadsheet runs as a formula is quoted off;
    `json`: a list of objects, decimal numbers as strings so that they stay exact; `markdown`: a table.
    """
    if form == "csv":
        return csv_text(result.columns, [[_csv_cell(cell) for cell in row] for row in result.rows])
    if form == "json":
        return _json(result)
    if form == "markdown":
        return _markdown(result)
    return _table(result)


def _is_number(kind: str) -> bool:
    return kind.split("(")[0] in _NUMBERS


def _shown(value: object) -> str:
    text = as_text(value)
    return "null" if text is None else text


def _table(result: Result) -> str:
    cells = [[_cut(plain(_shown(cell))) for cell in row] for row in result.rows]
    heads = [_cut(plain(name)) for name in result.columns]
    widths = [max(_width(text) for text in column) for column in zip(heads, *cells, strict=True)]
    right = [_is_number(kind) for kind in result.types]

    def line(texts: Sequence[str]) -> str:
        padded = [
            " " * (width - _width(text)) + text if number else text + " " * (width - _width(text))
            for text, width, number in zip(texts, widths, right, strict=True)
        ]
        return "  ".join(padded).rstrip()

    count = len(result.rows)
    lines = [line(heads), "  ".join("─" * width for width in widths), *(line(row) for row in cells)]
    return "\n".join([*lines, f"({count:,} {'row' if count == 1 else 'rows'})", ""])


def _cut(text: str) -> str:
    if _width(text) <= WIDEST:
        return text
    kept, used = [], 0
    for character in text:
        used += _width(character)
        if used > WIDEST - 1:
            break
        kept.append(character)
    return "".join(kept) + "…"


def _width(text: str) -> int:
    """Return the columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) or unicodedata.category(c) in ("Mn", "Cf") else
        2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )  # fmt: skip


def _markdown(result: Result) -> str:
    rules = ["---:" if _is_number(kind) else "---" for kind in result.types]
    rows = [[escape_markdown(_shown(cell)) for cell in row] for row in result.rows]
    lines = [[escape_markdown(name) for name in result.columns], rules, *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _csv_cell(value: object) -> str | int | bool | None:
    return value if isinstance(value, bool | int) else as_text(value)


def _json(result: Result) -> str:
    for name in result.columns:
        if result.columns.count(name) > 1:
            raise ReportgenError("query", f"two columns are named '{name}', and JSON can hold one", "Name them apart.")
    rows = [dict(zip(result.columns, map(_json_cell, row), strict=True)) for row in result.rows]
    # ASCII only, so that nothing in it can steer a terminal; json leaves DEL as it is.
    return json.dumps(rows, indent=2).replace("\x7f", "\\u007f") + "\n"


def _json_cell(value: Any) -> Any:  # noqa: ANN401 - whatever a cell can be
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        # Whole numbers beyond what JSON readers hold exactly travel as text.
        return value if abs(value) < 2**53 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_json_cell(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _json_cell(item) for key, item in value.items()}
    return as_text(value) if isinstance(value, Decimal | dt.date) else str(value)


# --- what there is --------------------------------------------------------------------------------------------------


def schema(project: Path) -> list[TableInfo]:
    """Return the tables of the project's warehouse with their comments. Raises ReportgenError as `run_query` does."""
    with _open(project) as store:
        return tables(store)


def tables(store: Warehouse) -> list[TableInfo]:
    """Return the tables that detectors and queries read, by name, with what their comments say."""
    store.write_comments()
    found: dict[str, list[tuple[str, str, str]]] = {}
    for table, column, kind, comment in store.query(
        "select table_name, column_name, data_type, coalesce(comment, '') from duckdb_columns()"
        " where schema_name = 'main' and not internal order by table_name, column_index"
    ).rows:
        found.setdefault(table, []).append((column, kind, comment))
    comments: dict[str, str] = dict(
        store.query(
            "select table_name, coalesce(comment, '') from duckdb_tables() where schema_name = 'main' union all"
            " select view_name, coalesce(comment, '') from duckdb_views() where schema_name = 'main' and not internal"
        ).rows
    )
    return [TableInfo(name, comments.get(name, ""), tuple(columns)) for name, columns in found.items()]


def schema_text(project: Path, only: str | None = None) -> str:
    """Return the tables as a person reads them, or one of them. Raises ReportgenError for a table there is not."""
    infos = schema(project)
    names = [info.name for info in infos]
    if only is not None and only not in names:
        raise ReportgenError("query --schema", f"no table '{only}'{near(only, names)}", f"Known: {', '.join(names)}.")
    return "\n".join(_info(info) for info in infos if only in (None, info.name))


def _info(info: TableInfo) -> str:
    wide = max(len(name) for name, _, _ in info.columns)
    kinds = max(len(kind) for _, kind, _ in info.columns)
    head = f"{plain(info.name)}: {plain(info.comment)}" if info.comment else plain(info.name)
    lines = [f"  {plain(name):<{wide}}  {plain(kind):<{kinds}}  {plain(comment)}".rstrip() for name, kind, comment in
             info.columns]  # fmt: skip
    return "\n".join([head, *lines, ""])
