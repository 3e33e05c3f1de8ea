"""The quick way for a file of cost events: DuckDB reads all lines of known shapes, at once, into a table of its own.

What it can't take for sure it names: those lines go to the exact reader. Both ways give every line the same fate; a
file that is mostly of no known shape goes to the exact reader as a whole.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice
from pathlib import Path

from reportgen.engine import on_disk
from reportgen.inputs.fields import Planner
from reportgen.inputs.keeping import Keeper
from reportgen.inputs.lines import LineFile
from reportgen.inputs.parts import Parts, Stamp, lines_in, places_of, stamp_of
from reportgen.inputs.plainfile import LONGEST_LINE, PlainFile, plain_file
from reportgen.inputs.shapes import Path as KeyPath
from reportgen.inputs.shapes import Taken, common_shapes, few_texts
from reportgen.inputs.shapesql import NO_ID, Reading, make_reading
from reportgen.inputs.staged import (
    SHAPES,
    TEXTS,
    Counts,
    Staged,
    StagedFile,
    columns_of,
    lines_of,
    member,
    sample_of,
    table_of,
)
from reportgen.quickclass import dataclass
from reportgen.sqlerror import SqlError
from reportgen.sqltext import NO_HIVE, quoted
from reportgen.warehouse import Warehouse

#: A smaller file is read sooner line by line.
SMALLEST = 1_000_000
#: One line in so many may need a closer look.
_MOST_SUSPECTS = 8
#: So many are soon looked at, whatever the size of the file.
_FEW_SUSPECTS = 1000
#: Names and labels of which there are no more in a file are held as small numbers.
_FEW_TEXTS = 100


@dataclass(frozen=True, slots=True)
class _Found:
    """What became a table. `suspects`: the numbers of the lines, from 1, that need a closer look, in order."""

    lines: int
    unterminated: bool
    reading: Reading
    suspects: list[int]


class Stage:
    """Stages files in a warehouse. `folder` is for copies; `smallest`: a file of fewer bytes is not staged."""

    def __init__(
        self,
        store: Warehouse,
        folder: Path,
        planner: Planner,
        *,
        as_of: datetime | None,
        smallest: int = SMALLEST,
        parts: Parts | None = None,
    ) -> None:
        self.store = store
        self._folder = folder
        self._planner = planner
        self._as_of = as_of
        self._smallest = smallest
        self._keeper = Keeper(store, folder, parts)
        self._has_repeated = False

    def stage(self, file_no: int, path: Path, on_bytes: Callable[[int], None]) -> StagedFile | None:
        """Return the staged file, or None where it is for the exact reader. Raises OSError."""
        was = stamp_of(path)
        size = was[2]
        if size < self._smallest:
            return None
        known = self._keeper.known(file_no, path, self._smallest)
        if not known:
            one = self._fresh(file_no, path, was, on_bytes=on_bytes)
            return None if one is None else StagedFile((one,), None)
        end, lines = known[-1][0].end, sum(one.lines for _, one in known)
        on_bytes(end)
        parts = tuple(one for _, one in known)
        if end == size:
            return StagedFile(parts, None)
        if size - end >= self._smallest and (one := self._tail(file_no, path, was, end, lines, on_bytes)):
            return StagedFile((*parts, one), None)
        return StagedFile(parts, end)

    def _tail(
        self, file_no: int, path: Path, was: Stamp, start: int, first: int, on_bytes: Callable[[int], None]
    ) -> Staged | None:
        """Stage what has been added to a file. What is added from now on makes its stamp another: it is not kept."""
        copy = self._folder / f"tail-{file_no}"
        try:
            with on_disk(copy), path.open("rb") as reader, copy.open("wb") as writer:
                reader.seek(start)
                head = reader.read(4)
                # Whatever looks like the beginning of a packed file or of UTF-16 is none here.
                if not head.startswith(b"{") or b"\x00" in head:
                    return None
                writer.write(head)
                shutil.copyfileobj(reader, writer, 1 << 20)
            return self._fresh(file_no, path, was, copy=copy, start=start, first=first, on_bytes=on_bytes)
        finally:
            copy.unlink(missing_ok=True)

    def _fresh(
        self,
        file_no: int,
        path: Path,
        was: Stamp,
        *,
        on_bytes: Callable[[int], None],
        copy: Path | None = None,
        start: int = 0,
        first: int = 0,
    ) -> Staged | None:
        """Stage a file, or its end, of which there is a copy; `was`: its stamp before anything was read."""
        source = copy or path
        taken = common_shapes(chain.from_iterable(sample_of(source, SHAPES)), self._planner)
        if not taken:
            return None
        few = few_texts(sample_of(source, TEXTS), taken, _FEW_TEXTS)
        name = self._keeper.next_name()
        made = self._keeper.new_file(name)
        found = self._clean(source, taken, few, made)
        if found is not None:
            on_bytes(source.stat().st_size)
        else:
            lines = self._folder / f"lines-{file_no}"
            try:
                # How many lines there are is not known yet, so this limit is by size.
                most = max(1000, source.stat().st_size // 50 // _MOST_SUSPECTS)
                with on_disk(lines):
                    plain = plain_file(source, lines, most_aside=most, on_bytes=on_bytes)
                found = None if plain is None or not plain.lines else self._by_line(plain, taken, few, made)
            finally:
                lines.unlink(missing_ok=True)
        if found is None:
            return None
        numbers = found.suspects
        places = list(places_of(path, start, numbers)) if copy or LineFile(path).is_plain else []
        if len(places) == len(numbers):
            suspects = lines_in(path, {number: (place, length) for number, place, length in places})
        else:
            # Packed, or not to its end a file of lines.
            suspects = LineFile(source).at(numbers)
            places = [(number, 0, 0) for number in numbers]
        staged = Staged(
            file_no=file_no, table=table_of(made), name=name, first=first, lines=found.lines,
            unterminated=found.unterminated, texts=found.reading.texts,
            has_ids=dict(found.reading.columns)["id"] != NO_ID,
            suspects=tuple((first + number, line) for number, line in suspects),
        )  # fmt: skip
        self._keeper.note(path, start, staged, made, places, was)
        return staged

    def finish(self, paths: Sequence[Path]) -> None:
        """Keep what was staged for later builds; `paths`: all files that there are. No table is read afterwards."""
        self._keeper.finish(paths)

    def _clean(
        self, path: Path, taken: Sequence[Taken], few: Mapping[KeyPath, Sequence[str]], made: Path
    ) -> _Found | None:
        """Read a file in which every line is of a known shape; None where that is not so.

        The typed reader gives the values alone. That there is nothing else is proven by checksums: over all lines as
        they are, and over the lines that the values make. The lengths tell that no blank line was skipped.
        """
        if not LineFile(path).is_plain:
            return None
        reading = make_reading(taken, typed=True, few=few)
        kinds = [("bigint" if n in reading.whole else "varchar", path) for n, path in enumerate(reading.paths)]
        if not kinds or (columns := columns_of(kinds)) is None:
            return None
        split = ", ".join(f"{member(path)} as x{place}" for place, path in enumerate(reading.paths))
        shape = " ".join(f"when {there} then {number}" for number, there in enumerate(reading.there, 1))
        proof = " ".join(f"when {number} then hash({text})" for number, text in enumerate(reading.rebuilt, 1))
        if len(taken) == 1:
            shape, proof = "1", f"hash({reading.rebuilt[0]})"
        else:
            shape, proof = f"case {shape} else 0 end", f"case shape {proof} end"
        source = (
            f"select {split} from read_ndjson({quoted(str(path))}, columns = {columns}, records = true, {NO_HIVE},"
            f" maximum_object_size = {2 * LONGEST_LINE})"
        )
        try:
            rows = f"select *, {proof} as proof from (select *, {shape} as shape from ({source}))"
            self._make(made, reading, rows, "proof")
            seen = self.store.query(f"select count(*), sum(proof), bit_xor(proof) from {table_of(made)}").rows[0]
            found = self.store.query(
                f"""
                select count(*), sum(hash(text)), bit_xor(hash(text)), sum(strlen(text)) + count(*)
                from (
                    select cast(json as varchar) as text
                    from read_ndjson_objects(
                        {quoted(str(path))}, {NO_HIVE}, maximum_object_size = {2 * LONGEST_LINE}
                    )
                )
                """
            ).rows[0]
        except SqlError:
            # A line that DuckDB refuses.
            found, seen = (None,), ()
        # What the reader leaves out, blank lines and blanks around a record, makes them fewer; nothing makes them more
        # but the LF that the last line may lack.
        unterminated = not _ends_with_newline(path)
        if found[:3] != seen or int(found[3]) - path.stat().st_size != unterminated:
            return None
        numbers = self._unsure(made)
        if self._too_many(len(numbers), int(found[0])):
            return None
        return _Found(int(found[0]), unterminated, reading, numbers)

    def _by_line(
        self, plain: PlainFile, taken: Sequence[Taken], few: Mapping[KeyPath, Sequence[str]], made: Path
    ) -> _Found | None:
        """Read every line of a known shape, and name the others."""
        reading = make_reading(taken, typed=False, few=few)
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
            f" from {lines_of(plain.path)}))"
        )
        try:
            self._make(made, reading, source)
        except SqlError:
            return None
        lines, unsure = self.store.query(
            f"select count(*), count(*) filter (where not sure) from {table_of(made)}"
        ).rows[0]
        if lines != plain.lines or self._too_many(unsure, lines):
            return None
        return _Found(lines, plain.unterminated, reading, self._unsure(made))

    def _unsure(self, made: Path) -> list[int]:
        found = self.store.query(f"select file_row_number from {table_of(made)} where not sure order by all").rows
        return [int(number) + 1 for (number,) in found]

    def _make(self, made: Path, reading: Reading, source: str, more: str | None = None) -> None:
        first, second = ("".join(f", {sql} as {name}" for name, sql in layer) for layer in reading.cells)
        columns = ", ".join(f"{sql} as {name}" for name, sql in reading.columns)
        names = ", ".join(name for name, _ in reading.columns if name != "fine")
        kept = "" if more is None else f", {more}"
        self.store.query(
            f"""
            copy (with rows as ({source}),
            begun as (select *{first} from rows),
            worked as (select *{second} from begun),
            valued as (select shape{kept}, {columns} from worked)
            select cast(shape as utinyint) as shape, shape > 0 and fine as sure, {names}{kept} from valued)
            to {quoted(str(made))} (format parquet)
            """
        )

    @staticmethod
    def _too_many(suspects: int, lines: int) -> bool:
        return suspects > _FEW_SUSPECTS and suspects * _MOST_SUSPECTS > lines

    def rows(self, staged: Staged) -> str:
        """Return what to select from: the columns of a staged table, and `line_no`."""
        line_no = f"file_row_number + {staged.first + 1} as line_no"
        if not self._has_repeated or not staged.has_ids:
            return f"(select {line_no}, * from {staged.table})"
        # A row whose id another row has, too, is sure no longer.
        again = f"(counts{self._in_time()} and coalesce(id in (select id from repeated_ids), false))"
        return f"(select {line_no}, * replace (sure and not {again} as sure) from {staged.table})"

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
                min(line_no) filter (where {seen} and undated),
                count(*) filter (where {seen} and rounded),
                min(line_no) filter (where {seen} and rounded),
                count(cost_usd) filter (where {seen}),
                count(*) filter (where {seen} and cost_usd > 0)
            from {self.rows(staged)}
            """
        ).rows[0]
        return Counts(*row)

    # --- ids ----------------------------------------------------------------------------------------------------------

    def repeated(self, all_staged: Sequence[Staged], ids: Iterable[str]) -> dict[str, list[int]]:
        """Return, by the staged table's name, the line numbers of sure rows whose id another row has, or one of `ids`.

        Those rows are sure no longer.
        """
        seen = self.event_filter()
        with_ids = [one for one in all_staged if one.has_ids]
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
        if not self.store.query("select count(*) from repeated_ids").rows[0][0]:
            return {}
        found: dict[str, list[int]] = {}
        for one in with_ids:
            rows = self.store.query(
                f"select file_row_number from {one.table}"
                f" where {seen} and id in (select id from repeated_ids) order by all"
            ).rows
            found[one.name] = [one.first + int(row) + 1 for (row,) in rows]
        self._has_repeated = True
        return {name: lines for name, lines in found.items() if lines}


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
