"""A figure as small as it goes into a page: times as steps from the first. `assets/charts.js` unpacks them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

_DAY = 86_400
_LEAST = 8


def packed(figure: dict[str, Any]) -> dict[str, Any]:
    """Return the figure with the times along x as `{"from": the first, "unit": milliseconds, "by": [0, steps…]}`.

    Only whole seconds are packed, of traces long enough for that to pay.
    """
    on_dates = figure["layout"].get("xaxis", {}).get("type") == "date"
    return {**figure, "data": [_packed(trace) if on_dates else trace for trace in figure["data"]]}


def _packed(trace: dict[str, Any]) -> dict[str, Any]:
    steps = _steps(trace.get("x", ()))
    return {**trace, "x": steps} if steps else trace


def _steps(places: Sequence[Any]) -> dict[str, Any] | None:
    if len(places) < _LEAST:
        return None
    try:
        moments = [None if place is None else dt.datetime.fromisoformat(place) for place in places]
    except ValueError:
        return None
    if moments[0] is None or any(moment is not None and moment.microsecond for moment in moments):
        return None
    seconds = [None if moment is None else int((moment - moments[0]).total_seconds()) for moment in moments]
    unit = _DAY if all(second is None or second % _DAY == 0 for second in seconds) else 1
    by: list[int | None] = []
    at = 0
    for second in seconds:
        by.append(None if second is None else (second - at) // unit)
        at = at if second is None else second
    return {"from": places[0], "unit": unit * 1000, "by": by}


def unpacked(steps: dict[str, Any]) -> list[str | None]:
    """Return the times that were packed, as `2026-11-03 09:14:07`: what the page's script does, for tests."""
    at, out = dt.datetime.fromisoformat(steps["from"]), []
    for step in steps["by"]:
        if step is not None:
            at += dt.timedelta(milliseconds=step * steps["unit"])
        out.append(None if step is None else at.isoformat(sep=" "))
    return out
