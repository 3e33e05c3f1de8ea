"""A fuzzer that is led by coverage, in plain Python: input that reaches a new line of a reader is kept and changed on.

Both readers are asked for what must hold for any bytes: no exception, an account that adds up, every rejected line once
and within the file, as many rows as the account says. What it finds is kept as a case in `test_mutated.py`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from reportgen.inputs.accounts import settle
from trust import events, feedback
from trust.tally import Count, time_limit

_INPUTS = str(Path(settle.__code__.co_filename).parent)
_SEEDS = 40
_WORDS = (
    b'{"agent":"a","cost":1}', b'{"ts":"2026-05-02T09:14:07Z","agent":"a"}', b"{", b"}", b"[", b"]", b'"', b"\\", b"\\u0000",
    b"\\ud83d", b"NaN", b"-Infinity", b"1e999", b"\x00", b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n", b"\r\n",
    b"| Agent | Score | Pattern |", b"|---|---|---|", b"| a | 5/5 | x |", b"\\|", b"`", b"```", b"<!--", b"-->", b"    ", b"> ", b"- ",
    b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"&#124;", b"<br>", b"[a]: b", b"]: ", b"**", b"{{X}}", b"# ", b"\xe2\x80\xa8", b"\x0b", b"\x85",
)  # fmt: skip

Look = Callable[[bytes], None]


def look_at_events(folder: Path) -> Look:
    """Return what reads cost events and raises where something does not hold."""
    path = folder / "events.jsonl"

    def look(data: bytes) -> None:
        path.write_bytes(data)
        read, rows = events.read_exactly(path)
        settle(read.files, read.rejected, {"events": sum(rows.values())})

    return look


def look_at_feedback(folder: Path) -> Look:
    """Return what reads feedback and raises where something does not hold."""
    path = folder / "FEEDBACK.md"

    def look(data: bytes) -> None:
        path.write_bytes(data)
        read, rows = feedback.read(path)
        settle(read.files, read.rejected, {"feedback": sum(rows.values())})

    return look


class Coverage:
    """The lines of the input rooms that were reached, seen by the interpreter's own tracing."""

    def __init__(self) -> None:
        self.seen: set[tuple[int, int]] = set()

    def of(self, look: Look, data: bytes) -> int:
        """Run, and return how many lines were reached that never were before."""
        before = len(self.seen)
        sys.settrace(self._enter)
        try:
            look(data)
        finally:
            sys.settrace(None)
        return len(self.seen) - before

    def _enter(self, frame: FrameType, event: str, _arg: Any) -> Any:
        return self._line if frame.f_code.co_filename.startswith(_INPUTS) else None

    def _line(self, frame: FrameType, event: str, _arg: Any) -> Any:
        if event == "line":
            self.seen.add((id(frame.f_code), frame.f_lineno))
        return self._line


def changed(rng: Random, data: bytes, other: bytes) -> bytes:
    """Return the data, changed in one to four places."""
    out = bytearray(data[:20_000])
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(out))
        to = min(len(out), at + rng.choice((1, 2, 4, 40)))
        kind = rng.randrange(6)
        if kind == 0:
            del out[at:to]
        elif kind == 1:
            out[at:at] = rng.choice(_WORDS)
        elif kind == 2:
            out[at:to] = bytes(rng.randrange(256) for _ in range(to - at))
        elif kind == 3:
            out[at:at] = out[at:to] * rng.choice((2, 30))
        elif kind == 4:
            start = rng.randint(0, len(other))
            out[at:at] = other[start : start + rng.choice((5, 60, 400))]
        elif at < len(out):
            out[at] ^= 1 << rng.randrange(8)
    return bytes(out)


def run(seconds: float, *, seed: int = 1) -> list[Count]:
    """Fuzz each reader for half of the time."""
    counts = []
    makers = (("events", look_at_events, events.corrupted), ("feedback", look_at_feedback, feedback.corrupted))
    with TemporaryDirectory(prefix="reportgen-trust-") as folder:
        for name, prepare, corrupted in makers:
            count = Count(f"fuzzed files of {name}, led by coverage")
            look, coverage, rng = prepare(Path(folder)), Coverage(), Random(seed)
            kept = [corrupted(number).data[:20_000] for number in range(_SEEDS)]
            for data in kept:
                coverage.of(look, data)
            end = time.monotonic() + seconds / 2
            while time.monotonic() < end:
                data = changed(rng, rng.choice(kept), rng.choice(kept))
                count.number += 1
                try:
                    with time_limit(20):
                        if coverage.of(look, data):
                            kept.append(data)
                except Exception as error:
                    count.losses.append(f"{type(error).__name__}: {error}: {data!r}")
            count.note = f"{len(coverage.seen):,} lines of code reached, {len(kept) - _SEEDS} inputs kept"
            counts.append(count)
    return counts
