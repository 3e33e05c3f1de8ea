"""Adding one review to FEEDBACK.md: below the last feedback table, or as a new table, and never by changing a row.

Order: lock the file, read it, place the row, read the result as a build would, write it in one piece, sync, unlock. A
row that would not be read back as it was given is not written.
"""

from __future__ import annotations

import codecs
import fcntl
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from reportgen import linelog
from reportgen.errors import ReportgenError
from reportgen.feedbackrow import NewRow
from reportgen.inputs.feedback import FeedbackRead, parse, read_feedback
from reportgen.inputs.feedback_cells import split_row
from reportgen.inputs.feedback_rows import NEEDED
from reportgen.inputs.sources import Source
from reportgen.names import Names, clean_name, fold
from reportgen.quickclass import dataclass
from reportgen.settings import Settings

#: A tag with this many rows in a pipeline is a pattern (SPEC 5).
RECURS = 3
#: The file could not be written (sysexits' EX_IOERR).
NOT_WRITTEN = 74
LOCK_TIMEOUT = 10.0
_PLACES = ("FEEDBACK.md", "feedback/FEEDBACK.md")
_TITLES = ("Date", "Pipeline", "Agent", "Score", "Issue", "Resolution", "Pattern")
_HEADING = "# Feedback"
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
#: Remarks of the reader that a further row, or a table like the last one, may bring.
_HARMLESS = frozenset({"feedback-scores-at-most-one", "feedback-columns-not-read", "feedback-column-twice"})


@dataclass(frozen=True, slots=True)
class Recurring:
    """A tag of the new row that stands in `rows` rows (at least three) of its pipeline, the new one counted."""

    tag: str
    pipeline: str
    rows: int


@dataclass(frozen=True, slots=True)
class Added:
    """What was written: the file, the row's line (from 1), and whether the file or a table was begun for it."""

    path: Path
    line: int
    text: str
    new_file: bool
    new_table: bool
    recurring: tuple[Recurring, ...]


def feedback_file(settings: Settings) -> Path:
    """Return the file that reviews of the project are added to: the one the settings name, else the default place.

    Raises ReportgenError (exit 2) where the settings name several, or only a packed one is there.
    """
    if settings.feedback:
        named = settings.feedback[0]
        if len(settings.feedback) > 1 or any(char in named for char in "*?["):
            what = "the settings name several files for feedback"
            raise ReportgenError("inputs.feedback", what, "Say with --file which of them gets the row.")
        return settings.project / Path(named).expanduser()
    paths = [settings.project / place for place in _PLACES]
    for path in paths:
        if os.path.lexists(path):
            return path
        for packed in (f"{path}.gz", f"{path}.zst"):
            if os.path.lexists(packed):
                raise ReportgenError(packed, "is compressed, and rows are added to plain text", "Unpack it first.")
    return paths[0]


def add_row(path: Path, row: NewRow, *, lock_timeout: float = LOCK_TIMEOUT) -> Added:
    """Append the row to the file (made with heading and table if missing) and say where it stands.

    It goes below the last feedback table where nothing but blank lines follows it and it has a column for everything
    given; else below everything, in a new table. Line ends and encoding stay the file's own; no byte of what was there
    changes but blank lines at the end moving down. Parallel calls wait for each other, so no row is lost.

    Raises ReportgenError: exit 2 where no row can be added that would be read, 74 where the file can't be written.
    """
    try:
        file = linelog.take(os.fspath(path), lock_timeout, any_text=True)
    except linelog.CannotAppendError as error:
        what = f"the file {error}"
        raise ReportgenError(
            str(path), what, "Nothing was written. Try again, or name another.", NOT_WRITTEN
        ) from error
    try:
        data = _all_of(file)
        document = _Document(data)
        place = _first_that_reads(path, document, row)
        _write(file, data, place)
    except OSError as error:
        what = f"the row can't be written ({error.strerror or error})"
        raise ReportgenError(str(path), what, "The file is as it was.", NOT_WRITTEN) from error
    finally:
        os.close(file)
    return Added(path, place.line, place.text, not data, place.new_table, place.recurring)


# --- the file as it is ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Table:
    """The last feedback table: its first two lines, its (folded) columns, what stands before its rows."""

    header: str
    delimiter: str
    columns: tuple[str, ...]
    prefix: str
    #: Index of the line behind the table.
    end: int


