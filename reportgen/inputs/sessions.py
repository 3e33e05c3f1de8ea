"""Where coding agents keep their sessions, and which files below a folder are read."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

#: What says where a tool keeps its files, where that is not the usual place.
HOMES = {"claude-code": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME", "opencode": "OPENCODE_DATA_DIR"}
#: The files of a folder that is named for cost events.
ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.zst")
#: The databases of opencode, one for each channel by which it is delivered.
DATABASE = re.compile(r"opencode[^/]*\.db")


def claude_roots() -> list[Path]:
    """Return the folders in which Claude Code keeps its sessions."""
    return _roots("claude-code", ("projects",), (".claude", ".config/claude"))


def codex_roots() -> list[Path]:
    """Return the folders in which Codex keeps its sessions."""
    return _roots("codex", ("sessions", "archived_sessions"), (".codex",))


def opencode_roots() -> list[Path]:
    """Return the folders in which opencode keeps its databases."""
    shared = os.environ.get("XDG_DATA_HOME", "")
    return _roots("opencode", ("",), (f"{shared}/opencode" if shared else ".local/share/opencode",))


#: Tools whose sessions are found without a path, each with its folders.
TOOLS: Mapping[str, Callable[[], list[Path]]] = {
    "claude-code": claude_roots,
    "codex": codex_roots,
    "opencode": opencode_roots,
}


def session_files(tool: str) -> Iterator[tuple[Path, Path]]:
    """Yield each file in which a tool keeps its sessions, and the folder that it was looked for in. Raises OSError."""
    for root in TOOLS[tool]():
        if not root.is_dir():
            continue
        if tool == "opencode":
            found = [root / name for name in sorted(os.listdir(root)) if DATABASE.fullmatch(name)]  # noqa: PTH208
        else:
            found = [path for path in files_below(root) if path.name.endswith(ENDINGS)]
        for path in found:
            yield path, root


def has_sessions(tool: str) -> bool:
    """Say whether there is a file in which a tool keeps its sessions."""
    with contextlib.suppress(OSError):
        return any(True for _ in session_files(tool))
    return False


def files_below(folder: Path) -> list[Path]:
    """Return all files below a folder, sorted; links to folders are followed, but into none twice.

    Raises OSError where one can't be looked into: what it holds would be missing without a word.
    """
    seen: set[tuple[int, int]] = set()
    found: list[Path] = []
    waiting = [folder]
    while waiting:
        place = waiting.pop(0)
        status = place.stat()
        if (status.st_dev, status.st_ino) in seen:
            continue
        seen.add((status.st_dev, status.st_ino))
        with os.scandir(place) as entries:
            for entry in sorted(entries, key=lambda one: one.name):
                (waiting if entry.is_dir() else found).append(place / entry.name)
    return sorted(found)


def homes(tool: str) -> list[Path]:
    """Return the folders that the environment names for a tool."""
    named = os.environ.get(HOMES[tool], "")
    return [Path(name.strip()).expanduser() for name in named.split(",") if name.strip()]


def _roots(tool: str, folders: Sequence[str], usual: Sequence[str]) -> list[Path]:
    named = homes(tool)
    roots = [home / name for home in named or [Path.home() / name for name in usual] for name in folders]
    return [root for root in roots if root.is_dir()] or roots[:1]
