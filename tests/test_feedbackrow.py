"""feedbackrow.py: what may be given as a review, and that a cell shows exactly its text."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from feedback_help import TEXT, Read
from hypothesis import example, given, settings
from markdown_it import MarkdownIt

from reportgen.errors import ReportgenError
from reportgen.feedbackadd import add_row
from reportgen.feedbackrow import NewRow, escape, new_row
from reportgen.inputs.feedback import cell_text
from reportgen.inputs.feedback_cells import split_row
from reportgen.names import squeeze

TODAY = date(2026, 11, 3)


def row(**given: Any) -> NewRow:
    facts: dict[str, Any] = {"pipeline": "docs", "agent": "writer", "score": "45", "day": None, "today": TODAY}
    facts |= {"issue": "too long", "resolution": "cut", "patterns": ["loop-excess"]}
    return new_row(**(facts | given))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "FEEDBACK.md"


# --- what is given --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "value", "text"),
    [
        ("45", "45", "45/100"),
        ("0", "0", "0/100"),
        ("100", "100", "100/100"),
        (" 66.5 ", "66.5", "66.5/100"),
        (".5", "0.5", ".5/100"),
        ("45/100", "45", "45/100"),
        ("9/10", "90", "9/10"),
        ("4.5 / 5", "90", "4.5 / 5"),
        ("90%", "90", "90%"),
        ("-0", "0", "-0/100"),
    ],
)
def test_scores_that_are_understood(given: str, value: str, text: str) -> None:
    made = row(score=given)
    assert (made.score, made.score_text) == (Decimal(value), text)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("101", "--score: '101' is not within 0 to 100"),
        ("-1", "not within 0 to 100"),
        ("11/10", "not within 0 to 100"),
        ("101%", "not within 0 to 100"),
        ("5/0", "not within 0 to 100"),
        ("", "'' is not a score"),
        ("good", "'good' is not a score"),
        ("45 points", "is not a score"),
        ("1e2", "is not a score"),
        ("NaN", "is not a score"),
        ("5/5, tests pass", "is not a score"),
        ("1" * 50, "not within 0 to 100"),
    ],
)
def test_scores_that_are_none(given: str, says: str) -> None:
    with pytest.raises(ReportgenError, match="9/10 and 90% are understood") as caught:
        row(score=given)
    assert says in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("given", ["2026-11-04", "2026-11-03", "2000-01-01", " 2026-02-28 "])
def test_days_that_are_understood(given: str) -> None:
    assert row(day=given).date == date.fromisoformat(given.strip())


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("2026-13-01", "not a day of the calendar"),
        ("2026-02-29", "not a day of the calendar"),
        ("20261101", "not a day of the calendar"),
        ("2026-W44-1", "not a day of the calendar"),
        ("3.11.2026", "not a day of the calendar"),
        ("yesterday", "not a day of the calendar"),
        ("", "not a day of the calendar"),
        ("1999-12-31", "outside the years 2000 to 2100"),
        ("2026-11-05", "still to come"),
    ],
)
def test_days_that_are_none(given: str, says: str) -> None:
    with pytest.raises(ReportgenError, match=says) as caught:
        row(day=given)
    assert caught.value.where == "--date"


@pytest.mark.parametrize("name", ["", " ", "-", "—", "n/a", "Unknown", "default", "** **"])
@pytest.mark.parametrize("flag", ["agent", "pipeline"])
def test_a_name_must_name_somebody(flag: str, name: str) -> None:
    with pytest.raises(ReportgenError, match=f"names no {flag}"):
        row(**{flag: name})


def test_a_chat_role_is_no_agent() -> None:
    with pytest.raises(ReportgenError, match="names no agent"):
        row(agent="assistant")
    assert row(pipeline="assistant").pipeline == "assistant"


def test_a_text_that_fits_no_cell_is_refused_and_the_longest_that_fits_is_read(file: Path) -> None:
    with pytest.raises(ReportgenError, match=r"--issue: 4,002 characters are too long"):
        row(issue="*" * 2001)
    add_row(file, row(issue="*" * 2000))
    assert Read(file.read_bytes()).rows[0].issue == "*" * 2000


@pytest.mark.parametrize("pattern", ["_", "timeout, _", "__"])
def test_what_would_not_be_read_as_a_tag_is_refused(pattern: str) -> None:
    with pytest.raises(ReportgenError, match="--pattern: "):
        row(patterns=[pattern])


def test_tags_are_folded_once_each() -> None:
    assert row(patterns=["Loop_Excess, timeout", "`timeout`", "none", "my tag"]).tags == (
        "loop-excess",
        "timeout",
        "my",
        "tag",
    )
    assert row(patterns=["cost spike"]).tags == ("cost-spike",)
    assert row(patterns=[]).tags == ()


# --- how it is written ----------------------------------------------------------------------------------------------

STOCK = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def shown_by_markdown(cell: str) -> str:
    """What markdown-it-py itself shows of a cell in a table, line breaks as blanks."""
    tokens = STOCK.parse(f"| a |\n|---|\n| {cell} |\n")
    inline = [token for token in tokens if token.type == "inline"][-1]
    parts = []
    for token in inline.children or ():
        if token.type == "html_inline":
            assert token.content == "<br>"
        parts.append(token.content if token.type in ("text", "text_special", "code_inline") else " ")
        assert token.type in ("text", "text_special", "html_inline"), token
    return squeeze("".join(parts))


@settings(max_examples=300, deadline=None)
@given(TEXT)
@example("a\\|b")
@example("\\\\|")
@example("ends with \\")
@example("a\\\nb")
@example("`a | b` and **c**")
def test_a_cell_shows_exactly_its_text(text: str) -> None:
    cell = escape(text)
    (read,) = split_row(f"| {cell} |") or [""]
    assert cell_text(read) == squeeze(text)
    if squeeze(text):
        assert shown_by_markdown(cell) == squeeze(text)


@pytest.mark.parametrize("text", ["agent_writer", "2 * 3 < 7 & so", "C:\\temp", "see a.md (line 3)", "#12, 50% {x}"])
def test_ordinary_text_is_written_as_it_is(text: str) -> None:
    assert escape(text) == text


def test_a_line_break_stays_one_for_people() -> None:
    assert escape(" first \r\n\n second\tpart ") == "first<br>second part"
