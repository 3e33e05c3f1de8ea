"""Events that must not count twice: one id on several lines, openers with a closer, estimates with an actual, totals.

Fed row by row while the rows go to a CSV; asked once at the end which rows to take out again, and why. Whatever order
the lines come in, the same events stay. Only event ids, and rows that may belong together, are held in memory.
"""

from __future__ import annotations

import csv
from bisect import bisect_left
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Literal, NamedTuple

#: Why a row is taken out: another row with its id, or one of three ways of being superseded.
Why = Literal["duplicate", "superseded-openers", "superseded-estimates", "superseded-snapshots"]
#: Input, output, cache read, cache write and all tokens, and dollars; None where unknown.
Metrics = tuple[int | Decimal | None, ...]

OPENING = frozenset({"pre", "start", "dispatch", "begin"})
CLOSING = frozenset(
    {"post", "end", "stop", "finish", "finished", "complete", "completed", "done", "close", "closed", "return"}
    | {"returned", "result", "success", "succeeded", "error", "failed", "failure"}
)
#: Reads lines again, by file and line number (from 1), and returns the canonical JSON of the records on each.
Canonical = Callable[[set[tuple[int, int]]], dict[tuple[int, int], list[str]]]

#: A session of fewer rows, or fewer levels, is not said to look like running totals.
FEWEST_LEVELS = 3

_ROW_BITS = 40
_HASH_MASK = (1 << 64) - 1


class _Opening(NamedTuple):
    time: str
    closing: bool
    tie: str
    row: int


class Repeats:
    """Collects what rows may repeat others; `dropped` names them."""

    def __init__(self) -> None:
        #: Event id: the number of its first row, with a hash of its line above it.
        self._ids: dict[str, int] = {}
        #: First row of an id: all its rows that differ.
        self._same_id: dict[int, list[int]] = {}
        #: Place of a row's record on its line, where it is not the first.
        self._parts: dict[int, int] = {}
        self._dropped: dict[int, Why] = {}
        self._phases: dict[tuple[object, ...], list[_Opening]] = {}
        self._estimates: dict[object, list[tuple[str, int]]] = {}
        self._actuals: dict[object, list[tuple[str, int]]] = {}
        self._snapshots: dict[object, list[tuple[str, Metrics, str, int]]] = {}
        self._levels: dict[str, _Levels] = {}
        #: Rows come out of their order: a row may stand before one that came earlier.
        self.late = False

    def same_id(self, event_id: str, row: int, line: bytes, part: int) -> None:
        """Note the id of a row, which is the record at place `part` of the line."""
        packed = (hash((line, part) if part else line) & _HASH_MASK) << _ROW_BITS | row
        if part:
            self._parts[row] = part
        before = self._ids.setdefault(event_id, packed)
        if before == packed:
            return
        first = before & ((1 << _ROW_BITS) - 1)
        if before >> _ROW_BITS == packed >> _ROW_BITS and not self.late:
            # The same line once more: nothing to choose between.
            self._dropped[row] = "duplicate"
            return
        self._same_id.setdefault(first, [first]).append(row)

    def phase(self, key: tuple[object, ...], phase: str, time: str, tie: str, row: int) -> None:
        """Note a row that opens or closes something; `tie` orders rows of one time by what they say."""
        word = phase.strip().casefold()
        if word in OPENING or word in CLOSING:
            self._phases.setdefault(key, []).append(_Opening(time, word in CLOSING, tie, row))

    def estimate(self, session: object, is_estimate: bool, time: str, row: int) -> None:
        """Note a row that says whether it is an estimate for its session."""
        (self._estimates if is_estimate else self._actuals).setdefault(session, []).append((time, row))

    def snapshot(self, key: object, time: str, metrics: Metrics, tie: str, row: int) -> None:
        """Note a row that may be its session's running total: it says so, or shares a transcript."""
        self._snapshots.setdefault(key, []).append((time, metrics, tie, row))

    def level(self, session: str, time: str, metrics: Metrics) -> None:
        """Note a row that says nothing about running totals, to find sessions that look like them.

        Only a session (not "") has running totals: a run's rows are its calls. Without a time there is no order.
        """
        if not session or not time:
            return
        levels = self._levels.get(session)
        if levels is None:
            levels = self._levels[session] = _Levels()
        levels.add(time, tuple(value or 0 for value in metrics))

    def ids(self) -> Iterator[str]:
        """Yield every event id that was noted."""
        return iter(self._ids)

    def sessions(self) -> Iterator[str]:
        """Yield the sessions whose levels were noted."""
        return iter(self._levels)

    def looks_cumulative(self, *, rising: int = 0, falling: int = 0) -> int:
        """Return how many sessions look like running totals: 0 unless they are at least half of those that could.

        `rising` and `falling`: sessions that were looked at elsewhere.
        """
        looking = rising + sum(levels.rising for levels in self._levels.values())
        falling += sum(levels.fell for levels in self._levels.values())
        return looking if looking >= falling else 0

    def dropped(self, rows: Path, canonical: Canonical) -> dict[int, Why]:
        """Return the rows that do not count. `rows` is the CSV of all rows, in order, with a header.

        `canonical` is asked only about rows of one id that agree in time, tokens and cost.
        """
        self._choose(_rows_of(rows, {row for group in self._same_id.values() for row in group}), canonical)
        for openings in self._phases.values():
            self._close(openings)
        for session, estimates in self._estimates.items():
            actuals = [time for time, row in self._actuals.get(session, ()) if row not in self._dropped]
            last = max(actuals, default=None)
            for time, row in estimates:
                if last is not None and time <= last:
                    self._dropped.setdefault(row, "superseded-estimates")
        for snapshots in self._snapshots.values():
            self._keep_last(snapshots)
        return self._dropped

    def _choose(self, found: dict[int, _Row], canonical: Canonical) -> None:
        """Of the rows of one id keep the best; the text of a line decides only where nothing else does."""
        tied: list[list[int]] = []
        for group in self._same_id.values():
            weights = {row: found[row].weight for row in group}
            best = max(weights.values())
            top = [row for row in group if weights[row] == best]
            self._dropped.update((row, "duplicate") for row in group if row not in top)
            if len(top) > 1:
                tied.append(top)
        if not tied:
            return
        texts = canonical({found[row].place for group in tied for row in group})
        for group in tied:
            # A file that changed between the two readings has nothing more to say.
            on_line = {row: texts.get(found[row].place, []) for row in group}
            own = {row: on_line[row][self._parts.get(row, 0) :][:1] for row in group}
            # Of equal records the lines decide: each may hold other events, and has a fate of its own. Then the first.
            keep = max(group, key=lambda row: (own[row], on_line[row], *(-part for part in found[row].place), -row))
            self._dropped.update((row, "duplicate") for row in group if row != keep)

    def _close(self, openings: list[_Opening]) -> None:
        """Match each closer with the latest opener before it that is still open; closers without a time come last."""
        rows = sorted(opening for opening in openings if opening.row not in self._dropped)
        rows.sort(key=lambda opening: opening.closing and not opening.time)
        open_rows: list[int] = []
        for opening in rows:
            if not opening.closing:
                open_rows.append(opening.row)
            elif open_rows:
                self._dropped[open_rows.pop()] = "superseded-openers"

    def _keep_last(self, snapshots: list[tuple[str, Metrics, str, int]]) -> None:
        rows = sorted(
            (time, tuple(-1 if value is None else value for value in metrics), tie, row)
            for time, metrics, tie, row in snapshots
            if row not in self._dropped
        )
        known = [Decimal(-1)] * 6
        for _, metrics, _, _ in rows:
            for place, value in enumerate(metrics):
                if value < 0:
                    continue
                if value < known[place]:
                    return
                known[place] = Decimal(value)
        for _, _, _, row in rows[:-1]:
            self._dropped[row] = "superseded-snapshots"


