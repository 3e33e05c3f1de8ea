"""`reportgen inspect`: how files are understood, before any build; nothing is written."""

from __future__ import annotations

import contextlib
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from reportgen.engine import in_memory
from reportgen.errors import ExitCode, ReportgenError
from reportgen.formatfile import find_formats
from reportgen.found import Found
from reportgen.inputs.sources import Inputs, find_inputs, shown_name
from reportgen.inputs.understanding import FIELDS, FLAT, Understood, understand
from reportgen.loading import load, make_marts, read_cost_events
from reportgen.model import InputFile, Notice
from reportgen.quickclass import dataclass
from reportgen.redact import redact
from reportgen.settings import Settings, load_settings
from reportgen.warehouse import Limits, Warehouse

#: Keys, agents and example events that are shown.
_KEYS, _AGENTS, _EXAMPLES = 40, 20, 10
_LONGEST = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """How files are understood. Costs are exact decimals as text; times are UTC."""

    files: tuple[InputFile, ...]
    #: Lines looked at for formats and keys, and whether there are more.
    looked_at: int
    more: bool
    formats: dict[str, int]
    #: By field: its keys with how many lines gave it so, the most frequent first.
    fields: dict[str, dict[str, int]]
    ignored: dict[str, int]
    #: Keys of the lines that are no cost event.
    strange: dict[str, int]
    first: str | None
    last: str | None
    undated: int
    events: int
    agents: dict[str, int]
    runs: int
    pipelines: dict[str, dict[str, Any]]
    #: How many events have a cost, by what it rests on, and what that makes in dollars.
    costs: dict[str, dict[str, Any]]
    notices: tuple[Notice, ...]
    examples: tuple[dict[str, Any], ...]


def quiet(_stage: str, _done: int, _total: int) -> None:
    """Tell nobody of the progress."""


@contextlib.contextmanager
def marts_of(settings: Settings, inputs: Inputs) -> Iterator[tuple[Warehouse, Found]]:
    """Give a warehouse with the marts of a project, which is gone afterwards, and the accounts."""
    with tempfile.TemporaryDirectory(prefix="reportgen-look-") as folder, in_memory():
        limits = Limits(settings.detector_seconds, settings.memory)
        with Warehouse(Path(folder) / "warehouse.duckdb", limits=limits) as store:
            events = read_cost_events(settings, inputs, store, Path(folder), quiet)
            found = load(store, settings, inputs, events, quiet)
            found, _ = make_marts(store, replace(settings, pipeline=None), found, quiet)
            yield store, found


def inspect(files: Sequence[str], project: Path = Path(), *, source: Sequence[str] = ()) -> Inspected:
    """Say how files (paths, folders or globs) are understood, by the settings and formats of a project.

    Raises ReportgenError where a file can't be read or a setting is wrong.
    """
    settings = load_settings(project, flags={"events": tuple(files), "source": tuple(source)})
    settings = replace(settings, source=tuple(source))
    inputs = replace(find_inputs(settings), feedback=(), healing=None, budget=None)
    for one in inputs.events:
        if one.path.suffix.lower() in (".md", ".markdown"):
            what = "is Markdown: `inspect` says how cost events are understood"
            raise ReportgenError(one.name, what, "`reportgen doctor` looks at FEEDBACK.md and BUDGET.md.")
    formats = find_formats(settings.project)
    seen = []
    for one in inputs.events:
        try:
            seen.append(understand(one.path, formats, settings.fields))
        except OSError as error:
            what = f"can't be read: {error.strerror or error}"
            where = shown_name(one, redacted=settings.redact)
            raise ReportgenError(where, what, "Check the file and run again.", ExitCode.NO_INPUT) from error
    with marts_of(settings, inputs) as (store, found):
        return Inspected(
            files=tuple(replace(one, file=shown_name(source, redacted=settings.redact))
                        for one, source in zip(found.inputs, inputs.events, strict=True)),
            looked_at=sum(one.lines for one in seen),
            more=any(one.more for one in seen),
            **_merged(seen, redacted=settings.redact),
            **_facts(store),
            notices=tuple(found.notices),
        )  # fmt: skip


def _merged(seen: Sequence[Understood], *, redacted: bool) -> dict[str, Any]:
    formats: Counter[str] = sum((one.formats for one in seen), Counter())
    mapping: dict[str, dict[str, int]] = {}
    for name in FIELDS:
        keys: Counter[str] = sum((one.mapping.get(name, Counter()) for one in seen), Counter())
        if keys:
            mapping[name] = _first(keys, redacted=redacted)
    ignored: Counter[str] = sum((one.ignored for one in seen), Counter())
    strange: Counter[str] = sum((one.strange for one in seen), Counter())
    return {
        "strange": _first(strange, redacted=redacted),
        "formats": dict(sorted(formats.items(), key=lambda item: (-item[1], item[0]))),
        "fields": mapping,
        "ignored": _first(ignored, redacted=redacted),
    }


def _first(counts: Mapping[str, int], *, redacted: bool) -> dict[str, int]:
    shown = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_KEYS]
    return {(redact(key) if redacted else key)[:_LONGEST]: count for key, count in shown}


