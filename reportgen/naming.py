"""What the projects named on a command line are, and what each is called in a report of them all."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from reportgen.errors import ReportgenError
from reportgen.names import JOIN, NAME_LIMIT, clean_name, fold
from reportgen.publish import MANIFEST
from reportgen.quickclass import dataclass
from reportgen.redact import redact

_NAMED = re.compile(r"([^=/\\]+)=(.+)", re.DOTALL)
#: Folders that say nothing of whose report lies in them.
_NO_NAMES = frozenset({"site", "public", "data", "_site", "html", "www"})
_STEP = "Name each: reportgen build shop=PATH lab=PATH"


@dataclass(frozen=True, slots=True)
class Given:
    """One project as it was named: as written, the name that was given to it, its path, and its report.json."""

    shown: str
    name: str | None
    path: Path
    #: Where it is a finished report; else the path is a project's folder.
    export: Path | None

    def files(self) -> list[Path]:
        """Return the files that this argument itself names, and those that are read with them."""
        return [] if self.export is None else [self.export, *sorted(self.export.parent.glob("*.csv"))]

    def folders(self) -> tuple[str, ...]:
        """Return the folders that lead to it, those at the end left out that say nothing."""
        path = Path(os.path.abspath(self.path))  # noqa: PTH100 - a link is called what it is called
        parts = list(path.parts[1:])
        if self.export is not None:
            if path.suffix == ".json":
                parts[-1:] = [] if path.stem == "report" else [path.stem]
            while len(parts) > 1 and parts[-1].casefold() in _NO_NAMES:
                parts.pop()
        return tuple(parts) or ("project",)


def read_arguments(arguments: Sequence[str | Path]) -> list[Given]:
    """Return what each argument names. Raises ReportgenError where one is named twice; what is not there is told later.

    An argument that is a path is one, whatever signs it holds; else `NAME=PATH` gives a name.
    """
    out = []
    for argument in map(str, arguments):
        found = None if os.path.lexists(argument) else _NAMED.fullmatch(argument)
        name, path = (None, Path(argument)) if found is None else (found.group(1), Path(found.group(2)))
        out.append(Given(argument, name, path, _export(path)))
    seen: dict[str, str] = {}
    for one in out:
        place = os.path.realpath(one.export or one.path)
        if place in seen:
            what = f"is the same project as {seen[place]}"
            raise ReportgenError(one.shown, what, "Name each project once: its costs would count twice.")
        seen[place] = one.shown
    return out


def _export(path: Path) -> Path | None:
    """Return the report.json that a path is, or that a site's folder holds."""

    def there(place: Path) -> bool:
        # Unlike Path.is_file: what may not be looked at is told when it is read.
        return os.path.isfile(place)  # noqa: PTH113

    if there(path) or path.suffix == ".json":
        return path
    inner = path / "data" / "report.json"
    if there(inner) and (there(path / MANIFEST) or there(path / "index.html")):
        return inner
    return path / "report.json" if path.name == "data" and there(path / "report.json") else None


def named(projects: Sequence[tuple[Given, str]], *, redacted: bool) -> dict[str, str]:
    """Return the name of each project, by how it was written; `projects` come with the title that each gives itself.

    The name given, else the title, else the last folder's name; where two are the same, as much of the path as tells
    them apart. Raises ReportgenError where names that were given are the same, or can't be told apart.
    """
    for one, _ in projects:
        if one.name is not None and not _clean(one.name, redacted):
            raise ReportgenError(one.shown, "gives no name before the =", _STEP)
    names = {
        one.shown: _clean(one.name or title or one.folders()[-1], redacted) or "project" for one, title in projects
    }
    out = dict(names)
    for name in {fold(name) for name in names.values()}:
        same = [(one, title) for one, title in projects if fold(names[one.shown]) == name]
        if len(same) > 1:
            out.update(_apart(same, names, redacted))
    owners: dict[str, str] = {}
    for shown, name in out.items():
        if fold(name) in owners:
            what = f"has the same name as {owners[fold(name)]}: {name}"
            raise ReportgenError(shown, what, _STEP)
        owners[fold(name)] = shown
    return out


def _apart(same: Sequence[tuple[Given, str]], names: dict[str, str], redacted: bool) -> dict[str, str]:
    """Return names with the shortest ends of their paths that differ."""
    longest = max(len(one.folders()) for one, _ in same)
    for length in range(1, longest + 1):
        ends = {one.shown: "/".join(one.folders()[-length:]) for one, _ in same}
        if len({fold(_clean(end, redacted)) for end in ends.values()}) == len(same):
            return {
                one.shown: names[one.shown] if one.name is not None
                else _clean(f"{title} ({ends[one.shown]})" if title else ends[one.shown], redacted)
                for one, title in same
            }  # fmt: skip
    return {}


def _clean(name: str, redacted: bool) -> str:
    # What stands between a project and its pipeline stands nowhere else, or two could read alike.
    cleaned = clean_name(redact(name) if redacted else name).replace(JOIN, "/")
    return cleaned if len(cleaned) <= NAME_LIMIT else cleaned[: NAME_LIMIT - 1] + "…"


def project_name(title: str, names: Sequence[str], *, redacted: bool) -> str:
    """Return what the whole is called: its own title, else the names of the projects, or how many they are."""
    if title:
        return redact(title) if redacted else title
    names = sorted(names, key=lambda name: (fold(name), name))
    told = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    return told if len(names) <= 4 and len(told) <= 80 else f"{len(names)} projects"
