"""axe-core finds nothing in the states that a reader brings about, and would find something if it were there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import WIDE, Reader
from .walk import COLOURS, TRIM

pytestmark = pytest.mark.browser

Readers = Callable[..., Reader]


def both(one: Reader) -> list[str]:
    """Return the barriers of the page as it is, in the light and, of colours, in the dark."""
    one.page.evaluate(TRIM)
    found = one.barriers()
    one.page.emulate_media(color_scheme="dark")
    found += one.barriers(*COLOURS)
    one.page.emulate_media(color_scheme="light")
    return found


def test_what_a_reader_opens_is_no_barrier(plain_sites: dict[str, Path], reader: Readers) -> None:
    one = reader(viewport=WIDE, color_scheme="light")
    wrong = {}
    for which in ("sample", "hostile"):
        page = one.open(plain_sites[which] / "agents.html")
        page.locator(".tools input").first.fill("doc" if which == "sample" else "a")
        page.locator("thead button").nth(2).press("Enter")
        page.keyboard.press("/")
        page.keyboard.type("agent")
        one.until("document.querySelectorAll('[role=option]').length > 3")
        page.keyboard.press("ArrowDown")
        wrong[which, "a table and the search in use"] = both(one)
        page = one.open(plain_sites[which] / "recommendations.html")
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        wrong[which, "all that folds"] = both(one)
    assert {at: found for at, found in wrong.items() if found} == {}


def test_axe_would_find_one(plain_sites: dict[str, Path], reader: Readers) -> None:
    one = reader(viewport=WIDE)
    page = one.open(plain_sites["sample"] / "how-to-read.html")
    page.evaluate("document.querySelector('h1').style.color = '#f1f1f1'")
    page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert [found.split()[0] for found in one.barriers()] == ["button-name", "color-contrast"]
