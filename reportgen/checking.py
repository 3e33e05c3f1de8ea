"""`reportgen check`: every SQL file parsed, and bound against empty tables; nothing runs and no input is read.

The files are taken in the order of a build: sources and marts (each becomes an empty table of its columns), parameters,
detectors, scoring, charts. A file that can't be bound keeps only what reads it from being looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from reportgen import checkrules as rules
from reportgen.detectorfile import front_problems, read_detector
from reportgen.detectors import FINDINGS
from reportgen.errors import ReportgenError
from reportgen.formatcheck import format_problems
from reportgen.formatfile import FOLDER as FORMATS
from reportgen.macros import NAME as MACROS
from reportgen.macros import make_macros
from reportgen.quickclass import dataclass
from reportgen.resources import resource_dir
from reportgen.settings import Settings, load_settings
from reportgen.sqlfile import SqlFile, find_sql_files, near
from reportgen.sqlhint import syntax_step
from reportgen.sqltree import ONE_SELECT, STEADY, Tree, read_tree
from reportgen.warehouse import SqlError, Warehouse

FOLDERS = ("sources", "marts", "detectors", "scoring", "charts", "tables")
#: Folders whose files become tables of one schema, so that no two may have one name.
_TABLES = ("sources", "marts", "scoring")
Severity = Literal["error", "warning"]
_PLACE = re.compile(r"^(?P<path>.*?)(?::(?P<line>\d+))?(?::(?P<column>\d+))?$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong: where (line and column count from 1; 1 where the whole file is meant), what, what to do."""

    path: str
    line: int
    column: int
    severity: Severity
    what: str
    next_step: str = ""

    @property
    def where(self) -> str:
        """Return `path:line:column`, which editors and terminals make a link of."""
        return f"{self.path}:{self.line}:{self.column}"


def check(project: Path | None) -> list[Problem]:
    """Check the built-in files and those of a project, as a build would use them; return every problem, by place."""
    return Check(project).run()


