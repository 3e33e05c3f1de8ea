"""The pages that show the SQL behind the numbers: one for each folder of `sql/`, with an anchor for each file.

What reads what comes from the report, so that every file leads to those it stands on and those that stand on it.
"""

from __future__ import annotations

from collections.abc import Iterator

from reportgen.model import Report, SqlText
from reportgen.quickclass import dataclass

#: Of each folder: its title, and what its files are.
KINDS: dict[str, tuple[str, str]] = {
    "formats": ("Formats", "How lines of other tools, or of a shape of the project's own, become cost events."),
    "sources": (
        "Sources",
        "The inputs themselves as tables: one row for each event, review or recovery attempt looked at. Names, runs and"
        " inferred pipelines are settled here. The schema raw holds what the readers of the files handed over.",
    ),
    "marts": ("Marts", "Small sums over the sources. Detectors, charts and tables read these."),
    "scoring": ("Scoring", "The pre-score of every finding, and the points it is made of."),
    "charts": ("Charts", "The rows of each chart, and in the header what it draws of them."),
    "tables": ("Tables", "The rows of each CSV file that stands for a whole table of the report."),
    "macros": ("Functions", "Small functions that the other files call."),
}


@dataclass(frozen=True, slots=True)
class Link:
    """A name, and where it leads, from the top of the site (None: nowhere)."""

    name: str
    href: str | None


@dataclass(frozen=True, slots=True)
class SqlView:
    """One file as its page shows it."""

    file: SqlText
    anchor: str
    reads: list[Link]
    read_by: list[Link]
    #: The CSV files that hold its rows, by name under `data/`.
    csvs: list[str]


def sql_place(key: str) -> tuple[str, str]:
    """Return where a SQL file is shown, as a path from the top of the site, and its short name.

    `key` names it under `sql/`: `marts/agents.sql`, or with the folder: `sql/marts/agents.sql`.
    """
    kind, _, name = key.removeprefix("sql/").removesuffix(".sql").partition("/")
    name = name or kind
    return (f"detectors/{name}.html#sql" if kind == "detectors" else f"sql/{kind}.html#{name}"), name


def sql_views(report: Report) -> dict[str, list[SqlView]]:
    """Return the files by kind, those kinds left out that have none."""
    places = _places(report)
    readers: dict[str, list[Link]] = {}
    for link, names in _reading(report):
        for name in names:
            readers.setdefault(name, []).append(link)
    charts: dict[str, list[str]] = {}
    for chart in report.charts:
        charts.setdefault(chart.file, []).append(chart.csv)
    tables: dict[str, list[str]] = {}
    for table in report.tables:
        if table.sql_file is not None:
            tables.setdefault(table.sql_file, []).append(table.file)
    out: dict[str, list[SqlView]] = {}
    for kind in KINDS:
        views = [
            SqlView(
                file=file,
                # Both files of functions take part; their names are the same.
                anchor=f"{file.name}-{file.origin}" if (kind, file.origin) == ("macros", "project") else file.name,
                reads=[Link(name, places.get(name)) for name in file.reads],
                read_by=readers.get(file.name, []) if kind in ("sources", "marts", "scoring") else [],
                csvs=charts.get(file.file, []) + tables.get(file.file, []),
            )
            for file in report.sql
            if file.kind == kind
        ]
        if views:
            out[kind] = views
    return out


def _places(report: Report) -> dict[str, str]:
    """Return where each table that SQL reads is made."""
    places = {file.name: sql_place(file.file)[0] for file in report.sql if file.kind in ("sources", "marts", "scoring")}
    places |= {f"params.{one.detector}": f"detectors/{one.detector}.html#parameters" for one in report.detectors}
    return places | {"findings": "detectors.html"}


def _reading(report: Report) -> Iterator[tuple[Link, list[str]]]:
    for file in report.sql:
        yield Link(f"{file.kind}/{file.name}", sql_place(file.file)[0]), file.reads
    for one in report.detectors:
        yield Link(f"detectors/{one.detector}", sql_place(one.file)[0]), one.reads


def known_files(report: Report) -> tuple[frozenset[str], frozenset[str]]:
    """Return the CSV files that the site has, and the SQL files that it shows (`marts/agents.sql`)."""
    csvs = {chart.csv for chart in report.charts} | {table.file for table in report.tables}
    files = {one.file for one in report.sql} | {f"sql/detectors/{one.detector}.sql" for one in report.detectors}
    return frozenset(csvs), frozenset(file.removeprefix("sql/") for file in files)
