"""A finished report from elsewhere, read back: `report.json`, and the CSV files beside it where they are there.

It may come from anywhere, so nothing in it is taken on trust: names that become paths are looked at, numbers and times
must be some, and what refers to something must find it. What is text stays hostile, as everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from decimal import Decimal
from functools import partial
from pathlib import Path

from reportgen.chartfiles import COLOURS, MOST_ROWS
from reportgen.errors import ExitCode, ReportgenError
from reportgen.model import Cell, Chart, Notice, Report
from reportgen.quickclass import dataclass
from reportgen.render.csvtext import read_csv
from reportgen.render.format import to_decimal
from reportgen.report.exportedlogs import healing_of, is_time, runs_of
from reportgen.report.json import read_report
from reportgen.report.sqltexts import with_texts

#: A report of the most pages that a site has takes a tenth of it, in bytes; and so does a CSV file beside it.
MOST_BYTES = 256 << 20
#: Whole numbers that every reader of JSON holds exactly.
_MOST = 2**53
_LONGEST = 1 << 20
#: Shorter than a file's name may be by what a merged report puts around it.
_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,139}")
_DETECTOR = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,99}")
#: Shown, and a part of links and anchors, but never of a path that is written.
_SQL = re.compile(r"sql/[^\s\x00-\x1f\\./][^\x00-\x1f\\]{0,199}")
_NAME = re.compile(r"[^\x00-\x1f]{1,200}")
_CSV = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,199}\.csv")
#: Fields that hold an exact number, and those that hold a moment; None in each of them is unknown.
_NUMBERS = frozenset(
    {"cost", "mean_run_cost", "recent_run_cost", "earlier_run_cost", "earlier_cost", "recent_cost", "cost_per_run",
     "saving", "days", "limit_usd", "spent_usd", "warn_percent"}
)  # fmt: skip
_TIMES = frozenset({"first", "last", "now", "first_seen", "last_seen", "middle", "since", "until", "as_of"})
_STEP = "Build that report again, or leave it out."


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """A report from elsewhere: with the rows of its charts, its runs and its log where their CSV files are there."""

    report: Report
    #: What gives the content of its tables, by path in the site: `data/runs.csv`.
    files: Mapping[str, Callable[[], bytes]]
    #: Rejected lines that `--strict` makes errors.
    rejected_errors: int
    #: What is missing, and why.
    notices: tuple[Notice, ...]


def read_export(path: Path, name: str) -> Exported:
    """Return the report in the file. Raises ReportgenError (exit 3) where it can't be read, or holds no whole report.

    `name`: what the file is called in messages.
    """
    try:
        report = read_report(_bytes(path), name)
        problem = next(_problems(report), None)
    except OSError as error:
        what = f"can't be read ({(error.strerror or str(error)).lower()})"
        raise ReportgenError(name, what, "Check the path and its permissions.", ExitCode.NO_INPUT) from error
    except ReportgenError as error:
        raise ReportgenError(name, error.what, _STEP, ExitCode.NO_INPUT) from error
    if problem is not None:
        raise ReportgenError(name, f"is not a report: {problem}", _STEP, ExitCode.NO_INPUT)
    return _with_csvs(with_texts(report), path.parent)


def _bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ReportgenError(str(path), f"is larger than {MOST_BYTES >> 20} MB, which no report is", _STEP)
    return data


# --- what a report must be ------------------------------------------------------------------------------------------


def _problems(report: Report) -> Iterator[str]:
    """Yield what is wrong with a report of the right shape."""
    yield from _values("report", report)
    yield from _paths(report)
    yield from _references(report)


def _values(where: str, value: object) -> Iterator[str]:
    if isinstance(value, str):
        if len(value) > _LONGEST:
            yield f"{where} is longer than any text of a report"
    elif isinstance(value, int):
        if not 0 <= value < _MOST:
            yield f"{where} is {value!r:.40}"
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _values(where, one)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _values(where, key)
            yield from _values(where, one)
    elif is_dataclass(value):
        for field in fields(value):
            inner = getattr(value, field.name)
            name = f"{where}.{field.name}" if where != "report" else field.name
            if isinstance(inner, str) and field.name in _NUMBERS and _is_none(to_decimal(inner)):
                yield f"{name} is no such number: {inner!r:.40}"
            if isinstance(inner, str) and field.name in _TIMES and not is_time(inner):
                yield f"{name} is no time: {inner!r:.40}"
            yield from _values(name, inner)


def _is_none(number: Decimal | None) -> bool:
    """Say whether it is none of a report's amounts, of which none is below zero."""
    return number is None or number < 0


def _paths(report: Report) -> Iterator[str]:
    """Yield names that can't become a part of a path or an anchor."""
    safe: list[tuple[str, re.Pattern[str], Iterable[str]]] = [
        ("pipelines.slug", _SLUG, (one.slug for one in report.pipelines)),
        ("agents.slug", _SLUG, (one.slug for one in report.agents)),
        ("recommendations.id", _SLUG, (one.id for one in report.recommendations)),
        ("groups.group", _SLUG, (one.group for one in report.groups)),
        ("retired.id", _SLUG, (one.id for one in report.retired)),
        ("charts.id", _SLUG, (one.id for one in report.charts)),
        ("charts.page", _SLUG, (one.page for one in report.charts)),
        ("charts.key", _SLUG, (one.key for one in report.charts if one.key)),
        ("charts.csv", _CSV, (one.csv for one in report.charts)),
        ("charts.file", _SQL, (one.file for one in report.charts)),
        ("tables.file", _CSV, (one.file for one in report.tables)),
        ("detectors.detector", _DETECTOR, (one.detector for one in report.detectors)),
        ("detectors_off.detector", _DETECTOR, (one.detector for one in report.detectors_off)),
        ("detectors.file", _SQL, (one.file for one in report.detectors)),
        ("sql.file", _SQL, (one.file for one in report.sql)),
        ("sql.name", _NAME, (one.name for one in report.sql)),
    ]
    for where, pattern, names in safe:
        for name in names:
            if not pattern.fullmatch(name):
                yield f"{where} can't be {name!r:.40}"


