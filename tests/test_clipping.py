"""A recommendation as Markdown: all that matters of it, and hostile text stays text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from markdown_it import MarkdownIt
from page_reader import read_page
from report_factory import hostile_report, sample_report

from reportgen.render.clipping import clipping
from reportgen.render.site import render_site


@pytest.fixture(scope="module")
def site() -> dict[str, bytes]:
    return render_site(sample_report())


def html_of(text: str) -> str:
    return str(MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(text))


def test_it_says_what_was_found_what_to_do_and_how_it_scores() -> None:
    found = sample_report().recommendations[0]
    text = clipping(found)
    assert text.startswith("### agent-writer does 2.8 times its share of the work in doc-pipeline\n")
    assert "made **17,120** of the 30,828 events" in text
    assert "**What to do:** Batch tool calls or narrow the task scope. Effort: medium." in text
    assert "**Could save:** $153.64 (37% of the pipeline's cost); measured" in text
    assert "**Score:** 64 of 100, hint: implement (how often " in text
    for label, part in (
        ("how often", found.vfm.frequency),
        ("failures it would prevent", found.vfm.failure_reduction),
        ("work it would take off people", found.vfm.burden_reduction),
        ("cost it would save", found.vfm.cost_savings),
    ):
        assert f"{label} {part}" in text
    for evidence in found.evidence:
        assert evidence.label in text
    assert text.endswith(f"Id: `{found.id}`. Page: ")


def test_an_unknown_saving_is_called_unknown_and_an_estimate_is_marked() -> None:
    found = sample_report().recommendations[0]
    assert "**Could save:** unknown" in clipping(replace(found, saving=None, saving_basis="unknown"))
    assert "≈ estimated by the producer" in clipping(replace(found, saving_basis="estimated"))
    assert "unknown costs" not in clipping(found)
    assert "reported; unknown costs are not in it." in clipping(found, True)


def test_hostile_text_is_text_where_it_is_pasted() -> None:
    for found in hostile_report().recommendations:
        html = html_of(clipping(found))
        page = read_page(f"<main>{html}</main>")
        assert page.faults == []
        tags = {one.tag for one in page.elements}
        assert tags <= {"main", "h3", "p", "strong", "em", "code", "table", "thead", "tbody", "tr", "th", "td"}, tags


def test_it_stands_on_the_page_once_and_reads_without_a_script(site: dict[str, bytes]) -> None:
    found = sample_report().recommendations[0]
    page = read_page(site[f"recommendations/{found.id}.html"])
    (box,) = page.all("details", "markdown")
    (text,) = [one.text for one in page.all("pre") if one.text.startswith("### ")]
    assert text == f"{clipping(found)}recommendations/{found.id}.html"
    assert box.text.startswith("As Markdown")
    assert not read_page(site["recommendations.html"]).all("details", "markdown")


def test_its_tables_are_not_padded() -> None:
    assert "  " not in clipping(sample_report().recommendations[0])
