"""The reference for SPEC 2: from raw events, feedback cells and healing entries to facts, in plain and slow Python.

Written from the rules alone; it shares no code with the product, so that the two can only agree by both being right.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction

UNASSIGNED = "(unassigned)"
MISSING = {"", "unknown", "default", "none", "null", "n/a"}
ROLES = {"user", "assistant", "system", "tool", "developer"}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FAR = timedelta(days=366)


@dataclass(frozen=True)
class FeedbackCells:
    """One row of FEEDBACK.md as its cells stand there (Issue and Resolution decide nothing)."""

    date: str
    pipeline: str
    agent: str
    score: str
    pattern: str


@dataclass(frozen=True)
class HealingEntry:
    """One line of the healing log, in file order."""

    agent: str | None
    pipeline: str | None
    run_id: str | None
    error_type: str
    attempt: int
    action: str


@dataclass(frozen=True)
class Project:
    """What a project folder says, before any rule is applied."""

    events: Sequence[Mapping[str, object]]
    feedback: Sequence[FeedbackCells] = ()
    healing: Sequence[HealingEntry] = ()
    roster: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(eq=False)
class Event:
    """One event that counts. Names are folded; None stands for "none given"."""

    time: datetime | None
    agent: str | None
    named_pipeline: str | None
    run_id: str | None
    tokens: int | None
    cost: Fraction | None
    agent_spelling: str | None
    pipeline_spelling: str | None
    pipeline: str = UNASSIGNED


@dataclass(frozen=True)
class Row:
    """One feedback row; `score` is of 100."""

    date: date | None
    agent: str | None
    pipeline: str
    score: Fraction | None
    tags: frozenset[str]

    @property
    def low(self) -> bool:
        return self.score is not None and self.score < 60


# Names


def squeeze(text: str) -> str:
    return unicodedata.normalize("NFC", " ".join(text.split()))


def clean(text: str) -> str:
    """`**@Writer** ` is `Writer`."""
    name = squeeze(text)
    before = None
    while name != before:
        before = name
        for mark in ("**", "__", "~~", "*", "_", "`"):
            if name.startswith(mark) and name.endswith(mark) and len(name) > 2 * len(mark):
                name = name[len(mark) : -len(mark)].strip()
        name = name.removeprefix("@").strip()
    return name


def fold(name: str) -> str:
    return unicodedata.normalize("NFC", name.casefold())


def spelling(value: object, *, agent: bool) -> str | None:
    """Return the cleaned name of an agent or a pipeline, or None where the value names nobody."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    name = clean(str(value))
    return None if fold(name) in (MISSING | ROLES if agent else MISSING) else name


def key(value: object, *, agent: bool) -> str | None:
    name = spelling(value, agent=agent)
    return None if name is None else fold(name)


