"""The charts of several projects' reports as one report's: no row is lost.

A chart whose rows name their pipeline, or lead to a recommendation, is drawn once for all projects. One that says
nothing of the pipeline stands once for each project, with the project's name in its title.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from reportgen.model import Cell, Chart, Report
from reportgen.render.format import to_decimal
from reportgen.report.renaming import SEPARATOR, Renaming

_Parts = Sequence[tuple[Report, Renaming]]
#: More rows in one drawing would make a page that no browser opens at once (`chartfiles.MOST_ROWS`).
MOST_ROWS = 5_000


def merged_charts(parts: _Parts, ranks: Mapping[str, int]) -> list[Chart]:
    """Return the charts in the order of the first report that has each. The renamings are complete.

    `ranks`: the place of each finding in the merged list, by its new id.
    """
    charts = [(_renamed(chart, names), names) for report, names in parts for chart in report.charts]
    if len(parts) == 1:
        return apart([chart for chart, _ in charts])
    alike: dict[tuple[object, ...], list[tuple[Chart, Renaming]]] = {}
    for chart, names in charts:
        alike.setdefault(_what(chart), []).append((chart, names))
    pages = Counter(key for key in {(chart.page, chart.key, names.slug) for chart, names in charts})
    shared = Counter((page, key) for page, key, _ in pages)
    out: list[Chart] = []
    done: set[tuple[object, ...]] = set()
    for chart, names in charts:
        what = _what(chart)
        ones = alike[what]
        if _can_be_one(ones):
            if what not in done:
                out.append(_one([one for one, _ in ones], ranks))
            done.add(what)
        elif shared[(chart.page, chart.key)] > 1 or not chart.key:
            out.append(_named(chart, names))
        else:
            out.append(chart)
    return apart(_ordered(out))


def apart(charts: Sequence[Chart]) -> list[Chart]:
    """Return the charts with a CSV each, named by id and key."""
    taken: set[str] = set()
    out = []
    for chart in charts:
        name = "-".join(["chart", chart.id, *([chart.key] if chart.key else [])]) + ".csv"
        while name in taken:
            name = name.removesuffix(".csv") + "-more.csv"
        taken.add(name)
        out.append(replace(chart, csv=name))
    return out


def _renamed(chart: Chart, names: Renaming) -> Chart:
    keys: dict[str, Callable[[str], str]] = {
        "pipeline": names.pipeline_slug,
        "agent": names.agent_slug,
        "recommendation": names.key,
    }
    cells: dict[str, Callable[[str], str]] = {
        "pipeline": names.pipeline,
        "agent": names.agent,
        "recommendation_id": names.key,
        "recommendation": lambda old: names.titles.get(old, old),
    }
    columns = [cells.get(column.name) for column in chart.columns]
    return replace(
        chart,
        key=keys[chart.page](chart.key) if chart.page in keys else chart.key,
        file=names.files.get(chart.file, chart.file),
        rows=[
            [cell if new is None or not isinstance(cell, str) else new(cell)
             for cell, new in zip(row, columns, strict=True)]
            for row in chart.rows
        ],
    )  # fmt: skip


def _what(chart: Chart) -> tuple[object, ...]:
    """Return all that two drawings must share to be one."""
    return (
        chart.page, chart.key, chart.file, chart.about or chart.title, chart.kind,
        tuple((one.name, one.label, one.unit) for one in chart.columns),
        chart.x, chart.y, chart.series, chart.mark, chart.label, chart.size, chart.end, chart.level, chart.link,
        chart.link_to, tuple(chart.colours.items()), chart.measure, chart.line_label, chart.note,
    )  # fmt: skip


def _can_be_one(ones: Sequence[tuple[Chart, Renaming]]) -> bool:
    chart = ones[0][0]
    if chart.page == "agent":
        # Its headline compares within one project; side by side, both can be read.
        return False
    tells = chart.link_to == "recommendations" or any(column.name == "pipeline" for column in chart.columns)
    owners = [names.slug for _, names in ones]
    rows = sum(len(one.rows) for one, _ in ones)
    return tells and 1 < len(owners) == len(set(owners)) and rows <= MOST_ROWS


def _one(ones: Sequence[Chart], ranks: Mapping[str, int]) -> Chart:
    """Return the chart of all these rows. It says what it shows: what stands out of all of them, nobody has asked."""
    first = ones[0]
    lines = {one.line_at for one in ones}
    # A line over stacked bars is a limit of one project's bars.
    line = first.line_at if len(lines) == 1 and first.kind != "bars" else None
    return replace(
        first,
        title=first.about or first.title,
        about="",
        rows=_rows(first, [row for one in ones for row in one.rows], ranks),
        line_at=line,
        line_label=first.line_label if line is not None else None,
        note=f"Of each project: {first.note[0].lower()}{first.note[1:]}" if first.note else "",
    )


def _rows(chart: Chart, rows: Sequence[list[Cell]], ranks: Mapping[str, int]) -> list[list[Cell]]:
    names = [column.name for column in chart.columns]
    x = names.index(chart.x)
    if chart.link is not None and chart.link_to == "recommendations":
        link = names.index(chart.link)
        return sorted(rows, key=lambda row: ranks.get(str(row[link]), len(ranks)))
    if chart.kind in ("bars", "lines", "points") and chart.columns[x].unit in ("date", "time"):
        return sorted(rows, key=lambda row: str(row[x] or "~"))
    if chart.kind == "rows":
        return sorted(rows, key=lambda row: -(to_decimal(row[x]) or Decimal(0)))
    return list(rows)


def _named(chart: Chart, names: Renaming) -> Chart:
    return replace(
        chart,
        id=f"{chart.id}{SEPARATOR}{names.slug}",
        title=f"{names.project}: {chart.title}",
    )


def _ordered(charts: Sequence[Chart]) -> list[Chart]:
    """Return them with those of one file together, in the order in which the files first came."""
    order: dict[str, int] = {}
    for chart in charts:
        order.setdefault(chart.file, len(order))
    return sorted(charts, key=lambda chart: order[chart.file])
