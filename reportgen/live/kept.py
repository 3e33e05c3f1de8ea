"""A warehouse that stays open from one build to the next, and does again only what reads something that changed.

Every table and view has a version that grows when it is made anew. What a SELECT reads comes from DuckDB's own parse
tree; while the versions of all of it are the same, so is the answer. A SELECT of which that is not known for sure (it
calls a clock, or a function that reads tables by name) is run each time.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import field
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any

from reportgen.quickclass import dataclass
from reportgen.rawtables import RAW_TABLES
from reportgen.sqlfile import SqlFile
from reportgen.sqltree import read_tree
from reportgen.warehouse import Limits, Result, T, Warehouse

#: Table functions that give the same rows each time, and read no table.
_STEADY = frozenset({"range", "generate_series", "unnest"})

Versions = dict[str, int]


class _Beside:
    """Asks queries on a connection of its own, in a thread of its own. What fails there is asked again elsewhere."""

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - the warehouse knows its kind
        self._con = connection
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="warehouse")
        self._asked: dict[tuple[Any, ...], tuple[Versions, Future[Result | None]]] = {}

    def ask(
        self, key: tuple[Any, ...], versions: Versions, text: str, parameters: Sequence[Any], most: int | None
    ) -> None:
        """Begin to ask; `versions` are those of what it reads."""
        self._asked[key] = (versions, self._pool.submit(self._ask, text, list(parameters), most))

    def _ask(self, text: str, parameters: list[Any], most: int | None) -> Result | None:
        try:
            cursor = self._con.execute(text, parameters)
            described = cursor.description or []
            rows = cursor.fetchall() if most is None else cursor.fetchmany(most + 1)
        except Exception:
            return None
        if most is not None and len(rows) > most:
            return None
        return Result(tuple(str(d[0]) for d in described), tuple(str(d[1]) for d in described), rows)

    def take(self, key: tuple[Any, ...], versions: Versions, seconds: float) -> Result | None:
        """Return the answer, if it was asked for at these versions and comes within so many seconds.

        What is still waiting its turn is not waited for: it can as well be asked elsewhere.
        """
        asked, future = self._asked.get(key, ({}, None))
        if future is None or asked != versions or future.cancel():
            return None
        try:
            return future.result(seconds)
        except (TimeoutError, CancelledError):
            self.interrupt()
            return None

    def interrupt(self) -> None:
        """Stop what runs."""
        self._con.interrupt()

    def clear(self) -> None:
        """Ask no more of what was begun; nothing runs afterwards."""
        waiting = [future for _, future in self._asked.values() if not future.cancel()]
        self._asked.clear()
        if not all(future.done() for future in waiting):
            self.interrupt()
        wait(waiting)

    def close(self) -> None:
        """End."""
        self.clear()
        self._pool.shutdown()
        self._con.close()


@dataclass(frozen=True, slots=True)
class _Reads:
    """The tables that a SELECT names, which of these names its own CTEs have (the table may be meant, too), and the
    functions that it calls.
    """

    tables: frozenset[str]
    own: frozenset[str]
    calls: frozenset[str]


@dataclass(slots=True)
class _Round:
    """What one build asked, so that what no build asks any more can be forgotten."""

    reads: dict[str, _Reads | None] = field(default_factory=dict)
    answers: dict[tuple[Any, ...], tuple[Versions, Result]] = field(default_factory=dict)
    derived: dict[tuple[int, Hashable], tuple[Result, Any]] = field(default_factory=dict)
    orders: dict[tuple[Any, ...], list[SqlFile]] = field(default_factory=dict)
    single: set[str] = field(default_factory=set)


class KeptWarehouse(Warehouse):
    """As Warehouse, for many builds in a row on inputs that are loaded once. Call `begin` before each build."""

    def __init__(self, path: Path, *, limits: Limits | None = None) -> None:
        super().__init__(path, limits=limits)
        # What is asked again after an edit is small: planning it in one thread takes less than sharing it out.
        self._con.execute("set threads = 1")
        beside = self._con.cursor()
        zone = self._con.execute("select value from duckdb_settings() where lower(name) = 'timezone'").fetchone()
        if zone is not None:
            # A second connection starts with the machine's own.
            beside.execute(f"set timezone = '{zone[0]}'")
        self._beside = _Beside(beside)
        self._file = path.with_name(path.name + ".new")
        self._versions: Versions = {}
        self._made: dict[str, tuple[str, Versions | None]] = {}
        self._filled: dict[str, tuple[Any, ...]] = {}
        self._scripts: list[str] = []
        self._opaque: frozenset[str] = frozenset()
        self._last, self._now = _Round(), _Round()

    def derived(self, result: Result, key: Hashable, make: Callable[[], T]) -> T:
        """Return what was made of the very same result before, where it was."""
        place = (id(result), key)
        # The result is kept with it: no other one can have its id.
        known = self._now.derived.get(place) or self._last.derived.get(place) or (result, make())
        self._now.derived[place] = known
        made: T = known[1]
        return made

    def answers_ahead(self, files: Sequence[SqlFile]) -> None:
        """Nothing: what the last build asked is asked ahead already."""

    def begin(self, tables: Iterable[str], detectors: Iterable[str]) -> None:
        """Begin a build in which files named `tables` become tables, and `detectors` have a view of their parameters.

        What other files once became is dropped.
        """
        self._beside.clear()
        self._last, self._now = self._now, _Round()
        wanted = {name.lower() for name in tables}
        for name in [name for name in self._made if name not in wanted]:
            self._drop(name)
        views = {f"params.{name}".lower() for name in (*detectors, "report")}
        for name in [name for name in self._filled if name.startswith("params.") and name not in views]:
            self._con.execute(f'drop view if exists params."{name.removeprefix("params.")}"')
            del self._filled[name]
            self._changed(name)

    def save(self, target: Path) -> None:
        """Put a copy of the warehouse at `target`, whole: what a build would have left there."""
        self._beside.clear()
        self.write_comments()
        self._con.execute("checkpoint")
        # No statement runs while we copy, and after a checkpoint the file is all there is.
        fresh = target.with_name(target.name + ".new")
        shutil.copyfile(self._file, fresh)
        fresh.replace(target)

    def is_there(self) -> bool:
        """Say whether the file is still in its place: the work folder may be deleted at any time."""
        return self._file.is_file()

    def interrupt(self) -> None:
        """Stop the statements that run, if any; may be called from any thread."""
        self._beside.interrupt()
        self._con.interrupt()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._beside.close()
        super().__exit__(kind, error, trace)

    # --- as in Warehouse, but only where something changed ------------------------------------------------------------

    def load_raw(self, tables: Mapping[str, Iterable[Sequence[Any]]], events: Path | None) -> None:
        """Fill the schema `raw`, once."""
        super().load_raw(tables, events)
        for name in (*RAW_TABLES, "events"):
            self._changed(f"raw.{name}")

    def run_script(self, text: str) -> None:
        """Run macros, once: with other macros, a new warehouse is needed."""
        if text in self._scripts:
            return
        super().run_script(text)
        self._scripts.append(text)
        found = super().query("select function_name, macro_definition from duckdb_functions() where not internal").rows
        # A macro with a subquery reads tables that the statement does not name; so may one that calls such a macro.
        if any("select" in str(definition).lower() for _, definition in found):
            self._opaque = frozenset(str(name).lower() for name, _ in found)

    def create_tables(self, files: Sequence[SqlFile]) -> None:
        """Make those tables anew whose text changed, or that read what changed."""
        for file in self._ordered(files):
            name = file.id.lower()
            reads = self._reads(file.text)
            seen = None if reads is None else self._versions_of(reads)
            if seen is not None and self._made.get(name) == (file.text, seen):
                continue
            self._drop(name)
            super().create_tables([file])
            self._made[name] = (file.text, seen)
            self._changed(name)

    def create_view(self, schema: str, name: str, values: Mapping[str, Decimal | int | str | bool]) -> None:
        """Create a view of constants where they are not those that it has."""
        full = f"{schema}.{name}".lower()
        # 1 and True are equal, and stand for different SQL.
        given = tuple((key, type(value), value) for key, value in values.items())
        if self._filled.get(full) != given:
            self._filled.pop(full, None)
            super().create_view(schema, name, values)
            self._filled[full] = given
            self._changed(full)

    def fill(self, table: str, columns: str, rows: Sequence[Sequence[Any]]) -> None:
        """Fill a table of our own results where they are not those that it holds."""
        name = table.lower()
        given = (columns, [tuple((type(cell), cell) for cell in row) for row in rows])
        if self._filled.get(name) != given:
            self._filled.pop(name, None)
            super().fill(table, columns, rows)
            self._filled[name] = given
            self._changed(name)
            self._ask_ahead()

    def _ask_ahead(self) -> None:
        """Ask on the other connection what the last build asked and this one will ask, too, with other answers.

        Scoring is made meanwhile: planning a small query takes longer than running it, and keeps one core busy.
        """
        stale = {name for name, (_, seen) in self._made.items() if seen is None or seen != self._versions_of(seen)}
        while more := {n for n, (_, seen) in self._made.items() if seen and n not in stale and stale & seen.keys()}:
            stale |= more
        # From the last to the first: whoever asks from the first on meets it half-way.
        for (text, *parameters, most), (seen, _) in reversed(self._last.answers.items()):
            now = self._versions_of(seen)
            if now != seen and stale.isdisjoint(seen):
                self._beside.ask((text, *parameters, most), now, text, parameters, most)

    def _in_order(self, files: Sequence[SqlFile]) -> list[SqlFile]:
        # One file alone comes from `create_tables`, which has put it in its place.
        return super()._in_order(files) if len(files) != 1 or files[0].broken is not None else list(files)

    def check_one_select(self, file: SqlFile) -> None:
        """As before, for each text once."""
        if file.text not in self._last.single:
            super().check_one_select(file)
        self._now.single.add(file.text)

    def query(
        self, text: str, parameters: Sequence[Any] = (), *, bounded: bool = False, most: int | None = None
    ) -> Result:
        """Answer from memory where nothing that the query reads has changed. Results are shared: don't change them."""
        reads = self._reads(text)
        if reads is None:
            return super().query(text, parameters, bounded=bounded, most=most)
        key = (text, *parameters, most)
        seen = self._versions_of(reads)
        known = self._now.answers.get(key) or self._last.answers.get(key)
        if known is None or known[0] != seen:
            ahead = self._beside.take(key, seen, self.limits.seconds)
            known = (seen, ahead or super().query(text, parameters, bounded=bounded, most=most))
        self._now.answers[key] = known
        return known[1]

    # --- who reads what -----------------------------------------------------------------------------------------------

    def _changed(self, name: str) -> None:
        self._versions[name] = self._versions.get(name, 0) + 1

    def _versions_of(self, names: Iterable[str]) -> Versions:
        return {name: self._versions.get(name, 0) for name in names}

    def _drop(self, name: str) -> None:
        """Drop a table, so that nothing that is made anew in its place can be mixed up with it."""
        is_view = self._con.execute(
            "select 1 from duckdb_views() where schema_name = 'main' and lower(view_name) = lower(?)", [name]
        ).fetchall()
        self._con.execute(f'drop {"view" if is_view else "table"} if exists "{name}"')
        self._comments.pop(name, None)
        self._shapes.gone(name)
        if self._made.pop(name, None) is not None:
            self._changed(name)

    def _ordered(self, files: Sequence[SqlFile]) -> list[SqlFile]:
        key = tuple((file.name, file.text, file.origin, str(file.broken)) for file in files)
        found = self._last.orders.get(key) or self._in_order(files)
        self._now.orders[key] = found
        return found

    def _reads(self, text: str) -> frozenset[str] | None:
        """Return what a SELECT reads, `runs` or `raw.events`; None where that is not all that its answer depends on."""
        if text not in self._now.reads:
            known = text in self._last.reads
            self._now.reads[text] = self._last.reads[text] if known else _find_reads(self.serialized(_bare(text)))
        found = self._now.reads[text]
        # A name that is neither ours nor the statement's own is a catalogue of DuckDB's, or a mistake.
        if found is None or not all(name in self._versions for name in found.tables - found.own):
            return None
        if not found.calls.isdisjoint(self._opaque):
            return None
        return found.tables


def _bare(text: str) -> str:
    return text.rstrip().rstrip(";")


def _find_reads(told: str) -> _Reads | None:
    """Read DuckDB's parse tree; None where the answer may be another one the next time."""
    tree = read_tree(told)
    if tree.wrong is not None or tree.unsteady:
        return None
    nodes: list[dict[str, Any]] = []

    def see(node: dict[str, Any]) -> dict[str, Any]:
        nodes.append(node)
        return node

    json.loads(told, object_hook=see)
    tables, own, calls = set(), set(), set()
    for node in nodes:
        kind = node.get("type")
        if kind == "SHOW_REF" or node.get("catalog_name"):
            return None
        if kind == "TABLE_FUNCTION" and str(node["function"]["function_name"]).lower() not in _STEADY:
            return None
        if "function_name" in node:
            calls.add(str(node["function_name"]).lower())
        if kind == "BASE_TABLE":
            schema, name = str(node.get("schema_name") or "main").lower(), str(node["table_name"]).lower()
            tables.add(name if schema == "main" else f"{schema}.{name}")
        elif "key" in node and "value" in node:
            own.add(str(node["key"]).lower())
    return _Reads(frozenset(tables), frozenset(own), frozenset(calls))
