"""Kill every comparison of the built-in detectors, one at a time: some case of their own test files must turn red.

Detectors are found by their files, so one that is added is held to it from then on.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from detector_bench import HIT, project_with
from sql_mutants import Mutant, mutants

from reportgen import detectortest
from reportgen.resources import resource_dir
from reportgen.sqlfile import SqlFile, read_sql_file
from reportgen.testfile import read_test_file

FILES = sorted((resource_dir("sql") / "detectors").glob("*.sql"))

#: Changes that can't be told from the original by any rows that the marts can hold: (detector, line, change), and why.
EQUIVALENT: dict[tuple[str, str, str], str] = {
    # Ranks of one pipeline are all different, so nothing is left for the last key to order.
    ("bottleneck_agent", "order by f.pipeline, f.busy_rank, f.agent", "f.agent (asc) -> desc"): "busy_rank is unique",
    # Without runs every share of them is 0, and no count of runs is below 0.
    ("underutilized_agent", "where a.attributed and pl.runs > 0", "pl.runs > 0 -> >="): "runs are never negative",
}


@pytest.fixture(scope="module")
def bench() -> Iterator[detectortest.Bench]:
    with detectortest.Bench(None) as one:
        yield one


def survivors(bench: detectortest.Bench, file: SqlFile, alive: list[Mutant]) -> list[Mutant]:
    """The mutants that no case of the detector's test file notices. A case's rows are put in once for all of them."""
    path = detectortest.find_test(file, None)
    assert path is not None, f"{file.name} has no test file beside it"
    for case in read_test_file(path, name=path.name).cases:
        assert case.problem is None, case.problem
        bench.give(case, path.name)
        # A case that is red by itself would notice nothing: it would pass every mutant off as killed.
        honest = bench.judge(file, case, path.name)
        assert honest.outcome == "passed", f"{path.name}:{case.line}: {honest.message}"
        alive = [one for one in alive if bench.judge(one.file, case, path.name).outcome == "passed"]
    return alive


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_mutant_turns_a_case_red(path: Path, bench: detectortest.Bench) -> None:
    file = read_sql_file(path, name=f"sql/detectors/{path.name}", origin="built-in")
    made = list(mutants(file))
    assert made, "nothing to mutate: the reader of the SQL is wrong"
    alive = survivors(bench, file, made)
    allowed = {key[1:] for key in EQUIVALENT if key[0] == file.id}
    left = [one for one in alive if (one.text, one.change) not in allowed]
    stale = allowed - {(one.text, one.change) for one in alive}
    lines = [f"{file.name}:{one.line}: {one.change}   in   {one.text}" for one in left]
    assert not left, f"{len(left)} of {len(made)} changes that no case notices:\n" + "\n".join(lines)
    assert not stale, f"noticed, so not equivalent: {stale}"


def test_what_is_changed() -> None:
    text = """/*---
title = "a >= b and c"
[params.share]
default = 0.10
[params.name]
default = "x"
---*/
select a, '>=', row_number() over (partition by b order by c desc nulls last, lower(d), e asc rows between 1 and 2) -- <
from t where (a >= 1 and b <> 2) or c is not null and d between 1 and 3 and not exists (select 1)
order by a, b desc
"""
    front = {"params": {"share": {"default": Decimal("0.10")}, "name": {"default": "x"}}}
    file = SqlFile("d", Path("d.sql"), "d.sql", "built-in", front, text)
    made = list(mutants(file))
    assert [(one.line, one.change) for one in made] == [
        (8, "c desc -> asc"), (8, "lower(d) (asc) -> desc"), (8, "e asc -> desc"),
        (9, "(a >= 1 -> >"), (9, "(a >= 1 -> <"), (9, "1 and b -> or"), (9, "b <> 2 -> ="), (9, "2) or c -> and"),
        (9, "c is not null -> is null"), (9, "null and d -> or"), (9, "d between -> not between"),
        (9, "3 and not -> or"), (9, "and not exists -> exists"),
        (10, "a (asc) -> desc"), (10, "b desc -> asc"),
        (3, "default of share: 0.10 -> 0.11"), (3, "default of share: 0.10 -> 0.09"), (5, "default of name: x -> xx"),
    ]  # fmt: skip
    assert made[0].file.text == text.replace("c desc nulls", "c asc nulls")
    assert made[1].file.text == text.replace("lower(d),", "lower(d) desc,")
    assert made[4].file.text == text.replace("(a >= 1", "(a < 1")
    assert made[13].file.text == text.replace("order by a, b", "order by a desc, b")
    assert made[-2].file.front["params"]["share"]["default"] == Decimal("0.09")


def test_a_change_that_no_case_shows_is_found(tmp_path: Path) -> None:
    # Nobody has exactly five events, so nothing tells `>` from `>=`; the others differ in one fact each.
    project = project_with(tmp_path, HIT.replace("| docs | bob | 5 |", "| docs | bob | 4 |"))
    with detectortest.Bench(project) as own:
        file = own.detectors["busy"]
        left = survivors(own, file, list(mutants(file)))
    assert [one.change for one in left] == [
        "events > p.more_than -> >=", "pipeline asc -> desc", "agent asc -> desc", "default of more_than: 5 -> 4",
    ]  # fmt: skip
