"""feedback.py: which lines of a FEEDBACK.md are rows, what they say, and the fate of every line (SPEC 2)."""

from __future__ import annotations

import gzip
import time
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from feedback_help import HEAD, Read

from reportgen.errors import ReportgenError
from reportgen.inputs.feedback import read_feedback
from reportgen.inputs.sources import Source
from reportgen.names import Names

ROW = "| 2026-03-10 | docs | writer | 45/100 | slow | waited | loop-excess |\n"


def test_the_table_of_the_survey() -> None:
    read = Read(
        "| Date | Pipeline | Agent | Score | Issue | Resolution | Pattern |\n"
        "|:-----|----------|-------|------:|-------|------------|---------|\n"
        "| 2026-03-10 | docs | **Writer** | 96/100 | fixed \\| pending | [link](x.md) | `loop-excess` |\n"
        "| 2026-03-11 | docs | @reviewer | N/A | a <br> b | — | timeout, tool-fail |\n"
        "| {{DATE}} | {{PIPELINE_NAME}} | {{AGENT_NAME}} | {{SCORE}}/100 | {{ISSUE_DESCRIPTION}} | {{RESOLUTION}} | {{PATTERN_TAG}} |\n"
        "| **Average** | | | **81/100** | | | |\n"
    )
    first, second = read.rows
    assert (first.row_no, first.file_no, first.line, first.date) == (0, 0, 3, date(2026, 3, 10))
    assert (first.score, first.score_text) == (Decimal(96), "96/100")
    assert (first.issue, first.resolution, first.tags) == ("fixed | pending", "link", ("loop-excess",))
    assert (second.row_no, second.line, second.score, second.score_text) == (1, 4, None, "N/A")
    assert (second.issue, second.resolution, second.tags) == ("a b", "—", ("timeout", "tool-fail"))
    assert read.agents == ["Writer", "reviewer"]
    assert read.pipelines == ["docs", "docs"]
    assert read.fates() == (2, 4, 0, 0)
    assert read.file.events == 2
    assert read.codes == {"feedback-placeholder": 1, "feedback-total": 1, "feedback-no-score": 1}


def test_columns_in_any_order_with_extra_ones_and_any_case() -> None:
    read = Read("| note | PATTERN | **Score** | agent | When |\n|-|-|-|-|-|\n| x | timeout | 45 | writer | today |\n")
    (row,) = read.rows
    assert (row.score, row.tags, row.date, row.pipeline_no, row.issue) == (Decimal(45), ("timeout",), None, None, "")
    assert read.said("feedback-columns-not-read") == [(1, "Columns not read: note, When.")]


def test_a_column_that_stands_twice() -> None:
    read = Read("| Agent | Score | Score | Pattern |\n|-|-|-|-|\n| writer | 45 | 90 | - |\n")
    assert [row.score for row in read.rows] == [45]
    assert read.codes["feedback-column-twice"] == 1


def test_several_tables_and_ignored_ones() -> None:
    read = Read(HEAD + ROW + "\n## More\n\n| Pattern | Agent | Score |\n|-|-|-|\n| timeout | b | 7/10 |\n\n"
                "| Agent | Score |\n|-|-|\n| c | 50 |\n\n| Tag | Meaning |\n|-|-|\n| timeout | too slow |\n")  # fmt: skip
    assert read.agents == ["writer", "b"]
    ignored = [n for n in read.result.notices if n.code == "feedback-table-ignored"]
    assert [(n.line, n.severity) for n in ignored] == [(11, "warning"), (15, "info")]
    assert "Agent, Score was not read: it has no column Pattern" in ignored[0].message
    assert read.fates() == (2, 11, 0, 4)


