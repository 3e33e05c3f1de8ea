"""The one thread that builds: it sees what was saved, does again what depends on it, shows it, and then publishes it.

What a browser looks at comes first: the page is there before the rest of the site is made and written. While nothing
changes, the site, RECOMMENDATIONS.md and the warehouse on the disk become what `reportgen build` makes of the files.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from reportgen import analysing, loading, making
from reportgen import publish as publishing
from reportgen.errors import ReportgenError
from reportgen.inputs.sources import Inputs
from reportgen.live.board import Board, Content, Problem, Tests
from reportgen.live.places import TEST, input_places, reads_inputs, source_places
from reportgen.live.problems import Teller
from reportgen.live.steps import LOCK_SECONDS, Steps, Stopped, quiet
from reportgen.live.watching import Stamp, Watcher
from reportgen.quickclass import dataclass
from reportgen.redact import redact
from reportgen.render.site import plan_site
from reportgen.report import json as report_json
from reportgen.resources import resource_dir
from reportgen.settings import Settings, load_settings
from reportgen.testresults import TestRun
from reportgen.warehouse import SqlError

Tell = Callable[[str], None]
RunTests = Callable[[Path, Sequence[str]], TestRun]

#: How often a file that changes while it is read is read again before its error is shown.
_AGAIN = 5
_DONE = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often to look, and how long to wait, in seconds."""

    #: Between two looks at the files, while a page is looked at and while none is.
    look: float = 0.03
    doze: float = 0.15
    #: An input must be left alone for so long before it is read, but it is not waited for longer than `patience`.
    settle: float = 0.3
    patience: float = 3.0
    #: A browser gets its page before the rest of the site is made.
    grace: float = 0.3
    #: The warehouse is saved when nothing was saved for so long.
    idle: float = 1.0


