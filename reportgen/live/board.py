"""What is to be seen right now: written by the one thread that builds, read by those that answer browsers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from reportgen.errors import ReportgenError
from reportgen.quickclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something that a person has to mend. All texts are shown as they are: whoever shows them escapes."""

    where: str
    what: str
    next_step: str = ""
    #: The line of the file that is meant, and the lines around it with their numbers, where they are known.
    line: int | None = None
    column: int | None = None
    excerpt: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tests:
    """What came of the tests of the detectors that were saved last."""

    detectors: tuple[str, ...]
    passed: int
    #: Grows with each run, so that the same result a second time is news.
    run: int = 0
    failed: tuple[Problem, ...] = ()
    #: Detectors that have no test.
    missing: tuple[str, ...] = ()


class Content:
    """The files of a site, each made when it is first asked for. Safe to use from many threads."""

    def __init__(self, number: int, plan: Mapping[str, Callable[[], bytes]], before: Content | None = None) -> None:
        #: Grows with each content, so that a page can tell that there is a newer one.
        self.number = number
        self._plan = plan
        self._made: dict[str, bytes] = {}
        self._lock = threading.Lock()
        #: The last content of which every page could be made.
        self._before = before

    @property
    def paths(self) -> list[str]:
        """Every path of the site, sorted."""
        return sorted(self._plan)

    def make(self, path: str) -> bytes:
        """Return the content of a path of the site. Raises ReportgenError where its template is wrong."""
        with self._lock:
            found = self._made.get(path)
            if found is None:
                found = self._made[path] = self._plan[path]()
            return found

    def get(self, path: str) -> bytes | None:
        """Return the content of a path, None where there is none; where it can't be made, the last that could."""
        if path not in self._plan:
            return None
        try:
            return self.make(path)
        except ReportgenError:
            if self._before is None or path not in self._before._plan:
                raise
            return self._before.make(path)

    def finish(self, files: Mapping[str, bytes]) -> None:
        """Take over the finished files; from now on this content stands on its own."""
        with self._lock:
            self._made = dict(files)
            self._before = None

    def last_good(self) -> Content | None:
        """The newest content, this one or an earlier one, of which every page could be made."""
        return self if self._made.keys() == self._plan.keys() else self._before


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What is to be seen. `number` grows with each change of any part."""

    number: int = 0
    content: Content | None = None
    problems: tuple[Problem, ...] = ()
    #: Whether the content is older than the files: the problems keep the newer one from being shown.
    held: bool = False
    tests: Tests | None = None
    #: What is being done just now, where it takes time.
    busy: str = ""


class Board:
    """Holds the view, wakes those who wait for the next one, and knows which pages are looked at."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._view = View()
        self._pages: dict[int, str] = {}
        self._answering = 0
        self._listeners = 0
        self._closed = False

    @property
    def view(self) -> View:
        """The view of this moment."""
        return self._view

    def show(self, **changes: Any) -> None:  # noqa: ANN401 - named as the fields of View
        """Change parts of the view; nothing happens where they are the same."""
        with self._changed:
            fresh = replace(self._view, **changes)
            if fresh != self._view:
                self._view = replace(fresh, number=self._view.number + 1)
                self._changed.notify_all()

    def wait(self, number: int, seconds: float) -> View:
        """Return the view as soon as its number is another one, the board is closed, or so many seconds are over."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._view.number != number, seconds)
            return self._view

    def close(self) -> None:
        """Wake everybody for the last time."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def is_closed(self) -> bool:
        """Say whether nothing will change any more."""
        return self._closed

    @contextmanager
    def listening(self, page: str, most: int) -> Iterator[bool]:
        """Say that a browser looks at a page for as long as this lasts; gives False where too many do."""
        with self._changed:
            self._listeners += 1
            key = self._listeners
            room = len(self._pages) < most
            if room:
                self._pages[key] = page
        try:
            yield room
        finally:
            with self._changed:
                self._pages.pop(key, None)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Say that a page is being sent for as long as this lasts."""
        with self._changed:
            self._answering += 1
        try:
            yield
        finally:
            with self._changed:
                self._answering -= 1

    @property
    def is_answering(self) -> bool:
        """Whether a page is being sent right now."""
        return self._answering > 0

    def pages(self) -> list[str]:
        """Return the paths of the site that browsers look at, sorted."""
        with self._changed:
            return sorted(set(self._pages.values()))
