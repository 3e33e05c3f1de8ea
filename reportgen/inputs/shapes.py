"""The shapes that the lines of a file have: what stands on each of them alike, and the holes where values differ.

A shape is found in a sample of the file. A line of that shape holds nothing that the shape does not name: every byte
outside its holes is known. What the exact reader would make of such a line is therefore known too, but for the values.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from reportgen.inputs.fields import Plan, Planner
from reportgen.inputs.taking import PARENT_SPANS, says_cumulative, sums_up
from reportgen.quickclass import dataclass

#: A text between quotes, a number, or an array as it stands.
Kind = Literal["text", "number", "array"]
#: Keys from the outside in.
Path = tuple[str, ...]

#: Shapes that one file may have; lines of rarer ones are read one by one.
MOST_SHAPES = 8
_MOST_HOLES = 100
_DEEPEST = 4
#: Keys that can be written as a path without a second thought.
_KEY = re.compile(r"[A-Za-z0-9_.$@-]{1,80}")
_TOKEN = re.compile(r'[ \t]*(?:("[^"\\\x00-\x1f]*")|(-?[0-9][0-9.eE+-]*)|(true|false|null)|([{}:,]))[ \t]*')
_ARRAY_PART = re.compile(r'"[^"\\]*"|[\[\]]')
_CONSTANTS: dict[str, object] = {"true": True, "false": False, "null": None}
#: A text under one of these fields says how the line is to be taken: it belongs to the shape.
_TELLING = ("kind", "manner", "operation")
_TEXTS = ("agent", "pipeline", "run_id", "session", "event_id", "tool_name", "model")
_COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "total_tokens")
_RELATING = ("phase", "is_estimate", "transcript", "cumulative")


class _NoShape(Exception):  # noqa: N818 - not an error
    """The line is of no shape that is read this way."""


@dataclass(frozen=True, slots=True)
class Hole:
    """Where a value stands."""

    path: Path
    kind: Kind


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that is the same on every line of the shape."""

    value: object


@dataclass(frozen=True, slots=True)
class Shape:
    """`literals[i]` stands before `holes[i]`, the last literal after all of them."""

    literals: tuple[str, ...]
    holes: tuple[Hole, ...]


@dataclass(frozen=True, slots=True)
class Taken:
    """A shape that SQL can take: its plan, and what each key of the flat record stands for."""

    shape: Shape
    plan: Plan
    flat: Mapping[str, Hole | Constant]

    def texts(self, field: str) -> list[Hole]:
        """Return the holes that may name this, in order; the first that says something counts."""
        return [one for key in getattr(self.plan, field) if isinstance(one := self.flat[key], Hole)]

    def number(self, field: str) -> tuple[str, Hole] | None:
        """Return the key and the hole of a number: the first one is always there."""
        return next(((key, one) for key in getattr(self.plan, field) if isinstance(one := self.flat[key], Hole)), None)


def common_shapes(lines: Iterable[bytes], planner: Planner) -> list[Taken]:
    """Return the shapes of a sample that SQL can take, the most frequent first; none where they cover too little."""
    seen: Counter[Shape] = Counter()
    known: dict[Shape, Taken | None] = {}
    count = 0
    for line in lines:
        count += 1
        try:
            text = line.decode()
            shape = _Parser(text).parse()
            taken = known.get(shape)
            if taken is None and shape not in known:
                shape, taken = _taken(text, shape, planner)
                if len(known) > 20 * MOST_SHAPES:
                    return []
                known[shape] = taken
        except (_NoShape, ValueError, RecursionError):
            continue
        seen[shape] += taken is not None
    found = [(taken, number) for shape, number in seen.most_common(MOST_SHAPES) if (taken := known[shape]) and number]
    kept = _together([taken for taken, _ in found])
    covered = sum(number for taken, number in found if taken in kept)
    # A line of no shape costs as much as ten others.
    return kept if count and covered * 10 >= count * 9 else []


