"""The steps of a build that nothing is known of yet, each from what the one before it gave."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from reportgen import publish as publishing
from reportgen.beside import Beside
from reportgen.building import refuse_single
from reportgen.cache import BuildMade, Cache, MartsMade
from reportgen.cache import published as published_files
from reportgen.engine import in_memory, on_disk
from reportgen.errors import ExitCode, ReportgenError
from reportgen.found import Found
from reportgen.inputs.parts import Parts
from reportgen.inputs.sources import Inputs
from reportgen.loading import CostEvents, load, make_marts, open_warehouse, read_cost_events
from reportgen.marks import Marks, reading_key, take_marks
from reportgen.model import RejectedLine, Report
from reportgen.quickclass import dataclass
from reportgen.render import BUILD_HASH
from reportgen.settings import Settings
from reportgen.stages import Progress, Stages
from reportgen.warehouse import Warehouse

if TYPE_CHECKING:
    from reportgen.analysing import Analysed

#: A last line that is still being written is no fault of the file, even under `--strict`.
STILL_WRITTEN = "still being written"
#: How the folder in the work folder is named in which files are loaded.
_LOADING = "load-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Every file that is to be published, stamped with the one hash of them all."""

    site_files: Mapping[str, bytes]
    markdown: bytes
    build_hash: str
    #: The report as one page, where one is asked for.
    single: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a build made, and what it did to the outputs."""

    report: Report
    exit_code: int
    #: Rejected lines that `--strict` makes errors; 0 without it.
    rejected_errors: int
    published: publishing.Published


def make(
    settings: Settings,
    inputs: Inputs,
    paths: Sequence[Path],
    cache: Cache,
    marks: Marks | None,
    stages: Stages,
    progress: Progress,
) -> Made:
    """Make the outputs and publish them. `paths`: what must not be written over; `marks`: how all of it was before.

    Raises ReportgenError (exit 2) also where the disk is full or may not be written to: no output has changed then.
    """
    with on_disk(settings.work / "warehouse.duckdb"), in_memory():
        return _make(settings, inputs, paths, cache, marks, stages, progress)


def _make(
    settings: Settings,
    inputs: Inputs,
    paths: Sequence[Path],
    cache: Cache,
    marks: Marks | None,
    stages: Stages,
    progress: Progress,
) -> Made:
    with Beside(_import_the_rest):
        store, found, only = _marts(settings, inputs, cache, marks, stages, progress)
    from reportgen.analysing import analyse, with_retired

    with store:
        analysed = analyse(store, settings, inputs, found, only, progress, stages)

        def keep() -> None:
            with stages.stage("keep the warehouse", beside=True) as stage:
                store.keep()
                stage.bytes = (settings.work / "warehouse.duckdb").stat().st_size
                _keep_marts(settings, inputs, cache, marks, found, only)

        with Beside(keep):
            analysed = with_retired(settings, analysed)
            with stages.stage("render") as stage:
                outputs = render(settings, analysed, progress)
                stage.rows, stage.bytes = len(outputs.site_files) + 1, sum(map(len, outputs.site_files.values()))
    refuse_single(settings, paths, outputs.site_files)
    with stages.stage("publish") as stage:
        published = swap_in(settings, paths, analysed, outputs, progress)
        others = {settings.recommendations: outputs.markdown}
        if settings.single_file is not None and outputs.single is not None:
            others[settings.single_file] = outputs.single
            new = publishing.write_single(settings.single_file, outputs.single)
            published = replace(published, written=published.written + new, unchanged=published.unchanged + (not new))
        stage.rows = published.written
    errors = _rejected_errors(found.rejected)
    made = Made(
        report=analysed.report,
        exit_code=exit_code(settings, analysed.report, analysed.failed, errors),
        rejected_errors=errors if settings.strict else 0,
        published=published,
    )
    with stages.stage("note what it was made from"):
        _keep_build(settings, inputs, cache, marks, made, others)
    return made


def report_only(
    settings: Settings, inputs: Inputs, cache: Cache, marks: Marks | None, stages: Stages, progress: Progress
) -> tuple[Analysed, int]:
    """Return what a project's report says, and how many of its lines were rejected; no output is written.

    Raises ReportgenError as `make`.
    """
    from reportgen.analysing import analyse

    with on_disk(settings.work / "warehouse.duckdb"), in_memory():
        store, found, only = _marts(settings, inputs, cache, marks, stages, progress)
        with store:
            analysed = analyse(store, settings, inputs, found, only, progress, stages)
            with stages.stage("keep the warehouse"):
                store.keep()
                _keep_marts(settings, inputs, cache, marks, found, only)
    return analysed, _rejected_errors(found.rejected)


def _rejected_errors(rejected: Sequence[RejectedLine]) -> int:
    return sum(not line.reason.startswith(STILL_WRITTEN) for line in rejected)


def _import_the_rest() -> None:
    """Import what comes after the marts while DuckDB builds them: it needs no Python for that."""
    import reportgen.analysing
    import reportgen.render.markdown
    import reportgen.render.site  # noqa: F401
    from reportgen.render import pages, plotlyjs

    pages.warm()
    with contextlib.suppress(ReportgenError):
        # Whoever needs the script says what is wrong with it.
        plotlyjs.plotly_js()


def _marts(
    settings: Settings, inputs: Inputs, cache: Cache, marks: Marks | None, stages: Stages, progress: Progress
) -> tuple[Warehouse, Found, str | None]:
    """Return a warehouse that holds the marts: that of the last build, where they would be the same."""
    kept = None if marks is None else cache.marts(marks, full=settings.verify_cache)
    if kept is not None:
        with stages.stage("open the marts again") as stage, contextlib.suppress(ReportgenError):
            store = open_warehouse(settings, inputs, again=True)
            stage.bytes = (settings.work / "warehouse.duckdb").stat().st_size
            found = Found(
                inputs=kept.inputs,
                rejected=kept.rejected,
                notices=kept.notices,
                healing_present=kept.healing_present,
            )
            return store, found, kept.pipeline
    store = open_warehouse(settings, inputs)
    try:
        for left in settings.work.glob(f"{_LOADING}*"):
            # What a build that was killed had put there; nobody else works here while the folder is locked.
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=settings.work, prefix=_LOADING) as folder:
            with stages.stage("read the cost events") as stage:
                parts = Parts(settings.work / "parts", reading_key(settings), full=settings.verify_cache)
                events = read_cost_events(settings, inputs, store, Path(folder), progress, parts)
                stage.rows = events.read.events
                stage.bytes = sum(source.path.stat().st_size for source in inputs.events)
            with stages.stage("load"):
                found = _load_as_read(store, settings, inputs, events, marks, progress)
        with stages.stage("build the marts"):
            found, only = make_marts(store, settings, found, progress)
    except BaseException:
        store.close()
        raise
    return store, found, only


def _load_as_read(
    store: Warehouse,
    settings: Settings,
    inputs: Inputs,
    events: CostEvents,
    marks: Marks | None,
    progress: Progress,
) -> Found:
    """Load everything. An account that does not add up is nobody's fault where an input was changed meanwhile."""
    try:
        return load(store, settings, inputs, events, progress)
    except ReportgenError as error:
        if error.exit_code == ExitCode.FAULT and marks is not None:
            with contextlib.suppress(OSError):
                if take_marks(settings, inputs).are_as(marks, marts_only=True):
                    raise
            what = "an input was changed while it was read, so no report of one moment can be made"
            raise ReportgenError(error.where, what, "Run the build again.", ExitCode.NO_INPUT) from error
        raise


