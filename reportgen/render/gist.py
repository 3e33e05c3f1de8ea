"""What a chart shows, in words, for who does not see it: kind, what against what, how much there is, the extremes."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from reportgen.model import Cell, Chart, Column
from reportgen.render.axes import Point, column_of, name_of, read_points
from reportgen.render.format import show, to_decimal, unit_word
from reportgen.render.look import Known
from reportgen.render.prose import plain

_KINDS = {
    "bars": "Bars",
    "rows": "Horizontal bars",
    "points": "Points",
    "lines": "Lines",
    "bubbles": "Bubbles",
    "spans": "Spans of time",
}
#: Names that are said; of more, how many.
_NAMED = 4


def gist(chart: Chart) -> str:
    """Return two or three sentences, plain text: `Bars: cost (USD) by day, stacked by pipeline (docs, web). …`."""
    points = read_points(chart, Known())
    x, y = column_of(chart, chart.x), column_of(chart, chart.y)
    if not points:
        return f"{_KINDS[chart.kind]}: {_axis(y, chart)} by {_axis(x, chart)}. Nothing to draw."
    if chart.kind == "rows":
        said = [f"{_KINDS['rows']}: {_axis(x, chart)} by {_axis(y, chart)}, {_many(len(points), 'row')}"]
        said += _extremes(chart, x, [(name_of(point.y), to_decimal(point.x)) for point in points])
    elif chart.kind == "spans":
        ends = sorted(str(cell) for point in points for cell in (point.x, point.end) if cell is not None)
        said = [f"{_KINDS['spans']}: a row for each {_axis(y, chart)}, {_many(len(points), 'row')}"]
        said += [f"From {_cell(ends[0], x, chart)} to {_cell(ends[-1], x, chart)}"] if ends else []
    else:
        said = [_what(chart, x, y, points), *_span(chart, x, points)]
        said += _extremes(chart, y, _values(chart, x, points))
    said += _marks(chart, points)
    if chart.line_at is not None:
        column = x if chart.kind == "rows" else y
        said.append(f"A line at {_cell(chart.line_at, column, chart)}: {plain(chart.line_label or 'level')}")
    return " ".join(f"{sentence}." for sentence in said)


def _what(chart: Chart, x: Column, y: Column, points: Sequence[Point]) -> str:
    text = f"{_KINDS[chart.kind]}: {_axis(y, chart)} {'by' if chart.kind in ('bars', 'lines') else 'against'} "
    text += _axis(x, chart)
    if chart.size is not None:
        text += f", as large as {_axis(column_of(chart, chart.size), chart)}"
    if chart.series is not None:
        names = list(dict.fromkeys(point.series for point in points))
        said = ", ".join(names) if len(names) <= _NAMED else f"{len(names)} of them"
        how = "stacked" if chart.kind == "bars" else "told apart"
        text += f", {how} by {_axis(column_of(chart, chart.series), chart)} ({said})"
    return text if chart.kind in ("bars", "lines") else f"{text}, {_many(len(points), 'point')}"


def _span(chart: Chart, x: Column, points: Sequence[Point]) -> list[str]:
    if x.unit not in ("time", "date"):
        return []
    cells = sorted(str(point.x) for point in points if point.x is not None)
    return [f"From {_cell(cells[0], x, chart)} to {_cell(cells[-1], x, chart)}"] if cells else []


def _values(chart: Chart, x: Column, points: Sequence[Point]) -> list[tuple[str, Decimal | None]]:
    """Return each value with what it is called: stacks are added up, points go by their label."""
    if chart.kind == "bars":
        sums: dict[Cell, Decimal] = {}
        for point in points:
            if (value := to_decimal(point.y)) is not None:
                sums[point.x] = sums.get(point.x, Decimal(0)) + value
        return [(_cell(cell, x, chart), value) for cell, value in sums.items()]
    named = chart.label is not None and chart.kind in ("points", "bubbles")
    return [(point.label if named else _cell(point.x, x, chart), to_decimal(point.y)) for point in points]


def _extremes(chart: Chart, column: Column, values: Sequence[tuple[str, Decimal | None]]) -> list[str]:
    there = [(name, value) for name, value in values if value is not None]
    if not there:
        return ["Every value is unknown"]
    (low_name, low), (high_name, high) = min(there, key=lambda one: one[1]), max(there, key=lambda one: one[1])
    highest = f"{_number(high, column, chart)}, {high_name}"
    if low == high:
        return [f"All at {_number(high, column, chart)}" if len(there) > 1 else highest]
    said = [f"Highest {highest}", f"lowest {_number(low, column, chart)}, {low_name}"]
    unknown = len(values) - len(there)
    return ["; ".join(said) + (f"; {unknown} unknown" if unknown else "")]


def _marks(chart: Chart, points: Sequence[Point]) -> list[str]:
    marked = sum(point.marked for point in points)
    if not marked or chart.mark is None:
        return []
    return [f"{marked} marked: {plain(column_of(chart, chart.mark).label)}"]


def _axis(column: Column, chart: Chart) -> str:
    label, word = plain(column.label), unit_word(column.unit, chart.measure)
    return label if not word or word.casefold() in label.casefold() else f"{label} ({word})"


def _cell(cell: Cell, column: Column, chart: Chart) -> str:
    return plain(show(cell, column.unit, chart.measure)) if not isinstance(cell, bool) else name_of(cell)


def _number(value: Decimal, column: Column, chart: Chart) -> str:
    return _cell(format(value, "f"), column, chart)


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
