"""What a reader meets in a real Chromium: silence, no request, every chart drawn, from a file and from a host."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import KINDS, Reader

pytestmark = pytest.mark.browser

Readers = Callable[..., Reader]

WIDE = {"width": 1440, "height": 900}
NARROW = {"width": 320, "height": 640}


def test_hovering_a_chart_shows_the_value_and_says_nothing(sites: dict[str, Path], reader: Readers) -> None:
    for which in ("sample", "hostile"):
        one = reader(viewport=WIDE)
        one.open(sites[which] / "pipelines/doc-pipeline.html")
        page = one.see(".chart")
        page.wait_for_selector(".plot .bars .point")
        box = page.locator(".plot .bars .point").first.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_selector(".hoverlayer .hovertext")
        text = page.locator(".hoverlayer .hovertext").text_content() or ""
        assert "%" in text
        assert ("<script>alert(1)</script>" in text) is (which == "hostile")
        assert one.said == []


def test_charts_below_the_window_are_drawn_while_the_page_rests(sites: dict[str, Path], reader: Readers) -> None:
    one = reader(viewport={"width": 320, "height": 300})
    page = one.open(sites["sample"] / "index.html")
    below = page.evaluate("[...document.querySelectorAll('.plot')].pop().getBoundingClientRect().top - innerHeight")
    # Farther away than what is drawn because the window comes near.
    assert below > 600
    one.until("[...document.querySelectorAll('.plot')].every((box) => box.querySelector('.main-svg'))")
    assert page.evaluate("scrollY") == 0
    assert one.said == []


def test_an_empty_project_is_silent_too(sites: dict[str, Path], reader: Readers) -> None:
    one = reader(viewport=WIDE)
    for path in sorted(sites["empty"].rglob("*.html")):
        one.open(path)
    assert one.said == []


def test_no_page_scrolls_sideways(sites: dict[str, Path], reader: Readers) -> None:
    # A chart is as wide as its box; without scripts the tables stand open, which is harder, and faster.
    one = reader(viewport=NARROW, java_script_enabled=False)
    too_wide = {}
    for path in KINDS:
        page = one.open(sites["hostile"] / path)
        for width in (320, 700, 1440, 3840):
            page.set_viewport_size({"width": width, "height": 800})
            over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            if over > 0:
                too_wide[path, width] = over
    assert too_wide == {}


def test_the_site_works_under_a_deep_folder_of_a_host(host: str, reader: Readers) -> None:
    one = reader(viewport=WIDE)
    for path in ("index.html", "recommendations/bottleneck_agent-01c0ffee01.html", "data-quality.html"):
        one.open(host + path)
        one.see_all()
    assert one.said == []
    assert [address for address in one.asked if not address.startswith(host)] == []


def test_a_missing_page_finds_the_way_back_from_any_depth(host: str, reader: Readers) -> None:
    one = reader(viewport=WIDE, color_scheme="dark")
    for path in ("recommendations/gone.html", "agents/gone.html", "pipelines/doc-pipeline/runs-1999-01.html"):
        page = one.open(host + path)
        assert page.locator("h1").text_content() == "This page is not in the report"
        # The style came along, and the policy let it.
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(14, 19, 26)"
        way = page.get_by_role("link", name="To the overview")
        assert way.evaluate("(one) => one.href") == f"{host}index.html"
    way.click()
    assert page.url == host + "index.html"
    assert page.locator("h1").text_content() == "Two things are worth doing now"
    assert [said for said in one.said if "404" not in said] == []


def test_without_a_script_the_way_back_is_given_for_each_depth(host: str, reader: Readers) -> None:
    one = reader(viewport=WIDE, java_script_enabled=False)
    for path, link in (("gone.html", "in this folder"), ("recommendations/gone.html", "one folder up")):
        page = one.open(host + path)
        page.get_by_role("link", name=link).click()
        assert page.url == host + "index.html"
