"""One feedback file: which of its lines are rows, wherever people and scripts have put them. No Markdown parser."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from reportgen.inputs.feedback_cells import is_delimiter, read_date, read_score, split_row
from reportgen.inputs.feedback_rows import COLUMNS, NEEDED, Header, RowReader
from reportgen.names import fold
from reportgen.quickclass import dataclass

#: A line of Markdown: its index from 0 in `TextFile.lines`, and its text.
Line = tuple[int, str]

#: A line with this many cells, outside every table, is meant as a row; fewer are a quote or a drawing.
_ROW_CELLS = 3


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that Markdown takes as one thing, `first` to `end` (excluded). A table begins with its header.

    `open_end`: a fence or comment that is never closed.
    """

    kind: Literal["table", "text", "code", "html"]
    first: int
    end: int
    lines: list[Line]
    open_end: bool = False


class FileReader:
    """Walks through the blocks of one file, in order, and hands the rows to `rows`."""

    def __init__(self, rows: RowReader) -> None:
        self._rows = rows
        self._notes = rows.notes
        #: The header that rows outside a table are read with, and the last table of any kind.
        self._header: Header | None = None
        self._nearest: Header | None = None
        self._table_end = -1
        #: Lines like rows that stand above the first header.
        self._early: list[tuple[int, int]] = []

    def read(self, blocks: Iterable[Block]) -> None:
        """Take every row, and say what is missing."""
        tables = 0
        for block in blocks:
            if block.kind == "table":
                tables += 1
                self._table(block)
            elif block.kind == "text":
                self._prose(block)
            else:
                self._closed(block)
        if self._header is None:
            message = (
                "no table with the columns Agent, Score and Pattern was found; a feedback table begins with the rows"
                " | Date | Pipeline | Agent | Score | Issue | Resolution | Pattern | and |---|---|---|---|---|---|---|"
            )
            self._notes.add("feedback-no-table", message)
            return
        for index, count in self._early:
            if count == self._header.count:
                self._rows.reject(index, f"stands above the table's header (line {self._header.line})")
        if not self._rows.rows and not self._rows.rejected():
            what = "only the rows of a template" if self._rows.saw_template else "no rows yet"
            self._notes.add("feedback-no-rows", f"the table holds {what}", self._header.line, "info")

    # --- tables -----------------------------------------------------------------------------------------------------

    def _table(self, block: Block) -> None:
        header = self._read_header(block.lines[0])
        rows = block.lines[2:]
        if header.is_feedback:
            self._header = header
            self._table_end = block.end
            self._about_columns(header)
            for index, text in rows:
                self._rows.take(index, text, header)
        else:
            self._ignored(header, rows)
        self._nearest = header

    def _ignored(self, header: Header, rows: Sequence[Line]) -> None:
        """Name a table that is not feedback; but a feedback row appended right below it still counts."""
        missing = [name.title() for name in NEEDED if name not in header.places]
        columns = self._rows.quote(", ".join(header.shown))
        self._notes.add(
            "feedback-table-ignored",
            f"the table with the columns {columns} was not read: it has no column {' or '.join(missing)}",
            header.line,
            "warning" if len(missing) == 1 else "info",
        )
        for index, text in rows:
            cells = self._rows.cells(text, self._header)
            if (
                self._header
                and len(cells) == self._header.count != header.count
                and self._looks_reviewed(cells, self._header)
                and self._rows.take(index, text, self._header)
            ):
                message = f"the row stands in another table; read with the header of line {self._header.line}"
                self._notes.add("feedback-row-outside-table", message, self._rows.number(index))

    def _looks_reviewed(self, cells: Sequence[str], header: Header) -> bool:
        render, places = self._rows.render, header.places
        dated = "date" in places and read_date(render(cells[places["date"]]))[0] is not None
        return dated or read_score(render(cells[places["score"]])) is not None

    def _read_header(self, line: Line) -> Header:
        shown = tuple(self._rows.render(cell) for cell in split_row(line[1]))
        names = tuple(fold(cell) for cell in shown)
        places: dict[str, int] = {}
        for place, name in enumerate(names):
            if name in COLUMNS:
                places.setdefault(name, place)
        return Header(self._rows.number(line[0]), shown, names, places)

    def _about_columns(self, header: Header) -> None:
        for name in sorted(header.places):
            if header.names.count(name) > 1:
                message = f"the column {name.title()} stands twice; the first is read"
                self._notes.add("feedback-column-twice", message, header.line)
        others = [shown for shown, name in zip(header.shown, header.names, strict=True) if name not in COLUMNS]
        if others:
            message = f"columns not read: {self._rows.quote(', '.join(others))}"
            self._notes.add("feedback-columns-not-read", message, header.line, "info", len(others))

    # --- outside tables ---------------------------------------------------------------------------------------------

    def _prose(self, block: Block) -> None:
        """Look for rows that a blank line or another text cut off from their table."""
        broken = ""
        outside: list[int] = []
        for place, (index, text) in enumerate(block.lines):
            if "|" not in text:
                continue
            header = self._header
            cells = self._rows.cells(text, header)
            bordered = text.lstrip().startswith("|")
            if is_delimiter(cells):
                continue
            if self._is_header(cells):
                below = split_row(block.lines[place + 1][1]) if place + 1 < len(block.lines) else []
                if header is None or self._folded(cells) != header.names or is_delimiter(below):
                    broken = self._broken_header(index, cells, below)
            elif broken:
                if bordered or len(cells) >= _ROW_CELLS:
                    self._rows.reject(index, broken)
            elif self._belongs_elsewhere(cells):
                continue
            elif header and len(cells) == header.count:
                if self._rows.take(index, text, header):
                    outside.append(self._rows.number(index))
            elif bordered and len(cells) >= _ROW_CELLS:
                self._cut_off(index, len(cells))
        if outside and self._header:
            which = f"lines {outside[0]} to {outside[-1]} hold rows" if len(outside) > 1 else "the row stands"
            self._notes.add(
                "feedback-row-outside-table",
                f"{which} outside the table (a blank line or another text comes before);"
                f" read with the header of line {self._header.line}",
                outside[0],
                count=len(outside),
            )

    def _belongs_elsewhere(self, cells: Sequence[str]) -> bool:
        nearest = self._nearest
        return nearest is not None and not nearest.is_feedback and len(cells) == nearest.count

    def _cut_off(self, index: int, count: int) -> None:
        header = self._header
        if header is None:
            self._early.append((index, count))
        else:
            there = f"the header of line {header.line} has {header.count}"
            self._rows.reject(index, f"stands outside every table and has {count} cells where {there}")

    def _broken_header(self, index: int, cells: Sequence[str], below: Sequence[str]) -> str:
        if is_delimiter(below):
            what = f"the header has {len(cells)} cells and the delimiter row below it {len(below)}"
        else:
            what = "the header has no delimiter row (|---|---|) below it"
        line = self._rows.number(index)
        self._notes.add("feedback-broken-header", f"this is no table to Markdown: {what}", line)
        return f"not in a table: {what} (line {line})"

    def _folded(self, cells: Sequence[str]) -> tuple[str, ...]:
        return tuple(fold(self._rows.render(cell)) for cell in cells)

    def _is_header(self, cells: Sequence[str]) -> bool:
        return len(cells) >= len(NEEDED) and set(NEEDED) <= set(self._folded(cells))

    # --- code and HTML ----------------------------------------------------------------------------------------------

    def _closed(self, block: Block) -> None:
        """Code and HTML hold no data; say so where a table may have been meant."""
        if block.kind == "code" and block.first == self._table_end:
            for index, text in block.lines:
                if self._header and len(self._rows.cells(text, self._header)) == self._header.count > 1:
                    self._rows.reject(index, "indented by four blanks or more below the table, which makes it code")
        elif block.open_end:
            if any("|" in text for _, text in block.lines):
                what = "HTML comment" if block.kind == "html" else "code fence"
                message = f"the {what} opened here is never closed: nothing below it is read"
                self._notes.add("feedback-never-closed", message, self._rows.number(block.first))
        elif block.kind == "html" and not block.lines[0][1].lstrip().startswith("<!--"):
            for index, text in block.lines:
                if "|" in text and self._is_header(split_row(text)):
                    message = "the table is part of an HTML block and was not read; put a blank line before it"
                    self._notes.add("feedback-table-in-html", message, self._rows.number(index))
