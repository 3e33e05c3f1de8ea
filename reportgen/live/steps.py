"""The steps of a build for a preview: each gives what it gave before where nothing that it depends on has changed."""

from __future__ import annotations

import contextlib
import copy
import itertools
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from reportgen import analysing, loading
from reportgen import publish as publishing
from reportgen.errors import ReportgenError
from reportgen.found import Found
from reportgen.inputs.sources import Inputs, find_inputs
from reportgen.live.kept import KeptWarehouse
from reportgen.live.watching import Stamp, stamp
from reportgen.quickclass import dataclass
from reportgen.resources import resource_dir
from reportgen.settings import Settings
from reportgen.sqlfile import find_sql_files
from reportgen.warehouse import Limits, Warehouse

#: Another build of the same project may be at work for so long.
LOCK_SECONDS = 30.0
_PREFIX = "serve-"
#: Settings that change nothing about how inputs are read and loaded.
_AFTER_LOADING: dict[str, Any] = {
    "parameters": {}, "disabled": frozenset(), "enabled": frozenset(), "pipeline": None, "strict": False,
    "adopt": False, "fail_on": None, "single_file": None, "detector_seconds": 0, "detector_findings": 0, "pages": 0,
}  # fmt: skip


class Stopped(Exception):  # noqa: N818 - not an error
    """The preview is to end."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """An open warehouse with the inputs in it, and what it was made from."""

    key: tuple[Any, ...]
    store: KeptWarehouse
    found: Found


class Steps:
    """What was built so far. Use as a context manager, in one thread; `interrupt` may come from any.

    `stop` is set when nothing more is wanted: then steps raise Stopped.
    """

    def __init__(
        self,
        stop: threading.Event,
        *,
        tell: Callable[[str], None],
        on_busy: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stop = stop
        self._tell = tell
        self._on_busy = on_busy
        self._clock = clock
        self._stack = contextlib.ExitStack()
        self._count = itertools.count(1)
        #: The settings that the inputs were found with, once they were.
        self.settings: Settings | None = None
        self._inputs: tuple[Inputs, dict[Path, Stamp | None]] | None = None
        self._folder: Path | None = None
        self._events: tuple[tuple[Any, ...], loading.CostEvents] | None = None
        self._loaded: Loaded | None = None
        self._analysed: analysing.Analysed | None = None
        #: What the last analysis was made from.
        self.analysed_from: tuple[Any, ...] | None = None
        #: Reading the inputs may take half of the time, not more: when they may be read again.
        self.rest_until = 0.0
        self._asking = threading.Lock()
        self._asked: KeptWarehouse | None = None

    def __enter__(self) -> Steps:
        self._stack.callback(self._close)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def interrupt(self) -> None:
        """Cut short what is asked of the warehouse; nothing that came of it is used once `stop` is set."""
        with self._asking:
            if self._asked is not None:
                self._asked.interrupt()

    def look_for_inputs(self) -> None:
        """Find and, where they changed, read the inputs anew with the next step."""
        self._inputs = None

    def find_inputs(self, settings: Settings) -> tuple[Inputs, dict[Path, Stamp | None]]:
        """Find the inputs anew where they or the settings changed, with the state each is in before it is read."""
        if self._inputs is None or settings != self.settings:
            found = find_inputs(settings)
            paths = loading.input_paths(settings, found)
            publishing.refuse_overlap(paths, settings.site, settings.recommendations, settings.work)
            self._inputs = (found, {path: stamp(path) for path in paths if path != settings.file})
            self.settings = settings
        return self._inputs

    def load(
        self, settings: Settings, found: Inputs, marks: Mapping[Path, Stamp | None], macros: Mapping[str, Stamp]
    ) -> Loaded:
        """Read and load the inputs where they, or settings that matter for it, changed. Cost events are read apart:
        a saved feedback file costs no reading of them.
        """
        reading = replace(
            settings, **_AFTER_LOADING, recommendations=settings.project, site=settings.project, file=None
        )
        key = (reading, found, marks, macros)
        if self._loaded is not None and self._loaded.key == key and self._loaded.store.is_there():
            return self._loaded
        started = self._clock()
        self._on_busy("reading the inputs")
        with publishing.lock(settings.work, wait_seconds=LOCK_SECONDS, on_wait=self._tell):
            healed = publishing.recover(
                site=settings.site, recommendations=settings.recommendations, work=settings.work
            )
        if healed:
            self._tell(healed)
        folder = self._own_folder(settings.work)
        events = self._read_events(settings, found, marks, folder, macros)
        limits = Limits(settings.detector_seconds, settings.memory)
        store = KeptWarehouse(folder / f"{next(self._count)}.duckdb", limits=limits)
        try:
            # The names grow as the other inputs are read, and are read again with the next ones.
            events = replace(events, names=copy.deepcopy(events.names))
            loaded = Loaded(key, store, loading.load(store, settings, found, events, self._progress))
        except BaseException:
            store.__exit__(None, None, None)
            raise
        if self._loaded is not None:
            self._loaded.store.__exit__(None, None, None)
        self._loaded = loaded
        self.rest_until = self._clock() + (self._clock() - started)
        return loaded

    def _read_events(
        self,
        settings: Settings,
        found: Inputs,
        marks: Mapping[Path, Stamp | None],
        folder: Path,
        formats: Mapping[str, Stamp],
    ) -> loading.CostEvents:
        key = (
            dict(formats),
            [(source, marks.get(source.path)) for source in found.events],
            settings.as_of, settings.fields, settings.redact, settings.running_totals,
        )  # fmt: skip
        known = self._events
        if known is None or known[0] != key or known[1].file is None or not known[1].file.exists():
            file = folder / f"{next(self._count)}-events.duckdb"
            with Warehouse(file, limits=Limits(settings.detector_seconds, settings.memory)) as store:
                events = loading.read_cost_events(settings, found, store, folder, self._progress)
                store.keep()
            self._events = (key, replace(events, file=file))
            if known is not None and known[1].file is not None:
                known[1].file.unlink(missing_ok=True)
            return self._events[1]
        return known[1]

    def analyse(
        self, settings: Settings, found: Inputs, loaded: Loaded, sql: Mapping[str, Stamp]
    ) -> analysing.Analysed:
        """Build marts, run detectors, scoring and charts where any SQL or a setting changed."""
        key = (loaded.key, settings, sql)
        if self._analysed is None or self.analysed_from != key:
            built_in, own = resource_dir("sql"), settings.project / "sql"
            tables = [
                file.id for folder in ("sources", "marts", "scoring") for file in find_sql_files(folder, built_in, own)
            ]
            with self._interruptible(loaded.store) as store:
                store.limits = Limits(settings.detector_seconds, settings.memory)
                store.begin(tables, [file.id for file in find_sql_files("detectors", built_in, own)])
                accounts, only = loading.make_marts(store, settings, loaded.found, quiet)
                analysed = analysing.analyse(store, settings, found, accounts, only, quiet)
            self.analysed_from, self._analysed = key, analysed
        return self._analysed

    def save(self) -> None:
        """Put the warehouse where a build leaves it. Raises OSError or ReportgenError."""
        if self._loaded is not None and self.settings is not None:
            work = self.settings.work
            with publishing.lock(work, wait_seconds=LOCK_SECONDS, on_wait=self._tell):
                self._loaded.store.save(work / "warehouse.duckdb")

    @contextlib.contextmanager
    def _interruptible(self, store: KeptWarehouse) -> Iterator[KeptWarehouse]:
        """Let `stop` cut short what is asked of the warehouse; nothing that came of it is used then."""
        with self._asking:
            self._asked = store
        try:
            yield store
        finally:
            with self._asking:
                self._asked = None
            if self._stop.is_set():
                raise Stopped

    def _progress(self, stage: str, done: int, total: int) -> None:
        if self._stop.is_set():
            raise Stopped
        self._on_busy(f"{stage}: {100 * done // total}%" if total > 1 else stage)

    def _own_folder(self, work: Path) -> Path:
        """Return a folder in the work folder that is removed when this ends, made again where it went missing."""
        if self._folder is None or not self._folder.is_dir():
            _sweep(work)
            made = tempfile.TemporaryDirectory(dir=work, prefix=_PREFIX, ignore_cleanup_errors=True)
            self._folder = Path(self._stack.enter_context(made))
            self._stack.enter_context(publishing.lock(self._folder))
        return self._folder

    def _close(self) -> None:
        if self._loaded is not None:
            self._loaded.store.__exit__(None, None, None)


def _sweep(work: Path) -> None:
    """Remove the folders of previews that were killed: those that nobody holds any more."""
    for folder in work.glob(f"{_PREFIX}*"):
        with contextlib.suppress(ReportgenError), publishing.lock(folder, wait_seconds=0):
            shutil.rmtree(folder, ignore_errors=True)


def quiet(stage: str, done: int, total: int) -> None:
    """Progress that nobody is told: what is begun here is ended."""
