"""Cost events in the shapes of INPUTS 2, hurt, and read in both ways: what must come out is known before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from event_world import load

from reportgen.inputs.events import EventsRead, load_events, read_events
from reportgen.inputs.sources import Source
from reportgen.names import Names
from reportgen.rawtables import EVENT_COLUMNS
from reportgen.warehouse import Warehouse
from trust.jsonlines import Bare, Corruptor, File, Record, Truth
from trust.tally import Count, time_limit

#: What is compared of an event, in order: names as they are written, numbers as text, times to the microsecond.
COLUMNS = ("event_time", "agent", "pipeline", "run", "tool_name", "model", "input_tokens", "output_tokens",
           "cache_read_tokens", "cache_write_tokens", "total_tokens", "tokens_estimated", "cost_usd", "cost_basis",
           "duration_ms")  # fmt: skip
FATES = ("used", "duplicates", "not_cost", "rejected", "blank")
_AGENTS = ("writer", "Code Reader", "revisor-2", "Straße", "дом", "agent {x}", 'a "quoted" one', "a\\b", "日本 語")
_SECONDS = 20.0

Seen = Counter[tuple[int, Truth]]


def make_event(rng: Random, number: int) -> Record:
    """Return one event of a producer, some of its values odd."""
    event = _Event(rng, number)
    return rng.choice(_PRODUCERS)(event)


class _Event:
    """Values of an event: as they are written, and as they must be read."""

    def __init__(self, rng: Random, number: int) -> None:
        self.rng = rng
        self.number = number
        self.truth: dict[str, Any] = dict.fromkeys(COLUMNS)
        self.truth["tokens_estimated"] = False
        self.key = ""

    def record(self, value: dict[str, Any], basis: str = "reported") -> Record:
        truth = self.truth
        parts = [truth[name] for name in COLUMNS[6:10] if truth[name] is not None]
        if truth["total_tokens"] is None and parts:
            truth["total_tokens"] = sum(parts)
        truth["cost_basis"] = None if truth["cost_usd"] is None else basis
        return Record(value, tuple(truth[name] for name in COLUMNS), self.key)

    def name(self, column: str, *options: str) -> Any:
        choice = self.rng.randrange(30)
        if choice == 0:
            return self.rng.choice((None, "", "unknown", "N/A", " null ", "default"))
        if choice == 1:
            self.truth[column] = str(self.number)
            return self.number
        shown = self.rng.choice(options)
        self.truth[column] = shown
        if choice == 2 and column != "run":
            return f"  {shown.replace(' ', '   ')}\t"
        if choice == 3:
            # Half a character becomes a sign for one, an escaped NUL goes.
            self.truth[column] = f"{shown}\ufffd"
            return f"{shown}\ud83d"
        if choice == 4:
            return f"{shown[:1]}\x00{shown[1:]}"
        return shown

    def time(self, form: str) -> Any:
        rng = self.rng
        moment = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(
            minutes=self.number, seconds=rng.randrange(60), milliseconds=rng.randrange(1000)
        )
        odd = rng.randrange(25)
        if odd == 0:
            return rng.choice((None, "", "yesterday", 0, "0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z",
                               "2026-13-01T00:00:00Z", "2150-01-01T00:00:00Z", [], {"at": 1}))  # fmt: skip
        self.truth["event_time"] = moment.replace(tzinfo=None).isoformat(" ", "microseconds")
        if form == "seconds":
            return Bare(f"{moment.timestamp():.3f}")
        if form == "milliseconds":
            return int(moment.timestamp() * 1000 + 0.5)
        if form == "offset":
            hours = rng.choice((2, -5, 9))
            local = moment + timedelta(hours=hours)
            return f"{local:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}{hours:+03d}:00"
        text = f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}"
        if odd == 1:
            return text.replace("T", " ")
        return rng.choice((f"{text}Z", f"{text}000Z", text))

    def count(self, column: str) -> Any:
        rng = self.rng
        number = rng.choice((0, 1, rng.randrange(100_000), 10**11))
        odd = rng.randrange(20)
        if odd == 0:
            return rng.choice((None, "", -1, True, "many", [], Bare("NaN"), Bare("1e400"), Bare("1" * 5000)))
        self.truth[column] = number
        return str(number) if odd == 1 else Bare(f"{number}.0") if odd == 2 else number

    def cost(self, unit: int = 1) -> Any:
        """`unit`: how many of the amount's units make a dollar (100: cents)."""
        rng = self.rng
        odd = rng.randrange(20)
        if odd == 0:
            return rng.choice((Bare("NaN"), Bare("-Infinity"), Bare("1e400"), Decimal("-1.5"), True, "", "free", None,
                               10**9 * unit, {}))  # fmt: skip
        amount = Decimal(rng.randrange(10 ** rng.choice((3, 6, 9, 12)))).scaleb(-rng.choice((2, 4, 6, 9)))
        if amount / unit >= 10**9:
            amount = Decimal(1)
        self.truth["cost_usd"] = amount / unit
        if odd == 1:
            return f"{amount:f}"
        return Bare(f"{amount:E}") if odd == 2 and amount else Bare(f"{amount:f}")

    def duration(self, unit: int = 1) -> Any:
        number = Decimal(self.rng.randrange(10**6)) / (1 if unit == 1 else 1000)
        self.truth["duration_ms"] = number * unit
        return Bare(f"{number:f}")


