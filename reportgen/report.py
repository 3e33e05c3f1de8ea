"""From the warehouse's tables and the detectors' outcomes to one `Report`: order, rounding, words. No rule lives here."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from reportgen.chartfiles import ChartFailed, read_charts
from reportgen.detectors import Finding, Outcome, as_text, evidence_columns
from reportgen.identity import Hashes, finding_id, slug
from reportgen.model import (
    Agent,
    BudgetWindow,
    Build,
    Detector,
    Evidence,
    Group,
    Healing,
    HealingAttempt,
    Incident,
    InputFile,
    Measure,
    Notice,
    Period,
    Pipeline,
    Recommendation,
    RejectedLine,
    Report,
    Retired,
    Table,
    TagCount,
    ToolUse,
    Vfm,
)
from reportgen.names import ALL_PIPELINES
from reportgen.sqlfile import SqlFile
from reportgen.warehouse import Warehouse
from reportgen.wording import action_of, fill

KNOWN_TAGS = frozenset(
    {"quality-low", "loop-excess", "timeout", "tool-fail", "cost-spike", "scope-drift", "hallucination"}
)
#: From this many rows on a tag is a recurring pattern.
RECURRING = 3
REJECTED_SHOWN = 200
ENTRIES_SHOWN = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the input rooms say beside the rows: accounts, rejected lines, remarks."""

    inputs: Sequence[InputFile]
    rejected: Sequence[RejectedLine]
    notices: Sequence[Notice]
    healing_present: bool


def quotient(over: Decimal | int | None, under: Decimal | int | None) -> float | None:
    """Return over / under rounded to 6 places, for showing only; None where either is unknown or under is 0."""
    if over is None or under is None or under == 0:
        return None
    exact = Decimal(over) / Decimal(under)
    return float(exact.quantize(Decimal("0.000001"), rounding=ROUND_HALF_UP))


def _float(value: Decimal | None) -> float | None:
    return None if value is None else float(value.quantize(Decimal("0.000001"), rounding=ROUND_HALF_UP))


def _six(value: Decimal | None) -> str | None:
    return as_text(None if value is None else value.quantize(Decimal("0.000001"), rounding=ROUND_HALF_UP))


def _time(value: dt.datetime | None) -> str | None:
    return as_text(value)


