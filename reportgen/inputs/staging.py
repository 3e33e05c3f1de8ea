"""The quick way for a file of cost events: DuckDB reads all lines of known shapes, at once, into a table of its own.

What it can't take for sure it names: those lines go to the exact reader. Both ways give every line the same fate; a
file that is mostly of no known shape goes to the exact reader as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any

from reportgen.inputs.fields import Planner
from reportgen.inputs.lines import LineFile
from reportgen.inputs.plainfile import LONGEST_LINE, PlainFile, plain_file
from reportgen.inputs.shapes import Path as KeyPath
from reportgen.inputs.shapes import Taken, common_shapes, few_texts
from reportgen.inputs.shapesql import NO_ID, Reading, make_reading
from reportgen.quickclass import dataclass
from reportgen.sqlerror import SqlError
from reportgen.sqltext import quoted
from reportgen.warehouse import Warehouse

#: A smaller file is read sooner line by line.
SMALLEST = 1_000_000
_SAMPLED_PLACES = 5
_SAMPLE_BYTES = 48 * 1024
_SAMPLE_LINES = 150
#: One line in so many may need a closer look.
_MOST_SUSPECTS = 8
#: So many are soon looked at, whatever the size of the file.
_FEW_SUSPECTS = 1000
#: Names and labels of which there are no more in a file are held as small numbers.
_FEW_TEXTS = 100


@dataclass(frozen=True, slots=True)
class Staged:
    """The table of a file's lines: rowid + 1 is a line's number. Rows with `sure = false` are for the exact reader."""

    file_no: int
    table: str
    lines: int
    unterminated: bool
    reading: Reading
    #: Number (from 1) and content of the lines that need a closer look, in order.
    suspects: tuple[tuple[int, bytes], ...]


@dataclass(frozen=True, slots=True)
class Counts:
    """What the sure rows of a file are: `used` lines, of which `later` than as_of, and those that are no cost event."""

    used: int
    later: int
    not_cost: int
    undated: int
    first_undated: int | None
    rounded: int
    first_rounded: int | None
    costs: int
    costs_above_zero: int


class Stage:
    """Stages files in a warehouse. `folder` is for copies; `smallest`: a file of fewer bytes is not staged."""

    def __init__(
        self, store: Warehouse, folder: Path, planner: Planner, *, as_of: datetime | None, smallest: int = SMALLEST
    ) -> None:
        self.store = store
        self._folder = folder
        self._planner = planner
        self._as_of = as_of
        self._smallest = smallest

    def stage(self, file_no: int, path: Path, on_bytes: Callable[[int], None]) -> Staged | None:
        """Return the staged file, or None where it is for the exact reader. Raises OSError."""
        if path.stat().st_size < self._smallest:
            return None
        sample = _sample(path)
        taken = common_shapes(chain.from_iterable(sample), self._planner)
        if not taken:
            return None
        self.store.query(f"drop table if exists staged_{file_no}")
        clean = self._clean(file_no, path, taken, sample)
        if clean is not None:
            on_bytes(path.stat().st_size)
            return clean
        copy = self._folder / f"lines-{file_no}"
        try:
            # How many lines there are is not known yet, so this limit is by size.
            most = max(1000, path.stat().st_size // 50 // _MOST_SUSPECTS)
            plain = plain_file(path, copy, most_aside=most, on_bytes=on_bytes)
            return None if plain is None or not plain.lines else self._by_line(file_no, plain, taken, sample)
        finally:
            copy.unlink(missing_ok=True)

    def _clean(
        self, file_no: int, path: Path, taken: Sequence[Taken], sample: Sequence[Sequence[bytes]]
    ) -> Staged | None:
        """Read a file in which every line is of a known shape; None where that is not so.

        The typed reader gives the values alone. That there is nothing else is proven by checksums: over all lines as
        they are, and over the lines that the values make. The lengths tell that no blank line was skipped.
        """
        if not LineFile(path).is_plain:
            return None
        table = f"staged_{file_no}"
        reading = make_reading(taken, typed=True, few=few_texts(sample, taken, _FEW_TEXTS))
        kinds = [("bigint" if n in reading.whole else "varchar", path) for n, path in enumerate(reading.paths)]
        if not kinds or (columns := _columns(kinds)) is None:
            return None
        split = ", ".join(f"{_member(path)} as x{place}" for place, path in enumerate(reading.paths))
        shape = " ".join(f"when {there} then {number}" for number, there in enumerate(reading.there, 1))
        proof = " ".join(f"when {number} then hash({text})" for number, text in enumerate(reading.rebuilt, 1))
        if len(taken) == 1:
            shape, proof = "1", f"hash({reading.rebuilt[0]})"
        else:
            shape, proof = f"case {shape} else 0 end", f"case shape {proof} end"
        source = (
            f"select {split} from read_ndjson({quoted(str(path))}, columns = {columns}, records = true,"
            f" maximum_object_size = {2 * LONGEST_LINE})"
        )
        try:
            self._make(
                table, reading, f"select *, {proof} as proof from (select *, {shape} as shape from ({source}))", "proof"
            )
            seen = self.store.query(f"select count(*), sum(proof), bit_xor(proof) from {table}").rows[0]
            found = self.store.query(
                f"""
                select count(*), sum(hash(text)), bit_xor(hash(text)), sum(strlen(text)) + count(*)
                from (
                    select cast(json as varchar) as text
                    from read_ndjson_objects({quoted(str(path))}, maximum_object_size = {2 * LONGEST_LINE})
                )
                """
            ).rows[0]
        except SqlError:
            # A line that DuckDB refuses.
            found, seen = (None,), ()
        missing = 0 if found[0] is None else int(found[3]) - path.stat().st_size
        if found[:3] != seen or missing not in (0, 1):
            self.store.query(f"drop table if exists {table}")
            return None
        numbers = [
            int(row) + 1 for (row,) in self.store.query(f"select rowid from {table} where not sure order by rowid").rows
        ]
        if self._too_many(len(numbers), int(found[0])):
            self.store.query(f"drop table {table}")
            return None
        suspects = tuple(lines_at(path, numbers))
        return Staged(file_no, table, int(found[0]), missing == 1, reading, suspects)

    def _by_line(
        self, file_no: int, plain: PlainFile, taken: Sequence[Taken], sample: Sequence[Sequence[bytes]]
    ) -> Staged | None:
        """Read every line of a known shape, and name the others."""
        table = f"staged_{file_no}"
        reading = make_reading(taken, typed=False, few=few_texts(sample, taken, _FEW_TEXTS))
        pointers = ", ".join(quoted("".join(f"/{key}" for key in path)) for path in reading.paths)
        values = (
            f"case when json_valid(line) then json_extract_string(line, [{pointers}]) end"
            if pointers
            else "cast([] as varchar[])"
        )
        split = ", ".join(f"v[{place + 1}] as x{place}" for place in range(len(reading.paths)))
        shape = " ".join(f"when line = {text} then {number}" for number, text in enumerate(reading.rebuilt, 1))
        source = (
            f"select *, case {shape} else 0 end as shape"
            f" from (select line{', ' if split else ''}{split} from (select line, {values} as v"
            f" from {_lines_of(plain.path)}))"
        )
        try:
            self._make(table, reading, source, "case when shape > 0 and fine then null else line end as suspect")
        except SqlError:
            self.store.query(f"drop table if exists {table}")
            return None
        lines, unsure = self.store.query(f"select count(*), count(*) filter (where not sure) from {table}").rows[0]
        if lines != plain.lines or self._too_many(unsure, lines):
            self.store.query(f"drop table {table}")
            return None
        aside = dict(plain.aside)
        suspects = tuple(
            (int(row) + 1, aside.get(int(row) + 1, (text or "").encode()))
            for row, text in self.store.query(f"select rowid, suspect from {table} where not sure order by rowid").rows
        )
        return Staged(file_no, table, lines, plain.unterminated, reading, suspects)

    def _make(self, table: str, reading: Reading, source: str, more: str) -> None:
        first, second = ("".join(f", {sql} as {name}" for name, sql in layer) for layer in reading.cells)
        columns = ", ".join(f"{sql} as {name}" for name, sql in reading.columns)
        names = ", ".join(name for name, _ in reading.columns if name != "fine")
        kept = ", line" if "line" in more else f", {more}"
        self.store.query(
            f"""
            create temp table {table} as
            with rows as ({source}),
            begun as (select *{first} from rows),
            worked as (select *{second} from begun),
            valued as (select shape{kept}, {columns} from worked)
            select cast(shape as utinyint) as shape, shape > 0 and fine as sure, {names}, {more} from valued
            """
        )

    @staticmethod
    def _too_many(suspects: int, lines: int) -> bool:
        return suspects > _FEW_SUSPECTS and suspects * _MOST_SUSPECTS > lines

    def event_filter(self) -> str:
        """Return the condition on a staged row that makes it an event that is seen."""
        return f"sure and counts{self._in_time()}"

    def _in_time(self) -> str:
        # An event without a time is never later.
        return "" if self._as_of is None else f" and (event_time is null or event_time <= {self._as_of_text()})"

    def _as_of_text(self) -> str:
        return f"cast('{self._as_of:%Y-%m-%d %H:%M:%S.%f}' as timestamp)"

    def counts(self, staged: Staged) -> Counts:
        """Count what the sure rows of a file are."""
        seen = self.event_filter()
        row = self.store.query(
            f"""
            select
                count(*) filter (where sure and counts),
                count(*) filter (where sure and counts and not ({seen})),
                count(*) filter (where sure and not counts),
                count(*) filter (where {seen} and undated),
                min(rowid) filter (where {seen} and undated),
                count(*) filter (where {seen} and rounded),
                min(rowid) filter (where {seen} and rounded),
                count(cost_usd) filter (where {seen}),
                count(*) filter (where {seen} and cost_usd > 0)
            from {staged.table}
            """
        ).rows[0]
        return Counts(*row)

    # --- ids ----------------------------------------------------------------------------------------------------------

    def repeated(self, all_staged: Sequence[Staged], ids: Iterable[str]) -> dict[int, list[int]]:
        """Return, by file, the line numbers of sure rows whose id another row has too, or one of `ids`.

        Those rows are sure no longer.
        """
        seen = self.event_filter()
        with_ids = [one for one in all_staged if _has_ids(one)]
        if not with_ids:
            return {}
        self.store.query("create or replace temp table other_ids (id ubigint)")
        texts = iter(ids)
        while part := list(islice(texts, 100_000)):
            self.store.query("insert into other_ids select distinct hash(id) from (select unnest(?) as id)", [part])
        every = " union all ".join(
            [f"select id from {one.table} where id is not null and {seen}" for one in with_ids]
            + ["select id from other_ids"]
        )
        self.store.query(
            f"create or replace temp table repeated_ids as select id from ({every}) group by id having count(*) > 1"
        )
        found: dict[int, list[int]] = {}
        if self.store.query("select count(*) from repeated_ids").rows[0][0]:
            for one in with_ids:
                rows = self.store.query(
                    f"select rowid from {one.table} where {seen} and id in (select id from repeated_ids) order by rowid"
                ).rows
                found[one.file_no] = [int(row) + 1 for (row,) in rows]
                self.store.query(
                    f"update {one.table} set sure = false where {seen} and id in (select id from repeated_ids)"
                )
        return {file_no: lines for file_no, lines in found.items() if lines}


def _has_ids(staged: Staged) -> bool:
    return dict(staged.reading.columns)["id"] != NO_ID


def lines_at(path: Path, numbers: Sequence[int]) -> Iterator[tuple[int, bytes]]:
    """Read these lines (numbers from 1, ascending) and yield them with their numbers. Raises OSError."""
    wanted = iter(numbers)
    next_one = next(wanted, 0)
    if not next_one:
        return
    for number, line in enumerate(LineFile(path), 1):
        if number == next_one:
            yield number, line
            if not (next_one := next(wanted, 0)):
                return


def _columns(kinds: Sequence[tuple[str, KeyPath]]) -> str | None:
    """Return the columns of a typed read, nested ones as structs; None where two names differ only by case."""
    tree: dict[str, Any] = {}
    for kind, path in kinds:
        inner = tree
        for key in path[:-1]:
            inner = inner.setdefault(key, {})
        inner[path[-1]] = kind

    def written(branch: dict[str, Any]) -> str | None:
        if len({key.lower() for key in branch}) < len(branch):
            return None
        parts = []
        for key, below in branch.items():
            kind = written(below) if isinstance(below, dict) else below
            if kind is None:
                return None
            parts.append(f'"{key}" {kind}')
        return f"struct({', '.join(parts)})"

    if len({key.lower() for key in tree}) < len(tree):
        return None
    outer = {key: written(below) if isinstance(below, dict) else below for key, below in tree.items()}
    if None in outer.values():
        return None
    return "{" + ", ".join(f"{quoted(key)}: {quoted(str(kind))}" for key, kind in outer.items()) + "}"


def _member(path: KeyPath) -> str:
    return ".".join(f'"{key}"' for key in path)


def _lines_of(path: Path) -> str:
    """A table function that gives every line as it is. An empty line comes as null."""
    return (
        f"read_csv({quoted(str(path))}, columns = {{'line': 'varchar'}}, auto_detect = false, header = false,"
        f" delim = '\\x01', quote = '', escape = '', comment = '', new_line = '\\n',"
        f" max_line_size = {2 * LONGEST_LINE})"
    )


def _sample(path: Path) -> list[list[bytes]]:
    """Return whole lines from several places of a plain file, from the beginning of any other."""
    file = LineFile(path)
    if not file.is_plain:
        return [list(islice(file, _SAMPLED_PLACES * _SAMPLE_LINES))]
    size = path.stat().st_size
    places: list[list[bytes]] = []
    with path.open("rb") as reader:
        for place in range(_SAMPLED_PLACES):
            start = place * max(0, size - _SAMPLE_BYTES) // (_SAMPLED_PLACES - 1)
            reader.seek(start)
            lines = reader.read(_SAMPLE_BYTES).split(b"\n")
            # The first piece may begin, and the last one end, in the middle of a line.
            whole = lines[start > 0 : -1][:_SAMPLE_LINES]
            places.append([line.removesuffix(b"\r") for line in whole])
            if size <= _SAMPLE_BYTES:
                break
    return places