def test_fences_comments_and_indented_code_hold_no_data() -> None:
    table = HEAD + ROW
    indented = "".join(f"    {line}\n" for line in table.splitlines())
    parts = ["```", table + "```\n", "<!--", table, ROW + "-->\n", "~~~markdown", table + "~~~\n", indented]
    read = Read("\n".join(parts) + "\n" + table + f"<!-- {ROW[:-1]} -->\n")
    assert len(read.rows) == 1
    assert read.result.rejected == ()
    assert "feedback-never-closed" not in read.codes


@pytest.mark.parametrize(
    ("opening", "what"), [("```", "code fence"), ("~~~~", "code fence"), ("<!-- note", "HTML comment")]
)
def test_what_is_never_closed_is_named(opening: str, what: str) -> None:
    read = Read(HEAD + ROW + "\n" + opening + "\n" + ROW)
    assert len(read.rows) == 1
    assert read.said("feedback-never-closed") == [
        (5, f"The {what} opened here is never closed: nothing below it is read.")
    ]


def test_a_table_glued_to_html_is_named() -> None:
    read = Read("<details>\n" + HEAD + ROW + "</details>\n")
    assert read.rows == ()
    assert [line for line, _ in read.said("feedback-table-in-html")] == [2]
    assert len(Read("<details>\n\n" + HEAD + ROW + "\n</details>\n").rows) == 1


def test_tables_in_lists_and_quotes_count() -> None:
    quoted = "".join(f"> {line}\n" for line in (HEAD + ROW).splitlines())
    listed = "- log\n\n" + "".join(f"  {line}\n" for line in (HEAD + ROW).splitlines())
    assert Read(quoted + "\n" + listed).lines == [3, 9]


# --- rows that lost their table ------------------------------------------------------------------------------------------


def test_a_blank_line_in_the_middle() -> None:
    read = Read(HEAD + ROW + "\n" + ROW + ROW + "\n\n" + ROW)
    assert read.lines == [3, 5, 6, 9]
    assert [line for line, _ in read.said("feedback-row-outside-table")] == [5, 9]
    assert read.codes["feedback-row-outside-table"] == 3
    assert read.fates() == (4, 2, 0, 3)


def test_a_row_below_another_section() -> None:
    read = Read(HEAD + ROW + "\n## Notes\n\nSome | prose.\n\n- item\n\n" + ROW)
    assert read.lines == [3, 11]


def test_a_row_right_below_a_paragraph_or_above_a_rule() -> None:
    read = Read(HEAD + ROW + "\nSome prose\n" + ROW + "\n" + ROW + "---\n")
    assert read.lines == [3, 6, 8]


def test_a_row_appended_to_another_table() -> None:
    read = Read(HEAD + ROW + "\n| Tag | Meaning |\n|-|-|\n| timeout | slow |\n| a | b | c | d | e | f | g |\n" + ROW)
    assert read.lines == [3, 9]
    assert [line for line, _ in read.said("feedback-row-outside-table")] == [9]


def test_rows_below_another_table_of_the_same_width_belong_to_that_one() -> None:
    read = Read(HEAD + ROW + "\n| a | b | c | d | e | f | g |\n|-|-|-|-|-|-|-|\n\n" + ROW)
    assert read.lines == [3]
    assert read.result.rejected == ()


def test_a_repeated_header_is_no_row() -> None:
    read = Read(HEAD + ROW + HEAD + ROW + "\n" + HEAD.splitlines()[0] + "\n" + ROW)
    assert read.lines == [3, 6, 9]
    assert read.result.rejected == ()


def test_a_row_outside_with_another_number_of_cells_is_rejected() -> None:
    read = Read(HEAD + ROW + "\n| 2026-03-10 | docs | writer |\n| note |\nprose | more | and | more\n")
    (line,) = read.result.rejected
    assert (line.file, line.line) == ("0.md", 5)
    assert line.reason == "stands outside every table and has 3 cells where the header of line 1 has 7"
    assert line.snippet == "| 2026-03-10 | docs | writer |"
    assert read.fates() == (1, 4, 1, 1)


