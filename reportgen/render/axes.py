"""Where the cells of a chart's rows stand on an axis, and how they read there: dates, numbers, or names."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

from reportgen.errors import ExitCode, ReportgenError
from reportgen.model import Cell, Chart, Column
from reportgen.quickclass import dataclass
from reportgen.render.format import to_decimal, unit_word
from reportgen.render.look import Known
from reportgen.render.prose import plain

LABEL_LENGTH = 28
#: In a narrow window the names beside an axis leave room for what they name.
NARROW_LENGTH = 15
#: Longer titles reach out of a narrow plot, and of a low one when they stand upright.
TITLE_LENGTH = 28
#: Names shown along an axis before they would run into each other.
MAX_TICKS = 24
#: Up to so many dates, each has its own tick.
MAX_DAY_TICKS = 10

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)Z?)?", re.ASCII)
_COUNTED = frozenset({"events", "runs", "rows", "days", "tokens", "reviews", "incidents", "attempts"})


@dataclass(frozen=True, slots=True)
class Point:
    """One row of a chart as it is drawn. `x` is what stands in the x column, not yet a place on the axis."""

    x: Cell
    y: Cell
    series: str = ""
    marked: bool = False
    label: str = ""
    size: Cell = None
    end: Cell = None
    level: Cell = None
    #: The page it leads to, from the top of the site and without `.html`: `agents/writer`.
    link: str | None = None


def column_place(chart: Chart, name: str) -> int:
    """Return the place of a column in the chart's rows. Raises ReportgenError, naming the columns there are."""
    for place, column in enumerate(chart.columns):
        if column.name == name:
            return place
    names = ", ".join(column.name for column in chart.columns)
    raise ReportgenError(
        chart.file or chart.id,
        f"the chart has no column '{name}'",
        f"Name one of its columns: {names}.",
        ExitCode.DETECTOR_FAILED,
    )


def column_of(chart: Chart, name: str) -> Column:
    """Return a column by its name. Raises ReportgenError, naming the columns there are."""
    return chart.columns[column_place(chart, name)]


def read_points(chart: Chart, known: Known) -> list[Point]:
    """Return the chart's rows by the role that each column has."""
    x, y = column_place(chart, chart.x), column_place(chart, chart.y)
    series, mark, label, size, end, level, link = (
        None if name is None else column_place(chart, name)
        for name in (chart.series, chart.mark, chart.label, chart.size, chart.end, chart.level, chart.link)
    )
    return [
        Point(
            x=row[x],
            y=row[y],
            series="" if series is None else name_of(row[series]),
            marked=mark is not None and row[mark] in (True, "true", "1"),
            label="" if label is None else name_of(row[label]),
            size=None if size is None else row[size],
            end=None if end is None else row[end],
            level=None if level is None else row[level],
            link=(None if link is None or row[link] is None else known.page(chart.link_to, str(row[link])))
            or (None if label is None else known.run(chart, row[label])),
        )
        for row in chart.rows
    ]


def name_of(cell: Cell) -> str:
    """Return a cell as a name: one plain line, not yet escaped."""
    return plain("unknown" if cell is None else cell)