class Check:
    """One check: reads the files, fills an empty warehouse, and collects problems."""

    def __init__(self, project: Path | None) -> None:
        self._project = project
        self._own = project / "sql" if project is not None else None
        self._problems: set[Problem] = set()
        self._settings = self._read_settings()
        self._trees: dict[tuple[str, str], Tree] = {}
        #: Tables that can't be there, because their file is wrong, by name.
        self._missing: dict[str, str] = {}

    def run(self) -> list[Problem]:
        """Check everything."""
        built_in = resource_dir("sql")
        files = {folder: find_sql_files(folder, built_in, self._own) for folder in FOLDERS}
        self._strays()
        clashing = self._clashes(files)
        looked_at = self._looked_at(files, built_in)
        with Warehouse() as store:
            store.load_raw({}, None)
            store.lock()
            try:
                make_macros(store, self._own)
            except ReportgenError as error:
                self._report(error)
            self._read_trees(store, looked_at)
            usable = {
                folder: [f for f in looked_at[folder] if self._read(folder, f) and f.name not in clashing]
                for folder in FOLDERS
            }
            self._tables(store, "sources", usable["sources"])
            self._tables(store, "marts", usable["marts"])
            self._parameters(store, [f for f in files["detectors"] if f.broken is None and f.name not in clashing])
            for file in usable["detectors"]:
                self._detector(store, file)
            store.fill("findings", FINDINGS, [])
            self._tables(store, "scoring", usable["scoring"])
            for file in usable["charts"]:
                self._chart(store, file)
            for file in usable["tables"]:
                self._whole_table(store, file)
        for problem, is_error in format_problems(self._project):
            self._report(problem, "error" if is_error else "warning")
        return sorted(self._problems, key=lambda p: (p.path, p.line, p.column, p.severity, p.what))

    def _looked_at(self, files: Mapping[str, Sequence[SqlFile]], built_in: Path) -> dict[str, list[SqlFile]]:
        """Return the files to bind. What a project leaves as it came was bound when reportgen was made."""
        own = [(folder, file) for folder in FOLDERS for file in files[folder] if file.origin == "project"]
        replaces = any((built_in / folder / file.path.name).exists() for folder, file in own)
        kept = () if self._project is None or replaces else ("detectors", "charts", "tables")
        return {
            folder: [file for file in files[folder] if folder not in kept or file.origin == "project"]
            for folder in FOLDERS
        }

    # --- what goes before the SQL -----------------------------------------------------------------------------------

    def _read_settings(self) -> Settings:
        home = self._project or Path()
        defaults = Settings(project=home, recommendations=home, site=home)
        if self._project is None:
            return defaults
        try:
            return load_settings(self._project)
        except ReportgenError as error:
            self._report(error)
            return defaults

    def _strays(self) -> None:
        """Tell of SQL files that no build would look at."""
        if self._own is None or not self._own.is_dir():
            return
        known = (FORMATS, *FOLDERS)
        for path in sorted(self._own.rglob("*.sql")):
            place = path.relative_to(self._own).parts
            if place != (MACROS,) and (len(place) != 2 or place[0] not in known):
                folder = place[0] if len(place) > 1 else ""
                hint = near(folder, known) if folder not in known else ""
                what = f"is in no folder that is read{hint}"
                self._add("/".join(("sql", *place)), what, f"Known: {', '.join(f'sql/{name}' for name in known)}.")

    def _clashes(self, files: Mapping[str, Sequence[SqlFile]]) -> set[str]:
        """Tell of two files that want one name; return those to blame, a project's where the other is built in."""
        clashing: set[str] = set()
        seen: dict[str, str] = {"findings": "the table of findings"}
        for file in sorted((f for folder in _TABLES for f in files[folder]), key=lambda f: f.origin == "project"):
            if file.id in seen:
                self._add(file.name, f"clashes with {seen[file.id]}, which has the same name", "Rename it.")
                clashing.add(file.name)
            seen.setdefault(file.id, file.name)
        for file in files["detectors"]:
            if file.id == "report":
                self._add(file.name, "a detector can't be named 'report': params.report is taken", "Rename it.")
                clashing.add(file.name)
        return clashing

    def _read(self, folder: str, file: SqlFile) -> bool:
        """Check front matter and shape; say whether the SQL can be bound."""
        if file.broken is not None:
            self._report(file.broken)
            self._missing[file.id] = file.name
            return False
        for problem in rules.front(folder, file):
            self._report(problem)
        tree = self._tree(folder, file)
        if tree.wrong is not None:
            what = tree.wrong.what
            step = ONE_SELECT if "one SELECT" in what else "Take it apart."
            self._at(
                file, tree.wrong.at, what, syntax_step(file.text, tree.wrong.at, what) if "Parser" in what else step
            )
            self._missing[file.id] = file.name
            return False
        for found in tree.unsteady:
            what = f"{found.what} gives another value in another build"
            self._at(file, found.at, what, STEADY)
        for found in tree.orderless:
            what = f"{found.what}: what it gives may change from build to build"
            self._at(file, found.at, what, "Say the order.", "warning")
        if file.id in rules.RESERVED:
            self._add(file.name, f"'{file.id}' is a word of SQL, and can't name a table", "Rename it.")
            self._missing[file.id] = file.name
            return False
        return True

    def _read_trees(self, store: Warehouse, files: Mapping[str, Sequence[SqlFile]]) -> None:
        readable = [(folder, f) for folder in FOLDERS for f in files[folder] if f.broken is None]
        serialized = store.all_serialized([file.text for _, file in readable])
        for (folder, file), text in zip(readable, serialized, strict=True):
            self._trees[folder, file.id] = read_tree(text)

    # --- tables -----------------------------------------------------------------------------------------------------

    def _tables(self, store: Warehouse, folder: str, files: Sequence[SqlFile]) -> None:
        """Make each file an empty table of its columns, in the order of their references."""
        waiting = {file.id: file for file in files}
        while waiting:
            ready = [f for f in waiting.values() if not (set(self._tree(folder, f).tables) - {f.id}) & set(waiting)]
            if not ready:
                circle = " and ".join(file.name for file in waiting.values())
                for file in waiting.values():
                    self._add(file.name, f"{circle} need each other", "Break the circle.")
                    self._missing[file.id] = file.name
                return
            for file in ready:
                del waiting[file.id]
                columns = self._bind(store, folder, file)
                if columns is None:
                    self._missing[file.id] = file.name
                    continue
                names = [name for name, _ in columns]
                for problem in rules.table_columns(file, names):
                    self._report(problem)
                # One of each: a column that is there twice is told of above.
                kinds = {name.lower(): f"{_named(name)} {_storable(kind)}" for name, kind in columns}
                try:
                    store.create_empty(file.id, ", ".join(kinds.values()))
                except SqlError:
                    self._add(file.name, "no table can hold the columns that it gives", "Cast them to plain types.")
                    self._missing[file.id] = file.name

    def _tree(self, folder: str, file: SqlFile) -> Tree:
        return self._trees[folder, file.id]

    def _bind(self, store: Warehouse, folder: str, file: SqlFile) -> list[tuple[str, str]] | None:
        """Return the columns that a file gives, or None where it can't be bound."""
        lost = sorted(set(self._tree(folder, file).tables) & set(self._missing))
        if lost and file.origin == "built-in":
            # The file to mend is told of; what stands on it is not the project's to look at.
            return None
        if lost:
            at = self._tree(folder, file).tables[lost[0]]
            what = f"can't be checked: it reads '{lost[0]}', and {self._missing[lost[0]]} has an error"
            self._at(file, at, what, "", "warning")
            return None
        try:
            return store.describe(file.text)
        except SqlError as error:
            self._add(file.name, error.message, error.hint, line=error.line or 1, column=error.column or 1)
            return None

    def _parameters(self, store: Warehouse, files: Iterable[SqlFile]) -> None:
        store.create_view("params", "report", {"pipeline": ""})
        for file in files:
            if next(front_problems(file), None) is not None:
                # What is wrong is told already; the SQL is still looked at with what can be had of the parameters.
                store.create_view("params", file.id, rules.defaults(file))
                continue
            try:
                store.create_view("params", file.id, read_detector(file, self._settings).values)
            except ReportgenError as error:
                self._report(error)
                store.create_view("params", file.id, rules.defaults(file))

    # --- detectors and charts ---------------------------------------------------------------------------------------

    def _detector(self, store: Warehouse, file: SqlFile) -> None:
        tree = self._tree("detectors", file)
        self._apply(file, tree, rules.order_of_detector(tree))
        # Those that come with reportgen have their tests; a project is told of its own.
        if file.origin == "project" or self._project is None:
            for problem in (*rules.tests(file, self._project), *rules.stubs(file)):
                self._report(problem, "warning")
        columns = self._bind(store, "detectors", file)
        if columns is not None:
            self._apply(file, tree, rules.contract(tree, columns))
            for problem in rules.detector_texts(file, [name for name, _ in columns]):
                self._report(problem)

    def _chart(self, store: Warehouse, file: SqlFile) -> None:
        tree = self._tree("charts", file)
        self._apply(file, tree, rules.order_of_chart(tree))
        columns = self._bind(store, "charts", file)
        if columns is not None:
            for problem in rules.chart_columns(file, [name for name, _ in columns]):
                self._report(problem)

    def _whole_table(self, store: Warehouse, file: SqlFile) -> None:
        tree = self._tree("tables", file)
        self._apply(file, tree, rules.order_of_chart(tree))
        columns = self._bind(store, "tables", file)
        if columns is not None:
            for problem in rules.table_columns(file, [name for name, _ in columns]):
                self._report(problem)

    # --- collecting -------------------------------------------------------------------------------------------------

    def _apply(self, file: SqlFile, tree: Tree, found: Iterator[rules.Remark]) -> None:
        for remark in found:
            at = tree.items.get(remark.column) if remark.column else None
            self._at(file, at if at is not None else tree.at, remark.what, remark.next_step)

    def _report(self, error: ReportgenError, severity: Severity = "error") -> None:
        found = _PLACE.match(error.where)
        assert found is not None  # it matches any text
        line = int(found["line"] or 1)
        self._add(found["path"], error.what, error.next_step, severity, line=line, column=int(found["column"] or 1))

    def _at(self, file: SqlFile, byte: int | None, what: str, next_step: str, severity: Severity = "error") -> None:
        before = file.text.encode()[: byte or 0].decode("utf-8", "replace")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        self._add(file.name, what, next_step, severity, line=line, column=column)

    def _add(
        self, path: str, what: str, next_step: str, severity: Severity = "error", *, line: int = 1, column: int = 1
    ) -> None:
        self._problems.add(Problem(path, line, column, severity, what, next_step))


def _storable(kind: str) -> str:
    # The type of a bare `null`, which no table can have.
    return kind.replace('"NULL"', "INTEGER")


def _named(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
