"""An open DuckDB file, and one query at a time: the only room that knows DuckDB.

The file is written beside its place and moved there when it is whole, so that a build that is killed leaves the old
one. From `lock` on nothing in it can read or write a file, load an extension or change a setting.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb

from reportgen.errors import ReportgenError, is_interrupt
from reportgen.quickclass import dataclass
from reportgen.second import AskAhead
from reportgen.sqlerror import OutOfMemoryError, SqlError, failure, first_line

Row = tuple[Any, ...]
Connection = duckdb.DuckDBPyConnection
VERSION = duckdb.__version__


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


#: What a disk says that does not take what is written, and what to do about it.
_DISK = {
    "no space left on device": "Free some space there",
    "disk quota exceeded": "Free some space there",
    "file too large": "Raise the limit of the size of a file",
    "read-only file system": "Make it writable",
    "permission denied": "Make it writable",
    "input/output error": "See to the disk",
}
#: What DuckDB takes for something else in the path of a database: what follows is options, or the name is another one.
_NOT_IN_PATHS = ("?",) if os.sep == "\\" else ("?", "\\")
#: Rows that are fetched at a time of a result that is not fetched whole.
_FETCHED = 4096
#: DuckDB's errors in which a disk speaks; the others hold text of whoever wrote the SQL.
_SPEAKING = (duckdb.IOException, duckdb.FatalException, duckdb.TransactionException, duckdb.InternalException)


def disk_trouble(error: Exception, place: Path | None) -> ReportgenError | None:
    """Return what to tell of an error in which a disk did not take what was written to `place`; None for others."""
    words = error.strerror or "" if isinstance(error, OSError) else str(error) if isinstance(error, _SPEAKING) else ""
    for said, advice in _DISK.items():
        if said in words.lower():
            where = error.filename if isinstance(error, OSError) and error.filename else place
            return ReportgenError(str(where), f"can't be written: {said}", f"{advice}, then run it again.")
    return None


@contextlib.contextmanager
def on_disk(place: Path) -> Iterator[None]:
    """Raise ReportgenError for what DuckDB, or the system, raises where a disk does not take what is written."""
    try:
        yield
    except (duckdb.Error, OSError) as error:
        if told := disk_trouble(error, place):
            raise told from error
        raise


@contextlib.contextmanager
def in_memory() -> Iterator[None]:
    """Raise ReportgenError where what no file of SQL answers for needs more memory than the settings allow."""
    try:
        yield
    except OutOfMemoryError as error:
        what = f"{error.memory} is too little to read these inputs and sum them up"
        step = 'Allow more, for example memory = "4GB" under [limits] in reportgen.toml, or name fewer inputs.'
        raise ReportgenError("[limits] memory", what, step) from error


class Engine:
    """An open DuckDB file. Use as a context manager; every method raises SqlError or ReportgenError."""

    def __init__(
        self,
        path: Path | None = None,
        *,
        read_only: bool = False,
        limits: Limits | None = None,
        threads: int | None = None,
        again: bool = False,
        pair: bool = False,
        data: bytes | None = None,
    ) -> None:
        """Open the DuckDB file at `path`, or a new one that `keep` puts there (`again`: a copy); None: in memory.

        `data`: what the new one begins as.

        `threads`: how many cores a query may use (None: all). Where the inputs are small one is quicker. `pair`: a
        second connection shares the work, which is quicker, too: no query keeps all cores busy all the time.
        """
        self.limits = limits or Limits()
        if path is not None and (odd := next((sign for sign in _NOT_IN_PATHS if sign in str(path.absolute())), None)):
            what = f"can't be opened: DuckDB finds no file below a folder whose name holds {odd}"
            raise ReportgenError(str(path), what, "Rename that folder, or build from another one.")
        if path is not None and str(path.absolute()).encode("utf-8", "replace").decode() != str(path.absolute()):
            what = "can't be opened: DuckDB finds no file below a folder whose name is no UTF-8"
            raise ReportgenError(str(path), what, "Rename that folder, or build from another one.")
        self._target = path
        self._new = None if path is None or read_only else path.with_name(path.name + ".new")
        self._pair = pair
        self._second: Connection | None = None
        self._ahead: AskAhead[Result] | None = None
        if self._new is not None:
            self._discard()
            self._new.parent.mkdir(parents=True, exist_ok=True)
            if again and path is not None:
                # What is there stays as it is until the new one is whole.
                shutil.copyfile(path, self._new)
            elif data is not None:
                self._new.write_bytes(data)
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the warehouse; one that was not kept is gone."""
        self._close_second()
        self._con.close()
        self._discard()

    def _close_second(self) -> None:
        if self._ahead is not None:
            self._ahead.end()
        if self._second is not None:
            self._second.close()
        self._ahead = self._second = None

    def _discard(self) -> None:
        if self._new is not None:
            for leftover in (self._new, self._new.with_name(self._new.name + ".wal")):
                leftover.unlink(missing_ok=True)
            # What a build that was killed had put aside because it did not fit into memory.
            shutil.rmtree(self._new.with_name(self._new.name + ".tmp"), ignore_errors=True)

    def keep(self) -> None:
        """Close the warehouse and put it in its place, whole."""
        self._close_second()
        self._before_keeping()
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

    def _before_keeping(self) -> None:
        """What is still to be written into the file."""

    def lock(self) -> None:
        """Close the way to files, extensions and settings for everything that runs from here on."""
        if self._pair:
            self._second = self._con.cursor()
            with contextlib.suppress(duckdb.Error):
                # A new connection begins with the machine's own.
                self._second.execute("set timezone = 'UTC'")
        self._con.execute("set enable_external_access = false")
        self._con.execute("set lock_configuration = true")

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

    def serialized(self, text: str) -> str:
        """Return DuckDB's parse tree of the statements of a text as JSON, or what is wrong with them."""
        return self.all_serialized([text])[0]

    def all_serialized(self, texts: Sequence[str]) -> list[str]:
        """Return the parse tree of each text, as `serialized` does."""
        # All at once: for a hundred files that is half the time.
        found = self._run("", "select list_transform(?, lambda t: json_serialize_sql(t))", [list(texts)]).rows[0][0]
        return [str(tree) for tree in found or ()]

    def select_problem(self, text: str) -> SqlError | None:
        """Return why a text is not exactly one SELECT; None where it is one."""
        try:
            statements = self._con.extract_statements(text)
        except duckdb.Error as error:
            return failure(str(error), text)
        if len(statements) == 1 and _is_select(statements[0]):
            return None
        more = f", and holds {len(statements)} statements" if len(statements) != 1 else ""
        return SqlError(f"must be exactly one SELECT{more}", None)

    def columns(self, table: str) -> list[str]:
        """Return the column names of a table or view."""
        found = self._con.execute(f'select * from main."{table}" limit 0').description or ()
        return [str(column[0]) for column in found]

    def query(
        self, text: str, parameters: Sequence[Any] = (), *, bounded: bool = False, most: int | None = None
    ) -> Result:
        """Run one query and fetch it whole. Raises SqlError with the line that DuckDB points at.

        `bounded`: not longer than the limits allow (SQL that others write). `most`: with one row more than that it is
        an error.
        """
        return self._run("", text, parameters, seconds=self.limits.seconds if bounded else None, most=most)

    def ask_ahead(self, texts: Sequence[str]) -> None:
        """Begin to ask what `answer_ahead` is going to be asked for next, on the other connection, if there is one."""
        second = self._second
        if second is None or not texts:
            return
        if self._ahead is None:
            self._ahead = AskAhead(lambda text: self._run("", text, con=second), second.interrupt)
        self._ahead.add(texts)

    def answer_ahead(self, text: str) -> Result | None:
        """Return what was asked ahead, if it is there or comes in time."""
        return None if self._ahead is None else self._ahead.take(text, self.limits.seconds)

    def first_rows(self, text: str, rows: int, *, bounded: bool = False) -> Result:
        """Run one query and fetch no more than its first `rows` rows; `bounded` as in `query`. Raises SqlError."""
        return self._run("", text, first=rows, seconds=self.limits.seconds if bounded else None)

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
        con: Connection | None = None,
    ) -> Result:
        """Run `lead` and the text of a file as one statement; errors are placed in the text."""
        con = con or self._con
        late = threading.Event()

        def stop() -> None:
            late.set()
            con.interrupt()

        watch = threading.Timer(seconds, stop) if seconds is not None else None
        if watch is not None:
            watch.daemon = True
            watch.start()
        try:
            with self._failures(text, len(lead.encode())):
                cursor = con.execute(lead + text, list(parameters))
                described = cursor.description or []
                wanted = first if most is None else most + 1
                rows = cursor.fetchall() if wanted is None else cursor.fetchmany(wanted)
        except SqlError as error:
            if late.is_set():
                raise SqlError(f"stopped after {seconds} s ([limits] detector_seconds)", None) from error
            raise
        finally:
            if watch is not None:
                watch.cancel()
        if most is not None and len(rows) > most:
            raise SqlError(f"gives more than {most:,} rows ([limits] detector_findings)", None)
        return Result(tuple(str(d[0]) for d in described), tuple(str(d[1]) for d in described), rows)

    @contextlib.contextmanager
    def _failures(self, text: str, lead: int = 0) -> Iterator[None]:
        """Raise what DuckDB says of a statement, or of its rows, as SqlError, and trouble with the disk as it is."""
        try:
            yield
        except duckdb.Error as error:
            if told := disk_trouble(error, self._new or self._target):
                raise told from error
            raise failure(str(error), text, lead, self.limits.memory) from error
        except RuntimeError as error:
            if is_interrupt(error):
                raise KeyboardInterrupt from error
            raise
        except (ValueError, OverflowError) as error:
            raise SqlError(f"gives a value that can't be read: {first_line(str(error))}", None) from error

    @contextlib.contextmanager
    def stream(self, text: str) -> Iterator[tuple[list[str], Iterator[Row]]]:
        """Run one query and give its columns and its rows, a few thousand of them at a time. Raises SqlError.

        On a connection of its own, whose time zone is the machine's: no column may be a moment with one.
        """
        cursor = self._con.cursor()

        def fetched() -> Iterator[Row]:
            more = True
            while more:
                with self._failures(text):
                    rows = cursor.fetchmany(_FETCHED)
                yield from rows
                more = bool(rows)

        try:
            with self._failures(text):
                cursor.execute(text)
            yield [str(d[0]) for d in cursor.description or []], fetched()
        finally:
            cursor.close()


def file_of(statements: Iterable[str]) -> bytes:
    """Return a DuckDB file in which these statements were run, with blocks as small as small tables."""
    with tempfile.TemporaryDirectory(prefix="reportgen-") as folder:
        path = Path(folder) / "blank.duckdb"
        with duckdb.connect(str(path), config={"default_block_size": 16_384, "threads": 1}) as con:
            con.execute("; ".join(["begin", *statements, "commit", "checkpoint"]))
        return path.read_bytes()


def _is_select(statement: duckdb.Statement) -> bool:
    try:
        return statement.type == duckdb.StatementType.SELECT
    except ValueError:
        # A kind that DuckDB's Python has no name for, such as `update extensions`.
        return False


def _not_opened(path: Path | None, error: duckdb.Error) -> ReportgenError:
    if told := disk_trouble(error, path):
        return told
    text = first_line(str(error))
    if "lock" in text.lower():
        return ReportgenError(
            str(path), "is open for writing in another program", "Close it there, or wait until the build is done."
        )
    return ReportgenError(str(path), f"can't be opened as a DuckDB file ({text})", "")
