"""From an error to what a page shows of it: where, what, what next, and the lines of the file around the marked one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from reportgen.analysing import Analysed
from reportgen.errors import ReportgenError
from reportgen.live.board import Problem, Tests
from reportgen.redact import redact
from reportgen.resources import resource_dir
from reportgen.testresults import CaseResult, TestRun

_PLACE = re.compile(r"(?P<path>.+?):(?P<line>\d+)(?::(?P<column>\d+))?", re.DOTALL)
#: Lines shown before and after the marked one, and how much of each.
_AROUND = 4
_WIDEST = 400


class Teller:
    """Makes problems of errors, for one project. Lines are quoted from `sources` only: never from an input."""

    def __init__(self, project: Path) -> None:
        self._project = project
        #: Paths of the SQL, test, template and settings files that are watched.
        self.sources: Collection[str] = ()

    def problem(self, error: ReportgenError) -> Problem:
        """Return what to show of an error."""
        return self.at(error.where, error.what, error.next_step)

    def fault(self, error: BaseException) -> Problem:
        """Return what to show of a fault of reportgen itself."""
        what = redact(f"unexpected {type(error).__name__}: {error}")
        return Problem(where="reportgen", what=what, next_step="This is a fault of reportgen; please report it.")

    def at(self, where: str, what: str, next_step: str = "") -> Problem:
        """Return a problem at `path`, `path:line` or `path:line:column`, with the lines around it where it has one."""
        found = _PLACE.fullmatch(where)
        path = self._find(found.group("path") if found else where)
        if path is None or found is None:
            return Problem(where=where if path is None else self._name(path), what=what, next_step=next_step)
        line = int(found.group("line"))
        column = found.group("column")
        return Problem(
            where=f"{self._name(path)}:{where.removeprefix(found.group('path')).removeprefix(':')}",
            what=what,
            next_step=next_step,
            line=line,
            column=int(column) if column else None,
            excerpt=_excerpt(path, line),
        )

    def of_report(self, analysed: Analysed) -> list[Problem]:
        """Return what failed in a report that could be made all the same: detectors, charts and tables."""
        failed = [
            self.at(one.where or one.file, one.message or "it failed", "Mend the detector.")
            for one in analysed.report.detectors
            if one.status == "error"
        ]
        return failed + [self.at(one.where, one.message, "Mend the file.") for one in analysed.failed]

    def of_tests(self, run: TestRun, detectors: Iterable[str]) -> Tests:
        """Return what to show of a run of tests."""

        def failure(case: CaseResult) -> Problem:
            return self.at(f"{case.file}:{case.line}", f"{case.case}\n{case.message}")

        return Tests(
            detectors=tuple(sorted(detectors)),
            passed=run.count("passed"),
            failed=tuple(failure(case) for case in run.results if case.outcome != "passed"),
            missing=run.missing,
        )

    def _find(self, path: str) -> Path | None:
        """Return the watched file that a message means: the project's before the built-in one."""
        head, _, rest = path.partition("/")
        places = [Path(path), self._project / path]
        if head in ("sql", "templates"):
            places.append(resource_dir(head) / rest)
        return next((place for place in places if place.is_absolute() and str(place) in self.sources), None)

    def _name(self, path: Path) -> str:
        """Return a file's name as people write it: relative to the project, or as the built-in one."""
        if path.is_relative_to(self._project):
            return path.relative_to(self._project).as_posix()
        for head in ("sql", "templates"):
            if path.is_relative_to(resource_dir(head)):
                return f"{head}/{path.relative_to(resource_dir(head)).as_posix()}"
        return str(path)


def _excerpt(path: Path, line: int) -> tuple[tuple[int, str], ...]:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ()
    first, last = max(line - _AROUND, 1), min(line + _AROUND, len(lines))
    return tuple((number, lines[number - 1][:_WIDEST]) for number in range(first, last + 1))