class Assembler:
    """Reads the marts once and makes the parts of a report; `pipeline` keeps only that pipeline's part."""

    def __init__(self, warehouse: Warehouse, outcomes: Sequence[Outcome], pipeline: str | None) -> None:
        self._warehouse = warehouse
        self._only = pipeline
        self._outcomes = outcomes
        names = warehouse.query("select kind, shown, name_key, key_hash from names").rows
        self._hashes = Hashes({(r[0], r[1]): (r[2], r[3]) for r in names})
        self._vfm = {r["finding_no"]: r for r in warehouse.query("select * from vfm").dicts()}
        self._pipelines = warehouse.query(
            "select p.*, h.* exclude (pipeline) from pipelines as p inner join pipeline_halves as h"
            " on p.pipeline = h.pipeline order by p.pipeline"
        ).dicts()
        self._measures: dict[str, Measure] = {p["pipeline"]: p["cost_measure"] for p in self._pipelines}
        self.failures: list[ChartFailed] = []

    def _shown(self, pipeline: str) -> bool:
        return self._only is None or pipeline == self._only

    def _slug(self, kind: str, name: str) -> str:
        return slug(*self._hashes.key_and_hash(kind, name))

    def _id(self, finding: Finding) -> str:
        kind = finding.subject_kind
        key, digest = finding.subject_key, finding.subject_key
        if kind in ("agent", "pipeline"):
            key, digest = self._hashes.key_and_hash(kind, finding.subject)
        elif kind == "run" and finding.subject_key.startswith("id:"):
            digest = self._hashes.key_and_hash("run", finding.subject)[1]
            key = finding.subject
        elif kind == "run":
            key = finding.subject
        return finding_id(
            finding.detector.file.id, self._hashes.key_and_hash("pipeline", finding.pipeline)[1], kind, key, digest
        )

    def recommendations(self) -> list[Recommendation]:
        """Return the findings shown, ranked: total, then effort S first, then saving share (unknown last), then id."""
        made: list[tuple[tuple[Any, ...], Recommendation]] = []
        for outcome in self._outcomes:
            for finding in outcome.findings:
                if not self._shown(finding.pipeline):
                    continue
                one = self._recommendation(finding)
                share = _share(finding)
                order = (-one.vfm.total, "SML".index(one.effort), share is None, -(share or Decimal(0)), one.id)
                made.append((order, one))
        made.sort(key=lambda pair: pair[0])
        return [replace(one, rank=rank) for rank, (_, one) in enumerate(made, 1)]

    def _recommendation(self, finding: Finding) -> Recommendation:
        score = self._vfm[finding.finding_no]
        detector = finding.detector
        measure = self._measures.get(finding.pipeline) or self._project_measure()
        action = action_of(finding)
        whole = finding.pipeline == ALL_PIPELINES
        about = "all pipelines" if whole else f"{finding.subject} in {finding.pipeline}"
        if finding.subject_kind == "pipeline":
            about = f"the whole of {finding.pipeline}"
        hashed = self._hashes.key_and_hash("pipeline", finding.pipeline)[1][:6]
        return Recommendation(
            id=self._id(finding),
            rank=0,
            detector=detector.file.id,
            issue=detector.issue,
            pipeline=finding.pipeline,
            subject=finding.subject,
            subject_kind=finding.subject_kind,
            group=f"{detector.file.id.replace('_', '-')}-{hashed}-{_digest(action)}",
            title=f"{detector.issue}: {about}",
            finding=fill(finding, detector.finding, measure),
            action=fill(finding, action, measure),
            effort=detector.effort,
            observed=_six_or_exact(finding.observed),
            baseline=_six(finding.baseline),
            threshold=_six(finding.threshold),
            cost_measure=measure,
            saving=as_text(finding.saving),
            saving_share=quotient(finding.saving, finding.saving_of),
            saving_basis=finding.saving_basis,
            vfm=Vfm(
                total=score["total"],
                frequency=score["frequency"],
                failure_reduction=score["failure_reduction"],
                burden_reduction=score["burden_reduction"],
                cost_savings=score["cost_savings"],
            ),
            vfm_evidence={
                "frequency": score["frequency_evidence"],
                "failure_reduction": score["failure_evidence"],
                "burden_reduction": score["burden_evidence"],
                "cost_savings": score["cost_evidence"],
            },
            decision=score["decision"],
            labels=list(finding.labels),
            evidence=[
                Evidence(
                    name=name,
                    label=detector.columns.get(name, (name.replace("_", " "), None))[0],
                    value=as_text(finding.row[name]),
                    unit=detector.columns.get(name, ("", None))[1],
                )
                for name in evidence_columns(finding)
            ],
        )

    def _project_measure(self) -> Measure:
        measures = set(self._measures.values())
        return measures.pop() if len(measures) == 1 else "events"

    def groups(self, recommendations: Sequence[Recommendation]) -> list[Group]:
        """Return the ranked recommendations with those of one detector, pipeline and action as one row."""
        members: dict[str, list[Recommendation]] = {}
        for one in recommendations:
            members.setdefault(one.group, []).append(one)
        groups = []
        for rank, (key, ones) in enumerate(members.items(), 1):
            best = ones[0]
            noun = {"agent": "agents", "run": "runs", "pipeline": "pipelines", "project": "projects"}[best.subject_kind]
            title = best.title if len(ones) == 1 else f"{best.issue}: {len(ones)} {noun} in {best.pipeline}"
            groups.append(
                Group(
                    group=key,
                    rank=rank,
                    detector=best.detector,
                    issue=best.issue,
                    pipeline=best.pipeline,
                    title=title,
                    action=best.action,
                    effort=best.effort,
                    total=best.vfm.total,
                    decision=best.decision,
                    ids=[one.id for one in ones],
                )
            )
        return groups

    def pipelines(self, recommendations: Sequence[Recommendation]) -> list[Pipeline]:
        """Return the pipelines shown, the costliest of each measure first."""
        totals: dict[str, Decimal] = {}
        for p in self._pipelines:
            totals[p["cost_measure"]] = totals.get(p["cost_measure"], Decimal(0)) + (p["cost"] or Decimal(0))
        reviews = {
            r[0]: r[1:]
            for r in self._warehouse.query(
                "select pipeline, count(*), sum(score), count(score) from feedback group by pipeline"
            ).rows
        }
        order = {"usd": 0, "tokens": 1, "events": 2}
        shown = [p for p in self._pipelines if self._shown(p["pipeline"])]
        shown.sort(key=lambda p: (order[p["cost_measure"]], -(p["cost"] or Decimal(0)), p["pipeline"]))
        out = []
        for p in shown:
            _, score_sum, scores = reviews.get(p["pipeline"], (0, None, 0))
            out.append(
                Pipeline(
                    pipeline=p["pipeline"],
                    slug=self._slug("pipeline", p["pipeline"]),
                    runs=p["runs"],
                    run_source=_run_source(p),
                    events=p["events"],
                    agents=p["event_agents"],
                    cost_measure=p["cost_measure"],
                    cost=as_text(p["cost"]),
                    cost_coverage=quotient(p["known_costs"], p["events"]) if p["events"] else None,
                    cost_basis=p["cost_basis"],
                    cost_share=quotient(p["cost"], totals[p["cost_measure"]]),
                    mean_run_cost=_six(p["run_cost"] / p["runs"]) if p["runs"] and p["events"] else None,
                    incomplete_runs=p["incomplete_runs"],
                    unattributed_events=p["unattributed_events"],
                    inferred_events=p["inferred_events"],
                    undated_events=p["undated_events"],
                    runless_events=p["runless_events"],
                    first=_time(p["first_time"]),
                    last=_time(p["last_time"]),
                    feedback_rows=p["feedback_rows"],
                    mean_score=quotient(score_sum, scores),
                    recent_run_cost=_six(p["recent_run_cost"]),
                    earlier_run_cost=_six(p["earlier_run_cost"]),
                    recent_score=_float(p["recent_score"]),
                    earlier_score=_float(p["earlier_score"]),
                    recommendations=[r.id for r in recommendations if r.pipeline == p["pipeline"]],
                )
            )
        return out

    def agents(self, recommendations: Sequence[Recommendation]) -> list[Agent]:
        """Return the agents shown: by pipeline, the busiest first, the bucket last."""
        tools: dict[tuple[str, str], list[ToolUse]] = {}
        for r in self._warehouse.query(
            "select pipeline, agent, tool, events, cost from agent_tools order by pipeline, agent, events desc, tool"
        ).rows:
            uses = tools.setdefault((r[0], r[1]), [])
            if len(uses) < 20:
                uses.append(ToolUse(tool=r[2], events=r[3], cost=as_text(r[4])))
        patterns: dict[tuple[str, str], list[TagCount]] = {}
        for r in self._warehouse.query(
            "select pipeline, agent, tag, count(*) from feedback_tags group by pipeline, agent, tag"
            " order by pipeline, agent, count(*) desc, tag"
        ).rows:
            patterns.setdefault((r[0], r[1]), []).append(_tag(r[2], r[3]))
        by_subject: dict[tuple[str, str], list[str]] = {}
        for one in recommendations:
            if one.subject_kind == "agent":
                by_subject.setdefault((one.pipeline, one.subject), []).append(one.id)
        costs = {p["pipeline"]: p["cost"] for p in self._pipelines}
        flag = self._warehouse.query("select score_flag from window_bounds").rows[0][0]
        rows = self._warehouse.query(
            "select * from agents order by pipeline, not attributed, events desc, cost_sum desc, agent"
        ).dicts()
        out = []
        for a in rows:
            if not self._shown(a["pipeline"]):
                continue
            where = (a["pipeline"], a["agent"])
            out.append(
                Agent(
                    agent=a["agent"],
                    pipeline=a["pipeline"],
                    slug=self._slug("agent", a["agent"]),
                    attributed=a["attributed"],
                    events=a["events"],
                    runs=a["runs"],
                    cost=as_text(a["cost"]),
                    cost_share=quotient(a["cost"], costs.get(a["pipeline"])),
                    cost_basis=a["cost_basis"],
                    cost_per_run=_six(a["cost"] / a["runs"]) if a["cost"] is not None and a["runs"] else None,
                    feedback_rows=a["feedback_rows"],
                    scores=a["scores"],
                    mean_score=quotient(a["score_sum"], a["scores"]),
                    low_scores=a["low_scores"],
                    error_rate=quotient(a["low_scores"], a["scores"]),
                    trend=_float(a["trend"]),
                    flagged=bool(a["attributed"] and a["scores"] and a["score_sum"] < flag * a["scores"]),
                    first_seen=_time(a["first_seen"]),
                    last_seen=_time(a["last_seen"]),
                    in_roster=a["in_roster"],
                    tools=tools.get(where, []),
                    patterns=patterns.get(where, []),
                    recommendations=by_subject.get(where, []),
                )
            )
        return out

    def detectors(self, recommendations: Sequence[Recommendation], disabled: Sequence[str]) -> list[Detector]:
        """Return every detector with its outcome for what is shown."""
        counts: dict[str, int] = {}
        for one in recommendations:
            counts[one.detector] = counts.get(one.detector, 0) + 1
        out = []
        for outcome in self._outcomes:
            d = outcome.detector
            found = counts.get(d.file.id, 0)
            status = outcome.status if outcome.status in ("skipped", "error") else ("found" if found else "clear")
            out.append(
                Detector(
                    detector=d.file.id,
                    title=d.title,
                    issue=d.issue,
                    doc=d.doc,
                    action=d.action,
                    status=status,
                    findings=found,
                    message=outcome.message,
                    where=outcome.where,
                    checked=outcome.checked,
                    origin=d.file.origin,
                    file=d.file.name,
                    sql=d.file.text,
                    parameters=list(d.parameters),
                )
            )
        return out

    def patterns(self) -> list[TagCount]:
        """Return the tags of the feedback shown, the most frequent first."""
        where = "" if self._only is None else "where pipeline = ?"
        rows = self._warehouse.query(
            f"select tag, count(*) from feedback_tags {where} group by tag order by count(*) desc, tag",
            [] if self._only is None else [self._only],
        ).rows
        return [_tag(r[0], r[1]) for r in rows]

    def healing(self, present: bool) -> Healing:
        """Return the healing log summed up, for what is shown."""
        attempts = [
            r
            for r in self._warehouse.query("select * from healing_attempts order by row_no").dicts()
            if self._shown(r["pipeline"])
        ]
        incidents = [
            r
            for r in self._warehouse.query(
                "select * from healing_incidents"
                " order by last_time desc nulls last, pipeline, agent, run_id, error_type, incident_no desc"
            ).dicts()
            if self._shown(r["pipeline"])
        ]
        count = {outcome: sum(r["outcome"] == outcome for r in incidents) for outcome in ("escalated", "blocked")}
        return Healing(
            present=present,
            attempts=len(attempts),
            incidents=len(incidents),
            escalated=count["escalated"],
            blocked=count["blocked"],
            recovered=len(incidents) - count["escalated"] - count["blocked"],
            entries=[
                HealingAttempt(
                    timestamp=_time(r["log_time"]),
                    pipeline=r["pipeline"],
                    agent=r["agent"],
                    run_id=r["run_id"],
                    error_type=r["error_type"] or "",
                    attempt=r["attempt"],
                    action=r["action"] or "",
                    reason=r["reason"] or "",
                    context=r["context"] or "",
                )
                for r in reversed(attempts[-ENTRIES_SHOWN:])
            ],
            incident_list=[
                Incident(
                    pipeline=r["pipeline"],
                    agent=r["agent"],
                    run_id=r["run_id"],
                    error_type=r["error_type"] or "",
                    outcome=r["outcome"],
                    attempts=r["attempts"],
                    first=_time(r["first_time"]),
                    last=_time(r["last_time"]),
                    last_action=r["last_action"] or "",
                    reason=r["last_reason"] or "",
                )
                for r in incidents[:ENTRIES_SHOWN]
            ],
        )

    def budget(self) -> list[BudgetWindow]:
        """Return each limit of BUDGET.md with its current window and how often earlier ones went over."""
        by_limit: dict[int, list[dict[str, Any]]] = {}
        for r in self._warehouse.query("select * from budget_windows order by row_no, window_start").dicts():
            by_limit.setdefault(r["row_no"], []).append(r)
        out = []
        for rows in by_limit.values():
            now = next((r for r in rows if r["is_current"]), rows[-1])
            limit, spent, warn = now["limit_usd"], now["spent_usd"], now["warn_percent"]
            state = "ok"
            if spent is None:
                state = "unknown"
            elif spent > limit:
                state = "over"
            elif warn is not None and spent * 100 >= limit * warn:
                state = "warn"
            out.append(
                BudgetWindow(
                    subject=now["subject"],
                    window=now["window_name"],
                    limit_usd=as_text(limit) or "0",
                    warn_percent=as_text(warn),
                    hard_stop=now["hard_stop"],
                    window_start=as_text(now["window_start"]),
                    spent_usd=as_text(spent),
                    share=quotient(spent, limit),
                    state=state,  # type: ignore[arg-type]
                    windows_over=sum(1 for r in rows if r["spent_usd"] is not None and r["spent_usd"] > r["limit_usd"]),
                    windows=len(rows),
                )
            )
        return out

    def charts(
        self,
        files: Sequence[SqlFile],
        pipelines: Sequence[Pipeline],
        agents: Sequence[Agent],
        recommendations: Sequence[Recommendation],
    ) -> list[Any]:
        """Run the chart files; rows of pages that this report does not have are left out."""
        ids = {(r.detector, r.pipeline, k): r.id for r, k in self._subject_keys(recommendations)}
        pipeline_slugs = {p.pipeline: p.slug for p in pipelines}
        agent_slugs = {a.agent: a.slug for a in agents if a.attributed}

        def key(page: str, values: tuple[str, ...]) -> str | None:
            if page == "pipeline":
                return pipeline_slugs.get(values[0])
            if page == "agent":
                return agent_slugs.get(values[0])
            if page == "recommendation":
                return ids.get((values[0], values[1], values[2]))
            return ""

        charts, failed = read_charts(self._warehouse, files, key)
        self.failures.extend(failed)
        return charts

    def _subject_keys(self, recommendations: Sequence[Recommendation]) -> list[tuple[Recommendation, str]]:
        by_id = {one.id: one for one in recommendations}
        pairs = []
        for outcome in self._outcomes:
            for finding in outcome.findings:
                one = by_id.get(self._id(finding))
                if one is not None:
                    pairs.append((one, finding.subject_key))
        return pairs

    def period(self) -> tuple[Period, str | None]:
        """Return the period of the dated entries looked at, and "now"."""
        first, last, days, now = self._warehouse.query(
            """
            with events_span as (select min(event_time) as a, max(event_time) as b from events),
            healing_span as (select min(log_time) as a, max(log_time) as b from healing_attempts),
            feedback_span as (
                select cast(min(feedback_date) as timestamp) as a, cast(max(feedback_date) as timestamp) as b
                from feedback
            ),
            chosen as (
                select
                    coalesce(e.a, f.a, h.a) as first_time,
                    coalesce(e.b, f.b, h.b) as last_time
                from events_span as e cross join feedback_span as f cross join healing_span as h
            )
            select
                first_time, last_time,
                prorate(1, date_diff('microsecond', first_time, last_time), 86400000000),
                (select now_time from window_bounds)
            from chosen
            """
        ).rows[0]
        return Period(first=_time(first), last=_time(last), days=_six(days)), _time(now)


