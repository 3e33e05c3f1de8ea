"""One record to one row, or to the reason why it is no cost event (SPEC 2, cost event fields)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from enum import IntEnum
from typing import Any, Literal

from reportgen.inputs.amounts import (
    COST_LIMIT,
    COST_PLACES,
    DURATION_LIMIT,
    DURATION_PLACES,
    TOKEN_LIMIT,
    amount,
    token_count,
)
from reportgen.inputs.eventcsv import EventCsv, cell
from reportgen.inputs.fields import Keys, Plan, Planner
from reportgen.inputs.records import Record, canonical
from reportgen.inputs.remarks import Remarks
from reportgen.inputs.repeats import Repeats
from reportgen.inputs.times import OUT_OF_RANGE, utc_text
from reportgen.inputs.transcripts import transcript_event
from reportgen.names import MISSING_WORDS, Names, fold, squeeze
from reportgen.redact import redact

#: How rows that share a session may be read: found out, always running totals, never.
Cumulative = Literal["auto", "always", "never"]

#: A longer tool or model name is cut.
_LONGEST_LABEL = 200
_CACHED = 50_000
_SUMMARY_WORDS = frozenset({"summary", "summaries", "total", "totals", "rollup", "rollups"})
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_SAYS_CUMULATIVE = re.compile(r"cumulative|running[ _-]?total", re.IGNORECASE)
#: Spans that repeat the usage of the spans in them.
_PARENT_SPANS = frozenset({"invoke_agent", "create_agent", "invoke_workflow"})
_MISSING = object()


class Fate(IntEnum):
    """What became of a record."""

    NOT_COST = 0
    EVENT = 1
    #: A cost event later than `as_of`: not seen at all.
    LATER = 2


class Taker:
    """Turns records into rows of the CSV. `remarks` must be set to the line at hand."""

    def __init__(
        self,
        *,
        rows: EventCsv,
        names: Names,
        repeats: Repeats,
        remarks: Remarks,
        own_fields: Mapping[str, tuple[str, ...]],
        as_of: str | None,
        redacted: bool,
        cumulative: Cumulative,
    ) -> None:
        self._rows = rows
        self._names = names
        self._repeats = repeats
        self._remarks = remarks
        self._planner = Planner(own_fields)
        self._as_of = as_of
        self._redacted = redacted
        self._cumulative = cumulative
        self._agents: dict[str, int | None] = {}
        self._pipelines: dict[str, int | None] = {}
        self._runs: dict[str, int | None] = {}
        self._labels: dict[str, str] = {}
        #: Costs of the file at hand, and those above 0; the caller sets them to 0.
        self.costs = 0
        self.costs_above_zero = 0

    def take(self, record: Record, line: bytes, part: int = 0) -> Fate:
        """Add the record's row; `part` is its place on the line."""
        plan = self._planner.plan(record)
        for key in plan.openable:
            if type(record[key]) is dict:
                flat = self._planner.flatten(record)
                break
        else:
            flat = record
        if flat is not record:
            plan = self._planner.plan(flat)
        transcript = False
        if plan.unusual:
            other = self._unusual(record, flat, plan)
            if other is None:
                return Fate.NOT_COST
            if other is not flat:
                flat, plan, transcript = other, self._planner.plan(other), True

        time, trouble = "", None
        for key in plan.event_time:
            value = flat[key]
            if value is not None and value != "":
                time, trouble = utc_text(value)
                break
        else:
            trouble = "missing"
        if self._as_of is not None and time > self._as_of:
            return (
                Fate.LATER if any(flat[key] is not None and flat[key] != "" for key in plan.presence) else Fate.NOT_COST
            )

        present = False
        for key in plan.presence:
            value = flat[key]
            if value is not None and value != "":
                present = True
                break
        if not present:
            return Fate.NOT_COST

        agent = self._name(flat, plan.agent, self._agents, self._names.agent) if plan.agent else None
        tool = self._label(flat, plan.tool_name) if plan.tool_name else ""
        parts: list[int | None] = [None, None, None, None]
        cache_inside = False
        for place, keys in plan.parts:
            for key in keys:
                value = flat[key]
                if value is None or value == "":
                    continue
                cache_inside = cache_inside or key in plan.cache_inside
                parts[place] = value if type(value) is int and 0 <= value < TOKEN_LIMIT else self._count(value)
                break
        total, tokens_estimated = self._total(flat, plan, parts, cache_inside)
        cost, basis = self._cost(flat, plan) if plan.cost_usd else ("", "")

        if trouble:
            self._remarks.add(_TIME_TROUBLES.get(trouble, "time-unreadable"))
        pipeline = self._name(flat, plan.pipeline, self._pipelines, self._names.pipeline) if plan.pipeline else None
        run = self._name(flat, plan.run_id, self._runs, self._names.run) if plan.run_id else None
        model = self._label(flat, plan.model) if plan.model else ""
        duration = self._duration(flat, plan) if plan.duration_ms else ""
        if plan.is_estimate and self._flag(flat, plan.is_estimate):
            basis = "estimated" if cost else ""
            tokens_estimated = total is not None

        row = self._rows.rows
        inputs, outputs, reads, writes = parts
        self._rows.add(
            f"{self._remarks.file},{self._remarks.line},{time},"
            f"{'' if agent is None else agent},{'' if pipeline is None else pipeline},{'' if run is None else run},"
            f"{tool},{model},{'' if inputs is None else inputs},{'' if outputs is None else outputs},"
            f"{'' if reads is None else reads},{'' if writes is None else writes},{'' if total is None else total},"
            f"{'true' if tokens_estimated else 'false'},{cost},{basis},{duration}"
        )
        if plan.event_id and (event_id := self._id(flat, plan.event_id)):
            self._repeats.same_id(event_id, row, line, part)
        if not transcript and (plan.related or self._cumulative == "always"):
            metrics = (*parts, total, Decimal(cost) if cost else None)
            self._relate(record, flat, plan, time, agent, pipeline, run, tool, metrics, row)
        elif not tool and run is not None and time and not transcript and (total is not None or cost):
            self._repeats.level(run, time, (*parts, total, Decimal(cost) if cost else None))
        return Fate.EVENT

    def _unusual(self, record: Record, flat: Record, plan: Plan) -> Record | None:
        """Return the record to take (a transcript's line in canonical names), or None where it is no cost event."""
        if plan.otlp:
            self._remarks.add("otlp-not-read")
            return None
        transcript = transcript_event(record) if "type" in record else None
        if isinstance(transcript, dict):
            return transcript
        if transcript:
            if transcript == "repeats":
                self._remarks.add("transcript-repeats")
            return None
        if any(flat[key] in _PARENT_SPANS for key in plan.operation if isinstance(flat[key], str)):
            self._remarks.add("otel-parent-spans")
            return None
        if self._sums_up(flat, plan):
            self._remarks.add("summary-rows")
            return None
        return flat

    def _sums_up(self, flat: Record, plan: Plan) -> bool:
        for key in plan.kind:
            kind = flat[key]
            if isinstance(kind, str) and _SUMMARY_WORDS & {word.lower() for word in _WORDS.findall(kind[:200])}:
                return True
        if any(isinstance(flat[key], int | Decimal) and flat[key] is not True for key in plan.totals):
            return True
        return plan.only_totals and not any(flat[key] for key in (*plan.agent, *plan.tool_name))

    def _name(
        self, flat: Record, keys: Keys, cache: dict[str, int | None], number: Callable[[str], int | None]
    ) -> int | None:
        """Return the number of the first name that names somebody; a word for "none" lets the next key speak."""
        for key in keys:
            value = flat[key]
            if value is None or value == "":
                continue
            text = value if type(value) is str else self._text(value)
            if text is None:
                continue
            found = cache.get(text, _MISSING)
            if found is _MISSING:
                if len(cache) >= _CACHED:
                    cache.clear()
                found = cache[text] = number(text)
            if found is not None:
                return found  # type: ignore[return-value] # an int or None, by the two lines above
        return None

    def _text(self, value: object) -> str | None:
        if isinstance(value, int | Decimal) and not isinstance(value, bool):
            self._remarks.add("integer-name")
            return str(value)
        self._remarks.add("unusable-name")
        return None

    def _label(self, flat: Record, keys: Keys) -> str:
        """Return the first text as a CSV cell, ready to be shown."""
        for key in keys:
            value = flat[key]
            if value is None or value == "":
                continue
            text = value if type(value) is str else self._text(value)
            if text is None:
                continue
            shown = self._labels.get(text)
            if shown is None:
                if len(self._labels) >= _CACHED:
                    self._labels.clear()
                shown = self._labels[text] = cell(shown_text(text, self._redacted))
            if shown:
                return shown
        return ""

    def _id(self, flat: Record, keys: Keys) -> str | None:
        for key in keys:
            value = flat[key]
            if value is None or value == "":
                continue
            text = value if type(value) is str else self._text(value)
            # A collector that writes "unknown" for every id must not lose all events but one.
            if text is not None and fold(squeezed := squeeze(text)) not in MISSING_WORDS:
                return squeezed
        return None

    def _count(self, value: object) -> int | None:
        count = token_count(value)
        if count is None:
            self._remarks.add("tokens-unusable")
        return count

    def _total(self, flat: Record, plan: Plan, parts: list[int | None], cache_inside: bool) -> tuple[int | None, bool]:
        """Return the total and whether it is an estimate: given, else the sum of the parts, else the estimate."""
        total: int | None = None
        flagged = False
        for key in plan.total_tokens:
            value = flat[key]
            if value is not None and value != "":
                total = value if type(value) is int and 0 <= value < TOKEN_LIMIT else self._count(value)
                break
        if total is None and plan.parts:
            inputs, _, reads, _ = parts
            known = [part for part in parts if part is not None]
            if known:
                total = sum(known)
                # More reads than input can't be inside it.
                if cache_inside and reads and inputs is not None and reads <= inputs:
                    total -= reads
        for key in plan.estimated_tokens:
            value = flat[key]
            if value is None or value == "":
                continue
            if type(value) is bool and key in plan.estimate_flags:
                flagged = value
                continue
            if total is None:
                return self._count(value), True
            break
        return total, flagged and total is not None

    def _cost(self, flat: Record, plan: Plan) -> tuple[str, str]:
        for key in plan.cost_usd:
            value = flat[key]
            if value is None or value == "":
                continue
            found = amount(value, COST_LIMIT, COST_PLACES, plan.scales.get(key) if plan.scales else None)
            if found is None:
                self._remarks.add("cost-unusable")
                return "", ""
            text, rounded = found
            if rounded:
                self._remarks.add("cost-rounded")
            self.costs += 1
            if text.strip("0."):
                self.costs_above_zero += 1
            return text, "estimated" if key in plan.estimated_costs else "reported"
        return "", ""

    def _duration(self, flat: Record, plan: Plan) -> str:
        for key in plan.duration_ms:
            value = flat[key]
            if value is None or value == "":
                continue
            found = amount(value, DURATION_LIMIT, DURATION_PLACES, plan.scales.get(key) if plan.scales else None)
            if found is None:
                self._remarks.add("duration-unusable")
                return ""
            return found[0]
        return ""

    def _flag(self, flat: Record, keys: Keys) -> bool | None:
        """Return a truth value given as true, false, 1, 0 or as one of these words."""
        for key in keys:
            word = str(flat[key]).strip().casefold() if isinstance(flat[key], bool | int | str) else ""
            if word in ("true", "1", "yes"):
                return True
            if word in ("false", "0", "no"):
                return False
        return None

    def _relate(
        self,
        record: Record,
        flat: Record,
        plan: Plan,
        time: str,
        agent: int | None,
        pipeline: int | None,
        run: int | None,
        tool: str,
        metrics: tuple[int | Decimal | None, ...],
        row: int,
    ) -> None:
        """Note what ties this row to others."""
        session = self._session(flat, plan) or run
        if plan.phase:
            phase = next((flat[key] for key in plan.phase if isinstance(flat[key], str)), "")
            # Without a session or a tool the agent and the pipeline have to tell two openings apart.
            apart = (agent, pipeline) if session is None or not tool else ()
            self._repeats.phase((session, tool, *apart), phase, time, _tie(record), row)
        if plan.is_estimate and session is not None:
            is_estimate = self._flag(flat, plan.is_estimate)
            if is_estimate is not None:
                self._repeats.estimate(session, is_estimate, time, row)
        if all(value is None for value in metrics):
            return
        says_so = self._cumulative == "always" or self._says_cumulative(flat, plan)
        transcript = next((flat[key] for key in plan.transcript if isinstance(flat[key], str) and flat[key]), None)
        # A row that names a tool is one call, not a session's stop.
        if self._cumulative != "never" and ((says_so and session is not None) or (transcript and not tool)):
            self._repeats.snapshot((session, None if says_so else transcript), time, metrics, _tie(record), row)
        elif run is not None and not tool and time:
            self._repeats.level(run, time, metrics)

    def _session(self, flat: Record, plan: Plan) -> str | None:
        for key in plan.session:
            value: Any = flat[key]
            if isinstance(value, str | int) and not isinstance(value, bool):
                text = squeeze(str(value))
                if fold(text) not in MISSING_WORDS:
                    return text
        return None

    def _says_cumulative(self, flat: Record, plan: Plan) -> bool:
        if plan.cumulative and self._flag(flat, plan.cumulative):
            return True
        return any(isinstance(flat[key], str) and _SAYS_CUMULATIVE.search(flat[key][:200]) for key in plan.manner)


_TIME_TROUBLES = {"missing": "time-missing", OUT_OF_RANGE: "time-out-of-range"}


def _tie(record: Record) -> str:
    return hashlib.blake2b(canonical(record).encode("utf-8", "replace"), digest_size=8).hexdigest()


def shown_text(text: str, redacted: bool) -> str:
    """Return a tool's or a model's name as it may be shown: on one line, redacted, not too long."""
    text = squeeze(text)
    if redacted:
        text = redact(text[: 4 * _LONGEST_LABEL])
    return text if len(text) <= _LONGEST_LABEL else text[:_LONGEST_LABEL] + "…"
