"""The only room that knows DuckDB: load rows, build tables from SQL files, lock, query.

The warehouse is one DuckDB file. It is written beside its place and moved there when it is whole, so that a build that
is killed leaves the old one. From `lock` on nothing in it can read or write a file, load an extension or change a
setting.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import duckdb

from reportgen.errors import ReportgenError
from reportgen.shapes import Shape, Shapes
from reportgen.sqlempty import scalar_macros
from reportgen.sqlerror import SqlError as SqlError
from reportgen.sqlerror import failure, first_line
from reportgen.sqlfacts import Facts, SqlFacts
from reportgen.sqlfile import SqlFile
from reportgen.sqlorder import in_order
from reportgen.sqltext import literal, quoted
from reportgen.sqltree import STEADY, read_tree

Row = tuple[Any, ...]
#: What texts say is the same in every warehouse of a process.
_FACTS = SqlFacts(duckdb.__version__)
T = TypeVar("T")

#: What the input rooms hand over; see the readers for what each column means. Money is DECIMAL, times are UTC.
RAW_TABLES: dict[str, str] = {
    "names": "spelling_no integer, key_no integer, kind varchar, spelling varchar, name_key varchar, key_hash varchar,"
    " code_point_rank integer",
    "feedback": "row_no integer, file_no integer, line_no bigint, feedback_date date, pipeline_no integer,"
    " agent_no integer, score decimal(18, 12), score_text varchar, issue varchar, resolution varchar, tags varchar[]",
    "healing": "row_no integer, line_no bigint, log_time timestamp, pipeline_no integer, agent_no integer,"
    " run_no integer, error_type varchar, attempt bigint, max_attempts bigint, action varchar, exit_code integer,"
    " delay_seconds decimal(18, 3), reason varchar, context varchar",
    "budget": "row_no integer, agent_no integer, window_name varchar, limit_usd decimal(38, 12),"
    " warn_percent decimal(9, 3), hard_stop boolean",
    "roster": "pipeline_no integer, agent_no integer",
    "settings": "since_time timestamp, until_time timestamp, as_of timestamp, window_seconds bigint,"
    " run_gap_seconds decimal(18, 6), score_flag decimal(18, 6)",
}

EVENT_COLUMNS: dict[str, str] = {
    "event_no": "bigint",
    "file_no": "integer",
    "line_no": "bigint",
    "event_time": "timestamp",
    "agent_no": "integer",
    "pipeline_no": "integer",
    "run_no": "integer",
    "tool_name": "varchar",
    "model": "varchar",
    "input_tokens": "bigint",
    "output_tokens": "bigint",
    "cache_read_tokens": "bigint",
    "cache_write_tokens": "bigint",
    "total_tokens": "bigint",
    "tokens_estimated": "boolean",
    "cost_usd": "decimal(38, 12)",
    "cost_basis": "varchar",
    "duration_ms": "decimal(18, 3)",
}


@dataclass(frozen=True, slots=True)
class Result:
    """Rows of a query, with the names and DuckDB types of its columns."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: list[Row]

    def dicts(self) -> list[dict[str, Any]]:
        """Return each row as a dict by column name."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how large one query of a SQL file may get; `memory` as DuckDB takes it (`2GB`)."""

    seconds: int = 30
    memory: str = "2GB"


