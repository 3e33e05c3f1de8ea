"""One table row to one feedback row, and the account of a file's lines (SPEC 2, "Feedback"). No Markdown parser."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal

from reportgen.inputs.feedback_cells import (
    is_delimiter,
    is_nothing,
    is_placeholder,
    is_total,
    read_date,
    read_score,
    read_tags,
    split_row,
    split_row_keeping_code,
)
from reportgen.inputs.notes import Notes
from reportgen.inputs.textlines import TextFile, shortened, snippet
from reportgen.model import InputFile, RejectedLine
from reportgen.names import Names, fold
from reportgen.quickclass import dataclass
from reportgen.redact import redact

NEEDED = ("agent", "score", "pattern")
COLUMNS = ("date", "pipeline", *NEEDED, "issue", "resolution")

NOT_UTF8 = "not valid UTF-8"


@dataclass(frozen=True, slots=True)
class FeedbackRow:
    """One reviewed run. `score` is 0 to 100, cut to 12 places; names are numbers of `Names`; texts are as shown.

    `row_no` counts from 0 over all files, `file_no` is the place of the file among the sources, `line` counts from 1.
    """

    row_no: int
    file_no: int
    line: int
    date: date | None
    pipeline_no: int | None
    agent_no: int | None
    score: Decimal | None
    score_text: str
    issue: str
    resolution: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Header:
    """A table's header: its line, its column names as shown and folded, and where the known columns are."""

    line: int
    shown: tuple[str, ...]
    names: tuple[str, ...]
    places: dict[str, int]

    @property
    def count(self) -> int:
        """How many cells a row has."""
        return len(self.names)

    @property
    def is_feedback(self) -> bool:
        """Whether rows of this table are reviews."""
        return all(name in self.places for name in NEEDED)


