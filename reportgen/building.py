"""A build: settings and inputs, a look whether anything has changed, and if so, the steps in `making`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from reportgen import publish as publishing
from reportgen import published
from reportgen.cache import Cache
from reportgen.errors import ReportgenError
from reportgen.inputs.sources import Inputs, find_inputs, input_paths
from reportgen.marks import Marks, take_marks
from reportgen.model import Notice, Report
from reportgen.quickclass import dataclass
from reportgen.settings import Settings, load_settings
from reportgen.stages import Progress, Stage, Stages


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
    #: Where the time went.
    stages: tuple[Stage, ...] = ()
    #: Of several projects, those that are not in the report, and why.
    left_out: tuple[ReportgenError, ...] = ()
    #: What the exit code does not tell, and a reader of the site would wonder at.
    cautions: tuple[str, ...] = ()


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
    stages = Stages()
    with stages.stage("find the inputs"):
        settings = load_settings(Path(project), file=Path(settings_file) if settings_file else None, flags=flags)
        inputs = find_inputs(settings)
        paths = input_paths(settings, inputs)
        publishing.refuse_overlap(paths, settings.site, settings.recommendations, settings.work)
        refuse_single(settings, paths)
    with publishing.lock(settings.work, on_wait=tell):
        healed = publishing.recover(site=settings.site, recommendations=settings.recommendations, work=settings.work)
        if healed:
            tell(healed)
        cache = Cache(settings.work)
        with stages.stage("look for changes") as stage:
            marks = marks_of(settings, inputs)
            outputs = [settings.site / publishing.MANIFEST, settings.recommendations]
            outputs += [] if settings.single_file is None else [settings.single_file]
            same = None if marks is None else cache.unchanged(marks, outputs, full=settings.verify_cache)
            stage.rows = len(paths)
        if same is not None:
            return BuildResult(
                report=same.report,
                recommendations=settings.recommendations,
                site=settings.site,
                exit_code=same.exit_code,
                written=0,
                unchanged=same.outputs,
                removed=0,
                kept=(),
                rejected_errors=same.rejected_errors,
                notices=tuple(same.report.notices),
                single_file=settings.single_file,
                stages=stages.all(),
            )
        with stages.stage("import what makes them"):
            from reportgen import making
        sources, before = published.sources_of(settings.site), publishing.read_manifest(settings.site).files
        events = published.events_of(settings.site) if not inputs.events else []
        made = making.make(settings, inputs, paths, cache, marks, stages, progress or (lambda *_: None))
        gone = before.keys() - publishing.read_manifest(settings.site).files.keys() if sources or events else set()
        caution = published.left_out(sources, settings.source, gone) or published.events_left_out(events, gone)
    return BuildResult(
        report=made.report,
        recommendations=settings.recommendations,
        site=settings.site,
        exit_code=made.exit_code,
        written=made.published.written,
        unchanged=made.published.unchanged,
        removed=made.published.removed,
        kept=made.published.kept,
        rejected_errors=made.rejected_errors,
        notices=tuple(made.report.notices),
        single_file=settings.single_file,
        stages=stages.all(),
        cautions=() if caution is None else (caution,),
    )


def marks_of(settings: Settings, inputs: Inputs) -> Marks | None:
    """Return what the inputs look like now; None where one of them can't be looked at."""
    try:
        return take_marks(settings, inputs, full=settings.verify_cache)
    except OSError:
        # What can't be looked at can't be known to be the same; who reads it will say what is wrong.
        return None


def refuse_single(settings: Settings, inputs: Sequence[Path], site_files: Iterable[str] = ()) -> None:
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
