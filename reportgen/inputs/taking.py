"""One record to one row, or to the reason why it is no cost event (SPEC 2, cost event fields)."""

from __future__ import annotations

import hashlib
import re
from decimal import Decimal
from enum import IntEnum
from typing import Literal

from reportgen.inputs.amounts import TOKEN_LIMIT
from reportgen.inputs.cells import Cells, session_name, truth
from reportgen.inputs.eventcsv import EventCsv
from reportgen.inputs.fields import Plan, Planner
from reportgen.inputs.formats import Formats
from reportgen.inputs.records import NumberText, Record, canonical
from reportgen.inputs.remarks import Remarks
from reportgen.inputs.repeats import Metrics, Repeats
from reportgen.inputs.times import OUT_OF_RANGE, utc_text
from reportgen.names import Names

#: How rows that share a session are read: running totals where they prove it, always, never.
Cumulative = Literal["auto", "always", "never"]

_SUMMARY_WORDS = frozenset({"summary", "summaries", "total", "totals", "rollup", "rollups"})
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_SAYS_CUMULATIVE = re.compile(r"cumulative|running[ _-]?total", re.IGNORECASE)
#: Spans that repeat the usage of the spans in them.
PARENT_SPANS = frozenset({"invoke_agent", "create_agent", "invoke_workflow"})
_MISSING_TIME = "missing"
_TIME_REMARKS = {_MISSING_TIME: "time-missing", OUT_OF_RANGE: "time-out-of-range"}


class Fate(IntEnum):
    """What became of a record."""

    NOT_COST = 0
    EVENT = 1
    #: A cost event later than `as_of`: not seen at all.
    LATER = 2
    #: Of a format that SQL reads: set aside.
    ASIDE = 3


# Members of an enum are slow to reach, and these are reached for every record.
_NOT_COST, _EVENT, _LATER, _ASIDE = Fate


