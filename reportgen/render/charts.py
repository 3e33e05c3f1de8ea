"""From a chart's rows to a Plotly figure as plain JSON, and to CSV. No plotly is imported: it costs 0.25 s.

For the page's script (templates/assets): draw with `Plotly.newPlot(div, figure.data, figure.layout, CONFIG)`, where
CONFIG is the constant below (no toolbar, no MathJax). The figure is in light colours; to switch themes call

    const theme = figure.layout.meta.themes[dark ? "dark" : "light"];
    Plotly.update(div, theme.restyle, theme.relayout);

`layout.meta.left_out` is how many rows are only in the table (kind `rows` draws the first 24 and the marked ones),
`layout.height` is the height in pixels the chart wants, as rows need room for each: give the same height to the div
(`div.style.height`), or Plotly's resizing will find its own. Text of traces, ticks and hovers is
already escaped for Plotly, which renders a part of HTML; page titles and tables escape for HTML as usual.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from reportgen.model import Cell, Chart, Column
from reportgen.render.axes import (
    TITLE_LENGTH,
    Axis,
    Point,
    axis_title,
    column_place,
    literal,
    make_axis,
    name_of,
    number_of,
    numeric,
    read_points,
    short,
)
from reportgen.render.csvtext import csv_text as csv_text
from reportgen.render.format import exact, show, to_decimal
from reportgen.render.look import HUES, base_layout, with_themes
from reportgen.render.prose import plain

CONFIG: dict[str, Any] = {"displayModeBar": False, "displaylogo": False, "responsive": True, "typesetMath": False}

#: Series drawn by name; with more, the largest 11 and the others as one.
MAX_SERIES = 12
#: Bars that fit a screen, and how many more may come for being marked.
MAX_ROWS = 24
MAX_MARKED_ROWS = 16

_HEIGHT = 340
_HOVER = "%{customdata[0]}<br>%{customdata[1]}<extra></extra>"
_DASHES = ("solid", "dash")
_MARKS = ("circle", "circle-open")

Trace = dict[str, Any]
Colours = dict[str, str]


def figure(chart: Chart) -> dict[str, Any]:
    """Return the Plotly figure, `{"data": […], "layout": {…}}`, as plain JSON values, the same for the same rows.

    Raises ReportgenError where the chart names a column that it doesn't have.
    """
    draw = {"bars": _bars, "rows": _rows, "points": _points, "lines": _lines}[chart.kind]
    return draw(chart, read_points(chart))


def chart_csv(chart: Chart) -> str:
    """Return the chart's rows as CSV, every digit kept; cost columns carry their measure in the name (`cost_usd`)."""
    names = []
    for column in chart.columns:
        measured = column.unit == "cost" and chart.measure and not column.name.endswith(f"_{chart.measure}")
        names.append(f"{column.name}_{chart.measure}" if measured else column.name)
    return csv_text(names, chart.rows)


def _columns(chart: Chart) -> tuple[Column, Column]:
    return chart.columns[column_place(chart, chart.x)], chart.columns[column_place(chart, chart.y)]


def _series(points: list[Point], weight: Callable[[Point], Decimal]) -> tuple[list[str], int]:
    """Return the names drawn on their own, the heaviest first, and how many more there are."""
    weights: dict[str, Decimal] = {}
    for point in points:
        weights[point.series] = weights.get(point.series, Decimal(0)) + weight(point)
    ordered = sorted(weights, key=lambda name: (-weights[name], name))
    return (ordered, 0) if len(ordered) <= MAX_SERIES else (ordered[: MAX_SERIES - 1], len(ordered) - MAX_SERIES + 1)


def _size(point: Point) -> Decimal:
    return abs(to_decimal(point.y) or Decimal(0))


def _colour(number: int) -> str:
    return f"series{number % HUES}"


