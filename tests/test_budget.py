"""inputs/budget.py: limits of BUDGET.md; what is not understood is named and never becomes 0 or no limit."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reportgen.errors import ReportgenError
from reportgen.inputs.budget import BudgetRead, read_budget
from reportgen.inputs.budget_values import read_amount, read_percent, read_switch, read_window
from reportgen.inputs.sources import Source
from reportgen.names import Names

ORIGINAL = """# Budget

- window: daily
- limit: 500 cents
- warn_percent: 80
- hard_stop: true

## Per agent

- agent-writer: 200 cents/daily
"""

Limit = tuple[str | None, str, str]


def read(tmp_path: Path, content: str | bytes) -> tuple[BudgetRead, list[Limit]]:
    path = tmp_path / "BUDGET.md"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    names = Names()
    result = read_budget(Source(path=path, name="BUDGET.md", kind="budget"), names)
    spelled = {spelling.spelling_no: spelling.spelling for spelling in names.rows()}
    (file,) = result.files
    assert file.used + file.not_cost + file.blank == file.lines
    assert file.events == len(result.rows)
    assert file.rejected == 0
    limits: list[Limit] = [
        (None if row.agent_no is None else spelled[row.agent_no], row.window, f"{row.limit_usd.normalize():f}")
        for row in result.rows
    ]
    return result, limits


def warned(result: BudgetRead) -> list[int | None]:
    return [notice.line for notice in result.notices if notice.severity == "warning"]


def test_the_original_form(tmp_path: Path) -> None:
    result, limits = read(tmp_path, ORIGINAL)
    assert limits == [(None, "daily", "5"), ("agent-writer", "daily", "2")]
    assert {(row.warn_percent, row.hard_stop) for row in result.rows} == {(Decimal(80), True)}
    assert result.notices == ()
    (file,) = result.files
    assert (file.lines, file.used, file.not_cost, file.blank) == (10, 5, 2, 3)


@pytest.mark.parametrize(
    ("text", "usd", "behind"),
    [
        ("500 cents", "5", ""),
        ("1 cent", "0.01", ""),
        ("$5", "5", ""),
        ("US$ 5", "5", ""),
        ("5$", "5", ""),
        ("5 usd", "5", ""),
        ("5.00 USD", "5", ""),
        ("USD 5", "5", ""),
        ("5 dollars", "5", ""),
        ("0.5 cents", "0.005", ""),
        ("$.50", "0.5", ""),
        ("1,000 cents", "10", ""),
        ("1_000_000 cents", "10000", ""),
        ("200 cents/daily", "2", "daily"),
        ("200 cents / day", "2", "day"),
        ("200 cents per day", "2", "per day"),
        ("5 USD (weekly)", "5", "weekly"),
    ],
)
def test_amounts(text: str, usd: str, behind: str) -> None:
    assert read_amount(text) == (Decimal(usd), behind)


@pytest.mark.parametrize(
    "text",
    ["500", "", "cents", "lots", "-5 USD", "5 EUR", "5 €", "5,00 USD", "1e3 USD", "NaN USD", "inf cents", "$5 cents", "0 cents",
     "$0.00", "0.0000000000001 USD", "9" * 13 + " USD", "9" * 50 + " USD", "5usdx", "٥ USD", "five cents", "5 6 cents"],
)  # fmt: skip
def test_what_is_no_amount_says_why(text: str) -> None:
    assert isinstance(read_amount(text), str)


@pytest.mark.parametrize(
    ("text", "window"),
    [("Daily", "daily"), ("per  day", "daily"), ("week", "weekly"), ("a month", "monthly"), ("total", "total"), ("overall", "total"),
     ("hourly", None), ("per run", None), ("", None), ("yearly", None)],
)  # fmt: skip
def test_windows(text: str, window: str | None) -> None:
    assert read_window(text) == window


@pytest.mark.parametrize(
    ("text", "share"),
    [("80", "80"), ("80%", "80"), ("80 percent", "80"), ("99.5", "99.5"), ("100", "100"), ("0", None), ("0.8", None), ("101", None),
     ("-1", None), ("high", None), ("", None)],
)  # fmt: skip
def test_shares(text: str, share: str | None) -> None:
    assert read_percent(text) == (None if share is None else Decimal(share))


@pytest.mark.parametrize(
    ("text", "switch"), [("true", True), ("YES", True), ("off", False), ("maybe", None), ("1", None)]
)
def test_switches(text: str, switch: bool | None) -> None:
    assert read_switch(text) is switch


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ("- limit: $5\n- window: weekly\n", [(None, "weekly", "5")]),
        ("- limit: $5/month\n", [(None, "monthly", "5")]),
        ("* **Window:** Daily\n* **Limit:** `500 cents`\n", [(None, "daily", "5")]),
        ("1. window = total\n2. limit = 5 usd\n", [(None, "total", "5")]),
        ("window: daily\nlimit: 500 cents\n", [(None, "daily", "5")]),
        ("- daily: $5\n- weekly_limit: $20\n- Monthly budget: $60\n", [(None, "daily", "5"), (None, "weekly", "20"), (None, "monthly", "60")]),
        ("- total: $5\n", [(None, "total", "5")]),
        ("- window: daily\n- all agents: $5\n", [(None, "daily", "5")]),
        ("- window: daily\n- agents:\n  - **@Writer**: $2\n  - team: writer: $1/weekly\n", [("Writer", "daily", "2"), ("team: writer", "weekly", "1")]),
        ("- window: daily\n- writer: $2 # enough\n- [x] critic: $1 <!-- more? -->\n", [("writer", "daily", "2"), ("critic", "daily", "1")]),
        ("- window: daily\n- limit: unlimited\n- writer: none\n", []),
    ],
)  # fmt: skip
def test_forms_of_one_thing(tmp_path: Path, items: str, expected: list[Limit]) -> None:
    result, limits = read(tmp_path, items)
    assert limits == expected
    assert warned(result) == []
    assert result.files[0].not_cost == 0


@pytest.mark.parametrize(
    "item",
    [
        *(
            "- limit: 500",
            "- limit: lots",
            "- limit: 0 cents",
            "- limit: -5 USD",
            "- limit: 5 EUR",
            "- limit: $5/hourly",
            "- limit:",
        ),
        *("- daily: $5/weekly", "- writer: soon", "- writer: $5 per run", "- unknown: $5/daily", "- default: $5/daily"),
        *(
            "- just words",
            "- : $5",
            "- see: http://example.com",
            "- warn_percent: 0.8",
            "- hard_stop: maybe",
            "- window: hourly",
        ),
    ],
)
def test_what_is_not_understood_is_a_named_warning_and_no_limit(tmp_path: Path, item: str) -> None:
    result, limits = read(tmp_path, f"# Budget\n\n- writer: $2/daily\n{item}\n")
    assert limits == [("writer", "daily", "2")]
    assert warned(result) == [4]
    assert result.rows[0].warn_percent is None
    assert result.rows[0].hard_stop is None


def test_a_limit_without_a_window_is_named(tmp_path: Path) -> None:
    result, limits = read(tmp_path, "- limit: $5\n")
    assert limits == []
    assert "no window is named" in result.notices[0].message
    result, limits = read(tmp_path, "- window: hourly\n- limit: $5\n- writer: $1/daily\n")
    assert limits == [("writer", "daily", "1")]
    assert warned(result) == [1, 2]


def test_of_two_limits_the_last_holds(tmp_path: Path) -> None:
    result, limits = read(
        tmp_path,
        "- Writer: $2/daily\n- writer: $3/daily\n- writer: $9/weekly\n- window: daily\n- window: total\n- limit: $1\n",
    )
    assert limits == [("writer", "daily", "3"), ("writer", "weekly", "9"), (None, "total", "1")]
    assert warned(result) == [2, 5]


def test_fences_comments_templates_and_tables_hold_no_limits(tmp_path: Path) -> None:
    text = "```\n- limit: $5/daily\n```\n<!-- - limit: $6/daily -->\n<!--\n- limit: $7/daily\n-->\n~~~\n- limit: $8/daily\n```\n~~~\n"
    text += "- limit: {{LIMIT}} cents\n| agent | limit |\n|---|---|\n| writer | $5/daily |\n- limit: $9/daily\n"
    result, limits = read(tmp_path, text)
    assert limits == [(None, "daily", "9")]
    assert {notice.code: notice.count for notice in result.notices} == {"budget-template": 1, "budget-table": 3}


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + ORIGINAL.encode(),
        ORIGINAL.replace("\n", "\r\n").encode(),
        b"\xff\xfe" + ORIGINAL.encode("utf-16-le"),
        ORIGINAL.rstrip("\n").encode(),
    ],
)
def test_encodings_and_line_ends(tmp_path: Path, content: bytes) -> None:
    assert read(tmp_path, content)[1] == [(None, "daily", "5"), ("agent-writer", "daily", "2")]


def test_invalid_utf8_is_named(tmp_path: Path) -> None:
    result, limits = read(tmp_path, b"- caf\xe9: $5/daily\n- writer: $1/daily\n")
    assert limits == [("writer", "daily", "1")]
    assert warned(result) == [1]


def test_empty_and_missing_files(tmp_path: Path) -> None:
    for content in ("", "\n", "# Budget\n\nNothing yet.\n"):
        result, limits = read(tmp_path, content)
        assert limits == []
        assert [notice.code for notice in result.notices] == ["budget-empty"]
    with pytest.raises(ReportgenError) as caught:
        read_budget(Source(path=tmp_path / "no.md", name="no.md", kind="budget"), Names())
    assert caught.value.exit_code == 3


def test_messages_hold_no_secret(tmp_path: Path) -> None:
    result, limits = read(tmp_path, "- joe@x.com: $5/daily\n- ask joe@x.com: soon\n- password: hunter22\n")
    assert limits == [("[e-mail 1]", "daily", "5")]
    assert "joe" not in repr(result.notices)
    assert "hunter" not in repr(result.notices)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text("-*: =$5.,0/dailycentswk%#`<>!{}|\n", max_size=24), max_size=8).map("\n".join))
def test_any_text_gives_positive_limits_or_none(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    result, _ = read(tmp_path_factory.mktemp("budget"), text)
    for row in result.rows:
        assert 0 < row.limit_usd < 10**12
        assert row.window in ("daily", "weekly", "monthly", "total")
    assert len({(row.agent_no, row.window) for row in result.rows}) == len(result.rows)
