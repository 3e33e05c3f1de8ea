"""What the site that is there says of the build that made it: a claim, as the folder may come from anywhere."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from reportgen.settings_values import SOURCES

#: The line of report.json that tells how it was made is the first, and no longer than this.
_LINE = 1 << 20
_NAMED = 3


def sources_of(site: Path) -> list[str]:
    """Return the tools whose sessions the published report was made from, sorted; none where that can't be told."""
    try:
        with (site / "data" / "report.json").open("rb") as file:
            line = file.readline(_LINE)
        build = json.loads(line.rstrip().rstrip(b",") + b"}")["build"]
        return sorted(name for name in SOURCES if name in build["sources"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []


def left_out(before: Iterable[str], now: Iterable[str], gone: Iterable[str]) -> str | None:
    """Return what to say where a build does not read the sessions that the one before it read; else None.

    `before`, `now`: the tools; `gone`: the site's files that the build has removed.
    """
    tools = sorted(set(before) - set(now))
    if not tools:
        return None
    pages = [path for path in sorted(gone) if path.endswith(".html")]
    # First what has a name that a reader knows.
    named = sorted(pages, key=lambda path: not path.startswith(("agents/", "pipelines/")))[:_NAMED]
    more = f" and {len(pages) - len(named):,} more" if len(pages) > len(named) else ""
    removed = f"; removed from the site: {', '.join(named)}{more}" if pages else ""
    flags = " ".join(f"--source {tool}" for tool in tools)
    return (
        f"the last build here read the sessions of {' and '.join(tools)}, and this one did not, so nothing of them is"
        f" in the report any more{removed}. To have them again: reportgen build {flags}"
    )
