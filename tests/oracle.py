"""The reference: SPEC 2 to 5 in plain Python with exact fractions; slow, and independent of the product.

`solve(project)` says what a build must find. Where SPEC leaves a choice, the comment beside it says which was taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction

import oracle_vfm as vfm
from oracle_facts import Incident, Pipeline, Run, find_incidents, find_runs, measure_of
from oracle_reading import (
    UNASSIGNED,
    Event,
    Project,
    Row,
    key,
    place_events,
    read_events,
    read_feedback,
    shown_names,
    spelling,
)

ALL_PIPELINES = "(all pipelines)"
UNATTRIBUTED = "(unattributed)"
ERROR_TAGS = {"timeout", "tool-fail", "hallucination"}


@dataclass(frozen=True)
class Finding:
    """One finding; `saving` and `share` are None where the cost is unknown."""

    detector: str
    pipeline: str
    subject: str
    observed: Fraction
    baseline: Fraction | None
    threshold: Fraction
    vfm: vfm.Vfm
    saving: Fraction | None
    share: Fraction | None
    labels: frozenset[str] = frozenset()
    #: The agent has no event here: whether that is a cost of 0 or an unknown one, SPEC leaves open.
    never_logged: bool = False


@dataclass(frozen=True)
class PipelineAnswer:
    pipeline: str
    runs: int
    events: int
    cost_measure: str
    cost: Fraction | None


@dataclass(frozen=True)
class AgentAnswer:
    agent: str
    pipeline: str
    events: int
    runs: int
    cost: Fraction | None
    cost_per_run: Fraction | None
    mean_score: Fraction | None
    error_rate: Fraction | None
    flagged: bool


@dataclass(frozen=True)
class Answer:
    findings: list[Finding]
    pipelines: list[PipelineAnswer]
    agents: list[AgentAnswer]
    incidents: list[Incident]
    recurring: dict[str, int]


def solve(project: Project) -> Answer:
    """Return everything that the rules of SPEC 2 to 5 say about a project."""
    events = read_events(project.events)
    place_events(events, project.feedback)
    rows = read_feedback(project.feedback, events)
    rosters: dict[str, set[str]] = {}
    for name, members in project.roster.items():
        known = {key(member, agent=True) for member in members}
        rosters.setdefault(key(name, agent=False) or UNASSIGNED, set()).update(m for m in known if m)
    pipelines = []
    for place in sorted({e.pipeline for e in events} | {r.pipeline for r in rows}):
        inside = [e for e in events if e.pipeline == place]
        pipeline = Pipeline(place, inside, [r for r in rows if r.pipeline == place], rosters.get(place, set()))
        pipeline.runs = find_runs(pipeline)
        pipeline.measure = measure_of(inside)
        pipelines.append(pipeline)
    names = _Names(project, events)
    incidents = find_incidents(project.healing, pipelines, project.feedback)
    detections = Detections(pipelines, incidents, names)
    tags = [tag for row in rows for tag in row.tags]
    return Answer(
        findings=detections.all(),
        pipelines=[
            PipelineAnswer(names.pipeline(p.key), len(p.runs), len(p.events), p.measure, p.total) for p in pipelines
        ],
        agents=[answer for p in pipelines for answer in _agents(p, names)],
        incidents=incidents,
        recurring={tag: tags.count(tag) for tag in set(tags) if tags.count(tag) >= 3},
    )


class _Names:
    def __init__(self, project: Project, events: Sequence[Event]) -> None:
        self._agents = shown_names(
            (e.agent_spelling for e in events),
            (spelling(cell.agent, agent=True) for cell in project.feedback),
            (spelling(name, agent=True) for names in project.roster.values() for name in names),
        )
        self._pipelines = shown_names(
            (e.pipeline_spelling for e in events),
            (spelling(cell.pipeline, agent=False) for cell in project.feedback),
        )

    def agent(self, folded: str | None) -> str:
        return UNATTRIBUTED if folded is None else self._agents[folded]

    def pipeline(self, folded: str) -> str:
        return self._pipelines.get(folded, folded)


def _agents(pipeline: Pipeline, names: _Names) -> list[AgentAnswer]:
    answers = []
    everyone: list[str | None] = [*sorted(pipeline.agents)]
    if pipeline.of(None):
        everyone.append(None)
    for agent in everyone:
        events, scored = pipeline.of(agent), [r for r in pipeline.rows_of(agent) if r.score is not None]
        scored = [] if agent is None else scored
        runs = sum(
            any(e.agent is None for e in r.events) if agent is None else agent in r.agents for r in pipeline.runs
        )
        cost = pipeline.cost(events) if pipeline.known(events) else None
        mean = sum((r.score for r in scored if r.score is not None), Fraction(0)) / len(scored) if scored else None
        answers.append(
            AgentAnswer(
                agent=names.agent(agent),
                pipeline=names.pipeline(pipeline.key),
                events=len(events),
                runs=runs,
                cost=cost,
                cost_per_run=cost / runs if cost is not None and runs else None,
                mean_score=mean,
                error_rate=Fraction(sum(r.low for r in scored), len(scored)) if scored else None,
                flagged=mean is not None and mean < 60,
            )
        )
    return answers


class Detections:
    """The four detections of SPEC 3 with their pre-scores."""

    def __init__(self, pipelines: Sequence[Pipeline], incidents: Sequence[Incident], names: _Names) -> None:
        self.pipelines = pipelines
        self.incidents = incidents
        self.names = names
        strays = [p for p in pipelines if p.key == UNASSIGNED]
        self.unassigned = [e for p in strays for e in p.events]

    def all(self) -> list[Finding]:
        found = self.loops()
        for pipeline in self.pipelines:
            found += [*self.bottlenecks(pipeline), *self.underutilized(pipeline), *self.outliers(pipeline)]
        return found

    def bottlenecks(self, p: Pipeline) -> Iterable[Finding]:
        agents = {e.agent for e in p.events if e.agent is not None}
        counts = {a: len(p.of(a)) for a in agents}
        total = sum(counts.values())
        ranked = sorted(agents, key=lambda a: (-counts[a], -p.cost(p.of(a)), a))
        for agent in ranked[:2]:
            mean = Fraction(total, len(agents))
            if counts[agent] >= Fraction(3, 2) * mean:
                with_agent = len(p.runs_with(agent))
                yield self.finding(
                    "bottleneck_agent",
                    [p],
                    self.names.agent(agent),
                    (Fraction(counts[agent]), mean, Fraction(3, 2) * mean),
                    (with_agent, with_agent, len(p.runs)),
                    p.cost(p.of(agent)) * (1 - mean / counts[agent]) if p.known(p.of(agent)) else None,
                    agent=agent,
                )

    def underutilized(self, p: Pipeline) -> Iterable[Finding]:
        in_order = sorted(p.runs, key=lambda run: run.order)
        for agent in sorted(p.agents | p.roster):
            present = [run for run in in_order if agent in run.agents]
            if not 10 * len(present) < len(in_order):
                continue
            if not present and agent not in p.roster and not self.surely_absent(p, agent):
                continue
            labels = set()
            dated = [run for run in in_order if run.start is not None]
            first = next((n for n, run in enumerate(dated) if agent in run.agents), None)
            # "Since first seen" is from the first run it is in, that run included.
            if first is not None and 10 * len([r for r in present if r.start]) >= len(dated) - first:
                labels.add("new")
            # "Retired" speaks of an agent that was seen; one that never was is neither new nor retired.
            half = [run for rank, run in enumerate(in_order, 1) if 2 * rank > len(in_order)]
            if present and not any(agent in run.agents for run in half):
                labels.add("retired")
            without = len(in_order) - len(present)
            yield self.finding(
                "underutilized_agent",
                [p],
                self.names.agent(agent),
                (Fraction(len(present)), Fraction(len(in_order)), Fraction(len(in_order), 10)),
                (without, without, len(in_order)),
                p.cost(p.of(agent)) if p.known(p.of(agent)) else None,
                agent=agent,
                labels=frozenset(labels),
            )

    def surely_absent(self, p: Pipeline, agent: str) -> bool:
        """Say whether the pipeline has events and none of them, named or not, could be this agent's."""
        could_be_its_own = (
            any(e.agent == agent for e in self.unassigned)
            or any(e.agent == agent for e in p.events)
            or any(e.agent is None for e in p.events)
            or any(e.agent is None for e in self.unassigned)
        )
        return bool(p.events) and not could_be_its_own

    def outliers(self, p: Pipeline) -> Iterable[Finding]:
        costs = {run: p.cost(run.events) for run in p.runs}
        total = sum(costs.values(), Fraction(0))
        for run in p.runs if p.events and total > 0 else []:
            mean = total / len(p.runs)
            if costs[run] >= 3 * mean:
                yield self.finding(
                    "cost_outlier",
                    [p],
                    run.name,
                    (costs[run], mean, 3 * mean),
                    (1, 1, len(p.runs)),
                    costs[run] - mean,
                    run=run,
                )

    def loops(self) -> list[Finding]:
        """Repeated `loop-excess`, at the narrowest scope that reaches three rows."""
        found, any_reached = [], False
        for p in self.pipelines:
            looping = [r for r in p.rows if "loop-excess" in r.tags]
            named = {r.agent for r in looping if r.agent is not None}
            many = sorted(a for a in named if sum(r.agent == a for r in looping) >= 3)
            for agent in many:
                mine = [r for r in looping if r.agent == agent]
                saving = self.loop_saving(p, agent) if p.known(p.of(agent)) else None
                found.append(self._loop([p], self.names.agent(agent), mine, p.rows, saving, agent=agent))
            if not many and len(looping) >= 3:
                saving = self._loop_savings((p, agent) for agent in named)
                found.append(self._loop([p], self.names.pipeline(p.key), looping, p.rows, saving))
            any_reached = any_reached or len(looping) >= 3
        everywhere = [(p, r) for p in self.pipelines for r in p.rows if "loop-excess" in r.tags]
        if not any_reached and len(everywhere) >= 3:
            found.append(self._project_loop(everywhere))
        return found

    def _project_loop(self, everywhere: Sequence[tuple[Pipeline, Row]]) -> Finding:
        holders = list(dict.fromkeys(p for p, _ in everywhere))
        saving: Fraction | None = None
        # "An unknown cost adds 0": a pipeline without events has no cost, so its measure keeps nothing from adding up.
        if len({p.measure for p in holders if p.events}) == 1:
            saving = self._loop_savings({(p, r.agent) for p, r in everywhere if r.agent is not None})
        rows = [row for p in self.pipelines for row in p.rows]
        return self._loop(
            list(self.pipelines), ALL_PIPELINES, [r for _, r in everywhere], rows, saving, holders=holders
        )

    def loop_saving(self, p: Pipeline, agent: str) -> Fraction:
        mine = p.rows_of(agent)
        return p.cost(p.of(agent)) * Fraction(sum("loop-excess" in r.tags for r in mine), len(mine))

    def _loop_savings(self, pairs: Iterable[tuple[Pipeline, str]]) -> Fraction | None:
        """Return the sum over agents; those of unknown cost add 0, and unknown is the sum where all are."""
        known = [self.loop_saving(p, agent) for p, agent in pairs if p.known(p.of(agent))]
        return sum(known, Fraction(0)) if known else None

    def _loop(
        self,
        pipelines: list[Pipeline],
        subject: str,
        looping: Sequence[Row],
        rows: Sequence[Row],
        saving: Fraction | None,
        *,
        agent: str | None = None,
        holders: Sequence[Pipeline] | None = None,
    ) -> Finding:
        dates, loop_dates = {r.date for r in rows if r.date}, {r.date for r in looping if r.date}
        return self.finding(
            "revision_loops",
            pipelines,
            subject,
            (Fraction(len(looping)), None, Fraction(3)),
            (len(looping), len(loop_dates), len(dates)),
            saving,
            agent=agent,
            holders=holders,
        )

    def finding(
        self,
        detector: str,
        pipelines: Sequence[Pipeline],
        subject: str,
        figures: tuple[Fraction, Fraction | None, Fraction],
        happened: tuple[int, int, int],
        saving: Fraction | None,
        *,
        agent: str | None = None,
        run: Run | None = None,
        holders: Sequence[Pipeline] | None = None,
        labels: frozenset[str] = frozenset(),
    ) -> Finding:
        """Score one finding. `happened`: occurrences, runs (or dates) affected, of how many."""
        places = {p.key for p in pipelines}
        incidents = [i for i in self.incidents if i.pipeline in places or subject == ALL_PIPELINES]
        rows = [row for p in pipelines for row in p.rows]
        if agent is not None:
            incidents = [i for i in incidents if i.agent == agent]
            rows = [row for row in rows if row.agent == agent]
        if run is not None:
            # A feedback row names no run; a run without an id has no incidents of its own.
            incidents = [i for i in incidents if run.has_id and i.run_id == run.name]
            rows = []
        escalated = sum(i.outcome == "escalated" for i in incidents)
        blocked = sum(i.outcome == "blocked" for i in incidents)
        instants = [instant for p in pipelines for instant in p.instants]
        span = max(instants) - min(instants) if instants else timedelta(0)
        share: Fraction | None = None
        if saving is not None:
            saving = vfm.half_up_12(saving)
            whole = sum((p.total or Fraction(0) for p in holders or pipelines), Fraction(0))
            share = saving / whole if whole else None
        new = "new" in labels
        errors = sum(bool(row.tags & ERROR_TAGS) for row in rows)
        return Finding(
            detector,
            ALL_PIPELINES if subject == ALL_PIPELINES else self.names.pipeline(pipelines[0].key),
            subject,
            *figures,
            vfm.Vfm(
                0
                if new
                else vfm.frequency(
                    happened[0], Fraction(span / timedelta(microseconds=1)) / 86_400_000_000, *happened[1:]
                ),
                vfm.failure_reduction(sum(row.low for row in rows), errors + blocked, escalated),
                vfm.burden_reduction(detector, escalated + blocked),
                0 if new else vfm.cost_savings(share),
            ),
            saving,
            share,
            labels,
            never_logged=agent is not None and not pipelines[0].of(agent),
        )
