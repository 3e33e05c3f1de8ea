"""Which key of a producer's record is which field of a cost event: the table of names, and a plan for each shape.

Names match exactly, with case, `_`, `-` and camelCase folded; dots walk into nested objects, and a key may hold the
dots itself. A plan is worked out once for each set of keys and says where to look, in order; the first value that is
present wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from decimal import Decimal
from functools import lru_cache

from reportgen.formatfile import Format
from reportgen.inputs.records import Record
from reportgen.quickclass import dataclass

#: Canonical field: its names, the first that is present wins. The last ones say how a row is taken, not what is in it.
_TABLE = """
event_time: occurred_at timestamp ts time t at datetime created_at started_at start_time window_start timeUnixNano
  startTimeUnixNano
agent: agent agent.name agent_name agent_id agent_type role bot assistant subagent_type gen_ai.agent.name
pipeline: pipeline pipeline_name pipeline_id workflow workflow_name workflow_id
run_id: run_id trace_id execution_id task_id session_id session.id conversation_id gen_ai.conversation.id
session: session_id session.id conversation_id gen_ai.conversation.id
event_id: event_id gen_ai.response.id
tool_name: tool_name tool gen_ai.tool.name
model: resolved_model model model_id model_used model_name gen_ai.response.model gen_ai.request.model
input_tokens: input_tokens tokens_in in_tok prompt_tokens tokens_prompt prompt_token_count usage.input_tokens
  usage.prompt_tokens tokens.input gen_ai.usage.input_tokens
output_tokens: output_tokens tokens_out out_tok completion_tokens tokens_completion candidates_token_count
  usage.output_tokens usage.completion_tokens tokens.output gen_ai.usage.output_tokens
cache_read_tokens: cache_read_input_tokens cache_read_tokens cache_read cached_tokens cached_input_tokens
  usage.cache_read_input_tokens tokens.cache.read
cache_write_tokens: cache_creation_input_tokens cache_write_tokens cache_write usage.cache_creation_input_tokens
  tokens.cache.write
total_tokens: total_tokens tokens token_count tokens.total usage.total_tokens
estimated_tokens: estimated_tokens est_tokens tokens_estimated
cost_usd: cost_usd usd total_cost_usd actual_cost_usd cost total_cost usage.cost response_cost cost.usd cost.total
  estimated_cost_usd approx_cost_usd estimated_cost cost_cents cost_micros cost_microusd cost_microdollars
  cost_nano_usd
