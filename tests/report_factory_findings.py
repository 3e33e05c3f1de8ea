"""The findings and detectors of the report made by hand."""

from __future__ import annotations

from reportgen.model import (
    Basis,
    Decision,
    Detector,
    Effort,
    Evidence,
    Measure,
    Parameter,
    Recommendation,
    SubjectKind,
    Vfm,
)

_ISSUES = {
    "bottleneck_agent": "Bottleneck agent",
    "revision_loops": "Revision loops",
    "underutilized_agent": "Underutilized agent",
    "cost_outlier": "Cost outlier",
}
_ACTIONS = {
    "bottleneck_agent": "Batch tool calls or narrow the task scope.",
    "revision_loops": "Tighten acceptance criteria, add a max-iterations guard.",
    "underutilized_agent": "Remove the agent or combine it with another.",
    "cost_outlier": "Add a per-run budget cap.",
}
_EFFORTS: dict[str, Effort] = {
    "bottleneck_agent": "M",
    "revision_loops": "S",
    "underutilized_agent": "M",
    "cost_outlier": "S",
}

_Row = tuple[
    str,
    str,
    str,
    SubjectKind,
    str,
    str,
    str,
    str | None,
    str,
    Measure,
    str | None,
    float | None,
    Basis,
    tuple[int, int, int, int],
]
#: detector, pipeline, subject, kind, title, finding, observed, baseline, threshold, measure, saving, share, basis, parts
_ROWS: list[_Row] = [
    ("bottleneck_agent", "doc-pipeline", "agent-writer", "agent", "agent-writer does 2.8 times its share of the work in doc-pipeline",
     "**agent-writer** made **17,120** of the 30,828 events of `doc-pipeline`: 2.78 times the mean of 6,165.6 an agent.",
     "17120", "6165.6", "9248.4", "usd", "153.641234", 0.372127, "measured", (24, 15, 8, 17)),
    ("revision_loops", "doc-pipeline", "agent-writer", "agent", "agent-writer of doc-pipeline goes round in loops",
     "Reviewers marked **14** of 41 runs of **agent-writer** with `loop-excess`; 3 are enough to be reported.",
     "14", None, "3", "usd", "81.991512", 0.198588, "measured", (11, 15, 15, 17)),
    ("bottleneck_agent", "review-pipeline", "code-reader", "agent", "code-reader does 2.7 times its share of the work in review-pipeline",
     "**code-reader** made **9,911** of the 18,120 events of `review-pipeline`: 2.73 times the mean of 3,624 an agent.",
     "9911", "3624", "5436", "tokens", "18656641.25", 0.386979, "estimated", (25, 0, 8, 17)),
    ("cost_outlier", "doc-pipeline", "run-000123", "run", "Run run-000123 of doc-pipeline cost 9.4 times the usual",
     "Run **run-000123** cost **$18.20**; the mean of 214 runs is $1.93, and 3 times that is reported.",
     "18.2", "1.929313", "5.787939", "usd", "16.270687", 0.039409, "measured", (5, 16, 10, 7)),
    ("revision_loops", "review-pipeline", "review-pipeline", "pipeline", "review-pipeline goes round in loops",
     "Reviewers marked **4** of 61 runs of `review-pipeline` with `loop-excess`, no agent reaching 3 alone.",
     "4", None, "3", "tokens", "3161373.377049", 0.065574, "estimated", (6, 6, 13, 8)),
    ("cost_outlier", "doc-pipeline", "2026-10-03T09:14:07Z", "run", "Run 2026-10-03T09:14:07Z of doc-pipeline cost 4.7 times the usual",
     "Run **2026-10-03T09:14:07Z** cost **$9.10**; the mean of 214 runs is $1.93, and 3 times that is reported.",
     "9.1", "1.929313", "5.787939", "usd", "7.170687", 0.017368, "measured", (5, 11, 8, 5)),
    ("underutilized_agent", "intake", "archivist", "agent", "archivist is in 5 of 96 runs of intake",
     "**archivist** took part in **5** of 96 runs of `intake`, last seen 2026-09-30: under 10%.",
     "5", "96", "9.6", "events", None, None, "unknown", (22, 0, 4, 0)),
    ("underutilized_agent", "doc-pipeline", "agent-illustrator", "agent", "agent-illustrator is in 11 of 214 runs of doc-pipeline",
     "**agent-illustrator** took part in **11** of 214 runs of `doc-pipeline`: under 10%.",
     "11", "214", "21.4", "usd", "4.914904", 0.011904, "measured", (13, 3, 4, 5)),
    ("cost_outlier", "doc-pipeline", "run-000087", "run", "Run run-000087 of doc-pipeline cost 3.1 times the usual",
     "Run **run-000087** cost **$5.98**; the mean of 214 runs is $1.93, and 3 times that is reported.",
     "5.98", "1.929313", "5.787939", "usd", "4.050687", 0.009811, "measured", (5, 0, 8, 4)),
    ("underutilized_agent", "review-pipeline", "linter", "agent", "linter is in 9 of 180 runs of review-pipeline",
     "**linter** took part in **9** of 180 runs of `review-pipeline`, first seen 2026-10-28: new, so wait.",
     "9", "180", "18", "tokens", "0", 0.0, "estimated", (0, 0, 4, 0)),
]  # fmt: skip

