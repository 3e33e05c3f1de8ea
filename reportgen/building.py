"""The story of a build, in order: settings, inputs, warehouse, detectors, report, outputs."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

import reportgen
from reportgen import detectorfile, macros, tables
from reportgen import detectors as detecting
from reportgen import publish as publishing
from reportgen.beside import Beside
from reportgen.chartfiles import ChartFailed
from reportgen.errors import ExitCode
from reportgen.inputs.sources import Inputs, find_inputs
from reportgen.loading import Progress, input_paths, load, make_marts, open_warehouse, read_cost_events
from reportgen.model import Build, Notice, Report, Retired
from reportgen.render import BUILD_HASH
from reportgen.report import Found, assemble, with_extras
from reportgen.report import json as report_json
from reportgen.resources import resource_dir
from reportgen.settings import Settings, load_settings
from reportgen.sqlfile import find_sql_files
from reportgen.warehouse import Warehouse

#: A last line that is still being written is no fault of the file, even under `--strict`.
STILL_WRITTEN = "still being written"


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysed:
    """What came of the warehouse: the report, the charts and tables that failed, what makes the CSV files, by path."""

    report: Report
    #: Every finding's id and title, shown or not.
    ids: Mapping[str, str]
    failed: Sequence[ChartFailed | tables.TableFailed]
    csvs: Mapping[str, Callable[[], bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Every file that is to be published, stamped with the one hash of them all."""

    site_files: Mapping[str, bytes]
    markdown: bytes
    build_hash: str
    #: The report as one page, where one is asked for.
    single: bytes | None = None


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
    #: Files of an earlier build that this one does not make and somebody has changed: left alone.
    kept: tuple[str, ...]
    #: Rejected lines that `--strict` makes errors; 0 without it.
    rejected_errors: int
    notices: tuple[Notice, ...]
    #: The report as one page, where one was asked for.
    single_file: Path | None = None


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
    paths = input_paths(settings, inputs)
    publishing.refuse_overlap(paths, settings.site, settings.recommendations, settings.work)
    _refuse_single(settings, paths)
    with publishing.lock(settings.work, on_wait=tell):
        healed = publishing.recover(site=settings.site, recommendations=settings.recommendations, work=settings.work)
        if healed:
            tell(healed)
        return _build(settings, inputs, paths, progress or (lambda *_: None))


def _build(settings: Settings, inputs: Inputs, paths: Sequence[Path], progress: Progress) -> BuildResult:
    with open_warehouse(settings, inputs) as store:
        with tempfile.TemporaryDirectory(dir=settings.work, prefix="load-") as folder:
            events = read_cost_events(settings, inputs, Path(folder) / "events.csv", progress)
            found = load(store, settings, inputs, events, progress)
        found, only = make_marts(store, settings, found, progress)
        analysed = analyse(store, settings, inputs, found, only, progress)
        with Beside(store.keep):
            analysed = with_retired(settings, analysed)
            outputs = render(settings, analysed, progress)
    _refuse_single(settings, paths, outputs.site_files)
    published = swap_in(settings, paths, analysed, outputs, progress)
    single = None
    if settings.single_file is not None and outputs.single is not None:
        single = publishing.write_single(settings.single_file, outputs.single)
    report = analysed.report
    errors = sum(not line.reason.startswith(STILL_WRITTEN) for line in found.rejected)
    return BuildResult(
        report=report,
        recommendations=settings.recommendations,
        site=settings.site,
        exit_code=_exit_code(settings, report, analysed.failed, errors),
        written=published.written + (single is True),
        unchanged=published.unchanged + (single is False),
        removed=published.removed,
        kept=published.kept,
        rejected_errors=errors if settings.strict else 0,
        notices=tuple(report.notices),
        single_file=settings.single_file,
    )


def _refuse_single(settings: Settings, inputs: Sequence[Path], site_files: Iterable[str] = ()) -> None:
    """Refuse a place for the one page where something else lies: before a long build, and before it is written."""
    if settings.single_file is not None:
        publishing.refuse_single(
            settings.single_file,
            inputs=inputs,
            site=settings.site,
            recommendations=settings.recommendations,
            work=settings.work,
            written=site_files,
            adopt=settings.adopt,
        )


def _exit_code(settings: Settings, report: Report, failed: Sequence[object], rejected: int) -> int:
    if failed or any(d.status == "error" for d in report.detectors) or (settings.strict and rejected):
        return ExitCode.DETECTOR_FAILED
    if settings.fail_on is not None and any(r.vfm.total >= settings.fail_on for r in report.recommendations):
        return ExitCode.SCORE_REACHED
    return ExitCode.DONE


# --- the steps, each from what the one before it gave ----------------------------------------------------------------


