"""feedback_cells.py: what the cells of a feedback table mean (SPEC 2, "Feedback"; the forms of INPUTS.md 5)."""

from __future__ import annotations

import time
from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reportgen.inputs.feedback_cells import (
    is_placeholder,
    is_total,
    read_date,
    read_score,
    read_tags,
    split_row,
    split_row_keeping_code,
)


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("96/100", "96"),
        ("45", "45"),
        ("0.67", "0.67"),
        (".5", "0.5"),
        ("8.1%", "8.1"),
        ("8.1 %", "8.1"),
        ("about 8%", "8"),
        ("5/5, tests pass", "100"),
        ("tests pass: 4 / 5", "80"),
        ("10/100 then 90/100", "10"),
        ("50% or 9/10", "90"),
        ("2026-03-10: 7/10", "70"),
        ("0/100", "0"),
        ("0", "0"),
        ("100", "100"),
        ("100/100", "100"),
        ("7.5/10", "75"),
        (" 60 ", "60"),
    ],
)
def test_scores(text: str, score: str) -> None:
    assert read_score(text) == Decimal(score)


@pytest.mark.parametrize(
    "text",
    [
        *("", "—", "-", "N/A", "n/a", "TBD", "Critical / High", "a/b", "good"),
        *("101", "110/100", "100.0000000001%", "101%", "5/0", "0/0", "-5", "-5/10", "−5%"),
        *("45 points", "approx 45", "1e2", "45.", "NaN", "Infinity", "9" * 60, "1/" + "9" * 60, "٤٥", "7,5/10", "7,5"),
    ],
)
def test_what_is_no_score_of_0_to_100(text: str) -> None:
    assert read_score(text) is None


def test_a_score_is_cut_not_rounded() -> None:
    assert read_score("2/3") == Decimal("66.666666666666")
    # Just under the flag of 60 stays under it.
    assert read_score("59999999999999999/100000000000000000") == Decimal("59.999999999999")


@given(st.integers(0, 10**6), st.integers(1, 10**6))
def test_a_fraction_is_its_exact_value_cut_to_12_places(a: int, b: int) -> None:
    exact = Fraction(a, b) * 100
    score = read_score(f"{a}/{b}")
    if exact > 100:
        assert score is None
    else:
        assert score is not None
        assert 0 <= exact - Fraction(score) < Fraction(1, 10**12)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-03-10", date(2026, 3, 10)),
        ("20260310", date(2026, 3, 10)),
        ("2026-03-10T09:14:07Z", date(2026, 3, 10)),
        ("2026-03-10 23:30", date(2026, 3, 10)),
        ("2026-03-10T23:30:00-05:00", date(2026, 3, 11)),
        ("2026/3/10", date(2026, 3, 10)),
        ("2026.03.10", date(2026, 3, 10)),
        ("2026-3-1", date(2026, 3, 1)),
        ("Tue 2026-03-10 (late)", date(2026, 3, 10)),
        ("10 March 2026", date(2026, 3, 10)),
        ("10-Mar-2026", date(2026, 3, 10)),
        ("March 10th, 2026", date(2026, 3, 10)),
        ("2028-02-29", date(2028, 2, 29)),
    ],
)
def test_dates(text: str, day: date) -> None:
    assert read_date(text) == (day, None)