def run_text(value: object) -> str | None:
    """Return a run id: compared exactly, after white space and NFC; the words for "missing" are none."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    text = squeeze(str(value))
    return None if fold(text) in MISSING else text


# Values


def time_of(value: object) -> datetime | None:
    """Return the instant in UTC, or None where it is missing, unreadable or outside the years 2000 to 2100."""
    found: datetime | None = None
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    elif isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        size = Fraction(value)
        for limit, per_second in ((10**11, 1), (10**14, 10**3), (10**17, 10**6), (10**20, 10**9)):
            if 0 < size < limit:
                found = EPOCH + timedelta(microseconds=int(size * 10**6 / per_second))
                break
    return found if found is not None and 2000 <= found.year <= 2100 else None


def number(value: object) -> Fraction | None:
    """Return a JSON number or a numeric string exactly; a boolean, NaN, infinity or anything else is no number."""
    if isinstance(value, bool) or not isinstance(value, (str, int, Decimal)) or value == "":
        return None
    try:
        exact = Decimal(value)
    except InvalidOperation:
        return None
    return Fraction(exact) if exact.is_finite() else None


def whole(value: object) -> int | None:
    exact = number(value)
    return int(exact) if exact is not None and exact.denominator == 1 and 0 <= exact < 10**12 else None


def tokens_of(raw: Mapping[str, object]) -> int | None:
    """Return the exact total; else the sum of the exact parts present; else the estimate."""
    total = whole(raw.get("total_tokens"))
    if total is not None:
        return total
    parts = [part for part in (whole(raw.get("input_tokens")), whole(raw.get("output_tokens"))) if part is not None]
    return sum(parts) if parts else whole(raw.get("estimated_tokens"))


def cost_of(raw: Mapping[str, object]) -> Fraction | None:
    cost = number(raw.get("cost_usd"))
    return cost if cost is not None and 0 <= cost < 10**9 else None


def score_of(cell: str) -> Fraction | None:
    """Return the first `a/b` of 100, else `n%`, else a number that is the whole cell; outside 0 to 100: None."""
    text = re.sub(r"[*_`~]", "", cell).strip()
    score: Fraction | None = None
    if found := re.search(r"(\d+(?:\.\d+)?)\s*/\s*(\d+(?:\.\d+)?)", text):
        of = Fraction(found[2])
        score = Fraction(found[1]) * 100 / of if of else None
    elif found := re.search(r"(\d+(?:\.\d+)?)\s*%", text):
        score = Fraction(found[1])
    elif re.fullmatch(r"\d+(?:\.\d+)?", text):
        score = Fraction(text)
    return score if score is not None and 0 <= score <= 100 else None


def tags_of(cell: str) -> frozenset[str]:
    parts = re.split(r"[,;\s]+", cell.replace("`", ""))
    folded = {part.casefold().replace("_", "-") for part in parts}
    return frozenset(folded - {"", "-", "—", "none", "n/a"})


# Events


def read_events(raws: Iterable[Mapping[str, object]]) -> list[Event]:
    """Return the events that count: one per event id, with far-away dates taken for unreadable."""
    events = []
    by_id: dict[object, list[tuple[Mapping[str, object], Event]]] = {}
    for raw in raws:
        event_id = raw.get("event_id")
        if event_id is None or event_id == "":
            events.append(_event(raw))
        else:
            by_id.setdefault(event_id, []).append((raw, _event(raw)))
    for copies in by_id.values():
        events.append(copies[0][1] if len(copies) == 1 else max(copies, key=lambda copy: _precedence(*copy))[1])
    _undate_far_groups(events)
    return events


def _precedence(raw: Mapping[str, object], event: Event) -> tuple[datetime, int, Fraction, str]:
    """The latest time, then most tokens, then highest cost, then the greatest canonical JSON; what is missing is least."""
    return (
        event.time or datetime.min.replace(tzinfo=UTC),
        -1 if event.tokens is None else event.tokens,
        Fraction(-1) if event.cost is None else event.cost,
        json.dumps(raw, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str),
    )


def _event(raw: Mapping[str, object]) -> Event:
    agent = spelling(raw.get("agent"), agent=True)
    pipeline = spelling(raw.get("pipeline"), agent=False)
    return Event(
        time=time_of(raw.get("timestamp")),
        agent=None if agent is None else fold(agent),
        named_pipeline=None if pipeline is None else fold(pipeline),
        run_id=run_text(raw.get("run_id")) or run_text(raw.get("session_id")),
        tokens=tokens_of(raw),
        cost=cost_of(raw),
        agent_spelling=agent,
        pipeline_spelling=pipeline,
    )


def _undate_far_groups(events: list[Event]) -> None:
    """A group of one event, or of under 1% of the events, more than 366 days from all others has no usable date."""
    groups: list[list[Event]] = []
    last: datetime | None = None
    for time, _, event in sorted((e.time, n, e) for n, e in enumerate(events) if e.time is not None):
        if last is None or time - last > FAR:
            groups.append([])
        groups[-1].append(event)
        last = time
    small = [group for group in groups if len(group) == 1 or 100 * len(group) < len(events)]
    if len(small) < len(groups):
        for group in small:
            for event in group:
                event.time = None


# Pipelines


def read_feedback(cells: Sequence[FeedbackCells], events: Sequence[Event]) -> list[Row]:
    """Return the rows; one without a pipeline belongs to the only pipeline that its agent's events name."""
    rows = []
    for cell in cells:
        agent = key(cell.agent, agent=True)
        pipeline = key(cell.pipeline, agent=False) or only_pipeline_named(agent, events)
        try:
            day = date.fromisoformat(cell.date.strip())
        except ValueError:
            day = None
        rows.append(Row(day, agent, pipeline, score_of(cell.score), tags_of(cell.pattern)))
    return rows


def only_pipeline_named(agent: str | None, events: Sequence[Event]) -> str:
    named = {e.named_pipeline for e in events if e.agent == agent and e.named_pipeline} if agent else set()
    return str(next(iter(named))) if len(named) == 1 else UNASSIGNED


def only_pipeline_reviewed(agent: str | None, cells: Sequence[FeedbackCells]) -> str:
    """Return the only pipeline under which the feedback has this agent, else `(unassigned)`."""
    rows = [(key(cell.agent, agent=True), key(cell.pipeline, agent=False)) for cell in cells]
    places = {pipeline for name, pipeline in rows if name == agent and pipeline} if agent else set()
    return str(next(iter(places))) if len(places) == 1 else UNASSIGNED


def place_events(events: Sequence[Event], cells: Sequence[FeedbackCells]) -> None:
    """Give each event its pipeline: its own, else the only one under which feedback has its agent."""
    reviewed: dict[str, set[str]] = {}
    for cell in cells:
        agent, pipeline = key(cell.agent, agent=True), key(cell.pipeline, agent=False)
        if agent and pipeline:
            reviewed.setdefault(agent, set()).add(pipeline)
    for event in events:
        places = reviewed.get(event.agent or "", set())
        event.pipeline = event.named_pipeline or (next(iter(places)) if len(places) == 1 else UNASSIGNED)


def shown_names(*sources: Iterable[str | None]) -> dict[str, str]:
    """Folded name to the spelling shown: the most frequent in the first source that has it, ties by code point."""
    shown: dict[str, str] = {}
    for source in sources:
        counts = Counter(name for name in source if name is not None)
        found: dict[str, str] = {}
        for name in sorted(counts, key=lambda n: (-counts[n], n)):
            found.setdefault(fold(name), name)
        shown = {**found, **shown}
    return shown
