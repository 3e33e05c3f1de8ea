"""Numbers as a reader sees them, CSV cells, and text that stays text in Markdown and HTML."""

from __future__ import annotations

import csv
import html
import io
import re
from decimal import Decimal
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from reportgen.render.csvtext import csv_text
from reportgen.render.format import exact, lasting, show, to_decimal, unit_word
from reportgen.render.prose import escape_markdown, plain, to_html, visible

SHOWN = [
    # value, unit, measure, shown, exact
    ("12.34", "usd", None, "$12.34", "$12.34"),
    ("0.0042", "usd", None, "$0.0042", "$0.0042"),
    ("0.00425", "usd", None, "$0.0043", "$0.00425"),
    ("0.0999", "usd", None, "$0.10", "$0.0999"),
    ("0.125", "usd", None, "$0.13", "$0.125"),
    ("9.995", "usd", None, "$10.00", "$9.995"),
    ("0", "usd", None, "$0.00", "$0.00"),
    ("0.000000000001", "usd", None, "$0.0000000000010", "$0.000000000001"),
    ("1234.5", "usd", None, "$1,234.50", "$1,234.50"),
    ("12345.67", "usd", None, "$12,346", "$12,345.67"),
    ("999999.5", "usd", None, "$1.00 M", "$999,999.50"),
    ("-3.2", "usd", None, "-$3.20", "-$3.20"),
    ("2.5", "cost", "usd", "$2.50", "$2.50"),
    ("1230000", "cost", "tokens", "1.23 M tokens", "1,230,000 tokens"),
    ("12345", "cost", "events", "12,345 events", "12,345 events"),
    ("2.5", "cost", None, "2.5", "2.5"),
    ("1234567", "tokens", None, "1.23 M tokens", "1,234,567 tokens"),
    ("2500000000", "tokens", None, "2.50 B tokens", "2,500,000,000 tokens"),
    ("999999.6", "tokens", None, "1.00 M tokens", "999,999.6 tokens"),
    ("1234.4", "tokens", None, "1,234 tokens", "1,234.4 tokens"),
    (12345, "events", None, "12,345 events", "12,345 events"),
    (1, "runs", None, "1 run", "1 run"),
    (0, "rows", None, "0 rows", "0 rows"),
    ("1", "retries", None, "1 retry", "1 retry"),
    ("6.25", "days", None, "6.25 days", "6.25 days"),
    ("0.42", "share", None, "42%", "42%"),
    (0.425, "share", None, "43%", "42.5%"),
    (0.1 + 0.2, "share", None, "30%", "30%"),
    ("0.0425", "share", None, "4.3%", "4.25%"),
    ("0.0042", "share", None, "0.42%", "0.42%"),
    # What is not all never reads as all.
    ("0.99999", "share", None, "99.9%", "99.999%"),
    (1.0, "share", None, "100%", "100%"),
    ("1.5", "share", None, "150%", "150%"),
    (0, "share", None, "0%", "0%"),
    ("44.25", "score", None, "44.3", "44.25"),
    ("44", "score", None, "44", "44"),
    ("1.5", "times", None, "1.5x", "1.5x"),
    ("12.345", "times", None, "12.3x", "12.345x"),
    ("2026-11-03T09:14:07Z", "time", None, "2026-11-03 09:14 UTC", "2026-11-03 09:14:07 UTC"),
    ("2026-11-03", "date", None, "2026-11-03", "2026-11-03"),
    ("12345", "text", None, "12345", "12345"),
    ("12345", None, None, "12,345", "12,345"),
    ("agent-writer", None, None, "agent-writer", "agent-writer"),
    ("soon", "usd", None, "soon", "soon"),
    ("1e999999999", "usd", None, "1e999999999", "1e999999999"),
    ("NaN", "usd", None, "NaN", "NaN"),
    (None, "usd", None, "unknown", "unknown"),
    (None, None, None, "unknown", "unknown"),
]


@pytest.mark.parametrize(("value", "unit", "measure", "shown", "precise"), SHOWN)
def test_numbers_read_as_a_person_wants_them(
    value: str | int | float | None, unit: str | None, measure: str | None, shown: str, precise: str
) -> None:
    assert show(value, unit, measure) == shown
    assert exact(value, unit, measure) == precise


@settings(deadline=None)
@given(st.decimals(min_value=0, max_value=10**15, places=12))
def test_exact_keeps_every_digit_of_money(amount: Decimal) -> None:
    assert Decimal(exact(f"{amount:f}", "usd").removeprefix("$").replace(",", "")) == amount


@settings(deadline=None)
@given(st.decimals(min_value=Decimal("0.1"), max_value=9999, places=6))
def test_money_shown_is_at_most_half_a_cent_off(amount: Decimal) -> None:
    shown = Decimal(show(f"{amount:f}", "usd").removeprefix("$").replace(",", ""))
    assert abs(shown - amount) <= Decimal("0.005")


