"""Lines of formats that SQL reads (`sql/formats/`): set aside while files are read, then read all together.

A record is recognised by its content. What its format needs of it goes, with its place, to a file; afterwards each
format's SELECT runs over its lines in a warehouse of its own, which is locked: it sees these lines and nothing else.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import field
from datetime import datetime
from decimal import Decimal
from json.encoder import encode_basestring_ascii
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from reportgen.errors import ReportgenError
from reportgen.formatfile import EVENT, LINES, NOTE, PLACE, Format, at
from reportgen.inputs.records import NumberText, Record
from reportgen.inputs.times import utc_text
from reportgen.macros import make_macros
from reportgen.quickclass import dataclass
from reportgen.sqlerror import OutOfMemoryError
from reportgen.sqlfile import near
from reportgen.sqltext import NO_HIVE, quoted
from reportgen.warehouse import Limits, SqlError, Warehouse

#: A longer text in a record is cut: what tells an event from another is short, and prompts are long.
LONGEST_TEXT = 1000
#: Of a path, the innermost folders.
_FOLDERS = 5
_LARGEST = 16 * 1024 * 1024
#: Objects of so many keys have them in common with others; so many sets of keys are remembered.
_MOST_KEYS, _MOST_SHAPES = 64, 1000
#: Tables of the lines of a format, and of what was read of them; each has the format's number.
_TABLE, _READ = "format_lines", "format_rows"
_LONG = "cache_write_1h_tokens"
#: Columns of a row before those of its event.
_BEFORE_EVENT = 6
#: Where a column's name is none by which a record of today's reader is understood.
_KEYS = {"event_time": "timestamp"}

RowFate = Literal["event", "duplicate", "superseded", "note", "later"]


class Read(NamedTuple):
    """One row of a format: where it stands, what becomes of it, and the event in canonical names."""

    file_no: int
    line_no: int
    part: int
    fate: RowFate
    event: Record
    note: str | None = None
    #: Tokens of `cache_write_tokens` that are kept for an hour.
    long_writes: object = None
    #: The line of a record that is of no format.
    line: bytes | None = None


@dataclass(slots=True)
class _Aside:
    """The lines of one format, in a file of tab-separated values: no JSON text of ours holds a tab."""

    path: Path
    file: IO[str]
    #: Gives the text of a record.
    pruned: Callable[[Any], str]


@dataclass(slots=True)
class Formats:
    """The formats in force, and what was set aside for them. `folder` is for files in between.

    `own`: the project's `sql/`, for its macros.
    """

    formats: Sequence[Format]
    folder: Path
    own: Path | None = None
    #: How long and how large a SELECT of the project's own may get.
    limits: Limits = field(default_factory=Limits)
    #: Later lines are not seen.
    as_of: datetime | None = None
    #: Where the file at hand lies: its innermost folders and its name, as they go into the file of a format's lines.
    _place: str = "\t"
    #: By format's id: its records.
    counts: dict[str, int] = field(default_factory=dict)
    _aside: dict[str, _Aside] = field(default_factory=dict)
    #: Records of no format on a line with one that has: read together with it.
    _others: list[Read] = field(default_factory=list)

    def begin(self, path: Path) -> None:
        """Begin with a file."""
        self._place = f"{' '.join(map(_hex, path.parts[:-1][-_FOLDERS:]))}\t{_hex(path.name)}"

    def of(self, record: Record, candidates: Iterable[Format]) -> Format | None:
        """Return the format of a record."""
        return next((one for one in candidates if one.matches(record)), None)

    def add(self, one: Format, record: Record, file_no: int, line_no: int, part: int) -> bool:
        """Set a record aside; False where there is too much of it."""
        aside = self._aside.get(one.file.id)
        if aside is None:
            path = self.folder / f"format-{one.file.id}.tsv"
            file = path.open("w", encoding="utf-8", newline="")
            aside = self._aside[one.file.id] = _Aside(path, file, pruner(one.keys))
        text = aside.pruned(record)
        if len(text) > _LARGEST:
            return False
        said = at(record, one.time) if one.time and self.as_of is not None else None
        time = "" if said is None or said == "" else utc_text(said)[0]
        aside.file.write(f"{file_no}\t{line_no}\t{part}\t{time}\t{self._place}\t{text}\n")
        self.counts[one.file.id] = self.counts.get(one.file.id, 0) + 1
        return True

    def add_other(self, record: Record, line: bytes, file_no: int, line_no: int, part: int) -> None:
        """Set a record of no format aside that shares its line with one that has."""
        self._others.append(Read(file_no, line_no, part, "event", record, line=line))

    def close(self) -> None:
        """Close the files."""
        for aside in self._aside.values():
            aside.file.close()

    def read(self) -> Iterator[Read]:
        """Run every format's SELECT and return all rows, by place. Raises ReportgenError where a format's SQL fails."""
        used = [one for one in self.formats if one.file.id in self._aside]
        if not used:
            return iter(())
        store = Warehouse(self.folder / "formats.duckdb", limits=self.limits)
        try:
            for number, one in enumerate(used):
                self._load(store, number, self._aside[one.file.id])
            store.lock()
            make_macros(store, self.own)
            for number, one in enumerate(used):
                _settle(store, number, one, self.as_of)
        except BaseException:
            store.close()
            raise
        return self._merged(store, used)

    def _merged(self, store: Warehouse, used: Sequence[Format]) -> Iterator[Read]:
        with store, ExitStack() as opened:
            streams = [opened.enter_context(closing(_rows_of(store, n, one))) for n, one in enumerate(used)]
            yield from heapq.merge(sorted(self._others, key=_place), *streams, key=_place)

    def _load(self, store: Warehouse, number: int, aside: _Aside) -> None:
        aside.file.close()
        columns = {
            "file_no": "integer", "line_no": "bigint", "part": "integer", "line_time": "timestamp",
            "folders": "varchar", "file": "varchar", "record": "varchar",
        }  # fmt: skip
        kinds = ", ".join(f"'{name}': '{kind}'" for name, kind in columns.items())
        store.query(
            f"create table {_TABLE}_{number} as select file_no, line_no, part, line_time,"
            " list_transform(string_split(coalesce(folders, ''), ' '), lambda x: decode(unhex(x))) as folders,"
            " decode(unhex(file)) as file, cast(record as json) as record"
            f" from read_csv({quoted(str(aside.path))}, {NO_HIVE}, header = false, auto_detect = false,"
            f" delim = '\\t', quote = '', escape = '', nullstr = '', new_line = '\\n', max_line_size = {2 * _LARGEST},"
            f" columns = {{{kinds}}})"
        )
        aside.path.unlink()


def _place(row: Read) -> tuple[int, int, int]:
    return row[:3]


def _hex(name: str) -> str:
    return name.encode("utf-8", "replace").hex()


def pruner(keys: Mapping[str, Any]) -> Callable[[Any], str]:
    """Return what gives the JSON text of a value with only these keys of its objects, and with its long texts cut.

    `keys`: a tree; an empty branch keeps all that is below it. The text is ASCII.
    """
    below = {key: pruner(branch) for key, branch in keys.items()}
    #: By the keys of an object: those of them that are kept, as they are written, and what prunes their values.
    #: Every line of a format goes through here, and most have the keys of one before.
    shapes: dict[tuple[str, ...], list[tuple[str, str, Callable[[Any], str]]]] = {}

    def kept(value: dict[str, object]) -> list[tuple[str, str, Callable[[Any], str]]]:
        chosen = [key for key in value if not keys or key in below]
        return [(key, f"{encode_basestring_ascii(key)}:", below.get(key, pruned)) for key in chosen]

    def pruned(value: Any) -> str:  # noqa: ANN401 - any JSON value
        kind = type(value)
        if kind is str:
            return encode_basestring_ascii(value if len(value) <= LONGEST_TEXT else value[:LONGEST_TEXT])
        if kind is dict:
            shape = tuple(value)
            found = shapes.get(shape)
            if found is None:
                found = kept(value)
                if len(shape) <= _MOST_KEYS and len(shapes) < _MOST_SHAPES:
                    shapes[shape] = found
            parts = []
            for key, said, prune in found:
                one = value[key]
                kind = type(one)
                # Most values are short texts and counts: for them a call would take longest.
                if kind is str and len(one) <= LONGEST_TEXT:
                    parts.append(said + encode_basestring_ascii(one))
                elif kind is int:
                    parts.append(f"{said}{one}")
                else:
                    parts.append(said + prune(one))
            return "{" + ",".join(parts) + "}"
        if kind is list:
            return "[" + ",".join(map(pruned, value)) + "]"
        if value is None:
            return "null"
        if kind is bool:
            return "true" if value else "false"
        # An integer, or a `NumberText` as it was written.
        return str(value)

    return pruned


def _settle(store: Warehouse, number: int, one: Format, as_of: datetime | None) -> None:
    """Make a table of the rows of a format, each with its fate; those of lines later than `as_of` say only that."""
    later = "false" if as_of is None else f"coalesce(line_time > timestamp '{as_of:%Y-%m-%d %H:%M:%S.%f}', false)"
    names = ", ".join(LINES)
    store.query(f"create or replace view lines as select {names} from {_TABLE}_{number} where not {later}")
    columns = _candidates(store, one)
    long_writes = _LONG if _LONG in columns else "null"
    kinds = dict(store.describe("select * from candidates"))
    # Rows are fetched on connections that have the machine's time zone.
    events = [
        f"timezone('UTC', {name}) as {name}" if kinds[name] == "TIMESTAMP WITH TIME ZONE" else name
        for name in EVENT
        if name in columns and name != _LONG
    ]
    chosen = ", ".join([*PLACE, "fate", "note", f"{long_writes} as long_writes", "row_no", *events])
    store.query(f"create table {_READ}_{number} as select {chosen} from ({once_sql(one)})")
    if as_of is not None and one.time:
        store.query(f"create or replace view lines as select {names} from {_TABLE}_{number} where {later}")
        _candidates(store, one)
        store.query(
            f"insert into {_READ}_{number} by name"
            f" select distinct {', '.join(PLACE)}, 'later' as fate from candidates where note is null"
        )


def _candidates(store: Warehouse, one: Format) -> list[str]:
    """Run the SELECT; return its columns. Raises ReportgenError with the file and line."""
    file = one.file
    if file.origin == "project":
        store.check_one_select(file)
    text = file.text.rstrip().rstrip(";")
    try:
        columns = [name for name, _ in store.describe(text)]
        check_columns(one, columns)
        note = "" if NOTE in columns else ", cast(null as varchar) as note"
        store.query(
            f"create or replace table candidates as select *{note} from ({text}\n) order by all",
            bounded=file.origin == "project",
        )
        places = " and ".join(f"l.{name} = try_cast(c.{name} as bigint)" for name in PLACE)
        strange = store.query(
            f"select {', '.join(PLACE)} from candidates as c where not exists (select 1 from lines as l where {places})"
            " order by all limit 1"
        ).rows
    except SqlError as error:
        raise _failed(one, error) from error
    if strange:
        said = ", ".join(f"{name} {value}" for name, value in zip(PLACE, strange[0], strict=True))
        raise file.problem(
            f"the SELECT gives a row of {said}, and none of its lines is there",
            "Give each row the file_no, line_no and part of a row of `lines`, as they are.",
        )
    return columns


def check_columns(one: Format, columns: Sequence[str]) -> None:
    """Raise ReportgenError where a SELECT lacks a column, or gives one that nothing reads."""
    needed = {*PLACE, *(name for rule in one.once for name in rule.columns)}
    for name in sorted(needed - set(columns)):
        raise one.file.problem(f"the SELECT gives no column '{name}'", "Every format gives file_no, line_no and part.")
    for name in columns:
        if columns.count(name) > 1:
            raise one.file.problem(f"the SELECT gives two columns '{name}'", "Leave one of them out.")
    known = (*EVENT, NOTE, *sorted(needed))
    for name in columns:
        if name not in known:
            step = f"Known: {', '.join((*PLACE, *EVENT, NOTE))}, and what [[once]] names."
            raise one.file.problem(f"nothing reads the column '{name}'{near(name, known)}", step)


def once_sql(one: Format) -> str:
    """Return the SELECT that gives each row of `candidates` its fate, by the rules of the front matter."""
    rows = "select *, rowid as row_no, case when note is null then 'event' else 'note' end as fate from candidates"
    for rule in one.once:
        known = " and ".join(f"{name} is not null" for name in rule.key)
        order = ", ".join([*(f"{term} nulls last" for term in rule.keep), "row_no"])
        rows = (
            f"select * replace (case when fate = 'event' and {known} and row_number() over (partition by fate,"
            f" {', '.join(rule.key)} order by {order}) > 1 then '{rule.others}' else fate end as fate) from ({rows})"
        )
    return rows


def _rows_of(store: Warehouse, number: int, one: Format) -> Generator[Read]:
    """Yield the rows of a format, by place: as many as there are lines, so they are fetched as they are taken."""
    text = f"select * exclude (row_no) from {_READ}_{number} order by {', '.join(PLACE)}, row_no"
    try:
        with store.stream(text) as (names, rows):
            keys = [_KEYS.get(name, name) for name in names[_BEFORE_EVENT:]]
            for file_no, line_no, part, fate, note, writes, *values in rows:
                event: Record = {}
                if fate == "event":
                    event = {key: plain(value) for key, value in zip(keys, values, strict=True)}
                yield Read(file_no, line_no, part, fate, event, note, writes)
    except SqlError as error:
        raise _failed(one, error) from error


def _failed(one: Format, error: SqlError) -> Exception:
    if isinstance(error, OutOfMemoryError) and one.file.origin != "project":
        # It is the inputs that are large.
        return error
    where = f"{one.file.name}:{error.line}" if error.line else one.file.name
    return ReportgenError(where, error.message, error.hint or "Mend the SQL of the format.")


def plain(value: object) -> object:
    """Return a value of DuckDB as a record holds it."""
    if value is None or type(value) is str:
        return value
    if isinstance(value, Decimal):
        return NumberText(format(value, "f"))
    if isinstance(value, float):
        return NumberText(repr(value))
    if isinstance(value, datetime):
        return f"{value.replace(tzinfo=None):%Y-%m-%dT%H:%M:%S.%f}Z"
    return value
