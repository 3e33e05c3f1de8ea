"""axe-core finds nothing in the states that a reader brings about, and would find something if it were there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import WIDE, Reader

pytestmark = pytest.mark.browser

Readers = Callable[..., Reader]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_a_reader_opens_is_no_barrier(plain_sites: dict[str, Path], reader: Readers, theme: str) -> None:
    one = reader(viewport=WIDE, color_scheme=theme)
    wrong = {}
    for which in ("sample", "hostile"):
        page = one.open(plain_sites[which] / "agents.html")
        page.locator(".tools input").first.fill("doc" if which == "sample" else "a")
        page.locator("thead button").nth(2).press("Enter")
        wrong[which, "a table in use"] = one.barriers()
        page.keyboard.press("/")
        page.keyboard.type("agent")
        one.until("document.querySelectorAll('[role=option]').length > 3")
        page.keyboard.press("ArrowDown")
        wrong[which, "the search"] = one.barriers()
        page = one.open(plain_sites[which] / "recommendations.html")
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        wrong[which, "all that folds"] = one.barriers()
    assert {at: found for at, found in wrong.items() if found} == {}


def test_axe_would_find_one(plain_sites: dict[str, Path], reader: Readers) -> None:
    one = reader(viewport=WIDE)
    page = one.open(plain_sites["sample"] / "how-to-read.html")
    page.evaluate("document.querySelector('h1').style.color = '#f1f1f1'")
    page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert [found.split()[0] for found in one.barriers()] == ["button-name", "color-contrast"]
