"""One report of several projects, `reportgen build A B C`: each is read as its own report would be, and then merged.

Nothing is written into the projects' folders: what a build keeps for the next one is kept in the work folder of the
place where the merged report is written.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from reportgen import publish as publishing
from reportgen.building import BuildResult, marks_of, refuse_single
from reportgen.cache import Cache
from reportgen.chartfiles import ChartFailed
from reportgen.errors import ExitCode, ReportgenError
from reportgen.inputs.sources import find_inputs, input_paths, shown_name
from reportgen.mergedtables import Tables, merged_tables
from reportgen.model import Notice, Report, Retired
from reportgen.naming import Given, named, project_name, read_arguments
from reportgen.published import hash_of
from reportgen.quickclass import dataclass
from reportgen.redact import redact
from reportgen.render import BUILD_HASH
from reportgen.render.format import show
from reportgen.report.exported import Exported, read_export
from reportgen.report.merge import merge
from reportgen.report.renaming import SEPARATOR, Project
from reportgen.settings import FILE_NAME, Settings, load_settings
from reportgen.stages import Progress, Stages
from reportgen.tables import TableFailed

#: Flags that say what one project's report is made of, or shows.
_OF_ONE = {
    "pipeline": "--pipeline",
    "events": "--events",
    "source": "--source",
    "feedback": "--feedback",
    "healing_log": "--healing-log",
    "budget": "--budget",
    "settings_file": "--config",
}
#: Flags that say how every project is looked at. A finished report can't be looked at in another way.
_OF_EACH = {"since": "--since", "until": "--until", "window": "--window", "as_of": "--as-of"}
#: The folder in the work folder in which each project has a work folder of its own.
_WORK = "projects"
#: From the code that comes before all others.
_CODES = (ExitCode.USAGE, ExitCode.NO_INPUT, ExitCode.DETECTOR_FAILED, ExitCode.SCORE_REACHED)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One project as it was read."""

    given: Given
    #: The title that it gives itself; empty: none.
    title: str
    report: Report
    files: Mapping[str, Callable[[], bytes]]
    #: Detectors apart, what could not be made.
    failed: Sequence[ChartFailed | TableFailed]
    rejected_errors: int
    notices: Sequence[Notice] = ()


def build_several(
    projects: Sequence[str | Path],
    *,
    settings_file: str | Path | None = None,
    progress: Progress | None = None,
    on_message: Callable[[str], None] | None = None,
    **flags: object,
) -> BuildResult:
    """Build one report of several projects, in the current directory or where the flags say.

    Each of `projects` is a project's folder, a `report.json`, or a folder of a site that holds one; `NAME=PATH` names
    it. `flags` are named as the fields of `Settings`; those of one project only are refused. A project that can't be
    read is left out, and the report says so: its exit code comes before those of the others.

    Raises ReportgenError as `build`, and with a project's own error where none of them can be read.
    """
    given = read_arguments(projects)
    _refuse_flags({**flags, "settings_file": settings_file}, given)
    tell = on_message or (lambda _: None)
    show_progress = progress or (lambda *_: None)
    stages = Stages()
    settings = load_settings(Path(), flags=flags)
    # What is read must not be written over, whether it turns out to be readable or not.
    paths = [path for one in given for path in one.files()]
    read: dict[str, str] = {}
    for one in given:
        if one.export is None:
            paths += _inputs_of(one, settings, flags, read)
            _refuse_own_site(one, given, settings, flags)
            # Of each project hold the limits that a report of it alone would have, too.
            publishing.refuse_overlap((), settings.site, settings.recommendations, one.path / ".reportgen")
    publishing.refuse_overlap(paths, settings.site, settings.recommendations, settings.work)
    refuse_single(settings, paths)
    with publishing.lock(settings.work, on_wait=tell):
        healed = publishing.recover(site=settings.site, recommendations=settings.recommendations, work=settings.work)
        if healed:
            tell(healed)
        parts, left_out = _read(given, settings, flags, stages, show_progress)
        return _build(settings, given, parts, left_out, paths, stages, show_progress)


