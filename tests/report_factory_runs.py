"""The halves of the period and some runs of the report made by hand."""

from __future__ import annotations

from reportgen.model import Recommendation, Run, Trend


def sample_trends() -> list[Trend]:
    """Return a trend of each measure: 110 and 104 runs of doc-pipeline at their mean, and so on; of events, none."""
    middle = "2026-10-09T14:21:40Z"
    return [
        Trend(
            measure="usd",
            middle=middle,
            earlier_runs=110,
            recent_runs=104,
            earlier_cost="192.63431",
            recent_cost="219.939408",
            earlier_run_cost="1.751221",
            recent_run_cost="2.114802",
        ),
        Trend(
            measure="tokens",
            middle=middle,
            earlier_runs=90,
            recent_runs=90,
            earlier_cost="26520719",
            recent_cost="21690225",
            earlier_run_cost="294674.655556",
            recent_run_cost="241002.5",
        ),
        Trend(
            measure="events",
            middle=middle,
            earlier_runs=0,
            recent_runs=96,
            earlier_cost=None,
            recent_cost="2210",
            earlier_run_cost=None,
            recent_run_cost="23.020833",
        ),
    ]


#: pipeline, run, started, ended, events, agents, cost, incomplete
_RUNS: list[tuple[str, str, str | None, str | None, int, int, str | None, bool]] = [
    ("doc-pipeline", "run-000041", "2026-09-30T23:59:59Z", "2026-10-01T00:20:00Z", 140, 4, "1.93", False),
    ("doc-pipeline", "2026-10-03T09:14:07Z", "2026-10-03T09:14:07Z", "2026-10-03T09:15:06Z", 610, 5, "9.1", False),
    ("doc-pipeline", "run-000087", "2026-10-05T10:00:00Z", "2026-10-05T11:30:00Z", 420, 4, "5.98", True),
    ("doc-pipeline", "run-000123", "2026-10-09T08:00:00Z", "2026-10-11T20:00:00Z", 1210, 5, "18.2", False),
    ("doc-pipeline", "run-000200", None, None, 3, 1, None, True),
    ("intake", "ticket-7", "2026-10-31T12:00:00Z", "2026-10-31T12:00:00Z", 23, 1, "23", False),
    ("review-pipeline", "r-1", "2026-10-30T12:00:00Z", "2026-10-30T12:10:00Z", 100, 5, "267838", False),
]


def sample_runs(recommendations: list[Recommendation]) -> list[Run]:
    """Return a few of the runs: of two months, one without a time, three of them outliers."""
    return [
        Run(
            pipeline=pipeline,
            run=run,
            anchor=f"run-{run.lower().replace(':', '-')}",
            started=started,
            ended=ended,
            events=events,
            agents=agents,
            cost=cost,
            incomplete=incomplete,
            recommendations=[r.id for r in recommendations if (r.pipeline, r.subject) == (pipeline, run)],
        )
        for pipeline, run, started, ended, events, agents, cost, incomplete in _RUNS
    ]
