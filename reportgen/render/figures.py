"""What the kinds of charts share: a figure in the making, its series, its threshold line, and an axis of names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from reportgen.model import Chart, Column
from reportgen.render.axes import LABEL_LENGTH, NARROW_LENGTH, Point, number_of, short
from reportgen.render.format import show, to_decimal
from reportgen.render.look import MAX_SERIES, OTHERS, Known, Sign, signs
from reportgen.render.prose import plain

#: Bars that fit a screen, and how many more may come for being marked.
MAX_ROWS = 24
MAX_MARKED_ROWS = 16
HEIGHT = 320
NO_ROOM = "for want of room"
NOT_KNOWN = "for want of a value"

Trace = dict[str, Any]


class Figure:
    """A figure in the making: traces with their colours, names and links, and a layout."""

    def __init__(self, chart: Chart, points: Sequence[Point]) -> None:
        self.chart, self.points = chart, points
        self.traces: list[Trace] = []
        self.colours: list[str] = []
        self.names: list[str | None] = []
        self.links: list[list[str | None] | None] = []
        self.meta: dict[str, Any] = {}

    def add(self, trace: Trace, colour: str, name: str | None, points: Sequence[Point | None] = ()) -> None:
        """Add a trace; `points` are those it draws, in their order, for the pages that they lead to."""
        self.traces.append(trace)
        self.colours.append(colour)
        self.names.append(name)
        links = [None if point is None else point.link for point in points]
        self.links.append(links if any(links) else None)

    def leave_out(self, rows: int, why: str) -> None:
        """Say that so many rows are not drawn, if there are any."""
        if rows:
            self.meta |= {"left_out": rows, "why": why}

    def finished(self, x_axis: dict[str, Any], y_axis: dict[str, Any], **layout: object) -> dict[str, Any]:
        """Return the figure as JSON values."""
        meta = {"colours": self.colours, "names": self.names, **self.meta}
        if any(self.links):
            meta["links"] = self.links
        return {
            "data": self.traces,
            "layout": {"height": HEIGHT, **layout, "xaxis": x_axis, "yaxis": y_axis, "meta": meta},
        }


def by_series(
    chart: Chart, points: Sequence[Point], weight: Callable[[Point], Decimal], known: Known
) -> list[tuple[str, Sign, list[Point]]]:
    """Return `(name, sign, its points)` for each series and, last, for those that are too many together."""
    weights: dict[str, Decimal] = {}
    for point in points:
        weights[point.series] = weights.get(point.series, Decimal(0)) + weight(point)
    names = sorted(weights, key=lambda name: (-weights[name], name))
    more = 0
    if len(names) > MAX_SERIES:
        largest = [name for name in names if name != OTHERS][: MAX_SERIES - 1]
        names, more = largest, len(names) - len(largest)
    parts: dict[str, list[Point]] = {name: [] for name in names}
    rest: list[Point] = []
    for point in points:
        parts.get(point.series, rest).append(point)
    out = [(name, sign, parts[name]) for name, sign in signs(chart, names, known).items()]
    return [*out, (f"{more} others", Sign("others"), rest)] if more else out


def size(point: Point) -> Decimal:
    """Return how much a point weighs among the series."""
    return abs(to_decimal(point.y) or Decimal(0))


def threshold(made: Figure, column: Column, axis: dict[str, Any], along: str) -> dict[str, Any]:
    """Return the layout of the line at `line_at`; its name, with the rounded value, goes to the legend."""
    chart = made.chart
    value = number_of(chart.line_at)
    if value is None:
        return {}
    words, label = show(chart.line_at, column.unit, chart.measure), plain(chart.line_label or "")
    made.meta["line"] = f"{label}: {words}" if label else words
    if along == "y":
        shape = {"xref": "paper", "x0": 0, "x1": 1, "y0": value, "y1": value}
    else:
        shape = {"yref": "paper", "y0": 0, "y1": 1, "x0": value, "x1": value}
    if "range" not in axis:
        axis["autorangeoptions"] = {"include": value}
    return {"shapes": [{"type": "line", **shape}]}


def rows_axis(
    made: Figure, names: Sequence[str], *, length: int = LABEL_LENGTH, narrow: int = NARROW_LENGTH
) -> dict[str, Any]:
    """Return a y axis of names, the first on top, and give the figure shorter ones for a narrow window."""
    if any(len(name) > narrow for name in names):
        made.meta["narrow"] = [short(name, narrow) for name in names]
    return {
        "type": "linear",
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "tickmode": "array",
        "tickvals": list(range(len(names))),
        "ticktext": [short(name, length) for name in names],
        # Downwards: the first row stands on top.
        "range": [len(names) - 0.4, -0.6],
        "ticklabelstandoff": 4,
    }


def rows_height(count: int) -> int:
    """Return the height in pixels of a chart with so many rows."""
    return 84 + 26 * max(count, 2)
