"""`reportgen check`: every problem at once, each at its line and column, nothing run and no data read."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from reportgen.checking import Problem, check
from reportgen.checkrules import RESERVED
from reportgen.detectorfile import unit_problem
from reportgen.newdetector import new_detector
from reportgen.sqltree import CLOCKS, SESSION, VOLATILE, Found, read_tree
from reportgen.warehouse import Warehouse

GOOD = """/*---
title = "Long runs"
finding = "{subject} has {observed}."
action = "Split {subject}."
subject_kind = "run"
[params.most]
default = 4
---*/
select
    r.pipeline,
    r.run as subject,
    r.run_key as subject_key,
    r.events as observed,
    null as baseline,
    p.most as threshold,
    1 as occurrences,
    1 as affected_runs,
    pl.runs as total_runs
from runs as r
inner join pipelines as pl on r.pipeline = pl.pipeline
cross join params.long_runs as p
where r.events > p.most
order by r.pipeline, r.events desc, r.run_key
"""
CASES = "# Long runs\n\n## Hit\n\nExpect:\n\n| subject |\n|---|\n| r1 |\n\n## Near miss\n\nExpect: nothing\n"


def write(project: Path, **files: str) -> Path:
    """Write files of a project's `sql`, named `detectors__long_runs` for detectors/long_runs.sql."""
    for name, text in files.items():
        folder, _, stem = name.partition("__")
        path = project / "sql" / folder / f"{stem}.sql"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return project


def lines(problems: list[Problem]) -> list[str]:
    return [f"{p.where} {p.severity} {p.what}" for p in problems]


def of(project: Path, name: str) -> list[str]:
    """What is said of one file, without its name."""
    return [line.removeprefix(f"{name}:") for line in lines(check(project)) if line.startswith(name)]


def detector(project: Path, text: str, *, tested: bool = True) -> list[str]:
    write(project, detectors__long_runs=text)
    if tested:
        (project / "sql/detectors/long_runs.test.md").write_text(CASES, encoding="utf-8")
    return of(project, "sql/detectors/long_runs.sql")


def test_the_built_in_files_have_no_problem() -> None:
    assert lines(check(None)) == []


def test_a_good_detector_has_no_problem(tmp_path: Path) -> None:
    assert detector(tmp_path, GOOD) == []
    assert lines(check(tmp_path)) == []


# --- one thing wrong at a time --------------------------------------------------------------------------------------