class Warehouse:
    """An open warehouse. Use as a context manager; every method raises SqlError or ReportgenError."""

    def __init__(
        self,
        path: Path | None = None,
        *,
        read_only: bool = False,
        limits: Limits | None = None,
        threads: int | None = None,
        again: bool = False,
    ) -> None:
        """Open the DuckDB file at `path`, or a new one that `keep` puts there (`again`: a copy); None: in memory.

        `threads`: how many cores a query may use (None: all). Where the inputs are small one is quicker.
        """
        self.limits = limits or Limits()
        self._target = path
        self._new = None if path is None or read_only else path.with_name(path.name + ".new")
        #: What is still to be said of each table.
        self._comments: dict[str, list[str]] = {}
        self._shapes = Shapes(duckdb.__version__)
        #: Macros beside the built-in ones may give the built-in files other columns, and rows where they had none.
        self.own_macros = False
        if self._new is not None:
            self._discard()
            self._new.parent.mkdir(parents=True, exist_ok=True)
            if again and path is not None:
                # What is there stays as it is until the new one is whole.
                shutil.copyfile(path, self._new)
        database = ":memory:" if path is None else str(path if read_only else self._new)
        # Where in a statement an error is comes as a number, not as a drawing.
        config: dict[str, Any] = {"errors_as_json": True, "memory_limit": self.limits.memory}
        if self._new is not None:
            # Nobody knows of the file until it is whole: `keep` waits for the disk, once.
            config["fsync_mode"] = "NONE"
        if path is None:
            # A warehouse in memory must not spill into the directory one happens to stand in.
            config["temp_directory"] = ""
        if threads is not None:
            config["threads"] = threads
        try:
            self._con = duckdb.connect(database, read_only=read_only, config=config)
        except duckdb.Error as error:
            raise _not_opened(path, error) from error
        # Order of rows is always asked for in the SQL; keeping the insertion order would only cost memory.
        with contextlib.suppress(duckdb.Error):
            # A DuckDB without time zones has no such setting.
            self._con.execute("set timezone = 'UTC'")

    def __enter__(self) -> Warehouse:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the warehouse; one that was not kept is gone."""
        self._con.close()
        self._discard()

    def _discard(self) -> None:
        if self._new is not None:
            for leftover in (self._new, self._new.with_name(self._new.name + ".wal")):
                leftover.unlink(missing_ok=True)
            # What a build that was killed had put aside because it did not fit into memory.
            shutil.rmtree(self._new.with_name(self._new.name + ".tmp"), ignore_errors=True)

    def keep(self) -> None:
        """Close the warehouse and put it in its place, whole."""
        self.write_comments()
        self._con.execute("checkpoint")
        self._con.close()
        if self._new is not None and self._target is not None:
            try:
                with self._new.open("rb") as file:
                    os.fsync(file.fileno())
                self._new.replace(self._target)
            except OSError as error:
                raise ReportgenError(
                    str(self._target), f"can't be replaced ({error.strerror})", "Remove it; it is made anew."
                ) from error

    def keep_only(self, files: Sequence[SqlFile]) -> None:
        """Drop every table of the main schema but those that these files were made to, and all parameters."""
        kept = {file.id for file in files}
        rows = self._con.execute("select schema_name, table_name, estimated_size from duckdb_tables()").fetchall()
        gone = [f'drop table main."{name}"' for schema, name, _ in rows if schema == "main" and name not in kept]
        self._con.execute("; ".join([*gone, "drop schema if exists params cascade"]))
        columns = {f"raw.{name}": text for name, text in (*RAW_TABLES.items(), ("events", _columns(EVENT_COLUMNS)))}
        # Rows that were never there are not counted; more than that is not asked of the estimate.
        counts = {name if schema == "main" else f"{schema}.{name}": int(size) for schema, name, size in rows}
        for name, text in columns.items():
            self._shapes.made(name, counts.get(name), text)
        for file in self._in_order(files):
            self._shapes.made(file.id, counts.get(file.id), self._known_shape(file)[0])

    def load_raw(self, tables: Mapping[str, Iterable[Sequence[Any]]], events_csv: Path | None) -> None:
        """Create the schema `raw` and fill it: `tables` by the names of RAW_TABLES, events from the reader's CSV."""
        self._con.execute("create schema raw")
        for name, columns in RAW_TABLES.items():
            self._con.execute(f"create table raw.{name} ({columns})")
            rows = list(tables.get(name, ()))
            self._insert(f"raw.{name}", rows)
            self._shapes.made(f"raw.{name}", len(rows), columns)
        columns = _columns(EVENT_COLUMNS)
        self._con.execute(f"create table raw.events ({columns})")
        self._shapes.made("raw.events", None if events_csv is not None else 0, columns)
        if events_csv is not None:
            types = ", ".join(f"'{name}': '{kind}'" for name, kind in EVENT_COLUMNS.items())
            self._con.execute(
                f"insert into raw.events select * from read_csv(?, header = true, auto_detect = false, delim = ',',"
                f" quote = '\"', escape = '\"', nullstr = '', new_line = '\\n', max_line_size = 16777216,"
                f" columns = {{{types}}})",
                [str(events_csv)],
            )

    def _insert(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        if not rows:
            return
        marks = ", ".join("?" for _ in rows[0])
        # One statement for many rows: executemany binds row by row and takes minutes for 100,000 of them.
        for start in range(0, len(rows), 500):
            part = rows[start : start + 500]
            values = ", ".join(f"({marks})" for _ in part)
            self._con.execute(f"insert into {table} values {values}", [cell for row in part for cell in row])

    def run_script(self, text: str) -> None:
        """Run statements that make macros. Raises SqlError."""
        self._run("", text)

    def statements(self, text: str) -> list[tuple[int, str]]:
        """Return the statements of a text, each with the line it begins on. Raises SqlError where it can't be read."""
        try:
            found = [one.query for one in self._con.extract_statements(text)]
        except duckdb.Error as error:
            raise failure(str(error), text) from error
        places, at = [], 0
        for query in found:
            at = text.find(query, at)
            places.append((text.count("\n", 0, at + len(query) - len(query.lstrip())) + 1, query))
            at += len(query)
        return places

    def create_tables(self, files: Sequence[SqlFile]) -> None:
        """Build each file as a table named for it, in the order of their references; a cycle is named."""
        for file in self._in_order(files):
            # A project's own file is bounded as its detectors are; the built-in ones take what the inputs need.
            seconds = self.limits.seconds if file.origin == "project" else None
            try:
                self._create_table(file, seconds)
            except SqlError as wrong:
                where = f"{file.name}:{wrong.line}" if wrong.line else file.name
                raise ReportgenError(where, wrong.message, "Mend the SQL; nothing was written.") from wrong
            self._refuse_less(file)
            self._comments[file.id] = self._comments_of(file)

    def _create_table(self, file: SqlFile, seconds: int | None) -> None:
        source, shape = self._known_shape(file)
        if shape is not None:
            self._con.execute(f"create table {file.id} ({shape.as_columns()})")
            self._shapes.made(file.id, 0, source)
            return
        made = self._run(f"create table {file.id} as ", file.text.rstrip().rstrip(";"), seconds=seconds)
        self._shapes.made(file.id, int(made.rows[0][0]), source)
        if source is not None and self._shapes.get(source) is None:
            found = self._run("", f'select * from main."{file.id}" limit 0')
            self._shapes.put(source, found.columns, found.types)

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
        result = self.query(file.text, bounded=bounded)
        self._shapes.put(source, result.columns, result.types)
        return result

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

    def serialized(self, text: str) -> str:
        """Return DuckDB's parse tree of the statements of a text as JSON, or what is wrong with them."""
        return self.all_serialized([text])[0]

    def all_serialized(self, texts: Sequence[str]) -> list[str]:
        """Return the parse tree of each text, as `serialized` does."""
        # All at once: for a hundred files that is half the time.
        found = self._run("", "select list_transform(?, lambda t: json_serialize_sql(t))", [list(texts)]).rows[0][0]
        return [str(tree) for tree in found or ()]

    def _comments_of(self, file: SqlFile) -> list[str]:
        doc = str(file.front.get("doc") or file.front.get("title") or "").strip()
        said = [f"comment on table {file.id} is {quoted(doc)}"] if doc else []
        columns: Mapping[str, object] = file.front.get("columns", {})
        existing = set(self.columns(file.id)) if file.origin == "project" else columns.keys()
        for column, text in columns.items():
            if column not in existing:
                what = f"[columns] names '{column}', which the SELECT does not give"
                raise file.problem(what, key=("columns", column))
            name = column.replace('"', '""')
            said.append(f'comment on column {file.id}."{name}" is {quoted(str(text))}')
        return said

    def write_comments(self) -> None:
        """Write what the files say of their tables and columns into the warehouse, where that is still to be done.

        Not at once: hundreds of small statements take longer than making the tables of a small project.
        """
        said = [statement for table in self._comments.values() for statement in table]
        self._comments.clear()
        if said:
            self._con.execute("; ".join(["begin", *said, "commit"]))

    def columns(self, table: str) -> list[str]:
        """Return the column names of a table or view."""
        found = self._con.execute(f'select * from main."{table}" limit 0').description or ()
        return [str(column[0]) for column in found]

    def create_view(self, schema: str, name: str, values: Mapping[str, Decimal | int | str | bool]) -> None:
        """Create a one-row view of constants: how parameters reach the SQL as data."""
        columns = ", ".join(f"{literal(value)} as {key}" for key, value in values.items()) or "true as none"
        self._con.execute(
            f"create schema if not exists {schema}; create or replace view {schema}.{name} as select {columns}"
        )
        self._shapes.made(f"{schema}.{name}", 1, columns)

    def fill(self, table: str, columns: str, rows: Sequence[Sequence[Any]]) -> None:
        """Create a table of our own results, and fill it."""
        self._con.execute(f"create or replace table {table} ({columns})")
        self._insert(table, rows)
        self._shapes.made(table, len(rows), columns)

    def create_empty(self, table: str, columns: str) -> None:
        """Create a table without rows. Raises SqlError where no table can have such columns."""
        self._run("", f"create or replace table {table} ({columns})")

    def lock(self) -> None:
        """Close the way to files, extensions and settings for everything that runs from here on."""
        self._con.execute("set enable_external_access = false")
        self._con.execute("set lock_configuration = true")

    def check_one_select(self, file: SqlFile) -> None:
        """Raise ReportgenError where the file is not exactly one SELECT, or its answer would differ between builds."""
        if file.origin == "built-in" and _FACTS.is_single(file.text):
            return
        try:
            statements = self._con.extract_statements(file.text)
        except duckdb.Error as error:
            wrong = failure(str(error), file.text)
            raise ReportgenError(f"{file.name}:{wrong.line or 1}", wrong.message, "Mend the SQL.") from error
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise ReportgenError(
                file.name,
                "must be exactly one SELECT"
                + (f", and holds {len(statements)} statements" if len(statements) != 1 else ""),
                "Keep the SELECT only.",
            )
        if file.origin == "built-in":
            _FACTS.note_single(file.text)
        else:
            # What is built in was looked at when it was made, by a test.
            for found in read_tree(self.serialized(file.text)).unsteady:
                line = file.text.encode()[: found.at or 0].count(b"\n") + 1
                what = f"{found.what} gives another value in another build"
                raise ReportgenError(f"{file.name}:{line}", what, STEADY)

    def query(
        self, text: str, parameters: Sequence[Any] = (), *, bounded: bool = False, most: int | None = None
    ) -> Result:
        """Run one query and fetch it whole. Raises SqlError with the line that DuckDB points at.

        `bounded`: not longer than the limits allow (SQL that others write). `most`: with one row more than that it is
        an error.
        """
        return self._run("", text, parameters, seconds=self.limits.seconds if bounded else None, most=most)

    def derived(self, result: Result, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` makes of a result; `key` names it. A warehouse that keeps results may keep that, too."""
        return make()

    def first_rows(self, text: str, rows: int) -> Result:
        """Run one query and fetch no more than its first `rows` rows. Raises SqlError."""
        return self._run("", text, first=rows)

    def describe(self, text: str) -> list[tuple[str, str]]:
        """Return the columns that a SELECT gives with their DuckDB types, without running it. Raises SqlError."""
        return [(str(row[0]), str(row[1])) for row in self._run("describe ", text).rows]

    def _run(
        self,
        lead: str,
        text: str,
        parameters: Sequence[Any] = (),
        *,
        seconds: int | None = None,
        most: int | None = None,
        first: int | None = None,
    ) -> Result:
        """Run `lead` and the text of a file as one statement; errors are placed in the text."""
        late = threading.Event()

        def stop() -> None:
            late.set()
            self._con.interrupt()

        watch = threading.Timer(seconds, stop) if seconds is not None else None
        if watch is not None:
            watch.daemon = True
            watch.start()
        try:
            cursor = self._con.execute(lead + text, list(parameters))
            described = cursor.description or []
            wanted = first if most is None else most + 1
            rows = cursor.fetchall() if wanted is None else cursor.fetchmany(wanted)
        except duckdb.Error as error:
            if late.is_set():
                raise SqlError(f"stopped after {seconds} s ([limits] detector_seconds)", None) from error
            raise failure(str(error), text, len(lead.encode()), self.limits.memory) from error
        except (ValueError, OverflowError) as error:
            raise SqlError(f"gives a value that can't be read: {first_line(str(error))}", None) from error
        finally:
            if watch is not None:
                watch.cancel()
        if most is not None and len(rows) > most:
            raise SqlError(f"gives more than {most:,} rows ([limits] detector_findings)", None)
        return Result(tuple(str(d[0]) for d in described), tuple(str(d[1]) for d in described), rows)

    @contextlib.contextmanager
    def stream(self, text: str) -> Iterator[tuple[list[str], Iterator[Row]]]:
        """Run one query and give its columns and its rows one at a time."""
        cursor = self._con.cursor()
        try:
            cursor.execute(text)
            names = [str(d[0]) for d in cursor.description or []]
            yield names, iter(lambda: cursor.fetchone() or (), ())
        finally:
            cursor.close()


def _columns(kinds: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in kinds.items())


def _not_opened(path: Path | None, error: duckdb.Error) -> ReportgenError:
    text = first_line(str(error))
    if "lock" in text.lower():
        return ReportgenError(
            str(path), "is open for writing in another program", "Close it there, or wait until the build is done."
        )
    return ReportgenError(str(path), f"can't be opened as a DuckDB file ({text})", "")