def test_a_row_above_the_header_is_rejected() -> None:
    read = Read(ROW + "\n| a | b | c |\n\n" + HEAD + ROW)
    assert [(line.line, line.reason) for line in read.result.rejected] == [
        (1, "stands above the table's header (line 5)")
    ]
    assert read.lines == [7]


def test_indented_rows_right_below_the_table_are_rejected() -> None:
    read = Read(HEAD + ROW + "    " + ROW)
    assert [line.line for line in read.result.rejected] == [4]
    assert "indented" in read.result.rejected[0].reason


def test_a_delimiter_row_of_another_width_makes_no_table() -> None:
    broken = HEAD.replace("|---|---|---|---|---|---|---|", "|---|---|---|---|---|---|")
    read = Read(broken + ROW + ROW + "\n" + HEAD + ROW)
    assert [line.line for line in read.result.rejected] == [3, 4]
    assert "the header has 7 cells and the delimiter row below it 6" in read.result.rejected[0].reason
    assert [line for line, _ in read.said("feedback-broken-header")] == [1]
    assert read.lines == [8]


def test_a_header_without_a_delimiter_row_makes_no_table() -> None:
    read = Read(HEAD.splitlines()[0] + "\n" + ROW)
    assert read.rows == ()
    assert "no delimiter row" in read.result.rejected[0].reason
    assert "feedback-no-table" in read.codes


# --- cells ---------------------------------------------------------------------------------------------------------------


def test_too_few_and_too_many_cells() -> None:
    read = Read(HEAD + "| 2026-03-10 | docs | writer | 45/100 |\n" + ROW[:-1] + " more | cells |\n")
    assert [row.tags for row in read.rows] == [(), ("loop-excess",)]
    assert read.said("feedback-row-cells") == [
        (3, "The row has 4 of 7 cells; the missing ones are taken as empty."),
        (4, "The row has 9 cells and the header 7; the last ones are left out."),
    ]


def test_a_pipe_in_code() -> None:
    read = Read(HEAD + "| 2026-03-10 | docs | writer | 45 | ran `a | b` | ok | timeout |\n"
                "| 2026-03-10 | docs | writer | 45 | ran `a \\| b` | ok | timeout |\n"
                "| 2026-03-10 | docs | writer | 45 | `a | b` | `c | d` | timeout |\n"
                "| 2026-03-10 | docs | writer | 45 | ran `a | b` | timeout |\n"
                "\n| 2026-03-10 | docs | writer | 45 | ran `a | b` | ok | timeout |\n")  # fmt: skip
    assert [(row.issue, row.resolution, row.tags) for row in read.rows] == [
        ("ran a | b", "ok", ("timeout",)),
        ("ran a | b", "ok", ("timeout",)),
        ("a | b", "c | d", ("timeout",)),
        # Seven cells as they stand: GFM's reading holds.
        ("ran `a", "b`", ("timeout",)),
        ("ran a | b", "ok", ("timeout",)),
    ]
    assert [line for line, _ in read.said("feedback-pipe-in-code")] == [3, 5, 8]


def test_markup_in_cells() -> None:
    read = Read(HEAD + "| **2026-03-10** | `docs` | [**Wri&#116;er**](w.md) | ~~45~~ | <b>so</b> *much* \\*x\\* <!-- no --> | "
                "![chart](c.png) &amp; <joe@example.com> | _loop\\_excess_ |\n")  # fmt: skip
    (row,) = read.rows
    assert (row.date, row.score, row.score_text, row.tags) == (date(2026, 3, 10), Decimal(45), "45", ("loop-excess",))
    assert (row.issue, row.resolution) == ("so much *x*", "chart & [e-mail]")
    assert (read.agents, read.pipelines) == (["Writer"], ["docs"])


def test_nobody_and_nowhere() -> None:
    cells = ["", "—", "-", "none", "N/A", "unknown", "@user"]
    read = Read(
        HEAD + "".join(f"| 2026-03-10 | {cell.removeprefix('@')} | {cell} | 45 | | | timeout |\n" for cell in cells)
    )
    assert read.agents == [None] * 7
    assert read.pipelines == [None] * 6 + ["user"]
    assert len(read.rows) == 7


