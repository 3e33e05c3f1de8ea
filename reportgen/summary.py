"""What a build says when it is done: a few lines for a person, one object for a machine. No printing here."""

from __future__ import annotations

import os
import unicodedata
from collections import Counter
from dataclasses import asdict
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from reportgen.errors import ExitCode, ReportgenError
from reportgen.glossary import FATES, not_measured, state_of, why_skipped
from reportgen.model import Agent, Basis, Decision, Measure, Pipeline, Report, Status
from reportgen.redact import redact
from reportgen.render.format import lasting, show
from reportgen.render.views import first_things, group_views, hint_title, measure_totals

if TYPE_CHECKING:
    from reportgen.building import BuildResult

#: How a piece of text is meant; only the command line knows which colour that is.
Tone = Literal["plain", "strong", "good", "warn", "bad", "faint"]
Line = list[tuple[str, Tone]]

_TONES: dict[Decision, Tone] = {"implement": "good", "defer": "warn", "reject": "faint"}
_TOP = 3
_MEASURES: tuple[Measure, ...] = ("usd", "tokens", "events")
#: What a share of one pipeline is a share of.
_OF_ALL: dict[Measure, str] = {"usd": "cost in US dollars", "tokens": "tokens", "events": "events"}
#: What becomes of a line beside being used or rejected.
_FATES = {name: word for name, word in FATES if name not in ("used", "rejected")}
#: Joiners that letters of some scripts and many emoji need; every other invisible character goes.
_JOINERS = frozenset("\u200c\u200d")


