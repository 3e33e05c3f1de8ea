"""The versions of what takes part in the outputs."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

PACKAGES = ("duckdb", "genai-prices", "jinja2", "markdown-it-py", "msgspec", "plotly")


@lru_cache(maxsize=1)
def versions() -> Mapping[str, str]:
    """Return the version of every package that takes part in the outputs."""
    found = _installed()
    return {name: found.get(name) or _asked(name) for name in PACKAGES}


def _installed() -> dict[str, str]:
    """Return what the names of the installers' folders tell (`jinja2-3.1.6.dist-info`).

    Python's own way reads the metadata of each package, which takes longer than finding out what has changed.
    """
    found: dict[str, str] = {}
    for place in sys.path:
        try:
            names = [path.name for path in Path(place).glob("*.dist-info")]
        except OSError:
            continue
        for name in names:
            package, _, version = name.removesuffix(".dist-info").partition("-")
            # Whatever comes first is what is imported.
            found.setdefault(re.sub(r"[-_.]+", "-", package).lower(), version)
    return found


def _asked(name: str) -> str:
    from importlib.metadata import version

    return version(name)
