"""The story of a build, in order: settings, inputs, warehouse, detectors, report, outputs."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any

import reportgen
from reportgen import detectorfile, quality, tables
from reportgen import detectors as detecting
from reportgen import publish as publishing
from reportgen.chartfiles import ChartFailed
from reportgen.errors import ExitCode, ReportgenError
from reportgen.inputs.budget import read_budget
from reportgen.inputs.events import read_events
from reportgen.inputs.feedback import read_feedback
from reportgen.inputs.healing_log import read_healing
from reportgen.inputs.sources import Inputs, find_inputs
from reportgen.model import Build, InputFile, Notice, RejectedLine, Report, Retired
from reportgen.names import Names, clean_name, fold
from reportgen.render import BUILD_HASH
from reportgen.report import Found, assemble, with_extras
from reportgen.report import json as report_json
from reportgen.resources import resource_dir
from reportgen.settings import Settings, load_settings
from reportgen.sqlfile import find_sql_files, near
from reportgen.warehouse import Limits, Warehouse

#: Called with a stage's name, how much of it is done and how much there is (bytes or steps; 0: unknown).
Progress = Callable[[str, int, int], None]

#: A last line that is still being written is no fault of the file, even under `--strict`.
STILL_WRITTEN = "still being written"


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a build made: the report, where it was written, and the exit code of SPEC 9."""

    report: Report
    recommendations: Path
    site: Path
    exit_code: int
    written: int
    unchanged: int
    removed: int
    #: Rejected lines that are errors under `--strict`.
    rejected_errors: int
    notices: tuple[Notice, ...]


def build(
    project: str | Path = ".",
    *,
    settings_file: str | Path | None = None,
    progress: Progress | None = None,
    on_message: Callable[[str], None] | None = None,
    **flags: object,
) -> BuildResult:
    """Build the report of a project directory: `RECOMMENDATIONS.md` and the site.

    `flags` are named as the fields of `Settings` (`pipeline="docs"`, `since="2026-11-01"`, `site="public"`) and win
    over `reportgen.toml`. Raises ReportgenError with an exit code: 2 for usage, settings or a refused overwrite, 3
    where there is no input or one can't be read. A detector that fails does not raise: the exit code is 1.
    """
    tell = on_message or (lambda _: None)
    settings = load_settings(Path(project), file=Path(settings_file) if settings_file else None, flags=flags)
    inputs = find_inputs(settings)
    paths = [source.path for source in _sources(inputs)] + ([settings.file] if settings.file else [])
    publishing.refuse_overlap(paths, settings.site, settings.recommendations, settings.work)
    with publishing.lock(settings.work, on_wait=tell):
        healed = publishing.recover(site=settings.site, recommendations=settings.recommendations, work=settings.work)
        if healed:
            tell(healed)
        return _build(settings, inputs, paths, progress or (lambda *_: None))


def _build(settings: Settings, inputs: Inputs, paths: Sequence[Path], progress: Progress) -> BuildResult:
    with _open_warehouse(settings) as store:
        found, only = _load(store, settings, inputs, progress)
        report, failed, ids, csvs = _analyse(store, settings, inputs, found, only, progress)
        store.keep()
    manifest = publishing.read_manifest(settings.site)
    # `ids` names every finding: what one pipeline's report does not show has not gone away.
    retired = publishing.retire(manifest, ids)
    report = with_extras(
        report, tables=csvs[0], retired=[Retired(id=key, title=title) for key, title in retired.items()]
    )
    site_files, markdown, build_hash = _render(settings, report, csvs[1], progress)
    progress("publish", 0, 1)
    published = publishing.publish(
        site=settings.site,
        site_files=site_files,
        recommendations=settings.recommendations,
        markdown=markdown,
        ids=ids,
        retired=retired,
        build_hash=build_hash,
        work=settings.work,
        adopt=settings.adopt,
        inputs=paths,
    )
    progress("publish", 1, 1)
    errors = sum(not line.reason.startswith(STILL_WRITTEN) for line in found.rejected)
    return BuildResult(
        report=report,
        recommendations=settings.recommendations,
        site=settings.site,
        exit_code=_exit_code(settings, report, failed, errors),
        written=published.written,
        unchanged=published.unchanged,
        removed=published.removed,
        rejected_errors=errors,
        notices=tuple(report.notices),
    )


def _exit_code(settings: Settings, report: Report, failed: Sequence[ChartFailed], rejected: int) -> int:
    if failed or any(d.status == "error" for d in report.detectors) or (settings.strict and rejected):
        return ExitCode.DETECTOR_FAILED
    if settings.fail_on is not None and any(r.vfm.total >= settings.fail_on for r in report.recommendations):
        return ExitCode.SCORE_REACHED
    return ExitCode.DONE