def _references(report: Report) -> Iterator[str]:
    """Yield what is there twice, and what names something that is not there."""
    ids = [one.id for one in report.recommendations]
    once: list[tuple[str, list[str]]] = [
        ("pipelines", [one.pipeline for one in report.pipelines]),
        ("pipelines", [one.slug for one in report.pipelines]),
        ("agents", [f"{one.pipeline}\x1f{one.agent}" for one in report.agents]),
        ("recommendations", ids),
        ("groups", [one.group for one in report.groups]),
        ("detectors", [one.detector for one in report.detectors]),
        ("charts", [f"{one.page}\x1f{one.key}\x1f{one.id}" for one in report.charts]),
        ("tables", [one.file for one in report.tables]),
    ]
    for where, names in once:
        if len(set(names)) < len(names):
            yield f"{where} holds one of them twice"
    groups = {name: group.group for group in report.groups for name in group.ids}
    if [one.group for one in report.recommendations] != [groups.get(one.id) for one in report.recommendations]:
        yield "groups and recommendations don't fit each other"
    if sorted(name for group in report.groups for name in group.ids) != sorted(ids):
        yield "groups and recommendations don't fit each other"
    if not {one.pipeline for one in report.pipelines}.issuperset(one.pipeline for one in report.agents):
        yield "pipelines lacks one that an agent works in"
    known = set(ids)
    named_ids = [one.recommendations for one in report.pipelines] + [one.recommendations for one in report.agents]
    if any(not known.issuperset(some) for some in named_ids):
        yield "recommendations lacks one that is named elsewhere"
    if not {one.detector for one in report.detectors}.issuperset(one.detector for one in report.recommendations):
        yield "detectors lacks one that found something"
    if any(not 0 <= one.vfm.total <= 100 for one in report.recommendations):
        yield "recommendations holds a total that is none from 0 to 100"


# --- the files beside it --------------------------------------------------------------------------------------------


def _with_csvs(report: Report, folder: Path) -> Exported:
    """Return the report with what its CSV files hold, and a notice of what could not be had."""
    files: dict[str, Callable[[], bytes]] = {}
    missing: list[str] = []
    broken: list[str] = []
    cut: list[str] = []

    def read(name: str) -> tuple[bytes, tuple[list[str], list[list[str]]]] | None:
        try:
            place = folder / name
            if place.is_symlink() or not place.is_file():
                missing.append(name)
                return None
            data = _bytes(place)
            return data, read_csv(data)
        except (OSError, ValueError, ReportgenError):
            broken.append(name)
            return None

    tables = {}
    for table in report.tables:
        if table.file.startswith("chart-"):
            broken.append(table.file)
        elif (found := read(table.file)) is not None:
            if len(found[1][1]) != table.rows:
                cut.append(f"{table.file} holds {len(found[1][1]):,} rows where the report tells of {table.rows:,}")
            data, tables[table.file] = found
            files[f"data/{table.file}"] = partial(bytes, data)
    charts = []
    for chart in report.charts:
        found = read(chart.csv) if chart.columns else None
        drawn = None if found is None else _drawn(chart, *found[1])
        charts += [] if drawn is None else [drawn]
    healing = healing_of(report.healing, tables.get("healing.csv"), tables.get("incidents.csv"))
    runs = runs_of(report, tables.get("runs.csv"))
    if len(charts) < len(report.charts) and not missing and not broken:
        missing.append("charts")
    notices = []
    if missing:
        what = "its charts, runs and tables are not all here, as the CSV files beside its report.json are missing"
        step = "give the folder of its site instead of the file alone"
        notices.append(Notice(code="project-part", message=f"{what}: {step}", count=len(missing)))
    if broken:
        what = f"{broken[0]} can't be read as CSV of reportgen, so what it holds is missing"
        notices.append(Notice(code="project-part", message=what, count=len(broken)))
    if cut:
        what = f"{cut[0]}: a file was cut or replaced, so that what is told of its rows is not whole"
        notices.append(Notice(code="project-part", message=what, count=len(cut)))
    return Exported(
        report=replace(report, charts=charts, healing=healing, runs=runs),
        files=files,
        # Of those that are not listed it is not known: they count.
        rejected_errors=report.rejected_total - sum(one.reason.startswith("still being") for one in report.rejected),
        notices=tuple(notices),
    )


def _drawn(chart: Chart, columns: list[str], cells: list[list[str]]) -> Chart | None:
    """Return the chart with its rows; None where it can't be drawn of them."""
    if not cells or len(cells) > MOST_ROWS or len(columns) != len(chart.columns):
        return None
    names = [column.name for column in chart.columns]
    roles = (chart.series, chart.mark, chart.label, chart.size, chart.end, chart.level, chart.link)
    if any(role not in names for role in (chart.x, chart.y, *(role for role in roles if role is not None))):
        return None
    if (chart.kind == "spans" and chart.end is None) or (chart.kind == "bubbles" and chart.size is None):
        return None
    truth: dict[str, Cell] = {"true": True, "false": False}
    rows: list[list[Cell]] = [
        [
            None if not cell else truth.get(cell, cell) if name == chart.mark else cell
            for name, cell in zip(names, row, strict=True)
        ]
        for row in cells
    ]
    return replace(chart, rows=rows, colours={name: one for name, one in chart.colours.items() if one in COLOURS})
