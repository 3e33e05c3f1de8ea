"""Chart files: a query, and in its front matter the page it is for and what its columns are; rows to `model.Chart`."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal, cast

from reportgen.detectorfile import UNITS, column_problems, unit_problem
from reportgen.detectors import as_text
from reportgen.errors import ReportgenError
from reportgen.model import Cell, Chart, Column, Measure
from reportgen.quickclass import dataclass
from reportgen.render.format import show
from reportgen.render.prose import plain
from reportgen.sqlfile import SqlFile, key_problems, near, of_their_types, raise_first
from reportgen.warehouse import Result, SqlError, Warehouse

Kind = Literal["bars", "rows", "points", "lines", "bubbles", "spans"]
LinkTo = Literal["agents", "pipelines", "recommendations"]
PAGES = ("overview", "recommendations", "pipeline", "agents", "agent", "recommendation", "healing", "budget")
KINDS = ("bars", "rows", "points", "lines", "bubbles", "spans")
COLOURS = ("good", "warn", "bad", "grey", "base", "1", "2", "3", "4", "5", "6")
#: The columns that may lead to a page. What `finding_no` is a number of, becomes its title and its id.
LINKS: dict[str, LinkTo] = {"agent": "agents", "pipeline": "pipelines", "finding_no": "recommendations"}
_FRONT: dict[str, type | tuple[type, ...]] = {
    "title": str, "headline": (str, list), "doc": str, "page": str, "kind": str, "x": str, "y": str, "series": str,
    "mark": str, "label": str, "size": str, "end": str, "level": str, "link": str, "line": str, "line_label": str,
    "facet": str, "note": str, "detectors": list, "colours": dict, "columns": dict,
}  # fmt: skip
#: Which columns say whose page a row is for.
_KEYS = {"pipeline": ("pipeline",), "agent": ("agent",), "recommendation": ("detector", "pipeline", "subject_key")}
#: More rows than this in one drawing would make a page that no browser opens at once.
MOST_ROWS = 5_000
_SHOWN_ROLES = ("x", "y", "end", "series", "mark", "label", "size", "level", "link")
_ROLES = (*_SHOWN_ROLES, "line", "facet")
#: A value in a headline: `{cost}`, with its unit, `{share:share}`, or without it, `{cost:n}`.
SLOT = re.compile(r"\{([a-z_][a-z0-9_]*)(?::([a-z]+))?\}")
#: What is meant as one.
_BRACES = re.compile(r"\{[^{}]*\}")
#: Number of a finding to the id and the title of its recommendation.
Findings = Mapping[int, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ChartFailed:
    """A chart file that could not be drawn: the message, and where."""

    file: SqlFile
    message: str
    where: str


def chart_problems(file: SqlFile) -> Iterator[ReportgenError]:
    """Yield everything that is wrong with a chart's front matter, each with its `path:line`."""
    yield from key_problems(file, file.front, _FRONT)
    # What is of another type is told above; the rest is looked at all the same.
    front = of_their_types(file.front, _FRONT)
    for key in ("title", "page", "kind", "x", "y"):
        if key not in file.front:
            yield file.problem(f"front matter needs '{key}'", f'Add {key} = "…".')
    for key, known in (("page", PAGES), ("kind", KINDS)):
        value = str(front.get(key, known[0]))
        if value not in known:
            yield file.problem(f"unknown {key} '{value}'{near(value, known)}", f"Known: {', '.join(known)}.", key)
    if file.front.get("kind") == "spans" and "end" not in file.front:
        yield file.problem("front matter needs 'end'", 'A chart of kind "spans" goes from x to end.')
    link = front.get("link")
    if link is not None and link not in LINKS:
        yield file.problem(f"unknown link '{link}'{near(link, list(LINKS))}", f"Known: {', '.join(LINKS)}.", "link")
    yield from column_problems(file)
    if "headline" in front:
        yield from _headline_problems(file)
    for name, colour in front.get("colours", {}).items():
        if colour not in COLOURS:
            what = f"unknown colour '{colour}'{near(str(colour), COLOURS)}"
            yield file.problem(what, f"Known: {', '.join(COLOURS)}.", ("colours", name))


