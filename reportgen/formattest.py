"""Run the tests of formats: each case's files read as a build reads them, and the events that come of them compared.

A case gives files by name, each in a fenced block, and expects the events, by file and line. `run_all` runs these and
the detectors' tests.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from reportgen import detectortest
from reportgen.detectortest import SUFFIX, CaseResult, TestRun
from reportgen.errors import ReportgenError
from reportgen.formatfile import FOLDER, read_format
from reportgen.inputs.events import read_events
from reportgen.inputs.sources import Source
from reportgen.names import Names
from reportgen.rawtables import EVENT_COLUMNS
from reportgen.resources import resource_dir
from reportgen.sqlfile import SqlFile, find_sql_files, near
from reportgen.testcells import expected_text, read_cell, shown
from reportgen.testfile import Case, read_test_file
from reportgen.testresults import difference

#: What an expected event may have.
_KINDS = {
    "file": "VARCHAR", "line": "BIGINT", "agent": "VARCHAR", "pipeline": "VARCHAR", "run_id": "VARCHAR",
    **{name: kind.upper() for name, kind in EVENT_COLUMNS.items() if not name.endswith("_no")},
}  # fmt: skip
_NAMED = {"agent": "agent_no", "pipeline": "pipeline_no", "run_id": "run_no"}


def run_all(project: Path, ids: Sequence[str] = ()) -> TestRun:
    """Run the tests of formats and detectors, built-in ones and the project's; `ids` chooses some.

    Raises ReportgenError for an id that neither a format nor a detector has.
    """
    formats = {file.id: file for file in find_sql_files(FOLDER, resource_dir("sql"), project / "sql")}
    others = [one for one in ids if one not in formats]
    run = detectortest.run_tests(project, others) if others or not ids else TestRun((), ())
    results = list(run.results)
    missing = list(run.missing)
    for key, file in formats.items():
        if ids and key not in ids:
            continue
        path = find_format_test(file, project)
        if path is None:
            missing.append(key)
        else:
            results += _run_file(file, path, project)
    return replace(run, results=tuple(results), missing=tuple(missing))


def find_format_test(file: SqlFile, project: Path | None) -> Path | None:
    """Return the test file of a format: the project's, else the one beside the format, else None."""
    own = project / "sql" / FOLDER / (file.id + SUFFIX) if project is not None else None
    beside = file.path.with_name(file.id + SUFFIX)
    return next((path for path in (own, beside) if path is not None and path.is_file()), None)


def _run_file(file: SqlFile, path: Path, project: Path) -> Iterator[CaseResult]:
    name = f"sql/{FOLDER}/{file.id}{SUFFIX}"
    try:
        read_format(file)
        cases = read_test_file(path, name=name).cases
    except ReportgenError as error:
        yield _error(file.id, "(file)", name, 1, error)
        return
    for case in cases:
        try:
            if case.problem is not None:
                raise case.problem
            message = _run(case, name, project)
        except ReportgenError as error:
            yield _error(file.id, case.name, name, case.line, error)
            continue
        yield CaseResult(file.id, case.name, "failed" if message else "passed", message, name, case.line)


def _error(key: str, case: str, name: str, line: int, error: ReportgenError) -> CaseResult:
    place, _, number = error.where.rpartition(":")
    at = int(number) if place == name and number.isdigit() else line
    return CaseResult(key, case, "error", str(error), name, at)


def _run(case: Case, name: str, project: Path) -> str:
    """Return how the events that come of a case's files differ from those expected; empty: not at all."""
    if not case.files or case.given:
        what = "a format's case gives files" if case.given else "the case gives no file"
        raise ReportgenError(f"{name}:{case.line}", what, "Write Given `name.jsonl`: and a fenced block of its lines.")
    columns = case.expected.columns if case.expected else ("file", "line")
    expected: list[list[str]] = []
    for column in columns:
        if column not in _KINDS:
            what = f"no column '{column}' in an event{near(column, list(_KINDS))}"
            raise ReportgenError(f"{name}:{case.line}", what, f"Known: {', '.join(_KINDS)}.")
    for row in case.expected.rows if case.expected else ():
        cells = []
        for column, text in zip(columns, row.cells, strict=True):
            try:
                cells.append(expected_text(text, _KINDS[column]))
            except ValueError as error:
                raise ReportgenError(f"{name}:{row.line}", f"{column} '{text}' {error}", "Mend the cell.") from None
        expected.append(cells)
    return difference(columns, expected, cells_of(case, columns, name, project))


def cells_of(case: Case, columns: Sequence[str], name: str, project: Path | None) -> list[list[str]]:
    """Return these columns of the events that come of a case's files, as they are written in a table."""
    return [[_shown(event[column], _KINDS[column]) for column in columns] for event in events_of(case, name, project)]


def _shown(text: str, kind: str) -> str:
    return "null" if text == "" else text if kind == "VARCHAR" else shown(read_cell(text, kind))


def events_of(case: Case, name: str, project: Path | None) -> list[dict[str, str]]:
    """Return the events that come of a case's files, by file and line; an empty text is null."""
    with tempfile.TemporaryDirectory(prefix="reportgen-test-") as place:
        home = Path(place) / "files"
        sources: list[Source] = []
        for given, text in sorted(case.files.items()):
            if PurePosixPath(given).is_absolute() or ".." in PurePosixPath(given).parts:
                raise ReportgenError(f"{name}:{case.line}", f"'{given}' leads out of the case", "Name it without ..")
            path = home / given
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            sources.append(Source(path=path, name=given, kind="events"))
        names = Names()
        sink = Path(place) / "events.csv"
        read_events(sources, sink, names, project=project)
        spelled = {str(row.spelling_no): row.spelling for row in names.rows(redacted=True)}
        with sink.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    for row in rows:
        row.update({column: spelled.get(row[number], "") for column, number in _NAMED.items()})
        row.update(file=sources[int(row["file_no"])].name, line=row["line_no"])
    return sorted(rows, key=lambda row: (int(row["file_no"]), int(row["line_no"])))
