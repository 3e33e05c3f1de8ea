"""Which files a build reads: named ones, or the default places of SPEC 1."""

from __future__ import annotations

import glob
import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from reportgen.errors import ExitCode, ReportgenError
from reportgen.inputs.lines import content_digest
from reportgen.inputs.sessions import (
    DATABASE,
    ENDINGS,
    HOMES,
    TOOLS,
    files_below,
    has_sessions,
    homes,
    opencode_roots,
    session_files,
)
from reportgen.inputs.sqlitefile import is_beside_database
from reportgen.model import InputKind, Notice
from reportgen.quickclass import dataclass
from reportgen.redact import redact
from reportgen.settings import Settings

_PACKED = ("", ".gz", ".zst")
_PLACES: dict[InputKind, tuple[str, ...]] = {
    "events": ("budget/cost-events.jsonl", "cost-events.jsonl"),
    "feedback": ("FEEDBACK.md", "feedback/FEEDBACK.md"),
    "healing": ("healing-log.jsonl",),
    "budget": ("BUDGET.md",),
}
_SAID: dict[InputKind, str] = {
    "events": "cost events",
    "feedback": "feedback",
    "healing": "the healing log",
    "budget": "the budget",
}
#: Content is compared by its beginning first, so that different files are not read twice.
_FIRST_BYTES = 64 * 1024
_PROJECT_FOLDER = re.compile(r"\A(?:-|[A-Za-z]--)[^.]*\Z")


@dataclass(frozen=True, slots=True)
class Source:
    """One input file. `name` is its path relative to the project (posix), or as given where it is outside."""

    path: Path
    name: str
    kind: InputKind


@dataclass(frozen=True, slots=True)
class Inputs:
    """All the files of a build."""

    events: tuple[Source, ...]
    feedback: tuple[Source, ...]
    healing: Source | None
    budget: Source | None
    notices: tuple[Notice, ...]


def default_places() -> list[str]:
    """Return every path, relative to the project, at which an input is found that no setting names."""
    return [place + packed for places in _PLACES.values() for place in places for packed in _PACKED]


def shown_name(source: Source, *, redacted: bool = True) -> str:
    """Return the source's name as it may be shown."""
    if not redacted:
        return source.name
    # Claude Code names the folder of a project's sessions by the project's whole path.
    parts = [_PROJECT_FOLDER.sub(_project, part) for part in source.name.split("/")]
    return redact("/".join(parts))


def _project(found: re.Match[str]) -> str:
    return f"project-{hashlib.sha256(found.group().encode('utf-8', 'replace')).hexdigest()[:6]}"


def find_inputs(settings: Settings) -> Inputs:
    """Find what the settings name, else what stands in the default places.

    Raises ReportgenError (exit 3) where there are neither cost events nor feedback, or where a file that is named or
    found is missing, a directory or unreadable.
    """
    finder = _Finder(settings)
    healing = finder.find("healing", () if settings.healing_log is None else (settings.healing_log,))
    budget = finder.find("budget", () if settings.budget is None else (settings.budget,))
    finder.others = frozenset(source.path.resolve() for source in (*healing, *budget))
    if settings.source:
        own = [source for tool in settings.source for source in finder.sessions(tool)]
        events = (*(finder.find("events", settings.events) if settings.events else ()), *own)
    else:
        events = finder.find("events", settings.events)
    feedback = finder.find("feedback", settings.feedback)
    if not events and not feedback:
        # What somebody has who has nothing yet comes first.
        tools = [tool for tool in TOOLS if has_sessions(tool)]
        first = "Write"
        if tools:
            first = f"Sessions of {tools[0]} are on this machine: reportgen build --source {tools[0]}. Or write"
        last = "" if tools else "; or read your own sessions of Claude Code: --source claude-code"
        raise ReportgenError(
            _shown(settings, str(settings.project)),
            "neither cost events nor feedback found",
            f"{first} one JSON object for each tool call to budget/cost-events.jsonl, for example"
            ' {"timestamp": "2026-11-03T09:14:07Z", "agent": "writer", "tool_name": "Edit", "estimated_tokens": 420},'
            " or one row for each reviewed run to FEEDBACK.md, with the columns"
            f" Date, Pipeline, Agent, Score, Issue, Resolution, Pattern; or name other files: --events, --feedback"
            f"{last}.",
            ExitCode.NO_INPUT,
        )
    return Inputs(
        events=finder.once(events),
        feedback=finder.once(feedback),
        healing=next(iter(healing), None),
        budget=next(iter(budget), None),
        notices=tuple(finder.notices),
    )


