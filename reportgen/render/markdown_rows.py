"""The rows of RECOMMENDATIONS.md's tables: cells as text, not yet escaped. Pure functions of a `Report`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reportgen.model import Pipeline, Recommendation, Report
from reportgen.render.format import exact, show
from reportgen.render.prose import plain
from reportgen.render.views import GroupView

Row = list[object]

#: Where there is nothing to know: no review, too few scores. What could be known and isn't is `unknown`.
NONE = "–"
INCIDENTS_SHOWN = 20
SNIPPET_LENGTH = 40


def pipeline_rows(report: Report) -> list[Row]:
    """Return a row per pipeline: size, cost with its measure and coverage, cost per run, mean score."""
    return [
        [
            p.pipeline,
            show(p.runs, None),
            show(p.events, None),
            show(p.cost, "cost", p.cost_measure),
            p.cost_measure if p.cost_basis in {"measured", "unknown"} else f"{p.cost_measure}, {p.cost_basis}",
            NONE if p.cost_coverage is None else show(p.cost_coverage, "share"),
            NONE if p.mean_run_cost is None else show(p.mean_run_cost, "cost", p.cost_measure),
            NONE if p.mean_score is None else show(p.mean_score, "score"),
        ]
        for p in report.pipelines
    ]


def ranked_row(view: GroupView) -> Row:
    """Return what a group says in the ranked table, after its rank."""
    best = view.first
    mark = "≈ " if view.saving is not None and view.saving_basis in {"estimated", "priced"} else ""
    saving = mark + show(view.saving, "cost", best.cost_measure)
    if view.saving_share is not None:
        saving += f" ({show(view.saving_share, 'share')})"
    return [view.group.total, view.group.decision, view.group.effort, saving, view.group.title]


def evidence_rows(one: Recommendation) -> list[Row]:
    """Return the evidence with every digit; quotients, which have no last digit, as they read best."""
    return [
        [e.label, (show if e.unit in {"share", "times", "cost", "usd"} else exact)(e.value, e.unit, one.cost_measure)]
        for e in one.evidence
    ]


def other_rows(members: Sequence[Recommendation]) -> list[Row]:
    """Return a row for each finding that is not told in full, so that nothing is hidden."""
    rows: list[Row] = []
    for one in members:
        unit = next((e.unit for e in one.evidence if e.name == "observed"), None)
        parts = (
            one.vfm.frequency,
            one.vfm.failure_reduction,
            one.vfm.burden_reduction,
            one.vfm.cost_savings,
        )
        rows.append(
            [
                one.subject,
                one.vfm.total,
                "+".join(str(part) for part in parts),
                one.decision,
                show(one.observed, unit, one.cost_measure),
                show(one.saving, "cost", one.cost_measure),
                one.id,
            ]
        )
    return rows


def detector_rows(report: Report) -> list[Row]:
    """Return a row per detector: its outcome and what it looked at."""
    return [
        [d.detector, f"{d.findings} found" if d.status == "found" else d.status, d.checked or NONE]
        for d in report.detectors
    ]


def agent_rows(report: Report, pipeline: Pipeline, score_flag: str) -> list[Row]:
    """Return a row per agent of the pipeline, in the report's order."""
    rows: list[Row] = []
    for a in report.agents:
        if a.pipeline != pipeline.pipeline:
            continue
        trend = show(a.trend, "score")
        rows.append(
            [
                a.agent,
                show(a.events, None),
                show(a.runs, None),
                show(a.cost, "cost", pipeline.cost_measure),
                show(a.cost_per_run, "cost", pipeline.cost_measure),
                NONE if a.mean_score is None else show(a.mean_score, "score"),
                NONE if a.error_rate is None else show(a.error_rate, "share"),
                NONE if a.trend is None else f"+{trend}" if a.trend > 0 and trend != "0" else trend,
                f"below {score_flag}" if a.flagged else "",
            ]
        )
    return rows


def incident_rows(report: Report) -> list[Row]:
    """Return the incidents that recovery did not end: escalated or blocked."""
    return [
        [
            show(i.last, "time"),
            i.pipeline,
            i.agent,
            NONE if i.run_id is None else i.run_id,
            i.error_type,
            i.outcome,
            i.attempts,
        ]
        for i in report.healing.incident_list
        if i.outcome != "presumed recovered"
    ]


def budget_rows(report: Report) -> list[Row]:
    """Return a row per limit: the window that holds now, what was spent in it, and how many before went over."""
    return [
        [
            w.subject,
            w.window,
            NONE if w.window_start is None else w.window_start,
            show(w.limit_usd, "usd"),
            show(w.spent_usd, "usd"),
            show(w.share, "share"),
            w.state,
            f"{w.windows_over} of {w.windows}",
        ]
        for w in report.budget
    ]


def input_rows(report: Report) -> list[Row]:
    """Return the account of each input file's lines."""
    return [
        [
            f.file,
            *(
                show(count, None)
                for count in (f.lines, f.used, f.superseded, f.duplicates, f.not_cost, f.rejected, f.blank)
            ),
        ]
        for f in report.inputs
    ]


def rejected_rows(report: Report, limit: int) -> list[Row]:
    """Return the first rejected lines, with what they start with."""
    return [[f"{r.file}:{r.line}", r.reason, _start(r.snippet)] for r in report.rejected[:limit]]


def notice_lines(report: Report) -> list[str]:
    """Return a line per remark, with its place, and its count where the message doesn't say it."""
    lines = []
    for notice in report.notices:
        place = notice.file or ""
        if notice.file and notice.line is not None:
            place += f":{notice.line}"
        count = show(notice.count, None)
        told = notice.count == 1 or re.search(rf"(?<![\d,.]){re.escape(count)}(?![\d,.]\d)", notice.message)
        word = "Warning" if notice.severity == "warning" else "Note"
        lines.append(f"{word}: {notice.message}{f' ({place})' if place else ''}{'' if told else f' [{count}]'}")
    return lines


def _start(snippet: str) -> str:
    line = plain(snippet)
    return line if len(line) <= SNIPPET_LENGTH else f"{line[: SNIPPET_LENGTH - 1].rstrip()}…"