@pytest.mark.parametrize("text", ["", "-", "—", "n/a", "none", "unknown"])
def test_no_date_is_no_problem(text: str) -> None:
    assert read_date(text) == (None, None)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("March 3", "has no year"),
        ("03-10", "has no year"),
        ("10.3.", "has no year"),
        ("03/10/2026", "may be day or month first"),
        ("2026-02-30", "is no day of the calendar"),
        ("2026/13/01", "is no day of the calendar"),
        ("1999-12-31", "is outside the years 2000 to 2100"),
        ("0001-01-01", "is outside the years 2000 to 2100"),
        ("2101/01/01", "is outside the years 2000 to 2100"),
        ("2026-03-10 to 2026-03-12", "holds several dates"),
        ("soon", "is not a date"),
        ("spring 2026", "is not a date"),
        ("9" * 500, "is not a date"),
    ],
)
def test_unreadable_dates_say_why(text: str, problem: str) -> None:
    assert read_date(text) == (None, problem)


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("loop-excess", ["loop-excess"]),
        ("`loop-excess`", ["loop-excess"]),
        ("Loop_Excess", ["loop-excess"]),
        ("loop excess", ["loop-excess"]),
        ("TOOL FAIL", ["tool-fail"]),
        ("timeout, tool-fail", ["timeout", "tool-fail"]),
        ("timeout;tool_fail cost-spike", ["timeout", "tool-fail", "cost-spike"]),
        ("`timeout`,`timeout` TIMEOUT", ["timeout"]),
        ("own_Tag", ["own-tag"]),
        ("Straße", ["strasse"]),
        ("-", []),
        ("—", []),
        ("None", []),
        ("N/A", []),
        ("", []),
        ("none, timeout", ["timeout"]),
    ],
)
def test_tags(text: str, tags: list[str]) -> None:
    assert list(read_tags(text)) == tags


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("| a | b |", ["a", "b"]),
        ("a | b", ["a", "b"]),
        (" | a | b | ", ["a", "b"]),
        (r"| a \| b | c |", ["a | b", "c"]),
        (r"| `a \| b` | c |", ["`a | b`", "c"]),
        ("| `a | b` | c |", ["`a", "b`", "c"]),
        ("|| a |", ["", "a"]),
        ("| a ||", ["a", ""]),
        ("| |", [""]),
        (r"| a \\| b |", [r"a \| b"]),
    ],
)
def test_rows_split_as_in_gfm(line: str, cells: list[str]) -> None:
    assert split_row(line) == cells


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("| `a | b` | c |", ["`a | b`", "c"]),
        ("| ``a ` | b`` | c |", ["``a ` | b``", "c"]),
        ("| `a | b | c |", ["`a", "b", "c"]),
        (r"| \`a | b` | c |", [r"\`a", "b`", "c"]),
        (r"| `a \| b` | c |", ["`a | b`", "c"]),
        ("| `a` | `b | c` |", ["`a`", "`b | c`"]),
    ],
)
def test_code_can_be_kept_whole(line: str, cells: list[str]) -> None:
    assert split_row_keeping_code(line) == cells


@settings(max_examples=200)
@given(st.text("ab|\\ ", max_size=20))
def test_without_code_both_ways_of_splitting_agree(line: str) -> None:
    assert split_row_keeping_code(line.replace("\\\\", "")) == split_row(line.replace("\\\\", ""))


@pytest.mark.parametrize(
    "row",
    [
        ("{{DATE}}", "{{AGENT_NAME}}", "{{SCORE}}/100", ["{{PIPELINE_NAME}}", "`{{PATTERN_TAG}}`", "{{ISSUE}}"]),
        ("2026-03-10", "{{AGENT}}", "45", []),
        ("2026-03-10", "writer", "{{ SCORE }}", ["docs"]),
        ("YYYY-MM-DD", "<agent-name>", "XX/100", ["docs", "loop-excess"]),
        ("[DATE]", "[AGENT NAME]", "[SCORE]/100", ["-"]),
        ("...", "...", "...", ["...", "..."]),
        ("${DATE}", "${AGENT}", "-", []),
    ],
)
def test_template_rows(row: tuple[str, str, str, list[str]]) -> None:
    assert is_placeholder(*row)


@pytest.mark.parametrize(
    "row",
    [
        ("2026-03-10", "writer", "45/100", ["docs", "timeout", "left {{name}} in the text"]),
        ("{{DATE}}", "writer", "45/100", ["docs"]),
        ("YYYY-MM-DD", "writer", "45", []),
        ("", "X", "", ["timeout"]),
        ("", "", "", ["docs"]),
    ],
)
def test_reviews_are_not_template_rows(row: tuple[str, str, str, list[str]]) -> None:
    assert not is_placeholder(*row)


@pytest.mark.parametrize(
    "first", ["Total", "TOTAL:", "Average", "Avg", "Grand total", "Mean score", "Average (7 runs)"]
)
def test_total_rows(first: str) -> None:
    assert is_total([first, "", "81/100"], "")
    assert is_total(["—", "", first, "81/100"], "—")


@pytest.mark.parametrize(
    ("cells", "day"),
    [
        (["2026-03-10", "docs", "Total", "45"], "2026-03-10"),
        (["Average", "docs", "45", "2026-03-10"], "2026-03-10"),
        (["Totally new agent", "", "45"], ""),
        (["", "", ""], ""),
    ],
)
def test_reviews_are_not_totals(cells: list[str], day: str) -> None:
    assert not is_total(cells, day)


def test_hostile_cells_take_linear_time() -> None:
    start = time.process_time()
    for piece in ("9", "9/", "9 ", "9,", "1.", "-", "`", "``|", "\\", "{{", "{", "a ", "2026-03-10", "("):
        text = piece * (300_000 // len(piece))
        read_score(text)
        read_date(text)
        read_tags(text)
        split_row(text)
        split_row_keeping_code(text)
        is_placeholder(text, text, text, [text])
        is_total([text], text)
    assert time.process_time() - start < 10
