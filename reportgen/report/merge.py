"""Several projects' reports as one: a pure function of reports. Each keeps its findings, settings and clock.

Sums are sums where the measure is the same, and told apart where it is not; unknown stays unknown. The order of the
projects given does not matter.
"""

from __future__ import annotations

import datetime as dt
import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal

from reportgen.detectors import as_text
from reportgen.model import (
    Agent,
    Build,
    Group,
    Healing,
    Measure,
    Notice,
    Period,
    Pipeline,
    Recommendation,
    Report,
    Retired,
    TagCount,
    Trend,
)
from reportgen.names import fold
from reportgen.report.findings import group_title
from reportgen.report.logs import ENTRIES_SHOWN
from reportgen.report.mergedcharts import merged_charts
from reportgen.report.mergedsql import merged_detectors, merged_sql
from reportgen.report.renaming import Project, Renaming, renamings
from reportgen.report.subjects import RECURRING
from reportgen.report.view import quotient, six_places

_MEASURES: tuple[Measure, ...] = ("usd", "tokens", "events")
Part = tuple[Report, Renaming]


def merge(projects: Sequence[Project], *, title: str = "", notices: Sequence[Notice] = ()) -> tuple[Report, list[Part]]:
    """Return one report of all, and beside it each project's report with its renaming, in the order of their names.

    `title` stands for the names of the projects; `notices` go before those of the projects. The tables and the hash are
    left empty.
    Raises ValueError where two projects have one name.
    """
    projects = sorted(projects, key=lambda one: (fold(one.name), one.name))
    if len({fold(one.name) for one in projects}) < len(projects) or not projects:
        raise ValueError("each project needs a name of its own")
    parts: list[Part] = list(zip((one.report for one in projects), renamings(projects), strict=True))
    detectors, off = merged_detectors(parts)
    sql = merged_sql(parts)
    found = [[names.finding(one) for one in report.recommendations] for report, names in parts]
    for (report, names), ones in zip(parts, found, strict=True):
        names.titles.update(
            (old.title, new.title) for old, new in zip(report.recommendations, ones, strict=True)
        )  # fmt: skip
    recommendations = [replace(one, rank=rank) for rank, one in enumerate(heapq.merge(*found, key=_order), 1)]
    merged = Report(
        build=_build([report.build for report, _ in parts], parts, title),
        period=_period([report.period for report, _ in parts]),
        pipelines=_pipelines(parts),
        agents=sorted((_agent(one, names) for report, names in parts for one in report.agents), key=_pipeline_of),
        recommendations=recommendations,
        groups=_groups(parts, recommendations),
        detectors=detectors,
        detectors_off=off,
        patterns=_tags(one for report, _ in parts for one in report.patterns),
        healing=_healing(parts),
        budget=[
            replace(one, subject=names.within(names.agent(one.subject))) for report, names in parts
            for one in report.budget
        ],
        charts=merged_charts(parts, {one.id: one.rank for one in recommendations}),
        inputs=[replace(one, file=names.within(one.file)) for report, names in parts for one in report.inputs],
        rejected=[replace(one, file=names.within(one.file)) for report, names in parts for one in report.rejected],
        rejected_total=sum(report.rejected_total for report, _ in parts),
        notices=[*notices, *(_notice(one, names) for report, names in parts for one in report.notices)],
        sql=sql,
        retired=_retired(parts),
        trends=_trends([report.trends for report, _ in parts]),
        runs=sorted(
            (
                replace(
                    one,
                    pipeline=names.pipeline(one.pipeline),
                    recommendations=[names.key(old) for old in one.recommendations],
                )
                for report, names in parts
                for one in report.runs
            ),
            key=lambda one: one.pipeline,
        ),
    )  # fmt: skip
    return merged, parts


def _order(one: Recommendation) -> tuple[object, ...]:
    # The order of SPEC 4. Within one project it is settled by exact shares, which only its own report knows.
    share = one.saving_share
    return (-one.vfm.total, "SML".index(one.effort), share is None, -(share or 0.0), one.id)


def _pipeline_of(one: Agent) -> str:
    return one.pipeline


def _pipelines(parts: Sequence[Part]) -> list[Pipeline]:
    totals: dict[str, Decimal] = {}
    for report, _ in parts:
        for p in report.pipelines:
            totals[p.cost_measure] = totals.get(p.cost_measure, Decimal(0)) + Decimal(p.cost or 0)
    out = [
        replace(
            p,
            pipeline=names.pipeline(p.pipeline),
            slug=names.pipeline_slug(p.slug),
            cost_share=quotient(None if p.cost is None else Decimal(p.cost), totals[p.cost_measure]),
            recommendations=[names.key(old) for old in p.recommendations],
        )
        for report, names in parts
        for p in report.pipelines
    ]
    return sorted(out, key=lambda p: (_MEASURES.index(p.cost_measure), -Decimal(p.cost or 0), p.pipeline))


def _agent(one: Agent, names: Renaming) -> Agent:
    return replace(
        one,
        agent=names.agent(one.agent),
        pipeline=names.pipeline(one.pipeline),
        slug=names.agent_slug(one.slug),
        recommendations=[names.key(old) for old in one.recommendations],
    )


def _groups(parts: Sequence[Part], recommendations: Sequence[Recommendation]) -> list[Group]:
    own = {names.key(group.group): group for report, names in parts for group in report.groups}
    members: dict[str, list[Recommendation]] = {}
    for one in recommendations:
        members.setdefault(one.group, []).append(one)
    return [
        replace(
            own[key],
            group=key,
            rank=rank,
            detector=ones[0].detector,
            pipeline=ones[0].pipeline,
            title=group_title(ones),
            ids=[one.id for one in ones],
        )
        for rank, (key, ones) in enumerate(members.items(), 1)
    ]


