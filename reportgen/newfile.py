"""Files of SQL to start from: which names they may have, and how they are written, in place of nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from reportgen.checkrules import RESERVED
from reportgen.errors import ReportgenError

_ID = re.compile(r"[a-z][a-z0-9_]{0,59}")


def refuse_name(what: str, name: str, example: str) -> None:
    """Raise ReportgenError for a name that can't be the id of a `what`; `example` is one that can."""
    if not _ID.fullmatch(name) or name in RESERVED or name == "report":
        suggested = re.sub(r"[^a-z0-9]+", "_", name.removesuffix(".sql").lower()).strip("_0123456789")[:60]
        hint = f"Call it {suggested}." if _ID.fullmatch(suggested) and suggested != name else f"{example} is one."
        said = f"a {what}'s name is its id: small letters, digits and _, and no word of SQL"
        raise ReportgenError(f"new {what} {name}", said, hint)


def filled(text: str, **slots: str) -> str:
    """Return a template with `@name` replaced by the slot of that name."""
    for key, value in slots.items():
        text = text.replace(f"@{key}", value)
    return text


def refuse_there(project: Path, paths: tuple[Path, ...]) -> None:
    """Raise ReportgenError where there is no such project, or one of the files is there: none is ever overwritten."""
    if not project.is_dir():
        raise ReportgenError(str(project), "no such directory", "Make it first, or name another one.")
    for path in paths:
        if path.exists() or path.is_symlink():
            what = "is there already, and is left as it is"
            raise ReportgenError(str(path), what, "Take another name, or move it away and run this again.")


def write_new(project: Path, files: Mapping[Path, str]) -> None:
    """Write these files of one folder. Raises ReportgenError as `refuse_there`, and where that can't be done."""
    refuse_there(project, tuple(files))
    folder = next(iter(files)).parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            # "x" makes the file or fails, whatever has come in between.
            with path.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
    except OSError as error:
        raise ReportgenError(str(folder), f"can't be written ({error.strerror})", "Check the directory.") from None