def test_empty_and_template_rows_only() -> None:
    empty = "| | | | | | | |\n"
    for rows in ("", empty, "| {{DATE}} | {{P}} | {{A}} | {{S}} | {{I}} | {{R}} | {{T}} |\n"):
        read = Read(HEAD + rows)
        assert read.rows == ()
        assert read.fates() == (0, 2 + bool(rows), 0, 0)
        assert [n.severity for n in read.result.notices if n.code == "feedback-no-rows"] == ["info"]


def test_scores_that_are_kept_as_text() -> None:
    read = Read(
        HEAD + "".join(f"| 2026-03-10 | d | a | {s} | | | |\n" for s in ("Critical / High", "TBD", "110/100", "—", ""))
    )
    assert [row.score for row in read.rows] == [None] * 5
    assert [row.score_text for row in read.rows] == ["Critical / High", "TBD", "110/100", "—", ""]
    assert [line for line, _ in read.said("feedback-score")] == [3, 4, 5]
    assert read.codes["feedback-no-score"] == 2


def test_scores_of_at_most_one_are_doubted() -> None:
    shares = Read(HEAD + "| | d | a | 0.67 | | | |\n", HEAD + "| | d | a | 1 | | | |\n| | d | a | - | | | |\n")
    assert shares.codes["feedback-scores-at-most-one"] == 2
    assert "feedback-scores-at-most-one" not in Read(HEAD + "| | d | a | 0.67 | | | |\n| | d | a | 45 | | | |\n").codes
    assert "feedback-scores-at-most-one" not in Read(HEAD + "| | d | a | - | | | |\n").codes


def test_undated_rows_are_named() -> None:
    read = Read(HEAD + "| March 3 | d | a | 45 | | | |\n| | d | a | 45 | | | |\n")
    assert [row.date for row in read.rows] == [None, None]
    assert read.said("feedback-date") == [(3, "The date “March 3” has no year: undated.")]
    assert read.codes["feedback-undated"] == 1


def test_secrets_are_redacted_and_addresses_stay_two_agents() -> None:
    text = HEAD + "".join(
        f"| 2026-03-10 | d | {who} | ask {who} | mail {who} | in /home/joe/x | {who} |\n"
        for who in ("a@x.com", "b@x.com")
    )
    read = Read(text)
    assert read.agents == ["[e-mail 1]", "[e-mail 2]"]
    assert {(r.score_text, r.issue, r.resolution, r.tags) for r in read.rows} == {
        ("ask [e-mail]", "mail [e-mail]", "in [home]/x", ("[e-mail]",))
    }
    assert not any("@x.com" in notice.message for notice in read.result.notices)
    assert Read(text, redact=False).rows[0].issue == "mail a@x.com"


# --- bytes ---------------------------------------------------------------------------------------------------------------

PLAIN = "# Log\n\n" + HEAD + ROW + "| 2026-03-11 | döcs | wrïter | 46 | é | | |\n"


@pytest.mark.parametrize(
    "content",
    [
        PLAIN.encode(),
        b"\xef\xbb\xbf" + PLAIN.encode(),
        PLAIN.replace("\n", "\r\n").encode(),
        b"\xff\xfe" + PLAIN.encode("utf-16-le"),
        b"\xfe\xff" + PLAIN.replace("\n", "\r\n").encode("utf-16-be"),
        PLAIN.encode("utf-16-le"),
        gzip.compress(PLAIN.encode()),
        PLAIN.encode().removesuffix(b"\n"),
    ],
)
def test_encodings_and_line_ends(content: bytes) -> None:
    read = Read(content)
    assert read.agents == ["writer", "wrïter"]
    assert read.lines == [5, 6]
    assert read.fates() == (2, 3, 0, 1)


