"""The rows of RECOMMENDATIONS.md's tables: cells as text, not yet escaped. Pure functions of a `Report`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from reportgen.glossary import EFFORTS, FATES, MEASURES, REMARKS, not_measured, state_of
from reportgen.model import Basis, Cell, Measure, Pipeline, Recommendation, Report
from reportgen.names import ALL_PIPELINES
from reportgen.render.format import exact, show, to_decimal
from reportgen.render.inputviews import shown_inputs
from reportgen.render.prose import plain
from reportgen.render.views import Change, GroupView, MeasureTotal, cost_change, score_change, weakest

Row = list[object]

#: Where there is nothing to know: no review, too few scores. What could be known and isn't is `unknown`.
NONE = "–"
INCIDENTS_SHOWN = 20
#: Input files of which each has its own row; of more, the others are one.
INPUTS_SHOWN = 8
MODELS_SHOWN = 8
SNIPPET_LENGTH = 40
#: More digits after the point are those of a quotient, which has no last one.
_PLACES = 6
_NOT_COUNTED = frozenset({None, "text", "time", "date", "share", "times", "cost", "usd"})


def pipeline_rows(report: Report) -> list[Row]:
    """Return a row per pipeline: size, cost with its coverage, cost per run, mean score."""
    return [
        [
            p.pipeline,
            show(p.runs, None),
            show(p.events, None),
            _marked(p.cost, p.cost_measure, p.cost_basis, p.incomplete),
            NONE if p.cost_coverage is None else show(p.cost_coverage, "share"),
            NONE if p.mean_run_cost is None else _marked(p.mean_run_cost, p.cost_measure, p.cost_basis, p.incomplete),
            NONE if p.mean_score is None else show(p.mean_score, "score"),
        ]
        for p in report.pipelines
    ]


def model_rows(report: Report) -> list[Row]:
    """Return a row for each of the costliest models, as the chart of them has it; none where there is no such chart."""
    chart = next((one for one in report.charts if one.id == "cost-by-model"), None)
    names = [column.name for column in chart.columns] if chart is not None else []
    if chart is None or not {"model", "cost", "share", "events", "unknown"}.issubset(names):
        return []
    basis = weakest(p.cost_basis for p in report.pipelines if p.cost_measure == "usd")
    rows: list[Row] = []
    for cells in chart.rows[:MODELS_SHOWN]:
        of = dict(zip(names, map(_text, cells), strict=True))
        rows.append(
            [
                of["model"],
                _marked(of["cost"], "usd", basis, of["unknown"] not in (None, "0")),
                NONE if of["share"] is None else show(of["share"], "share"),
                show(of["events"], None),
                show(of["unknown"], None),
            ]
        )
    return rows


def _text(cell: Cell) -> str | None:
    return None if cell is None else str(cell)


def trend_lines(totals: Sequence[MeasureTotal]) -> list[str]:
    """Return a line for each measure: what the earlier half of the period cost, and what the later."""
    lines = []
    for total in totals:
        cost, each = total.cost, total.run_cost
        name = "Cost" if total.measure == "usd" else f"Cost in {MEASURES[total.measure]}"
        if cost.verdict == "unknown":
            lines.append(
                f"{name}: {_marked(total.total, total.measure, total.basis, total.incomplete)}; its change is unknown"
            )
            continue
        told, *halves = [
            _marked(one, total.measure, total.basis, total.incomplete)
            for one in (total.total, cost.before, cost.after, each.before, each.after)
        ]
        lines.append(
            f"{name}: {told}; {halves[0]} to {halves[1]} ({_moved(cost)});"
            f" per run {halves[2]} to {halves[3]} ({_moved(each)})"
        )
    return lines


def change_lines(report: Report) -> list[str]:
    """Return a line for each pipeline whose cost per run or mean score is known for both halves of the period."""
    lines = []
    for p in report.pipelines:
        cost, score = cost_change(p), score_change(p)
        parts = []
        if cost.verdict != "unknown":
            halves = " to ".join(
                _marked(one, p.cost_measure, p.cost_basis, p.incomplete) for one in (cost.before, cost.after)
            )
            parts.append(f"cost per run {halves} ({_moved(cost)})")
        if score.verdict != "unknown":
            parts.append(f"mean score {show(score.before, 'score')} to {show(score.after, 'score')}")
        if parts:
            lines.append(f"{p.pipeline}: {', '.join(parts)}")
    return lines


def _moved(change: Change) -> str:
    if change.verdict == "steady":
        return "steady"
    if change.share is None:
        return "from nothing"
    return f"{'' if change.share.startswith('-') else '+'}{show(change.share, 'share')}"


def _marked(value: str | None, measure: Measure, basis: Basis, incomplete: bool = False) -> str:
    if value is None:
        return show(None, None)
    least = "≥ " if incomplete else ""
    return least + ("≈ " if not_measured(basis, measure) else "") + show(value, "cost", measure)


def when(value: str | None, unit: str = "time") -> str:
    """Return a moment without its `UTC`, which the file says once."""
    return show(value, unit).removesuffix(" UTC")


def ranked_row(view: GroupView) -> Row:
    """Return what a recommendation says in the ranked table, before its title."""
    saving = _marked(view.saving, view.first.cost_measure, view.saving_basis)
    if view.saving_share is not None:
        saving += f" ({show(view.saving_share, 'share')})"
    return [view.group.total, view.group.decision, EFFORTS[view.group.effort], saving]


def saving_words(one: Recommendation, incomplete: bool) -> str:
    """Return what could be saved, as a share of what, and what that rests on: with costs unknown, on the others."""
    if one.saving is None:
        return show(None, None)
    whole = "all cost" if one.pipeline == ALL_PIPELINES else "the pipeline's cost"
    share = "" if one.saving_share is None else f", {show(one.saving_share, 'share')} of {whole}"
    part = ", of the known costs" if incomplete else ""
    return f"{show(one.saving, 'cost', one.cost_measure)}{share}, {one.saving_basis}{part}"


def evidence_rows(one: Recommendation, *, about: bool = False) -> list[Row]:
    """Return the evidence with every digit; quotients, which have no last digit, as they read best.

    `about`: the pipeline's cost is not measured.
    """
    return [
        [
            e.label,
            ("≥ " if e.name == "observed" and at_least(one) else "")
            + ("≈ " if about and e.unit == "cost" and e.value is not None else "")
            + (show if e.unit in {"share", "times", "cost", "usd"} else exact)(
                _short(e.value, e.unit), e.unit, one.cost_measure
            ).removesuffix(" UTC"),
        ]
        for e in one.evidence
    ]


def _short(value: str | None, unit: str | None) -> str | None:
    """Return a mean of things that are counted to two places; what is no such number as it is."""
    number = None if unit in _NOT_COUNTED else to_decimal(value)
    if number is None or len((value or "").partition(".")[2]) <= _PLACES:
        return value
    return str(number.quantize(Decimal("0.01")))


def at_least(one: Recommendation) -> bool:
    """Say whether an event of unknown cost is in what was observed, which is then at least what is told."""
    return any(e.name == "incomplete" and (e.value or "").casefold() in {"true", "yes", "1"} for e in one.evidence)


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
                _marked(a.cost, pipeline.cost_measure, a.cost_basis, a.incomplete),
                _marked(a.cost_per_run, pipeline.cost_measure, a.cost_basis, a.incomplete),
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
            when(i.last),
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
            state_of(w),
            show(None, None) if w.spent_usd is None else f"{w.windows_over} of {w.windows}",
        ]
        for w in report.budget
    ]


def input_rows(report: Report) -> list[Row]:
    """Return the account of each input file's lines."""
    return [
        [
            f.file,
            show(f.lines, None),
            *(show(getattr(f, name), None) for name, _ in FATES),
        ]
        for f in shown_inputs(report.inputs, INPUTS_SHOWN, faulty=True)
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
        word = REMARKS[notice.severity].capitalize()
        lines.append(f"{word}: {notice.message}{f' ({place})' if place else ''}{'' if told else f' [{count}]'}")
    return lines


def _start(snippet: str) -> str:
    line = plain(snippet)
    return line if len(line) <= SNIPPET_LENGTH else f"{line[: SNIPPET_LENGTH - 1].rstrip()}…"
