"""From lines that nobody reads yet to a draft of their format: which key may be which field, what tells them apart.

Guesses are made from the words of the keys and the kinds of the values. Only paths of plain names are looked at,
through objects and not through lists.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from reportgen.inputs.records import NumberText, Record
from reportgen.inputs.times import utc_text
from reportgen.quickclass import dataclass
from reportgen.redact import redact

Path_ = tuple[str, ...]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
#: A text that may stand in a file of the project: a name, a time, an id.
_SIMPLE = re.compile(r"[A-Za-z0-9 _.:/@+-]{1,60}")
_DEEPEST = 6
#: A key with so few values tells kinds of lines apart.
_FEW = 5
_CONDITIONS = 3

_TOKENS = frozenset({"token", "tokens", "tok", "toks", "usage", "use", "used"})
_MONEY = frozenset({"cost", "costs", "usd", "price", "spend", "spent", "dollar", "dollars", "charge"})
#: Amounts in another unit than dollars.
_OTHER_UNITS = frozenset({"cent", "cents", "micro", "micros", "microusd", "nano", "eur", "gbp", "limit", "budget"})
_IN = frozenset({"in", "input", "prompt"})
_OUT = frozenset({"out", "output", "completion", "generated"})
_CACHE = frozenset({"cache", "cached"})
_WRITE = frozenset({"write", "writes", "written", "creation", "created"})
_TIMES = frozenset({"timestamp", "ts", "time", "at", "date", "datetime", "when", "created", "started", "start", "end",
                    "ended", "finished", "logged"})  # fmt: skip
_NAMES: dict[str, frozenset[str]] = {
    "tool_name": frozenset({"tool", "function"}),
    "model": frozenset({"model", "llm", "engine"}),
    "agent": frozenset({"agent", "worker", "bot", "assistant", "persona", "actor", "role", "who"}),
    "pipeline": frozenset({"pipeline", "workflow", "flow", "project", "dag", "job"}),
    "run_id": frozenset({"run", "trace", "session", "conversation", "execution", "thread", "build"}),
}
#: In the order in which the keys are given away.
_ORDER = ("event_time", "cost_usd", "cache_read_tokens", "cache_write_tokens", "input_tokens", "output_tokens",
          "total_tokens", "duration_ms", *_NAMES)  # fmt: skip


@dataclass(slots=True)
class Seen:
    """What stood at one path: in how many records, as what, and its first texts."""

    path: Path_
    records: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    times: int = 0
    texts: set[str] = field(default_factory=set)

    @property
    def words(self) -> frozenset[str]:
        """The words of its keys, in small letters."""
        return frozenset(word.lower() for key in self.path for word in _WORDS.findall(key))

    @property
    def kind(self) -> str:
        """What it mostly is: number, text or truth."""
        return self.kinds.most_common(1)[0][0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a format may be made of. `events`: the records that hold tokens or a cost."""

    fields: Mapping[str, Path_]
    #: By path: the values of a key that tell the events from other lines, or none: that it is there.
    conditions: Mapping[Path_, Sequence[str]]
    #: What else is in the events, with its kind.
    others: Mapping[Path_, str]
    events: Sequence[Record]


def draft(records: Sequence[Record]) -> Draft | None:
    """Return a draft for these records; None where none of them holds what looks like tokens or a cost."""
    events = [record for record in records if any(_spends(path, value) for path, value in leaves(record))]
    if not events:
        return None
    seen = _seen(events)
    fields: dict[str, Path_] = {}
    for name in _ORDER:
        found = [one for one in seen.values() if one.path not in fields.values() and _may_be(name, one)]
        if found:
            # The first of those that most events have, the shallowest before others.
            fields[name] = min(found, key=lambda one: (-one.records, len(one.path))).path
    rest = [record for record in records if not any(record is one for one in events)]
    conditions = _conditions(seen, _seen(rest), len(events), fields)
    taken = {*fields.values(), *conditions}
    others = {one.path: one.kind for one in seen.values() if one.path not in taken}
    return Draft(fields=fields, conditions=conditions, others=others, events=events)


def leaves(record: Record, above: Path_ = ()) -> Iterator[tuple[Path_, object]]:
    """Yield the paths of a record's values, and the values: those that are no object and no list."""
    for key, value in record.items():
        if not _NAME.fullmatch(key):
            continue
        path = (*above, key)
        if isinstance(value, dict):
            if len(path) < _DEEPEST:
                yield from leaves(value, path)
        elif value is not None and value != "" and not isinstance(value, list):
            yield path, value


def simple(value: object) -> object:
    """Return a value as it may stand in a test that others read: a text that is no short name is gone."""
    if isinstance(value, NumberText) or not isinstance(value, str):
        return value
    return value if _is_simple(value) else "text"


def _is_simple(text: str) -> bool:
    return bool(_SIMPLE.fullmatch(text)) and redact(text) == text


def _seen(records: Sequence[Record]) -> dict[Path_, Seen]:
    found: dict[Path_, Seen] = {}
    for record in records:
        for path, value in leaves(record):
            one = found.setdefault(path, Seen(path))
            one.records += 1
            one.kinds[_kind(value)] += 1
            one.times += bool(utc_text(value)[0])
            if isinstance(value, str) and not isinstance(value, NumberText) and len(one.texts) <= _FEW:
                one.texts.add(value)
    return found


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "truth"
    return "number" if isinstance(value, int | NumberText) else "text"


def _spends(path: Path_, value: object) -> bool:
    one = Seen(path)
    return _kind(value) == "number" and bool(
        one.words & _TOKENS or (one.words & _MONEY and not one.words & _OTHER_UNITS)
    )


def _may_be(name: str, one: Seen) -> bool:
    words, number = one.words, one.kind == "number"
    if name == "event_time":
        return bool(words & _TIMES) and one.times * 2 > one.records
    if name in _NAMES:
        return one.kind == "text" and bool(words & _NAMES[name])
    if not number:
        return False
    if name == "cost_usd":
        return bool(words & _MONEY) and not words & (_OTHER_UNITS | _TOKENS - {"use", "used", "usage"})
    if name == "duration_ms":
        return "ms" in words
    if words & (_MONEY | {"ms"}) or not words & (_TOKENS | _CACHE):
        return False
    cached = bool(words & _CACHE)
    return {
        "cache_read_tokens": cached and not words & _WRITE,
        "cache_write_tokens": cached and bool(words & _WRITE),
        "input_tokens": not cached and bool(words & _IN),
        "output_tokens": not cached and bool(words & _OUT),
        "total_tokens": not cached and not words & (_IN | _OUT),
    }[name]


def _conditions(
    seen: Mapping[Path_, Seen], rest: Mapping[Path_, Seen], events: int, fields: Mapping[str, Path_]
) -> dict[Path_, Sequence[str]]:
    """Return what all events have and, if that can be, no other line has."""
    always = [one for one in seen.values() if one.records == events]
    told: dict[Path_, Sequence[str]] = {}
    for one in always:
        other = rest.get(one.path)
        is_kind = one.kinds == {"text": events} and len(one.texts) <= _FEW and all(map(_is_simple, one.texts))
        if is_kind and other is not None and other.kinds.keys() == {"text"} and not one.texts & other.texts:
            told[one.path] = sorted(one.texts)
            break
    numbers = [path for path in fields.values() if seen[path].kind == "number"]
    for path in (*numbers, *(one.path for one in always)):
        if len(told) < _CONDITIONS and seen[path].records == events:
            told.setdefault(path, ())
    # Where no key is in all of them, the one that most have will do.
    return told or {max(seen.values(), key=lambda one: one.records).path: ()}
