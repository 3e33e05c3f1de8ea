"""A test file: what is a case, what is prose, what a cell holds, and mistakes, each told with its place."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from detector_bench import BUSY, GIVEN, HIT, only, project_with, run, run_project
from hypothesis import given
from hypothesis import settings as sized
from hypothesis import strategies as st

from reportgen import detectortest, testcells, testfile


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[detectortest.Bench]:
    with detectortest.Bench(project_with(tmp_path_factory.mktemp("bench"), None)) as one:
        yield one


# --- mistakes in a test file ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("Given `agents`", "Given `agent`", 7, "no mart 'agent'; did you mean 'agents'?"),
        ("| pipeline | agent | events", "| pipeline | agnet | events", 7, "no column 'agnet' in 'agents'; did you mean 'agent'?"),
        ("| subject | observed |", "| subjcet | observed |", 15, "no column 'subjcet'"),
        ("| docs | bob | 5 |", "| docs | bob | 5.5 |", 10, "column 'events' (BIGINT): '5.5' is no whole number"),
        ("| 2 | 50 |", "| 2 | a lot |", 11, "column 'cost' (DECIMAL(38,12)): 'a lot' is no plain decimal number"),
        ("\n| ann | 6 |", "\n| ann | six |", 18, "column 'observed' (BIGINT): 'six' is no whole number"),
        ("| docs | bob | 5 | 2 | 2 |", "| docs | bob | 5 | 2 |", 10, "4 cells under 5 columns"),
        ("| docs | bob | 5 | 2 | 2 |", "| docs | bob | 5 | 2 | 2 | 3 |", 10, "6 cells under 5 columns"),
        ("| docs | bob |", "\n| docs | bob |", 11, "looks like a row, but belongs to no table"),
        ("Expect:", "Except:", 15, "a table that nothing says the meaning of"),
        ("Given `agents`:\n", "", 6, "a table that nothing says the meaning of"),
        ("Given `agents`:\n", "Given `agents`:\n\nThey are busy.\n", 5, "no table follows this Given"),
        ("Expect:\n", "Expect:\n\nThis.\n", 13, "no table follows this Expect"),
        ("Expect:", "Parameters: `more` = 3\n\nExpect:", 13, "no column 'more' in what sql/detectors/busy.sql declares"),
        ("Expect:", "Parameters: `more_than` = many\n\nExpect:", 13, "column 'more_than' (BIGINT): 'many' is no whole number"),
        ("Expect:", "Parameters: `more_than` = -1\n\nExpect:", 13, "parameter 'more_than' can't be '-1'"),
        ("Expect:", "Parameters: none at all\n\nExpect:", 13, "can't be read as parameters"),
        ("Expect:", "Parameters: `more_than` 8, `x` = 1\n\nExpect:", 13, "can't be read as parameters"),
        ("Expect:", "Expect: nothing\n\nExpect:", 15, "a second Expect: in one case (the first is in line 13)"),
        ("Expect:", f"{GIVEN}\nExpect:", 13, "a second Given `agents` in one case (the first is in line 7)"),
        ("| cost |\n", "| events |\n", 7, "a second column 'events'"),
        ("Given `agents`:", "Given:", 5, "Given what?"),
        ("## Six are reported", "##", 3, "a case without a name"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_place(
    bench: detectortest.Bench, tmp_path: Path, old: str, new: str, line: int, told: str
) -> None:
    assert old in HIT
    result = only(run(bench, tmp_path, HIT.replace(old, new, 1)))
    assert result.outcome == "error"
    assert result.message.startswith(f"sql/detectors/busy.test.md:{line}: ")
    assert told in result.message
    assert result.line == line


def test_a_case_without_expect_is_an_error_and_the_others_run(bench: detectortest.Bench, tmp_path: Path) -> None:
    found = run(bench, tmp_path, HIT + f"\n## Left open\n\n{GIVEN}\n## And done\n\nExpect: nothing\n")
    assert [r.outcome for r in found.results] == ["passed", "error", "passed"]
    assert "the case 'Left open' has no Expect:" in found.results[1].message
    assert found.results[1].line == HIT.count("\n") + 2
    assert not found.passed


def test_two_cases_of_one_name_are_an_error(bench: detectortest.Bench, tmp_path: Path) -> None:
    found = run(bench, tmp_path, HIT + "\n## Six are reported\n\nExpect: nothing\n")
    assert "a second case named 'Six are reported'" in found.results[1].message


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "holds no case"),
        ("# Busy\n\nExpect: nothing\n", "Expect: stands before the first case"),
        ("| a |\n|---|\n| 1 |\n\n## Case\n\nExpect: nothing", "a table that nothing says the meaning of"),
    ],
)
def test_a_file_that_can_not_be_read_as_tests_is_one_error(
    bench: detectortest.Bench, tmp_path: Path, text: str, told: str
) -> None:
    result = only(run(bench, tmp_path, text))
    assert result.outcome == "error"
    assert told in result.message


def test_a_file_that_is_not_text_is_one_error(tmp_path: Path) -> None:
    project = project_with(tmp_path, "")
    (project / "sql/detectors/busy.test.md").write_bytes(b"## A\n\xff")
    assert "not UTF-8 at byte 5" in only(detectortest.run_tests(project, ["busy"])).message


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("from agents", "from agent", "sql/detectors/busy.sql:22: "),
        ("where events", "where eventz", "sql/detectors/busy.sql:24: "),
        ("title =", "titel =", "sql/detectors/busy.sql:2: unknown key 'titel'"),
        ("events as observed", "events as seen", "gives no column 'observed'"),
        ("agent as subject", "null as subject", "column 'subject'"),
        ("agent as subject", "'all' as subject", "stands on two rows"),
        ("cost as saving,", "cost / (events - events) as saving,", "floating-point"),
    ],
)
def test_a_detector_that_fails_is_an_error_of_its_cases(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert old in BUSY
    result = only(run_project(tmp_path, HIT.replace("observed", "threshold"), detector=BUSY.replace(old, new)))
    assert result.outcome == "error"
    assert told in result.message


def test_what_is_no_part_of_a_case_is_prose() -> None:
    text = """# Title

