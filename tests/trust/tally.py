"""What a part of the trust run found: how many of what, and every loss in words."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType


@dataclass(slots=True)
class Count:
    """One row of the table. `losses`: what went wrong, each so that it can be made again (seed, place)."""

    what: str
    number: int = 0
    losses: list[str] = field(default_factory=list)
    #: What else is worth a figure: seconds, megabytes, lines.
    note: str = ""
    #: Why the part could not run here.
    skipped: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amounts:
    """How much of each kind is done; the small amounts fit an ordinary test run."""

    event_files: int = 60
    event_files_by_warehouse: int = 12
    feedback_files: int = 60
    healing_files: int = 60
    build_kills: int = 2
    heal_processes: int = 8
    heal_calls: int = 12
    fuzz_seconds: float = 2
    large: bool = False


FULL = Amounts(
    event_files=10_000,
    event_files_by_warehouse=2_500,
    feedback_files=5_000,
    healing_files=5_000,
    build_kills=200,
    heal_processes=64,
    heal_calls=100,
    fuzz_seconds=300,
    large=True,
)


class TooSlowError(Exception):
    """What should have ended long ago."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TooSlowError where the block takes longer: a hang is a loss, not an endless run.

    Only the main thread can be stopped so; in another one there is no limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlowError(f"not done after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def timed(work: Callable[[], list[Count]]) -> tuple[list[Count], float]:
    """Return what the part counted, and the seconds it took."""
    start = time.monotonic()
    return work(), time.monotonic() - start
