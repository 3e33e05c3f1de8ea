"""Where the time of a build goes: one row a stage, with what it worked on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from reportgen.quickclass import dataclass

#: Called with a stage's name, how much of it is done and how much there is (bytes or steps; 0: unknown).
Progress = Callable[[str, int, int], None]


@dataclass(slots=True)
class Stage:
    """One stage: its seconds, and how many rows and bytes it read or made (None: it has none to count).

    `beside`: it ran while others did, and its time is theirs, too.
    """

    name: str
    seconds: float = 0.0
    rows: int | None = None
    bytes: int | None = None
    beside: bool = False


class Stages:
    """The stages of one build, in the order in which they began."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._begun = clock()
        self._stages: list[Stage] = []

    @contextmanager
    def stage(self, name: str, *, beside: bool = False) -> Iterator[Stage]:
        """Measure a stage; what is given can be told of its rows and bytes."""
        stage = Stage(name, beside=beside)
        self._stages.append(stage)
        begun = self._clock()
        try:
            yield stage
        finally:
            stage.seconds = self._clock() - begun

    def all(self) -> tuple[Stage, ...]:
        """Return the stages so far, and after them the whole time since the first could begin."""
        return (*self._stages, Stage("all", self._clock() - self._begun))


def profile_lines(stages: tuple[Stage, ...]) -> list[str]:
    """Return the stages as the lines of a table: milliseconds, rows, bytes."""
    rows: list[tuple[str, ...]] = [("stage", "ms", "rows", "bytes")]
    for one in stages:
        name = f"{one.name} (beside)" if one.beside else one.name
        rows.append(
            (name, f"{one.seconds * 1000:.1f}", *("" if n is None else f"{n:,}" for n in (one.rows, one.bytes)))
        )
    widths = [max(len(row[place]) for row in rows) for place in range(4)]
    return [
        "  ".join(cell.ljust(width) if place == 0 else cell.rjust(width)
                  for place, (cell, width) in enumerate(zip(row, widths, strict=True))).rstrip()
        for row in rows
    ]  # fmt: skip