class Preview:
    """Keeps a board up to date with a project's files. `run` is called once, in a thread of its own."""

    def __init__(
        self,
        project: Path,
        board: Board,
        *,
        settings_file: Path | None = None,
        flags: Mapping[str, object] | None = None,
        tell: Tell = lambda _: None,
        run_tests: RunTests | None = None,
        pace: Pace | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._project = project.resolve()
        self._settings_file = settings_file
        self._flags = dict(flags or {})
        self._board = board
        self._tell = tell
        self._run_tests = run_tests or _run_tests
        self._pace = pace or Pace()
        self._clock = clock
        self._teller = Teller(self._project)
        self._stop = threading.Event()
        self._steps = Steps(self._stop, tell=tell, on_busy=lambda busy: board.show(busy=busy), clock=clock)
        #: What was saved while it was read, too often to wait for.
        self._missed: list[str] = []
        self._shown: tuple[Any, ...] | None = None
        #: Files that have an error in what is shown: an error there is no reason to hold newer content back.
        self._broken: frozenset[str] = frozenset()
        #: What is left to do for what is shown, and from when on.
        self._publishing: Iterator[None] | None = None
        self._publish_at = 0.0
        self._save_at: float | None = None
        self._to_test: set[str] = set()
        self._test_first = False
        self._test_runs = 0

    # --- the loop -----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Build, watch, and build again until `stop` is called; what was shown last is published before this ends."""
        with self._steps:
            with contextlib.suppress(Stopped):
                self._watch()
            self._finish_all()

    def stop(self) -> None:
        """Make `run` end soon; may be called from any thread."""
        self._stop.set()
        self._steps.interrupt()

    @property
    def site(self) -> Path | None:
        """The folder of the published site, once the settings could be read."""
        settings = self._steps.settings
        return None if settings is None else settings.site

    def _watch(self) -> None:
        sources = Watcher(source_places(self._project, self._settings_file), clock=self._clock)
        inputs = Watcher(input_places(self._project, None), clock=self._clock)
        self._round(sources, inputs, [])
        due, latest = math.inf, 0.0
        while not self._stop.is_set():
            if inputs.changes():
                # A log that is being written: wait for a pause, but not for ever.
                latest = latest if due < math.inf else self._clock() + self._pace.patience
                due = max(min(self._clock() + self._pace.settle, latest), self._steps.rest_until)
            if changed := sorted({*self._missed, *sources.changes()}):
                self._round(sources, inputs, changed)
            elif self._clock() >= due:
                due = math.inf
                self._steps.look_for_inputs()
                self._round(sources, inputs, [])
            elif not self._finish_some():
                self._stop.wait(self._pace.look if self._board.pages() else self._pace.doze)

    def _round(self, sources: Watcher, inputs: Watcher, changed: Sequence[str]) -> None:
        """Bring the board up to date with the files."""
        started = self._clock()
        names = ", ".join(sorted({Path(path).name for path in changed})[:3]) or "the inputs"
        self._missed = list(changed)
        for _ in range(_AGAIN):
            self._note_tests(self._missed)
            show = self._attempt(sources, inputs)
            # A file may be half written when it is read: what was saved since then decides.
            self._missed = sources.changes()
            if not self._missed:
                break
        is_shown = show()
        self._tell(f"{names}: {'shown' if is_shown else 'not shown'} ({self._clock() - started:.2f} s)")
        for problem in self._board.view.problems:
            self._tell(f"{problem.where}: {problem.what}")

    def _attempt(self, sources: Watcher, inputs: Watcher) -> Callable[[], bool]:
        """Build, and return what shows what came of it, and says whether that is what the files hold now."""
        self._teller.sources = sources.stamps
        try:
            settings = load_settings(self._project, file=self._settings_file, flags=self._flags)
            inputs.watch(input_places(self._project, settings))
            return self._build(settings, sources.stamps)
        except ReportgenError as error:
            problem = self._teller.problem(error)
        except SqlError as error:
            problem = Problem(where="sql", what=error.message, next_step="Mend the SQL that makes what this reads.")
        except Stopped:
            raise
        except Exception as error:
            self._tell(redact("".join(traceback.format_exception(error))))
            problem = self._teller.fault(error)
        return partial(self._hold, [problem])

    # --- the steps of a build, each left out where nothing that it depends on changed ---------------------------------

    def _build(self, settings: Settings, stamps: Mapping[str, Stamp]) -> Callable[[], bool]:
        steps = self._steps
        found, marks = steps.find_inputs(settings)
        loaded = steps.load(settings, found, marks, {p: s for p, s in stamps.items() if reads_inputs(p)})
        analysed = steps.analyse(settings, found, loaded, {p: s for p, s in stamps.items() if p.endswith(".sql")})
        problems = self._teller.of_report(analysed)
        broken = frozenset(problem.where.partition(":")[0] for problem in problems)
        before = self._board.view.content
        if before is not None and broken - self._broken:
            return partial(self._hold, problems)
        analysed = analysing.with_retired(settings, analysed)
        templates = {p: s for p, s in stamps.items() if not p.endswith((".sql", TEST)) and p != str(settings.file)}
        key = (steps.analysed_from, analysed.report.retired, templates)
        if before is not None and key == self._shown:
            return partial(self._keep, problems)
        plan = plan_site(analysed.report, template_dirs=making.template_dirs(settings))
        plan["data/report.json"] = partial(report_json.report_bytes, analysed.report)
        plan.update(analysed.csvs)
        number = 1 if before is None else before.number + 1
        content = Content(number, plan, None if before is None else before.last_good())
        # What is looked at is made first; where that fails, what is shown stays.
        for path in self._board.pages() or ["index.html"]:
            if path in plan:
                content.make(path)

        def show() -> bool:
            self._publishing = self._publish(settings, found, analysed, content)
            self._publish_at = self._clock() + (self._pace.grace if self._board.pages() else 0)
            self._shown, self._broken = key, broken
            self._board.show(content=content, problems=tuple(problems), held=False, busy="")
            return True

        return show

    def _keep(self, problems: Sequence[Problem]) -> bool:
        """What is shown is what the files hold."""
        self._board.show(problems=tuple(problems), held=False, busy="")
        return True

    def _hold(self, problems: Sequence[Problem]) -> bool:
        """Tell of problems, and leave what is shown as it is."""
        self._board.show(problems=tuple(problems), held=self._board.view.content is not None, busy="")
        return False

    # --- what is done once a page is shown ----------------------------------------------------------------------------

    def _finish_some(self) -> bool:
        """Do a small part of what is left to do; say whether there was something to do now."""
        if self._to_test and (self._test_first or self._publishing is None):
            self._test()
            return True
        if self._publishing is not None:
            if self._clock() < self._publish_at or self._board.is_answering:
                return False
            self._publish_step()
            return True
        if self._save_at is not None and self._clock() >= self._save_at:
            self._save()
            return True
        return False

    def _finish_all(self) -> None:
        """Publish what was shown last, so that the disk holds it when the preview has ended."""
        while self._publishing is not None:
            self._publish_step()
        self._save()

    def _publish_step(self) -> None:
        error = None
        try:
            if self._publishing is None or next(self._publishing, _DONE) is not _DONE:
                return
        except ReportgenError as failed:
            error = self._teller.problem(failed)
        except Exception as failed:
            self._tell(redact("".join(traceback.format_exception(failed))))
            error = self._teller.fault(failed)
        self._publishing = None
        if error is not None:
            self._tell(f"{error.where}: {error.what}")
            self._board.show(problems=(*self._board.view.problems, error))

    def _publish(
        self, settings: Settings, found: Inputs, analysed: analysing.Analysed, content: Content
    ) -> Iterator[None]:
        """Make the rest of the site, page by page, and publish it with RECOMMENDATIONS.md."""
        for path in content.paths:
            content.make(path)
            yield
        markdown = making.recommendations(settings, analysed)
        yield
        outputs = making.stamp({path: content.make(path) for path in content.paths}, markdown)
        content.finish(outputs.site_files)
        yield
        with publishing.lock(settings.work, wait_seconds=LOCK_SECONDS, on_wait=self._tell):
            publishing.recover(site=settings.site, recommendations=settings.recommendations, work=settings.work)
            making.swap_in(settings, loading.input_paths(settings, found), analysed, outputs, quiet)
        self._save_at = self._clock() + self._pace.idle

    def _save(self) -> None:
        """Put the warehouse where a build leaves it, for `reportgen query` and any DuckDB tool."""
        if self._save_at is None:
            return
        self._save_at = None
        try:
            self._steps.save()
        except (OSError, ReportgenError) as error:
            self._tell(f"the warehouse could not be saved: {error}")

    def _note_tests(self, changed: Iterable[str]) -> None:
        """Remember whose tests are to be run: those of a detector that was saved, and those that were."""
        for path in map(Path, changed):
            if path.parent.name == "detectors" and path.name.endswith((".sql", TEST)):
                self._to_test.add(path.name.removesuffix(TEST).removesuffix(".sql"))
                self._test_first |= path.name.endswith(TEST)

    def _test(self) -> None:
        folders = (self._project / "sql" / "detectors", resource_dir("sql") / "detectors")
        there = [
            one
            for one in sorted(self._to_test)
            if any((folder / f"{one}{end}").exists() for folder in folders for end in (".sql", TEST))
        ]
        self._to_test, self._test_first = set(), False
        if not there:
            self._board.show(tests=None)
            return
        try:
            tests = self._teller.of_tests(self._run_tests(self._project, there), there)
        except ReportgenError as error:
            tests = Tests(detectors=tuple(there), passed=0, failed=(self._teller.problem(error),))
        self._test_runs += 1
        self._board.show(tests=replace(tests, run=self._test_runs))
        self._tell(f"tests of {', '.join(there)}: {tests.passed} passed, {len(tests.failed)} failed")


def _run_tests(project: Path, ids: Sequence[str]) -> TestRun:
    from reportgen.detectortest import run_tests

    return run_tests(project, ids)
