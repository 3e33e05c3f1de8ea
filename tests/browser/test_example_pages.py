"""Every page of the bundled example in a real Chromium: silent, alone, without barriers, on a phone and on paper."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import WIDE, Reader
from .real_sites import first_of_each, pages_of
from .walk import COLOURS, TRIM, lost_links, walk

pytestmark = pytest.mark.browser

Readers = Callable[..., Reader]
Real = Callable[[str], Path]


def test_nothing_is_wrong_on_any_page(
    undrawn: Real, reader: Readers, looked_at: set[str], request: pytest.FixtureRequest
) -> None:
    site = undrawn("example")
    one = reader(viewport=WIDE, color_scheme="light")
    every = request.config.getoption("--every-page")
    paths = pages_of(site)
    assert len(paths) >= 70
    if not every:
        paths = first_of_each(paths, 6)
    assert walk(one, site, paths, looked_at=looked_at, all_of_them=every) == {}
    assert one.said == []
    assert [address for address in one.asked if not address.startswith(site.as_uri())] == []


def test_every_link_and_anchor_leads_somewhere(real: Real) -> None:
    assert lost_links(real("example"), [path for path in pages_of(real("example")) if path != "404.html"]) == []


def test_charts_that_are_drawn_are_no_barrier_and_go_on_paper(real: Real, reader: Readers) -> None:
    # One page of each kind of chart.
    site = real("example")
    best = sorted(path for path in pages_of(site) if path.startswith("recommendations/cost-outlier"))[0]
    paths = ["index.html", "pipelines/doc-pipeline.html", "agents/agent-writer.html", "healing.html", best]
    wrong = {}
    one = reader(viewport=WIDE, color_scheme="light")
    for path in paths:
        page = one.open(site / path)
        one.see_all()
        assert page.locator(".chart.failed").count() == 0
        assert page.locator(".plot .main-svg").count() > 0, path
        if path == "index.html":
            made = page.pdf(prefer_css_page_size=True)
            assert made.startswith(b"%PDF")
            assert made.count(b"/Type /Page\n") >= 2
        page.set_viewport_size({"width": WIDE["width"], "height": WIDE["height"]})
        page.evaluate(TRIM)
        wrong[path, "light"] = one.barriers()
        # Nothing but the colours differs.
        page.emulate_media(color_scheme="dark")
        wrong[path, "dark"] = one.barriers(*COLOURS)
        page.emulate_media(color_scheme="light")
    assert one.said == []
    assert {at: found for at, found in wrong.items() if found} == {}
