"""From the marts to a report: detectors, scoring, charts and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import reportgen
from reportgen import detectorfile, macros, published, tables
from reportgen import detectors as detecting
from reportgen import publish as publishing
from reportgen.chartfiles import ChartFailed
from reportgen.errors import ReportgenError
from reportgen.found import Found
from reportgen.inputs.sources import Inputs
from reportgen.model import Build, Notice, Report, Retired
from reportgen.quickclass import dataclass
from reportgen.redact import redact
from reportgen.render import BUILD_HASH
from reportgen.report import assemble, with_extras
from reportgen.report.renaming import SEPARATOR
from reportgen.resources import resource_dir
from reportgen.settings import Settings
from reportgen.sqlfile import find_sql_files
from reportgen.stages import Progress, Stages
from reportgen.versions import versions
from reportgen.warehouse import Warehouse


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysed:
    """What came of the warehouse: the report, the charts and tables that failed, what makes the CSV files, by path."""

    report: Report
    #: Every finding's id and title, shown or not.
    ids: Mapping[str, str]
    failed: Sequence[ChartFailed | tables.TableFailed]
    csvs: Mapping[str, Callable[[], bytes]]


def analyse(
    store: Warehouse,
    settings: Settings,
    inputs: Inputs,
    found: Found,
    only: str | None,
    progress: Progress,
    stages: Stages | None = None,
) -> Analysed:
    """Run detectors, scoring and charts on the marts. Raises ReportgenError where the settings or scoring are wrong."""
    stages = stages or Stages()
    _refuse_too_many(store, settings, only, 0)
    built_in, own = resource_dir("sql"), settings.project / "sql"
    files = find_sql_files("detectors", built_in, own)
    detectorfile.check_settings(files, settings)
    readings = [detectorfile.read_detector(file, settings) for file in files]
    # A chart may read the parameters of a detector that is switched off: every file has its view.
    for one in readings:
        if one.broken is None:
            store.create_view("params", one.file.id, one.values)
    store.create_view("params", "report", {"pipeline": only or ""})
    active = [one for one in readings if detectorfile.is_on(one, settings)]
    present = frozenset(
        name
        for name, there in (
            ("events", inputs.events), ("feedback", inputs.feedback), ("healing", inputs.healing),
            ("budget", inputs.budget),
        )
        if there
    )  # fmt: skip
    progress("detect", 0, len(active))
    with stages.stage("run the detectors") as stage:
        outcomes = detecting.run_detectors(
            store,
            active,
            present=present,
            counts=_counts(store, only),
            most=settings.detector_findings,
            pipelines={str(row[0]) for row in store.query("select pipeline from pipelines").rows},
        )
        stage.rows = sum(len(one.findings) for one in outcomes)
    scoring = find_sql_files("scoring", built_in, own)
    _refuse_too_many(store, settings, only, sum(len(one.findings) for one in outcomes))
    with stages.stage("score"):
        store.fill("findings", detecting.FINDINGS, [f.cells() for o in outcomes for f in o.findings])
        store.create_tables(scoring)
    made = [file for folder in ("sources", "marts") for file in find_sql_files(folder, built_in, own)]
    charts = find_sql_files("charts", built_in, own)
    whole = find_sql_files("tables", built_in, own)
    # Those of the project, and those of the tools whose sessions were asked for.
    tools = {tool.replace("-", "_") for tool in settings.source}
    formats = [one for one in find_sql_files("formats", built_in, own) if one.origin == "project" or one.id in tools]
    progress("detect", len(active), len(active))
    store.answers_ahead(whole)
    with stages.stage("read the charts and the report") as stage:
        report, failed, ids = assemble(
            store,
            outcomes,
            off=[one for one in readings if not detectorfile.is_on(one, settings)],
            pipeline=only,
            charts=charts,
            sql=[*macros.files(own), *formats, *made, *scoring, *charts, *whole],
            found=found,
            build=_build_facts(settings, only),
        )
        stage.rows = sum(len(chart.rows) for chart in report.charts)
    with stages.stage("read the tables") as stage:
        wholes = tables.make_tables(
            store,
            whole,
            recommendations=report.recommendations,
            groups=report.groups,
            detectors=report.detectors,
            inputs=found.inputs,
            rejected=found.rejected,
        )
        stage.rows = sum(table.rows for table in wholes.tables)
    store.keep_facts([*macros.files(own), *formats, *files, *made, *scoring, *charts, *whole])
    notices = [
        Notice(code=f"{what}-failed", message=f"{what} {one.file.id} failed: {one.message}", file=one.where)
        for what, ones in (("chart", failed), ("table", wholes.failed))
        for one in ones
    ]
    report = replace(report, notices=[*report.notices, *notices])
    report = with_extras(report, tables=wholes.tables, retired=())
    return Analysed(report=report, ids=ids, failed=[*failed, *wholes.failed], csvs=wholes.files)


def _refuse_too_many(store: Warehouse, settings: Settings, only: str | None, findings: int) -> None:
    """Refuse, before the work is done, a site of more pages than a disk and a reader are meant to hold."""
    where = "" if only is None else "where pipeline = ?"
    agents, pipelines = store.query(
        f"select (select count(*) from agents {where}), (select count(*) from pipelines {where})",
        [] if only is None else [only, only],
    ).rows[0]
    refuse_pages(settings, agents, pipelines, findings)


def refuse_pages(settings: Settings, agents: int, pipelines: int, findings: int) -> None:
    """Refuse a site of more pages than the settings allow. Raises ReportgenError."""
    if agents + pipelines + findings > settings.pages:
        what = (
            f"the site would have a page for each of {agents:,} agents, {pipelines:,} pipelines"
            + (f" and {findings:,} findings" if findings else "")
            + f", which is more than {settings.pages:,}"
        )
        step = "Raise it, look at one --pipeline or a shorter --window, or see to names that differ in every run."
        raise ReportgenError("[limits] pages", what, step)


def with_retired(settings: Settings, analysed: Analysed) -> Analysed:
    """Return the same with the recommendations that the published site shows and this report no longer does."""
    report = analysed.report
    looked = {d.detector for d in report.detectors if d.status in ("found", "clear")}
    if not published.same_period(settings.site, report.build):
        # What another period holds has not gone away: nobody looked for it.
        looked = set()
    known = looked | {d.detector for d in report.detectors} | {d.detector for d in report.detectors_off}

    def detector(one: str) -> str:
        """Return the detector that gave an id, empty where there is no such detector any more."""
        return max((d for d in known if one.startswith(d.replace("_", "-") + "-")), key=len, default="")

    manifest = publishing.read_manifest(settings.site)
    # What a report of several projects showed here is none of this project's business.
    own = {key: title for key, title in manifest.ids.items() if SEPARATOR not in key}
    older = {key: title for key, title in manifest.retired.items() if SEPARATOR not in key}
    manifest = replace(manifest, ids=own, retired=older)
    # `ids` names every finding: what one pipeline's report does not show has not gone away. Nor has what its detector
    # did not look for this time (skipped, failed or switched off): it stays known, and can be retired later.
    unseen = {key: title for key, title in manifest.ids.items() if key not in analysed.ids
              and detector(key) not in ("", *looked)}  # fmt: skip
    gone = publishing.retire(manifest, {**unseen, **analysed.ids})
    retired = [Retired(id=key, title=title) for key, title in gone.items() if detector(key) in looked]
    return replace(
        analysed,
        ids={**unseen, **analysed.ids},
        report=with_extras(report, tables=report.tables, retired=retired),
    )


def _counts(store: Warehouse, only: str | None) -> dict[str, int]:
    where = "" if only is None else "where pipeline = ?"
    # One query a mart: planning one takes longer than counting in it.
    asked = {
        "pipelines": {
            "events": "coalesce(sum(events), 0)",
            "runs": "coalesce(sum(runs), 0)",
            "pipeline_runs": "coalesce(max(runs), 0)",
            "feedback_rows": "coalesce(sum(feedback_rows), 0)",
        },
        "agents": {
            "scores": "coalesce(sum(scores), 0)",
            "agent_scores": "coalesce(max(scores) filter (where attributed), 0)",
        },
        "agent_days": {"days": "count(distinct day)"},
        "measures": {"priced_events": "coalesce(sum(with_usd), 0)"},
        "agent_run_tokens": {"cache_events": "coalesce(sum(cache_events), 0)"},
        "feedback_tags": {"tags": "count(*)"},
        "healing_attempts": {"healing_attempts": "count(*)"},
        "healing_incidents": {"incidents": "count(*)"},
    }
    counts: dict[str, int] = {}
    for mart, columns in asked.items():
        text = f"select {', '.join(columns.values())} from {mart} {where}"
        row = store.query(text, [] if only is None else [only]).rows[0]
        counts.update(zip(columns, map(int, row), strict=True))
    counts["reports"] = counts["feedback_rows"] + counts["incidents"]
    # Limits are the whole project's, whatever is shown.
    limits = "select count(distinct row_no) from budget_windows where window_name in ('weekly', 'monthly')"
    counts["period_limits"] = int(store.query(limits).rows[0][0])
    return counts


def _build_facts(settings: Settings, only: str | None) -> Build:
    def moment(value: datetime | None) -> str | None:
        return None if value is None else value.strftime("%Y-%m-%dT%H:%M:%SZ")

    return Build(
        reportgen=reportgen.__version__,
        versions=dict(versions()),
        pipeline_filter=only,
        since=moment(settings.since),
        until=moment(settings.until),
        as_of=moment(settings.as_of),
        now=None,
        redacted=settings.redact,
        sources=list(settings.source),
        project=redact(settings.title) if settings.redact and settings.title else settings.title,
        settings=[
            ("run_gap", str(int(settings.run_gap.total_seconds())), "seconds"),
            ("score_flag", f"{settings.score_flag:f}", "points"),
            *([("window", str(settings.window.days), "days")] if settings.window else []),
            *(("detector off", name, "") for name in sorted(settings.disabled)),
        ],
        hash=BUILD_HASH,
    )