def _refuse_flags(flags: Mapping[str, object], given: Sequence[Given]) -> None:
    def is_given(name: str) -> bool:
        return flags.get(name) not in (None, (), [], "", False)

    for name, flag in _OF_ONE.items():
        if is_given(name):
            what = f"says what one project's report is made of, and {len(given)} projects are named"
            raise ReportgenError(flag, what, "Build one project with it, or say it in that project's reportgen.toml.")
    exports = [one.shown for one in given if one.export is not None]
    for name, flag in _OF_EACH.items():
        if is_given(name) and exports:
            what = f"can't be applied to {exports[0]}, which is a finished report"
            raise ReportgenError(flag, what, "Build that report with the flag, where its inputs are, or leave it out.")


def _settings_of(one: Given, settings: Settings, flags: Mapping[str, object]) -> Settings:
    """Return the project's own settings; only how it is looked at comes from the flags."""
    kept = {name: flags[name] for name in (*_OF_EACH, "redact", "verify_cache") if name in flags}
    own = load_settings(one.path, flags=kept)
    digest = hashlib.sha256(str(own.project).encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return replace(own, work_elsewhere=settings.work / _WORK / digest)


def _inputs_of(one: Given, settings: Settings, flags: Mapping[str, object], read: dict[str, str]) -> list[Path]:
    """Return what a project reads. Raises ReportgenError for cost events that another reads, too.

    `read`: the files of cost events of those before it, each with the project that reads it; the project's are added.
    """
    try:
        own = _settings_of(one, settings, flags)
        inputs = find_inputs(own)
    except ReportgenError:
        # Told when it is read.
        return []
    for source in inputs.events:
        # A hard link is the same file, too.
        status = source.path.stat()
        other = read.setdefault(f"{status.st_dev} {status.st_ino}", one.shown)
        if other != one.shown:
            what = f"reads {shown_name(source, redacted=own.redact)}, which {other} reads, too"
            raise ReportgenError(one.shown, what, "Let one of them read it: its costs would count twice.")
    return input_paths(own, inputs)


def _refuse_own_site(one: Given, given: Sequence[Given], settings: Settings, flags: Mapping[str, object]) -> None:
    """Refuse a finished report that is the site of a project which is named, too."""
    try:
        site = _settings_of(one, settings, flags).site.resolve()
    except ReportgenError:
        # Told when it is read.
        return
    for other in given:
        if other.export is not None and other.export.resolve().is_relative_to(site):
            what = f"is the report of {one.shown}, which is named, too"
            raise ReportgenError(other.shown, what, "Name each project once: its costs would count twice.")


def _read(
    given: Sequence[Given], settings: Settings, flags: Mapping[str, object], stages: Stages, progress: Progress
) -> tuple[list[_Part], list[tuple[Given, ReportgenError]]]:
    parts: list[_Part] = []
    left_out: list[tuple[Given, ReportgenError]] = []
    works: set[Path] = set()
    hashes: dict[str, str] = {}
    for one in given:
        try:
            with stages.stage(f"read {one.shown}"):
                if one.export is not None:
                    export = read_export(one.export, one.shown)
                    _refuse_again(one, export.report.build.hash, hashes)
                    parts.append(_from_export(one, settings, export))
                else:
                    own = _settings_of(one, settings, flags)
                    works.add(own.work)
                    _refuse_again(one, hash_of(own.site), hashes)
                    parts.append(_from_inputs(one, own, progress))
        except ReportgenError as error:
            if error.exit_code == ExitCode.FAULT or isinstance(error, _TwiceError):
                raise
            if one.export is None and error.where.startswith(FILE_NAME):
                error = ReportgenError(f"{one.shown}/{error.where}", error.what, error.next_step, error.exit_code)
            left_out.append((one, error))
    if not parts:
        raise min((error for _, error in left_out), key=lambda error: _rank(error.exit_code))
    for left in (settings.work / _WORK).glob("*"):
        # Of a project that is no longer named.
        if left not in works:
            shutil.rmtree(left, ignore_errors=True)
    return parts, left_out


class _TwiceError(ReportgenError):
    """Two of the projects are one."""


def _refuse_again(one: Given, build_hash: str | None, hashes: dict[str, str]) -> None:
    """Refuse a report that is a copy of another one, or of the report of a project that is named, too."""
    if build_hash and (other := hashes.setdefault(build_hash, one.shown)) != one.shown:
        what = f"is the same report as that of {other}"
        raise _TwiceError(one.shown, what, "Name each project once: its costs would count twice.")


def _from_inputs(one: Given, own: Settings, progress: Progress) -> _Part:
    from reportgen import making

    own.work.mkdir(parents=True, exist_ok=True)
    inputs = find_inputs(own)
    marks = marks_of(own, inputs)
    analysed, rejected = making.report_only(own, inputs, Cache(own.work), marks, Stages(), progress)
    return _Part(
        given=one,
        title=analysed.report.build.project,
        report=analysed.report,
        files=analysed.csvs,
        failed=analysed.failed,
        rejected_errors=rejected,
    )


def _from_export(one: Given, settings: Settings, export: Exported) -> _Part:
    report = export.report
    if settings.redact and not report.build.redacted:
        what = "was built with --no-redact, so it may hold secrets"
        raise ReportgenError(one.shown, what, "Build it again without that flag, or give it here too.")
    return _Part(
        given=one,
        title=report.build.project,
        report=report,
        files=export.files,
        failed=(),
        rejected_errors=export.rejected_errors,
        notices=export.notices,
    )


def _rank(code: int) -> int:
    return _CODES.index(ExitCode(code)) if code in _CODES else len(_CODES)


def _build(
    settings: Settings,
    given: Sequence[Given],
    parts: Sequence[_Part],
    left_out: Sequence[tuple[Given, ReportgenError]],
    paths: Sequence[Path],
    stages: Stages,
    progress: Progress,
) -> BuildResult:
    from reportgen import making
    from reportgen.analysing import Analysed, refuse_pages

    titles = {part.given.shown: part.title for part in parts}
    # Where the current directory is one of the projects, its title is its own.
    title = "" if any(one.path.resolve() == settings.project for one in given) else settings.title
    names = named([(one, titles.get(one.shown, "")) for one in given], redacted=settings.redact)
    with stages.stage("merge"):
        merged, pairs = merge(
            [Project(name=names[part.given.shown], report=part.report) for part in parts],
            title=project_name(title, [names[part.given.shown] for part in parts], redacted=settings.redact),
            notices=list(_notices(names, parts, left_out, redacted=settings.redact)),
        )
        agents = len({one.slug for one in merged.agents})
        refuse_pages(settings, agents, len(merged.pipelines), len(merged.recommendations))
        files = {names[part.given.shown]: part.files for part in parts}
        tables, csvs = merged_tables(
            merged, [Tables(names=who, report=report, files=files[who.project]) for report, who in pairs]
        )
        ids = {one.id: one.title for one in merged.recommendations}
        unseen, retired = _retired(settings, ids, {who.slug: report for report, who in pairs})
        build = replace(merged.build, hash=BUILD_HASH)
        merged = replace(merged, build=build, tables=tables, retired=_both(retired, merged.retired))
    failed = [one for part in parts for one in part.failed]
    analysed = Analysed(report=merged, ids={**unseen, **ids}, failed=failed, csvs=csvs)
    with stages.stage("render") as stage:
        outputs = making.render(settings, analysed, progress)
        stage.rows = len(outputs.site_files) + 1
    refuse_single(settings, paths, outputs.site_files)
    with stages.stage("publish"):
        published = making.swap_in(settings, paths, analysed, outputs, progress)
        if settings.single_file is not None and outputs.single is not None:
            new = publishing.write_single(settings.single_file, outputs.single)
            published = replace(published, written=published.written + new, unchanged=published.unchanged + (not new))
    errors = sum(part.rejected_errors for part in parts)
    codes = [making.exit_code(settings, merged, failed, errors), *(error.exit_code for _, error in left_out)]
    return BuildResult(
        report=merged,
        recommendations=settings.recommendations,
        site=settings.site,
        exit_code=min(codes, key=_rank),
        written=published.written,
        unchanged=published.unchanged,
        removed=published.removed,
        kept=published.kept,
        rejected_errors=errors if settings.strict else 0,
        notices=tuple(merged.notices),
        single_file=settings.single_file,
        stages=stages.all(),
        left_out=tuple(error for _, error in left_out),
    )


def _notices(
    names: Mapping[str, str],
    parts: Sequence[_Part],
    left_out: Sequence[tuple[Given, ReportgenError]],
    *,
    redacted: bool,
) -> Iterator[Notice]:
    """Yield what a reader must know of the projects themselves, by their names."""
    for one, error in sorted(left_out, key=lambda pair: names[pair[0].shown]):
        what = f"{error.where}: {error.what}" if error.where else error.what
        message = f"{names[one.shown]} is not in this report: {redact(what) if redacted else what}"
        yield Notice(code="project-left-out", message=message)
    for part in sorted(parts, key=lambda part: names[part.given.shown]):
        name, report = names[part.given.shown], part.report
        if not report.pipelines:
            yield Notice(code="project-empty", message=f"{name} holds no data, so nothing here is told of it")
        for notice in part.notices:
            yield replace(notice, message=f"{name}: {notice.message}")
        if report.build.pipeline_filter is not None:
            what = f"{name} is here with one pipeline only, as its report was built with --pipeline"
            yield Notice(code="project-part", message=what)
        events, runs = sum(one.events for one in report.pipelines), sum(one.runs for one in report.pipelines)
        counts = [show(len(report.pipelines), "pipelines"), show(runs, "runs"), show(events, "events")]
        span = "nothing has a date"
        if report.period.first is not None:
            span = f"{report.period.first[:10]} to {str(report.period.last)[:10]}"
        made = "a finished report" if part.given.export is not None else "its own inputs"
        message = f"{name}: {', '.join(counts)}, {span}; from {made}"
        yield Notice(code="project", message=message, severity="info")


def _retired(
    settings: Settings, ids: Mapping[str, str], reports: Mapping[str, Report]
) -> tuple[dict[str, str], list[Retired]]:
    """Return what the published site names and this report does not: what may come back, and what no longer holds.

    `reports`: each project's own report by the project's slug. What its detector did not look for has not gone away.
    """
    manifest = publishing.read_manifest(settings.site)
    looked = {
        slug: [d.detector.replace("_", "-") + "-" for d in report.detectors if d.status in ("found", "clear")]
        for slug, report in reports.items()
    }

    def is_looked_for(key: str) -> bool:
        old, _, slug = key.rpartition(SEPARATOR)
        return any(old.startswith(detector) for detector in looked.get(slug, ()))

    own = {key: title for key, title in manifest.ids.items() if SEPARATOR in key and key not in ids}
    older = {key: title for key, title in manifest.retired.items() if SEPARATOR in key}
    unseen = {key: title for key, title in own.items() if not is_looked_for(key)}
    gone = publishing.retire(replace(manifest, ids=own, retired=older), {**unseen, **ids})
    return unseen, [Retired(id=key, title=title) for key, title in gone.items()]


def _both(ours: Sequence[Retired], theirs: Sequence[Retired]) -> list[Retired]:
    return sorted({one.id: one for one in (*theirs, *ours)}.values(), key=lambda one: one.id)
