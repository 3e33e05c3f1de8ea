"""RECOMMENDATIONS.md is never broken by a value: hostile names, odd prose, folded lines, a project's own template."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_reading import (
    HOST,
    headings,
    made,
    parsed,
    rendered,
    table_with,
    tables,
)
from report_factory import HOSTILE, hostile_report, sample_report

from reportgen.errors import ReportgenError
from reportgen.render.markdown import WIDTH, Markdown, as_markdown, fold_lines, render_markdown, table
from reportgen.render.prose import calls_nobody, escape_markdown, one_line, plain

# ── hostile text ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_hostile_text_makes_no_markup() -> None:
    report, text = hostile_report(), made("hostile")
    kinds: set[str] = set()
    for token in parsed(text):
        kinds.add(token.type)
        for part in token.children or []:
            kinds.add(part.type)
            if part.type == "html_inline":
                assert re.fullmatch(r'<a id="[\w-]+"></a>', token.content)
            if part.type == "link_open":
                assert re.fullmatch(r"#[\w-]+", str(part.attrs["href"]))
    # Beside the anchors, the marker and the folds are the only HTML.
    blocks = [token.content.strip() for token in parsed(text) if token.type == "html_block"]
    assert blocks[0].startswith("<!-- reportgen: ")
    for block in blocks[1:]:
        assert re.fullmatch(r"<details><summary>[\w ,.]+</summary>|</details>", block), block
    assert blocks.count("</details>") == sum(block.startswith("<details>") for block in blocks) > 2
    assert kinds.isdisjoint({"image", "blockquote_open", "code_block", "hr", "s_open"})
    assert [tag for tag, _ in headings(text)] == [tag for tag, _ in headings(made("sample"))]
    assert headings(text)[0][1] == f"Recommendations for {plain(report.build.project)}"
    for rows in tables(text):
        assert {len(row) for row in rows} == {len(rows[0])}


def test_hostile_names_stay_one_cell_with_their_text() -> None:
    report, text = hostile_report(), made("hostile")
    assert [row[0] for row in table_with(text, "Pipeline")] == [plain(p.pipeline) for p in report.pipelines]
    assert [row[-1] for row in table_with(text, "Score")] == [plain(group.title) for group in report.groups]
    agents = [row[0] for rows in tables(text) if rows[0][0] == "Agent" for row in rows[1:]]
    assert agents == [plain(a.agent) for p in report.pipelines for a in report.agents if a.pipeline == p.pipeline]
    for row, rejected in zip(table_with(text, "Line"), report.rejected, strict=True):
        assert row[1] == plain(rejected.reason)
        assert plain(rejected.snippet).startswith(row[2].removesuffix("…"))
        assert len(row[2]) <= 40
    told = rendered(text)
    for one in report.recommendations:
        assert plain(one.title) in told
    assert plain(HOSTILE) in told


@settings(deadline=None)
@given(st.lists(st.text(max_size=12), min_size=2, max_size=2), st.integers(0, 3))
def test_any_cells_stay_a_row(cells: list[str], more: int) -> None:
    assert tables(table("One | Two:", [cells] * (more + 1))) == [
        [["One", "Two"], *[[plain(cell) for cell in cells]] * (more + 1)]
    ]


def test_a_table_is_aligned_for_a_terminal() -> None:
    assert str(table("Name | Cost:", [["文書", "$1.00"], ["a|b", "$12.34"], ["x" * 60, None]])) == (
        f"| Name |    Cost |\n| ---- | ------: |\n| 文書 |   $1.00 |\n| a\\|b |  $12.34 |\n| {'x' * 60} | unknown |\n"
    )


def test_values_are_escaped_without_being_asked_for() -> None:
    assert as_markdown("*a* | b") == "\\*a\\* \\| b"
    assert as_markdown(Markdown("*a*")) == "*a*"
    with pytest.raises(TypeError, match="unknown"):
        as_markdown(None)


PROSE = [
    ("Run **x** cost `y`, see [this](../runs.html).", True),
    ("Plain words, 1.5 times.", True),
    ("a \\<b\\> c", True),
    ("<b>x</b>", False),
    ("x <!-- y -->", False),
    ("<div open", False),
    ("![x](y.png)", False),
    ("[x](javascript:alert(1)) <i>", False),
    ("- item", False),
    ("# heading", False),
    ("> quote", False),
    ("| a |\n| - |", False),
    ("two\n\nparagraphs", False),
    ("", False),
]


@pytest.mark.parametrize(("text", "kept"), PROSE)
def test_an_authors_prose_is_kept_only_where_it_is_one_line_of_prose(text: str, kept: bool) -> None:
    assert one_line(text) is kept


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["word", "-", "1.", "12)", "#", ">", "a|b", "***", "---", "*x*", "`", "=", ":-", "<p>", "~~~", "é" * 30]
        ),
        min_size=1,
        max_size=60,
    )
)
def test_folding_a_line_changes_nothing_of_what_is_read(words: list[str]) -> None:
    for start in ("", "- "):
        line = start + escape_markdown(" ".join(words))
        folded = fold_lines(line)
        assert HOST.render(folded).replace("\n", " ") == HOST.render(line + "\n").replace("\n", " ")


def test_folding_leaves_tables_headings_and_fences_alone() -> None:
    long = "word " * 40
    for text in (f"| {long}|\n", f"# {long.strip()}\n", f"```\n{long.strip()}\n```\n"):
        assert fold_lines(text) == text
    assert max(len(line) for line in fold_lines(f"- {long}").split("\n")) <= WIDTH
    assert fold_lines(f"- {long}").split("\n")[1].startswith("  word")


# ── a project's own template ─────────────────────────────────────────────────────────────────────────────────────


def test_a_projects_template_stands_in_and_its_values_are_escaped(tmp_path: Path) -> None:
    (tmp_path / "RECOMMENDATIONS.md.j2").write_text("{{ marker }}\n\n{{ report.build.project }}\n{{ '<b>' ~ 1 }}\n")
    report = replace(sample_report(), build=replace(sample_report().build, project="<i>|`x"))
    text = render_markdown(report, template_dirs=[tmp_path])
    assert text.split("\n")[2:] == ["\\<i>\\|\\`x", "\\<b>1", ""]


def test_a_wrong_template_is_named_with_its_line(tmp_path: Path) -> None:
    template = tmp_path / "RECOMMENDATIONS.md.j2"
    template.write_text("one\n{{ report.nothing }}\n")
    with pytest.raises(ReportgenError, match=r"RECOMMENDATIONS\.md\.j2:2"):
        render_markdown(sample_report(), template_dirs=[tmp_path])


# ── what a host would act on ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("ask @octocat or @org/team-x", "ask `@octocat` or `@org/team-x`"),
        ("see #123, GH-12 and !7", "see `#123`, `GH-12` and `!7`"),
        # No host calls anybody for these.
        ("a@b.example, C#, #tag, a!b", "a@b.example, C\\#, \\#tag, a!b"),
        ("`@x` and __@y__", "\\``@x`\\` and \\_\\_@y\\_\\_"),
        ("{{ site.title }} {% raw %} {{{", "{\\{ site.title }} {\\% raw %} {\\{\\{"),
    ],
)
def test_a_value_calls_nobody_and_starts_no_command_of_a_host(text: str, markdown: str) -> None:
    assert as_markdown(text) == markdown
    # It still reads as what it is.
    shown = "".join(part.content for part in HOST.parseInline(markdown)[0].children or [])
    assert shown == text


def test_code_and_the_goals_of_links_are_left_as_they_are() -> None:
    written = "Do [this](https://example.org/@a#1) with `@b #2`, then ask @c."
    assert calls_nobody(written) == "Do [this](https://example.org/@a#1) with `@b #2`, then ask `@c`."


def test_what_holds_an_unknown_cost_is_marked_at_least() -> None:
    report = sample_report()
    first = report.recommendations[0]
    seen = [replace(one, value="yes") for one in first.evidence[:1]]
    some = replace(first, evidence=[replace(seen[0], name="incomplete", unit=None), *first.evidence])
    text = render_markdown(replace(report, recommendations=[some, *report.recommendations[1:]]))
    assert "≥: an event of unknown cost is in it, so that it is at least this." in rendered(text)
    assert text.count(": ≥ ") == 1
    assert "≥" not in made("sample")
