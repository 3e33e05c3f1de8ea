"""Lines of formats that SQL reads (`sql/formats/`): set aside while files are read, then read all together.

A record is recognised by its content. What its format needs of it goes, with its place, to a file; afterwards each
format's SELECT runs over its lines in a warehouse of its own, which is locked: it sees these lines and nothing else.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from reportgen.sqlfile import near
from reportgen.sqltext import NO_HIVE, quoted
from reportgen.warehouse import Limits, SqlError, Warehouse

#: A longer text in a record is cut: what tells an event from another is short, and prompts are long.
LONGEST_TEXT = 1000
#: Of a path, the innermost folders.
_FOLDERS = 5
_LARGEST = 16 * 1024 * 1024
_TABLE = "format_lines"
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
    """The lines of one format, in a CSV file."""

    path: Path
    file: IO[str]
    lines: int = 0


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
    #: Where the file at hand lies: its innermost folders and its name, as they go into the CSV.
    _place: str = ","
    #: By format's id: its records.
    counts: dict[str, int] = field(default_factory=dict)
    _aside: dict[str, _Aside] = field(default_factory=dict)
    #: Records of no format on a line with one that has: read together with it.
    _others: list[Read] = field(default_factory=list)

    def begin(self, path: Path) -> None:
        """Begin with a file."""
        self._place = f"{' '.join(map(_hex, path.parts[:-1][-_FOLDERS:]))},{_hex(path.name)}"

    def of(self, record: Record, candidates: Iterable[Format]) -> Format | None:
        """Return the format of a record."""
        return next((one for one in candidates if one.matches(record)), None)

    def add(self, one: Format, record: Record, file_no: int, line_no: int, part: int) -> bool:
        """Set a record aside; False where there is too much of it."""
        text = pruned(record, one.keys)
        if len(text) > _LARGEST:
            return False
        aside = self._aside.get(one.file.id)
        if aside is None:
            path = self.folder / f"format-{one.file.id}.csv"
            aside = self._aside[one.file.id] = _Aside(path, path.open("w", encoding="utf-8", newline=""))
        said = at(record, one.time) if one.time else None
        time = "" if said is None or said == "" else utc_text(said)[0]
        quoted_text = text.replace('"', '""')
        aside.file.write(f'{file_no},{line_no},{part},{time},{self._place},"{quoted_text}"\n')
        aside.lines += 1
        self.counts[one.file.id] = self.counts.get(one.file.id, 0) + 1
        return True

    def add_other(self, record: Record, line: bytes, file_no: int, line_no: int, part: int) -> None:
        """Set a record of no format aside that shares its line with one that has."""
        self._others.append(Read(file_no, line_no, part, "event", record, line=line))

    def close(self) -> None:
        """Close the files."""
        for aside in self._aside.values():
            aside.file.close()

    def read(self, as_of: datetime | None) -> Iterator[Read]:
        """Run every format's SELECT and yield all rows, by place. Raises ReportgenError where a format's SQL fails."""
        used = [one for one in self.formats if one.file.id in self._aside]
        if not used:
            return iter(())
        store = Warehouse(self.folder / "formats.duckdb", limits=self.limits)
        try:
            for number, one in enumerate(used):
                self._load(store, number, self._aside[one.file.id])
            store.lock()
            make_macros(store, self.own)
            streams = [sorted(self._others, key=_place)]
            for number, one in enumerate(used):
                streams += _rows_of(store, number, one, as_of)
            return heapq.merge(*streams, key=_place)
        finally:
            store.close()

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
            f" from read_csv({quoted(str(aside.path))}, {NO_HIVE}, header = false, auto_detect = false, delim = ',',"
            f" quote = '\"', escape = '\"', nullstr = '', new_line = '\\n', max_line_size = {3 * _LARGEST},"
            f" columns = {{{kinds}}})"
        )
        aside.path.unlink()


def _place(row: Read) -> tuple[int, int, int]:
    return row[:3]


def _hex(name: str) -> str:
    return name.encode("utf-8", "replace").hex()


def pruned(value: object, keys: Mapping[str, Any]) -> str:
    """Return the JSON text of a value with only these keys of its objects, and with its long texts cut."""
    # Every line of a format goes through here, so the common kinds come first and no generator is made.
    if type(value) is str:
        return encode_basestring_ascii(value if len(value) <= LONGEST_TEXT else value[:LONGEST_TEXT])
    parts = []
    if type(value) is dict:
        for key, one in value.items():
            below = keys.get(key) if keys else keys
            if below is not None:
                parts.append(f"{encode_basestring_ascii(key)}:{pruned(one, below)}")
        return "{" + ",".join(parts) + "}"
    if type(value) is list:
        for one in value:
            parts.append(pruned(one, keys))
        return "[" + ",".join(parts) + "]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    # An integer, or a `NumberText` as it was written.
    return str(value)


def _rows_of(store: Warehouse, number: int, one: Format, as_of: datetime | None) -> list[list[Read]]:
    """Return the rows of a format, by place; those of lines later than `as_of` apart."""
    later = "false" if as_of is None else f"coalesce(line_time > timestamp '{as_of:%Y-%m-%d %H:%M:%S.%f}', false)"
    names = ", ".join(LINES)
    store.query(f"create or replace view lines as select {names} from {_TABLE}_{number} where not {later}")
    columns = _candidates(store, one)
    streams = [_fetch(store, one, columns)]
    if as_of is not None and one.time:
        store.query(f"create or replace view lines as select {names} from {_TABLE}_{number} where {later}")
        _candidates(store, one)
        places = store.query(f"select distinct {', '.join(PLACE)} from candidates where note is null order by all").rows
        streams.append([Read(file_no, line_no, part, "later", {}) for file_no, line_no, part in places])
    return streams


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
        where = f"{file.name}:{error.line}" if error.line else file.name
        raise ReportgenError(where, error.message, error.hint or "Mend the SQL of the format.") from error
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


def _fetch(store: Warehouse, one: Format, columns: Sequence[str]) -> list[Read]:
    names = [name for name in EVENT if name in columns and name != "cache_write_1h_tokens"]
    long_writes = "cache_write_1h_tokens" if "cache_write_1h_tokens" in columns else "null"
    chosen = ", ".join([*PLACE, "fate", "note", f"{long_writes} as long_writes", *names])
    found = store.query(f"select {chosen} from ({once_sql(one)}) order by {', '.join(PLACE)}, row_no").rows
    rows: list[Read] = []
    keys = [_KEYS.get(name, name) for name in names]
    for file_no, line_no, part, fate, note, writes, *values in found:
        event: Record = {}
        if fate == "event":
            event = {key: plain(value) for key, value in zip(keys, values, strict=True)}
        rows.append(Read(file_no, line_no, part, fate, event, note, writes))
    return rows


def plain(value: object) -> object:
    """Return a value of DuckDB as a record holds it."""
    if isinstance(value, Decimal):
        return NumberText(format(value, "f"))
    if isinstance(value, float):
        return NumberText(repr(value))
    if isinstance(value, datetime):
        return f"{value.replace(tzinfo=None):%Y-%m-%dT%H:%M:%S.%f}Z"
    return value
