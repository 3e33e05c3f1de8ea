"""A figure as small as it goes into a page: times as steps from the first, and without what all figures share.

`assets/charts.js` unpacks times and names, and adds to each figure what is left out here.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from os.path import commonprefix
from typing import Any

_DAY = 86_400
_LEAST = 8
#: What an axis is as a rule, of numbers and in figures of the usual height; `LOOK` of the script has it for all.
_AXIS = {"type": "linear", "separatethousands": True, "exponentformat": "B", "minexponent": 4}
_X_AXIS = {"showgrid": False}
_LAYOUT = {"height": 320}
#: What every hover ends with.
_HOVER_END = "<extra></extra>"
_BREAK = "<br>"


def packed(figure: dict[str, Any]) -> dict[str, Any]:
    """Return the figure with the times along x as `{"from": the first, "unit": milliseconds, "by": [0, steps…]}`.

    Only whole seconds are packed, of traces long enough for that to pay. Hovers lose their end and
    have line ends for breaks; axes of numbers lose what all of them have.
    """
    on_dates = figure["layout"].get("xaxis", {}).get("type") == "date"
    layout = {key: _AXES[key](value) if key in _AXES else value for key, value in _without(_LAYOUT, figure["layout"])}
    traces = [_packed(trace) if on_dates else trace for trace in figure["data"]]
    if "links" in layout.get("meta", {}):
        pairs = zip(layout["meta"]["links"], figure["data"], strict=True)
        layout["meta"] = {**layout["meta"], "links": [_links(links, trace.get("text")) for links, trace in pairs]}
    return {**figure, "layout": layout, "data": [_texts(_hover(trace)) for trace in traces]}


def _without(usual: Mapping[str, object], given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    return ((key, value) for key, value in given.items() if key not in usual or usual[key] != value)


def _axis(axis: Mapping[str, Any]) -> dict[str, Any]:
    left = dict(_without(_AXIS, axis))
    if "tickvals" in left and left.get("tickmode") == "array":
        # Plotly's own rule.
        del left["tickmode"]
    return left


def _x_axis(axis: Mapping[str, Any]) -> dict[str, Any]:
    return dict(_without(_X_AXIS, _axis({"showgrid": True, **axis})))


_AXES: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {"xaxis": _x_axis, "yaxis": _axis}


def _hover(trace: dict[str, Any]) -> dict[str, Any]:
    text = trace.get("hovertemplate")
    return (
        {**trace, "hovertemplate": text.removesuffix(_HOVER_END).replace(_BREAK, "\n")}
        if isinstance(text, str)
        else trace
    )


def _texts(trace: dict[str, Any]) -> dict[str, Any]:
    """Return the trace with what all its texts begin with told once: `{"front": "run-", "ends": ["1", "2"]}`."""
    texts = trace.get("text")
    if not isinstance(texts, list) or len(texts) < _LEAST:
        return trace
    # They are texts, not paths: letter by letter is right.
    front = commonprefix(texts)  # noqa: RUF071
    return {**trace, "text": {"front": front, "ends": [one[len(front) :] for one in texts]}} if front else trace


def _links(links: list[str | None] | None, texts: object) -> list[str | None] | dict[str, Any] | None:
    """Return the links of a trace; where each ends with its point's text, what stands before it in so many in a row."""
    if links is None or not isinstance(texts, list) or len(links) < _LEAST:
        return links
    pairs = list(zip(links, texts, strict=True))
    if any(link is not None and not link.endswith(text) for link, text in pairs):
        return links
    heads = [None if link is None else link.removesuffix(text) for link, text in pairs]
    return {"heads": [[head, len(list(some))] for head, some in groupby(heads)]}


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
