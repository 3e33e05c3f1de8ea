"""What pages say beyond what a `Report` holds: sums over it, its trend, its headline. Pure functions of a `Report`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Literal

from reportgen import glossary
from reportgen.glossary import has_date, not_measured
from reportgen.model import (
    Agent,
    Basis,
    Decision,
    Group,
    Measure,
    Pipeline,
    Recommendation,
    Report,
    Status,
    Trend,
)
from reportgen.names import ALL_PIPELINES, is_unassigned
from reportgen.quickclass import dataclass
from reportgen.render.format import show, to_decimal

MEASURES: tuple[Measure, ...] = ("usd", "tokens", "events")
STATUSES: tuple[Status, ...] = ("found", "clear", "skipped", "error")
#: A change below this share of what was before is none that a reader should act on.
STEADY = Decimal("0.01")
#: From the firmest to the least known; a sum is as firm as its weakest part.
_BASES: tuple[Basis, ...] = ("measured", "priced", "estimated", "unknown")


@dataclass(frozen=True, slots=True)
class Change:
    """A value before and after. `share` is the change as a share of `before`, None where it can't be told."""

    before: str | None
    after: str | None
    difference: str | None
    share: str | None
    verdict: Literal["better", "worse", "steady", "unknown"]


@dataclass(frozen=True, slots=True)
class MeasureTotal:
    """The cost of all pipelines of one measure; `unknown` of them have no known cost, `incomplete`: part of one is."""

    measure: Measure
    total: str | None
    basis: Basis
    pipelines: list[Pipeline]
    unknown: int
    #: How many of the pipelines have a name.
    named: int
    #: The halves of the period; their costs, and the cost per run, as changes.
    trend: Trend | None
    cost: Change
    run_cost: Change
    incomplete: bool = False


@dataclass(frozen=True, slots=True)
class GroupView:
    """A group with its members, and what they could save together (None where nothing is known)."""

    group: Group
    members: list[Recommendation]
    saving: str | None
    saving_share: str | None
    saving_basis: Basis

    @property
    def first(self) -> Recommendation:
        """The best of its members."""
        return self.members[0]


def text_of(number: Decimal) -> str:
    """Return a plain decimal without trailing zeros, as the model writes exact numbers."""
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def total_of(values: Iterable[str | None]) -> str | None:
    """Return the exact sum of the known values, None where none is known."""
    known = [number for value in values if (number := to_decimal(value)) is not None]
    return text_of(sum(known, Decimal(0))) if known else None


def change(before: str | float | None, after: str | float | None, *, lower_is_better: bool) -> Change:
    """Compare two values; under one percent either way is `steady`."""
    old, new = to_decimal(before), to_decimal(after)
    if old is None or new is None:
        known = [None if one is None else text_of(one) for one in (old, new)]
        return Change(known[0], known[1], None, None, "unknown")
    moved = new - old
    share = moved / old if old else None
    if moved == 0 or (share is not None and abs(share) < STEADY):
        verdict: Literal["better", "worse", "steady"] = "steady"
    else:
        verdict = "better" if (moved < 0) is lower_is_better else "worse"
    return Change(text_of(old), text_of(new), text_of(moved), None if share is None else text_of(share), verdict)


def cost_change(pipeline: Pipeline) -> Change:
    """Return the pipeline's cost per run, the later half of the period against the earlier."""
    return change(pipeline.earlier_run_cost, pipeline.recent_run_cost, lower_is_better=True)


def score_change(pipeline: Pipeline) -> Change:
    """Return the pipeline's mean score, the later half of the period against the earlier."""
    return change(pipeline.earlier_score, pipeline.recent_score, lower_is_better=False)


def weakest(bases: Iterable[Basis]) -> Basis:
    """Return the least firm of the bases."""
    return max(bases, key=_BASES.index, default="unknown")


def measure_totals(report: Report) -> list[MeasureTotal]:
    """Return the totals of the measures that the report's pipelines use, money first."""
    out = []
    for measure in MEASURES:
        mine = [p for p in report.pipelines if p.cost_measure == measure]
        known = [p for p in mine if p.cost is not None]
        if not mine:
            continue
        trend = next((one for one in report.trends if one.measure == measure), None)
        out.append(
            MeasureTotal(
                measure=measure,
                total=total_of(p.cost for p in known),
                basis=weakest(p.cost_basis for p in known),
                pipelines=mine,
                unknown=len(mine) - len(known),
                named=sum(not is_unassigned(p.pipeline) for p in mine),
                trend=trend,
                cost=_fallen(None if trend is None else (trend.earlier_cost, trend.recent_cost)),
                run_cost=_fallen(None if trend is None else (trend.earlier_run_cost, trend.recent_run_cost)),
                incomplete=any(p.incomplete for p in known),
            )
        )
    return out