def _share(finding: Finding) -> Decimal | None:
    if finding.wait or finding.saving is None or not finding.saving_of:
        return Decimal(0) if finding.wait else None
    return finding.saving / finding.saving_of


def _six_or_exact(value: Decimal | None) -> str | None:
    return as_text(value)


def _digest(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()[:6]


def _tag(tag: str, rows: int) -> TagCount:
    return TagCount(tag=tag, rows=rows, recurring=rows >= RECURRING, known=tag in KNOWN_TAGS)


def _run_source(p: Mapping[str, Any]) -> str:
    kinds = [name for name, n in (("run ids", p["id_runs"]), ("gaps", p["gap_runs"])) if n]
    if p["date_runs"]:
        return "feedback dates"
    return " and ".join(kinds) or "none"


def assemble(
    warehouse: Warehouse,
    outcomes: Sequence[Outcome],
    *,
    pipeline: str | None,
    charts: Sequence[SqlFile],
    found: Found,
    build: Build,
    disabled: Sequence[str] = (),
) -> tuple[Report, list[ChartFailed]]:
    """Make the report of what the warehouse holds (its scoring tables included), and say which charts failed."""
    maker = Assembler(warehouse, outcomes, pipeline)
    recommendations = maker.recommendations()
    pipelines = maker.pipelines(recommendations)
    agents = maker.agents(recommendations)
    period, now = maker.period()
    drawn = maker.charts(charts, pipelines, agents, recommendations)
    shown: dict[str, int] = {}
    rejected = []
    for line in found.rejected:
        shown[line.file] = shown.get(line.file, 0) + 1
        if shown[line.file] <= REJECTED_SHOWN:
            rejected.append(line)
    report = Report(
        build=replace(build, now=now),
        period=period,
        pipelines=pipelines,
        agents=agents,
        recommendations=recommendations,
        groups=maker.groups(recommendations),
        detectors=maker.detectors(recommendations, disabled),
        patterns=maker.patterns(),
        healing=maker.healing(found.healing_present),
        budget=maker.budget(),
        charts=drawn,
        inputs=list(found.inputs),
        rejected=rejected,
        rejected_total=len(found.rejected),
        notices=list(found.notices),
    )
    return report, maker.failures


def with_extras(report: Report, *, tables: Sequence[Table], retired: Sequence[Retired]) -> Report:
    """Return the report with the CSV files beside it and the recommendations that no longer hold."""
    return replace(report, tables=list(tables), retired=list(retired))