#: What is replaced in a good detector, by what, and all that is said of it then.
WRONG: list[tuple[str, str, list[str]]] = [
        ('title = "Long runs"', 'titel = "Long runs"', ["1:1 error front matter needs 'title'", "2:1 error unknown key 'titel'; did you mean 'title'?"]),
        ('subject_kind = "run"', "subject_kind = 3", ["5:1 error 'subject_kind' must be text in quotes"]),
        ('subject_kind = "run"', 'subject_kind = "runs"', ["5:1 error subject_kind must be one of agent, run, pipeline, project, tag, other, not 'runs'; did you mean 'run'?"]),
        ('subject_kind = "run"', 'effort = "XL"', ["5:1 error effort must be one of S, M, L, not 'XL'; did you mean 'L'?"]),
        ('subject_kind = "run"', 'needs = ["feedbak"]', ["5:1 error needs: unknown input 'feedbak'; did you mean 'feedback'?"]),
        ('subject_kind = "run"', "burden = 26", ["5:1 error burden must be from 0 to 25"]),
        ('subject_kind = "run"', "columns = 3", ["5:1 error 'columns' must be a table"]),
        ("default = 4", "defalt = 4", ["7:1 error unknown key 'defalt' in [params.most]; did you mean 'default'?"]),
        ("[params.most]\ndefault = 4", "[params.most]\nunit = 'events'", ["6:1 error parameter 'most' needs a default"]),
        ("default = 4", "default = 1e50", ["7:1 error parameter 'most' must be from 0 to below 1e12, with at most 6 decimals"]),
    ("default = 4", "default = nan", ["7:1 error parameter 'most' must be from 0 to below 1e12, with at most 6 decimals"]),
    ("[params.most]", "[params.'Most!']", ["6:1 error a parameter can't be named 'Most!'", '22:18 error Binder Error: Values list "p" does not have a column named "most"']),
        ("[params.most]", "[columns.observd]\nunit = 'event'\n[params.most]", ["6:1 error the SELECT gives no column 'observd'; did you mean 'observed'?", "7:1 error unknown unit 'event'; did you mean 'events'?"]),
        ("{observed}", "{observd}", ["3:26 error 'finding' names a column 'observd'; did you mean 'observed'?"]),
        ("Split {subject}", "Split {Subject}", ["4:17 error 'action' holds {Subject}, which is not filled in"]),
        ("r.events as observed", "r.evnts as observed", ['13:5 error Binder Error: Table "r" does not have a column named "evnts"']),
        ("from runs as r", "from rnus as r", ["19:6 error Catalog Error: Table with name rnus does not exist"]),
        ("params.long_runs", "params.long_run", ["21:12 error Catalog Error: Table with name long_run does not exist"]),
        ("r.events as observed,", "r.events as observed", ['14:5 error Parser Error: syntax error at or near "null"']),
        ("r.events as observed", "r.events as seen", ["3:26 error 'finding' names a column 'observed'", "10:5 error the SELECT gives no column 'observed'"]),
        ("r.events as observed", "r.events / 2 as observed", ["13:5 error column 'observed' is DOUBLE, and must be an exact number"]),
        ("r.events as observed", "avg(r.cost) over () as observed", ["13:5 error column 'observed' is DOUBLE, and must be an exact number"]),
        ("r.run as subject", "r.run_rank as subject", ["11:5 error column 'subject' is BIGINT, and must be text"]),
        ("1 as occurrences", "'1' as occurrences", ["16:5 error column 'occurrences' is VARCHAR, and must be a whole number"]),
        ("1 as occurrences", "1.5 as occurrences", ["16:5 error column 'occurrences' is DECIMAL(2,1), and must be a whole number"]),
        ("pl.runs as total_runs", "pl.runs as total_runs,\n    'new' as labels", ["19:5 error column 'labels' is VARCHAR, and must be a list of texts"]),
        ("pl.runs as total_runs", "pl.runs as total_runs, 1 as observed", ["13:5 error the SELECT gives two columns 'observed'"]),
        ("order by r.pipeline, r.events desc, r.run_key\n", "", ["10:5 error the SELECT has no ORDER BY"]),
        ("order by r.pipeline, r.events desc, r.run_key", "order by r.events desc", ["10:5 error ORDER BY does not break ties: it lacks pipeline and subject_key"]),
        ("order by r.pipeline, r.events desc, r.run_key", "order by r.pipeline, r.run", ["10:5 error ORDER BY does not break ties: it lacks subject_key"]),
        ("r.events as observed", "cast(floor(random()) as integer) as observed", ["13:16 error random() gives another value in another build"]),
        ("where r.events > p.most", "where r.started < now()", ["22:19 error now() gives another value in another build"]),
        ("where r.events > p.most", "where r.started < current_date", ["22:19 error current_date gives another value in another build"]),
        ("from runs as r", "from runs as r tablesample 10%", ["19:6 error a sample of rows gives another value in another build"]),
        ("1 as occurrences", "(select first(x.events) from runs as x) as occurrences", ["16:13 warning first() without order by: what it gives may change from build to build"]),
        ("from runs as r", "from (select * from runs limit 5) as r", ["19:14 warning limit without order by: what it gives may change from build to build"]),
        ("from runs as r", "from read_csv('x.csv') as r", ["19:6 error Permission Error: Cannot access file \"x.csv\" - file system operations are disabled by configuration"]),
        ("order by r.pipeline, r.events desc, r.run_key\n", "order by r.pipeline, r.run_key; select 1", ["23:40 error must be exactly one SELECT, and holds 2 statements"]),
        ("/*---\ntitle", "/*---\nissue = 'see /* here'\ntitle", ["2:1 error front matter can't hold /* or */: SQL comments nest"]),
        ("---*/\n", "\n", ["1:1 error front matter is opened with /*--- and never closed"]),
]  # fmt: skip

#: Orders that put findings in one order, whatever ties there are.
ORDERS = [
    "pipeline, observed, subject_key",
    "1, 3",
    "all",
    "r.pipeline, r.run_key",
    "subject_key desc nulls last, pipeline",
]

