"""Feedback against markdown-it-py's own reading of the same text, and against rows whose values are known."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from feedback_help import Read
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from reportgen.inputs.feedback import cell_text, parse, rendered_text
from reportgen.inputs.feedback_cells import split_row
from reportgen.names import clean_name, fold, squeeze

# --- markdown-it-py's own tables -------------------------------------------------------------------------------------

STOCK = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
Table = list[tuple[int, list[str]]]


def visible(token: Token) -> str:
    """The text that a browser would show."""
    if token.type == "image":
        return "".join(visible(child) for child in token.children or ())
    if token.type in ("softbreak", "hardbreak") or token.content.lower().startswith("<br"):
        return " "
    return "" if token.type == "html_inline" else token.content


def stock_tables(text: str) -> list[Table]:
    """Each table as (line, texts of its cells) per row, header first, as markdown-it-py gives them."""
    tables: list[Table] = []
    in_cell = False
    for token in STOCK.parse(text):
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open" and token.map:
            tables[-1].append((token.map[0], []))
        elif token.type == "inline" and in_cell:
            tables[-1][-1][1].append(squeeze("".join(visible(child) for child in token.children or ())))
        in_cell = token.type in ("th_open", "td_open")
    return tables


def our_tables(text: str) -> list[Table]:
    found = []
    blocks, render = parse(text.split("\n"))
    for block in blocks:
        if block.kind == "table":
            width = len(split_row(block.lines[0][1]))
            rows = [line for place, line in enumerate(block.lines) if place != 1]
            found.append([(n, [render(c) for c in (split_row(row) + [""] * width)[:width]]) for n, row in rows])
    return found


CELL = st.sampled_from(
    [
        *("a", "b c", "", " ", "  x", "45/100", "@writer", "agent_x", "_a_", "a_b_", "snake_case_name", "é", "日本"),
        *(
            "**a**",
            "*a*",
            "**a** b",
            "a**b**",
            "* a *",
            "**a",
            "***a***",
            "*a **b** c*",
            "__a__",
            "**a*",
            "*a*b",
            "(**a**)",
        ),
        *("`a`", "`a", "``a`b``", "` a `", "`a\\`", "`**a**`", "\\`a`", "`` a ``", "`a``", "a`b`c", "`<b>`", "` `"),
        *(
            "[a](b)",
            "[a]",
            "[a](b c)",
            "[**a**](b)",
            "![a](b)",
            "[a](javascript:x)",
            "[a b](https://x/y#z)",
            "[a](<b>)",
        ),
        *("<b>a</b>", "a<br>b", "a<br/>b", "<!-- c -->a", "<x@y.zz>", "<https://a.b>", "a < b", "<a", "Vec<T>", "</i>"),
        *(
            "&amp;",
            "&#65;",
            "&nope;",
            "a & b",
            "\\*",
            "\\|",
            "\\\\",
            "\\",
            "a\\|b",
            "`a\\|b`",
            "\\\\|",
            "~~a~~",
            "~a~",
            "a~~b",
        ),
        *(
            "-",
            "--",
            ":-",
            "—",
            "#",
            "> a",
            "1. a",
            "- a",
            "```",
            "|",
            "a|b",
            "!",
            "![",
            "](",
            "a]",
            "\t",
            "\u00a0",
            "[^1]",
        ),
    ]
)
FREE = st.text("ab *_`~[]()<>!&;\\|:-#/.é1", max_size=14)
ROW = st.builds(
    lambda cells, edge: edge[0] + "|".join(cells) + edge[1],
    st.lists(CELL | FREE, max_size=5),
    st.sampled_from(
        [("| ", " |"), ("|", "|"), ("", ""), ("  | ", ""), ("", " | "), ("> | ", " |"), ("    |", "|"), ("- |", "|")]
    ),
)
OTHER = st.sampled_from(
    [
        *(
            "",
            "",
            " ",
            "text",
            "# head",
            "```",
            "~~~",
            "<!--",
            "-->",
            "<!-- x -->",
            "<div>",
            "</div>",
            "---",
            "===",
            "> quote",
        ),
        *(
            "|-|-|",
            "|---|:--:|--:|",
            "-|-",
            ":-:|-",
            "|-|",
            "| - |",
            "- item",
            "    code",
            "\tcode",
            "1. one",
            "[a]: b",
            "|",
            "||",
        ),
    ]
)
DOCUMENT = st.lists(ROW | OTHER, max_size=14).map("\n".join)
GOOD_TABLE = st.builds(
    lambda before, width, rows, after: "\n".join(
        [*before, "|".join("hij"[:width]), "|".join("---"[:width]), *rows, *after]
    ),
    st.lists(ROW | OTHER, max_size=2),
    st.integers(2, 3),
    st.lists(ROW, max_size=6),
    st.lists(ROW | OTHER, max_size=3),
)


@settings(max_examples=250, deadline=None)
@given(DOCUMENT | GOOD_TABLE)
@example("a|b\n-|-\n| `x|y` | \\| |\n")
@example("[x]: y\na|b\n-|-\n[x] | [z]")
@example("> a|b\n> -|-\n> 1|2\n3|4")
def test_tables_rows_and_cells_are_those_of_markdown_it(text: str) -> None:
    assert our_tables(text) == stock_tables(text)


@settings(max_examples=600, deadline=None)
@given(
    st.lists(CELL | FREE, min_size=1, max_size=4).map(" ".join)
    | st.lists(CELL | FREE, min_size=1, max_size=4).map("".join)
)
def test_the_short_way_to_a_cells_text_is_the_long_way(cell: str) -> None:
    cell = cell.replace("|", "x").strip()
    assert cell_text(cell) == squeeze(rendered_text(cell))


# --- every line has one fate -----------------------------------------------------------------------------------------

HEADER = "| Agent | Score | Pattern |"
FEEDBACK_LINE = st.sampled_from(
    [
        *(
            HEADER,
            HEADER,
            "| Agent | Score | Tag |",
            "|---|---|---|",
            "|---|---|---|",
            "|---|---|",
            "| writer | 45/100 | timeout |",
        ),
        *(
            "| b | 50 | - |",
            "a | 60 | x",
            "| b | 50 |",
            "| b | 50 | x | y |",
            "| {{A}} | {{S}} | {{T}} |",
            "| Total | 50 | |",
        ),
        *(
            "| `a|b` | 50 | x |",
            "| | | |",
            "| caf\udce9 | 50 | - |",
            "    | b | 50 | - |",
            "| wri\x00ter | 5 | - |",
            "> | b | 50 | - |",
        ),
        *("", "", " \t", "prose", "```", "<!--", "-->", "## More", "- item", "| x |", "| a | b | c |\r| d | 5 | e |"),
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(FEEDBACK_LINE, max_size=16), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_the_account_adds_up(lines: list[str], end: str, closed: bool) -> None:
    text = end.join(lines) + (end if closed and lines else "")
    read = Read(text.encode("utf-8", "surrogateescape"))
    used, _, _, blank = read.fates()
    raw = text.split("\n")[: None if text and not text.endswith("\n") else -1]
    assert read.file.lines == len(raw)
    assert blank == sum(not line.replace("\x00", "").strip() for line in raw)
    assert used == len(set(read.lines))
    assert read.file.events == len(read.rows)
    assert [row.row_no for row in read.rows] == list(range(len(read.rows)))
    assert not set(read.lines) & {line.line for line in read.result.rejected}
    assert all(1 <= line <= len(raw) for line in read.lines)


# --- values that are known -------------------------------------------------------------------------------------------

WORD = st.text("abcXYZ09é_-", min_size=1, max_size=8).filter(lambda t: t.strip("_-") == t and clean_name(t) == t)
DECORATE = st.sampled_from(["{}", "**{}**", "`{}`", " {} ", "*{}*"])
TAG = st.sampled_from(["loop-excess", "Loop_Excess", "timeout", "own-tag", "TOOL_FAIL"])


Review = dict[str, tuple[Any, Any]]


@st.composite
def reviews(draw: st.DrawFn) -> Review:
    day = date(2026, 1, 1) + timedelta(days=draw(st.integers(0, 400)))
    score = draw(st.integers(0, 1000))
    tags = draw(st.lists(TAG, max_size=3))
    return {
        "Date": (day.isoformat(), day),
        "Pipeline": draw(st.tuples(DECORATE, WORD)),
        "Agent": draw(st.tuples(DECORATE, WORD)),
        "Score": (f"{Decimal(score) / 10}/100", Decimal(score) / 10),
        "Pattern": (draw(st.sampled_from([", ", ";", " ", ","])).join(tags) or "—", tags),
    }


@settings(max_examples=150, deadline=None)
@given(
    st.lists(reviews(), max_size=6),
    st.permutations(["Date", "Pipeline", "Agent", "Score", "Pattern", "Note"]),
    st.lists(st.integers(0, 6), max_size=3),
)
def test_known_rows_come_back_in_any_column_order_and_across_blank_lines(
    rows: list[Review], order: list[str], gaps: list[int]
) -> None:
    lines = ["# Log", "", "|" + "|".join(order) + "|", "|" + "---|" * len(order)]
    expected = []
    for number, row in enumerate(rows):
        lines += [""] * gaps.count(number)
        cells = {**row, "Note": ("x", None)}
        for name in ("Pipeline", "Agent"):
            cells[name] = (cells[name][0].format(cells[name][1]), cells[name][1])
        lines.append("|" + "|".join(cells[name][0] for name in order) + "|")
        tags = list(dict.fromkeys(tag.lower().replace("_", "-") for tag in row["Pattern"][1]))
        expected.append(
            (len(lines), row["Date"][1], fold(row["Pipeline"][1]), fold(row["Agent"][1]), row["Score"][1], tags)
        )
    read = Read("\n".join(lines) + "\n")
    got = [
        (row.line, row.date, fold(pipeline or ""), fold(agent or ""), row.score, list(row.tags))
        for row, pipeline, agent in zip(read.rows, read.pipelines, read.agents, strict=True)
    ]
    assert got == expected
    assert read.fates() == (len(rows), 3, 0, 1 + sum(gap < len(rows) for gap in gaps))
