"""From input files to a warehouse that is loaded, locked, and holds every mart: the first steps of a build."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from reportgen import macros, quality
from reportgen.errors import ReportgenError
from reportgen.found import Found
from reportgen.inputs.accounts import settle
from reportgen.inputs.events import EventsRead, load_events
from reportgen.inputs.parts import Parts
from reportgen.inputs.sources import Inputs
from reportgen.inputs.sources import input_paths as input_paths
from reportgen.macros import make_macros
from reportgen.model import InputFile, Notice, RejectedLine
from reportgen.names import Names, clean_name, fold
from reportgen.pricing import fill_prices, price_notices
from reportgen.quickclass import dataclass
from reportgen.resources import resource_dir
from reportgen.settings import Settings
from reportgen.sqlfile import find_sql_files, near
from reportgen.stages import Progress
from reportgen.warehouse import Begun, Limits, Warehouse, begin

#: Inputs of fewer bytes than this are small.
_SMALL = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEvents:
    """The cost events as they were read: their account, the names they gave, and where they are.

    `file`: a warehouse file that `load` copies them from; None where they are in the warehouse that is loaded.
    """

    read: EventsRead
    names: Names
    file: Path | None = None


def open_warehouse(settings: Settings, inputs: Inputs, *, again: bool = False) -> Warehouse:
    """Return a new warehouse, whose `keep` puts it in its place. `again`: with the marts of the one that is there.

    Raises ReportgenError where it can't be opened.
    """
    try:
        limits = Limits(settings.detector_seconds, settings.memory)
        small = _bytes_of(inputs) < _SMALL
        path = settings.work / "warehouse.duckdb"
        # On a small project, sharing out the work of one query takes longer than doing it.
        begun = _begun(settings) if small and not again else None
        store = Warehouse(path, limits=limits, threads=1 if small else None, again=again, pair=True, begun=begun)
        if again:
            _keep_marts_only(store, settings)
        return store
    except OSError as error:
        raise ReportgenError(
            str(settings.work), f"can't be written ({error.strerror})", "Check the permissions, or delete the folder."
        ) from error


def _begun(settings: Settings) -> Begun | None:
    """Return how the warehouse of a small project begins."""
    built_in, own = resource_dir("sql"), settings.project / "sql"
    if (own / macros.NAME).is_file():
        return None
    script = (built_in / macros.NAME).read_text(encoding="utf-8")
    return begin(script, [find_sql_files(folder, built_in, own) for folder in ("sources", "marts")])


def _keep_marts_only(store: Warehouse, settings: Settings) -> None:
    """Drop what a build makes after the marts, and lock the warehouse as loading does."""
    built_in, own = resource_dir("sql"), settings.project / "sql"
    store.own_macros = (own / macros.NAME).is_file()
    try:
        store.keep_only([file for folder in ("sources", "marts") for file in find_sql_files(folder, built_in, own)])
        store.lock()
    except BaseException:
        store.close()
        raise


def _bytes_of(inputs: Inputs) -> int:
    """Return about how many bytes there are to read."""
    single = [source for source in (inputs.healing, inputs.budget) if source is not None]
    paths = [source.path for source in (*inputs.events, *inputs.feedback, *single)]
    return sum(path.stat().st_size * (10 if path.suffix in (".gz", ".zst") else 1) for path in paths)


def read_cost_events(
    settings: Settings,
    inputs: Inputs,
    store: Warehouse,
    folder: Path,
    progress: Progress,
    parts: Parts | None = None,
) -> CostEvents:
    """Read the cost events, the step that takes longest, into the warehouse; `folder` is for files in between.

    `parts`: what earlier builds have read of large files.
    """
    names = Names()
    read = load_events(
        inputs.events,
        store,
        folder,
        names,
        as_of=settings.as_of,
        fields=settings.fields,
        redact=settings.redact,
        cumulative=settings.running_totals,
        on_progress=lambda done, total: progress("read events", done, total),
        project=settings.project,
        parts=parts,
    )
    return CostEvents(read=read, names=names)


def load(store: Warehouse, settings: Settings, inputs: Inputs, events: CostEvents, progress: Progress) -> Found:
    """Read the other inputs, load all of them into the warehouse, and lock it; return the accounts.

    Adds to `events.names`. Nothing from here on needs a file: SQL of the project runs behind the lock.
    """
    # The rooms of what is not there are not imported.
    names = events.names
    accounts: list[InputFile] = list(events.read.files)
    rejected: list[RejectedLine] = list(events.read.rejected)
    notices: list[Notice] = [*inputs.notices, *events.read.notices]
    raw: dict[str, list[Sequence[Any]]] = {}
    if inputs.feedback:
        from reportgen.inputs.feedback import read_feedback

        feedback = read_feedback(inputs.feedback, names, redact=settings.redact)
        accounts += feedback.files
        notices += feedback.notices
        rejected += feedback.rejected
        raw["feedback"] = [
            (r.row_no, r.file_no, r.line, r.date, r.pipeline_no, r.agent_no, r.score, r.score_text, r.issue,
             r.resolution, list(r.tags))
            for r in feedback.rows
        ]  # fmt: skip
    if inputs.healing is not None:
        from reportgen.inputs.healing_log import read_healing

        healing = read_healing(inputs.healing, names, redact=settings.redact)
        accounts += healing.files
        notices += healing.notices
        rejected += healing.rejected
        raw["healing"] = [
            (r.row_no, r.line, r.timestamp, r.pipeline_no, r.agent_no, r.run_no, r.error_type, r.attempt,
             r.max_attempts, r.action, r.exit_code, r.delay_seconds, r.reason, r.context)
            for r in healing.rows
        ]  # fmt: skip
    if inputs.budget is not None:
        from reportgen.inputs.budget import read_budget

        budget = read_budget(inputs.budget, names, redact=settings.redact)
        accounts += budget.files
        notices += budget.notices
        raw["budget"] = [
            (number, r.agent_no, r.window, r.limit_usd, r.warn_percent, r.hard_stop)
            for number, r in enumerate(budget.rows)
        ]
    raw["roster"] = [
        (names.pipeline(pipeline), names.agent(agent))
        for pipeline, agents in settings.roster.items()
        for agent in agents
    ]
    raw["settings"] = [_settings_row(settings)]
    raw["names"] = [
        (n.spelling_no, n.key_no, n.kind, n.spelling, n.key, n.key_hash, n.code_point_rank)
        for n in names.rows(redacted=settings.redact)
    ]
    progress("load", 0, 1)
    store.load_raw(raw, events.file)
    settle(accounts, rejected, _handed_on(store))
    fill_prices(store, settings)
    store.lock()
    return Found(
        inputs=accounts,
        rejected=sorted(rejected, key=lambda line: (line.file, line.line)),
        notices=notices,
        healing_present=inputs.healing is not None,
    )


def _handed_on(store: Warehouse) -> dict[str, int]:
    """Return how many rows of each kind of input are in the warehouse."""
    kinds = ("events", "feedback", "healing", "budget")
    # One of four parts would take longer to plan than four of one.
    return {kind: int(store.query(f"select count(*) from raw.{kind}").rows[0][0]) for kind in kinds}


def make_marts(store: Warehouse, settings: Settings, found: Found, progress: Progress) -> tuple[Found, str | None]:
    """Build sources and marts; return the accounts with what only the whole shows, and the pipeline asked for."""
    own = settings.project / "sql"
    built_in = resource_dir("sql")
    make_macros(store, own)
    store.create_tables(find_sql_files("sources", built_in, own))
    store.create_tables(find_sql_files("marts", built_in, own))
    progress("load", 1, 1)
    only = _find_pipeline(store, settings.pipeline) if settings.pipeline is not None else None
    accounts, empty = _outside(store, settings, found.inputs)
    notices = [*empty, *found.notices, *price_notices(store, listed=settings.price_list), *quality.remarks(store, only)]
    return replace(found, inputs=accounts, notices=notices), only


def _asks_for_all(settings: Settings) -> bool:
    """Say whether nothing can lie outside the period: none is asked for, and no SQL of the project's own chooses."""
    asked = (settings.since, settings.until, settings.window, settings.as_of)
    return asked == (None,) * 4 and not (settings.project / "sql" / "sources").is_dir()


