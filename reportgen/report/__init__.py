"""From the warehouse's tables and the detectors' outcomes to one `Report`: order, rounding, words; no rule."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from reportgen.chartfiles import ChartFailed, read_charts
from reportgen.detectorfile import DetectorFile
from reportgen.detectors import Finding, Outcome
from reportgen.found import Found
from reportgen.model import (
    Agent,
    Build,
    Chart,
    OffDetector,
    Pipeline,
    Recommendation,
    Report,
    Retired,
    Table,
)
from reportgen.report import findings, logs, runs, sqltexts, subjects
from reportgen.report.view import View
from reportgen.sqlfile import SqlFile
from reportgen.warehouse import Warehouse

REJECTED_SHOWN = 200


def assemble(
    warehouse: Warehouse,
    outcomes: Sequence[Outcome],
    *,
    off: Sequence[DetectorFile] = (),
    pipeline: str | None,
    charts: Sequence[SqlFile],
    sql: Sequence[SqlFile] = (),
    found: Found,
    build: Build,
) -> tuple[Report, list[ChartFailed], dict[str, str]]:
    """Make the report of what the warehouse holds (its scoring tables included); `off` are the detectors not run,
    `sql` every other SQL file that took part.

    Beside it: the charts that failed, and the title of every finding by id, those of pipelines not shown included.
    """
    view = View(warehouse, outcomes, pipeline)
    recommendations = findings.recommendations(view)
    pipelines = subjects.pipelines(view, recommendations)
    agents = subjects.agents(view, recommendations)
    period, now = logs.period(view)
    drawn, failed = _charts(view, charts, pipelines, agents, recommendations)
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
        groups=findings.groups(view, recommendations),
        detectors=sqltexts.with_reads(warehouse, findings.detectors(view, recommendations)),
        patterns=subjects.patterns(view),
        healing=logs.healing(view, found.healing_present),
        budget=logs.budget(view),
        charts=drawn,
        sql=sqltexts.sql_texts(warehouse, sql),
        inputs=list(found.inputs),
        rejected=rejected,
        rejected_total=len(found.rejected),
        notices=list(found.notices),
        detectors_off=[
            OffDetector(detector=d.file.id, title=d.title, doc=d.doc, origin=d.file.origin, file=d.file.name)
            for d in off
        ],
        trends=subjects.trends(view),
        runs=runs.runs(view, [(one, f.subject_key) for one, f in _shown_findings(view, recommendations)]),
    )
    return report, failed, findings.titles(view)


def _charts(
    view: View,
    files: Sequence[SqlFile],
    pipelines: Sequence[Pipeline],
    agents: Sequence[Agent],
    recommendations: Sequence[Recommendation],
) -> tuple[list[Chart], list[ChartFailed]]:
    """Run the chart files; rows of pages that this report does not have are left out."""
    pairs = _shown_findings(view, recommendations)
    ids = {(one.detector, one.pipeline, finding.subject_key): one.id for one, finding in pairs}
    titles = {finding.finding_no: (one.id, one.title) for one, finding in pairs}
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

    shown = {one.detector for one, _ in pairs}
    asked = [file for file in files if not _is_for_nobody(file, shown)]
    view.warehouse.answers_ahead(asked)
    charts, failed = read_charts(view.warehouse, asked, key, titles)
    return _apart(charts), failed


def _is_for_nobody(file: SqlFile, shown: Set[str]) -> bool:
    """Say whether a built-in chart is about recommendations that this report does not have.

    It would have no rows, and a query without rows takes as long to plan as any other. A project's own chart is asked
    in any case: where it is wrong, that must be told.
    """
    if file.origin == "project" or file.broken is not None:
        return False
    page, about = file.front.get("page"), file.front.get("detectors", ())
    return (page == "recommendations" and not shown) or (page == "recommendation" and shown.isdisjoint(about))


def _apart(charts: Sequence[Chart]) -> list[Chart]:
    """Return the charts with a CSV each: where an id and a key run into the name that others make, it is told apart."""
    taken: set[str] = set()
    out = []
    for chart in charts:
        name = chart.csv
        while name in taken:
            name = name.removesuffix(".csv") + "-more.csv"
        taken.add(name)
        out.append(chart if name == chart.csv else replace(chart, csv=name))
    return out


def _shown_findings(view: View, recommendations: Sequence[Recommendation]) -> list[tuple[Recommendation, Finding]]:
    by_id = {one.id: one for one in recommendations}
    pairs = []
    for outcome in view.outcomes:
        for finding in outcome.findings:
            one = by_id.get(view.finding_id(finding))
            if one is not None:
                pairs.append((one, finding))
    return pairs


def with_extras(report: Report, *, tables: Sequence[Table], retired: Sequence[Retired]) -> Report:
    """Return the report with the CSV files beside it and the recommendations that no longer hold."""
    return replace(report, tables=list(tables), retired=list(retired))
