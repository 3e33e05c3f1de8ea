"""Two connections to one warehouse: DuckDB takes longer to plan a small query than to run it, and plans on one core.

Both take from one list, the caller from its beginning, the other one from its end; whatever the other one did not come
to, or failed at, the caller does itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Generic, TypeVar

A = TypeVar("A")


class AskAhead(Generic[A]):
    """Questions that are going to be asked, and the answers that are there before they are.

    `ask` is called in a thread of its own; what it raises counts as no answer. `interrupt` ends a call of it.
    """

    def __init__(self, ask: Callable[[str], A], interrupt: Callable[[], Any]) -> None:
        self._ask = ask
        self._interrupt = interrupt
        self._change = threading.Condition()
        self._waiting: list[str] = []
        self._asked: str | None = None
        self._answers: dict[str, A | None] = {}
        self._thread: threading.Thread | None = None

    def add(self, texts: Sequence[str]) -> None:
        """Ask these, the last one first, and before those that wait already."""
        with self._change:
            self._waiting += texts
            if self._waiting and self._thread is None:
                self._thread = threading.Thread(target=self._work, name="reportgen-ahead", daemon=True)
                self._thread.start()

    def take(self, text: str, seconds: float) -> A | None:
        """Return the answer, if it is there or comes within so many seconds."""
        with self._change:
            if text in self._waiting:
                self._waiting.remove(text)
                return None
            if self._asked == text and not self._change.wait_for(lambda: self._asked != text, seconds):
                self._interrupt()
                self._change.wait_for(lambda: self._asked != text)
            return self._answers.pop(text, None)

    def end(self) -> None:
        """Ask no more; nothing runs afterwards."""
        with self._change:
            self._waiting.clear()
            if self._asked is not None:
                self._interrupt()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _work(self) -> None:
        while True:
            with self._change:
                self._asked = None
                self._change.notify_all()
                if not self._waiting:
                    self._thread = None
                    return
                self._asked = text = self._waiting.pop()
            try:
                answer: A | None = self._ask(text)
            except Exception:
                answer = None
            with self._change:
                self._answers[text] = answer


def make_all(
    names: Sequence[str],
    needs: Mapping[str, AbstractSet[str]],
    makers: Sequence[Callable[[str], object]],
) -> None:
    """Make everything named, each after what it needs; each maker in a thread of its own, the first one in this one.

    Raises what the first in the list of those that failed raised, as if they had been made one after another.
    """
    change = threading.Condition()
    waiting = list(names)
    done: set[str] = set()
    failed: dict[str, BaseException] = {}

    def next_one() -> str | None:
        """Return what can be made now; None where nothing is left. Waits for what others make."""
        while True:
            last = min((names.index(name) for name in failed), default=len(names))
            open_ones = [name for name in waiting if names.index(name) < last]
            ready = next((name for name in open_ones if needs.get(name, set()) <= done), None)
            if ready is not None:
                waiting.remove(ready)
                return ready
            # What waits for something that failed is never made.
            if not open_ones or not making:
                return None
            change.wait()

    making: set[str] = set()

    def work(make: Callable[[str], object]) -> None:
        while True:
            with change:
                name = next_one()
                if name is None:
                    change.notify_all()
                    return
                making.add(name)
            error: BaseException | None = None
            try:
                make(name)
            except BaseException as raised:
                error = raised
            with change:
                making.remove(name)
                if error is None:
                    done.add(name)
                else:
                    failed[name] = error
                change.notify_all()

    others = [threading.Thread(target=work, args=(make,), name="reportgen-make") for make in makers[1:]]
    for thread in others:
        thread.start()
    try:
        work(makers[0])
    finally:
        for thread in others:
            thread.join()
    if failed:
        raise failed[min(failed, key=names.index)]