#: What is no single SELECT.
NO_SELECT = {
    "copy runs to 'x.csv'": "1:1 error must be exactly one SELECT",
    "drop table runs": "1:1 error must be exactly one SELECT",
    "set memory_limit = '1GB'": "1:1 error must be exactly one SELECT",
    "": "1:1 error the file is empty",
    "select 1;\nselect 2": "2:8 error must be exactly one SELECT, and holds 2 statements",
    "select 1; drop table runs": "1:1 error must be exactly one SELECT",
    "select 1 +": '1:10 error Parser Error: syntax error at or near "+"',
}


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What is said of each of many files, all checked at once: they do not get in each other's way."""
    project = tmp_path_factory.mktemp("checked")
    for number, (old, new, _) in enumerate(WRONG):
        assert old in GOOD
        name = f"wrong_{number}"
        text = GOOD.replace(old, new, 1).replace("params.long_runs as", f"params.{name} as")
        write(project, **{f"detectors__{name}": text})
        (project / f"sql/detectors/{name}.test.md").write_text(CASES, encoding="utf-8")
    for number, order in enumerate(ORDERS):
        name = f"order_{number}"
        text = GOOD.replace("r.pipeline, r.events desc, r.run_key", order).replace("long_runs as", f"{name} as")
        write(project, **{f"detectors__{name}": text})
        (project / f"sql/detectors/{name}.test.md").write_text(CASES, encoding="utf-8")
    for number, sql in enumerate(NO_SELECT):
        write(project, **{f"marts__none_{number}": sql})
    said: dict[str, list[str]] = {}
    for problem in check(project):
        line = f"{problem.line}:{problem.column} {problem.severity} {problem.what}"
        said.setdefault(Path(problem.path).stem, []).append(line)
    return said


@pytest.mark.parametrize("number", range(len(WRONG)), ids=[new.strip()[:40] for _, new, _ in WRONG])
def test_one_thing_wrong(checked: dict[str, list[str]], number: int) -> None:
    assert checked.get(f"wrong_{number}", []) == WRONG[number][2]


def test_orders_that_break_ties(checked: dict[str, list[str]]) -> None:
    assert [checked.get(f"order_{number}") for number in range(len(ORDERS))] == [None] * len(ORDERS)


@pytest.mark.parametrize("number", range(len(NO_SELECT)), ids=list(NO_SELECT))
def test_what_is_no_single_select(checked: dict[str, list[str]], number: int) -> None:
    assert checked[f"none_{number}"] == [list(NO_SELECT.values())[number]]


def test_all_that_is_wrong_with_a_header_is_said_at_once_each_at_its_place(tmp_path: Path) -> None:
    head = [
        "/*---",
        'title = "Long runs"',
        "isue = 'x'",
        'finding = """',
        "{subject} has {observd}, and",
        'once more {observd}, {Nothing}."""',
        'action = "Split {subject} \\u007bnobody}."',
        'needs = ["event", "feedbak"]',
        'effort = "XL"',
        "burden = 'much'",
        "saving = 3",
        "[actions]",
        '"too long" = "Look at {subjct}."',
        "[minimum]",
        "run = 1",
        "[columns.observed]",
        "labl = 'Seen'",
        "unit = 'event'",
        "[params.most]",
        "default = 1e50",
        "units = 'events'",
        "---*/",
    ]
    assert detector(tmp_path, "\n".join(head) + GOOD[GOOD.index("---*/") + len("---*/") :]) == [
        "3:1 error unknown key 'isue'; did you mean 'issue'?",
        "5:15 error 'finding' names a column 'observd'; did you mean 'observed'?",
        "6:11 error 'finding' names a column 'observd'; did you mean 'observed'?",
        "6:22 error 'finding' holds {Nothing}, which is not filled in",
        # It is written otherwise than it reads, so its place is that of the key.
        "7:1 error 'action' names a column 'nobody'",
        "8:1 error needs: unknown input 'event'; did you mean 'events'?",
        "8:1 error needs: unknown input 'feedbak'; did you mean 'feedback'?",
        "9:1 error effort must be one of S, M, L, not 'XL'; did you mean 'L'?",
        "10:1 error 'burden' must be a whole number",
        "11:1 error 'saving' must be text in quotes",
        "13:23 error 'actions.too long' names a column 'subjct'; did you mean 'subject'?",
        "15:1 error unknown key 'run' in [minimum]; did you mean 'runs'?",
        "17:1 error unknown key 'labl' in [columns.observed]; did you mean 'label'?",
        "18:1 error unknown unit 'event'; did you mean 'events'?",
        "20:1 error parameter 'most' must be from 0 to below 1e12, with at most 6 decimals",
        "21:1 error unknown key 'units' in [params.most]; did you mean 'unit'?",
    ]