def _tags(tags: Iterable[TagCount]) -> list[TagCount]:
    out: dict[str, TagCount] = {}
    for one in tags:
        rows = one.rows + (out[one.tag].rows if one.tag in out else 0)
        out[one.tag] = replace(one, rows=rows, recurring=rows >= RECURRING)
    return sorted(out.values(), key=lambda one: (-one.rows, one.tag))


def _healing(parts: Sequence[Part]) -> Healing:
    entries = [
        replace(one, pipeline=names.pipeline(one.pipeline), agent=names.agent(one.agent))
        for report, names in parts
        for one in report.healing.entries
    ]
    incidents = [
        replace(one, pipeline=names.pipeline(one.pipeline), agent=names.agent(one.agent))
        for report, names in parts
        for one in report.healing.incident_list
    ]
    # Stable: what one log has in its order stays so. What has no time comes last.
    if len(parts) > 1:
        entries.sort(key=lambda one: one.timestamp or "", reverse=True)
        incidents.sort(key=lambda one: one.last or "", reverse=True)
    logs = [report.healing for report, _ in parts]
    return Healing(
        present=any(one.present for one in logs),
        attempts=sum(one.attempts for one in logs),
        incidents=sum(one.incidents for one in logs),
        escalated=sum(one.escalated for one in logs),
        blocked=sum(one.blocked for one in logs),
        recovered=sum(one.recovered for one in logs),
        entries=entries[:ENTRIES_SHOWN],
        incident_list=incidents[:ENTRIES_SHOWN],
    )


def _notice(one: Notice, names: Renaming) -> Notice:
    if one.file is None:
        return replace(one, message=f"{names.project}: {one.message}")
    return replace(one, file=names.within(one.file))


def _retired(parts: Sequence[Part]) -> list[Retired]:
    """Return what the reports said themselves, by id."""
    return sorted(
        (
            Retired(id=names.key(one.id), title=f"{one.title} ({names.project})")
            for report, names in parts
            for one in report.retired
        ),
        key=lambda one: one.id,
    )


def _trends(parts: Sequence[Sequence[Trend]]) -> list[Trend]:
    """Return the sums of the earlier halves, each of its own project's period, and those of the later."""
    out = []
    for measure in _MEASURES:
        mine = [one for some in parts for one in some if one.measure == measure]
        if len(mine) > 1:
            earlier, recent = _sum(one.earlier_cost for one in mine), _sum(one.recent_cost for one in mine)
            earlier_runs, recent_runs = sum(one.earlier_runs for one in mine), sum(one.recent_runs for one in mine)
            mine = [
                Trend(
                    measure=measure,
                    middle=_common([one.middle for one in mine]),
                    earlier_runs=earlier_runs,
                    recent_runs=recent_runs,
                    earlier_cost=as_text(earlier),
                    recent_cost=as_text(recent),
                    earlier_run_cost=_each(earlier, earlier_runs),
                    recent_run_cost=_each(recent, recent_runs),
                )
            ]
        out += mine
    return out


def _sum(values: Iterable[str | None]) -> Decimal | None:
    known = [Decimal(value) for value in values if value is not None]
    return sum(known, Decimal(0)) if known else None


def _each(cost: Decimal | None, runs: int) -> str | None:
    return None if cost is None or not runs else six_places(cost / runs)


def _common(values: Sequence[str | None]) -> str | None:
    return values[0] if len(set(values)) == 1 else None


def _period(periods: Sequence[Period]) -> Period:
    if len(periods) == 1:
        return periods[0]
    first = min((one.first for one in periods if one.first is not None), default=None)
    last = max((one.last for one in periods if one.last is not None), default=None)
    for one in periods:
        if (one.first, one.last) == (first, last):
            return one
    days = None
    if first is not None and last is not None:
        span = dt.datetime.fromisoformat(last) - dt.datetime.fromisoformat(first)
        days = six_places(Decimal(span.days) + Decimal(span.seconds) / 86_400)
    return Period(first=first, last=last, days=days)


def _build(builds: Sequence[Build], parts: Sequence[Part], title: str) -> Build:
    def text(of: Callable[[Build], str]) -> str:
        return ", ".join(dict.fromkeys(sorted(of(one) for one in builds)))

    tools = sorted({name for one in builds for name in one.versions})
    one_now = len({one.now for one in builds}) == 1
    settings = [one for one in builds[0].settings if all(one in other.settings for other in builds)]
    for report, names in parts:
        mine = report.build
        told = [one for one in mine.settings if one not in settings]
        ends = (
            ("since", mine.since),
            ("until", mine.until),
            ("as of", mine.as_of),
            ("now", None if one_now else mine.now),
        )
        told += [(name, value, "") for name, value in ends if value is not None and len(parts) > 1]
        settings += [(f"{names.project}: {name}", value, unit) for name, value, unit in told]
    flags = sorted({value for one in builds for name, value, _ in one.settings if name == "score_flag"})
    if len(flags) > 1:
        settings.append(("score_flag", " or ".join(flags), "points"))
    return Build(
        reportgen=text(lambda one: one.reportgen),
        versions={name: text(lambda one: one.versions.get(name, "unknown")) for name in tools},  # noqa: B023
        pipeline_filter=None,
        since=_common([one.since for one in builds]),
        until=_common([one.until for one in builds]),
        as_of=_common([one.as_of for one in builds]),
        now=max((one.now for one in builds if one.now is not None), default=None),
        redacted=all(one.redacted for one in builds),
        # It is built again by naming its projects, not tools.
        sources=[],
        project=title,
        settings=settings,
    )