@settings(deadline=None)
@given(st.decimals(min_value=0, max_value=1, places=9))
def test_only_all_reads_as_all_and_only_nothing_as_nothing(share: Decimal) -> None:
    shown = show(f"{share:f}", "share")
    assert (shown == "100%") == (share == 1)
    assert (shown == "0%") == (share == 0)


def test_a_float_is_read_as_it_is_written_and_no_number_is_none() -> None:
    assert to_decimal(0.1) == Decimal("0.1")
    assert [to_decimal(value) for value in ("", "x", "inf", "NaN", True, None, float("nan"), "1e99")] == [None] * 8


def test_units_have_a_word_for_an_axis() -> None:
    assert [unit_word(unit, "usd") for unit in ("cost", "share", "time", "score", "events", "text", None)] == [
        "USD",
        "%",
        "UTC",
        "0 to 100",
        "events",
        "",
        "",
    ]


# ── CSV ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_csv_cell_never_runs_as_a_formula_and_a_number_stays_one() -> None:
    cells = ["=1+1", "+cmd", "-x", "@sum", "\tx", "\rx", " =1", "＝1", "-12.5", "+3", "1e-7", "plain", "a=b", "-", ""]
    rows = list(csv.reader(io.StringIO(csv_text(["cell"], [[cell] for cell in cells]), newline="")))
    assert [row[0] if row else "" for row in rows[1:]] == [
        "'=1+1",
        "'+cmd",
        "'-x",
        "'@sum",
        "'\tx",
        "'\nx",
        "' =1",
        "'＝1",
        "-12.5",
        "+3",
        "1e-7",
        "plain",
        "a=b",
        "'-",
        "",
    ]


def test_csv_is_plain_and_whole() -> None:
    text = csv_text(
        ["name", "=n"], [["a,b", 1], ['say "x"', 0.5], ["two\nlines", None], [True, 1e-7], ["\x00x\ud83d", False]]
    )
    assert text == ('name,\'=n\n"a,b",1\n"say ""x""",0.5\n"two\nlines",\ntrue,0.0000001\nx?,false\n')


# ── Markdown ─────────────────────────────────────────────────────────────────────────────────────────────────────

HOSTILE = [
    "a|b",
    "`code`",
    "``",
    "**bold** _em_ ~~gone~~ ~one~",
    "<script>alert(1)</script>",
    '<a href="javascript:alert(1)">x</a>',
    "[x](javascript:alert(1))",
    "![x](http://evil/x.png)",
    "<http://evil>",
    "http://evil.example www.evil.example",
    "&lt; &#106; &amp &copy;",
    "# heading #",
    "1. one",
    "1) one",
    "123456789. long",
    "- item",
    "+ item",
    "* item",
    "> quote",
    "---",
    "===",
    ":-:",
    "***",
    "|---|---|",
    "a\\|b\\",
    "two\nlines\r\nthree\u2028four",
    "a\u202eb\u2066c\u200b",
    "nul\x00esc\x1b[31m",
    "    indented",
    "$x^2$ costs $5",
    "[1]: http://evil",
    "[^1]",
    "agent_writer_two __init__ _x_",
    "wow!",
    "[e-mail 1]",
    "```\nfence",
    "",
    "é_é _é",
]

HOSTS = {
    "commonmark": MarkdownIt("commonmark").enable("table"),
    "gfm-like": MarkdownIt("commonmark").enable(["table", "strikethrough"]),
}
# More characters that mean something to Markdown than letters, so that runs of them are common.
MARKUP = st.text(st.sampled_from("ab1é_*`~[]()<>#|\\!&;:-+=.$\"'/ \t\n\u202e\u00a0@www"), max_size=20)
TEXT = st.one_of(MARKUP, st.text(max_size=20))


def read_back(tokens: list[Token]) -> str:
    """Return what a reader sees of inline tokens; anything but text is a failure."""
    out = []
    for token in tokens:
        assert token.type in {"text", "text_special"}, f"{token.type} {token.content!r} is markup"
        out.append(token.content)
    return "".join(out)


