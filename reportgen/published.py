"""What the site that is there says of the build that made it: a claim, as the folder may come from anywhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from reportgen.model import Build
from reportgen.settings_values import SOURCES

#: The line of report.json that tells how it was made is the first, and no longer than this.
_LINE = 1 << 20
_NAMED = 3


def hash_of(site: Path) -> str | None:
    """Return the hash of the build that made the published report; None where that can't be told."""
    found = _build(site).get("hash")
    return found if isinstance(found, str) else None


def sources_of(site: Path) -> list[str]:
    """Return the tools whose sessions the published report was made from, sorted; none where that can't be told."""
    try:
        found = _build(site)["sources"]
        return sorted(name for name in SOURCES if name in found)
    except (KeyError, TypeError):
        return []


def _build(site: Path) -> dict[str, Any]:
    try:
        with (site / "data" / "report.json").open("rb") as file:
            line = file.readline(_LINE)
        found = json.loads(line.rstrip().rstrip(b",") + b"}")["build"]
        return found if isinstance(found, dict) else {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def same_period(site: Path, build: Build) -> bool:
    """Say whether the published report, if there is one, looks at the period that this build asks for.

    A window that moves on with the days, and a later --as-of, are the same one.
    """
    before = _build(site)
    if not before:
        return True
    try:
        windows = [
            {name: value for name, value, _ in one}.get("window") for one in (before["settings"], build.settings)
        ]
        asked = [before["since"], before["until"], before["as_of"] is None, windows[0]]
    except (KeyError, TypeError, ValueError):
        return True
    return asked == [build.since, build.until, build.as_of is None, windows[1]]


def events_of(site: Path) -> list[str]:
    """Return the files of cost events that the published report was made from, as it calls them."""
    try:
        found = _whole(site)["inputs"]
        return [str(one["file"]) for one in found if one["kind"] == "events" and one["events"] > 0]
    except (KeyError, TypeError):
        return []


def names_of(site: Path) -> tuple[list[str], list[str]]:
    """Return the pipelines and the agents of the published report."""
    try:
        report = _whole(site)
        pipelines = [str(one["pipeline"]) for one in report["pipelines"]]
        return pipelines, sorted({str(one["agent"]) for one in report["agents"]})
    except (KeyError, TypeError):
        return [], []


def _whole(site: Path) -> dict[str, Any]:
    try:
        found = json.loads((site / "data" / "report.json").read_bytes())
        return found if isinstance(found, dict) else {}
    except (OSError, ValueError, RecursionError):
        return {}


def events_left_out(before: Sequence[str], gone: Iterable[str]) -> str | None:
    """Return what to say where a build reads no cost events at all, and the one before it read these; else None."""
    if not before:
        return None
    named = f"{', '.join(before[:_NAMED])}{f' and {len(before) - _NAMED:,} more' if len(before) > _NAMED else ''}"
    return (
        f"the last build here read cost events ({named}), and this one read none, so no cost is in the report any"
        f" more{_removed(gone)}. To have them again, name them: --events, or events under [inputs] in reportgen.toml"
    )


def left_out(before: Iterable[str], now: Iterable[str], gone: Iterable[str]) -> str | None:
    """Return what to say where a build does not read the sessions that the one before it read; else None.

    `before`, `now`: the tools; `gone`: the site's files that the build has removed.
    """
    tools = sorted(set(before) - set(now))
    if not tools:
        return None
    flags = " ".join(f"--source {tool}" for tool in tools)
    return (
        f"the last build here read the sessions of {' and '.join(tools)}, and this one did not, so nothing of them is"
        f" in the report any more{_removed(gone)}. To have them again: reportgen build {flags}"
    )


def _removed(gone: Iterable[str]) -> str:
    pages = [path for path in sorted(gone) if path.endswith(".html")]
    # First what has a name that a reader knows.
    named = sorted(pages, key=lambda path: not path.startswith(("agents/", "pipelines/")))[:_NAMED]
    more = f" and {len(pages) - len(named):,} more" if len(pages) > len(named) else ""
    return f"; removed from the site: {', '.join(named)}{more}" if pages else ""
