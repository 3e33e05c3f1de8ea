"""One reading of all files of cost events, line by line: what `events` calls, with the account of every line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from reportgen.errors import ExitCode, ReportgenError
from reportgen.inputs.accounts import Account, EventsRead, snippet
from reportgen.inputs.eventcsv import EventCsv
from reportgen.inputs.fields import Planner
from reportgen.inputs.formats import Formats, Read
from reportgen.inputs.lines import MAX_LINE_BYTES, LineFile, TooLong
from reportgen.inputs.merging import looks_cumulative
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
from reportgen.inputs.sqlitefile import STRANGE, UNREADABLE
from reportgen.inputs.staged import Staged
from reportgen.inputs.staging import Stage
from reportgen.inputs.taking import Cumulative, Fate, Taker
from reportgen.inputs.times import bound_text
from reportgen.model import RejectedLine
from reportgen.names import Names

_T = TypeVar("_T")
_TOO_LONG = f"longer than {MAX_LINE_BYTES // (1024 * 1024)} MiB"
#: What is said of a file by why it gave less than it might.
_DAMAGES = {STRANGE: "database-strange", UNREADABLE: "database-unreadable"}
#: What a row of a format is called by what became of it.
_SAID = {Fate.EVENT: "event", Fate.LATER: "later"}
#: What a record can't be read for, whichever library says so.
_UNREADABLE = (ValueError, StopIteration, RecursionError, ArithmeticError)


class _Ending(Protocol):
    """How a file ends: `unterminated` may become true with its last line, which is not before `last_line`."""

    @property
    def unterminated(self) -> bool: ...
    @property
    def last_line(self) -> int: ...


class _End(NamedTuple):
    unterminated: bool
    last_line: int


class Reading:
    """One call of `read_events` or, with a `stage`, of `load_events`."""

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
        formats: Formats,
    ) -> None:
        self._sources = sources
        self._rows = rows
        self._redact = redact
        self._on_progress = on_progress
        self._shown = [shown_name(source, redacted=redact) for source in sources]
        self._accounts = [Account() for _ in sources]
        self._rejected: list[RejectedLine] = []
        self._remarks = Remarks()
        self._repeats = Repeats()
        self._lines = LineReader()
        self._formats = formats
        for one in formats.formats:
            self._remarks.learn(one.notes)
        self._taker = Taker(
            rows=rows,
            names=names,
            repeats=self._repeats,
            remarks=self._remarks,
            planner=Planner(fields, formats.formats),
            formats=formats,
            as_of=None if as_of is None else bound_text(as_of),
            redacted=redact,
            cumulative=cumulative,
        )
        self._bytes = 0
        self._all_bytes = 0
        self._look = cumulative == "auto"
        #: Where lines of known shapes are read together.
        self.stage: Stage | None = None
        self.staged: list[Staged] = []
        #: By file: costs that were read, and those above 0.
        self._costs: dict[int, tuple[int, int]] = {}
        self._staged_events = 0

    def run(self, sink: Path) -> EventsRead:
        """Read all of it; `sink` is the CSV of the rows."""
        self._all_bytes = sum(self._guarded(source, lambda p: p.stat().st_size) for source in self._sources)
        for number, source in enumerate(self._sources):
            self._remarks.file = number
            self._formats.begin(source.path)
            self._guarded(source, partial(self._read_source, number))
        self._take_formats()
        self._take_staged()
        self._rows.close()
        self._take_out_repeats(sink)
        self._remark_costs()
        strange = sum(account.not_cost for account in self._accounts)
        # Where something else is said, it says why.
        if strange and not self._remarks and not any(account.used for account in self._accounts):
            self._remarks.add_at(-1, None, "no-events", strange)
        if looking := self._looking():
            self._remarks.add_at(-1, None, "looks-cumulative", looking)
        return EventsRead(
            files=tuple(account.closed(name) for account, name in zip(self._accounts, self._shown, strict=True)),
            rejected=tuple(self._rejected),
            notices=self._remarks.notices(self._shown),
            events=self._rows.rows + self._staged_events,
        )

    def _guarded(self, source: Source, work: Callable[[Path], _T]) -> _T:
        try:
            return work(source.path)
        except OSError as error:
            what = f"can't be read: {error.strerror or error}"
            raise ReportgenError(
                shown_name(source, redacted=self._redact), what, "Check the file and run again.", ExitCode.NO_INPUT
            ) from error

    def _read_source(self, number: int, path: Path) -> None:
        account = self._accounts[number]
        found = self.stage.stage(number, path, self._progress) if self.stage else None
        for staged in found.parts if found else ():
            self.staged.append(staged)
            account.lines = staged.first + staged.lines
            self._read_lines(staged.suspects, _End(staged.unterminated, account.lines), account)
        if found is None or found.rest is not None:
            file = LineFile(path, self._progress, start=0 if found is None else found.rest or 0)
            account.lines = max(account.lines, self._read_lines(enumerate(file, account.lines + 1), file, account))
            self._end_of_file(file, account)

    def _take_formats(self) -> None:
        """Take the events that formats read, and give the lines that were set aside their fate."""
        for (file_no, line_no), rows in groupby(self._formats.read(), key=lambda row: row[:2]):
            account, self._remarks.file, self._remarks.line = self._accounts[file_no], file_no, line_no
            fates = [self._fate_of(row) for row in rows]
            events, later = fates.count("event"), fates.count("later")
            account.events += events
            account.later += later
            account.aside -= 1
            if events or later:
                account.used += 1
            elif "superseded" in fates:
                account.superseded += 1
            elif "duplicate" in fates:
                account.duplicates += 1
            else:
                account.not_cost += 1
        for account in self._accounts:
            # Of these the format says nothing.
            account.not_cost += account.aside
            account.aside = 0

    def _fate_of(self, row: Read) -> str:
        if row.note is not None:
            self._remarks.add_at(-1, None, row.note)
        if row.fate != "event":
            return row.fate
        if row.line is None:
            fate = self._taker.take_read(row.event, row.long_writes)
        else:
            fate = self._taker.take(row.event, row.line, row.part, flat_only=True)
        return _SAID.get(fate, "")

    def _take_staged(self) -> None:
        """Take the rows that were staged into the accounts; those that may repeat others are read line by line."""
        if self.stage is None or not self.staged:
            return
        again = self.stage.repeated(self.staged, self._repeats.ids())
        self._repeats.late = True
        for staged in self.staged:
            number = self._remarks.file = staged.file_no
            account = self._accounts[number]
            if numbers := again.get(staged.name):
                self._guarded(self._sources[number], partial(self._read_again, numbers, staged, account))
            counts = self.stage.counts(staged)
            account.used += counts.used
            account.later += counts.later
            account.events += counts.used - counts.later
            account.not_cost += counts.not_cost
            self._staged_events += counts.used - counts.later
            costs, above_zero = self._costs.get(number, (0, 0))
            self._costs[number] = (costs + counts.costs, above_zero + counts.costs_above_zero)
            if counts.undated and counts.first_undated is not None:
                self._remarks.add_at(number, counts.first_undated, "time-missing", counts.undated)
            if counts.rounded and counts.first_rounded is not None:
                self._remarks.add_at(number, counts.first_rounded, "cost-rounded", counts.rounded)

    def _read_again(self, numbers: Sequence[int], staged: Staged, account: Account, path: Path) -> None:
        ending = _End(staged.unterminated, staged.first + staged.lines)
        self._read_lines(LineFile(path).at(numbers), ending, account)

    def _looking(self) -> int:
        if self.stage is None or not self._look:
            return self._repeats.looks_cumulative()
        return looks_cumulative(self.stage, self.staged, self._repeats, redacted=self._redact)

    def _remark_costs(self) -> None:
        for number, (costs, above_zero) in sorted(self._costs.items()):
            if costs and not above_zero:
                self._remarks.add_at(number, None, "cost-all-zero", costs)

    def _read_lines(self, lines: Iterable[tuple[int, bytes]], file: _Ending, account: Account) -> int:
        """Give each line its fate; return the number of the last one, 0 where there is none."""
        reader, taker, remarks = self._lines, self._taker, self._remarks
        scan, nans, take = reader.scan, reader.nans, taker.take
        not_cost, event, _, aside = Fate
        cells = taker.cells
        cells.costs = cells.costs_above_zero = 0
        number = 0
        for number, line in lines:
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
            elif fate is aside:
                account.aside += 1
            else:
                account.used += 1
                account.later += 1
        costs, above_zero = self._costs.get(remarks.file, (0, 0))
        self._costs[remarks.file] = (costs + cells.costs, above_zero + cells.costs_above_zero)
        return number

    def _take_line(self, file: _Ending, line: bytes, account: Account) -> None:
        """Take a line that is not one plain object."""
        parsed = Line(reason=_TOO_LONG, unparsed=True) if isinstance(line, TooLong) else self._lines.read(line)
        if parsed.reason is not None:
            torn = parsed.unparsed and file.unterminated and self._remarks.line >= file.last_line
            reason = STILL_BEING_WRITTEN if torn else parsed.reason
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
        if len(parsed.records) > 1 and any(map(self._taker.recognises, parsed.records)):
            # The records of one line are read together, each by its reader.
            for part, record in enumerate(parsed.records):
                if not self._taker.recognises(record) or self._taker.take(record, line, part) is not Fate.ASIDE:
                    self._formats.add_other(record, line, self._remarks.file, self._remarks.line, part)
            account.aside += 1
            return
        fates = [self._taker.take(record, line, part) for part, record in enumerate(parsed.records)]
        if fates == [Fate.ASIDE]:
            account.aside += 1
            return
        account.events += fates.count(Fate.EVENT)
        account.later += fates.count(Fate.LATER)
        if fates.count(Fate.NOT_COST) == len(fates):
            account.not_cost += 1
        else:
            account.used += 1

    def _end_of_file(self, file: LineFile, account: Account) -> None:
        if file.damage:
            if account.rejected and file.unterminated and self._rejected[-1].line == account.lines:
                self._rejected[-1] = replace(self._rejected[-1], reason=file.damage)
            else:
                # What is missing begins on a line of its own, which nothing was seen of.
                account.lines += 1
                self._reject(account, account.lines, file.damage, b"")
            self._remarks.add_at(self._remarks.file, account.lines, _DAMAGES.get(file.damage, "file-damaged"))
        elif not account.lines:
            self._remarks.add_at(self._remarks.file, None, "file-empty")

    def _reject(self, account: Account, number: int, reason: str, line: bytes) -> None:
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
            for number, line in LineFile(self._sources[file_no].path).at(sorted(numbers)):
                found[(file_no, number)] = [canonical(record) for record in self._lines.read(line).records]
        return found

    def _progress(self, size: int) -> None:
        self._bytes += size
        if self._on_progress:
            self._on_progress(self._bytes, max(self._bytes, self._all_bytes))
