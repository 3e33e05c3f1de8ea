"""`reportgen doctor`: what a project lacks, what looks wrong in it, and the next command for each."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from reportgen.errors import ExitCode, ReportgenError
from reportgen.formatfile import Format, find_formats
from reportgen.found import Found
from reportgen.inputs.lines import LineFile
from reportgen.inputs.sessions import TOOLS, session_files
from reportgen.inputs.sources import Inputs, Source, find_inputs
from reportgen.inputs.understanding import FLAT, NOT_COST, NOT_READ, understand
from reportgen.inspecting import marts_of
from reportgen.published import sources_of
from reportgen.quickclass import dataclass
from reportgen.render.format import show
from reportgen.settings import FILE_NAME, Settings, load_settings
from reportgen.warehouse import Warehouse

Kind = Literal["wrong", "missing", "good"]

#: Notices of a reading that mean more than they say, with what to do about each.
_NOTICES = {
    "cost-all-zero": "{inspect}",
    "looks-cumulative": "{inspect}",
    "dates-far-away": 'reportgen query "select event_time, agent, file_no, line_no from dated_events'
    ' where date_set_aside"',
    "time-out-of-range": "{inspect}",
    "time-unreadable": "{inspect}",
    "price-unknown": "{prices}",
    "price-differs": 'reportgen query "select * from price_checks"',
    "file-damaged": "{inspect}",
    "database-strange": "{inspect}",
    "database-unreadable": "{inspect}",
    "json-array": "jq -c '.[]' {file} > {file}.lines.jsonl",
    "otlp-not-read": "{inspect}",
    "no-events": "{inspect}   (then name the keys in [events.fields])",
    "file-empty": "reportgen hook --print-settings",
}
#: A step back in time of more than so many seconds, from one line of a file to the next, is a clock that jumped.
_JUMP = 86_400
#: As many files are named in one command.
_NAMED = 3
#: Fewer events than these say nothing about how agents, runs or pipelines are named.
_FEW = 20
#: So many lines of a file show what it is made of.
_LOOKED_AT = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing: what it is, and the exact next command (empty: nothing to do)."""

    kind: Kind
    code: str
    what: str
    next_command: str = ""


def examine(project: Path, source: Sequence[str] = ()) -> list[Finding]:
    """Return what is wrong, then what is missing, then what is good. Raises nothing for what a person can mend.

    `source`: the tools whose sessions are read, as `build` takes them; without it those of the last build, where the
    settings name none.
    """
    found: list[Finding] = []
    try:
        settings = load_settings(project, flags={"source": tuple(source)})
        if not settings.source and (last := sources_of(settings.site)):
            settings = load_settings(project, flags={"source": tuple(last)})
            found.append(_by_flag(last))
    except ReportgenError as error:
        return [_as_finding("settings", error, f"edit {FILE_NAME}")]
    try:
        inputs = find_inputs(settings)
    except ReportgenError as error:
        if error.exit_code != ExitCode.NO_INPUT or settings.events or settings.feedback or settings.source:
            return [_as_finding("input", error, f"edit {FILE_NAME}" if settings.file else "reportgen build --help")]
        return list(_nothing(error, settings.work / "projects"))
    try:
        with marts_of(settings, inputs) as (store, read):
            found += _looked(store, read, inputs, settings)
    except ReportgenError as error:
        return [_as_finding("reading", error, "reportgen check")]
    found += _missing(settings, inputs)
    order = ("wrong", "missing", "good")
    return sorted(found, key=lambda one: order.index(one.kind))


def _by_flag(tools: Sequence[str]) -> Finding:
    named = ", ".join(f'"{tool}"' for tool in tools)
    return Finding(
        kind="missing", code="source",
        what=f"the report here is of your sessions of {' and '.join(tools)}, which only a flag names: a build without"
        " it leaves them out",
        next_command=f"reportgen init   (then write source = [{named}] under [inputs] in {FILE_NAME})",
    )  # fmt: skip


def _as_finding(code: str, error: ReportgenError, command: str) -> Finding:
    where = f"{error.where}: " if error.where else ""
    return Finding(kind="wrong", code=code, what=f"{where}{error.what}", next_command=command)