def _fallen(halves: tuple[str | None, str | None] | None) -> Change:
    return change(*(halves or (None, None)), lower_is_better=True)


@dataclass(frozen=True, slots=True)
class Sum:
    """What some rows of one measure cost together; `unknown` of them have no known cost, of others part of it is."""

    measure: Measure
    total: str | None
    basis: Basis
    unknown: int
    incomplete: bool = False


def agents_by_cost(report: Report) -> list[Agent]:
    """Return the agents, the costliest of each measure first: what a table shows before it is opened."""
    measures = {p.pipeline: MEASURES.index(p.cost_measure) for p in report.pipelines}

    def order(agent: Agent) -> tuple[bool, int, Decimal, int, str, str]:
        cost = to_decimal(agent.cost)
        least = Decimal(0) if cost is None else -cost
        return (cost is None, measures.get(agent.pipeline, 0), least, -agent.events, agent.pipeline, agent.agent)

    return sorted(report.agents, key=order)


def sums(report: Report, rows: Sequence[Agent | Pipeline]) -> list[Sum]:
    """Return what agents or pipelines cost together, for each measure: costs of two measures are never added."""
    measures = {p.pipeline: p.cost_measure for p in report.pipelines}
    made = []
    for measure in MEASURES:
        mine = [row for row in rows if measures.get(row.pipeline) == measure]
        known = [row for row in mine if row.cost is not None]
        if mine:
            basis = weakest(row.cost_basis for row in known)
            some = any(row.incomplete for row in known)
            made.append(Sum(measure, total_of(row.cost for row in known), basis, len(mine) - len(known), some))
    return made


def group_views(report: Report) -> list[GroupView]:
    """Return the groups in order, each with its members."""
    by_id = {found.id: found for found in report.recommendations}
    out = []
    for group in report.groups:
        members = [by_id[name] for name in group.ids]
        known = [found for found in members if found.saving is not None]
        shares = [None if found.saving_share is None else repr(found.saving_share) for found in known]
        # A saving of one measure can't be added to one of another.
        one_measure = len({found.cost_measure for found in known}) == 1
        out.append(
            GroupView(
                group=group,
                members=members,
                saving=total_of(found.saving for found in known) if one_measure else None,
                saving_share=total_of(shares) if one_measure and None not in shares else None,
                saving_basis=weakest(found.saving_basis for found in known),
            )
        )
    return out


@dataclass(frozen=True, slots=True)
class Place:
    """Where a finding stands in the ranked list: its recommendation's key and number, and its own place in it."""

    group: str
    number: int
    of: int
    within: int
    shared_by: int


def places(groups: Sequence[GroupView]) -> dict[str, Place]:
    """Return the place of every finding by its id."""
    return {
        found.id: Place(view.group.group, number, len(groups), within, len(view.members))
        for number, view in enumerate(groups, 1)
        for within, found in enumerate(view.members, 1)
    }


#: Findings about the same thing that a page names; their pipeline's page has all.
SEE_ALSO = 3


def see_also(report: Report) -> dict[str, list[Recommendation]]:
    """Return for each finding's id the others about its agent, run or tag, and those about its pipeline as a whole.

    What is about a whole pipeline has those about its agents; at most `SEE_ALSO`, the best first.
    """
    by_pipeline: dict[str, list[Recommendation]] = {}
    for one in report.recommendations:
        if one.subject_kind in ("agent", "pipeline"):
            by_pipeline.setdefault(one.pipeline, []).append(one)
    out = {}
    for one in report.recommendations:
        whole = one.subject_kind == "pipeline"
        others = [
            other
            for other in by_pipeline.get(one.pipeline, [])
            if other.id != one.id
            and (
                whole
                or other.subject_kind == "pipeline"
                or (other.subject_kind, other.subject) == (one.subject_kind, one.subject)
            )
        ]
        out[one.id] = others[:SEE_ALSO]
    return out


def agents_by_slug(report: Report) -> dict[str, list[Agent]]:
    """Return the rows of each agent's page, in the report's order."""
    out: dict[str, list[Agent]] = {}
    for agent in report.agents:
        out.setdefault(agent.slug, []).append(agent)
    return out


#: The hints, the firmest first.
HINTS: tuple[Decision, ...] = ("implement", "defer", "reject")


