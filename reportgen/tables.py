"""The CSV files under `site/data/`: the whole of what the pages show parts of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import partial

from reportgen.detectors import as_text
from reportgen.model import Cell, InputFile, Recommendation, RejectedLine, Table
from reportgen.render.csvtext import csv_text
from reportgen.warehouse import Warehouse

#: File name to its title and the query that gives its rows; `{only}` keeps one pipeline's part.
QUERIES: dict[str, tuple[str, str]] = {
    "pipelines.csv": (
        "Pipelines",
        "select pipeline, events, runs, event_agents as agents, cost_measure, cost, known_costs, cost_basis,"
        " incomplete_runs, unattributed_events, inferred_events, undated_events, runless_events, feedback_rows,"
        " first_time, last_time from pipelines {only} order by pipeline",
    ),
    "agents.csv": (
        "Agents in each pipeline",
        "select pipeline, agent, attributed, in_roster, events, runs, cost, cost_basis, feedback_rows, scores,"
        " low_scores, cast(case when scores > 0 then score_sum / scores end as decimal(18, 6)) as mean_score, trend,"
        " first_seen, last_seen from agents {only} order by pipeline, agent",
    ),
    "runs.csv": (
        "Runs",
        "select pipeline, run, started, ended, events, agents, cost, incomplete from runs {only}"
        " order by pipeline, run_rank",
    ),
    "feedback.csv": (
        "Reviewers' feedback",
        "select feedback_date, pipeline, agent, score, score_text, array_to_string(tags, ', ') as tags, issue,"
        " resolution from feedback {only} order by row_no",
    ),
    "healing.csv": (
        "Recovery attempts",
        "select log_time, pipeline, agent, run_id, error_type, attempt, max_attempts, action, exit_code, reason,"
        " context from healing_attempts {only} order by row_no",
    ),
    "incidents.csv": (
        "Healing incidents",
        "select pipeline, agent, run_id, error_type, outcome, attempts, first_time, last_time, last_action"
        " from healing_incidents {only}"
        " order by first_time nulls last, pipeline, agent, run_id, error_type, incident_no",
    ),
    "budget.csv": (
        "Budget windows",
        "select subject, window_name, window_start, spent_usd, limit_usd from budget_windows"
        " order by row_no, window_start",
    ),
}


def make_tables(
    warehouse: Warehouse,
    *,
    pipeline: str | None,
    recommendations: Sequence[Recommendation],
    inputs: Sequence[InputFile],
    rejected: Sequence[RejectedLine],
) -> tuple[list[Table], Mapping[str, Callable[[], bytes]]]:
    """Return what there is, and for each file by its path in the site (`data/runs.csv`) what makes its content."""
    tables: list[Table] = []
    files: dict[str, Callable[[], bytes]] = {}

    def add(name: str, title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        files[f"data/{name}"] = partial(_csv, columns, rows)
        tables.append(Table(file=name, title=title, rows=len(rows)))

    add(
        "recommendations.csv",
        "Recommendations",
        ["rank", "id", "detector", "pipeline", "subject", "observed", "baseline", "threshold", "total", "frequency",
         "failure_reduction", "burden_reduction", "cost_savings", "decision", "effort", "saving", "cost_measure",
         "saving_basis"],
        [
            [r.rank, r.id, r.detector, r.pipeline, r.subject, r.observed, r.baseline, r.threshold, r.vfm.total,
             r.vfm.frequency, r.vfm.failure_reduction, r.vfm.burden_reduction, r.vfm.cost_savings, r.decision, r.effort,
             r.saving, r.cost_measure, r.saving_basis]
            for r in recommendations
        ],
    )  # fmt: skip
    for name, (title, query) in QUERIES.items():
        only = "" if pipeline is None or "{only}" not in query else "where pipeline = ?"
        result = warehouse.query(query.format(only=only), [pipeline] if only else [])
        add(name, title, result.columns, result.rows)
    add(
        "inputs.csv",
        "The account of every input line",
        ["file", "kind", "lines", "used", "superseded", "duplicates", "not_cost", "rejected", "blank", "events",
         "broken_parts", "outside_period"],
        [
            [i.file, i.kind, i.lines, i.used, i.superseded, i.duplicates, i.not_cost, i.rejected, i.blank, i.events,
             i.broken_parts, i.outside_period]
            for i in inputs
        ],
    )  # fmt: skip
    add(
        "rejected.csv",
        "Every rejected line",
        ["file", "line", "reason", "snippet"],
        [[r.file, r.line, r.reason, r.snippet] for r in rejected],
    )
    return tables, files


def _csv(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> bytes:
    return csv_text(columns, ([_cell(cell) for cell in row] for row in rows)).encode("utf-8", "replace")


def _cell(value: object) -> Cell:
    if value is None or isinstance(value, bool | int | str):
        return value
    return as_text(value) if not isinstance(value, Decimal) or value.is_finite() else None
