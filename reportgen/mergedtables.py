"""The CSV files of several projects' reports as one site's: the rows of all, with the project in the first column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from reportgen.model import Cell, Report, Table
from reportgen.quickclass import dataclass
from reportgen.render.csvtext import csv_text, read_csv
from reportgen.report.renaming import Renaming
from reportgen.tables import of_account, of_findings

#: The column that says whose row it is.
_PROJECT = "project"
#: Tables made from the merged report itself.
_OF_REPORT = ("recommendations.csv", "evidence.csv", "detectors.csv", "inputs.csv")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """One project's tables: its renaming, its report, and what makes each file's content by its path in the site."""

    names: Renaming
    report: Report
    files: Mapping[str, Callable[[], bytes]]


def merged_tables(merged: Report, parts: Sequence[Tables]) -> tuple[list[Table], dict[str, Callable[[], bytes]]]:
    """Return the tables of the merged report, and what makes each file's content by its path in the site."""
    tables: list[Table] = []
    contents: dict[str, Callable[[], bytes]] = {}

    def add(table: Table, make: Callable[[], bytes]) -> None:
        tables.append(table)
        contents[f"data/{table.file}"] = make

    for table, make in of_findings(merged.recommendations, merged.groups):
        add(table, make)
    found: dict[str, Table] = {}
    for part in parts:
        for table in part.report.tables:
            if table.file not in _OF_REPORT and f"data/{table.file}" in part.files:
                found.setdefault(table.file, table)
    last = found.pop("rejected.csv", None)
    for name, table in found.items():
        columns, rows = _rows(name, parts)
        add(Table(file=name, title=table.title, rows=len(rows), sql_file=table.sql_file), partial(_csv, columns, rows))
    for table, make in of_account(merged.detectors, merged.inputs):
        add(table, make)
    if last is not None:
        columns, rows = _rows(last.file, parts)
        add(Table(file=last.file, title=last.title, rows=len(rows)), partial(_csv, columns, rows))
    return tables, contents


def _rows(name: str, parts: Sequence[Tables]) -> tuple[list[str], list[list[Cell]]]:
    """Return the columns that any of the projects has, and the rows of all; a cell that one lacks is empty."""
    read = [(part.names, *read_csv(part.files[f"data/{name}"]())) for part in parts if f"data/{name}" in part.files]
    columns = list(dict.fromkeys(column for _, names, _ in read for column in names))
    own = _PROJECT if _PROJECT not in columns else f"{_PROJECT}_name"
    rows: list[list[Cell]] = []
    for names, mine, some in read:
        new = _cells(name, names)
        makers = [new.get(column) for column in mine]
        places = [columns.index(column) for column in mine]
        for row in some:
            out: list[Cell] = [None] * len(columns)
            for place, make, cell in zip(places, makers, row, strict=True):
                out[place] = cell if make is None or not cell else make(cell)
            rows.append([names.project, *out])
    return [own, *columns], rows


def _cells(name: str, names: Renaming) -> dict[str, Callable[[str], str]]:
    """Return what makes the new value of the columns whose values are named anew."""
    made: dict[str, Callable[[str], str]] = {"pipeline": names.pipeline, "agent": names.agent}
    return {"file": names.within} if name == "rejected.csv" else made


def _csv(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> bytes:
    return csv_text(columns, rows).encode("utf-8", "replace")