def test_a_mark_in_the_middle_where_files_were_joined() -> None:
    assert Read("# Log\n\n\ufeff" + HEAD + ROW + "\n\ufeff" + HEAD + ROW).lines == [5, 9]


def test_lone_carriage_returns_end_lines_for_markdown_only() -> None:
    read = Read((HEAD + ROW).replace("\n", "\r") + "\n")
    assert len(read.rows) == 1
    assert read.fates() == (1, 0, 0, 0)


def test_invalid_utf8_rejects_a_row_and_nothing_else() -> None:
    content = b"caf\xe9\n\n" + (HEAD + ROW + ROW.replace("slow", "caf@") + ROW).encode().replace(b"caf@", b"caf\xe9")
    read = Read(content)
    assert read.lines == [5, 7]
    assert [(line.line, line.reason) for line in read.result.rejected] == [(6, "not valid UTF-8")]
    assert "caf\ufffd" in read.result.rejected[0].snippet


def test_nul_characters_are_dropped_with_a_warning() -> None:
    read = Read(HEAD + ROW.replace("writer", "wri\x00ter"))
    assert read.agents == ["writer"]
    assert [line for line, _ in read.said("feedback-nul")] == [3]


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_truncated_gzip_gives_what_could_be_unpacked(cut: int) -> None:
    rows = "".join(ROW.replace("slow", f"slow {n * 7919 % 1000}") for n in range(500))
    read = Read(gzip.compress((HEAD + rows).encode(), mtime=0)[: -8 - cut])
    assert 300 < len(read.rows) <= 500
    assert len(read.result.rejected) == 1
    assert "cut short" in read.result.rejected[0].reason
    read.fates()


def test_an_empty_file() -> None:
    for content in (b"", b"\n", b"\xef\xbb\xbf"):
        read = Read(content)
        assert read.rows == ()
        assert read.file.lines == read.file.blank
        assert "feedback-no-table" in read.codes


def test_an_unreadable_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ReportgenError) as caught:
        read_feedback([Source(path=tmp_path / "no.md", name="no.md", kind="feedback")], Names(), redact=True)
    assert (caught.value.where, caught.value.exit_code) == ("no.md", 3)


# --- size ----------------------------------------------------------------------------------------------------------------


def test_a_long_table_with_missing_cells_is_read_to_its_end() -> None:
    """markdown-it-py's own table rule would stop after 65,536 filled-up cells: here after 10,922 rows."""
    read = Read(HEAD + "| 2026-03-10 |\n" * 12_000 + ROW)
    assert len(read.rows) == 12_001
    assert read.agents[-1] == "writer"
    assert len(read.said("feedback-row-cells")) == 21
    assert read.codes["feedback-row-cells"] == 12_000


def test_twenty_thousand_rows_take_seconds() -> None:
    row = "| 2026-03-{:02d} | docs | **agent_{}** | {}/100 | The *draft* {} had a `problem` | See [log](x{}.md) | `timeout`, x |\n"
    text = HEAD + "".join(row.format(n % 28 + 1, n % 9, n % 100, n, n) for n in range(20_000))
    start = time.process_time()
    read = Read(text)
    assert len(read.rows) == 20_000
    assert time.process_time() - start < 20


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "*a_",
        "`",
        "<",
        "![",
        "](",
        "&",
        "~~",
        "\\",
        "<a ",
        "**",
        "_a*",
        "[a](",
        "<!--",
        "| ",
        "> ",
        "- ",
        "#",
        "```\n",
    ],
)
def test_hostile_text_takes_no_time(piece: str) -> None:
    start = time.process_time()
    cell = (piece.replace("\n", "").replace("|", "x") * 60_000)[:60_000]
    Read(HEAD + ROW.replace("slow", cell) + "\n" + piece * 5_000 + "\n\n" + ROW + (cell[:3000] + "|\n") * 3)
    assert time.process_time() - start < 8
