"""Headings of RECOMMENDATIONS.md that every code host makes the same anchor of, and the links to them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from markdown_reading import headings, host_anchor, parsed, run_outliers, table_with
from report_factory import group_up

from reportgen.render.markdown import render_markdown
from reportgen.render.prose import escape_markdown


@pytest.mark.parametrize(
    ("title", "heading"),
    [
        ("Cost outlier: run_7 in a.b", "Cost outlier: run_7 in a.b (0123456789)"),
        # What hosts don't agree on, what can't be read, and what is too long is told by its id, the title under it.
        ("Cost outlier: x - y", "cost-outlier-x-0123456789"),
        ("Cost outlier: 文書", "cost-outlier-x-0123456789"),
        ("Cost outlier: -x", "cost-outlier-x-0123456789"),
        ("Cost outlier: " + "x" * 120, "cost-outlier-x-0123456789"),
    ],
)
def test_a_heading_is_one_that_every_host_makes_the_same_anchor_of(title: str, heading: str) -> None:
    report = run_outliers(1)
    found = replace(report.recommendations[0], title=title, id="cost-outlier-x-0123456789")
    text = render_markdown(replace(report, recommendations=[found], groups=group_up([found])))
    assert ("h3", heading) in headings(text)
    assert (f" **{escape_markdown(title)}** " in " ".join(text.split())) is (heading == found.id)
    (link,) = [part for token in parsed(text) for part in token.children or [] if part.type == "link_open"]
    assert link.attrs["href"] == f"#{host_anchor(heading)}"
    assert table_with(text, "Score")[0][-1] == title


def test_two_recommendations_of_one_title_have_a_link_each() -> None:
    report = run_outliers(2)
    twins = [replace(r, title="Cost outlier: R", group=r.id) for r in report.recommendations]
    text = render_markdown(replace(report, recommendations=twins, groups=group_up(twins)))
    links = [part for token in parsed(text) for part in token.children or [] if part.type == "link_open"]
    assert [part.attrs["href"] for part in links] == ["#cost-outlier-r-abcdef0001", "#cost-outlier-r-abcdef0002"]
