"""Settings and flags, as one frozen value that every room reads."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from reportgen import settings_table as table
from reportgen import tomlfile
from reportgen.errors import ReportgenError
from reportgen.quickclass import dataclass
from reportgen.settings_file import TEACH, Problem, read_settings_text
from reportgen.settings_values import near

FILE_NAME = "reportgen.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a build works with: `reportgen.toml`, then flags over it. Paths are absolute; globs are as written."""

    project: Path
    #: The settings file that was read, if any (for messages).
    file: Path | None = None
    #: Paths or globs, relative to the project; empty: the default places of SPEC 1.
    events: tuple[str, ...] = ()
    #: Tools whose sessions are read from where they keep them.
    source: tuple[str, ...] = ()
    feedback: tuple[str, ...] = ()
    healing_log: str | None = None
    budget: str | None = None
    #: Whether rows of one session are its running totals: where they prove it, always, never.
    running_totals: Literal["auto", "always", "never"] = "auto"
    #: Outputs; the defaults are `RECOMMENDATIONS.md` and `site` in the project.
    recommendations: Path
    site: Path
    #: The report as one page, where one is asked for.
    single_file: Path | None = None
    run_gap: timedelta = timedelta(minutes=30)
    #: A feedback score below this is low, and an agent whose mean is below it is flagged.
    score_flag: Decimal = Decimal(60)
    redact: bool = True
    #: First instant and last instant looked at, both included, UTC. A date given for the end means its whole day.
    since: datetime | None = None
    until: datetime | None = None
    window: timedelta | None = None
    #: "Now is this": nothing later is seen.
    as_of: datetime | None = None
    pipeline: str | None = None
    #: The project's name, for titles; empty: none.
    title: str = ""
    #: How far one detector may go: its time, its findings, and the memory of a query as DuckDB takes it. And how many
    #: pages the site may get for agents, pipelines and findings.
    detector_seconds: int = 30
    detector_findings: int = 10_000
    pages: int = 10_000
    memory: str = "2GB"
    #: Agents that a pipeline is meant to have, by pipeline name as written.
    roster: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: Parameters per detector id, as written in TOML with numbers read exactly.
    parameters: dict[str, dict[str, Decimal | int | str | bool]] = field(default_factory=dict)
    #: Detectors that the settings switch off, and those that they switch on; for all others their files say it.
    disabled: frozenset[str] = frozenset()
    enabled: frozenset[str] = frozenset()
    #: Own names for canonical event fields, tried before the built-in ones: `{"agent": ("worker",)}`.
    fields: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: Whether costs that are not told are priced by the list, and a project's own prices: dollars for a million tokens.
    price_list: bool = True
    prices: dict[str, dict[str, Decimal]] = field(default_factory=dict)
    strict: bool = False
    adopt: bool = False
    fail_on: int | None = None
    #: Whether what was kept from the last build is trusted only where the whole content of every input is the same.
    verify_cache: bool = False
    #: The work folder where it is not the project's own: one of several projects, in whose folder nothing is written.
    work_elsewhere: Path | None = None

    @property
    def work(self) -> Path:
        """The hidden work folder, which may be deleted at any time."""
        return self.work_elsewhere or self.project / ".reportgen"


def load_settings(project: Path, *, file: Path | None = None, flags: Mapping[str, object] | None = None) -> Settings:
    """Read the project's settings file, lay the flags over it, and check both.

    `file` (relative to the current directory) takes the place of `reportgen.toml` in the project; without either, the
    defaults hold. `flags` are named as the fields of `Settings`; None and empty values are flags not given. Relative
    paths in flags start at the current directory, those of the file at the project. Raises ReportgenError, exit 2,
    that names every problem found at once; TypeError for a flag that does not exist.
    """
    home = _project(project)
    source = _settings_file(home, file)
    problems: list[Problem] = []
    values: dict[str, Any] = {}
    if source is not None:
        shown = _shown(source, home, file)
        values = read_settings_text(tomlfile.read_text(source, shown), shown, problems)
    given = _read_flags(flags or {}, home, problems)
    # A flag for one end of the period takes the place of the file's other way to say it.
    for mine, other in (("since", "window"), ("window", "since")):
        if mine in given and other not in given:
            values.pop(other, None)
    values.update(given)
    for name, default in (("recommendations", "RECOMMENDATIONS.md"), ("site", "site")):
        values[name] = _tidy(home / values.get(name, default))
    if "single_file" in values:
        values["single_file"] = _tidy(home / values["single_file"])
    settings = Settings(project=home, file=source, **values)
    problems = problems or list(_check(settings, given))
    if problems:
        raise _error(problems)
    return settings


