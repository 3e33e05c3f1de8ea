"""From a chart's rows to a Plotly figure as plain JSON, and to CSV. No plotly is imported: it costs 0.25 s.

A figure holds what is its own: its points, its axes, and in `layout.meta` what `assets/charts.js` needs beside them.
How all charts look, in light and in dark, stands once, in that script:

`meta.colours`  for each trace the name of its colour in the script's themes
`meta.names`    for each trace its name in the legend, or null; not escaped, and never given to Plotly
`meta.line`     what the threshold line is called in the legend
`meta.links`    for each trace the pages that its points lead to, from the top of the site and without `.html`
`meta.narrow`   the names along the y axis for a narrow window
`meta.size`     what the size of a bubble tells, and `meta.sizeref` its scale, which is smaller in a narrow window
`meta.left_out` how many rows are only in the table, and `meta.why` the reason

`layout.height` is the height in pixels the chart wants, as rows need room for each. Text of traces, ticks and hovers is
escaped for Plotly, which renders a part of HTML; page titles, tables and legends escape for HTML as usual.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from typing import Any

from reportgen.model import Cell, Chart
from reportgen.render import hover, scatters
from reportgen.render.axes import (
    Axis,
    axis_title,
    column_of,
    literal,
    make_axis,
    name_of,
    number_of,
    numeric,
    read_points,
)
from reportgen.render.csvtext import csv_text as csv_text
from reportgen.render.figures import (
    MAX_MARKED_ROWS,
    MAX_ROWS,
    NO_ROOM,
    NOT_KNOWN,
    Figure,
    Trace,
    by_series,
    rows_axis,
    rows_height,
    size,
    threshold,
)
from reportgen.render.format import to_decimal
from reportgen.render.look import Known
from reportgen.render.prose import plain

_NOBODY = Known()
_DAY_MS = 86_400_000


def figure(chart: Chart, known: Known = _NOBODY) -> dict[str, Any]:
    """Return the Plotly figure, `{"data": […], "layout": {…}}`, as plain JSON values, the same for the same rows.

    Raises ReportgenError where the chart names a column that it doesn't have.
    """
    draw: dict[str, Callable[[Figure, Known], dict[str, Any]]] = {
        "bars": _bars,
        "rows": _rows,
        "points": scatters.points,
        "lines": scatters.lines,
        "bubbles": scatters.bubbles,
        "spans": scatters.spans,
    }
    return draw[chart.kind](Figure(chart, read_points(chart, known)), known)


def chart_csv(chart: Chart) -> str:
    """Return the chart's rows as CSV, every digit kept; cost columns carry their measure in the name (`cost_usd`)."""
    names = []
    for column in chart.columns:
        measured = column.unit == "cost" and chart.measure and not column.name.endswith(f"_{chart.measure}")
        names.append(f"{column.name}_{chart.measure}" if measured else column.name)
    return csv_text(names, chart.rows)


def _bars(made: Figure, known: Known) -> dict[str, Any]:
    """Stacked bars: one sum for each x and series, so that hidden doubles never lie behind each other."""
    chart, points = made.chart, made.points
    x_column, y_column = column_of(chart, chart.x), column_of(chart, chart.y)
    x_axis = make_axis(chart, x_column, [point.x for point in points])
    heights: dict[Any, Decimal] = {}
    for name, sign, mine in by_series(chart, points, size, known):
        sums: dict[Any, tuple[Cell, Decimal]] = {}
        for point in mine:
            place, value = x_axis.place(point.x), to_decimal(point.y)
            if place is not None and value is not None:
                sums[place] = (point.x, sums[place][1] + value if place in sums else value)
        places = sorted(sums)
        values: list[Cell] = [format(sums[place][1], "f") for place in places]
        trace: Trace = {"type": "bar", **_along(x_axis, places, [number_of(value) for value in values])}
        told = hover.place(trace, x_axis, x_column, chart, [sums[place][0] for place in places])
        number = hover.number(trace, "y", y_column, chart, values)
        if "customdata" in trace:
            # Each bar has a text of its own, so each has a place of its own.
            trace = {**trace, "x": places, "y": [number_of(value) for value in values]}
            trace = {key: value for key, value in trace.items() if key not in ("x0", "dx")}
        trace["hovertemplate"] = hover.lines(hover.in_template(name), told, number)
        if sign.variant:
            trace["marker"] = {"pattern": {"shape": "/", "fillmode": "replace", "size": 6, "solidity": 0.55}}
        made.add(trace, sign.colour, name if chart.series else None)
        for place in places:
            heights[place] = heights.get(place, Decimal(0)) + sums[place][1]
    y_axis = {
        "title": {"text": axis_title(y_column, chart)},
        **numeric(y_column, chart, heights.values()),
        "rangemode": "tozero",
    }
    # Few bars would fill the plot like walls.
    gap = max(18, 100 - 16 * len(heights)) / 100
    line = threshold(made, y_column, y_axis, "y")
    return made.finished(x_axis.layout, y_axis, barmode="relative", bargap=gap, **line)