def _keep_marts(
    settings: Settings, inputs: Inputs, cache: Cache, marks: Marks | None, found: Found, only: str | None
) -> None:
    """Note what the marts were made from, unless that has changed since it was looked at."""
    with contextlib.suppress(OSError):
        if marks is not None and take_marks(settings, inputs).are_as(marks, marts_only=True):
            cache.keep_marts(
                MartsMade(
                    marks=marks,
                    warehouse=cache.warehouse_stamp(),
                    pipeline=only,
                    inputs=tuple(found.inputs),
                    rejected=tuple(found.rejected),
                    notices=tuple(found.notices),
                    healing_present=found.healing_present,
                )
            )


def _keep_build(
    settings: Settings,
    inputs: Inputs,
    cache: Cache,
    marks: Marks | None,
    made: Made,
    others: Mapping[Path, bytes],
) -> None:
    """Note what the outputs were made from, unless that has changed since it was looked at."""
    with contextlib.suppress(OSError):
        if marks is None or not take_marks(settings, inputs).are_as(marks):
            return
        outputs = published_files(settings.site, publishing.read_manifest(settings.site).files, others)
        cache.keep_build(
            marks,
            outputs,
            BuildMade(
                report=made.report,
                exit_code=made.exit_code,
                rejected_errors=made.rejected_errors,
                # The manifest is not counted among the outputs.
                outputs=len(outputs) - 1,
            ),
        )


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
    from reportgen.report import json as report_json

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


def exit_code(settings: Settings, report: Report, failed: Sequence[object], rejected: int) -> int:
    """Return the exit code of SPEC 9 of what was made; `rejected`: lines that `--strict` makes errors."""
    if failed or any(d.status == "error" for d in report.detectors) or (settings.strict and rejected):
        return ExitCode.DETECTOR_FAILED
    if settings.fail_on is not None and any(r.vfm.total >= settings.fail_on for r in report.recommendations):
        return ExitCode.SCORE_REACHED
    return ExitCode.DONE