def _nothing(error: ReportgenError, several: Path) -> Iterator[Finding]:
    if several.is_dir():
        yield Finding(
            kind="missing", code="no-input",
            what="no files of a project are here: the report is one of several projects, which have files of their own",
            next_command="reportgen build PROJECT PROJECT …   (with their folders, as it was made)",
        )  # fmt: skip
        return
    for tool in TOOLS:
        sessions = 0
        with contextlib.suppress(OSError):
            sessions = sum(1 for _ in session_files(tool))
        if sessions:
            yield Finding(
                kind="missing", code="no-input",
                what=f"{error.what} here, but {sessions:,} session file{'s' if sessions > 1 else ''} of {tool}"
                f" {'are' if sessions > 1 else 'is'} on this machine",
                next_command=f"reportgen build --source {tool}",
            )  # fmt: skip
            return
    yield Finding(kind="missing", code="no-input", what=error.what, next_command="reportgen hook --print-settings")


def _inspect(settings: Settings, names: Sequence[str]) -> str:
    """Return the command that looks at these files, which are called as the report calls them."""
    tools = [tool for tool in settings.source if any(name.startswith(f"{tool}/") for name in names)]
    files = [name for name in names if not any(name.startswith(f"{tool}/") for tool in tools)][:_NAMED]
    # A file of a session has no path here: whose it is, is told nowhere.
    return " ".join(["reportgen inspect", *(f"--source {tool}" for tool in tools), *map(shlex.quote, files)])


def _looked(store: Warehouse, read: Found, inputs: Inputs, settings: Settings) -> Iterator[Finding]:
    names = [one.file for one in read.inputs if one.kind == "events"]
    for notice in read.notices:
        if notice.code in _NOTICES:
            where = f"{notice.file}: " if notice.file else ""
            mine = [notice.file] if notice.file else names
            command = (
                _NOTICES[notice.code]
                .replace("{file}", shlex.quote(mine[0]) if mine else "FILE")
                .replace("{inspect}", _inspect(settings, mine))
                .replace("{prices}", _prices(settings))
            )
            yield Finding(kind="wrong", code=notice.code, what=where + notice.message, next_command=command)
    for one in read.inputs:
        if one.rejected:
            were = "was" if one.rejected == 1 else "were"
            what = f"{one.file}: {one.rejected:,} of {show(one.lines, 'lines')} {were} rejected"
            yield Finding(kind="wrong", code="rejected", what=what, next_command=_inspect(settings, [one.file]))
    if not inputs.events:
        return
    # What a format tells is told by its SQL, not by keys that somebody could name; its lines stand in any order.
    formats = find_formats(settings.project)
    flat = [str(number) for number, source in enumerate(inputs.events) if _is_flat(source, formats, settings)]
    own = f"file_no in ({', '.join(flat) or 'null'})"
    facts = store.query(
        f"""
        select
            count(*) as events,
            count(*) filter (where {own}) as flat,
            count(*) filter (where {own} and not attributed) as nobody,
            count(distinct agent) filter (where attributed) as agents,
            count(*) filter (where {own} and (run_key is null or starts_with(run_key, 'at:'))) as no_run,
            count(*) filter (where {own} and pipeline = '(unassigned)') as homeless,
            count(cost_usd) as with_cost,
            count(*) filter (where total_tokens > 0) as with_tokens,
            count(*) filter (where event_time is null) as undated
        from events
        """
    ).dicts()[0]
    unknown = any(notice.code == "price-unknown" for notice in read.notices)
    yield from _of_events(facts, _inspect(settings, names), _prices(settings) if unknown else None)
    jumps = store.query(
        f"""
        select count(*) from (
            select event_time - lag(event_time) over (partition by file_no order by line_no, event_no) as step
            from events where event_time is not null and {own}
        ) where step < to_seconds(-{_JUMP})
        """
    ).rows[0][0]
    # A few lines that came late are ordinary.
    if jumps * 1000 >= facts["events"] and jumps:
        times = "once" if jumps == 1 else f"{jumps:,} times"
        what = f"the clock jumps back by more than a day {times} between lines that follow each other"
        command = 'reportgen query "select file_no, line_no, event_time from events order by file_no, line_no"'
        yield Finding(kind="wrong", code="clock-jumps", what=what, next_command=command)


