"""The reference for SPEC 2 and 5, second half: pipelines with their runs and measure, and healing incidents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from oracle_reading import (
    UNASSIGNED,
    Event,
    FeedbackCells,
    HealingEntry,
    Row,
    key,
    only_pipeline_named,
    only_pipeline_reviewed,
    run_text,
)

RUN_GAP = timedelta(minutes=30)
BLOCKING = {"skip", "alert-operator", "abort"}


@dataclass(frozen=True)
class Incident:
    pipeline: str
    agent: str | None
    run_id: str | None
    error_type: str
    outcome: str
    attempts: int

    @property
    def needed_a_person(self) -> bool:
        return self.outcome in ("escalated", "blocked")


@dataclass(eq=False)
class Run:
    """One run: of an id, of a gap (`name` is its start), or of a feedback date (`events` empty)."""

    name: str
    has_id: bool
    start: datetime | None
    events: list[Event] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)

    @property
    def order(self) -> tuple[bool, datetime, str]:
        """By start, then name; undated runs last."""
        return (self.start is None, self.start or datetime.max.replace(tzinfo=UTC), self.name)


@dataclass(eq=False)
class Pipeline:
    """One pipeline with everything that its rules look at."""

    key: str
    events: list[Event]
    rows: list[Row]
    roster: set[str]
    runs: list[Run] = field(default_factory=list)
    measure: str = "events"

    def cost(self, events: Iterable[Event]) -> Fraction:
        """Return what these events cost in the pipeline's measure; an unknown cost adds 0."""
        if self.measure == "usd":
            return sum((e.cost for e in events if e.cost), Fraction(0))
        if self.measure == "tokens":
            return Fraction(sum(e.tokens or 0 for e in events))
        return Fraction(len(list(events)))

    def known(self, events: Iterable[Event]) -> bool:
        """Say whether the cost of any of these events is known in the measure: unknown is not 0."""
        if self.measure == "usd":
            return any(event.cost is not None for event in events)
        if self.measure == "tokens":
            return any(event.tokens is not None for event in events)
        return any(True for _ in events)

    @property
    def total(self) -> Fraction | None:
        """Everything it cost; unknown without events."""
        return self.cost(self.events) if self.events else None

    def of(self, agent: str | None) -> list[Event]:
        return [e for e in self.events if e.agent == agent]

    def rows_of(self, agent: str | None) -> list[Row]:
        return [r for r in self.rows if r.agent == agent]

    def runs_with(self, agent: str) -> list[Run]:
        return [run for run in self.runs if agent in run.agents]

    @property
    def agents(self) -> set[str]:
        named = {e.agent for e in self.events} | {r.agent for r in self.rows}
        return {agent for agent in named if agent is not None}

    @property
    def instants(self) -> list[datetime]:
        days = [datetime(r.date.year, r.date.month, r.date.day, tzinfo=UTC) for r in self.rows if r.date]
        return days + [e.time for e in self.events if e.time]


def _text(instant: datetime) -> str:
    return instant.strftime("%Y-%m-%dT%H:%M:%SZ")


def find_runs(pipeline: Pipeline) -> list[Run]:
    """Return the runs: by id, by gaps among dated events without an id, or by feedback date."""
    if not pipeline.events:
        days = sorted({r.date for r in pipeline.rows if r.date})
        runs = [Run(str(day), False, datetime(day.year, day.month, day.day, tzinfo=UTC)) for day in days]
        for run in runs:
            run.agents = {r.agent for r in pipeline.rows if str(r.date) == run.name and r.agent}
        return runs
    by_id: dict[str, Run] = {}
    for event in pipeline.events:
        if event.run_id is not None:
            by_id.setdefault(event.run_id, Run(event.run_id, True, None)).events.append(event)
    for run in by_id.values():
        run.start = min((e.time for e in run.events if e.time), default=None)
    gaps: list[Run] = []
    last: datetime | None = None
    loose = [(e.time, n, e) for n, e in enumerate(pipeline.events) if e.run_id is None and e.time is not None]
    for time, _, event in sorted(loose):
        if last is None or time - last > RUN_GAP:
            gaps.append(Run(_text(time), False, time))
        gaps[-1].events.append(event)
        last = time
    runs = [*by_id.values(), *gaps]
    for run in runs:
        run.agents = {e.agent for e in run.events if e.agent}
    return runs


def measure_of(events: Sequence[Event]) -> str:
    carrying = [e for e in events if e.cost is not None or (e.tokens or 0) > 0]
    priced = [e.cost for e in carrying if e.cost is not None]
    if carrying and 100 * len(priced) >= 95 * len(carrying) and sum(priced) > 0:
        return "usd"
    return "tokens" if sum(e.tokens or 0 for e in events) > 0 else "events"


def find_incidents(
    entries: Sequence[HealingEntry], pipelines: Sequence[Pipeline], cells: Sequence[FeedbackCells]
) -> list[Incident]:
    """Return attempts whose number rises, per pipeline, run, agent and error type, as one incident each."""
    events = [event for pipeline in pipelines for event in pipeline.events]
    groups: dict[tuple[str, str | None, str | None, str], list[list[HealingEntry]]] = {}
    for entry in entries:
        agent, run_id = key(entry.agent, agent=True), run_text(entry.run_id)
        place = key(entry.pipeline, agent=False)
        if place is None:
            holders = {e.pipeline for e in events if run_id is not None and e.run_id == run_id}
            place = next(iter(holders)) if len(holders) == 1 else only_pipeline_named(agent, events)
            if place == UNASSIGNED and len(holders) != 1:
                place = only_pipeline_reviewed(agent, cells)
        chains = groups.setdefault((place, agent, run_id, entry.error_type), [])
        if not chains or entry.attempt <= chains[-1][-1].attempt:
            chains.append([])
        chains[-1].append(entry)
    return [
        Incident(*group, _outcome(chain[-1].action), len(chain)) for group, chains in groups.items() for chain in chains
    ]


def _outcome(last_action: str) -> str:
    if last_action == "escalate":
        return "escalated"
    return "blocked" if last_action in BLOCKING else "presumed recovered"
