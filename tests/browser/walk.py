"""One visit to each page of a site, in which everything is asked that must hold on every page."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from posixpath import dirname
from typing import Any
from urllib.parse import unquote, urlsplit

from page_reader import goal_of, read_page

from .conftest import Reader

#: A sheet of A4 without its margins of 14 mm, in CSS pixels.
SHEET = 688
#: By how much the page is wider than the window.
TOO_WIDE = "document.documentElement.scrollWidth - innerWidth"
#: What reaches over the edge, where nothing scrolls.
CUT = """
  [...document.querySelectorAll('main :is(table, pre, figure, svg, dl, ul, ol, p, h1, h2, h3, input)')]
    .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 1)
    .map((one) => one.tagName + ' ' + (one.textContent ?? '').trim().slice(0, 40))
"""
#: Rows and words of code are like those before them, and axe takes a quarter of a minute for a thousand of them.
TRIM = "document.querySelectorAll('tbody tr:nth-child(n+9), pre span:nth-child(n+25)').forEach((one) => one.remove())"
#: What axe-core has to say about colours: all else is the same in both themes.
COLOURS = ("color-contrast", "link-in-text-block")


def walk(one: Reader, site: Path, paths: list[str], *, few: int, all_of_them: bool) -> dict[tuple[str, str], Any]:
    """Visit the pages with a reader whose system is light, and return what is wrong, by page and by what was asked.

    Of every page: whether it scrolls sideways on a phone of 320 px, and whether a sheet of paper cuts something off. Of
    those at the top and the first `few` of each folder (of all, where `all_of_them`): barriers in the light and in the dark theme.
    """
    wrong: dict[tuple[str, str], Any] = {}
    seen: Counter[str] = Counter()
    for path in paths:
        page = one.open(site / path)
        page.set_viewport_size({"width": 320, "height": 640})
        wrong[path, "at 320 px"] = max(page.evaluate(TOO_WIDE), 0)
        page.emulate_media(media="print")
        page.set_viewport_size({"width": SHEET, "height": 900})
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        wrong[path, "on paper"] = page.evaluate(CUT)[:3]
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        page.emulate_media(media="screen")
        page.set_viewport_size({"width": 1366, "height": 900})
        folder = dirname(path)
        seen[folder] += 1
        if all_of_them or not folder or seen[folder] <= few:
            page.evaluate(TRIM)
            wrong[path, "light"] = one.barriers()
            page.emulate_media(color_scheme="dark")
            wrong[path, "dark"] = one.barriers(*COLOURS)
            page.emulate_media(color_scheme="light")
    return {at: found for at, found in wrong.items() if found}


def lost_links(site: Path, paths: list[str]) -> list[tuple[str, str]]:
    """Return the links of the pages that lead to no file or to no place on it."""
    pages = {path: read_page((site / path).read_bytes()) for path in paths}
    files = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    lost = []
    for path, page in pages.items():
        for element in page.elements:
            for link in (element.attributes[key] for key in ("href", "src") if key in element.attributes):
                parts = urlsplit(link)
                if parts.scheme in ("http", "https", "data"):
                    continue
                goal = goal_of(path, link)
                if goal not in files or (
                    goal in pages and parts.fragment and unquote(parts.fragment) not in pages[goal].ids
                ):
                    lost.append((path, link))
    return lost