def first_things(groups: Sequence[GroupView], most: int = 3) -> list[tuple[Decision, list[GroupView]]]:
    """Return the first few of the ranked list by their hint, so that nothing stands under a heading it does not fit.

    The list is ordered by score, and the hint goes by the score too: the parts come in the list's own order. What is
    not worth the effort is named only where there is nothing better.
    """
    better = [view for view in groups if view.group.decision != "reject"]
    first = (better or list(groups))[:most]
    return [(hint, some) for hint in HINTS if (some := [view for view in first if view.group.decision == hint])]


def dated(groups: Sequence[GroupView]) -> int:
    """Count the recommendations of a low score that have a date, before which somebody has to decide."""
    low = [view for view in groups if view.group.decision == "reject"]
    return sum(any(has_date(found.labels) for found in view.members) for view in low)


def hint_title(hint: Decision, some: Sequence[GroupView]) -> str:
    """Return what stands above recommendations of one hint: what it means, for none of which a date is hidden."""
    if hint == "reject" and dated(some):
        return "Low scores, but with a date"
    return glossary.HINTS[hint].capitalize()


def headline(report: Report, groups: Sequence[GroupView]) -> str:
    """Return the answer in one line: what the report asks its reader to do."""
    ready = sum(view.group.decision == "implement" for view in groups)
    later = sum(view.group.decision == "defer" for view in groups)
    ran = [d for d in report.detectors if d.status in ("found", "clear")]
    if ready:
        return f"{_things(ready)} worth doing now"
    if later:
        return f"Nothing is urgent; {_things(later).lower()} worth doing later"
    if dated(groups):
        return "Nothing scores high, but a limit has a date"
    if groups:
        return "Nothing here is worth the effort now"
    if any(d.status == "error" for d in report.detectors):
        return "Nothing found, but a detector failed"
    if not ran:
        return "There is nothing to look at yet"
    if not sum(one.events for one in report.pipelines):
        # What was never there to be seen is no good news.
        return "Nothing stands out in the reviews, and there are no cost events to look at"
    return "Nothing stands out"


def _things(count: int) -> str:
    words = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")
    number = words[count] if count < len(words) else show(count, None)
    return f"{number} {'thing is' if count == 1 else 'things are'}"


@dataclass(frozen=True, slots=True)
class Named:
    """How many agents (`idle`: without any event) and pipelines have a name; whether events of none are beside them."""

    agents: int
    pipelines: int
    idle: int
    nobody: bool
    nowhere: bool


def named(report: Report) -> Named:
    """Count what has a name: the buckets `(unattributed)` and `(unassigned)` are no agent and no pipeline."""
    pipelines = sum(not is_unassigned(one.pipeline) for one in report.pipelines)
    agents = {one.slug for one in report.agents if one.attributed}
    return Named(
        agents=len(agents),
        pipelines=pipelines,
        idle=len(agents - {one.slug for one in report.agents if one.events}),
        nobody=any(not one.attributed for one in report.agents),
        nowhere=pipelines < len(report.pipelines),
    )


def looked_at(report: Report) -> str:
    """Return what the findings rest on, in one sentence without its full stop: "490 runs and 51,570 events of 3 …"."""
    runs = sum(p.runs for p in report.pipelines)
    events = sum(p.events for p in report.pipelines)
    rows = sum(p.feedback_rows for p in report.pipelines)
    parts = [show(runs, "runs"), show(events, "events")]
    if rows:
        parts.append(show(rows, "reviews"))
    there = named(report)
    where = show(there.pipelines, "pipelines") if there.pipelines else "no pipeline"
    apart = ", with events of no pipeline" if there.pipelines and there.nowhere else ""
    return f"{', '.join(parts[:-1])} and {parts[-1]} of {where}{apart}"


def elsewhere(report: Report) -> bool:
    """Say whether there are files of cost events that a build reads only where they are named."""
    if report.build.sources or any(notice.code == "project" for notice in report.notices):
        return False
    # Not above: the command line imports this room, and no input.
    from reportgen.inputs.sources import default_places

    found = default_places()
    return any(one.kind == "events" and one.file not in found for one in report.inputs)


def not_measured_pipelines(report: Report) -> frozenset[str]:
    """Return the pipelines whose cost is not measured; where there is one, what is of all of them is not, either."""
    found = {one.pipeline for one in report.pipelines if not_measured(one.cost_basis, one.cost_measure)}
    return frozenset({*found, ALL_PIPELINES} if found else found)
