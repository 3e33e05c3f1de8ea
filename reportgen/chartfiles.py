"""Chart files: a query, and in its front matter the page it is for and what its columns are; rows to `model.Chart`."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal, cast

from reportgen.detectorfile import column_problems
from reportgen.detectors import as_text
from reportgen.errors import ReportgenError
from reportgen.model import Cell, Chart, Column, Measure
from reportgen.sqlfile import SqlFile, key_problems, near, raise_first
from reportgen.warehouse import Result, SqlError, Warehouse

Kind = Literal["bars", "rows", "points", "lines"]
PAGES = ("overview", "pipeline", "agent", "recommendation", "healing", "budget")
KINDS = ("bars", "rows", "points", "lines")
_FRONT: dict[str, type | tuple[type, ...]] = {
    "title": str, "doc": str, "page": str, "kind": str, "x": str, "y": str, "series": str, "mark": str, "label": str,
    "line": str, "line_label": str, "facet": str, "note": str, "detectors": list, "columns": dict,
}  # fmt: skip
#: Which columns say whose page a row is for.
_KEYS = {"pipeline": ("pipeline",), "agent": ("agent",), "recommendation": ("detector", "pipeline", "subject_key")}
_ROLES = ("x", "y", "series", "mark", "label", "line", "facet")


@dataclass(frozen=True, slots=True)
class ChartFailed:
    """A chart file that could not be drawn: the message, and where."""

    file: SqlFile
    message: str
    where: str


def chart_problems(file: SqlFile) -> Iterator[ReportgenError]:
    """Yield everything that is wrong with a chart's front matter, each with its `path:line`."""
    wrong = list(key_problems(file, file.front, _FRONT))
    yield from wrong
    for key in ("title", "page", "kind", "x", "y"):
        if key not in file.front:
            yield file.problem(f"front matter needs '{key}'", f'Add {key} = "…".')
    for key, known in (("page", PAGES), ("kind", KINDS)):
        value = str(file.front.get(key, known[0]))
        if value not in known:
            yield file.problem(f"unknown {key} '{value}'{near(value, known)}", f"Known: {', '.join(known)}.", key)
    if not wrong:
        yield from column_problems(file)


def chart_roles(file: SqlFile) -> list[tuple[str, str]]:
    """Return the columns that a chart must give, each with the key of the front matter that asks for it."""
    keys = _KEYS.get(str(file.front.get("page")), ())
    return [("page", name) for name in keys] + [(r, str(file.front[r])) for r in _ROLES if r in file.front]


def read_charts(
    warehouse: Warehouse, files: Sequence[SqlFile], page_key: Callable[[str, tuple[str, ...]], str | None]
) -> tuple[list[Chart], list[ChartFailed]]:
    """Run every chart file and split its rows by page and facet.

    `page_key(page, values)` gives the slug or id that the page of these key values has, or None where there is no such
    page in this report (filtered out). A chart that fails is reported beside the others.
    """
    charts: list[Chart] = []
    failed: list[ChartFailed] = []
    for file in files:
        try:
            if file.broken is not None:
                raise file.broken
            raise_first(chart_problems(file))
            warehouse.check_one_select(file)
            result = warehouse.query(file.text, bounded=True)
            charts.extend(_split(warehouse, file, result, page_key))
        except SqlError as failure:
            where = f"{file.name}:{failure.line}" if failure.line else file.name
            failed.append(ChartFailed(file, failure.message, where))
        except ReportgenError as error:
            failed.append(ChartFailed(file, error.what, error.where))
    return charts, failed


def _split(
    warehouse: Warehouse, file: SqlFile, result: Result, page_key: Callable[[str, tuple[str, ...]], str | None]
) -> list[Chart]:
    page = str(file.front["page"])
    for role, name in chart_roles(file):
        if name not in result.columns:
            raise file.problem(f"the SELECT gives no column '{name}'{near(name, result.columns)}", key=role)
    columns = [result.columns.index(name) for name in _KEYS.get(page, ())]
    values = warehouse.derived(
        result, ("keys", page), lambda: [tuple(str(row[place]) for place in columns) for row in result.rows]
    )
    keys = {one: page_key(page, one) for one in dict.fromkeys(values)}
    return warehouse.derived(
        result,
        ("charts", file.name, file.text, *keys.items()),
        lambda: _charts(file, result, [keys[v] for v in values]),
    )


def _charts(file: SqlFile, result: Result, keys: Sequence[str | None]) -> list[Chart]:
    """Return the charts of a file: its rows by the page's key (None: no such page) and by facet."""
    front = file.front
    places: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for key, row in zip(keys, result.dicts(), strict=True):
        if key is None:
            continue
        facet = as_text(row[str(front["facet"])]) or "" if "facet" in front else ""
        places.setdefault((key, facet), []).append(row)
    facets: dict[str, int] = {}
    return [
        _chart(file, key, rows, _position(facets, key))
        for (key, _), rows in places.items()
    ]  # fmt: skip


def _position(seen: dict[str, int], key: str) -> int:
    seen[key] = seen.get(key, 0) + 1
    return seen[key]


def _chart(file: SqlFile, key: str, rows: Sequence[Mapping[str, Any]], position: int) -> Chart:
    front = file.front
    first = rows[0]
    shown = [name for name in front.get("columns", {}) if name in first]
    for role in ("x", "y", "series", "mark", "label"):
        if role in front and front[role] not in shown:
            shown.append(str(front[role]))
    title = re.sub(r"\{(\w+)\}", lambda m: as_text(first.get(m.group(1))) or "", str(front["title"]))
    # Together with the key this is unique: the position tells the facets of one place apart.
    parts = [file.id.replace("_", "-")] + ([str(position)] if position > 1 else [])
    measure = first.get("measure")
    return Chart(
        id="-".join(parts),
        page=str(front["page"]),
        key=key,
        title=title,
        kind=cast(Kind, front["kind"]),
        columns=[
            Column(
                name=name,
                label=str(front.get("columns", {}).get(name, {}).get("label", name.replace("_", " "))),
                unit=front.get("columns", {}).get(name, {}).get("unit"),
            )
            for name in shown
        ],
        x=str(front["x"]),
        y=str(front["y"]),
        series=front.get("series"),
        mark=front.get("mark"),
        label=front.get("label"),
        measure=cast(Measure, measure) if measure in ("usd", "tokens", "events") else None,
        line_at=as_text(first.get(str(front["line"]))) if "line" in front else None,
        line_label=front.get("line_label"),
        note=str(front.get("note", "")),
        file=file.name,
        csv="-".join(["chart", *parts, *([key] if key else [])]) + ".csv",
        rows=[[_cell(row[name]) for name in shown] for row in rows],
    )


def _cell(value: object) -> Cell:
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        # Whole numbers beyond what JSON readers hold exactly travel as text.
        return value if abs(value) < 2**53 else str(value)
    return _exact(value) if isinstance(value, Decimal | dt.datetime) else as_text(value)


#: Days and small amounts come again and again, in one chart and from chart to chart.
_exact = lru_cache(maxsize=16_384, typed=True)(as_text)