def input_paths(settings: Settings, inputs: Inputs) -> list[Path]:
    """Return every file that is read, the settings file last: what no output may be written over."""
    single = [source for source in (inputs.healing, inputs.budget) if source is not None]
    sources = [*inputs.events, *inputs.feedback, *single]
    # Where an input would be looked for next time, an output must not lie either.
    places = ("budget/cost-events.jsonl", "cost-events.jsonl", "FEEDBACK.md", "feedback/FEEDBACK.md",
              "healing-log.jsonl", "BUDGET.md", "reportgen.toml")  # fmt: skip
    default = [settings.project / place for place in places]
    return [source.path for source in sources] + default + ([settings.file] if settings.file else [])


def _shown(settings: Settings, name: str) -> str:
    return redact(name) if settings.redact else name


class _Finder:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.notices: list[Notice] = []
        #: Inputs of other kinds, which a glob for cost events must not take along.
        self.others: frozenset[Path] = frozenset()

    def find(self, kind: InputKind, named: Sequence[str]) -> tuple[Source, ...]:
        if not named:
            return self._default(kind)
        found: dict[str, Source] = {}
        for entry in named:
            for source in self._named(kind, entry):
                found.setdefault(source.name, source)
        return tuple(found[name] for name in sorted(found))

    def sessions(self, tool: str) -> Iterator[Source]:
        """Yield the files in which a tool keeps its sessions, named without the path of anything."""
        # The first folder of Claude Code is the path of a project, with dashes.
        skipped = 1 if tool == "claude-code" else 0
        found: dict[str, list[Path]] = {}
        for path, root in self._sessions(tool):
            inside = path.relative_to(root).parts[skipped:] or (path.name,)
            found.setdefault("/".join((tool, *inside)), []).append(path)
        if not found:
            looked = ", ".join(_shown(self._settings, str(root)) for root in TOOLS[tool]())
            step = f"Set {HOMES[tool]} to its folder, or name the files: --events."
            if tool == "opencode" and any((root / "storage").is_dir() for root in opencode_roots()):
                step = "Start a current opencode once: it moves its sessions from the files in storage/ to a database."
            raise ReportgenError("--source", f"no session of {tool} found in {looked}", step, ExitCode.NO_INPUT)
        for name, paths in sorted(found.items()):
            for number, path in enumerate(paths, 1):
                yield self._checked("events", path, name if number == 1 else f"{name} ({number})", outside=True)

    def _sessions(self, tool: str) -> list[tuple[Path, Path]]:
        try:
            for home in homes(tool):
                if not home.exists():
                    # A home of somebody else, perhaps, whose disk is not there today.
                    where = _shown(self._settings, str(home))
                    what = f"{HOMES[tool]} names {where}, which is not there: what it holds is missing here."
                    self.notices.append(Notice(code="sessions-missing", message=what))
            return list(session_files(tool))
        except OSError as error:
            raise self._closed(error, tool) from error

    def _closed(self, error: OSError, asked: str) -> ReportgenError:
        what = f"can't be looked into: {error.strerror or error}, so that what it holds would be missing"
        where = _shown(self._settings, os.fsdecode(error.filename)) if error.filename else asked
        return ReportgenError(where, what, "See to its permissions, or name other files: --events.", ExitCode.NO_INPUT)

    def once(self, sources: Iterable[Source]) -> tuple[Source, ...]:
        """Keep one of the sources that are one file, or whose content is the same."""
        kept: list[Source] = []
        files: dict[tuple[int, int], Source] = {}
        for source in sources:
            info = source.path.stat()
            same = files.setdefault((info.st_dev, info.st_ino), source)
            if same is source:
                kept.append(source)
            else:
                self._note("input-named-twice", source, f"The same file as {self._name(same)}; it was read once.")
        return self._different(kept)

    def _different(self, sources: Sequence[Source]) -> tuple[Source, ...]:
        beginnings: dict[bytes, list[Source]] = {}
        if len(sources) > 1:
            for source in sources:
                beginnings.setdefault(self._digest(source, _FIRST_BYTES), []).append(source)
        repeated: set[Source] = set()
        for alike in beginnings.values():
            if len(alike) == 1:
                continue
            first: dict[bytes, Source] = {}
            for source in alike:
                same = first.setdefault(self._digest(source), source)
                if same is not source:
                    repeated.add(source)
                    self._note(
                        "input-same-content", source, f"The content is that of {self._name(same)}; it was read once."
                    )
        return tuple(source for source in sources if source not in repeated)

    def _digest(self, source: Source, first: int | None = None) -> bytes:
        try:
            return content_digest(source.path, first)
        except OSError as error:
            raise self._problem(source.name, f"can't be read: {error.strerror or error}") from error

    def _default(self, kind: InputKind) -> tuple[Source, ...]:
        found = [
            place + packed
            for place in _PLACES[kind]
            for packed in _PACKED
            if os.path.lexists(self._settings.project / (place + packed))
        ]
        if not found:
            return ()
        source = self._checked(kind, self._settings.project / found[0], found[0])
        if len(found) > 1:
            others = ", ".join(found[1:])
            self._note("input-not-read", source, f"{others} stands in a default place too; only this file was read.")
        return (source,)

    def _named(self, kind: InputKind, entry: str) -> list[Source]:
        written = Path(entry).expanduser()
        path = self._settings.project / written
        if kind == "events" and path.is_dir():
            return self._folder(path, entry)
        if os.path.lexists(path) or not glob.has_magic(entry):
            return [self._checked(kind, path, entry)]
        # Relative to a root, so that brackets in the project's own path are no pattern.
        matches = glob.glob(str(written), root_dir=self._settings.project, recursive=True)  # noqa: PTH207
        files = [(self._settings.project / match, match) for match in matches]
        files = [
            (path, match)
            for path, match in files
            if not path.is_dir() and not self._own(path) and not is_beside_database(path)
        ]
        if not files:
            raise self._problem(entry, f"the pattern for {_SAID[kind]} matches no file")
        return [self._checked(kind, path, match) for path, match in files]

    def _folder(self, folder: Path, entry: str) -> list[Source]:
        try:
            below = files_below(folder)
        except OSError as error:
            raise self._closed(error, entry) from error
        files = [path for path in below if path.name.endswith(ENDINGS) or DATABASE.fullmatch(path.name)]
        files = [path for path in files if path.is_file() and not self._own(path)]
        if not files:
            raise self._problem(entry, "is a directory without a .jsonl file or a database of opencode in it")
        return [
            self._checked("events", path, f"{entry.rstrip('/')}/{path.relative_to(folder).as_posix()}")
            for path in files
        ]

    def _own(self, path: Path) -> bool:
        """Say whether a match of a glob is an output, or an input of another kind."""
        real = path.resolve()
        outputs = (self._settings.site, self._settings.work)
        return (
            real in self.others
            or real == self._settings.recommendations.resolve()
            or any(real.is_relative_to(folder.resolve()) for folder in outputs)
        )

    def _checked(self, kind: InputKind, path: Path, given: str, *, outside: bool = False) -> Source:
        """Return the source, opened once to be sure that it can be read. `outside`: it is named as it is given."""
        name = given if outside else self._relative(path, given)
        try:
            mode = path.stat().st_mode
            if stat.S_ISDIR(mode):
                raise self._problem(name, f"{_SAID[kind]} must be a file, but this is a directory")
            if not stat.S_ISREG(mode):
                raise self._problem(name, f"{_SAID[kind]} must be a regular file")
            with path.open("rb") as file:
                file.read(1)
        except FileNotFoundError as error:
            what = (
                "is a link to nothing" if path.is_symlink() else f"no such file, though it is named for {_SAID[kind]}"
            )
            raise self._problem(name, what) from error
        except OSError as error:
            raise self._problem(name, f"can't be read: {error.strerror or error}") from error
        # A name that is no text is shown by its bytes.
        return Source(path=path, name=name.encode("utf-8", "backslashreplace").decode(), kind=kind)

    def _relative(self, path: Path, given: str) -> str:
        project = Path(os.path.abspath(self._settings.project))  # noqa: PTH100 - links stay as they are named
        try:
            return Path(os.path.abspath(path)).relative_to(project).as_posix()  # noqa: PTH100
        except ValueError:
            return given

    def _name(self, source: Source) -> str:
        return _shown(self._settings, source.name)

    def _note(self, code: str, source: Source, message: str) -> None:
        self.notices.append(Notice(code=code, message=message, file=self._name(source)))

    def _problem(self, name: str, what: str) -> ReportgenError:
        return ReportgenError(
            _shown(self._settings, name),
            what,
            "Give the path of a file that can be read, or remove it from the flags and the settings.",
            ExitCode.NO_INPUT,
        )
