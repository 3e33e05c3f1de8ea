"""What a preview watches: SQL, tests, templates and settings on one side, inputs on the other."""

from __future__ import annotations

import glob
from pathlib import Path

from reportgen.formatfile import FOLDER as FORMATS
from reportgen.inputs.sources import default_places
from reportgen.inputs.sqlitefile import write_ahead
from reportgen.live.watching import Places, Tree
from reportgen.resources import resource_dir
from reportgen.settings import FILE_NAME, Settings

TEST = ".test.md"
MACROS = "macros.sql"
_SQL = (".sql", TEST)


def reads_inputs(path: str) -> bool:
    """Say whether a file of SQL takes part in the reading of inputs: a format, or the macros that it may use."""
    return path.endswith(MACROS) or Path(path).parent.name == FORMATS


def source_places(project: Path, settings_file: Path | None) -> Places:
    """Return where a project's own files are, and the built-in ones, which change in a checkout."""
    return Places(
        files=(settings_file or project / FILE_NAME,),
        trees=(
            Tree(resource_dir("sql"), _SQL),
            Tree(project / "sql", _SQL),
            Tree(resource_dir("templates")),
            Tree(project / "templates"),
        ),
    )


def input_places(project: Path, settings: Settings | None) -> Places:
    """Return where inputs are, or may turn up: the default places, and those that the settings name."""
    named: list[str] = []
    if settings is not None:
        named = [*settings.events, *settings.feedback]
        named += [one for one in (settings.healing_log, settings.budget) if one is not None]
    entries = [str(Path(entry).expanduser()) for entry in named]
    # What was written to a database last is beside it.
    entries += [str(write_ahead(project / Path(entry).expanduser())) for entry in settings.events] if settings else []
    return Places(
        files=tuple(project / entry for entry in (*default_places(), *entries)),
        root=project,
        globs=tuple(entry for entry in entries if glob.has_magic(entry)),
    )