def analyse(
    store: Warehouse, settings: Settings, inputs: Inputs, found: Found, only: str | None, progress: Progress
) -> Analysed:
    """Run detectors, scoring and charts on the marts. Raises ReportgenError where the settings or scoring are wrong."""
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
    outcomes = detecting.run_detectors(
        store,
        active,
        present=present,
        counts=_counts(store, only),
        most=settings.detector_findings,
        pipelines={str(row[0]) for row in store.query("select pipeline from pipelines").rows},
    )
    store.fill("findings", detecting.FINDINGS, [f.cells() for o in outcomes for f in o.findings])
    scoring = find_sql_files("scoring", built_in, own)
    store.create_tables(scoring)
    made = [file for folder in ("sources", "marts") for file in find_sql_files(folder, built_in, own)]
    charts = find_sql_files("charts", built_in, own)
    whole = find_sql_files("tables", built_in, own)
    progress("detect", len(active), len(active))
    report, failed, ids = assemble(
        store,
        outcomes,
        off=[one for one in readings if not detectorfile.is_on(one, settings)],
        pipeline=only,
        charts=charts,
        sql=[*macros.files(own), *made, *scoring, *charts, *whole],
        found=found,
        build=_build_facts(settings, only),
    )
    wholes = tables.make_tables(
        store,
        whole,
        recommendations=report.recommendations,
        detectors=report.detectors,
        inputs=found.inputs,
        rejected=found.rejected,
    )
    store.keep_facts([*files, *made, *scoring, *charts, *whole])
    notices = [
        Notice(code=f"{what}-failed", message=f"{what} {one.file.id} failed: {one.message}", file=one.where)
        for what, ones in (("chart", failed), ("table", wholes.failed))
        for one in ones
    ]
    report = replace(report, notices=[*report.notices, *notices])
    report = with_extras(report, tables=wholes.tables, retired=())
    return Analysed(report=report, ids=ids, failed=[*failed, *wholes.failed], csvs=wholes.files)


def with_retired(settings: Settings, analysed: Analysed) -> Analysed:
    """Return the same with the recommendations that the published site shows and this report no longer does."""
    report = analysed.report
    looked = {d.detector for d in report.detectors if d.status in ("found", "clear")}
    known = looked | {d.detector for d in report.detectors} | {d.detector for d in report.detectors_off}

    def detector(one: str) -> str:
        """Return the detector that gave an id, empty where there is no such detector any more."""
        return max((d for d in known if one.startswith(d.replace("_", "-") + "-")), key=len, default="")

    manifest = publishing.read_manifest(settings.site)
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
        versions=dict(versions()),
        pipeline_filter=only,
        since=moment(settings.since),
        until=moment(settings.until),
        as_of=moment(settings.as_of),
        now=None,
        redacted=settings.redact,
        project=settings.title,
        settings=[
            ("run_gap", str(int(settings.run_gap.total_seconds())), "seconds"),
            ("score_flag", f"{settings.score_flag:f}", "points"),
            *([("window", str(settings.window.days), "days")] if settings.window else []),
            *(("detector off", name, "") for name in sorted(settings.disabled)),
        ],
        hash=BUILD_HASH,
    )


@lru_cache(maxsize=1)
def versions() -> Mapping[str, str]:
    """Return the version of every package that takes part in the outputs."""
    return {name: version(name) for name in ("duckdb", "jinja2", "markdown-it-py", "msgspec", "plotly")}


def render(settings: Settings, analysed: Analysed, progress: Progress) -> Outputs:
    """Return every output file. Raises ReportgenError with the template's file and line where one is wrong."""
    from reportgen.render.site import render_site

    progress("render", 0, 1)
    files = dict(render_site(analysed.report, template_dirs=template_dirs(settings)))
    outputs = stamp({**files, **data_files(analysed)}, recommendations(settings, analysed))
    if settings.single_file is not None:
        from reportgen.render.singlefile import render_single

        single = render_single(analysed.report, files)
        outputs = replace(outputs, single=single.replace(BUILD_HASH.encode(), outputs.build_hash.encode()))
    progress("render", 1, 1)
    return outputs


def recommendations(settings: Settings, analysed: Analysed) -> bytes:
    """Return RECOMMENDATIONS.md. Raises ReportgenError with the template's file and line where it is wrong."""
    from reportgen.render.markdown import render_markdown

    markdown = render_markdown(analysed.report, template_dirs=template_dirs(settings)).encode("utf-8", "replace")
    if not markdown.startswith(publishing.MARKER):
        # A project's own template need not know how we tell our file from a foreign one.
        markdown = (
            publishing.MARKER + b" written by reportgen build, build " + BUILD_HASH.encode() + b" -->\n\n" + markdown
        )
    return markdown


def template_dirs(settings: Settings) -> tuple[Path, ...]:
    """Return the folders whose templates stand in for the built-in ones."""
    own = settings.project / "templates"
    return (own,) if own.is_dir() else ()


def data_files(analysed: Analysed) -> dict[str, bytes]:
    """Return the files of the site that no template makes: `data/report.json` and the whole tables."""
    csvs = {path: make() for path, make in analysed.csvs.items()}
    return {"data/report.json": report_json.report_bytes(analysed.report), **csvs}


def stamp(files: Mapping[str, bytes], markdown: bytes) -> Outputs:
    """Put the one hash over all outputs into each of them."""
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
    return Outputs(site_files=stamped, markdown=markdown.replace(token, build_hash.encode()), build_hash=build_hash)


def swap_in(
    settings: Settings, inputs: Sequence[Path], analysed: Analysed, outputs: Outputs, progress: Progress
) -> publishing.Published:
    """Publish all outputs at once. `inputs`: files that must not be written over."""
    progress("publish", 0, 1)
    published = publishing.publish(
        site=settings.site,
        site_files=outputs.site_files,
        recommendations=settings.recommendations,
        markdown=outputs.markdown,
        ids=analysed.ids,
        retired={one.id: one.title for one in analysed.report.retired},
        build_hash=outputs.build_hash,
        work=settings.work,
        adopt=settings.adopt,
        inputs=inputs,
    )
    progress("publish", 1, 1)
    return published