class _Document:
    """The text of the file, its lines with their ends, and its last feedback table."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        mark, self.encoding = next(((m, e) for m, e in _MARKS if data.startswith(m)), (b"", "utf-8"))
        # Bytes that are no text stay what they are: only what is before and behind them matters.
        self._errors = "surrogateescape" if self.encoding == "utf-8" else "surrogatepass"
        text = data[len(mark) :].decode(self.encoding, self._errors)
        self._start = len(mark)
        self.lines = [line for line in _LINE.findall(text) if line]
        ends = [line[len(line.rstrip("\r\n")) :] for line in self.lines]
        self.eol = next((end for end in reversed(ends) if end), "\n")
        self.unterminated = bool(self.lines) and not ends[-1]
        self.table = self._last_table()
        #: Blank lines at the end begin with this line.
        self.last = max((n + 1 for n, line in enumerate(self.lines) if line.strip(" \t\r\n\ufeff\0")), default=0)

    def _last_table(self) -> _Table | None:
        plain = [line.rstrip("\r\n").replace("\0", "").removeprefix("\ufeff") for line in self.lines]
        blocks, render = parse(plain)
        for block in reversed(blocks):
            if block.kind == "table":
                names = tuple(fold(render(cell)) for cell in split_row(block.lines[0][1]))
                if set(NEEDED) <= set(names):
                    index, text = block.lines[-1]
                    raw = plain[index]
                    prefix = raw[: len(raw) - len(text)] if raw.endswith(text) else ""
                    return _Table(block.lines[0][1], block.lines[1][1], names, prefix, block.end)
        return None

    def offset(self, line: int) -> int:
        """Return the byte at which a line begins."""
        return self._start + len("".join(self.lines[:line]).encode(self.encoding, self._errors))

    def encode(self, text: str) -> bytes:
        return text.encode(self.encoding)


def _all_of(file: int) -> bytes:
    parts, offset = [], 0
    while part := os.pread(file, 1 << 20, offset):
        parts.append(part)
        offset += len(part)
    return b"".join(parts)


# --- where the row goes ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Place:
    """Bytes to write at `at`; behind them come the blank lines that stood there."""

    at: int
    data: bytes
    #: The row's line in the file; known once it is read.
    line: int
    text: str
    new_table: bool
    recurring: tuple[Recurring, ...] = ()


def _places(document: _Document, row: NewRow) -> Iterator[_Place]:
    eol = document.eol
    blank_end = document.last < len(document.lines)
    before = eol if document.unterminated else ""
    table = document.table
    if table is not None and table.end >= document.last and row.needs() <= set(table.columns):
        line = table.prefix + row.line(table.columns)
        at = document.offset(document.last)
        ended = "" if blank_end else before
        yield _Place(at, document.encode(f"{ended}{line}{eol}"), 0, line, False)
    if table is not None and row.needs() <= set(table.columns):
        head, columns = [table.header, table.delimiter], table.columns
    else:
        titles = "".join(f" {title} |" for title in _TITLES)
        head, columns = [f"|{titles}", "|" + "---|" * len(_TITLES)], tuple(fold(title) for title in _TITLES)
    line = row.line(columns)
    lines = [*head, line]
    if not document.lines:
        lines = [_HEADING, "", *lines]
    elif not blank_end:
        lines = ["", *lines]
    text = before + "".join(f"{one}{eol}" for one in lines)
    yield _Place(len(document.data), document.encode(text), 0, line, True)


def _first_that_reads(path: Path, document: _Document, row: NewRow) -> _Place:
    """Return the first place at which a build would read the row as given, and all others as before."""
    before = _Reading(document.data)
    for place in _places(document, row):
        after = _Reading(document.data[: place.at] + place.data + document.data[place.at :])
        if after.adds(before, row):
            return replace(place, line=after.read.rows[-1].line, recurring=after.recurring(row))
    what, where = "a row added at the end of this file would not be read as it was given", str(path)
    for note in before.read.notices:
        if note.code == "feedback-never-closed":
            where = f"{path}:{note.line}"
            what = note.message[:1].lower() + note.message[1:].rstrip(".")
    raise ReportgenError(where, what, "Nothing was written. Mend the end of the file, or name another with --file.")


class _Reading:
    """The file as a build reads it."""

    def __init__(self, data: bytes) -> None:
        self._names = Names()
        with tempfile.TemporaryDirectory(prefix="reportgen-") as folder:
            path = Path(folder) / "FEEDBACK.md"
            path.write_bytes(data)
            source = Source(path=path, name=path.name, kind="feedback")
            self.read: FeedbackRead = read_feedback([source], self._names, redact=False)
        self._spelled = {one.spelling_no: one for one in self._names.rows(redacted=False)}

    def adds(self, before: _Reading, row: NewRow) -> bool:
        """Say whether this is what was there before, and the row."""
        rows = self.read.rows
        if rows[:-1] != before.read.rows or len(rows) != len(before.read.rows) + 1:
            return False
        new = rows[-1]
        noted = Counter({note.code: 0 for note in before.read.notices})
        for reading, sign in ((self, 1), (before, -1)):
            for note in reading.read.notices:
                noted[note.code] += sign * note.count
        return (
            self.read.rejected == before.read.rejected
            and not any(count > 0 for code, count in noted.items() if code not in _HARMLESS)
            and (new.date, new.score, new.tags) == (row.date, row.score, row.tags)
            and (new.issue, new.resolution) == (row.issue, row.resolution)
            and self._spelling(new.agent_no) == clean_name(row.agent)
            and self._spelling(new.pipeline_no) == clean_name(row.pipeline)
        )

    def _spelling(self, number: int | None) -> str | None:
        return None if number is None else self._spelled[number].spelling

    def recurring(self, row: NewRow) -> tuple[Recurring, ...]:
        """Return the tags of the row that have recurred in its pipeline."""
        key = fold(clean_name(row.pipeline))
        own = [
            one for one in self.read.rows if one.pipeline_no is not None and self._spelled[one.pipeline_no].key == key
        ]
        counted = [(tag, sum(tag in one.tags for one in own)) for tag in row.tags]
        return tuple(Recurring(tag, row.pipeline, count) for tag, count in counted if count >= RECURS)


# --- writing --------------------------------------------------------------------------------------------------------


def _write(file: int, data: bytes, place: _Place) -> None:
    """Write the row in one piece and sync it; where that fails, the file is what it was."""
    blank = data[place.at :]
    if os.fstat(file).st_size != len(data):
        raise OSError(None, "another program changed the file meanwhile")
    if blank:
        # What is appended is placed at the end by the system; blank lines there have to move down.
        fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) & ~os.O_APPEND)
    new = place.data + blank
    try:
        if os.pwrite(file, new, place.at) < len(new):
            raise OSError(None, "the disk is full")
        os.fsync(file)
    except OSError:
        os.ftruncate(file, max(place.at, 0))
        if blank:
            os.pwrite(file, blank, place.at)
        raise