def _by_series(points: list[Point], weight: Callable[[Point], Decimal]) -> list[tuple[str, str, int, list[Point]]]:
    """Return `(name, colour, variant, its points)` for each series and, last, for the others together.

    The variant is 0 for the first six and 1 for the next: those share colours and need a second sign.
    """
    names, more = _series(points, weight)
    parts: dict[str, list[Point]] = {name: [] for name in names}
    rest: list[Point] = []
    for point in points:
        parts.get(point.series, rest).append(point)
    out = [(name, _colour(number), number // HUES, parts[name]) for number, name in enumerate(names)]
    if more:
        out.append((f"{more} others", "others", 0, rest))
    return out


def _bars(chart: Chart, points: list[Point]) -> dict[str, Any]:
    """Stacked bars: one sum for each x and series, so that hidden doubles never lie behind each other."""
    x_column, y_column = _columns(chart)
    x_axis = make_axis(chart, x_column, [point.x for point in points])
    traces, colours = [], []
    for name, colour, variant, mine in _by_series(points, _size):
        sums: dict[Any, tuple[Cell, Decimal]] = {}
        for point in mine:
            place, value = x_axis.place(point.x), to_decimal(point.y)
            if place is not None and value is not None:
                sums[place] = (point.x, sums[place][1] + value if place in sums else value)
        places = sorted(sums)
        values = [format(sums[place][1], "f") for place in places]
        trace = {
            "type": "bar",
            "name": short(name),
            "meta": [literal(name)],
            "x": places,
            "y": [number_of(value) for value in values],
            "customdata": [
                [x_axis.words(sums[place][0]), literal(exact(value, y_column.unit, chart.measure))]
                for place, value in zip(places, values, strict=True)
            ],
            "hovertemplate": f"{'%{meta[0]}<br>' if name else ''}" + _HOVER,
            "marker": {"pattern": {"shape": "/", "fillmode": "replace", "size": 6, "solidity": 0.55}}
            if variant
            else {},
        }
        traces.append(trace)
        colours.append({"marker.color": colour})
    y_axis = {"title": {"text": axis_title(y_column, chart)}, **numeric(y_column, chart)}
    layout = base_layout(x_axis.layout, {**y_axis, "rangemode": "tozero"}, height=_HEIGHT)
    # Few bars would fill the plot like walls.
    widest = len({place for trace in traces for place in trace["x"]})
    gap = max(18, 100 - 16 * widest) / 100
    layout |= {"barmode": "relative", "bargap": gap, "showlegend": len(traces) > 1}
    _threshold(chart, y_column, layout, "yaxis")
    return with_themes(traces, colours, layout)


def _rows(chart: Chart, points: list[Point]) -> dict[str, Any]:
    """Horizontal bars in the order of the rows, the first on top; the marked ones in another colour and with a sign."""
    x_column, _ = _columns(chart)
    marked = [point for point in points[MAX_ROWS:] if point.marked][:MAX_MARKED_ROWS]
    shown = points[:MAX_ROWS] + marked
    traces, colours = [], []
    for is_marked, colour in ((False, "base"), (True, "accent")):
        mine = [(place, point) for place, point in enumerate(shown) if point.marked is is_marked]
        if not mine:
            continue
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "x": [number_of(point.x) for _, point in mine],
                "y": [place for place, _ in mine],
                "customdata": [
                    [literal(name_of(point.y)), literal(exact(point.x, x_column.unit, chart.measure))]
                    for _, point in mine
                ],
                "hovertemplate": _HOVER,
            }
        )
        colours.append({"marker.color": colour})
    # A sign, not bold type: Plotly would set that as an inline style, which the pages' policy refuses.
    names = [f"◆ {short(name_of(point.y))}" if point.marked else short(name_of(point.y)) for point in shown]
    x_axis = {"title": {"text": axis_title(x_column, chart)}, **numeric(x_column, chart)}
    y_axis = {
        "type": "linear",
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "tickmode": "array",
        "tickvals": list(range(len(shown))),
        "ticktext": names,
        # Downwards: the first row stands on top.
        "range": [len(shown) - 0.4, -0.6],
        "ticklabelstandoff": 4,
    }
    layout = base_layout({**x_axis, "rangemode": "tozero"}, y_axis, height=120 + 26 * max(len(shown), 1))
    layout |= {"barmode": "overlay", "bargap": 0.3, "meta": {"left_out": len(points) - len(shown)}}
    _threshold(chart, x_column, layout, "xaxis")
    return with_themes(traces, colours, layout)


def _points(chart: Chart, points: list[Point]) -> dict[str, Any]:
    """A scatter; the marked ones lie on top as larger diamonds."""
    x_column, y_column = _columns(chart)
    drawn = [point for point in points if point.x is not None and to_decimal(point.y) is not None]
    x_axis = make_axis(chart, x_column, [point.x for point in drawn])
    plain_ones = [point for point in drawn if not point.marked]
    parts = _by_series(plain_ones, lambda _: Decimal(1)) if plain_ones else []
    if chart.series is None:
        parts = [("", "base", 0, mine) for _, _, _, mine in parts]
    traces, colours = [], []
    for name, colour, variant, mine in parts:
        marker = {"size": 6, "opacity": 0.75, "symbol": _MARKS[min(variant, 1)]}
        traces.append(_scatter(chart, x_axis, y_column, mine, marker, name))
        colours.append({"marker.color": colour})
    if marked := [point for point in drawn if point.marked]:
        mark_label = plain(chart.columns[column_place(chart, chart.mark or "")].label)
        marker = {"size": 11, "symbol": "diamond"}
        traces.append({**_scatter(chart, x_axis, y_column, marked, marker, mark_label), "showlegend": True})
        colours.append({"marker.color": "accent"})
    y_axis = {"title": {"text": axis_title(y_column, chart)}, **numeric(y_column, chart)}
    layout = base_layout(x_axis.layout, {**y_axis, "rangemode": "tozero"}, height=_HEIGHT)
    layout |= {"showlegend": bool(marked) or len(traces) > 1, "dragmode": "zoom"}
    _threshold(chart, y_column, layout, "yaxis")
    return with_themes(traces, colours, layout)


