"""What to do about SQL that can't be parsed: the same words from a check, a build's run of a detector, and a test."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_checking import CASES, GOOD, write

from reportgen.checking import check
from reportgen.detectortest import run_tests
from reportgen.warehouse import SqlError, Warehouse

LOOK = "Look at it, and at what stands right before it."


@pytest.fixture(scope="module")
def store() -> Warehouse:
    return Warehouse()


@pytest.mark.parametrize(
    ("sql", "step"),
    [
        ("select\n    a as x\n    b as y\nfrom t", "Is a comma missing at the end of line 2?"),
        ("select\n    t.a\n    t.b\nfrom t", "Is a comma missing at the end of line 2?"),
        (
            "select\n    f(a) as x -- one, and\n\n    -- two,\n    'b' as y\nfrom t",
            "Is a comma missing at the end of line 2?",
        ),
        ("with c as (\n    select 1\n)\nd as (\n    select 2\n)\nselect 1", "Is a comma missing at the end of line 3?"),
        ("select 'é' as x 2 as y", "Is a comma missing before it, on line 1?"),
        ("select\n    a as x,\n    +\nfrom t", LOOK),
        ("select a\nfro t", "Is 'fro' meant to be 'from'?"),
        ("select a\nfrom t\nwhre a > 1", "Is 'whre' meant to be 'where'?"),
        ("select a +\nfrom t", LOOK),
        ("select a, case when b then c from t", LOOK),
        ("select a from t)", LOOK),
        ("select (a from t", LOOK),
        ("select 'a from t", "Close the quote or the comment."),
        ("/*---\n---*/\n1 as a", LOOK),
    ],
)
def test_what_to_do(store: Warehouse, sql: str, step: str) -> None:
    with pytest.raises(SqlError) as told:
        store.describe(sql)
    assert told.value.hint == step
    wrong = store.select_problem(sql)
    assert wrong is not None
    assert wrong.hint == step


def test_the_same_words_everywhere(tmp_path: Path) -> None:
    text = GOOD.replace("1 as affected_runs,", "1 as affected_runs")
    write(tmp_path, detectors__long_runs=text)
    (tmp_path / "sql/detectors/long_runs.test.md").write_text(CASES, encoding="utf-8")
    step = "Is a comma missing at the end of line 17?"
    (problem,) = [p for p in check(tmp_path) if p.path == "sql/detectors/long_runs.sql"]
    assert (problem.line, problem.next_step) == (18, step)
    hit, _ = run_tests(tmp_path, ["long_runs"]).results
    assert hit.message == f"sql/detectors/long_runs.sql:18: {problem.what}. {step}"


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("r.events as observed", "r.events / 2 as observed", "'observed'"),
        ("1 as occurrences", "r.cost as occurrences", "'occurrences'"),
        ("r.run_key as subject_key", "'one' as subject_key", "two rows"),
    ],
)
def test_a_column_that_is_wrong_in_a_row_has_its_line(tmp_path: Path, old: str, new: str, what: str) -> None:
    write(tmp_path, detectors__long_runs=GOOD.replace(old, new).replace("where r.events > p.most", ""))
    given = (
        "\nGiven `pipelines`:\n\n| pipeline | runs |\n|---|---|\n| p | 2 |\n\nGiven `runs`:\n\n"
        "| pipeline | run | run_key | events | cost |\n|---|---|---|---|---|\n| p | a | a | 7 | 0.5 |\n"
        "| p | b | b | 9 | 0.5 |\n"
    )
    (tmp_path / "sql/detectors/long_runs.test.md").write_text(CASES.replace("\nExpect", given + "\nExpect", 1))
    hit = run_tests(tmp_path, ["long_runs"]).results[0]
    # Two rows for one subject are of the SELECT as a whole, which begins with its first column.
    line = 10 if what == "two rows" else GOOD[: GOOD.index(old)].count("\n") + 1
    assert hit.message.startswith(f"sql/detectors/long_runs.sql:{line}: ")
    assert what in hit.message


def test_one_select_is_said_only_where_that_is_the_trouble(tmp_path: Path) -> None:
    write(tmp_path, marts__a="select 1; select 2", marts__b="select (1", marts__c="drop table runs")
    one = "A file is one SELECT, and nothing else."
    assert {p.path: p.next_step for p in check(tmp_path)} == {
        "sql/marts/a.sql": one,
        "sql/marts/b.sql": LOOK,
        "sql/marts/c.sql": one,
    }