def _sources(inputs: Inputs) -> list[Any]:
    single = [source for source in (inputs.healing, inputs.budget) if source is not None]
    return [*inputs.events, *inputs.feedback, *single]


def _open_warehouse(settings: Settings) -> Warehouse:
    try:
        limits = Limits(settings.detector_seconds, settings.memory)
        return Warehouse(settings.work / "warehouse.duckdb", limits=limits)
    except OSError as error:
        raise ReportgenError(
            str(settings.work), f"can't be written ({error.strerror})", "Check the permissions, or delete the folder."
        ) from error


def _load(store: Warehouse, settings: Settings, inputs: Inputs, progress: Progress) -> tuple[Found, str | None]:
    """Read every input into the warehouse; return the accounts, and the pipeline that was asked for as it is shown."""
    names = Names()
    accounts: list[InputFile] = []
    rejected: list[RejectedLine] = []
    notices: list[Notice] = list(inputs.notices)
    with tempfile.TemporaryDirectory(dir=settings.work, prefix="load-") as folder:
        csv = Path(folder) / "events.csv"
        events = read_events(
            inputs.events,
            csv,
            names,
            as_of=settings.as_of,
            fields=settings.fields,
            redact=settings.redact,
            cumulative=settings.running_totals,
            on_progress=lambda done, total: progress("read events", done, total),
        )
        feedback = read_feedback(inputs.feedback, names, redact=settings.redact)
        accounts += [*events.files, *feedback.files]
        notices += [*events.notices, *feedback.notices]
        rejected += events.rejected
        raw: dict[str, list[Sequence[Any]]] = {
            "feedback": [
                (r.row_no, r.file_no, r.line, r.date, r.pipeline_no, r.agent_no, r.score, r.score_text, r.issue,
                 r.resolution, list(r.tags))
                for r in feedback.rows
            ],
        }  # fmt: skip
        rejected += getattr(feedback, "rejected", ())
        if inputs.healing is not None:
            healing = read_healing(inputs.healing, names, redact=settings.redact)
            accounts += healing.files
            notices += healing.notices
            rejected += healing.rejected
            raw["healing"] = [
                (r.row_no, r.line, r.timestamp, r.pipeline_no, r.agent_no, r.run_no, r.error_type, r.attempt,
                 r.max_attempts, r.action, r.exit_code, r.delay_seconds, r.reason, r.context)
                for r in healing.rows
            ]  # fmt: skip
        if inputs.budget is not None:
            budget = read_budget(inputs.budget, names, redact=settings.redact)
            accounts += budget.files
            notices += budget.notices
            raw["budget"] = [
                (number, r.agent_no, r.window, r.limit_usd, r.warn_percent, r.hard_stop)
                for number, r in enumerate(budget.rows)
            ]
        raw["roster"] = [
            (names.pipeline(pipeline), names.agent(agent))
            for pipeline, agents in settings.roster.items()
            for agent in agents
        ]
        raw["settings"] = [_settings_row(settings)]
        raw["names"] = [
            (n.spelling_no, n.key_no, n.kind, n.spelling, n.key, n.key_hash, n.code_point_rank)
            for n in names.rows(redacted=settings.redact)
        ]
        progress("load", 0, 1)
        store.load_raw(raw, csv)
    # Nothing from here on needs a file: SQL of the project runs behind the lock, as the built-in one does.
    store.lock()
    own = settings.project / "sql"
    built_in = resource_dir("sql")
    store.run_script((built_in / "macros.sql").read_text(encoding="utf-8"))
    store.create_tables(find_sql_files("sources", built_in, own))
    store.create_tables(find_sql_files("marts", built_in, own))
    progress("load", 1, 1)
    only = _find_pipeline(store, settings.pipeline) if settings.pipeline is not None else None
    found = Found(
        inputs=accounts,
        rejected=sorted(rejected, key=lambda line: (line.file, line.line)),
        notices=[*notices, *quality.remarks(store, only)],
        healing_present=inputs.healing is not None,
    )
    return found, only


def _settings_row(settings: Settings) -> Sequence[Any]:
    window = None if settings.window is None else int(settings.window.total_seconds())
    return (
        settings.since,
        settings.until,
        settings.as_of,
        window,
        Decimal(str(settings.run_gap.total_seconds())),
        settings.score_flag,
    )


def _find_pipeline(store: Warehouse, asked: str) -> str:
    shown = {fold(str(row[0])): str(row[0]) for row in store.query("select pipeline from pipelines").rows}
    wanted = fold(clean_name(asked))
    if wanted in shown:
        return shown[wanted]
    names = sorted(shown.values())
    raise ReportgenError(
        "--pipeline",
        f"no pipeline '{asked}' in the events or the feedback{near(asked, names)}",
        f"There {'is' if len(names) == 1 else 'are'}: {', '.join(names[:20])}{' …' if len(names) > 20 else ''}."
        if names
        else "There is no pipeline yet.",
    )