@pytest.mark.parametrize(
    ("unit", "meant"),
    [
        ("percent", "share"), ("%", "share"), ("pct", "share"), ("dollars", "usd"), ("$", "usd"), ("USD", "usd"),
        ("ms", "days"), ("seconds", "days"), ("Minutes", "days"), ("event", "events"), ("colour", None),
    ],
)  # fmt: skip
def test_a_unit_by_another_name(unit: str, meant: str | None) -> None:
    what, step = unit_problem(unit)
    assert what == f"unknown unit '{unit}'" + (f"; did you mean '{meant}'?" if meant else "")
    assert step.startswith("Known: events, runs, ")
    assert ("from 0 to 1" in step) == (meant == "share")


def test_all_that_is_wrong_with_the_header_of_a_chart(tmp_path: Path) -> None:
    head = (
        '/*---\ntitle = "Own"\npages = "overview"\npage = "overvew"\nkind = "bars"\nx = "day"\ny = "n"\nlink = 3\n'
        'headline = ["{n}", "{n:day}, {m}"]\n[columns]\nday.unit = "dates"\n[colours]\na = "green"\n---*/\n'
    )
    write(tmp_path, charts__own=head + "select day, events as n from agent_days order by day, n")
    assert of(tmp_path, "sql/charts/own.sql") == [
        "3:1 error unknown key 'pages'; did you mean 'page'?",
        "4:1 error unknown page 'overvew'; did you mean 'overview'?",
        "8:1 error 'link' must be text in quotes",
        "9:21 error unknown unit 'day' in 'headline'; did you mean 'days'?",
        "9:30 error the SELECT gives no column 'm'",
        "11:1 error unknown unit 'dates'; did you mean 'date'?",
        "13:1 error unknown colour 'green'; did you mean 'grey'?",
    ]
    write(tmp_path, charts__own="/*---\ntitle = 3\nheadline = 3\ncolumns = 3\ncolours = 3\n---*/\nselect 1 as a")
    assert "3:1 error 'headline' must be text in quotes or a list" in of(tmp_path, "sql/charts/own.sql")
    write(tmp_path, marts__own="/*---\ntitle = 'Own'\ncolumns = 3\n---*/\nselect 1 as a order by a")
    assert of(tmp_path, "sql/marts/own.sql") == ["3:1 error 'columns' must be a table"]


# --- tables and charts ----------------------------------------------------------------------------------------------


def test_a_table_file_is_held_to_its_columns(tmp_path: Path) -> None:
    head = '/*---\ntitle = "Own"\ndocs = "x"\n[columns]\nrun = 3\ncosts = "Its cost"\n---*/\n'
    write(tmp_path, marts__own=f"{head}select run, cost from runs")
    assert of(tmp_path, "sql/marts/own.sql") == [
        "3:1 error unknown key 'docs'; did you mean 'doc'?",
        "5:1 error 'run' in [columns] must be text in quotes",
        "6:1 error the SELECT gives no column 'costs'; did you mean 'cost'?",
    ]


def test_columns_that_no_table_can_have(tmp_path: Path) -> None:
    write(tmp_path, marts__a="select run, cost, cost as Cost from runs", marts__b="select () as a, 1 as n from runs")
    write(tmp_path, marts__c='select cost as "a""b" from a', marts__d="select n from b")
    assert lines(check(tmp_path)) == [
        "sql/marts/a.sql:1:1 error the SELECT gives two columns 'cost'",
        "sql/marts/b.sql:1:1 error no table can hold the columns that it gives",
        "sql/marts/d.sql:1:15 warning can't be checked: it reads 'b', and sql/marts/b.sql has an error",
    ]