def _first(e: _Event) -> Record:
    """The four fields of the beginning."""
    value: dict[str, Any] = {"timestamp": e.time("iso"), "agent": e.name("agent", *_AGENTS), "tool_name": "Bash"}
    e.truth["tool_name"] = "Bash"
    total = e.count("total_tokens")
    e.truth["tokens_estimated"] = e.truth["total_tokens"] is not None
    return e.record({**value, "estimated_tokens": total})


def _whole(e: _Event) -> Record:
    e.key = f"e-{e.number}"
    value = {
        "event_id": e.key, "timestamp": e.time("iso"), "pipeline": e.name("pipeline", "docs", "code review"),
        "run_id": e.name("run", "r-7", "R-7", "run 9"), "agent": e.name("agent", *_AGENTS), "tool_name": "Edit",
        "model": "m-large", "input_tokens": e.count("input_tokens"), "output_tokens": e.count("output_tokens"),
        "cost_usd": e.cost(), "duration_ms": e.duration(),
    }  # fmt: skip
    e.truth |= {"tool_name": "Edit", "model": "m-large"}
    return e.record(value)


def _proposer(e: _Event) -> Record:
    e.truth["model"] = "m"
    return e.record({"ts": e.time("seconds"), "role": e.name("agent", *_AGENTS), "model": "m", "tokens_in":
                     e.count("input_tokens"), "tokens_out": e.count("output_tokens"), "cost": e.cost()})  # fmt: skip


def _camel(e: _Event) -> Record:
    return e.record({"createdAt": e.time("milliseconds"), "agentId": e.name("agent", *_AGENTS), "runId":
                     e.name("run", "r1", "r2"), "costCents": e.cost(100), "tokenCount": e.count("total_tokens"),
                     "model": None})  # fmt: skip


def _usage(e: _Event) -> Record:
    usage = {"input_tokens": e.count("input_tokens"), "output_tokens": e.count("output_tokens"),
             "cache_read_input_tokens": e.count("cache_read_tokens")}  # fmt: skip
    return e.record({"ts": e.time("offset"), "agent": e.name("agent", *_AGENTS), "cost_usd": e.cost(), "usage": usage,
                     "duration_s": e.duration(1000)})  # fmt: skip


def _envelope(e: _Event) -> Record:
    e.truth["model"] = "m"
    inner = {"session_id": e.name("run", "s-01", "s-02"), "agent": e.name("agent", *_AGENTS), "model": "m",
             "input_tokens": e.count("input_tokens"), "output_tokens": e.count("output_tokens"),
             "actual_cost_usd": e.cost(), "pricing_known": False, "ts": e.time("iso")}  # fmt: skip
    return e.record({"source": "aggregate", "event_type": "cost.recorded", "payload": inner})


_PRODUCERS = (_first, _whole, _whole, _proposer, _camel, _usage, _envelope)


def make_other(rng: Random) -> dict[str, Any]:
    """Return an object that is no cost event."""
    return rng.choice(
        ({}, {"timestamp": "2026-05-02T09:14:07Z", "event": "skill_invoke", "plugin": "x"}, {"level": "info", "n": 7})
    )


# --- reading -----------------------------------------------------------------------------------------------------------


