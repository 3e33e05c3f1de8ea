"""Rows that were staged and rows that were read one by one, to the one table of cost events, `raw.events`.

Names become numbers here: each distinct text is looked at once, not each row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path

from reportgen.inputs.cells import session_name, shown_text
from reportgen.inputs.repeats import FEWEST_LEVELS, Repeats
from reportgen.inputs.staged import Staged
from reportgen.inputs.staging import Stage
from reportgen.names import Names
from reportgen.rawtables import EVENT_COLUMNS, csv_of_events

_NUMBERED = {"agent": "agent_no", "pipeline": "pipeline_no", "run_id": "run_no"}
_LABELS = ("tool_name", "model")
_METRICS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "total_tokens", "cost_usd")


def make_events(
    stage: Stage, all_staged: Sequence[Staged], csv: Path, lines: Sequence[int], names: Names, *, redacted: bool
) -> None:
    """Make `raw.events` of the staged files and of the CSV; `lines`: how many each source has.

    An event's number is its line's, counted over all files; further events of one line come after all lines.
    """
    store = stage.store
    columns = ", ".join(f"{name} {kind}" for name, kind in EVENT_COLUMNS.items())
    store.query("create schema if not exists raw")
    store.query(f"create table if not exists raw.events ({columns})")
    if not all_staged:
        store.query(f"insert into raw.events select * from {csv_of_events(csv)}")
        return
    before = [0, *accumulate(lines)]
    offsets = ", ".join(str(count) for count in before)
    store.query(
        f"""
        insert into raw.events
        select
            case
                when row_number() over (partition by file_no, line_no order by event_no) = 1
                    then ([{offsets}])[file_no + 1] + line_no - 1
                else {before[-1]} + event_no
            end as event_no,
            * exclude (event_no)
        from {csv_of_events(csv)}
        """
    )
    for staged in all_staged:
        _insert(stage, staged, before[staged.file_no], names, redacted=redacted)


def _insert(stage: Stage, staged: Staged, before: int, names: Names, *, redacted: bool) -> None:
    numbers: dict[str, Callable[[str], object]] = {
        "agent": names.agent,
        "pipeline": names.pipeline,
        "run_id": names.run,
        "tool_name": lambda text: shown_text(text, redacted=redacted) or None,
        "model": lambda text: shown_text(text, redacted=redacted) or None,
    }
    joins: list[str] = []
    found: dict[str, str] = {}
    for field, make in numbers.items():
        kind = "integer" if field in _NUMBERED else "varchar"
        found[field] = _looked_up(stage, staged, field, kind, make, joins)
    cells = {
        "event_no": f"s.line_no + {before - 1}", "file_no": str(staged.file_no), "line_no": "s.line_no",
        **{number: found[field] for field, number in _NUMBERED.items()},
        **{label: found[label] for label in _LABELS},
        "cache_write_1h_tokens": "null",
    }  # fmt: skip
    chosen = ", ".join(cells.get(name, f"s.{name}") for name in EVENT_COLUMNS)
    stage.store.query(
        f"insert into raw.events select {chosen} from {stage.rows(staged)} as s {' '.join(joins)}"
        f" where {stage.event_filter()}"
    )


def _looked_up(
    stage: Stage,
    staged: Staged,
    field: str,
    kind: str,
    make: Callable[[str], object],
    joins: list[str],
) -> str:
    """Make a table of what each distinct text stands for; return the SQL of the first one that says something."""
    by_shape = staged.texts[field]
    tables: dict[str, str] = {}
    for column in sorted({name for shape in by_shape for name in shape}):
        table = f"{staged.name}_{field}_{column}"
        texts = stage.store.query(
            f"select distinct {column} from {stage.rows(staged)}"
            f" where {column} is not null and {stage.event_filter()} order by 1"
        ).rows
        pairs = [(text, make(text)) for (text,) in texts]
        stage.store.fill_pairs(table, "varchar", kind, pairs)
        joins.append(f"left join {table} on s.{column} = {table}.given")
        tables[column] = f"{table}.value"
    return _first_of(by_shape, tables, kind)


def _first_of(by_shape: Sequence[Sequence[str]], tables: dict[str, str], kind: str) -> str:
    def one(columns: Sequence[str]) -> str:
        return f"coalesce({', '.join(tables[c] for c in columns)})" if columns else f"cast(null as {kind})"

    made = [one(columns) for columns in by_shape]
    if len(set(made)) == 1:
        return made[0]
    cases = " ".join(f"when {number} then {text}" for number, text in enumerate(made, 1))
    return f"case s.shape {cases} end"


def looks_cumulative(stage: Stage, all_staged: Sequence[Staged], repeats: Repeats, *, redacted: bool) -> int:
    """Return how many sessions of all rows look like running totals (see `Repeats`)."""
    store = stage.store
    parts = [part for staged in all_staged if (part := _level_rows(stage, staged, redacted=redacted))]
    if not parts:
        return repeats.looks_cumulative()
    store.query(f"create or replace temp table levels as {' union all '.join(parts)}")
    # What both ways have rows of is judged where single rows are.
    known = list(repeats.sessions())
    if known:
        store.query("create or replace temp table shared as select distinct unnest(?) as session", [known])
        for session, time, *metrics in store.query(
            "select * from levels where session in (select session from shared)"
        ).rows:
            repeats.level(session, f"{time:%Y-%m-%d %H:%M:%S.%f}", tuple(metrics))
        store.query("delete from levels where session in (select session from shared)")
    ordered = ", ".join(_METRICS)
    falls = " or ".join(f"{name} < before.{name}" for name in _METRICS)
    changes = " or ".join(f"{name} <> before.{name}" for name in _METRICS)
    struct = ", ".join(f"'{name}': {name}" for name in _METRICS)
    rising, fallen = store.query(
        f"""
        with several as (select session from levels group by session having count(*) > 1),
        ordered as (
            select *, lag({{{struct}}}) over (partition by session order by event_time, {ordered}) as before
            from levels where session in (select session from several)
        ),
        judged as (
            select
                session,
                coalesce(bool_or({falls}), false) as fell,
                1 + count(*) filter (where {changes}) as levels
            from ordered group by session
        )
        select
            count(*) filter (where not fell and levels >= {FEWEST_LEVELS}), count(*) filter (where fell)
        from judged
        """
    ).rows[0]
    return repeats.looks_cumulative(rising=int(rising), falling=int(fallen))


def _level_rows(stage: Stage, staged: Staged, *, redacted: bool) -> str:
    """Return the SELECT of the rows that may be their session's running total: no tool, a session, a time, a number."""
    if not any(staged.texts["session"]):
        return ""
    joins: list[str] = []
    session = _looked_up(stage, staged, "session", "varchar", lambda text: session_name(text) or None, joins)
    tool = _looked_up(
        stage, staged, "tool_name", "varchar", lambda text: shown_text(text, redacted=redacted) or None, joins
    )
    metrics = ", ".join(f"coalesce(s.{name}, 0) as {name}" for name in _METRICS)
    return (
        f"select {session} as session, s.event_time, {metrics} from {stage.rows(staged)} as s {' '.join(joins)}"
        f" where {stage.event_filter()} and s.event_time is not null and {tool} is null and {session} is not null"
        " and (s.total_tokens is not null or s.cost_usd is not null)"
    )