def test_marts_are_bound_in_the_order_of_their_references_and_a_circle_is_named(tmp_path: Path) -> None:
    write(tmp_path, marts__a="select run from b", marts__b="select run, cost from runs", marts__c="select run from a")
    assert lines(check(tmp_path)) == []
    write(tmp_path, marts__a="select run from c")
    assert lines(check(tmp_path)) == [
        f"sql/marts/{name}.sql:1:1 error sql/marts/a.sql and sql/marts/c.sql need each other" for name in "ac"
    ]


def test_what_stands_on_a_broken_table_is_told_apart_from_what_is_wrong(tmp_path: Path) -> None:
    write(tmp_path, marts__a="select cst from runs", marts__b="select cst from a", marts__agents="select 1 as agent")
    said = lines(check(tmp_path))
    assert 'sql/marts/a.sql:1:8 error Binder Error: Referenced column "cst" not found in FROM clause' in said
    assert "sql/marts/b.sql:1:17 warning can't be checked: it reads 'a', and sql/marts/a.sql has an error" in said
    # A built-in file that a mart of the project breaks is an error of that file, once.
    broken = [line for line in said if line.startswith("sql/detectors/bottleneck_agent.sql")]
    assert len(broken) == 1
    assert 'does not have a column named "' in broken[0]


def test_names_that_clash(tmp_path: Path) -> None:
    write(
        tmp_path,
        marts__events="select 1 as a",
        marts__vfm="select 1 as a",
        scoring__runs="select 1 as a",
        sources__findings="select 1 as a",
        marts__order="select 1 as a",
        detectors__report=GOOD.replace("long_runs", "report"),
    )
    errors = [p for p in check(tmp_path) if p.severity == "error"]
    assert [(p.path, p.what) for p in errors] == [
        ("sql/detectors/report.sql", "a detector can't be named 'report': params.report is taken"),
        ("sql/marts/events.sql", "clashes with sql/sources/events.sql, which has the same name"),
        ("sql/marts/order.sql", "'order' is a word of SQL, and can't name a table"),
        ("sql/marts/vfm.sql", "clashes with sql/scoring/vfm.sql, which has the same name"),
        ("sql/scoring/runs.sql", "clashes with sql/marts/runs.sql, which has the same name"),
        ("sql/sources/findings.sql", "clashes with the table of findings, which has the same name"),
    ]


def test_a_chart_is_held_to_its_roles(tmp_path: Path) -> None:
    head = '/*---\ntitle = "Of {pipline}"\npage = "{page}"\nkind = "{kind}"\nx = "day"\ny = "n"\nlabel = "tip"\n---*/\n'
    text = head.replace("{page}", "pipeline").replace("{kind}", "bars") + "select day, events as n from agent_days"
    write(tmp_path, charts__own=text)
    assert of(tmp_path, "sql/charts/own.sql") == [
        "2:13 error the SELECT gives no column 'pipline'",
        "3:1 error the SELECT gives no column 'pipeline'",
        "7:1 error the SELECT gives no column 'tip'",
        "9:8 error the SELECT has no ORDER BY",
    ]
    write(tmp_path, charts__own=text.replace('"pipeline"', '"pipelines"').replace('"bars"', '"bar"'))
    said = of(tmp_path, "sql/charts/own.sql")
    assert "3:1 error unknown page 'pipelines'; did you mean 'pipeline'?" in said
    assert "4:1 error unknown kind 'bar'; did you mean 'bars'?" in said


def test_a_file_that_no_build_looks_at_is_named(tmp_path: Path) -> None:
    write(tmp_path, detector__own=GOOD)
    (tmp_path / "sql" / "own.sql").write_text("select 1")
    assert lines(check(tmp_path)) == [
        "sql/detector/own.sql:1:1 error is in no folder that is read; did you mean 'detectors'?",
        "sql/own.sql:1:1 error is in no folder that is read",
    ]


# --- tests and settings ---------------------------------------------------------------------------------------------


