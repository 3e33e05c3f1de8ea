"""The kinds of charts that are drawn as points and lines: points, lines, bubbles, spans."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import groupby
from typing import Any

from reportgen.model import Chart, Column
from reportgen.render import hover
from reportgen.render.axes import (
    LABEL_LENGTH,
    Axis,
    Point,
    axis_title,
    column_of,
    literal,
    make_axis,
    name_of,
    number_of,
    numeric,
    short,
)
from reportgen.render.figures import (
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
from reportgen.render.format import exact, show, to_decimal
from reportgen.render.look import Known
from reportgen.render.prose import plain

_DASHES = ("solid", "dash")
_MARKS = ("circle", "circle-open")
#: Radius of the largest bubble, in pixels, and the width of a plot and of a letter for which names are placed.
_RADIUS = 22
_PLOT = (620, 250)
_LETTER = 7
_MOST_NAMES = 8
_TOLD_LEVELS = 4
#: Titles of recommendations are longer than names.
_SPAN_LENGTH = 44
_NARROW_SPAN_LENGTH = 20


def points(made: Figure, known: Known) -> dict[str, Any]:
    """A scatter; the marked ones lie on top as larger diamonds."""
    chart = made.chart
    x_column, y_column = column_of(chart, chart.x), column_of(chart, chart.y)
    drawn = [point for point in made.points if point.x is not None and to_decimal(point.y) is not None]
    x_axis = make_axis(chart, x_column, [point.x for point in drawn])
    ordinary = [point for point in drawn if not point.marked]
    for name, sign, mine in by_series(chart, ordinary, lambda _: Decimal(1), known) if ordinary else []:
        marker = {"size": 6, "opacity": 0.75, "symbol": _MARKS[sign.variant]}
        trace = _scatter(chart, x_axis, mine, marker, name if chart.series else "")
        made.add(trace, sign.colour if chart.series else "base", name if chart.series else None, mine)
    if marked := [point for point in drawn if point.marked]:
        label = plain(column_of(chart, chart.mark or "").label)
        trace = _scatter(chart, x_axis, marked, {"size": 11, "symbol": "diamond"}, label)
        made.add(trace, "accent", label, marked)
    _levels(made, x_axis, y_column, drawn)
    made.leave_out(len(made.points) - len(drawn), NOT_KNOWN)
    y_axis = _numbers(chart, y_column, drawn)
    line = threshold(made, y_column, y_axis, "y")
    return made.finished(x_axis.layout, y_axis, dragmode="zoom", **line)


def _numbers(chart: Chart, column: Column, drawn: Sequence[Point]) -> dict[str, Any]:
    axis = {"title": {"text": axis_title(column, chart)}, **numeric(column, chart, [point.y for point in drawn])}
    return axis if "range" in axis else {**axis, "rangemode": "tozero"}


def _scatter(chart: Chart, x_axis: Axis, drawn: Sequence[Point], marker: dict[str, Any], name: str) -> Trace:
    x_column, y_column = column_of(chart, chart.x), column_of(chart, chart.y)
    trace: Trace = {
        "type": "scatter",
        "mode": "markers",
        "x": [x_axis.place(point.x) for point in drawn],
        "y": [number_of(point.y) for point in drawn],
        "marker": marker,
    }
    if chart.label is not None:
        trace["text"] = [literal(point.label) for point in drawn]
    trace["hovertemplate"] = hover.lines(
        "%{text}" if chart.label is not None else "",
        hover.in_template(name),
        hover.place(trace, x_axis, x_column, chart, [point.x for point in drawn]),
        hover.number(trace, "y", y_column, chart, [point.y for point in drawn]),
    )
    return trace


def _levels(made: Figure, x_axis: Axis, y_column: Column, drawn: Sequence[Point]) -> None:
    """Draw each level from the first to the last of the points that have it; the legend tells their values."""
    chart = made.chart
    if chart.level is None:
        return
    x: list[Any] = []
    y: list[Any] = []
    told: list[str] = []
    leveled = sorted((point for point in drawn if to_decimal(point.level) is not None), key=lambda one: one.series)
    for (_, level), group in groupby(leveled, key=lambda point: (point.series, to_decimal(point.level))):
        places = sorted(x_axis.place(point.x) for point in group)
        value = None if level is None else format(level, "f")
        # A gap ends each but the last.
        x += [*([None] if x else []), places[0], places[-1]]
        y += [*([None] if y else []), number_of(value), number_of(value)]
        told.append(show(value, y_column.unit, chart.measure))
    if not x:
        return
    label = plain(column_of(chart, chart.level).label)
    trace: Trace = {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": y,
        "line": {"width": 3},
    }
    cells = [point.level for point in leveled]
    trace["hovertemplate"] = hover.lines(hover.number(trace, "y", column_of(chart, chart.level), chart, cells))
    if "customdata" in trace:
        # A text a level, not a text a point.
        trace["customdata"] = [None if value is None else literal(exact(value, y_column.unit)) for value in y]
    made.add(trace, "text", f"{label}: {', '.join(told)}" if len(told) <= _TOLD_LEVELS else label)


def lines(made: Figure, known: Known) -> dict[str, Any]:
    """One line a series; of too many, the rest are thin grey lines in one trace (a sum would say something else)."""
    chart = made.chart
    x_column, y_column = column_of(chart, chart.x), column_of(chart, chart.y)
    x_axis = make_axis(chart, x_column, [point.x for point in made.points])
    for name, sign, mine in by_series(chart, made.points, size, known):
        own = sorted({point.series for point in mine})
        ordered: list[Point | None] = []
        for series in own:
            line = [point for point in mine if point.series == series and x_axis.place(point.x) is not None]
            # A gap ends each line but the last.
            ordered += [*([None] if ordered else []), *sorted(line, key=lambda point: x_axis.place(point.x))]
        there = [point for point in ordered if point is not None]
        grey = sign.colour == "others"
        trace: Trace = {
            "type": "scatter",
            "mode": "lines+markers" if len(ordered) <= 60 else "lines",
            "x": [None if point is None else x_axis.place(point.x) for point in ordered],
            "y": [None if point is None else number_of(point.y) for point in ordered],
            "line": {"width": 1 if grey else 2, "dash": _DASHES[sign.variant]},
            "marker": {"size": 5, "symbol": _MARKS[sign.variant]},
        }
        told = hover.place(trace, x_axis, x_column, chart, [point.x for point in there])
        number = hover.number(trace, "y", y_column, chart, [point.y for point in there])
        if len(own) > 1:
            # Several lines in one: each point says which.
            trace["text"] = ["" if point is None else literal(point.series) for point in ordered]
        for key in ("hovertext", "customdata"):
            if key in trace:
                texts = iter(trace[key])
                trace[key] = [None if point is None else next(texts) for point in ordered]
        trace["hovertemplate"] = hover.lines("%{text}" if len(own) > 1 else hover.in_template(name), told, number)
        made.add(trace, sign.colour, name if chart.series else None)
    _levels(made, x_axis, y_column, [point for point in made.points if x_axis.place(point.x) is not None])
    y_axis = _numbers(chart, y_column, made.points)
    line_at = threshold(made, y_column, y_axis, "y")
    return made.finished(x_axis.layout, y_axis, **line_at)


def bubbles(made: Figure, known: Known) -> dict[str, Any]:
    """A scatter of areas: what is large is much. A row that lacks one of its numbers is drawn nowhere."""
    chart = made.chart
    x_column, y_column = column_of(chart, chart.x), column_of(chart, chart.y)
    drawn = [point for point in made.points if None not in (to_decimal(point.x), to_decimal(point.y))]
    x_axis = make_axis(chart, x_column, [point.x for point in drawn])
    areas = [to_decimal(point.size) or Decimal(0) for point in drawn]
    largest = max(areas, default=Decimal(0)) or Decimal(1)
    sizeref = round(2 * float(largest) / (2 * _RADIUS) ** 2, 9)
    named = _named(drawn, [float(area / largest) ** 0.5 * _RADIUS for area in areas])
    for is_marked, colour in ((False, "base"), (True, "accent")):
        mine = [place for place, point in enumerate(drawn) if point.marked is is_marked]
        if not mine:
            continue
        chosen = [drawn[place] for place in mine]
        trace: Trace = {
            "type": "scatter",
            "mode": "markers+text",
            "x": [number_of(point.x) for point in chosen],
            "y": [number_of(point.y) for point in chosen],
            "text": [short(drawn[place].label) if place in named else "" for place in mine],
            "hovertext": [literal(point.label) for point in chosen],
            "textposition": [named.get(place, "top center") for place in mine],
            "cliponaxis": False,
            "marker": {
                "opacity": 0.65,
                "sizemode": "area",
                "sizeref": sizeref,
                "sizemin": 4,
                "symbol": "circle",
                "size": [number_of(format(areas[place], "f")) for place in mine],
            },
        }
        parts = ["%{hovertext}", hover.number(trace, "y", y_column, chart, [point.y for point in chosen])]
        parts.append(hover.number(trace, "x", x_column, chart, [point.x for point in chosen], into="told"))
        if "told" in trace:
            told, cell = trace.pop("told"), parts.pop()
            trace["hovertext"] = [
                f"{name}<br>{cell.replace('%{told}', text)}"
                for name, text in zip(trace["hovertext"], told, strict=True)
            ]
        if chart.size is not None:
            label = axis_title(column_of(chart, chart.size), chart).replace("{", "&#123;")
            parts.append(f"{label}: %{{marker.size:,}}")
        trace["hovertemplate"] = hover.lines(*parts)
        mark = plain(column_of(chart, chart.mark).label) if is_marked and chart.mark else None
        made.add(trace, colour, mark, chosen)
    made.meta["sizeref"] = sizeref
    if chart.size is not None:
        made.meta["size"] = plain(column_of(chart, chart.size).label)
    made.leave_out(len(made.points) - len(drawn), NOT_KNOWN)
    layout_x = {**x_axis.layout, "rangemode": "tozero"}
    y_axis = _numbers(chart, y_column, drawn)
    if "range" in y_axis:
        y_axis["range"] = [0, 112]
    line = threshold(made, y_column, y_axis, "y")
    for shape in line.get("shapes", ()):
        # Names stand on the plot.
        shape["layer"] = "below"
    return made.finished(layout_x, y_axis, height=380, **line)


def _named(drawn: Sequence[Point], radii: Sequence[float]) -> dict[int, str]:
    """Choose the points whose name stands beside them and over no other: the marked first, then the dearest.

    `radii` are in pixels, of a plot as large as `_PLOT`.
    """
    width, height = _PLOT
    most_x = max((number_of(point.x) or 0 for point in drawn), default=0) or 1
    most_y = max(max((number_of(point.y) or 0 for point in drawn), default=0), 100)
    middles = [
        ((number_of(point.x) or 0) / most_x * width, (number_of(point.y) or 0) / most_y * height) for point in drawn
    ]
    bubbles = [(x - radius, x + radius, y - radius, y + radius) for (x, y), radius in zip(middles, radii, strict=True)]
    order = sorted(range(len(drawn)), key=lambda place: (not drawn[place].marked, -middles[place][0]))
    names: list[tuple[float, float, float, float]] = []
    chosen: dict[int, str] = {}
    for place in order:
        (x, y), radius = middles[place], radii[place] + 4
        long = min(len(drawn[place].label), LABEL_LENGTH) * _LETTER
        for side, box in (
            ("middle right", (x + radius, x + radius + long, y - 8, y + 8)),
            ("middle left", (x - radius - long, x - radius, y - 8, y + 8)),
        ):
            others = [*names, *(bubble for other, bubble in enumerate(bubbles) if other != place)]
            apart = all(box[1] < o[0] or o[1] < box[0] or box[3] < o[2] or o[3] < box[2] for o in others)
            if drawn[place].label and apart and box[0] >= 0 and box[1] <= width and len(chosen) < _MOST_NAMES:
                chosen[place] = side
                names.append(box)
                break
    return chosen


def spans(made: Figure, known: Known) -> dict[str, Any]:
    """A row for each name, from its x to its end; an instant is a dot."""
    chart = made.chart
    x_column = column_of(chart, chart.x)
    whole = [point for point in made.points if point.x is not None and point.end is not None]
    shown = whole[:MAX_ROWS]
    x_axis = make_axis(chart, x_column, [cell for point in shown for cell in (point.x, point.end)])
    rows = {id(point): place for place, point in enumerate(shown)}
    for name, sign, mine in by_series(chart, shown, lambda _: Decimal(1), known) if shown else []:
        drawn: list[Point | None] = []
        for point in mine:
            drawn += [*([None] if drawn else []), point, point]
        texts = {id(point): _span_words(chart, point, x_column) for point in mine}
        trace: Trace = {
            "type": "scatter",
            "mode": "lines+markers",
            "x": [
                None if point is None else x_axis.place(point.x if place % 3 == 0 else point.end)
                for place, point in enumerate(drawn)
            ],
            "y": [None if point is None else rows[id(point)] for point in drawn],
            "hovertext": ["" if point is None else texts[id(point)] for point in drawn],
            "hovertemplate": hover.lines("%{hovertext}"),
            "line": {"width": 6},
            "marker": {"size": 10, "symbol": _MARKS[sign.variant]},
        }
        made.add(trace, sign.colour if chart.series else "base", name if chart.series else None, drawn)
    made.leave_out(len(made.points) - len(shown), NO_ROOM if len(whole) > len(shown) else NOT_KNOWN)
    y_axis = rows_axis(made, [name_of(point.y) for point in shown], length=_SPAN_LENGTH, narrow=_NARROW_SPAN_LENGTH)
    # Two columns stand on one axis: their labels are in the table. A short title fits under a narrow plot.
    title = {"date": "Day (UTC)", "time": "Time (UTC)"}.get(x_column.unit or "", axis_title(x_column, chart))
    return made.finished({**x_axis.layout, "title": {"text": title}}, y_axis, height=rows_height(len(shown)))


def _span_words(chart: Chart, point: Point, column: Column) -> str:
    first, last = (plain(show(cell, column.unit)) for cell in (point.x, point.end))
    return literal(name_of(point.y)) + "<br>" + literal(first if first == last else f"{first} to {last}")
