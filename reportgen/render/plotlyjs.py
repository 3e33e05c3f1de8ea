"""The Plotly script, copied from the installed package: the only room that knows where it lies."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from reportgen.errors import ReportgenError


@lru_cache(maxsize=1)
def plotly_js() -> bytes:
    """Return plotly.min.js of the installed plotly, without importing plotly (which takes a quarter of a second).

    Raises ReportgenError where the package or its script is missing.
    """
    spec = find_spec("plotly")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        script = Path(folder) / "package_data" / "plotly.min.js"
        if script.is_file():
            return script.read_bytes()
    raise ReportgenError(
        "plotly", "the installed package has no plotly.min.js", "Install reportgen's dependencies again with pip."
    )