class Taker:
    """Turns records into rows of the CSV. `remarks` must be set to the line at hand."""

    def __init__(
        self,
        *,
        rows: EventCsv,
        names: Names,
        repeats: Repeats,
        remarks: Remarks,
        planner: Planner,
        formats: Formats,
        as_of: str | None,
        redacted: bool,
        cumulative: Cumulative,
    ) -> None:
        self._rows = rows
        self._repeats = repeats
        self._remarks = remarks
        self._planner = planner
        self._formats = formats
        self._as_of = as_of
        self._cumulative = cumulative
        #: Sessions are looked at for numbers that never fall.
        self._look = cumulative == "auto"
        #: What belongs with others was settled before; tokens of the row that are written to a cache for an hour.
        self._alone, self._long_writes = False, ""
        self.cells = Cells(names, remarks, redacted=redacted)

    def recognises(self, record: Record) -> bool:
        """Say whether the record is of a format that SQL reads."""
        return self._formats.of(record, self._planner.plan(record).formats) is not None

    def take_read(self, event: Record, long_writes: object) -> Fate:
        """Add the row of an event that a format's SELECT gave, in canonical names."""
        count = None if long_writes is None or long_writes == "" else self.cells.count(long_writes)
        self._alone, self._long_writes = True, "" if count is None else str(count)
        try:
            return self.take(event, b"", flat_only=True)
        finally:
            self._alone, self._long_writes = False, ""

    def take(self, record: Record, line: bytes, part: int = 0, *, flat_only: bool = False) -> Fate:
        """Add the record's row, or set it aside for its format; `part` is its place on the line."""
        flat = record
        plan = self._planner.plan(record)
        if plan.formats and not flat_only:
            one = self._formats.of(record, plan.formats)
            if one is not None and self._formats.add(one, record, self._remarks.file, self._remarks.line, part):
                return _ASIDE
        for key in plan.openable:
            if type(record[key]) is dict:
                flat = self._planner.flatten(record)
                plan = self._planner.plan(flat)
                break
        if plan.unusual and not self._counts(flat, plan):
            return _NOT_COST

        time, trouble = "", _MISSING_TIME
        for key in plan.event_time:
            value = flat[key]
            if value is not None and value != "":
                time, trouble = utc_text(value)
                break
        for key in plan.presence:
            value = flat[key]
            if value is not None and value != "":
                break
        else:
            return _NOT_COST
        if self._as_of is not None and time > self._as_of:
            return _LATER
        if trouble:
            self._remarks.add(_TIME_REMARKS.get(trouble, "time-unreadable"))

        cells = self.cells
        agent = cells.name(flat, plan.agent, cells.agents) if plan.agent else ""
        pipeline = cells.name(flat, plan.pipeline, cells.pipelines) if plan.pipeline else ""
        run = cells.name(flat, plan.run_id, cells.runs) if plan.run_id else ""
        tool = cells.label(flat, plan.tool_name) if plan.tool_name else ""
        model = cells.label(flat, plan.model) if plan.model else ""
        parts: list[int | None] = [None, None, None, None]
        total: int | None = None
        for place, keys in plan.parts:
            for key in keys:
                value = flat[key]
                if value is None or value == "":
                    continue
                count = value if type(value) is int and 0 <= value < TOKEN_LIMIT else cells.count(value)
                if count is not None:
                    parts[place] = count
                    total = count if total is None else total + count
                break
        tokens_estimated = False
        if plan.other_totals:
            total, tokens_estimated = cells.total(flat, plan, parts, total)
        cost, basis = cells.cost(flat, plan) if plan.cost_usd else ("", "")
        duration = cells.duration(flat, plan) if plan.duration_ms else ""
        if plan.is_estimate and truth(flat, plan.is_estimate):
            basis = "estimated" if cost else ""
            tokens_estimated = total is not None

        row = self._rows.rows
        inputs, outputs, reads, writes = parts
        self._rows.add(
            f"{row},{self._remarks.file},{self._remarks.line},{time},{agent},{pipeline},{run},{tool},{model},"
            f"{'' if inputs is None else inputs},{'' if outputs is None else outputs},"
            f"{'' if reads is None else reads},{'' if writes is None else writes},{'' if total is None else total},"
            f"{'true' if tokens_estimated else 'false'},{cost},{basis},{duration},{self._long_writes}\n"
        )
        if self._alone:
            return _EVENT
        if plan.event_id and (event_id := cells.identity(flat, plan.event_id)):
            self._repeats.same_id(event_id, row, line, part)
        if plan.related or self._cumulative == "always":
            metrics = (*parts, total, Decimal(cost) if cost else None)
            self._relate(record, flat, plan, time, (agent, pipeline, run, tool), metrics, row)
        elif self._look and plan.session and not tool and (total is not None or cost):
            self._repeats.level(_session(flat, plan), time, (*parts, total, Decimal(cost) if cost else None))
        return _EVENT

    def _counts(self, flat: Record, plan: Plan) -> bool:
        """Say whether a record that needs a second look is a cost event."""
        if plan.otlp:
            self._remarks.add("otlp-not-read")
            return False
        if any(flat[key] in PARENT_SPANS for key in plan.operation if isinstance(flat[key], str)):
            self._remarks.add("otel-parent-spans")
            return False
        if sums_up(flat, plan):
            self._remarks.add("summary-rows")
            return False
        return True

    def _relate(
        self,
        record: Record,
        flat: Record,
        plan: Plan,
        time: str,
        named: tuple[str, str, str, str],
        metrics: Metrics,
        row: int,
    ) -> None:
        """Note what ties this row to others. `named`: agent, pipeline and run numbers, and the tool; "" is none."""
        agent, pipeline, run, tool = named
        session = _session(flat, plan) or (f"run {run}" if run else "")
        if plan.phase:
            phase = next((flat[key] for key in plan.phase if isinstance(flat[key], str)), "")
            # Without a session or a tool the agent and the pipeline have to tell two openings apart.
            apart = () if session and tool else (agent, pipeline)
            self._repeats.phase((session, tool, *apart), phase, time, _tie(record), row)
        if plan.is_estimate and session:
            is_estimate = truth(flat, plan.is_estimate)
            if is_estimate is not None:
                self._repeats.estimate(session, is_estimate, time, row)
        if all(value is None for value in metrics):
            return
        says_so = self._cumulative == "always" or says_cumulative(flat, plan)
        transcript = next((flat[key] for key in plan.transcript if isinstance(flat[key], str) and flat[key]), "")
        # A row that names a tool is one call, not a session's stop.
        if self._cumulative != "never" and ((says_so and session) or (transcript and not tool)):
            self._repeats.snapshot((session, "" if says_so else transcript), time, metrics, _tie(record), row)
        elif self._look and not tool:
            self._repeats.level(_session(flat, plan), time, metrics)


def sums_up(flat: Record, plan: Plan) -> bool:
    """Say whether the record is a sum over others: its type says so, or all its metrics are totals."""
    for key in plan.kind:
        kind = flat[key]
        if isinstance(kind, str) and not _SUMMARY_WORDS.isdisjoint(word.lower() for word in _WORDS.findall(kind[:200])):
            return True
    if any(isinstance(flat[key], int | NumberText) and flat[key] is not True for key in plan.totals):
        return True
    return plan.only_totals and not any(flat[key] for key in (*plan.agent, *plan.tool_name))


def _session(flat: Record, plan: Plan) -> str:
    for key in plan.session:
        value = flat[key]
        if isinstance(value, str | int) and not isinstance(value, bool) and (text := session_name(str(value))):
            return text
    return ""


def says_cumulative(flat: Record, plan: Plan) -> bool:
    """Say whether the record calls itself a running total."""
    if plan.cumulative and truth(flat, plan.cumulative):
        return True
    return any(isinstance(flat[key], str) and _SAYS_CUMULATIVE.search(flat[key][:200]) for key in plan.manner)


def _tie(record: Record) -> str:
    return hashlib.blake2b(canonical(record).encode("utf-8", "replace"), digest_size=8).hexdigest()