def _facts(store: Warehouse) -> dict[str, Any]:
    row = store.query(
        "select min(event_time), max(event_time), count(*) filter (where event_time is null), count(*),"
        " count(distinct (pipeline, run_key)) filter (where run_key is not null) from events"
    ).rows[0]
    agents = store.query(
        f"select agent, count(*) as n from events group by agent order by n desc, agent limit {_AGENTS}"
    ).rows
    pipelines = store.query(
        "select pipeline, events, runs, cost_measure, cost, known_costs from pipelines where events > 0"
        " order by events desc, pipeline"
    ).dicts()
    costs = store.query(
        "select coalesce(cost_basis, 'unknown') as basis, count(*), sum(cost_usd) from events group by basis"
        " order by basis"
    ).rows
    examples = store.query(
        "select line_no as line, event_time, pipeline, agent, run, tool_name, model, input_tokens, output_tokens,"
        " cache_read_tokens, cache_write_tokens, total_tokens, cost_usd, cost_basis, duration_ms from events"
        f" order by event_no limit {_EXAMPLES}"
    ).dicts()
    return {
        "first": _plain(row[0]), "last": _plain(row[1]), "undated": row[2], "events": row[3], "runs": row[4],
        "agents": {str(agent): int(count) for agent, count in agents},
        "pipelines": {p["pipeline"]: {key: _plain(value) for key, value in p.items() if key != "pipeline"}
                      for p in pipelines},
        "costs": {basis: {"events": count, "usd": _plain(usd)} for basis, count, usd in costs},
        "examples": tuple({key: _plain(value) for key, value in one.items() if value is not None}
                          for one in examples),
    }  # fmt: skip


def _plain(value: object) -> Any:  # noqa: ANN401 - a value of JSON
    if isinstance(value, Decimal):
        text = f"{value:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%dT%H:%M:%S}Z"
    return value


def as_object(found: Inspected) -> dict[str, Any]:
    """Return it for `--json`."""
    return asdict(found)


def text_lines(found: Inspected) -> list[str]:
    """Return it for a person, a line each."""
    lines = [*_files(found), "", "Formats"]
    lines += [f"  {count:>9,}  {title}" for title, count in found.formats.items()] or ["  there is no line"]
    if found.more:
        lines.append(f"  of the first {found.looked_at:,} lines; formats and keys of the rest were not looked at")
    if found.formats.get(FLAT):
        lines += ["", "Fields of cost events, and the keys that give them"]
        for name in FIELDS:
            keys = ", ".join(f"{key} ({count:,})" for key, count in found.fields.get(name, {}).items())
            lines.append(f"  {name:<18} {keys or '-'}")
        ignored = ", ".join(found.ignored)
        lines += [f"  {'read by nothing':<18} {ignored or '-'}"]
    if found.strange and not found.events:
        keys = ", ".join(f"{key} ({count:,})" for key, count in found.strange.items())
        lines += ["", f"Keys of the lines that are no cost event: {keys}"]
        lines += [
            "Are some of them an event's? Say which, in [events.fields] of reportgen.toml (docs/sources.md), or let"
        ]
        lines += ["`reportgen new format ID FILE` draft how these lines are read."]
    lines += ["", *_totals(found)]
    lines += ["", "Warnings"] if found.notices else ["", "No warnings"]
    for notice in found.notices:
        place = f"{notice.file}:{notice.line}: " if notice.line else f"{notice.file}: " if notice.file else ""
        lines.append(f"  {notice.severity}: {place}{notice.message}")
    if found.examples:
        lines += ["", f"The first {len(found.examples)} events"]
        lines += ["  " + " ".join(f"{key}={value}" for key, value in one.items()) for one in found.examples]
    return lines


def _files(found: Inspected) -> list[str]:
    fates = ("used", "superseded", "duplicates", "not_cost", "rejected", "blank")
    lines: list[str] = []
    for one in found.files[:_AGENTS]:
        told = ", ".join(f"{getattr(one, fate):,} {fate.replace('_', ' ')}" for fate in fates if getattr(one, fate))
        lines.append(f"{one.file}: {one.lines:,} lines: {told or 'none'}; {one.events:,} events")
    if len(found.files) > _AGENTS:
        lines.append(f"and {len(found.files) - _AGENTS:,} more files")
    return lines


def _totals(found: Inspected) -> list[str]:
    lines = [f"Time       {found.first} to {found.last}" if found.first else "Time       nothing has a date"]
    if found.undated:
        lines[0] += f", {found.undated:,} undated"
    agents = ", ".join(f"{agent} ({count:,})" for agent, count in found.agents.items())
    lines += [f"Agents     {agents or '-'}", f"Runs       {found.runs:,}"]
    for name, one in found.pipelines.items():
        lines.append(
            f"Pipeline   {name}: {one['events']:,} events, measured in {one['cost_measure']}: {one['cost']},"
            f" known for {one['known_costs']:,} of them"
        )
    costs = ", ".join(
        f"{one['events']:,} {basis}" + (f" (${one['usd']})" if one["usd"] is not None else "")
        for basis, one in found.costs.items()
    )
    lines.append(f"Cost       {costs or '-'}")
    return lines
