"""Pipelines and agents, with what a performance scorer says of them, and the tags of the feedback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from reportgen.detectors import as_text
from reportgen.model import Agent, Measure, Pipeline, Recommendation, TagCount, ToolUse, Trend
from reportgen.report.view import View, as_float, as_time, quotient, six_places

KNOWN_TAGS = frozenset(
    {"quality-low", "loop-excess", "timeout", "tool-fail", "cost-spike", "scope-drift", "hallucination"}
)
#: From this many rows on a tag is a recurring pattern.
RECURRING = 3


def pipelines(view: View, recommendations: Sequence[Recommendation]) -> list[Pipeline]:
    """Return the pipelines shown, the costliest of each measure first."""
    totals: dict[str, Decimal] = {}
    for p in view.pipelines:
        totals[p["cost_measure"]] = totals.get(p["cost_measure"], Decimal(0)) + (p["cost"] or Decimal(0))
    reviews = {
        r[0]: r[1:]
        for r in view.warehouse.query(
            "select pipeline, count(*), sum(score), count(score) from feedback group by pipeline"
        ).rows
    }
    unknown = {name for name, _ in _incomplete(view)}
    order = {"usd": 0, "tokens": 1, "events": 2}
    shown = [p for p in view.pipelines if view.shows(p["pipeline"])]
    shown.sort(key=lambda p: (order[p["cost_measure"]], -(p["cost"] or Decimal(0)), p["pipeline"]))
    out = []
    for p in shown:
        _, score_sum, scores = reviews.get(p["pipeline"], (0, None, 0))
        out.append(
            Pipeline(
                pipeline=p["pipeline"],
                slug=view.slug("pipeline", p["pipeline"]),
                runs=p["runs"],
                run_source=_run_source(p),
                events=p["events"],
                agents=p["event_agents"],
                cost_measure=p["cost_measure"],
                cost=as_text(p["cost"]),
                cost_coverage=quotient(p["known_costs"], p["events"]) if p["events"] else None,
                cost_basis=p["cost_basis"],
                cost_share=quotient(p["cost"], totals[p["cost_measure"]]),
                mean_run_cost=six_places(p["run_cost"] / p["runs"]) if p["runs"] and p["events"] else None,
                incomplete_runs=p["incomplete_runs"],
                unattributed_events=p["unattributed_events"],
                inferred_events=p["inferred_events"],
                undated_events=p["undated_events"],
                runless_events=p["runless_events"],
                first=as_time(p["first_time"]),
                last=as_time(p["last_time"]),
                feedback_rows=p["feedback_rows"],
                mean_score=quotient(score_sum, scores),
                recent_run_cost=six_places(p["recent_run_cost"]),
                earlier_run_cost=six_places(p["earlier_run_cost"]),
                recent_score=as_float(p["recent_score"]),
                earlier_score=as_float(p["earlier_score"]),
                recommendations=[r.id for r in recommendations if r.pipeline == p["pipeline"]],
                incomplete=p["pipeline"] in unknown,
            )
        )
    return out


def _incomplete(view: View) -> set[tuple[str, str]]:
    """Return the pairs of pipeline and agent with an event of unknown cost."""
    rows = view.warehouse.query("select distinct pipeline, agent from agent_runs where unknown_costs > 0").rows
    return {(r[0], r[1]) for r in rows}


def trends(view: View) -> list[Trend]:
    """Return the cost of each measure in the two halves of the period, over the pipelines shown, money first."""
    measures: tuple[Measure, ...] = ("usd", "tokens", "events")
    out = []
    for measure in measures:
        some = [p for p in view.pipelines if view.shows(p["pipeline"]) and p["cost_measure"] == measure]
        if not some:
            continue
        runs = {half: sum(p[f"{half}_runs"] for p in some) for half in ("earlier", "recent")}
        costs = {
            half: sum((p[f"{half}_cost"] or Decimal(0) for p in some), Decimal(0)) if runs[half] else None
            for half in runs
        }
        out.append(
            Trend(
                measure=measure,
                middle=as_time(some[0]["middle_time"]),
                earlier_runs=runs["earlier"],
                recent_runs=runs["recent"],
                earlier_cost=as_text(costs["earlier"]),
                recent_cost=as_text(costs["recent"]),
                earlier_run_cost=_each(costs["earlier"], runs["earlier"]),
                recent_run_cost=_each(costs["recent"], runs["recent"]),
            )
        )
    return out


def _each(cost: Decimal | None, runs: int) -> str | None:
    return None if cost is None else six_places(cost / runs)


def agents(view: View, recommendations: Sequence[Recommendation]) -> list[Agent]:
    """Return the agents shown: by pipeline, the busiest first, the bucket last."""
    tools: dict[tuple[str, str], list[ToolUse]] = {}
    for r in view.warehouse.query(
        "select pipeline, agent, tool, events, cost from agent_tools order by pipeline, agent, events desc, tool"
    ).rows:
        uses = tools.setdefault((r[0], r[1]), [])
        if len(uses) < 20:
            uses.append(ToolUse(tool=r[2], events=r[3], cost=as_text(r[4])))
    patterns: dict[tuple[str, str], list[TagCount]] = {}
    for r in view.warehouse.query(
        "select pipeline, agent, tag, count(*) from feedback_tags group by pipeline, agent, tag"
        " order by pipeline, agent, count(*) desc, tag"
    ).rows:
        patterns.setdefault((r[0], r[1]), []).append(_tag(r[2], r[3]))
    by_subject: dict[tuple[str, str], list[str]] = {}
    for one in recommendations:
        if one.subject_kind == "agent":
            by_subject.setdefault((one.pipeline, one.subject), []).append(one.id)
    costs = {p["pipeline"]: p["cost"] for p in view.pipelines}
    unknown = _incomplete(view)
    flag = view.warehouse.query("select score_flag from window_bounds").rows[0][0]
    rows = view.warehouse.query(
        "select * from agents order by pipeline, not attributed, events desc, cost_sum desc, agent"
    ).dicts()
    out = []
    for a in rows:
        if not view.shows(a["pipeline"]):
            continue
        where = (a["pipeline"], a["agent"])
        out.append(
            Agent(
                agent=a["agent"],
                pipeline=a["pipeline"],
                slug=view.slug("agent", a["agent"]),
                attributed=a["attributed"],
                events=a["events"],
                runs=a["runs"],
                cost=as_text(a["cost"]),
                cost_share=quotient(a["cost"], costs.get(a["pipeline"])),
                cost_basis=a["cost_basis"],
                cost_per_run=six_places(a["cost"] / a["runs"]) if a["cost"] is not None and a["runs"] else None,
                feedback_rows=a["feedback_rows"],
                scores=a["scores"],
                mean_score=quotient(a["score_sum"], a["scores"]),
                low_scores=a["low_scores"],
                error_rate=quotient(a["low_scores"], a["scores"]),
                trend=as_float(a["trend"]),
                flagged=bool(a["attributed"] and a["scores"] and a["score_sum"] < flag * a["scores"]),
                first_seen=as_time(a["first_seen"]),
                last_seen=as_time(a["last_seen"]),
                in_roster=a["in_roster"],
                tools=tools.get(where, []),
                patterns=patterns.get(where, []),
                recommendations=by_subject.get(where, []),
                incomplete=where in unknown,
            )
        )
    return out


def patterns(view: View) -> list[TagCount]:
    """Return the tags of the feedback shown, the most frequent first."""
    where = "" if view.only is None else "where pipeline = ?"
    rows = view.warehouse.query(
        f"select tag, count(*) from feedback_tags {where} group by tag order by count(*) desc, tag",
        [] if view.only is None else [view.only],
    ).rows
    return [_tag(r[0], r[1]) for r in rows]


def _tag(tag: str, rows: int) -> TagCount:
    return TagCount(tag=tag, rows=rows, recurring=rows >= RECURRING, known=tag in KNOWN_TAGS)


def _run_source(p: Mapping[str, Any]) -> str:
    kinds = [name for name, n in (("run ids", p["id_runs"]), ("gaps", p["gap_runs"])) if n]
    if p["date_runs"]:
        return "feedback dates"
    return " and ".join(kinds) or "none"
