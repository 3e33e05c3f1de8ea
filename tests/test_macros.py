"""A project's own SQL functions, and SQL whose answer would differ between two builds of the same inputs."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from project import event, write_project
from test_faults import DETECTOR

from reportgen import build
from reportgen.checking import check
from reportgen.detectortest import run_tests
from reportgen.errors import ReportgenError
from reportgen.macros import make_macros
from reportgen.resources import resource_dir
from reportgen.sqlfile import find_sql_files
from reportgen.sqltree import read_tree
from reportgen.warehouse import Warehouse

TWICE = "-- Ours.\ncreate or replace macro twice(n) as n * 2;\n"
USES_TWICE = DETECTOR.replace("1 as observed", "twice(21) as observed")
CASE = "# Ours\n\n## A pipeline\n\nGiven `pipelines`:\n\n| pipeline |\n|---|\n| docs |\n\n"
CASE += "Expect:\n\n| subject | observed |\n|---|---|\n| docs | 42 |\n"
CHART = """/*---
title = "Ours"
page = "overview"
kind = "points"
x = "n"
y = "n"
---*/
select events as n, {more} as m from pipelines order by n
"""


def project(folder: Path, files: dict[str, str]) -> Path:
    return write_project(folder, [event(run_id="r1", cost_usd=1)], files=files)


def test_build_check_and_test_know_the_macros_of_a_project(tmp_path: Path) -> None:
    files = {"sql/macros.sql": TWICE, "sql/detectors/mine.sql": USES_TWICE, "sql/detectors/mine.test.md": CASE}
    folder = project(tmp_path, files)
    (mine,) = [r for r in build(folder).report.recommendations if r.detector == "mine"]
    assert mine.observed == "42"
    assert [p.what for p in check(folder) if p.severity == "error"] == []
    (result,) = run_tests(folder, ["mine"]).results
    assert (result.outcome, result.message) == ("passed", "")


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (
            "create macro a() as 1;\n\n/* b */ create table t (n integer);\n",
            ":3",
            "holds a statement that makes no macro",
        ),
        ("create macro a() as 1;\ndrop view runs;", ":2", "holds a statement that makes no macro"),
        ("create or replace macro a() as\n  random();", "", "macro a uses random(), which gives another value"),
        ("create macro a() as table select now() as z;", "", "macro a uses now(), which gives another value"),
        ("create macro a(", "", "Parser Error"),
    ],
)
def test_a_macro_file_that_is_wrong_is_named(tmp_path: Path, text: str, line: str, what: str) -> None:
    folder = project(tmp_path, {"sql/macros.sql": text})
    with pytest.raises(ReportgenError) as caught:
        build(folder)
    assert caught.value.where.startswith(f"sql/macros.sql{line}")
    assert what in caught.value.what
    assert not (folder / "site").exists()
    (problem,) = [p for p in check(folder) if p.severity == "error"]
    assert problem.path == "sql/macros.sql"
    assert what in problem.what


@pytest.mark.parametrize("call", ["random()", "now()", "current_date", "uuid()", "current_setting('TimeZone')"])
def test_a_detector_whose_answer_would_change_is_an_error(tmp_path: Path, call: str) -> None:
    wrong = DETECTOR.replace("finding =", "# …\nfinding =").replace(
        "1 as affected_runs", f"{call} as z, 1 as affected_runs"
    )
    report = build(project(tmp_path, {"sql/detectors/mine.sql": wrong})).report
    (mine,) = [d for d in report.detectors if d.detector == "mine"]
    assert mine.status == "error"
    what = f"{call.split('(')[0]}{'()' if '(' in call else ''} gives another value in another build"
    assert (mine.message or "").startswith(f"{what}. Use the rows' own times")
    assert (mine.where or "").startswith("sql/detectors/mine.sql:8")


def test_a_chart_whose_answer_would_change_is_left_out_and_told(tmp_path: Path) -> None:
    report = build(project(tmp_path, {"sql/charts/ours.sql": CHART.format(more="random()")})).report
    assert "ours" not in {chart.id for chart in report.charts}
    assert any("random() gives another value in another build" in notice.message for notice in report.notices)


def test_a_mart_whose_answer_would_change_stops_the_build(tmp_path: Path) -> None:
    with pytest.raises(ReportgenError, match=r"random\(\) gives another value in another build"):
        build(project(tmp_path, {"sql/marts/ours.sql": "select random() as a, * from runs\n"}))


def test_nothing_built_in_gives_another_answer_in_another_build() -> None:
    sql = resource_dir("sql")
    files = [
        f
        for folder in ("sources", "marts", "detectors", "scoring", "charts")
        for f in find_sql_files(folder, sql, None)
    ]
    with Warehouse() as store:
        make_macros(store, None)
        trees = store.all_serialized([file.text for file in files])
    assert len(files) > 50
    assert {f.name: read_tree(t).unsteady for f, t in zip(files, trees, strict=True) if read_tree(t).unsteady} == {}


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("prorate(10.5, 1, 3)", "3.5"),
        ("prorate(10, 1, 3)", "3.333333333333"),
        ("prorate(10.5, 1.4, 2.6)", "5.653846153846"),
        ("prorate(5, 0.2, 0.4)", "2.5"),
        ("prorate(0.45, 1, 0.45)", "1"),
        ("about(7, 3)", "2.33"),
        ("about(1.4, 1.6)", "0.88"),
        ("about(0.4, 3.4)", "0.12"),
        ("about(1, 0.45)", "2.22"),
    ],
)
def test_quotients_are_exact_of_whole_and_of_broken_numbers(call: str, value: str) -> None:
    with Warehouse() as store:
        make_macros(store, Path("none"))
        assert store.query(f"select {call}").rows[0][0] == Decimal(value)