def _scatter(
    chart: Chart, x_axis: Axis, y_column: Column, points: list[Point], marker: dict[str, Any], name: str
) -> Trace:
    # The x is written out by Plotly, not as a text of each point: with 20,000 points that is a third of the page.
    x_words = "%{x|%Y-%m-%d %H:%M:%S} UTC" if x_axis.dated else "%{x}"
    trace: Trace = {
        "type": "scatter",
        "mode": "markers",
        "name": short(name),
        "showlegend": bool(name),
        "x": [x_axis.place(point.x) for point in points],
        "y": [number_of(point.y) for point in points],
        "customdata": [literal(exact(point.y, y_column.unit, chart.measure)) for point in points],
        "hovertemplate": f"{x_words}<br>%{{customdata}}<extra></extra>",
        "marker": marker,
    }
    if chart.label is not None:
        trace["text"] = [literal(point.label) for point in points]
        trace["hovertemplate"] = "%{text}<br>" + trace["hovertemplate"]
    return trace


def _lines(chart: Chart, points: list[Point]) -> dict[str, Any]:
    """One line a series; of too many, the rest are thin grey lines in one trace (a sum would say something else)."""
    x_column, y_column = _columns(chart)
    x_axis = make_axis(chart, x_column, [point.x for point in points])
    traces, colours = [], []
    for name, colour, variant, mine in _by_series(points, _size):
        own = sorted({point.series for point in mine})
        ordered: list[Point | None] = []
        for series in own:
            line = [point for point in mine if point.series == series and x_axis.place(point.x) is not None]
            # A gap ends each line but the last.
            ordered += [*([None] if ordered else []), *sorted(line, key=lambda point: x_axis.place(point.x))]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers" if len(ordered) <= 60 else "lines",
                "name": short(name),
                "x": [None if point is None else x_axis.place(point.x) for point in ordered],
                "y": [None if point is None else number_of(point.y) for point in ordered],
                "customdata": [
                    None
                    if point is None
                    else [
                        literal(point.series),
                        x_axis.words(point.x),
                        literal(exact(point.y, y_column.unit, chart.measure)),
                    ]
                    for point in ordered
                ],
                "hovertemplate": f"{'%{customdata[0]}<br>' if name else ''}"
                "%{customdata[1]}<br>%{customdata[2]}<extra></extra>",
                "line": {"width": 1 if colour == "others" else 2, "dash": _DASHES[min(variant, 1)]},
                "marker": {"size": 5, "symbol": _MARKS[min(variant, 1)]},
            }
        )
        colours.append({"line.color": colour, "marker.color": colour})
    y_axis = {"title": {"text": axis_title(y_column, chart)}, **numeric(y_column, chart)}
    layout = base_layout(x_axis.layout, {**y_axis, "rangemode": "tozero"}, height=_HEIGHT)
    layout["showlegend"] = len(traces) > 1
    _threshold(chart, y_column, layout, "yaxis")
    return with_themes(traces, colours, layout)


def _threshold(chart: Chart, column: Column, layout: dict[str, Any], along: str) -> None:
    """Draw the line at `line_at` across the plot, with its label and rounded value at its end."""
    value = number_of(chart.line_at)
    if value is None:
        return
    words = show(chart.line_at, column.unit, chart.measure)
    label = plain(chart.line_label or "")
    text = f"{short(label, TITLE_LENGTH)}: {literal(words)}" if label else literal(words)
    line = {"width": 1.5, "dash": "dash"}
    if along == "yaxis":
        shape = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "yref": "y", "y0": value, "y1": value}
        place = {"xref": "paper", "x": 1, "xanchor": "right", "yref": "y", "y": value, "yanchor": "bottom"}
    else:
        shape = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "xref": "x", "x0": value, "x1": value}
        place = {"yref": "paper", "y": 1, "yanchor": "bottom", "xref": "x", "x": value, "xanchor": "center"}
        layout["margin"]["t"] = 32
    layout["shapes"] = [{**shape, "line": line}]
    layout["annotations"] = [{**place, "text": text, "showarrow": False, "font": {"size": 12}}]
    layout[along]["autorangeoptions"] = {"include": value}