Given that tables are read, these are not:

> Given `agents`:
>
> | a |
> |---|
> | 1 |

```
Given `agents`:

| a |
|---|
| 1 |
```

<!-- Expect: nothing -->

- Expect: a list

## A *case* of `code`

Expected or not, prose may start so.

### Expect: nothing

As a heading.
"""
    (case,) = testfile.parse_cases(text, "file")
    assert (case.name, case.line, case.given, case.expected, case.problem) == ("A case of code", 23, {}, None, None)


def test_markdown_in_cells_and_labels() -> None:
    text = """## Case

**Given** no table here.

### Given `runs`, of which one is dear:

| **pipeline** | `run_key` | run |
|:---|---:|---|
| a\\|b | `x_y*z` | <b>1</b> & co |
|  | null | "null" |

Expect

| a_b |
|-----|
"""
    (case,) = testfile.parse_cases(text.replace("\n", "\r\n"), "file")
    assert case.problem is None
    assert case.given["runs"].columns == ("pipeline", "run_key", "run")
    assert [row.cells for row in case.given["runs"].rows] == [("a|b", "x_y*z", "<b>1</b> & co"), ("", "null", '"null"')]
    assert case.expected is not None
    assert (case.expected.columns, case.expected.rows) == (("a_b",), ())


# --- cells ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "shown"),
    [
        ("", "BIGINT", "null"), ("null", "VARCHAR", "null"), ('"null"', "VARCHAR", '"null"'), ('""', "VARCHAR", '""'),
        ("7", "BIGINT", "7"), ("-7", "INTEGER", "-7"), ("7", "DECIMAL(38,12)", "7"), ("7.50", "DECIMAL(38,12)", "7.5"),
        ("0.000000000001", "DECIMAL(38,12)", "0.000000000001"), ("-0.0", "DECIMAL(9,3)", "0"),
        ("yes", "BOOLEAN", "yes"), ("False", "BOOLEAN", "no"), ("0.30000000000000004", "DOUBLE", "0.3"),
        ("2026-11-03", "DATE", "2026-11-03"), ("2026-11-03", "TIMESTAMP", "2026-11-03 00:00"),
        ("2026-11-03T09:14:07Z", "TIMESTAMP", "2026-11-03 09:14:07"), ("2026-11-03 09:14", "TIMESTAMP", "2026-11-03 09:14"),
        ("2026-11-03 09:14:07.000001", "TIMESTAMP", "2026-11-03 09:14:07.000001"),
        ("a, b", "VARCHAR[]", "a, b"), ("[a, b]", "VARCHAR[]", "a, b"), ("[]", "VARCHAR[]", "[]"), ("", "VARCHAR[]", "null"),
        ('"a, b", c', "VARCHAR[]", '"a, b", c'), ("1, null, 3", "INTEGER[]", "1, null, 3"),
        ("docs writer", "VARCHAR", "docs writer"), ("{'a': 1}", "STRUCT(a INTEGER)", "{'a': 1}"),
    ],
)  # fmt: skip
def test_cells_by_type(text: str, kind: str, shown: str) -> None:
    assert testcells.expected_text(text, kind) == shown


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        ("1.0", "BIGINT", "is no whole number"), ("1e3", "BIGINT", "is no whole number"),
        ("2147483648", "INTEGER", "is out of the range of INTEGER"), ("1,5", "DECIMAL(9,3)", "is no plain decimal number"),
        ("1.2345", "DECIMAL(9,3)", "has more than the column's 3 decimal places"),
        ("1234567", "DECIMAL(9,3)", "is too large for it: at most 6 digits before the point"), ("NaN", "DECIMAL(9,3)", "is no plain decimal number"),
        ("1", "BOOLEAN", "is neither yes nor no"), ("3.11.2026", "DATE", "is no date like 2026-11-03"),
        ("2026-02-30", "DATE", "is no date like 2026-11-03"), ("09:14", "TIMESTAMP", "is no UTC time like"),
        ("2026-11-03 09:14+01:00", "TIMESTAMP", "is no UTC time like"), ("a", "INTEGER[]", "is no whole number"),
        ("x", "STRUCT(a INTEGER)", "can't be written in a test"), ("x", "DOUBLE", "is no number"),
    ],
)  # fmt: skip
def test_cells_that_can_not_be_read(text: str, kind: str, told: str) -> None:
    with pytest.raises(ValueError, match=told.replace(".", r"\.")):
        testcells.read_cell(text, kind)


@sized(max_examples=60, deadline=None)
@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20, places=12))
def test_a_decimal_is_exact_there_and_back(value: Decimal) -> None:
    assert testcells.read_cell(testcells.shown(value), "DECIMAL(38,12)") == value


@sized(max_examples=60, deadline=None)
@given(st.datetimes().filter(lambda t: t.year > 999))
def test_a_time_is_exact_there_and_back(value: Any) -> None:
    assert testcells.read_cell(testcells.shown(value), "TIMESTAMP") == value
