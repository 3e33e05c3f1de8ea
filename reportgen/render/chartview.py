"""A chart as a page shows it: its figure as JSON, its gist in words, and the rows of its table with their links."""

from __future__ import annotations

from collections.abc import Mapping

from reportgen.model import Cell, Chart, Column, Report
from reportgen.quickclass import dataclass
from reportgen.render.charts import figure
from reportgen.render.gist import gist
from reportgen.render.look import Known
from reportgen.render.pack import packed
from reportgen.render.pages import Markup, json_for_script

#: Rows of a chart that stand in its page; its CSV has them all. More would be most of what a site weighs.
CHART_ROWS = 6


@dataclass(frozen=True, slots=True)
class ChartView:
    """A chart as a page shows it. `rows` are at most `CHART_ROWS`, the marked among them; `left_out` are in the CSV."""

    chart: Chart
    anchor: str
    height: int
    json: Markup
    #: The text alternative.
    gist: str
    columns: list[Column]
    rows: list[list[Cell]]
    left_out: int
    #: The rows left out are earlier ones, not later ones.
    latest: bool
    #: For each column: whether its cells are numbers.
    numeric: list[bool]
    #: The same as classes of the table, `n3 n4`: a class on each cell would be most of a row.
    css: str
    #: Rows left out of the drawing, and why: "for want of room".
    undrawn: int
    why: str
    #: The place of the column whose cells lead to a page, and for each row that page, `agents/writer`, if it has one.
    link_place: int | None
    links: list[str | None]
    #: For each row of a chart of runs the place of the run's own row, from the top of the site.
    run_links: list[str | None]


def known_to(report: Report, run_links: Mapping[tuple[str, str], str]) -> Known:
    """Return what the charts of this report share: the order of its pipelines, and which names have a page.

    `run_links`: where a run's row is, by pipeline and shown name.
    """
    runs: dict[str, dict[str, str]] = {one.pipeline: {} for one in report.pipelines}
    for (pipeline, run), place in run_links.items():
        runs.setdefault(pipeline, {})[run] = place.replace(".html#", "#", 1)
    return Known(
        pipelines=[one.pipeline for one in report.pipelines],
        pages={
            "agents": {one.agent: one.slug for one in report.agents},
            "pipelines": {one.pipeline: one.slug for one in report.pipelines},
            "recommendations": {one.id: one.id for one in report.recommendations},
        },
        runs={
            **{one.id: runs[one.pipeline] for one in report.recommendations if one.pipeline in runs},
            **{one.slug: runs[one.pipeline] for one in report.pipelines},
        },
    )


def chart_view(chart: Chart, known: Known) -> ChartView:
    """Return the chart as a page shows it. Raises ReportgenError where it names a column that it doesn't have."""
    drawn = figure(chart, known)
    meta = drawn["layout"]["meta"]
    names = [column.name for column in chart.columns]
    chosen = _chosen(chart, names)
    link = None if chart.link is None else names.index(chart.link)
    # An id is no text to read: the title beside it is what leads to the page.
    hidden = link if chart.link_to == "recommendations" else None
    shown = [place for place in range(len(names)) if place != hidden]
    numeric = [_is_numeric(chart, place) for place in shown]
    return ChartView(
        chart=chart,
        anchor=f"chart-{chart.id}",
        height=int(drawn["layout"]["height"]),
        json=json_for_script(packed(drawn)),
        gist=gist(chart),
        columns=[chart.columns[place] for place in shown],
        rows=[[row[place] for place in shown] for row in chosen],
        left_out=len(chart.rows) - len(chosen),
        latest=_in_time(chart, names),
        numeric=numeric,
        css=" ".join(f"n{place}" for place, is_number in enumerate(numeric, 1) if is_number),
        undrawn=int(meta.get("left_out", 0)),
        why=str(meta.get("why", "")),
        link_place=None if link is None else link - 1 if hidden is not None else link,
        links=[None if link is None else known.page(chart.link_to, _text(row[link])) for row in chosen],
        run_links=[
            place.replace("#", ".html#", 1)
            if chart.label and (place := known.run(chart, row[names.index(chart.label)]))
            else None
            for row in chosen
        ],
    )


def _chosen(chart: Chart, names: list[str]) -> list[list[Cell]]:
    """Return the rows that stand in the page, in their order: the marked, and the first or the latest of the others."""
    if len(chart.rows) <= CHART_ROWS:
        return chart.rows
    mark = None if chart.mark is None else names.index(chart.mark)
    marked = [place for place, row in enumerate(chart.rows) if mark is not None and row[mark] is True][:CHART_ROWS]
    others = sorted(set(range(len(chart.rows))) - set(marked))
    room = CHART_ROWS - len(marked)
    kept = others[len(others) - room :] if _in_time(chart, names) else others[:room]
    return [chart.rows[place] for place in sorted([*marked, *kept])]


def _in_time(chart: Chart, names: list[str]) -> bool:
    """Say whether the rows go on in time, so that the latest are the last."""
    return chart.columns[names.index(chart.x)].unit in {"time", "date"}


def _text(cell: Cell) -> str | None:
    return None if cell is None else str(cell)


def _is_numeric(chart: Chart, place: int) -> bool:
    if chart.columns[place].unit in {"text", "time", "date"}:
        return False
    first = next((row[place] for row in chart.rows if row[place] is not None), None)
    return chart.columns[place].unit is not None or (isinstance(first, int | float) and not isinstance(first, bool))
