"""Anchors of RECOMMENDATIONS.md that every reader takes as they are, and the links to them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from markdown_reading import anchors, parsed, run_outliers, table_with
from report_factory import group_up

from reportgen.render.markdown import render_markdown


@pytest.mark.parametrize(
    ("title", "anchor"),
    [
        ("Cost outlier: run_7 in a.b", "cost-outlier-run_7-in-ab-0123456789"),
        # What readers don't agree on, what can't be read, and what is too long is led to by its id.
        ("Cost outlier: x - y", "cost-outlier-x-0123456789"),
        ("Cost outlier: 文書", "cost-outlier-x-0123456789"),
        ("Cost outlier: -x", "cost-outlier-x-0123456789"),
        # What would be markup is no part of it.
        ('Cost outlier: "><i>', "cost-outlier-i-0123456789"),
        ("Cost outlier: " + "x" * 120, "cost-outlier-x-0123456789"),
    ],
)
def test_an_anchor_is_one_that_every_reader_takes_and_the_heading_is_the_title(title: str, anchor: str) -> None:
    report = run_outliers(1)
    found = replace(report.recommendations[0], title=title, id="cost-outlier-x-0123456789")
    text = render_markdown(replace(report, recommendations=[found], groups=group_up([found])))
    assert anchors(text) == {anchor: title}
    assert links(text) == [f"#{anchor}"]
    assert table_with(text, "Score")[0][-1] == title


def test_two_recommendations_of_one_title_have_a_link_each() -> None:
    report = run_outliers(2)
    twins = [replace(r, title="Cost outlier: R", group=r.id) for r in report.recommendations]
    text = render_markdown(replace(report, recommendations=twins, groups=group_up(twins)))
    assert links(text) == ["#cost-outlier-r-abcdef0001", "#cost-outlier-r-abcdef0002"]
    assert list(anchors(text)) == [link[1:] for link in links(text)]


def links(text: str) -> list[str]:
    """Return where the ranked table leads: all but the link to the scores."""
    found = [part.attrs["href"] for token in parsed(text) for part in token.children or [] if part.type == "link_open"]
    return [str(link) for link in found if link != "#scores"]