def locate(settings: Settings, *keys: str) -> str:
    """Return `reportgen.toml:12`, where that key or table is written, for a problem that is found only later.

    `locate(settings, "detectors", "cost_outlier", "min_ratio")`. Without a file or the key: the best there is.
    """
    if settings.file is None:
        return ".".join(keys)
    name = _shown(settings.file, settings.project, None)
    line = tomlfile.key_lines(tomlfile.read_text(settings.file, name)).get(keys)
    return f"{name}:{line}" if line else name


def _project(project: Path) -> Path:
    try:
        if Path(project).is_dir():
            return Path(project).resolve()
        what = "is a file, not a project directory" if Path(project).exists() else "no such directory"
    except OSError as error:
        what = f"can't be opened ({error.strerror})"
    raise ReportgenError(
        str(project), what, "Name the directory that holds the inputs; a glob for a flag stands in quotes."
    )


def _settings_file(home: Path, file: Path | None) -> Path | None:
    if file is not None:
        return Path(os.path.abspath(file))  # noqa: PTH100 - links stay as they are named
    default = home / FILE_NAME
    # A link that leads nowhere is a mistake to tell of, not a file that is absent.
    return default if default.exists() or default.is_symlink() else None


def _tidy(path: Path) -> Path:
    """Return the path without `..`, where that names the same place: behind a link it may not."""
    tidy = Path(os.path.normpath(path))
    return tidy if tidy.resolve() == path.resolve() else path


def _shown(source: Path, home: Path, given: Path | None) -> str:
    return source.relative_to(home).as_posix() if source.is_relative_to(home) else str(given or source)


# --- flags ----------------------------------------------------------------------------------------------------------

_FLAGS = {s.field: (s.flag, s.reads) for s in table.SETTINGS if s.flag} | table.FLAG_ONLY
_PATH_FLAGS = frozenset({"events", "feedback", "healing_log", "budget", "recommendations", "site", "single_file"})


def _read_flags(flags: Mapping[str, object], home: Path, problems: list[Problem]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name, value in flags.items():
        if name not in _FLAGS:
            raise TypeError(f"unknown option {name!r}{near(name, _FLAGS)}")
        if value is None or (isinstance(value, (tuple, list)) and not value):
            continue
        flag, reads = _FLAGS[name]
        try:
            given[name] = reads(value)
        except ValueError as error:
            problems.append(Problem(flag, str(error), "`reportgen build --help` shows an example."))
            continue
        if name in _PATH_FLAGS:
            found = given[name]
            given[name] = (
                tuple(_from_here(p, home) for p in found) if isinstance(found, tuple) else _from_here(found, home)
            )
    return given


def _from_here(path: str, home: Path) -> str:
    """Return a path or glob of the current directory as one of the project, without following `..` or links in it."""
    if Path(path).is_absolute():
        return path
    prefix = Path(os.path.relpath(Path.cwd().resolve(), home)).as_posix()
    if prefix == ".":
        return path
    return f"{glob.escape(prefix) if any(c in path for c in '*?[') else prefix}/{path}"


# --- both together --------------------------------------------------------------------------------------------------


def _check(settings: Settings, given: Mapping[str, object]) -> Iterator[Problem]:
    """Yield what is wrong with values that are fine one by one."""

    def where(name: str) -> str:
        if name in given or settings.file is None:
            return _FLAGS[name][0]
        setting = next(s for s in table.SETTINGS if s.field == name)
        return locate(settings, setting.table, setting.key)

    since = settings.since
    if since and settings.window:
        yield Problem(where("window"), "window and since both say where the period starts", "Give one of the two.")
    for name, last in (("until", settings.until), ("as_of", settings.as_of)):
        if since and last and since > last:
            what = f"since ({since.isoformat()}) is after {name} ({last.isoformat(timespec='seconds')})"
            yield Problem(where("since"), what, "Nothing lies between them: swap them, or leave one out.")


def _error(problems: list[Problem]) -> ReportgenError:
    if len(problems) == 1:
        return ReportgenError(*problems[0])
    files = {p.where.rsplit(":", 1)[0] for p in problems}
    lines = [f"{p.where}: {p.what}{f'. {p.next_step}' if p.next_step not in ('', TEACH) else ''}" for p in problems]
    return ReportgenError(
        files.pop() if len(files) == 1 else "settings", "\n  ".join([f"{len(problems)} problems", *lines]), TEACH
    )
