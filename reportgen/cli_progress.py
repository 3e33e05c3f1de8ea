"""A bar on a terminal for a build that takes its time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

import click

from reportgen.summary import clean

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar


class Progress:
    """A bar on a terminal, from the moment a build turns out to take its time; nothing anywhere else.

    Called with (stage, done, total) as often as one likes.
    """

    def __init__(
        self,
        stream: TextIO | None,
        *,
        shown: bool = True,
        after: float = 0.7,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._shown = shown and stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
        self._clock = clock
        self._from = clock() + after
        self._bar: ProgressBar[int] | None = None
        self._stage = ""

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._bar is not None:
            self._bar.render_finish()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show that `done` of `total` is behind us (0: not known how much there is)."""
        if not self._shown or self._clock() < self._from:
            return
        length = max(total, 1)
        if self._bar is None or stage != self._stage or length != self._bar.length:
            # All stages share one line, so each label is as wide as the widest is likely to be.
            label = f"{clean(stage, 32):<32}"
            self._stage = stage
            self._bar = click.progressbar(length=length, label=label, file=self._stream, show_eta=False)
            self._bar.render_progress()
        self._bar.update(max(0, min(done, length) - self._bar.pos))