def few_texts(places: Sequence[Sequence[bytes]], taken: Sequence[Taken], most: int) -> dict[Path, list[str]]:
    """Return, for paths of names and labels, the different texts in a sample, sorted, where they are few.

    `places`: lines from several places of the file, in order; of a packed one, from its beginning alone. Texts that
    differ from place to place, or of which there are always new ones, as of run ids, will be many.
    """
    paths = {hole.path for one in taken for field in _TEXTS if field != "event_id" for hole in one.texts(field)}
    uses: dict[Path, Counter[str]] = {path: Counter() for path in paths}
    seen_at: dict[Path, dict[str, set[int]]] = {path: {} for path in paths}
    for number, lines in enumerate(places):
        for line in lines:
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue
            for path in paths:
                value = record
                for key in path:
                    value = value.get(key) if isinstance(value, dict) else None
                if isinstance(value, str) and value and len(uses[path]) <= most:
                    uses[path][value] += 1
                    seen_at[path].setdefault(value, set()).add(number)

    def few(path: Path) -> bool:
        texts = uses[path]
        once = sum(count for text, count in texts.items() if len(seen_at[path][text]) == 1)
        new = sum(count for text, count in texts.items() if min(seen_at[path][text]) >= len(places) // 2)
        return 0 < len(texts) <= most and (len(places) < 2 or max(once, new) * 20 <= sum(texts.values()))

    return {path: sorted(uses[path]) for path in paths if few(path) and all(text.isprintable() for text in uses[path])}


def _together(found: list[Taken]) -> list[Taken]:
    """Leave out a shape in which a value is a number where another has an object."""
    kept: list[Taken] = []
    leaves: set[Path] = set()
    inner: set[Path] = set()
    for taken in found:
        own = {hole.path for hole in taken.shape.holes}
        own_inner = {path[:depth] for path in own for depth in range(1, len(path))}
        if own & inner or own_inner & leaves:
            continue
        kept.append(taken)
        leaves |= own
        inner |= own_inner
    return kept


def _taken(text: str, shape: Shape, planner: Planner) -> tuple[Shape, Taken | None]:
    """Return the shape with all that is telling in it, and how SQL takes it: None where it can't."""
    record = json.loads(text)
    holes = {hole.path: hole for hole in shape.holes}
    flat, plan = _flat(_leaves(record, (), holes), planner)
    telling = {
        one.path for name in _TELLING for key in getattr(plan, name) if isinstance(one := flat[key], Hole)
        if one.kind == "text"
    }  # fmt: skip
    if telling:
        shape = _Parser(text, telling).parse()
        holes = {hole.path: hole for hole in shape.holes}
        flat, plan = _flat(_leaves(record, (), holes), planner)
    taken = Taken(shape, plan, flat)
    return shape, taken if _can_take(_leaves(record, (), holes), taken, planner) else None


def _leaves(record: Mapping[str, Any], path: Path, holes: Mapping[Path, Hole]) -> dict[str, Any]:
    """Return the record with a hole or a constant in place of every value that is no object."""
    return {
        key: _leaves(value, (*path, key), holes)
        if isinstance(value, dict)
        else holes.get((*path, key)) or Constant(value)
        for key, value in record.items()
    }


def _flat(record: dict[str, Any], planner: Planner) -> tuple[dict[str, Any], Plan]:
    plan = planner.plan(record)
    if any(type(record[key]) is dict for key in plan.openable):
        record = planner.flatten(record)
        plan = planner.plan(record)
    return record, plan


def _can_take(leaves: dict[str, Any], taken: Taken, planner: Planner) -> bool:
    """Say whether every line of the shape is either a cost event by its values alone, or none at all."""
    plan, flat = taken.plan, taken.flat
    values = {key: one.value for key, one in flat.items() if isinstance(one, Constant)}

    def only(fields: Iterable[str], *kinds: str, constants: tuple[object, ...] = (None,)) -> bool:
        found = [flat[key] for name in fields for key in getattr(plan, name)]
        return all(
            one.kind in kinds if isinstance(one, Hole) else isinstance(one, Constant) and one.value in constants
            for one in found
        )

    if plan.otlp or plan.totals or plan.only_totals or not only(_RELATING):
        return False
    if any(one.matches(leaves, Hole) for one in planner.plan(leaves).formats):
        return False
    if not all(isinstance(values.get(key), str | None) for name in _TELLING for key in getattr(plan, name)):
        return False
    told = {**dict.fromkeys(flat), **values}
    if any(values.get(key) in PARENT_SPANS for key in plan.operation) or sums_up(told, plan):
        return False
    if says_cumulative(told, plan):
        return False
    flags = all(
        (isinstance(one := flat[key], Hole) and one.kind == "number")
        or (isinstance(one, Constant) and one.value is None)
        or (isinstance(one, Constant) and isinstance(one.value, bool) and key in plan.estimate_flags)
        for key in plan.estimated_tokens
    )
    return (
        flags
        and only(_TEXTS, "text")
        and only((*_COUNTS, "cost_usd", "duration_ms"), "number")
        and only(("event_time",), "text", "number")
        # An object under a key of ours is for the exact reader, too.
        and not any(isinstance(flat[key], dict) for name in (*_TEXTS, "event_time") for key in getattr(plan, name))
    )


class _Parser:
    """Reads one line into a shape. Raises _NoShape where it holds anything unusual: escapes, most of all."""

    def __init__(self, line: str, fixed: Iterable[Path] = ()) -> None:
        self._line = line
        self._fixed = frozenset(fixed)
        self._at = 0
        self._literals = [""]
        self._holes: list[Hole] = []

    def parse(self) -> Shape:
        if not self._line.startswith("{"):
            raise _NoShape
        self._object(())
        if self._at != len(self._line) or len(self._holes) > _MOST_HOLES:
            raise _NoShape
        return Shape(tuple(self._literals), tuple(self._holes))

    def _next(self) -> re.Match[str]:
        match = _TOKEN.match(self._line, self._at)
        if not match:
            raise _NoShape
        self._at = match.end()
        return match

    def _mark(self, expected: str) -> str:
        match = self._next()
        if match[4] is None or match[4] not in expected:
            raise _NoShape
        self._literals[-1] += match[0]
        return match[4]

    def _object(self, path: Path) -> None:
        self._mark("{")
        if len(path) >= _DEEPEST:
            raise _NoShape
        if self._line.startswith("}", self._at):
            self._mark("}")
            return
        names: set[str] = set()
        while True:
            key = self._next()
            name = (key[1] or "")[1:-1]
            if not _KEY.fullmatch(name) or name in names:
                raise _NoShape
            names.add(name)
            self._literals[-1] += key[0]
            self._mark(":")
            self._value((*path, name))
            if self._mark(",}") == "}":
                return

    def _value(self, path: Path) -> None:
        if self._line.startswith("{", self._at):
            self._object(path)
            return
        if self._line.startswith("[", self._at):
            self._at = self._array_end()
            self._hole(path, "array")
            return
        match = self._next()
        if match[4] is not None:
            raise _NoShape
        if match[3] is not None or path in self._fixed:
            self._literals[-1] += match[0]
            return
        quote = '"' if match[1] is not None else ""
        before, _, after = match[0].partition(match[1] or match[2])
        self._literals[-1] += before + quote
        self._hole(path, "text" if quote else "number")
        self._literals[-1] += quote + after

    def _hole(self, path: Path, kind: Kind) -> None:
        self._holes.append(Hole(path, kind))
        self._literals.append("")

    def _array_end(self) -> int:
        depth = 0
        for match in _ARRAY_PART.finditer(self._line, self._at):
            depth += {"[": 1, "]": -1}.get(match[0], 0)
            if not depth:
                return match.end()
        raise _NoShape
