"""Rows to CSV that a spreadsheet can open without running any of it, and back."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from reportgen.model import Cell
from reportgen.render.format import to_decimal

#: Whole numbers from here on are no measure of anything (see `to_decimal`).
_MOST = 10**41
#: What most texts begin with: no sign, no blank.
_HARMLESS = re.compile(r"[0-9A-Za-z(/_]")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
#: Also the full-width signs, which some spreadsheets take for the plain ones, and blanks before any of them.
_FORMULA = re.compile(r"\s*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]")
#: Control characters, and those that reorder or hide the text around them.
_NOT_IN_CSV = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]"
)


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Return CSV: UTF-8 text, comma, LF, a header; None is empty, booleans are `true` and `false`.

    A text that a spreadsheet would run as a formula gets a leading apostrophe; numbers stay numbers.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_csv_cell(name) for name in columns])
    # By columns: most hold one kind of cell, which is looked at once.
    writer.writerows(zip(*map(_csv_column, zip(*rows, strict=True)), strict=True))
    return out.getvalue()


def read_csv(data: bytes) -> tuple[list[str], list[list[str]]]:
    """Return the columns and rows of a CSV file of ours. Raises ValueError where it is none."""
    rows = _lines(data)
    columns = next(rows, [])
    if not columns or len(set(columns)) < len(columns):
        raise ValueError("no header with a name for each column")
    out = []
    for row in rows:
        if len(row) != len(columns):
            raise ValueError(f"{len(row)} cells where the header has {len(columns)}")
        out.append([_without_guard(cell) for cell in row])
    return columns, out


def _lines(data: bytes) -> Iterator[list[str]]:
    try:
        yield from csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True)
    except csv.Error as error:
        raise ValueError(str(error)) from error


def _without_guard(cell: str) -> str:
    """Return the text of a cell of our CSV as it was before an apostrophe kept a spreadsheet from running it."""
    text = cell[1:]
    return text if cell.startswith("'") and _FORMULA.match(text) and not _NUMBER.fullmatch(text) else cell


def _csv_column(cells: Sequence[Cell]) -> list[str]:
    texts = [cell for cell in cells if isinstance(cell, str)]
    if len(texts) == len(cells):
        whole = "".join(texts)
        if whole.isascii() and whole.isprintable() and all(map(_HARMLESS.match, texts)):
            return texts
    return [_csv_cell(cell) for cell in cells]


def _csv_cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if not isinstance(cell, str):
        if isinstance(cell, bool):
            return "true" if cell else "false"
        if isinstance(cell, int):
            return str(cell) if abs(cell) < _MOST else ""
        return format(Decimal(repr(cell)), "f") if to_decimal(cell) is not None else ""
    if cell.isascii() and cell.isprintable() and _HARMLESS.match(cell):
        return cell
    text = _NOT_IN_CSV.sub("", cell.encode("utf-8", "replace").decode("utf-8"))
    guard = "'" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else ""
    # A carriage return alone would end the row for some readers.
    return guard + text.replace("\r\n", "\n").replace("\r", "\n")