def _outside(
    store: Warehouse, settings: Settings, accounts: Sequence[InputFile]
) -> tuple[list[InputFile], list[Notice]]:
    """Count what lies outside the period asked for, by file, and say it where that is everything."""
    if _asks_for_all(settings):
        return list(accounts), []
    left_out = {
        (str(kind), int(file_no)): int(count)
        for kind, file_no, count in store.query(
            """
            select 'events', d.file_no, d.events - coalesce(s.events, 0)
            from (select file_no, count(*) as events from dated_events group by file_no) as d
            left join (select file_no, count(*) as events from seen_events group by file_no) as s
                on d.file_no = s.file_no
            union all
            select 'feedback', file_no, count(*) from raw.feedback
            where row_no not in (select s.row_no from seen_feedback as s) group by file_no
            union all
            select 'healing', 0, count(*) from raw.healing
            where row_no not in (select s.row_no from seen_healing as s)
            """
        ).rows
    }
    counted: list[InputFile] = []
    numbers: dict[str, int] = {}
    for account in accounts:
        number = numbers.get(account.kind, 0)
        numbers[account.kind] = number + 1
        more = left_out.get((account.kind, number), 0)
        counted.append(replace(account, outside_period=account.outside_period + more))
    kinds = ("events", "feedback")
    outside = sum(a.outside_period for a in counted if a.kind in kinds)
    # Events later than --as-of are not read as records at all; every other record left out is counted among them.
    inside = sum(a.events for a in accounts if a.kind in kinds) - sum(
        count for (kind, _), count in left_out.items() if kind in kinds
    )
    if not outside or inside > 0:
        return counted, []
    first, last = store.query("select min(event_time), max(event_time) from dated_events").rows[0]
    told = f" (the events run from {first:%Y-%m-%d} to {last:%Y-%m-%d})" if first is not None else ""
    message = f"all {outside:,} records lie outside the period asked for{told}: nothing is left to look at"
    return counted, [Notice(code="period-empty", message=message, count=outside)]


def _settings_row(settings: Settings) -> Sequence[Any]:
    window = None if settings.window is None else int(settings.window.total_seconds())
    return (
        settings.since,
        settings.until,
        settings.as_of,
        window,
        Decimal(str(settings.run_gap.total_seconds())),
        settings.score_flag,
    )


def _find_pipeline(store: Warehouse, asked: str) -> str:
    shown = {fold(str(row[0])): str(row[0]) for row in store.query("select pipeline from pipelines").rows}
    wanted = fold(clean_name(asked))
    if wanted in shown:
        return shown[wanted]
    names = sorted(shown.values())
    raise ReportgenError(
        "--pipeline",
        f"no pipeline '{asked}' in the events or the feedback{near(asked, names)}",
        f"There {'is' if len(names) == 1 else 'are'}: {', '.join(names[:20])}{' …' if len(names) > 20 else ''}."
        if names
        else "There is no pipeline yet.",
    )
