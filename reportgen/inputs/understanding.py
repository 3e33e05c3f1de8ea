"""How a file's lines are understood: which format each is of, which key is taken for which field, which are left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from itertools import islice
from pathlib import Path

from reportgen.formatfile import Format
from reportgen.inputs.fields import Plan, Planner
from reportgen.inputs.lines import LineFile
from reportgen.inputs.records import LineReader, Record
from reportgen.quickclass import dataclass

FLAT = "Cost events, one a line"
NOT_COST = "Lines without agent, tool, tokens or cost"
NOT_READ = "Lines that can't be read"
#: More keys than this are not counted one by one.
_MOST_KEYS = 10_000

#: Fields of a cost event, as they are told; what says how a row is taken comes last.
FIELDS = (
    "event_time", "agent", "pipeline", "run_id", "session", "event_id", "tool_name", "model", "input_tokens",
    "output_tokens", "cache_read_tokens", "cache_write_tokens", "total_tokens", "estimated_tokens", "cost_usd",
    "duration_ms",
)  # fmt: skip
_KEYS = tuple(one.name for one in fields(Plan) if one.name in (*FIELDS, "kind", "phase", "is_estimate", "transcript",
                                                               "cumulative", "manner", "operation"))  # fmt: skip


@dataclass(slots=True)
class Understood:
    """What was seen in a file, by counts: lines of each format, keys of each field, keys that nothing reads."""

    lines: int = 0
    #: There are more lines, which were not looked at.
    more: bool = False
    formats: Counter[str] = field(default_factory=Counter)
    #: By field: how many lines gave it under which key.
    mapping: dict[str, Counter[str]] = field(default_factory=dict)
    ignored: Counter[str] = field(default_factory=Counter)
    #: Keys of lines that are no cost event: what a person would have to name, if they are meant as ones.
    strange: Counter[str] = field(default_factory=Counter)


def understand(
    path: Path, formats: Sequence[Format], own: Mapping[str, tuple[str, ...]], *, most: int = 200_000
) -> Understood:
    """Look at the first `most` lines of a file. Raises OSError."""
    seen = Understood()
    reader, planner = LineReader(), Planner(own, formats)
    lines = iter(LineFile(path))
    for line in islice(lines, most):
        seen.lines += 1
        read = reader.read(line)
        if read.reason is not None:
            seen.formats[NOT_READ] += 1
        for record in read.records:
            _note(seen, record, planner)
    seen.more = next(lines, None) is not None
    return seen


def _note(seen: Understood, record: Record, planner: Planner) -> None:
    plan = planner.plan(record)
    one = next((one for one in plan.formats if one.matches(record)), None)
    if one is not None:
        seen.formats[one.title] += 1
        return
    flat = planner.flatten(record) if any(type(record[key]) is dict for key in plan.openable) else record
    plan = planner.plan(flat)
    if not any(_there(flat[key]) for key in plan.presence):
        seen.formats[NOT_COST] += 1
        seen.strange.update(key for key in flat if key in seen.strange or len(seen.strange) < _MOST_KEYS)
        return
    seen.formats[FLAT] += 1
    read: set[str] = set()
    for name in _KEYS:
        keys = getattr(plan, name)
        read.update(keys)
        key = next((key for key in keys if _there(flat[key])), None)
        if key is not None and name in FIELDS:
            seen.mapping.setdefault(name, Counter())[key] += 1
    for key in flat:
        if key not in read and (key in seen.ignored or len(seen.ignored) < _MOST_KEYS):
            seen.ignored[key] += 1


def _there(value: object) -> bool:
    return value is not None and value != ""