class _Levels:
    """The numbers of one session in time order, as long as none of them falls; order of arrival does not matter."""

    __slots__ = ("_chain", "fell")

    def __init__(self) -> None:
        #: (time, numbers); of equal numbers in a row only the first and the last.
        self._chain: list[tuple[str, tuple[int | Decimal, ...]]] = []
        self.fell = False

    @property
    def rising(self) -> bool:
        return not self.fell and len({numbers for _, numbers in self._chain}) >= FEWEST_LEVELS

    def add(self, time: str, numbers: tuple[int | Decimal, ...]) -> None:
        if self.fell:
            return
        chain = self._chain
        entry = (time, numbers)
        at = bisect_left(chain, entry)
        before = chain[at - 1][1] if at else None
        after = chain[at][1] if at < len(chain) else None
        if (before and _falls(before, numbers)) or (after and _falls(numbers, after)):
            self.fell = True
            self._chain = []
        elif before == numbers == after:
            return
        elif before == numbers and at >= 2 and chain[at - 2][1] == numbers:
            chain[at - 1] = entry
        elif after == numbers and at + 1 < len(chain) and chain[at + 1][1] == numbers:
            chain[at] = entry
        else:
            chain.insert(at, entry)


def _falls(earlier: tuple[int | Decimal, ...], later: tuple[int | Decimal, ...]) -> bool:
    return any(a > b for a, b in zip(earlier, later, strict=True))


class _Row(NamedTuple):
    place: tuple[int, int]
    time: str
    tokens: int
    cost: Decimal

    @property
    def weight(self) -> tuple[object, ...]:
        """What decides between rows of one id."""
        return (self.time, self.tokens, self.cost)


def _rows_of(path: Path, wanted: set[int]) -> dict[int, _Row]:
    if not wanted:
        return {}
    found = {}
    with path.open(encoding="utf-8", newline="") as file:
        next(file)
        for number, text in enumerate(file):
            if number in wanted:
                row = next(csv.reader([text]))
                found[number] = _Row(
                    place=(int(row[1]), int(row[2])),
                    time=row[3],
                    tokens=int(row[13] or -1),
                    cost=Decimal(row[15] or -1),
                )
    return found
