"""Reports made by hand, for the tests of everything that reads a `Report`: a rich one, an empty one, a hostile one.

The rich one keeps the rules of the model: parts add up to totals, lines to files, ranks are ordered. Nothing in it is
random: what varies from day to day comes from whole-number arithmetic on the day's number.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

from report_factory_charts import sample_charts
from report_factory_findings import sample_detectors, sample_recommendations
from report_factory_inputs import sample_budget, sample_healing, sample_inputs, sample_notices, sample_rejected
from report_factory_runs import sample_runs, sample_trends
from report_factory_sql import sample_sql

from reportgen.model import (
    Agent,
    Basis,
    Build,
    Group,
    Healing,
    InputFile,
    Notice,
    Period,
    Pipeline,
    Recommendation,
    Report,
    Retired,
    Table,
    TagCount,
    ToolUse,
)

#: Text that must never run, break a page, or hide: HTML, Markdown, templates, bidi, NUL, terminal escapes.
HOSTILE = (
    "<script>alert(1)</script></script><!--\"'><img src=x onerror=alert(2)>{{7*7}}{% raw %}"
    "[x](javascript:alert(3))`|**b**\u202e\u2028\x00\x1b[31m</details></table>]]>"
)
LONG = "agent-" + "extraordinarily-long-name-" * 12


def sample_build() -> Build:
    return Build(
        reportgen="0.1.0",
        versions={
            "python": "3.13.1",
            "duckdb": "2.0.1",
            "plotly": "7.1.0",
            "jinja2": "3.1.6",
            "markdown-it-py": "4.3.0",
        },
        pipeline_filter=None,
        since=None,
        until=None,
        as_of=None,
        now="2026-10-31T22:41:09Z",
        redacted=True,
        sources=[],
        project="demo",
        settings=[("run_gap", "30", "minutes"), ("score_flag", "60", "points")],
    )


def sample_pipelines(recommendations: list[Recommendation]) -> list[Pipeline]:
    def pipeline(name: str, **values: object) -> Pipeline:
        base: dict[str, object] = {
            "pipeline": name,
            "slug": name,
            "incomplete_runs": 0,
            "unattributed_events": 0,
            "inferred_events": 0,
            "undated_events": 0,
            "runless_events": 0,
            "first": "2026-09-17T06:02:11Z",
            "last": "2026-10-31T22:41:09Z",
            "recommendations": [r.id for r in recommendations if r.pipeline == name],
        }
        return Pipeline(**{**base, **values})  # type: ignore[arg-type]

    return [
        pipeline(
            "doc-pipeline",
            runs=214,
            run_source="run ids",
            events=31240,
            agents=5,
            cost_measure="usd",
            cost="412.873104",
            cost_coverage=0.984,
            cost_basis="measured",
            cost_share=1.0,
            mean_run_cost="1.929313",
            incomplete_runs=6,
            unattributed_events=412,
            inferred_events=0,
            undated_events=3,
            feedback_rows=96,
            mean_score=71.4,
            recent_run_cost="2.114802",
            earlier_run_cost="1.751221",
            recent_score=68.9,
            earlier_score=73.6,
        ),
        pipeline(
            "review-pipeline",
            runs=180,
            run_source="gaps",
            events=18120,
            agents=5,
            cost_measure="tokens",
            cost="48210944",
            cost_coverage=0.71,
            cost_basis="estimated",
            cost_share=1.0,
            mean_run_cost="267838.577778",
            inferred_events=18120,
            runless_events=4,
            feedback_rows=61,
            mean_score=82.25,
            recent_run_cost="241002.5",
            earlier_run_cost="294674.655556",
            recent_score=84.0,
            earlier_score=80.5,
        ),
        pipeline(
            "intake",
            runs=96,
            run_source="run ids and gaps",
            events=2210,
            agents=2,
            cost_measure="events",
            cost="2210",
            cost_coverage=0.0,
            cost_basis="unknown",
            cost_share=1.0,
            mean_run_cost="23.020833",
            feedback_rows=0,
            mean_score=None,
            recent_run_cost=None,
            earlier_run_cost=None,
            recent_score=None,
            earlier_score=None,
        ),
    ]


#: name, pipeline, events, runs, cost, share, cost per run, feedback rows, scores, mean, low, trend, last seen
_AGENTS: list[tuple[str, str, int, int, str | None, float | None, str | None, int, int, float | None, int, float | None, str]] = [
    ("agent-writer", "doc-pipeline", 17120, 209, "240.118", 0.5816, "1.148890", 41, 40, 54.25, 22, -8.4, "2026-10-31T22:41:09Z"),
    ("agent-planner", "doc-pipeline", 6210, 214, "81.4402", 0.1973, "0.380562", 20, 20, 88.1, 0, 2.1, "2026-10-31T22:30:00Z"),
    ("agent-reviewer", "doc-pipeline", 5020, 190, "61.0001", 0.1477, "0.321053", 22, 21, 79.9, 2, 0.0, "2026-10-31T21:12:44Z"),
    ("agent-publisher", "doc-pipeline", 2410, 201, "20.4", 0.0494, "0.101493", 9, 7, 91.0, 0, None, "2026-10-31T22:00:10Z"),
    ("agent-illustrator", "doc-pipeline", 68, 11, "4.914904", 0.0119, "0.446809", 4, 4, 77.5, 1, None, "2026-10-29T10:05:00Z"),
    ("(unattributed)", "doc-pipeline", 412, 96, "5", 0.0121, "0.052083", 0, 0, None, 0, None, "2026-10-30T03:00:00Z"),
    ("code-reader", "review-pipeline", 9911, 178, "29410822", 0.61, "165229.337079", 20, 20, 81.0, 1, 1.2, "2026-10-31T20:00:00Z"),
    ("security-auditor", "review-pipeline", 4100, 170, "9800400", 0.2033, "57649.411765", 21, 21, 85.3, 0, -0.6, "2026-10-31T20:02:00Z"),
    ("summariser", "review-pipeline", 2700, 175, "6100100", 0.1265, "34857.714286", 10, 10, 58.75, 6, None, "2026-10-31T20:04:00Z"),
    ("agent-reviewer", "review-pipeline", 1290, 101, "2700000", 0.056, "26732.673267", 10, 9, 90.2, 0, None, "2026-10-31T18:00:00Z"),
    ("linter", "review-pipeline", 119, 9, "199622", 0.0041, "22180.222222", 0, 0, None, 0, None, "2026-10-31T19:00:00Z"),
    ("triage", "intake", 2180, 96, None, None, None, 0, 0, None, 0, None, "2026-10-31T12:00:00Z"),
    ("archivist", "intake", 30, 5, None, None, None, 0, 0, None, 0, None, "2026-09-30T12:00:00Z"),
]  # fmt: skip


def sample_agents(recommendations: list[Recommendation]) -> list[Agent]:
    basis: dict[str, Basis] = {"doc-pipeline": "measured", "review-pipeline": "estimated", "intake": "unknown"}
    out = []
    for name, pipeline, events, runs, cost, share, per_run, rows, scores, mean, low, trend, last in _AGENTS:
        rates = low / scores if scores else None
        third = events // 3
        costs = [None] * 3 if cost is None else [str(int(float(cost)) * part // 100) for part in (55, 30, 15)]
        out.append(
            Agent(
                agent=name,
                pipeline=pipeline,
                slug="unattributed" if name.startswith("(") else name,
                attributed=not name.startswith("("),
                events=events,
                runs=runs,
                cost=cost,
                cost_share=share,
                cost_basis=basis[pipeline],
                cost_per_run=per_run,
                feedback_rows=rows,
                scores=scores,
                mean_score=mean,
                low_scores=low,
                error_rate=rates,
                trend=trend,
                flagged=mean is not None and mean < 60,
                first_seen="2026-10-28T08:00:00Z" if name == "linter" else "2026-09-17T06:02:11Z",
                last_seen=last,
                in_roster=name in ("archivist", "agent-illustrator"),
                tools=[
                    ToolUse(tool="Bash", events=events - third - third // 2, cost=costs[0]),
                    ToolUse(tool="Read", events=third, cost=costs[1]),
                    ToolUse(tool="WebSearch", events=third // 2, cost=costs[2]),
                ],
                patterns=[
                    TagCount(tag="loop-excess", rows=14, recurring=True, known=True),
                    TagCount(tag="quality-low", rows=6, recurring=True, known=True),
                    TagCount(tag="tone", rows=2, recurring=False, known=False),
                ]
                if name == "agent-writer"
                else [],
                recommendations=[r.id for r in recommendations if (r.subject, r.pipeline) == (name, pipeline)],
            )
        )
    return out


def group_up(recommendations: list[Recommendation]) -> list[Group]:
    """Return the groups of ranked findings, each as good as its best member, in that order."""
    groups = []
    by_group = sorted(recommendations, key=lambda r: (r.group, r.rank))
    for key, members in groupby(by_group, key=lambda r: r.group):
        some = list(members)
        best = some[0]
        title = best.title if len(some) == 1 else f"{len(some)} runs of {best.pipeline} cost three times the usual"
        groups.append((best.rank, key, best, title, [r.id for r in some]))
    return [
        Group(
            group=key,
            rank=place,
            detector=best.detector,
            issue=best.issue,
            pipeline=best.pipeline,
            title=title,
            action=best.action,
            effort=best.effort,
            total=best.vfm.total,
            decision=best.decision,
            ids=ids,
        )
        for place, (_, key, best, title, ids) in enumerate(sorted(groups, key=lambda g: g[0]), start=1)
    ]


def sample_report() -> Report:
    """Return a rich report: 3 pipelines in 3 measures, 12 agents, 10 recommendations, every kind of chart."""
    recommendations = sample_recommendations()
    return Report(
        build=sample_build(),
        period=Period(first="2026-09-17T06:02:11Z", last="2026-10-31T22:41:09Z", days="44.693727"),
        pipelines=sample_pipelines(recommendations),
        agents=sample_agents(recommendations),
        recommendations=recommendations,
        groups=group_up(recommendations),
        detectors=sample_detectors(),
        patterns=[
            TagCount(tag="loop-excess", rows=21, recurring=True, known=True),
            TagCount(tag="quality-low", rows=9, recurring=True, known=True),
            TagCount(tag="timeout", rows=4, recurring=True, known=True),
            TagCount(tag="tone", rows=2, recurring=False, known=False),
        ],
        healing=sample_healing(),
        budget=sample_budget(),
        charts=sample_charts(),
        sql=sample_sql([chart.file for chart in sample_charts()]),
        inputs=sample_inputs(),
        rejected=sample_rejected(),
        rejected_total=7,
        notices=sample_notices(),
        tables=[
            Table(file="runs.csv", title="Every run", rows=490, sql_file="sql/tables/runs.sql"),
            Table(file="agents.csv", title="Every agent in every pipeline", rows=13),
            Table(file="healing.csv", title="Every healing attempt", rows=26),
            Table(file="rejected.csv", title="Every rejected line", rows=7),
        ],
        retired=[
            Retired(id="cost_outlier-0a1b2c3d4e", title="Run run-000031 of doc-pipeline cost 4.2 times the usual"),
            Retired(id="revision_loops-99aabbccdd", title="agent-planner of doc-pipeline goes round in loops"),
        ],
        trends=sample_trends(),
        runs=sample_runs(recommendations),
    )


def empty_report() -> Report:
    """Return the report of a project whose files are there but hold no data: everything skipped, all unknown."""
    none = sample_report()
    detectors = [
        replace(
            d, status="skipped", findings=0, message="no cost events and no feedback yet", where=None, checked="nothing"
        )
        for d in none.detectors
        if d.origin == "built-in"
    ]
    return Report(
        build=replace(none.build, now=None),
        period=Period(first=None, last=None, days=None),
        pipelines=[],
        agents=[],
        recommendations=[],
        groups=[],
        detectors=detectors,
        patterns=[],
        healing=Healing(present=False, attempts=0, incidents=0, escalated=0, blocked=0, recovered=0, entries=[], incident_list=[]),
        budget=[],
        charts=[],
        inputs=[
            InputFile(file="FEEDBACK.md", kind="feedback", lines=4, used=0, superseded=0, duplicates=0, not_cost=4, rejected=0, blank=0, events=0, broken_parts=0)
        ],
        rejected=[],
        rejected_total=0,
        notices=[Notice(code="no-events", message="no cost events: put one JSON object a line into budget/cost-events.jsonl")],
    )  # fmt: skip


def hostile_report() -> Report:
    """Return the rich report with every text that comes from an input replaced by something that attacks a page."""
    from report_factory_hostile import poison

    return poison(sample_report(), HOSTILE, LONG)
