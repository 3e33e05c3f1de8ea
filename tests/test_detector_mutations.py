"""Kill every comparison of the built-in detectors, one at a time: some case of their own test files must turn red.

Detectors are found by their files, so one that is added is held to it from then on.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
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
