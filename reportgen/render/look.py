"""The one look of all charts: two themes, a palette that colour-blind readers can tell apart, one base layout.

The palette starts from Okabe and Ito's; its colours were moved until each stands out from a light and a dark page
(3:1 and more) and from each other for the three kinds of colour blindness. A test measures both.
"""

from __future__ import annotations

from typing import Any

FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif'

#: Six hues; the next six series take them again with a hatch, a dash or an open mark.
HUES = 6

THEMES: dict[str, dict[str, str]] = {
    "light": {
        "series0": "#0f6fc6",
        "series1": "#e0601f",
        "series2": "#12705a",
        "series3": "#8e2a86",
        "series4": "#6e5200",
        "series5": "#1b2a49",
        "others": "#85858f",
        "base": "#0f6fc6",
        "accent": "#d2500f",
        "text": "#24292f",
        "muted": "#57606a",
        "grid": "#e3e6ea",
        "line": "#57606a",
        "hover": "#ffffff",
        "veil": "rgba(255,255,255,0.85)",
    },
    "dark": {
        "series0": "#56b4e9",
        "series1": "#f0703a",
        "series2": "#2fd3a2",
        "series3": "#d65cb6",
        "series4": "#f3e88a",
        "series5": "#3d7fe0",
        "others": "#7c838d",
        "base": "#56b4e9",
        "accent": "#ff8a4c",
        "text": "#e6eaef",
        "muted": "#a7b0bb",
        "grid": "#2f3741",
        "line": "#a7b0bb",
        "hover": "#1c2229",
        "veil": "rgba(20,24,29,0.85)",
    },
}

#: Where each colour of the layout goes.
_LAYOUT_COLOURS = {
    "font.color": "text",
    "hoverlabel.bgcolor": "hover",
    "hoverlabel.bordercolor": "muted",
    "hoverlabel.font.color": "text",
    **{f"{axis}.{part}": "grid" for axis in ("xaxis", "yaxis") for part in ("gridcolor", "zerolinecolor")},
    **{f"{axis}.{part}": "muted" for axis in ("xaxis", "yaxis") for part in ("linecolor", "tickcolor")},
}


def base_layout(x_axis: dict[str, Any], y_axis: dict[str, Any], *, height: int) -> dict[str, Any]:
    """Return the layout that all charts share, in pixels, without colours (`with_themes` adds them)."""
    axis = {"automargin": True, "showline": True, "ticks": "outside", "ticklen": 4, "zerolinewidth": 1, "gridwidth": 1}
    for one in (x_axis, y_axis):
        if "title" in one:
            one["title"] = {**one["title"], "standoff": 8, "font": {"size": 13}}
    return {
        "height": height,
        "margin": {"l": 8, "r": 16, "t": 16, "b": 8, "pad": 0},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 13},
        "hoverlabel": {"font": {"family": FONT, "size": 13}, "align": "left", "namelength": -1},
        "hovermode": "closest",
        "dragmode": False,
        "showlegend": False,
        "legend": {
            "orientation": "h",
            "x": 0,
            "xanchor": "left",
            "y": 1.02,
            "yanchor": "bottom",
            "traceorder": "normal",
        },
        "xaxis": {**axis, **x_axis},
        "yaxis": {**axis, **y_axis},
    }


def with_themes(traces: list[dict[str, Any]], colours: list[dict[str, str]], layout: dict[str, Any]) -> dict[str, Any]:
    """Return the figure in light colours, with both themes' colours in `layout.meta.themes`.

    `colours` has one entry a trace: attribute path to the name of a colour in `THEMES`.
    """
    paths = dict(_LAYOUT_COLOURS)
    for number in range(len(layout.get("shapes", ()))):
        paths[f"shapes[{number}].line.color"] = "line"
    for number in range(len(layout.get("annotations", ()))):
        paths[f"annotations[{number}].font.color"] = "text"
        # A line's label may lie over bars.
        paths[f"annotations[{number}].bgcolor"] = "veil"
    attributes = sorted({path for trace in colours for path in trace})
    themes = {
        name: {
            "relayout": {path: theme[token] for path, token in sorted(paths.items())},
            "restyle": {path: [theme[trace[path]] for trace in colours] for path in attributes},
        }
        for name, theme in THEMES.items()
    }
    light = THEMES["light"]
    for path, token in paths.items():
        _put(layout, path, light[token])
    for trace, tokens in zip(traces, colours, strict=True):
        for path, token in tokens.items():
            _put(trace, path, light[token])
    layout["meta"] = {**layout.get("meta", {}), "themes": themes}
    return {"data": traces, "layout": layout}


def _put(target: Any, path: str, value: str) -> None:  # noqa: ANN401 - nested JSON
    """Set `shapes[0].line.color` in nested dicts and lists."""
    *parents, last = path.replace("[", ".").replace("]", "").split(".")
    for part in parents:
        target = target[int(part)] if isinstance(target, list) else target.setdefault(part, {})
    target[last] = value
