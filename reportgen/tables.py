"""The CSV files under `site/data/`: the whole of what the pages show parts of.

Most are what a file of `sql/tables/` gives: `sql/tables/runs.sql` gives `data/runs.csv`. What no SQL makes (the account
of the input lines) and what the report puts together (ranks, decisions) is written from the report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial

from reportgen.detectors import as_text
from reportgen.errors import ReportgenError
from reportgen.model import Cell, Detector, Group, InputFile, Recommendation, RejectedLine, Table
from reportgen.quickclass import dataclass
from reportgen.render.csvtext import csv_text
from reportgen.sqlfile import SqlFile, key_problems, raise_first
from reportgen.warehouse import SqlError, Warehouse

_FRONT: dict[str, type | tuple[type, ...]] = {"title": str, "doc": str}
#: Names that files of `sql/tables/` can't have: these CSV files are made elsewhere.
TAKEN = ("recommendations", "evidence", "detectors", "inputs", "rejected")
#: What a CSV holds as it is. A tuple: of hundreds of thousands of cells each is asked.
_AS_IT_IS = (str, int, bool)

Rows = Sequence[Sequence[object]]
#: What makes the content of a file.
Made = Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class TableFailed:
    """A file of `sql/tables/` that gave no rows: the message, and where."""

    file: SqlFile
    message: str
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """What there is, what makes each file's content by its path in the site (`data/runs.csv`), and what failed."""

    tables: Sequence[Table]
    files: Mapping[str, Callable[[], bytes]]
    failed: Sequence[TableFailed]


def table_problems(file: SqlFile) -> Iterator[ReportgenError]:
    """Yield everything that is wrong with the front matter or the name of a file of `sql/tables/`."""
    yield from key_problems(file, file.front, _FRONT)
    if file.id in TAKEN:
        yield file.problem(f"{file.id}.csv is made elsewhere", "Rename the file.")


def make_tables(
    warehouse: Warehouse,
    files: Sequence[SqlFile],
    *,
    recommendations: Sequence[Recommendation],
    groups: Sequence[Group],
    detectors: Sequence[Detector],
    inputs: Sequence[InputFile],
    rejected: Sequence[RejectedLine],
) -> Tables:
    """Run the files of `sql/tables/`, and add what comes from the report. A file that fails is told of beside them."""
    tables: list[Table] = []
    contents: dict[str, Callable[[], bytes]] = {}
    failed: list[TableFailed] = []

    def add(name: str, title: str, columns: Sequence[str], rows: Rows, sql_file: str | None = None) -> None:
        table, contents[f"data/{name}"] = _table(name, title, columns, rows, sql_file)
        tables.append(table)

    for table, make in of_findings(recommendations, groups):
        contents[f"data/{table.file}"] = make
        tables.append(table)
    for file in files:
        try:
            if file.broken is not None:
                raise file.broken
            raise_first(table_problems(file))
            warehouse.check_one_select(file)
            result = warehouse.answer(file, bounded=file.origin == "project")
        except SqlError as failure:
            failed.append(TableFailed(file, failure.said, f"{file.name}:{failure.line}" if failure.line else file.name))
        except ReportgenError as error:
            failed.append(TableFailed(file, error.said, error.where))
        else:
            add(f"{file.id}.csv", str(file.front.get("title", file.id)), result.columns, result.rows, file.name)
    for table, make in of_account(detectors, inputs):
        contents[f"data/{table.file}"] = make
        tables.append(table)
    add(
        "rejected.csv",
        "Every rejected line",
        ["file", "line", "reason", "snippet"],
        [[r.file, r.line, r.reason, r.snippet] for r in rejected],
    )
    return Tables(tables=tables, files=contents, failed=failed)


def of_findings(found: Sequence[Recommendation], groups: Sequence[Group]) -> Iterator[tuple[Table, Made]]:
    """Yield the tables of the findings, each with what makes its content."""
    title = "Every finding by its rank, with the place of its recommendation in the list"
    yield _table("recommendations.csv", title, *_recommendations(found, groups), "sql/scoring/vfm.sql")
    yield _table("evidence.csv", "Evidence of the recommendations", *_evidence(found))


def of_account(detectors: Sequence[Detector], inputs: Sequence[InputFile]) -> Iterator[tuple[Table, Made]]:
    """Yield the tables of what was looked at, each with what makes its content."""
    yield _table("detectors.csv", "Detectors and what came of them", *_detectors(detectors))
    yield _table("inputs.csv", "The account of every input line", *_inputs(inputs))


def _table(
    name: str, title: str, columns: Sequence[str], rows: Rows, sql_file: str | None = None
) -> tuple[Table, Made]:
    return Table(file=name, title=title, rows=len(rows), sql_file=sql_file), partial(_csv, columns, rows)


def _recommendations(found: Sequence[Recommendation], groups: Sequence[Group]) -> tuple[Sequence[str], Rows]:
    """`rank` numbers the findings, `place` is the number of the finding's recommendation in the list of those."""
    place = {name: group.rank for group in groups for name in group.ids}
    return (
        ["rank", "place", "id", "detector", "pipeline", "subject", "observed", "baseline", "threshold", "total",
         "frequency", "failure_reduction", "burden_reduction", "cost_savings", "decision", "effort", "saving",
         "saving_share", "cost_measure", "saving_basis"],
        [
            [r.rank, place[r.id], r.id, r.detector, r.pipeline, r.subject, r.observed, r.baseline, r.threshold,
             r.vfm.total, r.vfm.frequency, r.vfm.failure_reduction, r.vfm.burden_reduction, r.vfm.cost_savings,
             r.decision, r.effort, r.saving, r.saving_share, r.cost_measure, r.saving_basis]
            for r in found
        ],
    )  # fmt: skip


def _evidence(found: Sequence[Recommendation]) -> tuple[Sequence[str], Rows]:
    columns = ["id", "name", "value", "unit"]
    return columns, [[r.id, e.name, e.value, e.unit] for r in found for e in r.evidence]


def _detectors(detectors: Sequence[Detector]) -> tuple[Sequence[str], Rows]:
    columns = ["detector", "status", "findings", "checked", "message", "where", "origin", "file"]
    # Zero is only ever a measured zero: what did not run has no count.
    ran = ("found", "clear")
    return columns, [
        [d.detector, d.status, d.findings if d.status in ran else None, d.checked, d.message, d.where, d.origin, d.file]
        for d in detectors
    ]


def _inputs(inputs: Sequence[InputFile]) -> tuple[Sequence[str], Rows]:
    return (
        ["file", "kind", "lines", "used", "superseded", "duplicates", "not_cost", "rejected", "blank", "events",
         "broken_parts", "outside_period"],
        [
            [i.file, i.kind, i.lines, i.used, i.superseded, i.duplicates, i.not_cost, i.rejected, i.blank, i.events,
             i.broken_parts, i.outside_period]
            for i in inputs
        ],
    )  # fmt: skip


def _csv(columns: Sequence[str], rows: Rows) -> bytes:
    by_column = [_column(cells) for cells in zip(*rows, strict=True)]
    return csv_text(columns, zip(*by_column, strict=True)).encode("utf-8", "replace")


def _column(cells: Sequence[object]) -> Sequence[Cell]:
    made = [cell for cell in cells if cell is None or isinstance(cell, _AS_IT_IS)]
    return made if len(made) == len(cells) else [_cell(cell) for cell in cells]


def _cell(value: object) -> Cell:
    if value is None or isinstance(value, _AS_IT_IS):
        return value
    return as_text(value) if not isinstance(value, Decimal) or value.is_finite() else None
