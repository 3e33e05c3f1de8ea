"""reportgen: finds what wastes money and quality in agent pipelines, and writes a report that a team can review.

`from reportgen import build, heal`. Both are imported on first use, so that `heal` never loads DuckDB.
"""

from __future__ import annotations

# Said so, not imported: typing would be a fifth of the time in which a hook starts.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from reportgen.building import BuildResult, build
    from reportgen.healing import HealDecision, heal

__all__ = ["BuildResult", "HealDecision", "__version__", "build", "heal"]

_HOMES = {
    "build": "reportgen.building",
    "BuildResult": "reportgen.building",
    "heal": "reportgen.healing",
    "HealDecision": "reportgen.healing",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the module protocol asks for it
    if name == "__version__":
        # Not at the top: it would triple the time in which `heal` starts.
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("reportgen")
        except PackageNotFoundError:
            return "0+unknown"
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'reportgen' has no attribute {name!r}")