_EVIDENCE: dict[str, list[tuple[str, str, str]]] = {
    "bottleneck_agent": [("observed", "Events of the agent", "events"), ("baseline", "Mean events an agent (N/A)", "events"), ("threshold", "Reported from", "events")],
    "revision_loops": [("observed", "Rows tagged loop-excess", "rows"), ("baseline", "Usual number", "rows"), ("threshold", "Reported from", "rows")],
    "underutilized_agent": [("observed", "Runs with the agent", "runs"), ("baseline", "Runs of the pipeline", "runs"), ("threshold", "Reported under", "runs")],
    "cost_outlier": [("observed", "Cost of the run", "cost"), ("baseline", "Mean cost of a run", "cost"), ("threshold", "Reported from", "cost")],
}  # fmt: skip


def decide(total: int) -> Decision:
    return "implement" if total > 50 else "defer" if total > 25 else "reject"


def sample_recommendations() -> list[Recommendation]:
    out = []
    for rank, row in enumerate(_ROWS, start=1):
        (
            detector,
            pipeline,
            subject,
            kind,
            title,
            finding,
            observed,
            baseline,
            threshold,
            measure,
            saving,
            share,
            basis,
            parts,
        ) = row
        values = {"observed": observed, "baseline": baseline, "threshold": threshold}
        evidence = [Evidence(name=n, label=text, value=values[n], unit=unit) for n, text, unit in _EVIDENCE[detector]]
        evidence.append(Evidence(name="saving", label="What could be saved", value=saving, unit="cost"))
        evidence.append(
            Evidence(
                name="saving_share",
                label="Share of the pipeline's cost",
                value=None if share is None else str(share),
                unit="share",
            )
        )
        evidence.append(Evidence(name="first_seen", label="First seen", value="2026-09-17T06:02:11Z", unit="time"))
        if kind == "run":
            evidence.append(
                Evidence(name="top_agent", label="Agent that cost most in it", value="agent-writer", unit="text")
            )
        frequency, failure, burden, savings = parts
        out.append(
            Recommendation(
                id=f"{detector}-{rank:02d}c0ffee{rank:02d}",
                rank=rank,
                detector=detector,
                issue=_ISSUES[detector],
                pipeline=pipeline,
                subject=subject,
                subject_kind=kind,
                group=f"{detector}:{pipeline}",
                title=title,
                finding=finding,
                action="Wait: the agent is new." if subject == "linter" else _ACTIONS[detector],
                effort=_EFFORTS[detector],
                observed=observed,
                baseline=baseline,
                threshold=threshold,
                cost_measure=measure,
                saving=saving,
                saving_share=share,
                saving_basis=basis,
                vfm=Vfm(
                    total=sum(parts),
                    frequency=frequency,
                    failure_reduction=failure,
                    burden_reduction=burden,
                    cost_savings=savings,
                ),
                vfm_evidence={
                    "frequency": "209 occurrences in 44.693727 days are 4.676 a day: 17.78; 209 of 214 runs are 97.7%: 24.07; the larger, rounded down.",
                    "failure_reduction": "22 feedback rows with a score below 60, 3 rows tagged timeout or tool-fail, 0 escalated incidents: the band 11 to 15, 5 or more counts.",
                    "burden_reduction": f"The detector declares {burden - burden // 10}; {burden // 10} incidents of the subject needed a person.",
                    "cost_savings": "The cost of the subject is unknown: 0."
                    if saving is None
                    else f"{saving} of the pipeline's cost is a share of {share}.",
                },
                decision=decide(sum(parts)),
                labels=["new"] if subject == "linter" else ["retired"] if subject == "archivist" else [],
                evidence=evidence,
            )
        )
    return out