def _analyse(
    store: Warehouse, settings: Settings, inputs: Inputs, found: Found, only: str | None, progress: Progress
) -> tuple[Report, list[ChartFailed], Mapping[str, str], tuple[Any, Mapping[str, bytes]]]:
    built_in, own = resource_dir("sql"), settings.project / "sql"
    files = find_sql_files("detectors", built_in, own)
    detectorfile.check_settings(files, settings)
    readings = [detectorfile.read_detector(file, settings) for file in files]
    # A chart may read the parameters of a detector that is switched off: every file has its view.
    for one in readings:
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
    outcomes = detecting.run_detectors(
        store,
        active,
        present=present,
        counts=_counts(store, only),
        most=settings.detector_findings,
        pipelines={str(row[0]) for row in store.query("select pipeline from pipelines").rows},
    )
    store.fill("findings", detecting.FINDINGS, [f.cells() for o in outcomes for f in o.findings])
    store.create_tables(find_sql_files("scoring", built_in, own))
    progress("detect", len(active), len(active))
    report, failed, ids = assemble(
        store,
        outcomes,
        off=[one for one in readings if not detectorfile.is_on(one, settings)],
        pipeline=only,
        charts=find_sql_files("charts", built_in, own),
        found=found,
        build=_build_facts(settings, only),
    )
    notices = [
        Notice(code="chart-failed", message=f"chart {one.file.id} failed: {one.message}", file=one.where)
        for one in failed
    ]
    report = replace(report, notices=[*report.notices, *notices])
    csvs = tables.make_tables(
        store,
        pipeline=only,
        recommendations=report.recommendations,
        inputs=found.inputs,
        rejected=found.rejected,
    )
    return report, failed, ids, csvs


def _counts(store: Warehouse, only: str | None) -> dict[str, int]:
    where = "" if only is None else "where pipeline = ?"
    queries = {
        "events": f"select coalesce(sum(events), 0) from pipelines {where}",
        "runs": f"select coalesce(sum(runs), 0) from pipelines {where}",
        "pipeline_runs": f"select coalesce(max(runs), 0) from pipelines {where}",
        "days": f"select count(distinct day) from agent_days {where}",
        "priced_events": f"select coalesce(sum(with_usd), 0) from measures {where}",
        "cache_events": f"select coalesce(sum(cache_events), 0) from agent_run_tokens {where}",
        "feedback_rows": f"select coalesce(sum(feedback_rows), 0) from pipelines {where}",
        "scores": f"select coalesce(sum(scores), 0) from agents {where}",
        "agent_scores": f"select coalesce(max(scores) filter (where attributed), 0) from agents {where}",
        "tags": f"select count(*) from feedback_tags {where}",
        "healing_attempts": f"select count(*) from healing_attempts {where}",
        "incidents": f"select count(*) from healing_incidents {where}",
    }
    counts = {name: int(store.query(text, [] if only is None else [only]).rows[0][0]) for name, text in queries.items()}
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
        versions=versions(),
        pipeline_filter=only,
        since=moment(settings.since),
        until=moment(settings.until),
        as_of=moment(settings.as_of),
        now=None,
        redacted=settings.redact,
        project="",
        settings=[
            ("run_gap", str(int(settings.run_gap.total_seconds())), "seconds"),
            ("score_flag", f"{settings.score_flag:f}", "points"),
            *([("window", str(settings.window.days), "days")] if settings.window else []),
            *(("detector off", name, "") for name in sorted(settings.disabled)),
        ],
        hash=BUILD_HASH,
    )


def versions() -> dict[str, str]:
    """Return the version of every package that takes part in the outputs."""
    return {name: version(name) for name in ("duckdb", "jinja2", "markdown-it-py", "msgspec", "plotly")}


def _render(
    settings: Settings, report: Report, csvs: Mapping[str, bytes], progress: Progress
) -> tuple[dict[str, bytes], bytes, str]:
    from reportgen.render.markdown import render_markdown
    from reportgen.render.site import render_site

    own = settings.project / "templates"
    folders = (own,) if own.is_dir() else ()
    progress("render", 0, 1)
    files = dict(render_site(report, template_dirs=folders))
    files["data/report.json"] = report_json.report_bytes(report)
    files.update(csvs)
    markdown = render_markdown(report, template_dirs=folders).encode("utf-8", "replace")
    token = BUILD_HASH.encode()
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\x00{len(files[name])}\x00".encode())
        digest.update(files[name])
    digest.update(markdown)
    build_hash = digest.hexdigest()[:16]
    # The script of a third party is published as it is; our own pages carry the hash.
    stamped = {
        name: data if name.endswith(".js") else data.replace(token, build_hash.encode()) for name, data in files.items()
    }
    progress("render", 1, 1)
    return stamped, markdown.replace(token, build_hash.encode()), build_hash
