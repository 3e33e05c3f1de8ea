"""Doing one thing beside another: DuckDB and the disk work while Python goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Generic, TypeVar

T = TypeVar("T")


class Beside(Generic[T]):
    """Calls `work` in a thread of its own. Use as a context manager: it is not left before `work` has ended.

    What `work` raises is raised by `result`, or on leaving, unless something else is raised there.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._made: list[T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="reportgen-beside")

    def _run(self) -> None:
        try:
            self._made.append(self._work())
        except BaseException as error:
            self._error = error

    def result(self) -> T:
        """Wait for what `work` gives; raises what it raised."""
        self._wait()
        if self._error is not None:
            raise self._error
        return self._made[0]

    def _wait(self) -> None:
        """Wait, whatever comes: what `work` works with is closed once this is left. A Ctrl-C is told afterwards."""
        came: KeyboardInterrupt | None = None
        while self._thread.is_alive():
            try:
                self._thread.join()
            except KeyboardInterrupt as error:
                came = error
        if came is not None:
            raise came

    def __enter__(self) -> Beside[T]:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._wait()
        if error is None:
            self.result()