def sample_detectors() -> list[Detector]:
    def detector(name: str, title: str, doc: str, checked: str, parameters: list[Parameter]) -> Detector:
        return Detector(
            detector=name,
            title=title,
            issue=_ISSUES[name],
            doc=doc,
            action=_ACTIONS[name],
            status="found",
            findings=sum(row[0] == name for row in _ROWS),
            message=None,
            where=None,
            checked=checked,
            origin="built-in",
            file=f"sql/detectors/{name}.sql",
            sql=f"/*---\ntitle = \"{title}\"\n---*/\nwith counts as (\n  select pipeline, agent, count(*) as events\n  from events\n  where agent <> '(unattributed)' and events < 1e9\n  group by all\n)\nselect pipeline, agent as subject, events as observed\nfrom counts\norder by pipeline, observed desc\n",
            parameters=parameters,
        )

    ratio = Parameter(
        name="min_ratio",
        value="3",
        default="3",
        unit="times the mean run",
        doc="A run at or above this multiple is reported.",
    )
    return [
        detector("bottleneck_agent", "Agents that do far more than their share", "An agent with at least **1.5 times** the mean events an agent, among the top two.", "490 runs of 3 pipelines, 11 agents", [Parameter(name="min_ratio", value="1.5", default="1.5", unit="times the mean agent", doc="An agent at or above this multiple is reported."), Parameter(name="max_rank", value="2", default="2", unit="agents", doc="How many of the busiest agents are looked at.")]),
        detector("revision_loops", "Work that goes round in loops", "Feedback rows tagged `loop-excess`, at the narrowest scope that reaches three.", "157 feedback rows of 2 pipelines", [Parameter(name="min_rows", value="3", default="3", unit="rows", doc="So many rows are reported.")]),
        detector("underutilized_agent", "Agents that hardly ever take part", "An agent in **under 10%** of its pipeline's runs.", "490 runs of 3 pipelines, 11 agents", [Parameter(name="max_share", value="0.1", default="0.1", unit="share of runs", doc="An agent below this share is reported.")]),
        detector("cost_outlier", "Runs that cost three times the usual", "A run that cost **at least 3 times** the mean run of its pipeline.", "490 runs of 3 pipelines", [ratio]),
        Detector(detector="night_work", title="Runs at night that nobody reads", issue="Night work", doc="A project's own detector.", action="Move the run to the morning.", status="error", findings=0, message='Binder Error: Referenced column "hour" not found in FROM clause', where="sql/detectors/night_work.sql:12", checked="", origin="project", file="sql/detectors/night_work.sql", sql="select hour\nfrom runs\n", parameters=[]),
        Detector(detector="score_drop", title="Agents whose scores fall", issue="Score drop", doc="Needs twenty scores.", action="Look at the last change to the prompt.", status="skipped", findings=0, message="not_enough_data: 7 scores, 20 needed", where=None, checked="7 scores", origin="project", file="sql/detectors/score_drop.sql", sql="select 1\n", parameters=[Parameter(name="min_scores", value="20", default="10", unit="scores", doc="Fewer scores say nothing.")]),
        Detector(detector="tool_storm", title="Runs with more than a thousand tool calls", issue="Tool storm", doc="A project's own detector.", action="Cap the tool calls.", status="clear", findings=0, message=None, where=None, checked="490 runs of 3 pipelines", origin="project", file="sql/detectors/tool_storm.sql", sql="select pipeline\nfrom runs\nwhere events > 1000\n", parameters=[]),
    ]  # fmt: skip
