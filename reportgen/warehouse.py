"""The warehouse: rows are loaded into it, and SQL files become its tables.

What the SQL says is found out once (`sqlfacts`), and what is sure to have no rows is never run (`shapes`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from reportgen import blank
from reportgen.engine import VERSION, Connection, Engine, file_of
from reportgen.engine import Limits as Limits
from reportgen.engine import Result as Result
from reportgen.engine import Row as Row
from reportgen.errors import ReportgenError
from reportgen.quickclass import dataclass
from reportgen.rawtables import EVENT_COLUMNS, RAW_TABLES
from reportgen.second import make_all
from reportgen.shapes import Shape, Shapes
from reportgen.sqlempty import scalar_macros
from reportgen.sqlerror import SqlError as SqlError
from reportgen.sqlfacts import Facts, SqlFacts
from reportgen.sqlfile import SqlFile
from reportgen.sqlorder import in_order
from reportgen.sqltext import literal, quoted
from reportgen.sqltree import ONE_SELECT, STEADY, read_tree

#: What texts say is the same in every warehouse of a process.
_FACTS = SqlFacts(VERSION)
T = TypeVar("T")

#: Rows that are sooner bound as they are than column by column.
_FEW_ROWS = 100
_ROWS_AT_ONCE = 100_000


@dataclass(frozen=True, slots=True)
class Begun:
    """How a new warehouse begins: with the blank of the built-in files, where there is one.

    `macros`: the script of the built-in macros; `files`: what becomes tables, in groups made one after the other.
    """

    macros: str
    files: Sequence[Sequence[SqlFile]]
    first: blank.Blank | None = None

    def statements(self) -> list[str] | None:
        """Return what makes the blank; None where not all is known that it takes."""
        facts = _FACTS.known(file.text for group in self.files for file in group)
        return None if facts is None else blank.statements(self.macros, self.files, facts, Shapes(VERSION))


def begin(macros: str, files: Sequence[Sequence[SqlFile]]) -> Begun | None:
    """Return how a warehouse of these files begins; None where a file is a project's own, or broken."""
    if any(file.origin == "project" or file.broken is not None for group in files for file in group):
        return None
    begun = Begun(macros, files)
    texts = begun.statements()
    return begun if texts is None else replace(begun, first=blank.read(texts, VERSION))


