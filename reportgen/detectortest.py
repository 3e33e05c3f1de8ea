"""Run the detectors' tests: each case's rows into an empty warehouse, the detector over them, its rows compared.

The warehouse is built once a run, in memory, from the same SQL as a build's, of no file of the project but its `sql/`:
a test never sees the project's data or settings. Rows are compared in the order that the detector gives them, on the
columns that the case names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from reportgen import detectors as detecting
from reportgen.detectorfile import COUNTS, DetectorFile, read_detector
from reportgen.errors import ReportgenError
from reportgen.macros import make_macros
from reportgen.quickclass import dataclass
from reportgen.resources import resource_dir
from reportgen.settings import Settings
from reportgen.sqlfile import SqlFile, find_sql_files, near
from reportgen.sqltree import read_tree, ties
from reportgen.testcells import expected_text, read_cell, shown
from reportgen.testfile import Case, CaseFile, Table, read_test_file
from reportgen.testresults import CaseResult, TestRun, as_json, as_junit, difference
from reportgen.warehouse import Row, SqlError, Warehouse

__all__ = [
    "Bench", "CaseKinds", "CaseResult", "TestRun", "as_json", "as_junit", "case_kinds", "find_test", "run_tests",
]  # fmt: skip

SUFFIX = ".test.md"
_FOLDER = "detectors"
#: What a finding has even where the SELECT does not give it.
_ALWAYS = {"subject_kind": "VARCHAR", "subject_key": "VARCHAR"}


@dataclass(frozen=True, slots=True)
class CaseKinds:
    """How many cases expect rows (hits) and how many expect nothing (near misses)."""

    hits: int
    misses: int


def case_kinds(path: Path, *, name: str) -> CaseKinds:
    """Count the cases of a test file by kind; one that can't be read as a case is neither.

    Raises ReportgenError with `path:line` where the file can't be read at all.
    """
    cases = [case for case in read_test_file(path, name=name).cases if case.problem is None]
    hits = sum(case.expected is not None and bool(case.expected.rows) for case in cases)
    return CaseKinds(hits, len(cases) - hits)


def find_test(detector: SqlFile, project: Path | None) -> Path | None:
    """Return the test file of a detector: the project's, else the one beside the detector, else None.

    A detector that the project replaces needs a test of its own: that of the built-in one tells nothing about it.
    """
    own = project / "sql" / _FOLDER / (detector.id + SUFFIX) if project is not None else None
    beside = detector.path.with_name(detector.id + SUFFIX)
    return next((path for path in (own, beside) if path is not None and path.is_file()), None)


def run_tests(project: Path | None, ids: Sequence[str] = ()) -> TestRun:
    """Run the tests of the built-in detectors and those in `project`/sql/detectors; `ids` chooses some.

    A file of the project takes the place of the built-in one of its name, a test or a detector. Raises ReportgenError
    for an id that no detector has, and where the marts themselves can't be built.
    """
    with Bench(project) as bench:
        strays = bench.stray_tests()
        known = sorted({*bench.detectors, *(path.name.removesuffix(SUFFIX) for path in strays)})
        for one in ids:
            if one not in known:
                raise ReportgenError("test", f"no detector '{one}'{near(one, known)}", f"Known: {', '.join(known)}.")
        results: list[CaseResult] = []
        missing: list[str] = []
        unordered: list[tuple[str, str]] = []
        for key in known:
            if ids and key not in ids:
                continue
            file = bench.detectors.get(key)
            if file is None:
                results.append(_stray(key, list(bench.detectors)))
            elif (path := find_test(file, project)) is None:
                missing.append(key)
            else:
                results += bench.run_file(file, path)
                if what := bench.ties(file):
                    unordered.append((key, what))
        return TestRun(tuple(results), tuple(missing), tuple(unordered))


def _stray(key: str, known: Sequence[str]) -> CaseResult:
    name = _name(key)
    what = f"there is no detector sql/{_FOLDER}/{key}.sql{near(key, known)}"
    message = f"{name}:1: {what}. Rename the test, or remove it."
    return CaseResult(key, "(file)", "error", message, name, 1)


def _name(key: str) -> str:
    return f"sql/{_FOLDER}/{key}{SUFFIX}"


class Bench:
    """An empty warehouse to run cases in, and the detectors there are. Use as a context manager."""

    def __init__(self, project: Path | None) -> None:
        built_in = resource_dir("sql")
        own = project / "sql" if project is not None else None
        # The defaults of every setting: a test must not turn red because a project sets a threshold.
        home = project or Path()
        self._settings = Settings(project=home, recommendations=home, site=home)
        self._own = own / _FOLDER if own is not None else None
        self.detectors = {file.id: file for file in find_sql_files(_FOLDER, built_in, own)}
        self._scoring = find_sql_files("scoring", built_in, own)
        self._store = Warehouse()
        try:
            self._build(built_in, own)
        except BaseException:
            self._store.__exit__(None, None, None)
            raise
        self._schema = self._read_schema()
        #: The rows of marts that are not empty in an empty project: those that hold settings.
        self._defaults = {
            mart: rows[0] for mart in self._schema if len(rows := self._store.query(f"select * from {mart}").rows) == 1
        }
        #: What the marts that are not as in an empty project hold, and the parameters in force: neither is put again.
        self._held: dict[str, list[Row]] = {}
        self._in_force: dict[str, Mapping[str, Any]] = {}
        self._types: dict[str, Mapping[str, str]] = {}
        self._score_types: Mapping[str, str] | None = None

    def __enter__(self) -> Bench:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._store.__exit__(kind, error, trace)

    def _build(self, built_in: Path, own: Path | None) -> None:
        """Make every table that a build makes, from no input at all."""
        defaults = self._settings
        self._store.load_raw(
            {"settings": [(None, None, None, None, int(defaults.run_gap.total_seconds()), defaults.score_flag)]}, None
        )
        self._store.lock()
        make_macros(self._store, own)
        for folder in ("sources", "marts"):
            self._store.create_tables(find_sql_files(folder, built_in, own))

    def _read_schema(self) -> dict[str, dict[str, str]]:
        schema: dict[str, dict[str, str]] = {}
        rows = self._store.query(
            "select table_name, column_name, data_type from duckdb_columns()"
            " where schema_name = 'main' and not internal order by table_name, column_index"
        ).rows
        for mart, column, kind in rows:
            schema.setdefault(mart, {})[column] = kind
        return schema

    # --- test files -------------------------------------------------------------------------------------------------

    def stray_tests(self) -> list[Path]:
        """Return the project's test files that no detector has the name of."""
        found = sorted(self._own.glob(f"*{SUFFIX}")) if self._own is not None else []
        return [path for path in found if path.name.removesuffix(SUFFIX) not in self.detectors]

    def run_file(self, file: SqlFile, path: Path) -> Iterator[CaseResult]:
        """Run every case of a detector's test file."""
        try:
            read: CaseFile = read_test_file(path, name=_name(file.id))
        except ReportgenError as error:
            yield _error(file.id, Case("(file)", 1), _name(file.id), error)
            return
        for case in read.cases:
            yield self.run(file, case, read.name)

    def ties(self, file: SqlFile) -> str:
        """Return what a detector's ORDER BY lacks; empty where it lacks nothing or the SQL can't be read."""
        # Those that come with reportgen were looked at when it was made.
        if file.origin == "built-in" or file.broken is not None:
            return ""
        tree = read_tree(self._store.serialized(file.text))
        return "" if tree.wrong is not None else ties(tree)

    # --- one case ---------------------------------------------------------------------------------------------------

    def run(self, file: SqlFile, case: Case, name: str) -> CaseResult:
        """Put the case's rows into the marts, and judge the detector on them. `name` is that of the test file."""
        try:
            if case.problem is not None:
                raise case.problem
            if case.files:
                what = "a detector reads marts, not files"
                raise ReportgenError(f"{name}:{case.line}", what, "Give the marts: Given `runs`: and a table.")
            self.give(case, name)
        except ReportgenError as error:
            return _error(file.id, case, name, error)
        return self.judge(file, case, name)

    def give(self, case: Case, name: str) -> None:
        """Replace the marts' rows by those of the case; what it does not give is empty. Raises ReportgenError."""
        given: dict[str, list[Row]] = {mart: self._rows(mart, table, name) for mart, table in case.given.items()}
        emptied = {mart: self._empty(mart) for mart in self._held if mart not in given}
        for mart, rows in {**emptied, **given}.items():
            if self._held.get(mart, self._empty(mart)) != rows:
                columns = ", ".join(f"{column} {kind}" for column, kind in self._schema[mart].items())
                self._store.fill(mart, columns, rows)
        self._held = given

    def _empty(self, mart: str) -> list[Row]:
        return [self._defaults[mart]] if mart in self._defaults else []

    def _rows(self, mart: str, table: Table, name: str) -> list[Row]:
        if mart not in self._schema:
            raise ReportgenError(
                f"{name}:{table.line}", f"no mart '{mart}'{near(mart, list(self._schema))}",
                f"Known: {', '.join(sorted(self._schema))}.",
            )  # fmt: skip
        kinds = self._schema[mart]
        _check_columns(table, list(kinds), name, f"'{mart}'")
        rows: list[Row] = []
        for row in table.rows:
            default: Sequence[Any] = self._defaults.get(mart, (None,) * len(kinds))
            values = dict(zip(kinds, default, strict=True))
            for column, text in zip(table.columns, row.cells, strict=True):
                try:
                    values[column] = read_cell(text, kinds[column])
                except ValueError as error:
                    raise _unreadable(name, row.line, column, kinds[column], text, error) from None
            rows.append(tuple(values.values()))
        return rows

    def judge(self, file: SqlFile, case: Case, name: str) -> CaseResult:
        """Run the detector on the rows that are there, and compare what it finds with what the case expects."""
        try:
            detector = self._detector(file, case, name)
            expected = self._expected(detector, case, name)
            findings = self._findings(detector)
        except ReportgenError as error:
            return _error(file.id, case, name, error)
        columns = case.expected.columns if case.expected else tuple(c for c in _SHOWN if c in self._kinds(file))
        scores = self._scores(findings, case.expected) if case.expected else {}
        got = [
            [shown(_value(finding, scores.get(finding.finding_no, {}), column)) for column in columns]
            for finding in findings
        ]
        message = difference(columns, expected, got)
        return CaseResult(file.id, case.name, "failed" if message else "passed", message, name, case.line)

    def _detector(self, file: SqlFile, case: Case, name: str) -> DetectorFile:
        """Return the detector with the case's parameters in force."""
        given = _parameters(file, case.parameters, name)
        detector = read_detector(file, replace(self._settings, parameters={file.id: given}))
        if detector.broken is not None:
            raise detector.broken
        if self._in_force.get(file.id) != detector.values:
            self._store.create_view("params", file.id, detector.values)
            self._in_force[file.id] = detector.values
        return detector

    def _kinds(self, file: SqlFile) -> Mapping[str, str]:
        """Return the columns of a detector's SELECT with their types, found once a run without running it."""
        if file.id not in self._types:
            self._store.check_one_select(file)
            try:
                self._types[file.id] = dict(self._store.describe(file.text))
            except SqlError as failure:
                where = f"{file.name}:{failure.line}" if failure.line else file.name
                raise ReportgenError(where, failure.message, failure.hint) from None
        return self._types[file.id]

    def _expected(self, detector: DetectorFile, case: Case, name: str) -> list[list[str]]:
        kinds = {**_ALWAYS, **self._kinds(detector.file)}
        if case.expected is None:
            return []
        if not set(case.expected.columns) <= set(kinds):
            kinds = {**self._score_kinds(), **kinds}
            _check_columns(case.expected, list(kinds), name, "what the detector gives, or its pre-score")
        rows = []
        for row in case.expected.rows:
            cells = []
            for column, text in zip(case.expected.columns, row.cells, strict=True):
                try:
                    cells.append(expected_text(text, kinds[column]))
                except ValueError as error:
                    raise _unreadable(name, row.line, column, kinds[column], text, error) from None
            rows.append(cells)
        return rows

    def _findings(self, detector: DetectorFile) -> Sequence[detecting.Finding]:
        # A test is about the SQL: which inputs there are, and whether they are many enough, is asked before it.
        outcome = detecting.run_detectors(
            self._store, [detector], present=frozenset(detector.needs), counts=dict.fromkeys(COUNTS, 2**62)
        )[0]
        if outcome.status == "error":
            raise ReportgenError(outcome.where or detector.file.name, outcome.message or "")
        return outcome.findings

    # --- the pre-score ----------------------------------------------------------------------------------------------

    def _score_kinds(self) -> Mapping[str, str]:
        """Return the columns of the pre-score. The first call makes scoring's tables, as views that follow findings."""
        if self._score_types is None:
            self._store.fill("findings", detecting.FINDINGS, [])
            self._store.create_tables(self._scoring)
            made = self._store.query("select table_name from duckdb_tables() order by table_oid").rows
            texts = {file.id: file.text.rstrip().rstrip(";") for file in self._scoring}
            for name in [str(row[0]) for row in made if row[0] in texts]:
                self._store.run_script(f"drop table {name}; create view {name} as {texts[name]}")
            kinds = dict(self._store.describe("select * from vfm"))
            self._score_types = {column: kind for column, kind in kinds.items() if column != "finding_no"}
        return self._score_types

    def _scores(self, findings: Sequence[detecting.Finding], expected: Table) -> dict[int, dict[str, Any]]:
        """Return the pre-score of each finding by its number, where the case names a part of it."""
        given = {*_ALWAYS, *(column for finding in findings for column in finding.row)}
        if not findings or set(expected.columns) <= given:
            return {}
        self._store.fill("findings", detecting.FINDINGS, [finding.cells() for finding in findings])
        return {row["finding_no"]: row for row in self._store.query("select * from vfm").dicts()}