def headlines(file: SqlFile) -> list[str]:
    """Return what the chart may say, the first that can be said first."""
    said = file.front.get("headline", [])
    return [said] if isinstance(said, str) else [str(one) for one in said] if isinstance(said, list) else []


def _headline_problems(file: SqlFile) -> Iterator[ReportgenError]:
    for brace, where in file.slots(("headline",), _BRACES, *headlines(file)):
        slot = SLOT.fullmatch(brace.group())
        unit = slot and slot.group(2)
        if slot is None:
            yield ReportgenError(where(), f"'headline' holds {brace.group()}, which is no slot", "Write {column}.")
        elif unit and unit != "n" and unit not in UNITS:
            yield ReportgenError(where(), *unit_problem(unit, " in 'headline'", also="n, "))


def chart_roles(file: SqlFile) -> list[tuple[str, str]]:
    """Return the columns that a chart must give, each with the key of the front matter that asks for it."""
    keys = _KEYS.get(str(file.front.get("page")), ())
    return [("page", name) for name in keys] + [
        (r, str(file.front[r])) for r in _ROLES if isinstance(file.front.get(r), str)
    ]


def read_charts(
    warehouse: Warehouse,
    files: Sequence[SqlFile],
    page_key: Callable[[str, tuple[str, ...]], str | None],
    findings: Findings,
) -> tuple[list[Chart], list[ChartFailed]]:
    """Run every chart file and split its rows by page and facet.

    `page_key(page, values)` gives the slug or id that the page of these key values has, or None where there is no such
    page in this report (filtered out). `findings` are those that have a recommendation in it. A chart that fails is
    reported beside the others.
    """
    charts: list[Chart] = []
    failed: list[ChartFailed] = []
    for file in files:
        try:
            if file.broken is not None:
                raise file.broken
            raise_first(chart_problems(file))
            warehouse.check_one_select(file)
            result = warehouse.answer(file, bounded=True)
            charts.extend(_split(warehouse, file, result, page_key, findings))
        except SqlError as failure:
            where = f"{file.name}:{failure.line}" if failure.line else file.name
            failed.append(ChartFailed(file, failure.said, where))
        except ReportgenError as error:
            failed.append(ChartFailed(file, error.said, error.where))
    return charts, failed