class Warehouse(Engine):
    """An open warehouse. Use as a context manager; every method raises SqlError or ReportgenError."""

    def __init__(
        self,
        path: Path | None = None,
        *,
        read_only: bool = False,
        limits: Limits | None = None,
        threads: int | None = None,
        again: bool = False,
        pair: bool = False,
        begun: Begun | None = None,
    ) -> None:
        """Open a warehouse as Engine says. `begun`: a new one that begins with the blank, where there is one."""
        data = None if begun is None or begun.first is None else begun.first.data
        super().__init__(path, read_only=read_only, limits=limits, threads=threads, again=again, pair=pair, data=data)
        self._begun = begun
        #: What was done in the file that it began as.
        self._done = frozenset[str]() if begun is None or begun.first is None else begun.first.statements
        #: What is still to be said of each table.
        self._comments: dict[str, list[str]] = {}
        self._shapes = Shapes(VERSION)
        #: Schemas that are there for sure.
        self._schemas: set[str] = set()
        #: Macros beside the built-in ones may give the built-in files other columns, and rows where they had none.
        self.own_macros = False

    def _before_keeping(self) -> None:
        self.write_comments()

    def keep(self) -> None:
        """Close the warehouse and put it in its place, whole; make the blank for the next one where there is none."""
        super().keep()
        if self._begun is not None and self._begun.first is None and blank.can_be_kept():
            texts = self._begun.statements()
            if texts is not None:
                blank.keep(texts, VERSION, file_of(texts))

    def run_script(self, text: str) -> None:
        """Run statements that make macros. Raises SqlError."""
        self._do(text)

    def _do(self, statement: str) -> None:
        if statement not in self._done:
            self._run("", statement)

    def keep_only(self, files: Sequence[SqlFile]) -> None:
        """Drop every table of the main schema but those that these files were made to, and all parameters."""
        kept = {file.id for file in files}
        rows = self._con.execute("select schema_name, table_name, estimated_size from duckdb_tables()").fetchall()
        gone = [f'drop table main."{name}"' for schema, name, _ in rows if schema == "main" and name not in kept]
        views = self._con.execute("select view_name from duckdb_views() where schema_name = 'main' and not internal")
        gone += [f'drop view main."{name}"' for (name,) in views.fetchall() if name not in kept]
        self._con.execute("; ".join([*gone, "drop schema if exists params cascade"]))
        self._schemas.clear()
        columns = {f"raw.{name}": text for name, text in (*RAW_TABLES.items(), ("events", _columns(EVENT_COLUMNS)))}
        # Rows that were never there are not counted; more than that is not asked of the estimate.
        counts = {name if schema == "main" else f"{schema}.{name}": int(size) for schema, name, size in rows}
        for name, text in columns.items():
            self._shapes.made(name, counts.get(name), text)
        for file in self._in_order(files):
            self._shapes.made(file.id, counts.get(file.id), self._known_shape(file)[0])

    def load_raw(self, tables: Mapping[str, Iterable[Sequence[Any]]], events: Path | None) -> None:
        """Create the schema `raw` and fill it: `tables` by the names of RAW_TABLES.

        Cost events are there already, or are copied from another warehouse file, `events`.
        """
        self._con.execute("create schema if not exists raw")
        for name, columns in RAW_TABLES.items():
            self._do(blank.create_raw(name))
            rows = list(tables.get(name, ()))
            self._insert(f"raw.{name}", rows)
            self._shapes.made(f"raw.{name}", len(rows), columns)
        columns = _columns(EVENT_COLUMNS)
        self._con.execute(f"create table if not exists raw.events ({columns})")
        if events is not None:
            self._con.execute(f"attach {quoted(str(events))} as given (read_only)")
            self._con.execute("insert into raw.events select * from given.raw.events")
            self._con.execute("detach given")
        some = self._con.execute("select 1 from raw.events limit 1").fetchall()
        self._shapes.made("raw.events", None if some else 0, columns)

    def fill_pairs(self, table: str, given: str, value: str, pairs: Sequence[tuple[str, Any]]) -> None:
        """Create a temporary table of texts (`given`) and what each stands for (`value`), of these types."""
        self._con.execute(f"create or replace temp table {table} (given {given}, value {value})")
        self._insert(table, pairs)

    def _insert(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        if not rows:
            return
        marks = ", ".join("?" for _ in rows[0])
        if len(rows) <= _FEW_ROWS:
            values = ", ".join(f"({marks})" for _ in rows)
            self._con.execute(f"insert into {table} values {values}", [cell for row in rows for cell in row])
            return
        # Column by column: binding cell by cell takes a minute for 100,000 rows.
        kinds = [str(row[1]) for row in self._con.execute(f"describe {table}").fetchall()]
        lists = ", ".join(f"unnest(cast(? as {kind}[]))" for kind in kinds)
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            part = rows[start : start + _ROWS_AT_ONCE]
            columns = [
                # A list of decimals of different widths could pass through a double.
                [None if cell is None else str(cell) for cell in column] if kind.startswith("DECIMAL") else list(column)
                for kind, column in zip(kinds, zip(*part, strict=True), strict=True)
            ]
            self._con.execute(f"insert into {table} select {lists}", columns)

    def create_tables(self, files: Sequence[SqlFile]) -> None:
        """Build each file as a table named for it, in the order of their references; a cycle is named.

        With `view = true` it becomes a view: what few others read is not stored a second time.
        """
        ordered = self._in_order(files)
        if self._second is None or len(ordered) < 2 or any(file.origin == "project" for file in ordered):
            for file in ordered:
                self._create_table(file, self._con)
            return
        by_id, facts, second = {file.id: file for file in ordered}, self.facts([f.text for f in ordered]), self._second
        needs = {file.id: (facts[file.text].named or frozenset()) & by_id.keys() - {file.id} for file in ordered}
        makers = [partial(self._create_named, by_id, con) for con in (self._con, second)]
        make_all(list(by_id), needs, makers)

    def _create_named(self, files: Mapping[str, SqlFile], con: Connection, name: str) -> None:
        self._create_table(files[name], con)

    def _create_table(self, file: SqlFile, con: Connection) -> None:
        # A project's own file is bounded as its detectors are; the built-in ones take what the inputs need.
        seconds = self.limits.seconds if file.origin == "project" else None
        source, shape = self._known_shape(file)
        kind = blank.kind_of(file)
        known = self._shapes.get(source)
        if known is not None and blank.create(file, known.as_columns()) in self._done:
            # It is there, comments and all.
            rows = None
            if shape is not None:
                rows = 0
            elif kind == "table":
                rows = int(self._fill_from(file, f"insert into {file.id} ", con, seconds).rows[0][0])
            self._shapes.made(file.id, rows, source)
            return
        if shape is not None:
            kind = "table"
            con.execute(f"create table {file.id} ({shape.as_columns()})")
            self._shapes.made(file.id, 0, source)
        else:
            made = self._fill_from(file, f"create {kind} {file.id} as ", con, seconds)
            self._shapes.made(file.id, int(made.rows[0][0]) if kind == "table" else None, source)
            if source is not None and known is None:
                found = self._run("", f'select * from main."{file.id}" limit 0', con=con)
                self._shapes.put(source, found.columns, found.types)
            self._refuse_less(file)
        self._comments[file.id] = self._comments_of(file, kind)

    def _fill_from(self, file: SqlFile, lead: str, con: Connection, seconds: int | None) -> Result:
        try:
            return self._run(lead, file.text.rstrip().rstrip(";"), seconds=seconds, con=con)
        except SqlError as wrong:
            where = f"{file.name}:{wrong.line}" if wrong.line else file.name
            raise ReportgenError(where, wrong.message, "Mend the SQL; nothing was written.") from wrong

    def _known_shape(self, file: SqlFile) -> tuple[str | None, Shape | None]:
        """Return what tells the columns of a built-in file, and where it is sure to have no rows, its columns."""
        if file.origin == "project" or self.own_macros:
            return None, None
        facts = self.facts([file.text])[file.text]
        source = self._shapes.source(file.text, facts)
        return source, self._shapes.get(source) if self._shapes.is_empty(facts) else None

    def answer(self, file: SqlFile, *, bounded: bool = False) -> Result:
        """Run the query of a file, as `query` does; not at all where it is sure to have no rows."""
        source, shape = self._known_shape(file)
        if shape is not None:
            return Result(shape.columns, shape.types, [])
        result = self.answer_ahead(file.text) or self.query(file.text, bounded=bounded)
        self._shapes.put(source, result.columns, result.types)
        return result

    def answers_ahead(self, files: Sequence[SqlFile]) -> None:
        """Begin with what `answer` is going to be asked for next."""
        self.ask_ahead([one.text for one in files if one.broken is None and self._known_shape(one)[1] is None])

    def _refuse_less(self, file: SqlFile) -> None:
        """Refuse a project's file that stands in for a built-in one without giving every column of it."""
        if file.replaces is None:
            return
        try:
            wanted = [name for name, _ in self.describe(file.replaces.text)]
        except SqlError:
            # It reads a table that this project's own files have made otherwise: what reads it will say so.
            return
        missing = [name for name in wanted if name not in self.columns(file.id)]
        if missing:
            raise ReportgenError(
                file.name,
                f"stands in for the built-in file, and gives no column {', '.join(repr(name) for name in missing)}",
                "Give every column of the built-in one: other files read them.",
            )

    def _in_order(self, files: Sequence[SqlFile]) -> list[SqlFile]:
        both = [one for file in files for one in (file, file.replaces) if one is not None]
        facts = self.facts([one.text for one in both if one.broken is None])
        for file in files:
            if file.broken is not None:
                raise file.broken
            self.check_one_select(file)
        return in_order(files, facts)

    def facts(self, texts: Sequence[str]) -> Mapping[str, Facts]:
        """Return what each text says."""
        return _FACTS.of(texts, self.all_serialized, self._scalars)

    def _scalars(self) -> frozenset[str]:
        """Return the names of the functions that give a value for each row, macros of such functions included."""
        rows = self._run(
            "",
            "select lower(function_name), list(distinct function_type), any_value(macro_definition)"
            " from duckdb_functions() group by all order by all",
        ).rows
        found = frozenset(name for name, kinds, _ in rows if kinds == ["scalar"])
        bodies = {name: str(body) for name, kinds, body in rows if kinds == ["macro"]}
        trees = self.all_serialized([f"select {body}" for body in bodies.values()])
        return found | scalar_macros(found, dict(zip(bodies, trees, strict=True)))

    def keep_facts(self, files: Iterable[SqlFile]) -> None:
        """Keep what the built-in ones among these files say for the next process."""
        if not self.own_macros:
            _FACTS.keep(file.text for file in files if file.origin == "built-in")
            self._shapes.save()

    def _comments_of(self, file: SqlFile, kind: str) -> list[str]:
        columns: Mapping[str, object] = file.front.get("columns", {})
        existing = set(self.columns(file.id)) if file.origin == "project" else columns.keys()
        for column in columns:
            if column not in existing:
                what = f"[columns] names '{column}', which the SELECT does not give"
                raise file.problem(what, key=("columns", column))
        return blank.comments_of(file, kind)

    def write_comments(self) -> None:
        """Write what the files say of their tables and columns into the warehouse, where that is still to be done.

        Not at once: hundreds of small statements take longer than making the tables of a small project.
        """
        said = [statement for table in self._comments.values() for statement in table]
        self._comments.clear()
        if said:
            self._con.execute("; ".join(["begin", *said, "commit"]))

    def create_view(self, schema: str, name: str, values: Mapping[str, Decimal | int | str | bool]) -> None:
        """Create a one-row view of constants: how parameters reach the SQL as data."""
        columns = ", ".join(f"{literal(value)} as {key}" for key, value in values.items()) or "true as none"
        if schema not in self._schemas:
            self._con.execute(f"create schema if not exists {schema}")
            self._schemas.add(schema)
        self._con.execute(f"create or replace view {schema}.{name} as select {columns}")
        self._shapes.made(f"{schema}.{name}", 1, columns)

    def fill(self, table: str, columns: str, rows: Sequence[Sequence[Any]]) -> None:
        """Create a table of our own results, and fill it."""
        self._con.execute(f"create or replace table {table} ({columns})")
        self._insert(table, rows)
        self._shapes.made(table, len(rows), columns)

    def create_empty(self, table: str, columns: str) -> None:
        """Create a table without rows. Raises SqlError where no table can have such columns."""
        self._run("", f"create or replace table {table} ({columns})")

    def check_one_select(self, file: SqlFile) -> None:
        """Raise ReportgenError where the file is not exactly one SELECT, or its answer would differ between builds."""
        if file.origin == "built-in" and _FACTS.is_single(file.text):
            return
        wrong = self.select_problem(file.text)
        if wrong is not None and wrong.message.startswith("must be exactly one SELECT"):
            raise ReportgenError(file.name, wrong.message, ONE_SELECT)
        if wrong is not None:
            raise ReportgenError(
                f"{file.name}:{wrong.line or 1}", wrong.message, wrong.hint or "Mend the SQL."
            ) from wrong
        if file.origin == "built-in":
            _FACTS.note_single(file.text)
        else:
            # What is built in was looked at when it was made, by a test.
            for found in read_tree(self.serialized(file.text)).unsteady:
                line = file.text.encode()[: found.at or 0].count(b"\n") + 1
                what = f"{found.what} gives another value in another build"
                raise ReportgenError(f"{file.name}:{line}", what, STEADY)

    def derived(self, result: Result, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` makes of a result; `key` names it. A warehouse that keeps results may keep that, too."""
        return make()


def _columns(kinds: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in kinds.items())