def test_a_detector_without_a_hit_and_a_near_miss_is_a_warning(tmp_path: Path) -> None:
    assert detector(tmp_path, GOOD, tested=False) == ["1:1 warning has no test"]
    path = tmp_path / "sql/detectors/long_runs.test.md"
    path.write_text(CASES.replace("Expect: nothing", "Expect:\n\n| subject |\n|---|\n| r2 |"))
    assert of(tmp_path, "sql/detectors/long_runs.test.md") == ["1:1 warning no case is a near miss (nothing)"]
    path.write_text(CASES[CASES.index("## Near") :])
    assert of(tmp_path, "sql/detectors/long_runs.test.md") == [
        "1:1 warning no case is a hit (a case that expects rows)"
    ]
    path.write_text("nothing")
    assert of(tmp_path, "sql/detectors/long_runs.test.md") == ["1:1 warning holds no case"]


def test_settings_that_are_wrong_are_a_problem_like_any_other(tmp_path: Path) -> None:
    detector(tmp_path, GOOD)
    settings = tmp_path / "reportgen.toml"
    settings.write_text("[report]\npipline = 'x'\n")
    assert [p.where for p in check(tmp_path)] == ["reportgen.toml:2:1"]
    settings.write_text("[detectors.long_runs]\nmost = 'many'\n")
    (said,) = lines(check(tmp_path))
    assert said == "reportgen.toml:1:1 error 'most' in [detectors.long_runs] must be of the kind of its default, 4"


def test_all_problems_come_at_once_in_order_of_place(tmp_path: Path) -> None:
    write(
        tmp_path,
        detectors__one=GOOD.replace("long_runs", "one").replace("title", "titel").replace("r.events >", "now() >"),
        detectors__two="select 1",
        marts__own="select nope from runs",
    )
    problems = check(tmp_path)
    assert [p.where for p in problems] == sorted(
        [p.where for p in problems], key=lambda w: (w.split(":")[0], *map(int, w.split(":")[1:]))
    )
    assert {p.path for p in problems if p.severity == "error"} == {
        "sql/detectors/one.sql", "sql/detectors/two.sql", "sql/marts/own.sql",
    }  # fmt: skip


# --- what it rests on -----------------------------------------------------------------------------------------------


def test_the_words_and_functions_are_those_of_duckdb() -> None:
    with Warehouse() as store:
        words = store.query("select keyword_name from duckdb_keywords() where keyword_category = 'reserved'").rows
        assert {row[0] for row in words} == RESERVED
        volatile = store.query(
            "select distinct function_name from duckdb_functions() where stability = 'VOLATILE'"
        ).rows
        # error() stops a query; it gives no value.
        assert {row[0] for row in volatile} - {"error"} <= VOLATILE
        known = {row[0] for row in store.query("select distinct function_name from duckdb_functions()").rows}
        for name in sorted(CLOCKS - known):
            assert store.describe(f"select {name}"), name
        assert not (SESSION & VOLATILE)


def test_an_expression_may_be_long_but_not_endless() -> None:
    text = "select " + " + ".join(["1"] * 900) + " as n"
    with Warehouse() as store:
        assert read_tree(store.serialized(text.replace(" + 1" * 800, ""))).items.keys() == {"n"}
        assert read_tree(store.serialized(text)).wrong == Found("is nested too deeply to be read", None)


def test_fifty_detectors_take_under_a_second(tmp_path: Path) -> None:
    for number in range(50):
        new_detector(tmp_path, f"own_{number}")
        sql = tmp_path / "sql" / "detectors" / f"own_{number}.sql"
        sql.write_text(re.sub(r"Say what [^.]*\.", "It is said.", sql.read_text()))
    check(None)  # What Python and DuckDB load once.
    started = time.process_time()
    assert check(tmp_path) == []
    # Processor time, twice what it may take: what else the machine does is not its fault.
    assert time.process_time() - started < 2


def test_nothing_of_the_project_but_its_sql_is_read(tmp_path: Path) -> None:
    detector(tmp_path, GOOD)
    (tmp_path / "cost-events.jsonl").write_text(json.dumps({"agent": "x"}))
    before = sorted(tmp_path.rglob("*"))
    (tmp_path / "cost-events.jsonl").chmod(0)
    assert check(tmp_path) == []
    assert sorted(tmp_path.rglob("*")) == before