def clean(text: str, limit: int = 400) -> str:
    """Return text that can't steer a terminal: no control, escape, bidi or invisible characters, on one line."""
    out = []
    for char in text[: limit * 4]:
        kind = unicodedata.category(char)
        if kind in ("Cc", "Zl", "Zp"):
            out.append(" ")
        elif kind == "Cs":
            out.append("\ufffd")
        elif kind != "Cf" or char in _JOINERS:
            out.append(char)
    line = " ".join("".join(out).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def clean_lines(text: str, limit: int = 400) -> str:
    """Like `clean`, line by line: for messages and tracebacks that are made of several lines."""
    lines = text.split("\n")
    return "\n".join(line[: len(line) - len(line.lstrip(" "))] + clean(line, limit) for line in lines)


# --- for a person ---------------------------------------------------------------------------------------------------


def summary(result: BuildResult, here: Path) -> list[Line]:
    """Return the lines that end a build: what costs most, what to do first, how the detectors and lines fared."""
    report = result.report
    lines: list[Line] = [*_costs(report), *_first(report), [], *_period(report), *_budget(report)]
    lines += [_detectors(report), *_details(report), _inputs(report)]
    lines += _warnings(report)
    lines.append(_files(result))
    opened = shown_path(result.site / "index.html", here)
    others = [path for path in (result.recommendations, result.single_file) if path is not None]
    also = " or ".join(shown_path(path, here) for path in others)
    lines.append([_name("Open"), (opened, "strong"), (f"  (or {also})", "plain")])
    return lines


def complaints(result: BuildResult, fail_on: int | None) -> list[ReportgenError]:
    """Return why the exit code is not 0, worst first; empty for a build that is simply done."""
    report, code = result.report, result.exit_code
    found = list(result.left_out)
    found += [
        ReportgenError(
            d.where or d.detector,
            f"detector {d.detector} failed: {d.message or 'no message'}",
            "Mend it; the other detectors ran, and the report says so too.",
            ExitCode.DETECTOR_FAILED,
        )
        for d in report.detectors
        if d.status == "error"
    ]
    found += [
        ReportgenError(n.file or "sql", n.message, f"Mend it; the report lacks this {n.code.split('-')[0]}.", code)
        for n in report.notices
        if n.code in ("chart-failed", "table-failed")
    ]
    if code == ExitCode.DETECTOR_FAILED and result.rejected_errors:
        lines = "1 line was" if result.rejected_errors == 1 else f"{_count(result.rejected_errors)} lines were"
        what, step = f"{lines} rejected", "Data quality in the report lists them, with the reasons."
        found.append(ReportgenError("--strict", what, step, code))
    if code == ExitCode.SCORE_REACHED and fail_on is not None:
        totals = [r.vfm.total for r in report.recommendations if r.vfm.total >= fail_on]
        what = f"{len(totals)} of the recommendations reached it, the highest with {max(totals, default=fail_on)}"
        found.append(ReportgenError(f"--fail-on {fail_on}", what, "Act on them, or raise the score.", code))
    return found


def cautions(result: BuildResult, fail_on: int | None) -> list[str]:
    """Return what a reader of the exit code alone would not know: pages that are gone, a gate with nothing to judge.

    Said on stderr, whatever else is asked to be quiet.
    """
    told = list(result.cautions)
    statuses = {d.status for d in result.report.detectors}
    if fail_on is not None and not statuses & {"found", "clear"}:
        told.append(f"--fail-on {fail_on}: nothing was scored, because no detector had data to look at")
    return told


def shown_path(path: Path, here: Path) -> str:
    """Return a path as one would type it: relative where it lies below `here`."""
    return os.path.relpath(path, here) if path.is_relative_to(here) else str(path)


def _costs(report: Report) -> list[Line]:
    top = _top_pipeline(report)
    if top is None or top.cost is None:
        missing: list[Line] = [[(f"  {clean(notice.message)}", "plain")] for notice in report.notices[:_TOP]]
        return [[("There is no cost to rank yet.", "strong")], *missing]
    share = f", {_percent(top.cost_share)} of all {_OF_ALL[top.cost_measure]}" if top.cost_share is not None else ""
    verb = "costs most" if top.cost_measure != "events" else "has most events (its cost is unknown)"
    if report.build.pipeline_filter is not None or sum(p.events > 0 for p in report.pipelines) == 1:
        # Alone in the report, it need not be the costliest.
        verb = "costs" if top.cost_measure != "events" else "has events only (its cost is unknown)"
    runs = f", {_count(top.runs)} {'run' if top.runs == 1 else 'runs'}"
    lines: list[Line] = [
        [
            (clean(top.pipeline, 80), "strong"),
            (f" {verb}: {_amount(top.cost, top.cost_measure, top.cost_basis, top.incomplete)}{share}{runs}", "plain"),
        ]
    ]
    agent = _top_agent(report, top)
    if agent is not None and agent.cost is not None:
        of = f" ({_percent(agent.cost_share)})" if agent.cost_share is not None else ""
        # With nobody else, that it costs most says nothing.
        alone = sum(a.pipeline == top.pipeline and a.attributed and a.events > 0 for a in report.agents) == 1
        lines.append(
            [
                ("Its only agent is " if alone else "Its costliest agent is ", "plain"),
                (clean(agent.agent, 80), "strong"),
                (f": {_amount(agent.cost, top.cost_measure, agent.cost_basis, agent.incomplete)}{of}", "plain"),
            ]
        )
    if report.build.pipeline_filter is not None:
        lines.append([(f"Only {clean(report.build.pipeline_filter)} is shown.", "faint")])
    return lines


def _top_pipeline(report: Report) -> Pipeline | None:
    for measure in _MEASURES:
        some = [p for p in report.pipelines if p.cost_measure == measure and p.cost is not None and Decimal(p.cost) > 0]
        if some:
            return max(some, key=lambda p: Decimal(p.cost or 0))
    return None


def _top_agent(report: Report, pipeline: Pipeline) -> Agent | None:
    some = [a for a in report.agents if a.pipeline == pipeline.pipeline and a.attributed and a.cost is not None]
    return max(some, key=lambda a: Decimal(a.cost or 0), default=None)


def _first(report: Report) -> list[Line]:
    groups = report.groups
    if not groups:
        return [[], [("Nothing to recommend.", "strong"), (f" {_checked(report)}", "plain")]]
    lines: list[Line] = [[]]
    told: set[str] = set()
    for hint, some in first_things(group_views(report), _TOP):
        note = "" if told else "  (nothing is applied automatically)"
        lines.append([(hint_title(hint, some), "strong"), (note, "faint")])
        for view in some:
            title = clean(view.group.title, 160)
            lines.append([(f"  {view.group.total:>3}  ", _TONES[hint]), (title, "plain")])
        told.update(view.group.group for view in some)
    rest = [group.decision for group in groups if group.group not in told]
    if rest:
        little = rest.count("reject")
        parts = [f"and {_count(len(rest) - little)} more"] if len(rest) > little else []
        parts += [f"and {_count(little)} not worth the effort now"] if little else []
        lines.append([(f"       {', '.join(parts)}", "faint")])
    return lines


def _period(report: Report) -> list[Line]:
    period = report.period
    if period.first is None or period.last is None:
        return [[_name("Period"), ("nothing has a date", "warn")]]
    lines: list[Line] = [
        [_name("Period"), (f"{period.first[:10]} to {period.last[:10]}, {lasting(period.days)}", "plain")]
    ]
    for total in measure_totals(report):
        if total.cost.verdict == "unknown":
            continue
        marked = partial(_amount, measure=total.measure, basis=total.basis, incomplete=total.incomplete)
        halves = " to ".join(map(marked, filter(None, (total.cost.before, total.cost.after))))
        each = " to ".join(map(marked, filter(None, (total.run_cost.before, total.run_cost.after))))
        tone: Tone = "warn" if total.run_cost.verdict == "worse" else "plain"
        lines.append(
            [_name("Trend"), (f"{halves} from its earlier half to its later, ", "plain"), (f"{each} a run", tone)]
        )
    return lines


def _budget(report: Report) -> list[Line]:
    """Say which limits are passed now, and which are near."""
    told = [
        f"{clean(one.subject, 80)}, {one.window}: {state_of(one)}, {show(one.share, 'share')}"
        f" of {_amount(one.limit_usd, 'usd')}"
        for state in ("over", "warn")
        for one in report.budget
        if one.state == state
    ]
    more = [f"and {_count(len(told) - _TOP)} more"] if len(told) > _TOP else []
    return [[_name("" if place else "Budget"), (text, "warn")] for place, text in enumerate([*told[:_TOP], *more])]


def _checked(report: Report) -> str:
    looked = list(dict.fromkeys(clean(d.checked) for d in report.detectors if d.status == "clear" and d.checked))
    return f"Checked: {'; '.join(looked)}." if looked else "No detector had enough to go by."


def _detectors(report: Report) -> Line:
    counts = Counter(d.status for d in report.detectors)
    tones: dict[Status, Tone] = {"found": "plain", "clear": "plain", "skipped": "warn", "error": "bad"}
    line: Line = [_name("Detectors")]
    for place, (status, tone) in enumerate(tones.items()):
        line.append((", " if place else "", "plain"))
        line.append((f"{counts[status]} {status}", tone if counts[status] else "plain"))
    return line


def _details(report: Report) -> list[Line]:
    """Say why detectors were skipped, once for all with the same reason; one that failed is told of as an error."""
    reasons: dict[str, list[str]] = {}
    for detector in report.detectors:
        if detector.status == "skipped":
            reasons.setdefault(clean(why_skipped(detector.message), 160), []).append(detector.detector)
    return [
        [_name(""), (f"skipped {clean(', '.join(names), 160)}: {reason}", "faint")] for reason, names in reasons.items()
    ]


def _inputs(report: Report) -> Line:
    sums = {name: sum(getattr(i, name) for i in report.inputs) for name in ("lines", "used", "rejected", *_FATES)}
    files = len(report.inputs)
    read = f"{_count(sums['lines'])} read in {files} {'file' if files == 1 else 'files'}, {_count(sums['used'])} used, "
    rejected = sums["rejected"]
    others = "".join(f", {_count(sums[name])} {word}" for name, word in _FATES.items() if sums[name])
    return [
        _name("Lines"),
        (read, "plain"),
        (f"{_count(rejected)} rejected", "warn" if rejected else "plain"),
        (others, "faint"),
    ]


def _warnings(report: Report) -> list[Line]:
    """Return how many warnings there are, and the first in words: that there are some tells nobody what to do."""
    some = [clean(notice.message, 200) for notice in report.notices if notice.severity == "warning"]
    if not some:
        return []
    count = "1 warning" if len(some) == 1 else f"{_count(len(some))} warnings, the first"
    lines: list[Line] = [[_name("Data"), (f"{count}: {some[0]}", "warn")]]
    if len(some) > 1:
        lines.append([_name(""), ("all are under data quality in the report", "faint")])
    return lines


def _files(result: BuildResult) -> Line:
    counts = f"{_count(result.written)} written, {_count(result.unchanged)} unchanged, {_count(result.removed)} removed"
    line: Line = [_name("Files"), (counts, "plain")]
    if result.kept:
        names = clean(", ".join(result.kept[:_TOP]), 200)
        more = f" and {_count(len(result.kept) - _TOP)} more" if len(result.kept) > _TOP else ""
        line.append((f", {_count(len(result.kept))} kept, because changed by hand: {names}{more}", "warn"))
    return line


def _name(text: str) -> tuple[str, Tone]:
    return (f"{text:<11}", "faint")


def _count(number: int) -> str:
    return f"{number:,}"


def _percent(share: float | None) -> str:
    return "unknown" if share is None else "under 1%" if 0 < share < 0.01 else f"{share:.0%}"


def _amount(value: str, measure: Measure, basis: Basis = "measured", incomplete: bool = False) -> str:
    """Return an amount with its unit, and with a mark where it is not measured, or where some of it is unknown."""
    mark = ("≥ " if incomplete else "") + ("≈ " if not_measured(basis, measure) else "")
    return mark + _plain_amount(value, measure)


def _plain_amount(value: str, measure: Measure) -> str:
    number = Decimal(value)
    if measure != "usd":
        return f"{number:,f} {measure}"
    if 0 < number < Decimal("0.01"):
        return "under $0.01"
    return f"${number.quantize(Decimal('0.01'), ROUND_HALF_UP):,f}"


# --- for a machine --------------------------------------------------------------------------------------------------


def as_object(result: BuildResult) -> dict[str, Any]:
    """Return what `--json` prints: exit code, outputs (absolute paths), counts, recommendations, detectors, inputs."""
    report = result.report
    return {
        "reportgen": report.build.reportgen,
        "exit_code": int(result.exit_code),
        "outputs": {
            "recommendations": str(result.recommendations),
            "site": str(result.site),
            "index": str(result.site / "index.html"),
            "report": str(result.site / "data" / "report.json"),
            **({} if result.single_file is None else {"single_file": str(result.single_file)}),
        },
        "files": {
            "written": result.written,
            "unchanged": result.unchanged,
            "removed": result.removed,
            "kept": len(result.kept),
        },
        **({"left_out": [_told(one) for one in result.left_out]} if result.left_out else {}),
        "period": {"first": report.period.first, "last": report.period.last},
        "pipeline": report.build.pipeline_filter,
        "counts": {
            "pipelines": len(report.pipelines),
            "agents": len({a.agent for a in report.agents if a.attributed}),
            "runs": sum(p.runs for p in report.pipelines),
            "events": sum(p.events for p in report.pipelines),
            "recommendations": len(report.recommendations),
            "rejected": report.rejected_total,
            "rejected_errors": result.rejected_errors,
            "warnings": sum(1 for notice in report.notices if notice.severity == "warning"),
        },
        "recommendations": [
            {
                "id": r.id,
                "total": r.vfm.total,
                "decision": r.decision,
                "detector": r.detector,
                "pipeline": r.pipeline,
                "subject": r.subject,
                "title": r.title,
            }
            for r in report.recommendations
        ],
        "detectors": [
            {"detector": d.detector, "status": d.status, "findings": d.findings, "message": d.message, "where": d.where}
            for d in report.detectors
        ],
        "inputs": [asdict(i) for i in report.inputs],
        "healing": {
            "attempts": report.healing.attempts,
            "incidents": report.healing.incidents,
            "escalated": report.healing.escalated,
        },
    }


def error_object(error: ReportgenError) -> dict[str, Any]:
    """Return what `--json` prints instead, where there is no report."""
    return {"exit_code": error.exit_code, "error": _told(error)}


def _told(error: ReportgenError) -> dict[str, str]:
    return {"where": redact(error.where), "what": redact(error.what), "next": redact(error.next_step)}
