"""What the page's script makes of a figure, for tests: the look it adds, read from the script itself."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

from reportgen.resources import resource_dir

SCRIPT = (resource_dir("templates") / "assets" / "charts.js").read_text(encoding="utf-8")


def _look() -> dict[str, Any]:
    found = re.search(r"\n  const LOOK = (\{\n.*?\n  \});\n", SCRIPT, re.DOTALL)
    assert found is not None
    look: dict[str, Any] = json.loads(found.group(1))
    return look


#: The look of all charts, as `charts.js` holds it: config, layout, axis, dates, shape, themes.
LOOK = _look()
THEMES: dict[str, dict[str, str]] = LOOK["themes"]


def template(theme: str) -> dict[str, Any]:
    """Return the Plotly template of a theme."""
    colours = THEMES[theme]
    axis = {
        **LOOK["axis"],
        "gridcolor": colours["grid"],
        "zerolinecolor": colours["grid"],
        "linecolor": colours["muted"],
        "tickcolor": colours["muted"],
    }
    layout = {
        **LOOK["layout"],
        "font": {**LOOK["layout"]["font"], "color": colours["text"]},
        "hoverlabel": {**LOOK["layout"]["hoverlabel"], "bgcolor": colours["hover"], "bordercolor": colours["muted"]},
        "xaxis": {**axis, **LOOK["xaxis"]},
        "yaxis": axis,
        "shapedefaults": {**LOOK["shape"], "line": {**LOOK["shape"]["line"], "color": colours["line"]}},
    }
    return {"layout": layout}


def dressed(figure: dict[str, Any], theme: str) -> dict[str, Any]:
    """Return the figure as Plotly gets it."""
    made = copy.deepcopy(figure)
    for trace, colour in zip(made["data"], made["layout"]["meta"]["colours"], strict=True):
        trace.setdefault("marker", {})["color"] = THEMES[theme][colour]
        if trace["type"] != "bar":
            trace.setdefault("line", {})["color"] = THEMES[theme][colour]
    x_axis = made["layout"]["xaxis"]
    if x_axis["type"] == "date" and "tickvals" not in x_axis:
        x_axis["tickformatstops"] = LOOK["dates"]
    made["layout"]["template"] = template(theme)
    return made