def literal(text: str) -> str:
    """Return a text that Plotly shows as it is: no tag, no entity, no formula of it is rendered."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("$", "&#36;")


def short(text: str, length: int = LABEL_LENGTH) -> str:
    """Return a name, escaped, that fits beside an axis."""
    return literal(text if len(text) <= length else f"{text[: length - 1].rstrip()}…")


@dataclass(frozen=True, slots=True)
class Axis:
    """Where cells of a column go: `place` gives a JSON value or None."""

    layout: dict[str, Any]
    place: Callable[[Cell], Any]
    kind: str
    #: Whether names stand on it, which a hover has to spell out.
    named: bool = False
    #: Whether its places are dates without a time.
    daily: bool = False


def make_axis(chart: Chart, column: Column, cells: Sequence[Cell]) -> Axis:
    """Make the axis that fits the column: dates, numbers, or names in the order in which they first come."""
    title = {"title": {"text": axis_title(column, chart)}}
    if column.unit in {"time", "date"}:
        layout: dict[str, Any] = {**title, "type": "date", "showgrid": False}
        days = sorted({moment for cell in cells if (moment := moment_of(cell))})
        if column.unit == "date" and len(days) <= MAX_DAY_TICKS and _far_apart(days):
            layout |= {"tickmode": "array", "tickvals": days, "ticktext": _day_ticks(days)}
        return Axis(layout, moment_of, "dates", daily=column.unit == "date")
    # Bars over something without a unit stand side by side, even where its names are numbers (error 404).
    named = column.unit == "text" or (column.unit is None and chart.kind == "bars")
    if not named and all(to_decimal(cell) is not None for cell in cells if cell is not None):
        return Axis({**title, **numeric(column, chart, cells)}, number_of, "numbers")
    # Names are told apart by their number, never by the text that is shown: two may look alike when shortened.
    names = list(dict.fromkeys(name_of(cell) for cell in cells))
    places = {name: number for number, name in enumerate(names)}
    step = -(-len(names) // MAX_TICKS) or 1
    layout = {
        **title,
        "type": "linear",
        "showgrid": False,
        "zeroline": False,
        "tickmode": "array",
        "tickvals": list(range(0, len(names), step)),
        "ticktext": [short(name) for name in names[::step]],
        "range": [-0.6, len(names) - 0.4],
    }
    return Axis(layout, lambda cell: places[name_of(cell)], "names", named=True)


def _far_apart(days: Sequence[str]) -> bool:
    """Say whether each of the dates has room for a tick of its own; what is no date of the calendar has none."""
    try:
        numbers = [dt.date.fromisoformat(day).toordinal() for day in days]
    except ValueError:
        return False
    least = min((later - day for day, later in pairwise(numbers)), default=1)
    return not numbers or least * (MAX_DAY_TICKS + 2) >= numbers[-1] - numbers[0]


def _day_ticks(days: list[str]) -> list[str]:
    """Return `3 Nov` for each date, with the year under the first one of each."""
    ticks, year = [], ""
    for day in days:
        month = int(day[5:7])
        name = _MONTHS[month - 1] if 1 <= month <= 12 else day[5:7]
        ticks.append(f"{int(day[8:10])} {name}" + (f"<br>{day[:4]}" if day[:4] != year else ""))
        year = day[:4]
    return ticks


def axis_title(column: Column, chart: Chart) -> str:
    """Return the column's label, with its unit where the label doesn't say it: `Cost (USD)`, `Events`."""
    label, word = plain(column.label), unit_word(column.unit, chart.measure)
    named = not word or word.casefold() in label.casefold()
    title = short(label, TITLE_LENGTH)
    return title if named else f"{title} ({literal(word)})"


def unit_of(column: Column, chart: Chart) -> str | None:
    """Return the column's unit, `cost` as the chart's measure."""
    return chart.measure if column.unit == "cost" else column.unit


def numeric(column: Column, chart: Chart, cells: Iterable[Cell | Decimal]) -> dict[str, Any]:
    """Return how the ticks of an axis of numbers read: `$0.005`, `1.2M`, `40%`, `1.5x`.

    What is counted in whole numbers has no ticks between them.
    """
    unit = unit_of(column, chart)
    if unit == "share":
        return {"type": "linear", "tickformat": ",.2~%"}
    layout: dict[str, Any] = {"type": "linear", "separatethousands": True, "exponentformat": "B", "minexponent": 4}
    if unit == "usd":
        layout |= {"tickprefix": "&#36;", "minexponent": 6}
    elif unit == "times":
        layout |= {"ticksuffix": "x"}
    elif unit == "score":
        # Its whole scale, and room for marks at the top of it.
        layout |= {"range": [0, 104], "dtick": 20}
    else:
        numbers = [n for cell in cells if (n := cell if isinstance(cell, Decimal) else to_decimal(cell)) is not None]
        top = max((abs(number) for number in numbers), default=Decimal(0))
        whole = unit in _COUNTED or (unit is None and all(n == n.to_integral_value() for n in numbers))
        # Of more than forty steps Plotly never halves one.
        if whole and top <= 40:
            layout["dtick"] = 1 if top <= 8 else 2 if top <= 16 else 5
    return layout


def moment_of(cell: Cell) -> str | None:
    """Return a time as Plotly writes it, without the zone (all are UTC); None where it is no time."""
    found = _MOMENT.fullmatch(cell) if isinstance(cell, str) else None
    return " ".join(part for part in found.groups() if part) if found else None


def number_of(cell: Cell) -> int | float | None:
    """Return a number for the drawing: the only place where an exact one becomes a float."""
    number = to_decimal(cell)
    if number is None:
        return None
    return int(number) if number == number.to_integral_value() else float(number)