def _along(axis: Axis, places: list[Any], values: list[Any]) -> Trace:
    """Return the x and y of a trace; where days or weeks follow each other only the first is told, and the step."""
    days = _ordinals(places) if axis.daily and len(places) > 2 else []
    step = min((later - day for day, later in pairwise(days)), default=0)
    if step > 0 and all((day - days[0]) % step == 0 for day in days):
        slots = (days[-1] - days[0]) // step + 1
        # A day without a bar costs five bytes, a date twelve.
        if slots <= 2 * len(days):
            filled: list[Any] = [None] * slots
            for day, value in zip(days, values, strict=True):
                filled[(day - days[0]) // step] = value
            return {"x0": places[0], "dx": step * _DAY_MS, "y": filled}
    return {"x": places, "y": values}


def _ordinals(places: list[Any]) -> list[int]:
    """Return the dates as numbers of days; empty where one of them is no date of the calendar."""
    try:
        return [dt.date.fromisoformat(place).toordinal() for place in places]
    except ValueError:
        return []


def _rows(made: Figure, known: Known) -> dict[str, Any]:
    """Horizontal bars in the order of the rows, the first on top; the marked ones in another colour and with a sign."""
    chart, points = made.chart, made.points
    x_column = column_of(chart, chart.x)
    known_ones = [point for point in points if to_decimal(point.x) is not None]
    marked = [point for point in known_ones[MAX_ROWS:] if point.marked][:MAX_MARKED_ROWS]
    shown = [*known_ones[:MAX_ROWS], *marked]
    mark = plain(column_of(chart, chart.mark).label) if chart.mark else None
    for is_marked, colour in ((False, "base"), (True, "accent")):
        mine = [(place, point) for place, point in enumerate(shown) if point.marked is is_marked]
        if not mine:
            continue
        cells = [point.x for _, point in mine]
        trace: Trace = {
            "type": "bar",
            "orientation": "h",
            "x": [number_of(cell) for cell in cells],
            "y": [place for place, _ in mine],
            "hovertext": [literal(name_of(point.y)) for _, point in mine],
        }
        trace["hovertemplate"] = hover.lines("%{hovertext}", hover.number(trace, "x", x_column, chart, cells))
        made.add(trace, colour, mark if is_marked else None, [point for _, point in mine])
    x_axis = {
        "title": {"text": axis_title(x_column, chart)},
        **numeric(x_column, chart, [point.x for point in shown]),
        "rangemode": "tozero",
    }
    names = [f"◆ {name_of(point.y)}" if point.marked else name_of(point.y) for point in shown]
    made.leave_out(len(points) - len(shown), NO_ROOM if len(known_ones) > len(shown) else NOT_KNOWN)
    line = threshold(made, x_column, x_axis, "x")
    layout = {"height": rows_height(len(shown)), "barmode": "overlay", "bargap": 0.3, **line}
    return made.finished(x_axis, rows_axis(made, names), **layout)