class RowReader:
    """Takes the rows of one file, one by one, and keeps the fate of every line."""

    def __init__(
        self,
        file_no: int,
        shown: str,
        text: TextFile,
        names: Names,
        *,
        render: Callable[[str], str],
        redacted: bool,
        first_row_no: int,
    ) -> None:
        self.rows: list[FeedbackRow] = []
        self.notes = Notes(shown)
        #: Whether a row was passed over as a template's or as empty.
        self.saw_template = False
        self.render = render
        self._file_no = file_no
        self._shown = shown
        self._text = text
        self._names = names
        self._redacted = redacted
        self._first_row_no = first_row_no
        self._used: set[int] = set()
        self._rejected: dict[int, tuple[str, str]] = {}

    # --- what became of each line -----------------------------------------------------------------------------------

    def account(self) -> InputFile:
        """Return the fate of every physical line: used, rejected, blank, or `not_cost` for all that is no row."""
        lines, extra = self._text.count, self._extra_line()
        written = {number for number, line in zip(self._text.numbers, self._text.lines, strict=True) if line.strip()}
        return InputFile(
            file=self._shown,
            kind="feedback",
            lines=lines + extra,
            used=len(self._used),
            superseded=0,
            duplicates=0,
            not_cost=len(written - self._used - self._rejected.keys()),
            rejected=len(self._rejected) + extra,
            blank=lines - len(written),
            events=len(self.rows),
            broken_parts=0,
        )

    def rejected(self) -> list[RejectedLine]:
        """Return the lines that look like rows and could not be read, in order."""
        entries = [(number, *entry) for number, entry in sorted(self._rejected.items())]
        if self._extra_line():
            entries.append((self._text.count + 1, self._text.damage or "", ""))
        return [
            RejectedLine(file=self._shown, line=line, reason=reason, snippet=shown) for line, reason, shown in entries
        ]

    def _extra_line(self) -> int:
        """Return 1 where a compressed file breaks off and no line shows it: what is missing counts as one line."""
        return int(self._text.damage is not None and self._text.count not in self._rejected)

    def reject(self, index: int, reason: str) -> None:
        """Say that the row at `index` can't be read; a physical line that also holds a good row stays used."""
        number = self._text.numbers[index]
        if number not in self._used:
            self._rejected.setdefault(number, (reason, self.quote(self._text.lines[index])))

    def number(self, index: int) -> int:
        """Return the physical line of a Markdown line."""
        return self._text.numbers[index]

    def quote(self, text: str) -> str:
        """Return the beginning of a text, fit to be shown."""
        return snippet(text, redacted=self._redacted)

    # --- rows -------------------------------------------------------------------------------------------------------

    def cells(self, text: str, header: Header | None) -> list[str]:
        """Split a row; pipes inside back-ticks do not split where just that gives the header's number of cells."""
        cells = split_row(text)
        if header and len(cells) > header.count and "`" in text:
            kept = split_row_keeping_code(text)
            if len(kept) == header.count:
                return kept
        return cells

    def take(self, index: int, text: str, header: Header) -> bool:
        """Take one row; False where it holds no data or can't be read."""
        number = self._text.numbers[index]
        cells = self.cells(text, header)
        raw = (cells + [""] * header.count)[: header.count] if len(cells) != header.count else cells
        if not any(raw):
            self.saw_template = True
            return False
        shown = [self.render(cell) for cell in raw]
        if is_delimiter(cells) or (
            fold(shown[0]) == header.names[0] and tuple(fold(cell) for cell in shown) == header.names
        ):
            return False
        written = {name: raw[place] for name, place in header.places.items()}
        values = {name: shown[place] for name, place in header.places.items()}
        others = [written.get(name, "") for name in ("pipeline", "pattern", "issue", "resolution")]
        if is_placeholder(written.get("date", ""), written["agent"], written["score"], others):
            self.saw_template = True
            self.notes.tally("feedback-placeholder", "{n} of an unfilled template, not read", number, "info")
            return False
        if self._text.damage and self._text.unterminated and number == self._text.count:
            self.reject(index, self._text.damage)
            return False
        if number in self._text.invalid:
            self.reject(index, NOT_UTF8)
            return False
        if is_total(shown, values.get("date", "")):
            self.notes.tally("feedback-total", "{n} of totals or averages, not read", number, "info")
            return False
        self._about_cells(number, text, cells, header)
        self._add(number, values)
        return True

    def _add(self, number: int, values: dict[str, str]) -> None:
        day, problem = read_date(values.get("date", ""))
        if problem:
            self.notes.add("feedback-date", f"the date “{self.quote(values['date'])}” {problem}: undated", number)
        elif day is None:
            self.notes.tally("feedback-undated", "{n} without a date", number, "info")
        score = read_score(values["score"])
        if score is None and is_nothing(values["score"]):
            self.notes.tally("feedback-no-score", "{n} without a score", number, "info")
        elif score is None:
            message = f"“{self.quote(values['score'])}” is no score of 0 to 100; kept as text"
            self.notes.add("feedback-score", message, number)
        self.rows.append(
            FeedbackRow(
                row_no=self._first_row_no + len(self.rows),
                file_no=self._file_no,
                line=number,
                date=day,
                pipeline_no=self._names.pipeline(_name(values.get("pipeline", ""))),
                agent_no=self._names.agent(_name(values["agent"])),
                score=score,
                score_text=shortened(self._safe(values["score"])),
                issue=shortened(self._safe(values.get("issue", ""))),
                resolution=shortened(self._safe(values.get("resolution", ""))),
                # Before they are folded: a key is told by its capitals.
                tags=read_tags(self._safe(values["pattern"])),
            )
        )
        self._used.add(number)
        self._rejected.pop(number, None)

    def _about_cells(self, number: int, text: str, cells: Sequence[str], header: Header) -> None:
        if len(cells) < header.count:
            message = f"the row has {len(cells)} of {header.count} cells; the missing ones are taken as empty"
            self.notes.add("feedback-row-cells", message, number)
        elif len(cells) > header.count:
            message = f"the row has {len(cells)} cells and the header {header.count}; the last ones are left out"
            self.notes.add("feedback-row-cells", message, number)
        elif "`" in text and len(split_row(text)) != len(cells):
            message = "a pipe inside back-ticks splits a cell in Markdown; here it was kept whole: write \\|"
            self.notes.add("feedback-pipe-in-code", message, number)
        if number in self._text.nul:
            self.notes.add("feedback-nul", "NUL characters were dropped", number)

    def _safe(self, text: str) -> str:
        return redact(text) if self._redacted else text


def _name(text: str) -> str | None:
    return None if is_nothing(text) else text