#: What is shown of a finding where nothing was expected.
_SHOWN = ("pipeline", "subject", "observed", "baseline", "threshold")


def _value(finding: detecting.Finding, score: Mapping[str, Any], column: str) -> object:
    if column in finding.row:
        return finding.row[column]
    return getattr(finding, column) if column in _ALWAYS else score[column]


def _parameters(file: SqlFile, table: Table | None, name: str) -> dict[str, Any]:
    if table is None:
        return {}
    declared = file.front.get("params", {})
    _check_columns(table, list(declared), name, f"what {file.name} declares under [params]")
    if len(table.rows) != 1:
        raise ReportgenError(f"{name}:{table.line}", f"{len(table.rows)} rows of parameters", "Give exactly one row.")
    values: dict[str, Any] = {}
    for column, text in zip(table.columns, table.rows[0].cells, strict=True):
        default = declared[column].get("default")
        if isinstance(default, str):
            kind = "VARCHAR"
        elif isinstance(default, bool):
            kind = "BOOLEAN"
        else:
            kind = "DECIMAL(38, 12)" if "." in text else "BIGINT"
        try:
            values[column] = read_cell(text, kind)
        except ValueError as error:
            raise _unreadable(name, table.rows[0].line, column, kind, text, error) from None
        if values[column] is None or (kind in ("BIGINT", "DECIMAL(38, 12)") and values[column] < 0):
            raise ReportgenError(f"{name}:{table.rows[0].line}", f"parameter '{column}' can't be '{text}'", "Mend it.")
    return values


def _check_columns(table: Table, known: Sequence[str], name: str, of: str) -> None:
    for column in table.columns:
        if column not in known:
            raise ReportgenError(
                f"{name}:{table.line}", f"no column '{column}' in {of}{near(column, known)}",
                f"Known: {', '.join(known)}.",
            )  # fmt: skip


def _unreadable(name: str, line: int, column: str, kind: str, text: str, error: ValueError) -> ReportgenError:
    return ReportgenError(f"{name}:{line}", f"column '{column}' ({kind}): '{text}' {error}", "Mend the cell.")


def _error(detector: str, case: Case, name: str, error: ReportgenError) -> CaseResult:
    line = error.where.removeprefix(f"{name}:")
    return CaseResult(detector, case.name, "error", str(error), name, int(line) if line.isdigit() else case.line)
