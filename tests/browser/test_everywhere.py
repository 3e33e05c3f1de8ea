"""Every page of the odd projects in a real Chromium: silent, alone, without barriers, on a phone and on paper."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from .conftest import WIDE, Reader
from .real_sites import first_of_each, pages_of
from .walk import CUT, SHEET, TOO_WIDE, TRIM, lost_links, walk

pytestmark = pytest.mark.browser

Readers = Callable[..., Reader]
Real = Callable[[str], Path]

#: Leaves the first part of each folder.
FEW_PARTS = """
  (() => {
    const seen = new Set();
    for (const part of document.querySelectorAll('.part')) {
      const kind = part.id.replace(/\\/.*/, '/');
      if (kind.endsWith('/') && seen.has(kind)) part.remove();
      seen.add(kind);
    }
  })()
"""
#: Without data, without a finding, with a detector that fails, with names that attack the page.
ODD = ("empty", "clear", "failed", "hostile")


@pytest.mark.parametrize("name", ODD)
def test_nothing_is_wrong_on_any_page(
    undrawn: Real, reader: Readers, name: str, looked_at: set[str], request: pytest.FixtureRequest
) -> None:
    site = undrawn(name)
    one = reader(viewport=WIDE, color_scheme="light")
    # The pages of SQL are the same in all projects; those of the example are visited.
    every = request.config.getoption("--every-page")
    paths = [path for path in pages_of(site) if not path.startswith("sql/")]
    assert len(paths) >= 14
    if not every and name != "hostile":
        paths = first_of_each(paths, 2)
    assert walk(one, site, paths, looked_at=looked_at, all_of_them=every) == {}
    assert one.said == []
    assert [address for address in one.asked if not address.startswith(site.as_uri())] == []


@pytest.mark.parametrize("name", ["empty", "clear", "failed"])
def test_every_link_and_anchor_leads_somewhere(real: Real, name: str) -> None:
    paths = [path for path in pages_of(real(name)) if path != "404.html"]
    assert lost_links(real(name), paths) == []


@pytest.mark.parametrize("name", ["empty", "hostile"])
def test_the_report_as_one_page_stands_alone(real: Real, reader: Readers, tmp_path: Path, name: str) -> None:
    # Out of its site, as a mail would carry it.
    alone = tmp_path / "report.html"
    alone.write_bytes((real(name) / "one-page.html").read_bytes())
    one = reader(viewport=WIDE)
    page = one.open(alone)
    one.until("[...document.querySelectorAll('.chart .plot')].slice(0, 1).every((b) => b.querySelector('.main-svg'))")
    assert page.locator(".chart.failed").count() == 0
    for words in ("Recommendations", "How to read this"):
        page.locator("nav[aria-label=Report] a", has_text=words).click()
        goal = unquote(urlsplit(page.url).fragment)
        one.until(f"Math.abs(document.getElementById({goal!r}).getBoundingClientRect().top) < innerHeight")
    page.keyboard.press("/")
    page.keyboard.type("score")
    one.until("document.querySelectorAll('[role=option]').length > 0")
    page.keyboard.press("Enter")
    assert page.url.startswith(alone.as_uri() + "#")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": SHEET, "height": 900})
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(CUT) == []
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": 320, "height": 640})
    assert page.evaluate(TOO_WIDE) <= 0
    page.set_viewport_size({"width": 1366, "height": 900})
    # The parts are the site's pages, at each of which somebody looked: here at the first of each kind, side by side.
    page.evaluate(FEW_PARTS)
    page.evaluate(TRIM)
    assert one.barriers() == []
    assert one.said == []
    assert one.asked == [alone.as_uri()]