def _split(
    warehouse: Warehouse,
    file: SqlFile,
    result: Result,
    page_key: Callable[[str, tuple[str, ...]], str | None],
    findings: Findings,
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
    named = findings if file.front.get("link") == "finding_no" else {}
    return warehouse.derived(
        result,
        ("charts", file.name, file.text, *keys.items(), *named.items()),
        lambda: _charts(file, result, [keys[v] for v in values], named),
    )


def _charts(file: SqlFile, result: Result, keys: Sequence[str | None], findings: Findings) -> list[Chart]:
    """Return the charts of a file: its rows by the page's key (None: no such page) and by facet."""
    front = file.front
    if front.get("link") == "finding_no":
        front = {name: "recommendation" if value == "finding_no" else value for name, value in front.items()}
    places: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for key, row in zip(keys, result.dicts(), strict=True):
        if key is None:
            continue
        if file.front.get("link") == "finding_no":
            found = findings.get(row["finding_no"])
            row["recommendation_id"], row["recommendation"] = found or (None, None)
            if found is None and front["y"] == "recommendation":
                continue  # its pipeline is not shown
        facet = as_text(row[str(front["facet"])]) or "" if "facet" in front else ""
        places.setdefault((key, facet), []).append(row)
    most = max(map(len, places.values()), default=0)
    if most > MOST_ROWS:
        what = f"gives {most:,} rows for one page, more than {MOST_ROWS:,}"
        raise file.problem(what, "Sum them up in the query, or keep the latest.")
    facets: dict[str, int] = {}
    return [
        _chart(file, front, key, rows, _position(facets, key))
        for (key, _), rows in places.items()
    ]  # fmt: skip


def _position(seen: dict[str, int], key: str) -> int:
    seen[key] = seen.get(key, 0) + 1
    return seen[key]


def _chart(
    file: SqlFile, front: Mapping[str, Any], key: str, rows: Sequence[Mapping[str, Any]], position: int
) -> Chart:
    first = rows[0]
    linked = front.get("link") == "recommendation"
    described = {
        ("recommendation" if linked and n == "finding_no" else n): d for n, d in front.get("columns", {}).items()
    }
    shown = [name for name in described if name in first]
    shown += [name for role in _SHOWN_ROLES if role in front and (name := str(front[role])) not in shown]
    shown = list(dict.fromkeys(shown))
    if linked:
        shown.insert(shown.index("recommendation") + 1, "recommendation_id")
    columns = [
        Column(
            name=name,
            label=str(described.get(name, {}).get("label", name.replace("_", " "))),
            unit=described.get(name, {}).get("unit"),
        )
        for name in shown
    ]
    measured = first.get("measure")
    measure = cast(Measure, measured) if measured in ("usd", "tokens", "events") else None
    about = re.sub(r"\{(\w+)\}", lambda m: as_text(first.get(m.group(1))) or "", str(front["title"]))
    said = _headline(file, first, measure)
    # Together with the key this is unique: the position tells the facets of one place apart.
    parts = [file.id.replace("_", "-")] + ([str(position)] if position > 1 else [])
    return Chart(
        id="-".join(parts),
        page=str(front["page"]),
        key=key,
        title=said or about,
        about=about if said else "",
        kind=cast(Kind, front["kind"]),
        columns=columns,
        x=str(front["x"]),
        y=str(front["y"]),
        series=front.get("series"),
        mark=front.get("mark"),
        label=front.get("label"),
        size=front.get("size"),
        end=front.get("end"),
        level=front.get("level"),
        link="recommendation_id" if linked else front.get("link"),
        link_to=LINKS[str(file.front["link"])] if "link" in front else None,
        colours=dict(front.get("colours", {})),
        measure=measure,
        line_at=as_text(first.get(str(front["line"]))) if "line" in front else None,
        line_label=front.get("line_label"),
        note=str(front.get("note", "")),
        file=file.name,
        csv="-".join(["chart", *parts, *([key] if key else [])]) + ".csv",
        rows=[[_cell(row[name]) for name in shown] for row in rows],
    )


def _headline(file: SqlFile, row: Mapping[str, Any], measure: Measure | None) -> str | None:
    """Return the first headline whose every value is known, filled; None where nothing can be said."""
    columns = file.front.get("columns", {})
    for text in headlines(file):
        names = [found.group(1) for found in SLOT.finditer(text)]
        if any(row.get(name) is None for name in names):
            continue

        def value(found: re.Match[str]) -> str:
            name, unit = found.groups()
            given = columns.get(name, {}).get("unit") if unit is None else unit
            bare = given == "n"
            if isinstance(row[name], str) and unit is None:
                given = "text"
            return plain(show(as_text(row[name]), None if bare else given, measure))

        # An empty text leaves no gap.
        return re.sub(" {2,}", " ", SLOT.sub(value, text)).strip()
    return None


def _cell(value: object) -> Cell:
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        # Whole numbers beyond what JSON readers hold exactly travel as text.
        return value if abs(value) < 2**53 else str(value)
    return _exact(value) if isinstance(value, (Decimal, dt.datetime)) else as_text(value)


#: Days and small amounts come again and again, in one chart and from chart to chart.
_exact = lru_cache(maxsize=16_384, typed=True)(as_text)
