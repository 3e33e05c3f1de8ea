"""The search box in a real Chromium: by keyboard, from a file, with names that attack it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from report_factory import sample_report

from .conftest import WIDE, Reader

pytestmark = pytest.mark.browser

Readers = Callable[..., Reader]

OPTIONS = "[...document.querySelectorAll('[role=option]')].map((one) => one.textContent)"


def look_for(one: Reader, words: str) -> None:
    one.page.keyboard.press("/")
    one.page.keyboard.type(words)
    one.until(
        "!document.querySelector('.search .found').hidden && document.querySelector('.search .found [role=status]').textContent"
    )


def test_the_index_is_loaded_when_the_box_is_used_and_not_before(plain_sites: dict[str, Path], reader: Readers) -> None:
    one = reader(viewport=WIDE)
    one.open(plain_sites["sample"] / "agents/agent-writer.html")
    assert not [address for address in one.asked if "search-index" in address]
    look_for(one, "triage")
    assert [address for address in one.asked if "search-index" in address] == [
        (plain_sites["sample"] / "assets/search-index.js").as_uri()
    ]
    assert one.page.evaluate(OPTIONS) == ["triage"]
    assert one.said == []


def test_arrows_choose_and_enter_opens_from_any_depth(plain_sites: dict[str, Path], reader: Readers) -> None:
    report = sample_report()
    one = reader(viewport=WIDE)
    page = one.open(plain_sites["sample"] / f"recommendations/{report.recommendations[3].id}.html")
    look_for(one, "writer")
    box = page.get_by_role("combobox", name="Search the report")
    assert box.get_attribute("aria-expanded") == "true"
    assert box.get_attribute("aria-activedescendant") is None
    options = page.evaluate(OPTIONS)
    assert options[:2] == [report.recommendations[0].title, report.recommendations[1].title]
    assert "agent-writer" in options
    kinds = page.locator("[role=listbox] [role=group]")
    assert [kinds.nth(n).locator(".kind").text_content() for n in range(kinds.count())][:2] == [
        "Recommendations",
        "Agents",
    ]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    chosen = box.get_attribute("aria-activedescendant")
    assert page.locator(f"#{chosen}").get_attribute("aria-selected") == "true"
    assert page.locator("[role=option][aria-selected=true]").count() == 1
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    # Round to the last one.
    assert page.locator("[role=option][aria-selected=true]").text_content() == options[-1]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/recommendations/{report.recommendations[0].id}.html")
    assert page.locator("h1").text_content() == report.recommendations[0].title
    assert one.said == []


def test_the_title_that_fits_best_comes_first(plain_sites: dict[str, Path], reader: Readers) -> None:
    one = reader(viewport=WIDE)
    one.open(plain_sites["sample"] / "index.html")
    look_for(one, "agents")
    assert one.page.evaluate(OPTIONS)[0] == "Agents"


def test_escape_closes_then_clears_then_leaves(plain_sites: dict[str, Path], reader: Readers) -> None:
    one = reader(viewport=WIDE)
    page = one.open(plain_sites["sample"] / "index.html")
    look_for(one, "writer")
    page.keyboard.press("Escape")
    assert page.locator(".search .found").is_hidden()
    assert page.locator("#search").input_value() == "writer"
    page.keyboard.press("Escape")
    assert page.locator("#search").input_value() == ""
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement === document.body")


def test_words_in_any_order_and_what_is_not_in_the_title_too(plain_sites: dict[str, Path], reader: Readers) -> None:
    one = reader(viewport=WIDE)
    page = one.open(plain_sites["sample"] / "index.html")
    look_for(one, "loops Revision")
    assert page.evaluate(OPTIONS)[0] == sample_report().recommendations[1].title
    page.keyboard.press("Control+a")
    page.keyboard.type("rejected lines")
    one.until(f"{OPTIONS}.includes('Data quality')")
    page.keyboard.press("Control+a")
    page.keyboard.type("qqqq")
    one.until("document.querySelector('.search .found [role=status]').textContent.startsWith('Nothing found')")
    assert page.locator("[role=listbox]").is_hidden()
    assert page.get_by_role("combobox").get_attribute("aria-expanded") == "false"


def test_a_slash_in_a_field_is_a_slash(plain_sites: dict[str, Path], reader: Readers) -> None:
    page = reader(viewport=WIDE).open(plain_sites["sample"] / "agents.html")
    page.locator(".tools input").first.focus()
    page.keyboard.type("a/b")
    assert page.locator(".tools input").first.input_value() == "a/b"


def test_hostile_names_are_text(plain_sites: dict[str, Path], reader: Readers) -> None:
    one = reader(viewport=WIDE)
    page = one.open(plain_sites["hostile"] / "index.html")
    look_for(one, "alert script")
    assert any("<script>alert(1)</script>" in text for text in page.evaluate(OPTIONS))
    assert page.locator(".search .found :is(img, script, a)").count() == 0
    assert one.said == []


def test_a_missing_index_is_said(plain_sites: dict[str, Path], reader: Readers, tmp_path: Path) -> None:
    own = [
        f"assets/{path.name}" for path in (plain_sites["empty"] / "assets").iterdir() if path.name != "search-index.js"
    ]
    for name in ("index.html", *own):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((plain_sites["empty"] / name).read_bytes())
    one = reader(viewport=WIDE)
    one.open(tmp_path / "index.html")
    look_for(one, "agent")
    assert one.page.locator(".search .found [role=status]").text_content() == "The index of the search is missing."


def test_without_a_script_there_is_no_box(plain_sites: dict[str, Path], reader: Readers) -> None:
    page = reader(viewport=WIDE, java_script_enabled=False).open(plain_sites["sample"] / "index.html")
    assert page.locator("input").count() == 0