def corrupted(seed: int) -> File:
    """Return the file of this seed."""
    rng = Random(seed)
    lines = rng.choice((1, 2, 5, 20, 40))
    maker = Corruptor(rng, make_event, make_other, "not_cost")
    return maker.file(lines, rng.randint(0, max(1, lines // 3)))


def problems(file: File, read: EventsRead, seen: Seen) -> Iterator[str]:
    """Yield how a reading differs from the truth."""
    (account,) = read.files
    said = {line.line: line.reason for line in read.rejected}
    if len(said) != len(read.rejected) or account.rejected != len(said):
        yield f"{account.rejected} rejected lines, but {len(read.rejected)} are listed"
    lines, end = file.lines, len(file.lines)
    if file.cut is not None:
        # What a cut archive still gives is known line by line; one entry says that it breaks off.
        end = file.cut - 1
        if not any(number > end and "cut short" in reason for number, reason in said.items()):
            yield "a cut archive is not named"
    twice = {number for number in file.twice if number <= end}
    wanted: Seen = Counter()
    kept: set[str] = set()
    fates = Counter[str]()
    for number, line in enumerate(lines[:end], 1):
        fate = line.fate
        if number in twice and line.record:
            fate = "duplicates" if line.record.key in kept else "used"
            kept.add(line.record.key)
        fates[fate] += 1
        if fate == "used":
            wanted.update((0 if number in twice else number, truth) for truth in line.truths)
        if (fate == "rejected") != (number in said):
            yield f"line {number} ({line.fault or 'whole'}) is {'not ' * (number not in said)}rejected"
        elif fate == "rejected" and line.reason not in said[number]:
            yield f"line {number} ({line.fault}): '{said[number]}', and not '{line.reason}'"
    got: Seen = Counter()
    for (number, truth), times in seen.items():
        if number <= end:
            got[0 if number in twice else number, truth] += times
    for number, truth in (wanted - got).elements():
        yield f"lost: line {number}: {truth}"
    for number, truth in (got - wanted).elements():
        yield f"made up: line {number}: {truth}"
    if file.cut is None:
        counted = {name: getattr(account, name) for name in FATES}
        if counted != {name: fates[name] for name in FATES} or account.lines != end:
            yield f"fates {counted} of {account.lines}, and not {dict(fates)} of {end}"
        if account.broken_parts != sum(line.broken for line in lines):
            yield f"{account.broken_parts} broken parts, and not {sum(line.broken for line in lines)}"
    if account.events != sum(seen.values()) or read.events != account.events:
        yield f"{account.events} events in the account, and {sum(seen.values())} rows"


def read_exactly(path: Path) -> tuple[EventsRead, Seen]:
    """Read line by line."""
    names, sink = Names(), path.with_suffix(".csv")
    read = read_events([Source(path=path, name=path.name, kind="events")], sink, names)
    rows: Seen = Counter()
    for row in load(sink, names):
        cells: list[Any] = [row[name] or None for name in COLUMNS]
        cells[0] = None if cells[0] is None else datetime.fromisoformat(cells[0]).isoformat(" ", "microseconds")
        cells[6:11] = [None if cell is None else int(cell) for cell in cells[6:11]]
        # Of no number nobody asks whether it was estimated.
        cells[11] = cells[11] == "true" and cells[10] is not None
        cells[12], cells[14] = (None if cell is None else Decimal(cell) for cell in (cells[12], cells[14]))
        rows[int(row["line_no"]), tuple(cells)] += 1
    return read, rows


def read_by_warehouse(path: Path, store: Warehouse) -> tuple[EventsRead, Seen]:
    """Read as large files are read."""
    names = Names()
    store.query("drop schema if exists raw cascade")
    read = load_events([Source(path=path, name=path.name, kind="events")], store, path.parent, names, smallest=0)
    shown = {row.spelling_no: row.spelling for row in names.rows(redacted=False)}
    rows: Seen = Counter()
    for row in store.query(f"select {', '.join(EVENT_COLUMNS)} from raw.events").dicts():
        cells: list[Any] = [row.get(name) for name in COLUMNS]
        cells[0] = None if cells[0] is None else cells[0].isoformat(" ", "microseconds")
        for place, name in ((1, "agent_no"), (2, "pipeline_no"), (3, "run_no")):
            cells[place] = None if row[name] is None else shown[row[name]]
        cells[11] = cells[11] and cells[10] is not None
        rows[int(row["line_no"]), tuple(cells)] += 1
    return read, rows


def run(files: int, by_warehouse: int, *, first: int = 0) -> list[Count]:
    """Read so many mutated files line by line, and so many of them by the warehouse too."""
    exact, quick = Count("mutated event files, line by line"), Count("mutated event files, by the warehouse")
    lines = faults = 0
    with TemporaryDirectory(prefix="reportgen-trust-") as folder, Warehouse(threads=1) as store:
        path = Path(folder) / "events.jsonl"
        for seed in range(first, first + files):
            file = corrupted(seed)
            path.write_bytes(file.data)
            lines += len(file.lines)
            faults += len(file.faults)
            _look(exact, seed, file, lambda: read_exactly(path))
            if seed - first < by_warehouse:
                _look(quick, seed, file, lambda: read_by_warehouse(path, store))
    exact.note = f"{lines:,} lines, {faults:,} faults"
    return [exact, quick]


def _look(count: Count, seed: int, file: File, read: Any) -> None:
    count.number += 1
    try:
        with time_limit(_SECONDS):
            found = list(problems(file, *read()))
    except Exception as error:
        found = [f"{type(error).__name__}: {error}"]
    count.losses += [f"seed {seed}: {problem[:300]}" for problem in found]
