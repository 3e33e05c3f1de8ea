"""A reader without a mouse gets everywhere: by Tab through a whole page, and by name through the site."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from report_factory import sample_report

from .conftest import WIDE, Reader

pytestmark = pytest.mark.browser

Readers = Callable[..., Reader]

#: Everything that can be used and is there to see, in the order in which it stands in the page.
STOPS = """
  [...document.querySelectorAll('a[href], button, input, summary, [tabindex="0"]')]
    .filter((one) => one.checkVisibility({ checkVisibilityCSS: true }) && !one.disabled)
"""
FOCUSED = f"{STOPS}.indexOf(document.activeElement)"
#: Regions are stops where they scroll, once the page has seen whether they do.
SETTLED = """
  document.querySelector('#search') && [...document.querySelectorAll('.scroll, pre')].every((one) => !one.checkVisibility() ||
    (one.tabIndex === 0) === (one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1))
"""
#: Whether a person sees where the focus is: a line around it, or (the skip link, the mark of a heading) that it shows.
SEEN = """
  (() => {
    const style = getComputedStyle(document.activeElement);
    return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
  })()
"""
BEST = sample_report().recommendations[0].id
PAGES = ["index.html", "agents.html", "recommendations.html", f"recommendations/{BEST}.html", "healing.html"]


@pytest.mark.parametrize("path", PAGES)
def test_tab_visits_every_control_once_in_order_and_shows_where_it_is(
    plain_sites: dict[str, Path], reader: Readers, path: str
) -> None:
    one = reader(viewport=WIDE)
    page = one.open(plain_sites["sample"] / path)
    one.until(SETTLED)
    count = page.evaluate(f"{STOPS}.length")
    assert count > 15
    visited, unseen = [], []
    for _ in range(count):
        page.keyboard.press("Tab")
        at, seen = page.evaluate(f"[{FOCUSED}, {SEEN}]")
        visited.append(at)
        if not seen:
            unseen.append(page.evaluate("document.activeElement.outerHTML.slice(0, 120)"))
    assert visited == list(range(count))
    assert unseen == []
    # And out again at the end: nothing holds the focus.
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED) in (-1, 0)


def test_the_way_from_the_first_page_to_a_finding_s_numbers(plain_sites: dict[str, Path], reader: Readers) -> None:
    one = reader(viewport=WIDE)
    page = one.open(plain_sites["sample"] / "index.html")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    for name in ("Recommendations", "How to read this", "Recommendations"):
        page.get_by_role("navigation", name="Report").get_by_role("link", name=name).press("Enter")
        page.wait_for_url("**/recommendations.html" if name == "Recommendations" else "**/how-to-read.html")
        marked = page.locator("nav[aria-label=Report] [aria-current=page]")
        assert (marked.text_content() or "").startswith(name)
    page.get_by_role("link", name=sample_report().recommendations[0].title).first.press("Enter")
    page.wait_for_url(f"**/{BEST}.html")
    summary = page.locator("summary", has_text="The numbers as a table").first
    table = page.locator("figure details table").first
    assert table.is_hidden()
    summary.press("Enter")
    assert table.is_visible()
    summary.press("Space")
    assert table.is_hidden()
    page.get_by_role("navigation", name="Breadcrumb").get_by_role("link", name="Recommendations").press("Enter")
    page.wait_for_url("**/recommendations.html")
    assert one.said == []