duration_ms: duration_ms latency_ms elapsed_ms wall_ms duration_s duration_seconds elapsed_seconds wall_ns
kind: type event event_type
phase: phase
is_estimate: is_estimate
transcript: transcript_path transcript transcript_file transcript_id
cumulative: cumulative is_cumulative
manner: type event event_type kind mode scope aggregation temporality
operation: gen_ai.operation.name
"""


def _names(table: str) -> dict[str, tuple[str, ...]]:
    names: dict[str, list[str]] = {}
    field = ""
    for word in table.split():
        if word.endswith(":"):
            field = word[:-1]
            names[field] = []
        else:
            names[field].append(word)
    return {field: tuple(found) for field, found in names.items()}


NAMES = _names(_TABLE)

#: Objects that wrap the event itself; one of them is opened, the first that is there.
ENVELOPES = ("payload", "data", "event", "attributes", "message")

_CENT = Decimal("0.01")
_MICRO = Decimal("0.000001")
_NANO = Decimal("0.000000001")
#: What a name's unit is in dollars, or in milliseconds.
_SCALES = {
    "cost_cents": _CENT,
    "cost_micros": _MICRO,
    "cost_microusd": _MICRO,
    "cost_microdollars": _MICRO,
    "cost_nano_usd": _NANO,
    "duration_s": Decimal(1000),
    "duration_seconds": Decimal(1000),
    "elapsed_seconds": Decimal(1000),
    "wall_ns": _MICRO,
}
_ESTIMATED_COSTS = ("estimated_cost_usd", "approx_cost_usd", "estimated_cost")
#: Names of producers (OpenAI, Gemini, OpenTelemetry) whose input tokens already hold the cache reads.
_CACHE_INSIDE = (
    *("prompt_tokens", "tokens_prompt", "prompt_token_count", "usage.prompt_tokens", "gen_ai.usage.input_tokens"),
    *("cached_tokens", "cached_input_tokens"),
)
_PARTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_METRICS = (*_PARTS, "total_tokens", "estimated_tokens", "cost_usd")
_PRESENCE = ("agent", "tool_name", *_METRICS)
_OTLP_ROOTS = frozenset({"resourcespans", "resourcelogs", "resourcemetrics"})
_TOTAL_PREFIX = re.compile(r"(?i:total)[_-]|total(?=[A-Z])")
_METRIC_WORD = re.compile(r"token|cost|usd", re.IGNORECASE)


@lru_cache(maxsize=65536)
def fold_key(key: str) -> str:
    """Return the form in which two key names are compared: `costUsd`, `cost-usd` and `COST_USD` are `costusd`."""
    return key.lower().replace("_", "").replace("-", "")


def _flags(names: Iterable[str]) -> frozenset[str]:
    return frozenset(fold_key(name) for name in names)


_FOLDED_SCALES = {fold_key(name): scale for name, scale in _SCALES.items()}
_FOLDED_ESTIMATED = _flags(_ESTIMATED_COSTS)
_FOLDED_CACHE_INSIDE = _flags(_CACHE_INSIDE)

#: Where to look for one field: keys of the (flattened) record, in order.
Keys = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """Where the fields of records with one set of keys are. Empty tuples: nowhere."""

    event_time: Keys
    agent: Keys
    pipeline: Keys
    run_id: Keys
    session: Keys
    event_id: Keys
    tool_name: Keys
    model: Keys
    input_tokens: Keys
    output_tokens: Keys
    cache_read_tokens: Keys
    cache_write_tokens: Keys
    total_tokens: Keys
    estimated_tokens: Keys
    cost_usd: Keys
    duration_ms: Keys
    kind: Keys
    phase: Keys
    is_estimate: Keys
    transcript: Keys
    cumulative: Keys
    manner: Keys
    operation: Keys
    #: The four exact parts of the total that are there, as (place among the four, keys).
    parts: tuple[tuple[int, Keys], ...]
    #: The total is not always the sum of the parts.
    other_totals: bool
    #: Keys that make a record a cost event when one of them has a value.
    presence: Keys
    #: For keys of costs and durations: what one is in dollars or milliseconds, where that is not 1.
    scales: Mapping[str, Decimal]
    #: Keys whose cost is an estimate, and token keys whose producer counts cache reads as input.
    estimated_costs: frozenset[str]
    #: Keys that hold a number of tokens, or say with true or false whether the numbers are estimates.
    estimate_flags: frozenset[str]
    cache_inside: frozenset[str]
    #: Keys with the prefix `total_`, where every metric of the record has it and one of them is no known field.
    totals: Keys
    #: Every metric has the prefix `total_`, and there are several.
    only_totals: bool
    #: Keys that may hold an object to look into.
    openable: Keys
    #: An OpenTelemetry export's root key, as written.
    otlp: str | None
    #: The record needs a look at its kind before it is taken for a cost event.
    unusual: bool
    #: The record may belong with others: an opener, an estimate, a running total.
    related: bool
    #: Formats that SQL reads, one of which the record may be of.
    formats: tuple[Format, ...]


_FIELD_NAMES = tuple(field.name for field in fields(Plan) if field.name in NAMES)


class Planner:
    """Plans, one for each set of keys; `own` names of a project are tried before the built-in ones."""

    def __init__(self, own: Mapping[str, tuple[str, ...]], formats: Sequence[Format] = ()) -> None:
        self._formats = formats
        #: Folded path: the fields it may be, with its place among their names.
        self._index: dict[str, list[tuple[str, int]]] = {}
        self._inside: set[str] = set()
        for name in _FIELD_NAMES:
            own_names = own.get(name, ())
            if name == "session":
                own_names = ()
            for place, alias in enumerate((*own_names, *NAMES[name])):
                path = fold_key(alias)
                self._index.setdefault(path, []).append((name, place))
                self._inside.update(_parents(path))
        bare = tuple(self._inside)
        for envelope in ENVELOPES:
            self._inside.update((envelope, *(f"{envelope}.{path}" for path in bare)))
        self._plans: dict[Keys, Plan] = {}

    def plan(self, record: Record) -> Plan:
        """Return the plan for the record's keys."""
        keys = tuple(record)
        plan = self._plans.get(keys)
        if plan is None:
            if len(self._plans) >= 5000:
                # Keys that are never the same twice would fill the memory.
                self._plans.clear()
            plan = self._plans[keys] = self._work_out(keys)
        return plan

    def flatten(self, record: Record) -> Record:
        """Return the record with every object that may hold a field replaced by its members, `usage.input_tokens`."""
        flat: Record = {}
        opened = next(
            (e for e in ENVELOPES for key, value in record.items() if fold_key(key) == e and type(value) is dict), None
        )
        self._flatten(record, "", "", flat, opened)
        return flat

    def _flatten(self, record: Record, raw: str, folded: str, flat: Record, opened: str | None) -> None:
        for key, value in record.items():
            path = folded + fold_key(key)
            closed = not raw and path in ENVELOPES and path != opened
            if type(value) is dict and path in self._inside and not closed:
                self._flatten(value, f"{raw}{key}.", f"{path}.", flat, opened)
            else:
                flat[raw + key] = value

    def _work_out(self, keys: Keys) -> Plan:
        found: dict[str, list[tuple[tuple[bool, int, int], str]]] = {name: [] for name in _FIELD_NAMES}
        folded = [fold_key(key) for key in keys]
        # What an envelope holds is the event, unless the record beside it has the numbers itself.
        outer_first = any(name in _METRICS for path in folded for name, _ in self._index.get(path, ()))
        for position, (key, path) in enumerate(zip(keys, folded, strict=True)):
            envelope, _, rest = path.partition(".")
            wrapped = bool(rest) and envelope in ENVELOPES and path not in self._index
            for name, place in self._index.get(rest if wrapped else path, ()):
                # Two spellings of one name in a record: the later wins, as with duplicate keys.
                found[name].append(((wrapped == outer_first, place, -position), key))
        where = {name: tuple(key for _, key in sorted(entries)) for name, entries in found.items()}
        return self._plan(keys, where)

    def _plan(self, keys: Keys, where: dict[str, Keys]) -> Plan:
        path_of = {key: _inner(fold_key(key)) for key in keys}
        totals, only_totals = _totals(keys, {key for name in _METRICS for key in where[name]})
        otlp = next((key for key in keys if fold_key(key) in _OTLP_ROOTS), None)
        cache_inside = frozenset(key for key, path in path_of.items() if path in _FOLDED_CACHE_INSIDE)
        return Plan(
            **where,
            parts=tuple((place, where[name]) for place, name in enumerate(_PARTS) if where[name]),
            other_totals=bool(where["total_tokens"] or where["estimated_tokens"] or cache_inside),
            presence=tuple(key for name in _PRESENCE for key in where[name]),
            scales={key: _FOLDED_SCALES[path] for key, path in path_of.items() if path in _FOLDED_SCALES},
            estimated_costs=frozenset(key for key, path in path_of.items() if path in _FOLDED_ESTIMATED),
            estimate_flags=frozenset(key for key, path in path_of.items() if path == "tokensestimated"),
            cache_inside=cache_inside,
            totals=totals,
            only_totals=only_totals,
            openable=tuple(key for key in keys if fold_key(key) in self._inside),
            otlp=otlp,
            unusual=bool(otlp or totals or only_totals or where["kind"] or where["operation"]),
            related=any(where[name] for name in ("phase", "is_estimate", "transcript", "cumulative", "manner")),
            formats=tuple(one for one in self._formats if one.may_be(keys)),
        )


def _parents(path: str) -> Iterable[str]:
    segments = path.split(".")
    return (".".join(segments[:count]) for count in range(1, len(segments)))


def _inner(path: str) -> str:
    envelope, _, rest = path.partition(".")
    return rest if rest and envelope in ENVELOPES else path


def _totals(keys: Keys, known: set[str]) -> tuple[Keys, bool]:
    """Say whether every metric of these keys has the prefix `total_`: the keys that prove it, and if there are two.

    `total_tokens` and `total_cost_usd` are also what some producers call one event's numbers, so they alone do not
    make a summary; a prefixed name that no event has (`total_input_tokens`) does.
    """
    prefixed = [key for key in keys if _TOTAL_PREFIX.match(key.rpartition(".")[2])]
    if not prefixed or not known.issubset(prefixed):
        return (), False
    return tuple(key for key in prefixed if key not in known and _METRIC_WORD.search(key)), len(prefixed) >= 2
