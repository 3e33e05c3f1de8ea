"""Turns a good report into one whose every text attacks the page that shows it."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from reportgen.model import Report

#: Fields that reportgen itself makes or checks: ids, slugs, words of a fixed list, numbers, times, file names.
_OURS = frozenset(
    {
        "anchor", "as_of", "baseline", "charts", "code", "cost", "cost_basis", "cost_measure", "cost_per_run", "csv", "days",
        "decision", "detector", "earlier_cost", "earlier_run_cost", "effort", "ended", "file", "finding", "first", "first_seen",
        "group", "id", "ids", "key", "kind", "label", "last", "last_seen", "limit_usd", "line_at", "mark",
        "mean_run_cost", "measure", "middle", "name", "now", "observed", "origin", "outcome", "page", "rank", "reads",
        "recent_cost", "recent_run_cost", "recommendations", "reportgen", "run_source", "saving", "saving_basis", "series",
        "severity", "since", "slug", "spent_usd", "sql_file", "started", "state", "status", "subject_kind", "threshold",
        "timestamp", "unit", "until", "value", "versions", "warn_percent", "window", "window_start", "x",
        "y",
    }
)  # fmt: skip


def poison(report: Report, hostile: str, long: str) -> Report:
    """Return `report` with each free text replaced by the hostile text and its old self, kept apart by a number."""
    counter = iter(range(1_000_000))
    known: dict[str, str] = {}

    def text(old: str) -> str:
        # One name stays one name: what was equal before is equal after.
        if old not in known:
            number = next(counter)
            known[old] = f"{long}{number}" if number % 9 == 8 else f"{hostile}{number} {old}"
        return known[old]

    def walk(value: Any) -> Any:
        if is_dataclass(value) and not isinstance(value, type):
            changed = {f.name: walk(getattr(value, f.name)) for f in fields(value) if f.name not in _OURS}
            return replace(value, **changed)
        if isinstance(value, list):
            return [walk(item) for item in value]
        if isinstance(value, tuple):
            return tuple(walk(item) for item in value)
        if isinstance(value, dict):
            return {key: walk(item) for key, item in value.items()}
        return text(value) if isinstance(value, str) else value

    poisoned: Report = walk(report)
    charts = [
        replace(
            chart,
            title=text(chart.title),
            about=text(chart.about) if chart.about else "",
            line_label=text(chart.line_label or "line"),
            note=text(chart.note),
            columns=[replace(column, label=text(column.label)) for column in chart.columns],
            rows=[
                [
                    text(cell) if isinstance(cell, str) and column.unit == "text" else cell
                    for cell, column in zip(row, chart.columns, strict=True)
                ]
                for row in chart.rows
            ],
        )
        for chart in report.charts
    ]
    # A finding is Markdown made by a detector: what it quotes is escaped there, and hostile here.
    found = [
        replace(r, finding=hostile + "\n\n" + r.finding, subject_kind="project" if r.rank == 10 else r.subject_kind)
        for r in poisoned.recommendations
    ]
    evidence = [
        replace(r, evidence=[replace(e, value=hostile) if e.unit == "text" else e for e in r.evidence]) for r in found
    ]
    return replace(poisoned, charts=charts, recommendations=evidence)
