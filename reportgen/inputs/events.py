"""Cost events: from files of any shape to one CSV of canonical rows, with the account of every line (SPEC 2).

One pass over the files writes all rows; what must not count twice (see `repeats`) is taken out afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from reportgen.errors import ExitCode, ReportgenError
from reportgen.inputs.eventcsv import COLUMNS, EventCsv
from reportgen.inputs.lines import MAX_LINE_BYTES, LineFile, TooLong
from reportgen.inputs.records import (
    SHORTEST_DEEP_LINE,
    STILL_BEING_WRITTEN,
    Line,
    LineReader,
    canonical,
    too_deep,
)
from reportgen.inputs.remarks import Remarks
from reportgen.inputs.repeats import Repeats
from reportgen.inputs.sources import Source, shown_name
from reportgen.inputs.taking import Cumulative, Fate, Taker
from reportgen.inputs.times import bound_text
from reportgen.model import InputFile, Notice, RejectedLine
from reportgen.names import Names
from reportgen.redact import redact as redact_text

__all__ = ["COLUMNS", "EventsRead", "read_events"]

_T = TypeVar("_T")
_SNIPPET = 120
_TOO_LONG = f"longer than {MAX_LINE_BYTES // (1024 * 1024)} MiB"
#: What a record can't be read for, whichever library says so.
_UNREADABLE = (ValueError, StopIteration, RecursionError, ArithmeticError)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsRead:
    """What was read: the account of each file, every rejected line, what is to be said, and the rows in the sink."""

    files: tuple[InputFile, ...]
    rejected: tuple[RejectedLine, ...]
    notices: tuple[Notice, ...]
    events: int


@dataclass(slots=True)
class _Account:
    lines: int = 0
    used: int = 0
    superseded: int = 0
    duplicates: int = 0
    not_cost: int = 0
    rejected: int = 0
    blank: int = 0
    events: int = 0
    broken_parts: int = 0
    later: int = 0

    def closed(self, name: str) -> InputFile:
        fates = self.used + self.superseded + self.duplicates + self.not_cost + self.rejected + self.blank
        assert fates == self.lines, f"{name}: {self.lines} lines, but {fates} fates"
        return InputFile(
            file=name,
            kind="events",
            lines=self.lines,
            used=self.used,
            superseded=self.superseded,
            duplicates=self.duplicates,
            not_cost=self.not_cost,
            rejected=self.rejected,
            blank=self.blank,
            events=self.events,
            broken_parts=self.broken_parts,
            outside_period=self.later,
        )


def read_events(
    sources: Sequence[Source],
    sink: Path,
    names: Names,
    *,
    as_of: datetime | None = None,
    fields: Mapping[str, tuple[str, ...]] | None = None,
    redact: bool = True,
    cumulative: Cumulative = "auto",
    on_progress: Callable[[int, int], None] | None = None,
) -> EventsRead:
    """Read every source and write one CSV row per event that counts to `sink` (columns: `COLUMNS`).

    `fields`: own names of canonical fields, tried before the built-in ones. `cumulative`: whether rows of a session
    are running totals: found out where the rows say or prove it, `always`, or `never`. `on_progress` is told how many
    bytes of how many are read. Raises ReportgenError (exit 3) where a source can't be read.
    """
    rows = EventCsv(sink)
    try:
        return _Reading(sources, rows, names, as_of, fields or {}, redact, cumulative, on_progress).run(sink)
    finally:
        rows.close()


class _Reading:
    """One call of `read_events`."""

    def __init__(
        self,
        sources: Sequence[Source],
        rows: EventCsv,
        names: Names,
        as_of: datetime | None,
        fields: Mapping[str, tuple[str, ...]],
        redact: bool,
        cumulative: Cumulative,
        on_progress: Callable[[int, int], None] | None,
    ) -> None:
        self._sources = sources
        self._rows = rows
        self._redact = redact
        self._on_progress = on_progress
        self._shown = [shown_name(source, redacted=redact) for source in sources]
        self._accounts = [_Account() for _ in sources]
        self._rejected: list[RejectedLine] = []
        self._remarks = Remarks()
        self._repeats = Repeats()
        self._lines = LineReader()
        self._taker = Taker(
            rows=rows,
            names=names,
            repeats=self._repeats,
            remarks=self._remarks,
            own_fields=fields,
            as_of=None if as_of is None else bound_text(as_of),
            redacted=redact,
            cumulative=cumulative,
        )
        self._bytes = 0
        self._all_bytes = 0

    def run(self, sink: Path) -> EventsRead:
        self._all_bytes = sum(self._guarded(source, lambda p: p.stat().st_size) for source in self._sources)
        for number, source in enumerate(self._sources):
            self._remarks.file = number
            self._guarded(source, partial(self._read_file, account=self._accounts[number]))
        self._rows.close()
        self._take_out_repeats(sink)
        if looking := self._repeats.looks_cumulative():
            self._remarks.add_at(-1, None, "looks-cumulative", looking)
        return EventsRead(
            files=tuple(account.closed(name) for account, name in zip(self._accounts, self._shown, strict=True)),
            rejected=tuple(self._rejected),
            notices=self._remarks.notices(self._shown),
            events=self._rows.rows,
        )

    def _guarded(self, source: Source, work: Callable[[Path], _T]) -> _T:
        try:
            return work(source.path)
        except OSError as error:
            what = f"can't be read: {error.strerror or error}"
            raise ReportgenError(
                shown_name(source, redacted=self._redact), what, "Check the file and run again.", ExitCode.NO_INPUT
            ) from error

    def _read_file(self, path: Path, account: _Account) -> None:
        file = LineFile(path, self._progress)
        reader, taker, remarks = self._lines, self._taker, self._remarks
        scan, nans, take = reader.scan, reader.nans, taker.take
        not_cost, event, _ = Fate
        taker.cells.costs = taker.cells.costs_above_zero = 0
        number = 0
        for line in file:
            number += 1
            remarks.line = number
            # The common line, one object and nothing odd, is read here; every other by the patient reader.
            try:
                if len(line) >= SHORTEST_DEEP_LINE and too_deep(line):
                    raise ValueError
                text = line.decode()
                record, end = scan(text, 0)
                plain = type(record) is dict and (end == len(text) or not text[end:].strip("\r \t"))
            except _UNREADABLE:
                plain = False
            if not plain or nans:
                self._take_line(file, line, account)
                continue
            if b"\\u" in line:
                records = [record]
                for oddity in reader.mend(text, records):
                    remarks.add(oddity)
                record = records[0]
            fate = take(record, line)
            if fate is event:
                account.used += 1
                account.events += 1
            elif fate is not_cost:
                account.not_cost += 1
            else:
                account.used += 1
                account.later += 1
        account.lines += number
        self._end_of_file(file, account)

    def _take_line(self, file: LineFile, line: bytes, account: _Account) -> None:
        """Take a line that is not one plain object."""
        parsed = Line(reason=_TOO_LONG, unparsed=True) if isinstance(line, TooLong) else self._lines.read(line)
        if parsed.reason is not None:
            reason = STILL_BEING_WRITTEN if parsed.unparsed and file.unterminated else parsed.reason
            if line.lstrip(b" \t\r\xef\xbb\xbf")[:1] == b"[":
                self._remarks.add("json-array")
            self._reject(account, self._remarks.line, reason, line)
            return
        if not parsed.records:
            account.blank += 1
            return
        for oddity in parsed.oddities:
            self._remarks.add(oddity)
        if parsed.broken:
            account.broken_parts += parsed.broken
            self._remarks.add("torn-records", parsed.broken)
        fates = [self._taker.take(record, line, part) for part, record in enumerate(parsed.records)]
        account.events += fates.count(Fate.EVENT)
        account.later += fates.count(Fate.LATER)
        if fates.count(Fate.NOT_COST) == len(fates):
            account.not_cost += 1
        else:
            account.used += 1

    def _end_of_file(self, file: LineFile, account: _Account) -> None:
        if file.damage:
            if account.rejected and file.unterminated and self._rejected[-1].line == account.lines:
                self._rejected[-1] = replace(self._rejected[-1], reason=file.damage)
            else:
                # What is missing begins on a line of its own, which nothing was seen of.
                account.lines += 1
                self._reject(account, account.lines, file.damage, b"")
            self._remarks.add_at(self._remarks.file, account.lines, "file-damaged")
        elif not account.lines:
            self._remarks.add_at(self._remarks.file, None, "file-empty")
        cells = self._taker.cells
        if cells.costs and not cells.costs_above_zero:
            self._remarks.add_at(self._remarks.file, None, "cost-all-zero", cells.costs)

    def _reject(self, account: _Account, number: int, reason: str, line: bytes) -> None:
        account.rejected += 1
        self._rejected.append(
            RejectedLine(
                file=self._shown[self._remarks.file],
                line=number,
                reason=reason,
                snippet=snippet(line[1:] if isinstance(line, TooLong) else line, redact=self._redact),
            )
        )

    def _take_out_repeats(self, sink: Path) -> None:
        dropped = self._repeats.dropped(sink, self._canonical)
        if not dropped:
            return
        for cleared in self._rows.take_out(dropped):
            account = self._accounts[cleared.file_no]
            account.events -= len(cleared.whys)
            for why in cleared.whys:
                if why != "duplicate":
                    self._remarks.add_at(cleared.file_no, cleared.line_no, why)
            if cleared.kept:
                continue
            account.used -= 1
            if any(why != "duplicate" for why in cleared.whys):
                account.superseded += 1
            else:
                account.duplicates += 1

    def _canonical(self, places: Iterable[tuple[int, int]]) -> dict[tuple[int, int], list[str]]:
        """Read these lines again and return the canonical JSON of their records."""
        wanted: dict[int, set[int]] = {}
        for file_no, line_no in places:
            wanted.setdefault(file_no, set()).add(line_no)
        found = {}
        for file_no, numbers in wanted.items():
            lines = LineFile(self._sources[file_no].path)
            last = max(numbers)
            for number, line in enumerate(lines, 1):
                if number in numbers:
                    found[(file_no, number)] = [canonical(record) for record in self._lines.read(line).records]
                if number >= last:
                    break
        return found

    def _progress(self, size: int) -> None:
        self._bytes += size
        if self._on_progress:
            self._on_progress(self._bytes, max(self._bytes, self._all_bytes))


def snippet(line: bytes, *, redact: bool = True) -> str:
    """Return the beginning of a line as it may be shown: one line of printable text, redacted, not too long."""
    text = " ".join(line[: 16 * _SNIPPET].decode("utf-8", "replace").split())
    if redact:
        text = redact_text(text)
    text = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    return text if len(text) <= _SNIPPET else text[:_SNIPPET] + "…"
