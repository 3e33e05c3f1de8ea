"""What a hover says of a point: names whole, numbers with every digit.

A number is told once, as the place of the point: a format writes it out again, to its last digit. Only where a float
can't hold it, the hover has a text of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from reportgen.model import Cell, Chart, Column
from reportgen.render.axes import Axis, axis_title, literal, name_of, unit_of
from reportgen.render.format import exact, to_decimal
from reportgen.render.prose import plain

#: Digits that a float keeps, whatever the number.
_DIGITS = 15
_DAY = "%{x|%Y-%m-%d}"
_MOMENT = "%{x|%Y-%m-%d %H:%M:%S} UTC"


def in_template(text: str) -> str:
    """Return a text that stands as it is inside a hover template: Plotly fills nothing into it."""
    return literal(text).replace("{", "&#123;")


def number(
    trace: dict[str, Any], axis: str, column: Column, chart: Chart, cells: Sequence[Cell], into: str = "customdata"
) -> str:
    """Return the line that tells a number: `Cost: %{y:$,.2f}`.

    Where no format can, the trace gets a text a point, under the key `into`.
    """
    unit = unit_of(column, chart)
    dressed = unit in {"usd", "share", "score", "times"}
    label = in_template(plain(column.label)) if dressed else axis_title(column, chart).replace("{", "&#123;")
    form = number_format(cells, unit)
    if form is not None:
        return f"{label}: %{{{axis}:{form}}}{'x' if unit == 'times' else ''}"
    trace[into] = [literal(exact(cell, column.unit, chart.measure)) for cell in cells]
    return f"{label}: %{{{into}}}"


def number_format(cells: Sequence[Cell], unit: str | None) -> str | None:
    """Return the d3 format that writes each of the numbers with every digit, or None where there is none."""
    numbers = [number for cell in cells if (number := to_decimal(cell)) is not None]
    places = max((_places(number) for number in numbers), default=0)
    whole = max((number.adjusted() + 1 for number in numbers if number), default=0)
    if places > 12 or max(whole, 0) + places > _DIGITS:
        return None
    if unit == "usd":
        cents = max(places, 2)
        return f"$,.{cents}{'' if cents <= 6 else '~'}f"
    if unit == "share":
        return f",.{max(places - 2, 0)}~%"
    return f",.{places}~f" if places else ",.0f"


def _places(number: Decimal) -> int:
    exponent = number.normalize().as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def place(trace: dict[str, Any], axis: Axis, column: Column, chart: Chart, cells: Sequence[Cell]) -> str:
    """Return the line that tells where on the x axis a point stands; names go into the trace, whole."""
    if axis.named:
        trace["hovertext"] = [literal(name_of(cell)) for cell in cells]
        return "%{hovertext}"
    if axis.kind == "dates":
        return _DAY if axis.daily else _MOMENT
    return number(trace, "x", column, chart, cells, into="hovertext")


def lines(*parts: str) -> str:
    """Return the hover template of these lines, without Plotly's own box of the name."""
    return "<br>".join(part for part in parts if part) + "<extra></extra>"