@pytest.mark.parametrize("host", HOSTS)
@settings(max_examples=250, deadline=None)
@given(text=TEXT)
@example(text="a\\|b\\")
@example(text="C#")
def test_an_escaped_value_reads_back_literally_wherever_it_stands(host: str, text: str) -> None:
    renderer, value, expected = HOSTS[host], escape_markdown(text), plain(text)
    if expected:
        paragraph = renderer.parse(value)
        assert [token.type for token in paragraph] == ["paragraph_open", "inline", "paragraph_close"]
        assert read_back(paragraph[1].children or []) == expected
        heading = renderer.parse(f"## {value}")
        assert heading[0].type == "heading_open"
        assert read_back(heading[1].children or []) == expected
        item = renderer.parse(f"- {value}")
        assert [token.type for token in item if token.level == 2] == ["paragraph_open", "paragraph_close"]
        link = renderer.parse(f"x [{value}](#here) y")[1].children or []
        assert [token.type for token in link if token.type not in {"text", "text_special"}] == [
            "link_open",
            "link_close",
        ]
    table = renderer.parse(f"| a | b |\n| --- | --- |\n| {value} | end |\n")
    cells = [token for token in table if token.type == "inline"]
    assert len(cells) == 4
    assert [read_back(cell.children or []) for cell in cells[2:]] == [expected, "end"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_one_line_and_reads_back(text: str) -> None:
    value = escape_markdown(text)
    assert "\n" not in value
    assert (
        html.unescape(re.sub("<[^>]*>", "", HOSTS["gfm-like"].render(f"x {value}"))).strip()
        == f"x {plain(text)}".strip()
    )


def test_addresses_are_not_made_into_links_by_code_hosts() -> None:
    # Their extended autolinks look for these two in the source.
    assert escape_markdown("http://a.example HTTPS://b.example") == "http\\://a.example HTTPS\\://b.example"
    assert "www." not in escape_markdown("www.a.example WWW.b.example").lower()


def test_names_stay_readable_in_a_terminal() -> None:
    assert (
        escape_markdown("agent-writer run_007 $12.34 R&D (42%) a/b: c")
        == "agent-writer run_007 $12.34 R&D (42%) a/b: c"
    )


def test_plain_is_one_line_and_shows_what_hides() -> None:
    assert plain(" a\r\n\tb\x00\x1b[1m ") == "a b[1m"
    assert plain("a\u202eb") == "a<U+202E>b"
    assert plain("a\u200bb\u00adc\ufeff\u3164") == "a<U+200B>b<U+00AD>c<U+FEFF><U+3164>"
    # Joiners make emoji and Persian words, Arabic number signs have a glyph.
    assert plain("👩\u200d💻 می\u200cخواهم \u0600") == "👩\u200d💻 می\u200cخواهم \u0600"
    assert plain("\ud83d") == "\ufffd"


@settings(deadline=None)
@given(st.text(max_size=30))
def test_plain_can_be_written_and_is_stable(text: str) -> None:
    once = plain(text)
    once.encode("utf-8")
    assert plain(once) == once
    assert not any(ord(character) < 32 for character in once)


def test_visible_keeps_lines_and_tabs() -> None:
    assert visible("a\n\tb\x00\u202e") == "a\n\tb<U+202E>"


# ── HTML ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_html_of_prose_has_the_tags_of_prose_and_no_others() -> None:
    made = to_html(
        "# Title\n\nText *em* **strong** `code` ~~old~~\n\n- item\n\n| a | b |\n| --- | --: |\n| 1 | <b>2</b> |\n"
        "\n<script>alert(1)</script>\n\n![alt](http://evil/x.png)"
    )
    assert set(re.findall(r"<(\w+)", made)) == {
        "h3",
        "p",
        "em",
        "strong",
        "code",
        "s",
        "ul",
        "li",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "a",
    }
    assert "style=" not in made
    assert '<th class="align-right">' in made
    assert "&lt;script&gt;" in made
    assert "&lt;b&gt;2&lt;/b&gt;" in made


@pytest.mark.parametrize(
    "target",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "&#106;avascript:alert(1)",
        "java&#10;script:alert(1)",
        "java&Tab;script:alert(1)",
        "vbscript:x",
        "data:text/html;base64,x",
        "data:image/png;base64,x",
        "file:///etc/passwd",
        "mailto:a@b.example",
        "//evil.example/x",
        "/\\evil.example",
        "\\\\evil.example",
    ],
)
def test_links_never_leave_by_another_way_than_http(target: str) -> None:
    made = to_html(f"[x]({target}) [y]: z\n\n[z][r]\n\n[r]: {target}\n\n<{target}>")
    for link in re.findall(r'href="([^"]*)"', made):
        parts = urlsplit(html.unescape(link))
        assert (parts.scheme, parts.netloc, parts.path[:1] in "/\\") == ("", "", False), link


def test_good_links_stay_and_outside_ones_say_nothing_about_the_reader() -> None:
    made = to_html("[a](#x) [b](../agents/a.html?q=1) [c](https://example.org/x)")
    assert re.findall(r'href="([^"]*)"', made) == ["#x", "../agents/a.html?q=1", "https://example.org/x"]
    assert made.count('rel="noopener noreferrer nofollow"') == 1


@settings(deadline=None)
@given(st.text(max_size=40))
def test_html_of_an_escaped_value_is_its_text(text: str) -> None:
    made = to_html(escape_markdown(text))
    assert html.unescape(re.sub(r"</?p>", "", made)).strip("\n") == plain(text)
    assert re.sub(r"</?p>", "", made).count("<") == 0


@pytest.mark.parametrize(
    ("days", "said"),
    [
        ("0", "0 s"), ("0.000093", "8 s"), (0.0625, "90 min"), ("0.5", "12 h"), ("0.99999", "24 h"), ("1", "1 day"),
        ("1.5", "1.5 days"), (44.7, "44.7 days"), (None, "unknown"),
    ],
)  # fmt: skip
def test_what_is_less_than_a_day_is_told_in_smaller_units(days: str | float | None, said: str) -> None:
    assert lasting(days) == said