def _is_flat(source: Source, formats: Sequence[Format], settings: Settings) -> bool:
    """Say whether a file's first lines are flat cost events, as far as they are any."""
    if LineFile(source.path).is_database:
        return False
    seen = understand(source.path, formats, settings.fields, most=_LOOKED_AT)
    return not any(title not in (FLAT, NOT_COST, NOT_READ) for title in seen.formats)


def _prices(settings: Settings) -> str:
    if settings.file is None:
        return f"reportgen init   (then fill in [prices] in {FILE_NAME})"
    return f"edit {FILE_NAME}   (a model's prices stand under [prices])"


def _of_events(facts: dict[str, Any], look: str, prices: str | None) -> Iterator[Finding]:
    """Yield what the events as a whole lack; `look`: how to inspect them, `prices`: what to do about unknown models."""
    events, flat = facts["events"], facts["flat"]

    def wrong(code: str, what: str, command: str) -> Finding:
        return Finding(kind="wrong", code=code, what=what, next_command=command)

    if not events:
        # The notice of that name says why.
        return
    yield Finding(
        kind="good", code="events", what=f"read: {show(events, 'events')} of {show(facts['agents'], 'agents')}"
    )
    if flat and facts["nobody"] * 5 >= flat:
        what = f"{facts['nobody']:,} of {flat:,} events name no agent"
        yield wrong("no-agent", what, f"{look}   (then name the key in [events.fields])")
    elif facts["agents"] == 1 and flat == events >= _FEW:
        what = f"one agent stands for all {events:,} events: detectors that compare agents have nothing to compare"
        yield wrong("one-agent", what, f"{look}   (then name the key in [events.fields])")
    if facts["homeless"] == flat == events and events >= _FEW:
        what = "no event names its pipeline, and the feedback does not tell"
        yield wrong("no-pipeline", what, f"{look}   (then name the key in [events.fields])")
    if facts["no_run"] * 2 > flat >= _FEW:
        what = f"{facts['no_run']:,} of {flat:,} events have no run id: runs are told from pauses"
        yield wrong("no-run", what, f"{look}   (then name the key in [events.fields])")
    if not facts["with_cost"] and not facts["with_tokens"]:
        yield wrong("no-cost", "no event tells a cost or tokens", look)
    elif facts["with_cost"] * 20 < events * 19:
        what = f"the cost is known for {facts['with_cost'] * 100 // events}% of the events"
        yield wrong("cost-coverage", what, prices or look)
    if facts["undated"] * 20 > events:
        what = f"{facts['undated']:,} of {events:,} events have no usable time"
        yield wrong("undated", what, f"{look}   (then name the key in [events.fields])")


def _missing(settings: Settings, inputs: Inputs) -> Iterator[Finding]:
    def missing(code: str, what: str, command: str) -> Finding:
        return Finding(kind="missing", code=code, what=what, next_command=command)

    if not inputs.events:
        yield missing(
            "events", "no cost events: costs and most detectors are left out", "reportgen hook --print-settings"
        )
    if not inputs.feedback:
        command = 'reportgen feedback add --pipeline P --agent A --score 45 --issue "…" --pattern loop-excess'
        yield missing("feedback", "no FEEDBACK.md: nothing is known about quality", command)
    if inputs.healing is None:
        yield missing(
            "healing", "no healing log: failed steps are not seen", "reportgen heal exec --agent A -- COMMAND"
        )
    if inputs.budget is None:
        command = "printf -- '- window: monthly\\n- limit: 5000 cents\\n' > BUDGET.md"
        yield missing("budget", "no BUDGET.md: nothing is held against a limit", command)
    if settings.file is None and not settings.source:
        yield missing("settings", f"no {FILE_NAME}: every setting has its default", "reportgen init")
    if not (settings.site / "index.html").is_file():
        yield missing("report", "no report was built yet", "reportgen build")
