"""Tables in a real Chromium: sorting and filtering by keyboard, with a state that a link carries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page
from report_factory import sample_report

from .conftest import WIDE, Reader

pytestmark = pytest.mark.browser

Readers = Callable[..., Reader]

NAMES = (
    "[...document.querySelectorAll('tbody tr')].filter((r) => r.checkVisibility()).map((r) => r.cells[0].textContent)"
)
AGENTS = len(sample_report().agents)


def state(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def wait(one: Reader, words: str) -> None:
    one.until(f"document.querySelector('.tools [role=status]').textContent === {words!r}")


def test_a_filter_shows_the_rows_that_have_all_words_and_says_how_many(
    plain_sites: dict[str, Path], reader: Readers
) -> None:
    one = reader(viewport=WIDE)
    page = one.open(plain_sites["sample"] / "agents.html")
    box = page.get_by_role("searchbox", name="Filter the table: Agents")
    box.focus()
    page.keyboard.type("REVIEW agent-")
    wait(one, f"2 of {AGENTS} rows")
    assert page.evaluate(NAMES) == ["agent-reviewer", "agent-reviewer"]
    assert state(page) == {"agents.filter": ["REVIEW agent-"]}
    box.fill("nobody at all")
    wait(one, f"0 of {AGENTS} rows")
    page.keyboard.press("Escape")
    wait(one, "")
    assert len(page.evaluate(NAMES)) == AGENTS
    assert state(page) == {}
    assert one.said == []


def test_words_are_looked_for_within_a_cell_not_across_two(plain_sites: dict[str, Path], reader: Readers) -> None:
    one = reader(viewport=WIDE)
    page = one.open(plain_sites["sample"] / "agents.html")
    page.locator(".tools input").first.fill("writerdoc")
    wait(one, f"0 of {AGENTS} rows")


def test_the_state_is_in_the_address_and_comes_back_with_it(plain_sites: dict[str, Path], reader: Readers) -> None:
    one = reader(viewport=WIDE)
    page = one.open(plain_sites["sample"] / "agents.html")
    page.locator("th button", has_text="Events").press("Enter")
    page.locator("th button", has_text="Events").press("Enter")
    page.locator(".tools input").first.fill("doc-pipeline")
    wait(one, f"6 of {AGENTS} rows")
    assert state(page) == {"agents.sort": ["events"], "agents.filter": ["doc-pipeline"]}
    shown = page.evaluate(NAMES)
    assert shown[0] == "agent-illustrator"
    assert shown[-1] == "agent-writer"
    # Another reader who gets the link sees the same.
    two = reader(viewport=WIDE)
    again = two.open(page.url)
    wait(two, f"6 of {AGENTS} rows")
    assert again.evaluate(NAMES) == shown
    assert again.locator("th[aria-sort]").get_attribute("aria-sort") == "ascending"
    assert again.locator(".tools input").first.input_value() == "doc-pipeline"
    again.get_by_role("button", name="Reset").press("Enter")
    assert state(again) == {}
    assert len(again.evaluate(NAMES)) == AGENTS
    assert again.locator("th[aria-sort]").count() == 0
    assert again.get_by_role("button", name="Reset").is_hidden()
    assert one.said == two.said == []


def test_an_address_keeps_its_anchor_and_what_others_put_into_it(plain_sites: dict[str, Path], reader: Readers) -> None:
    found = sample_report().recommendations[-1]
    one = reader(viewport=WIDE)
    page = one.open(f"{(plain_sites['sample'] / 'recommendations.html').as_uri()}?from=mail#{found.id}")
    page.locator("table#every-finding th button, section[aria-labelledby=all] th button").first.press("Enter")
    assert urlsplit(page.url).fragment == found.id
    assert state(page)["from"] == ["mail"]
    assert page.locator(f"tr#{found.id}").is_visible()


def test_a_link_to_a_row_wins_over_a_filter_that_hides_it(plain_sites: dict[str, Path], reader: Readers) -> None:
    found = sample_report().recommendations[0]
    one = reader(viewport=WIDE)
    page = one.open(plain_sites["sample"] / "recommendations.html")
    table = page.locator(f"table:has(tr[id='{found.id}'])")
    name = table.evaluate(
        "(t) => t.id || t.closest('.scroll').getAttribute('aria-label').toLowerCase().replace(/[^a-z0-9]+/g, '-')"
    )
    one.open(f"{(plain_sites['sample'] / 'recommendations.html').as_uri()}?{name}.filter=zzz#{found.id}")
    assert page.locator(f"tr[id='{found.id}']").is_visible()
    assert state(page) == {}
    assert one.said == []


def test_what_makes_no_sense_in_an_address_is_ignored(plain_sites: dict[str, Path], reader: Readers) -> None:
    one = reader(viewport=WIDE)
    page = one.open(
        f"{(plain_sites['sample'] / 'agents.html').as_uri()}?agents.sort=-nothing&agents.all=1&agents.filter=&x#%E0%A4"
    )
    assert len(page.evaluate(NAMES)) == AGENTS
    assert page.locator("th[aria-sort]").count() == 0
    assert one.said == []


def test_where_the_query_may_not_change_the_state_goes_behind_the_hash(
    plain_sites: dict[str, Path], reader: Readers
) -> None:
    one = reader(viewport=WIDE)
    one.page.add_init_script(
        "History.prototype.replaceState = () => { throw new DOMException('no', 'SecurityError'); };"
    )
    page = one.open(plain_sites["sample"] / "agents.html")
    page.locator("table", has_text="Error rate").locator("th button", has_text="Runs").press("Enter")
    assert urlsplit(page.url).fragment == "?agents.sort=-runs"
    address = page.url
    again = reader(viewport=WIDE).open(address)
    assert again.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    assert one.said == []


def test_what_is_unknown_comes_last_in_columns_of_words_too(plain_sites: dict[str, Path], reader: Readers) -> None:
    page = reader(viewport=WIDE).open(plain_sites["sample"] / "healing.html")
    table = page.get_by_role("group", name="Attempts, the newest first").locator("table")
    head = table.locator("th", has_text="Run")
    place = head.evaluate("(one) => one.cellIndex")
    for direction in ("ascending", "descending"):
        head.locator("button").press("Enter")
        assert head.get_attribute("aria-sort") == direction
        column = table.evaluate(f"(t) => [...t.tBodies[0].rows].map((r) => r.cells[{place}].textContent.trim())")
        known = [text for text in column if text != "unknown"]
        assert column == sorted(known, reverse=direction == "descending") + ["unknown"] * (len(column) - len(known))
        assert "unknown" in column


def test_a_short_table_has_no_filter(plain_sites: dict[str, Path], reader: Readers) -> None:
    page = reader(viewport=WIDE).open(plain_sites["sample"] / "pipelines.html")
    assert page.locator("tbody tr").count() == 3
    assert page.locator("th button").count() > 0
    assert page.locator(".tools").count() == 0


def test_a_filter_looks_at_rows_that_are_folded_away(plain_sites: dict[str, Path], reader: Readers) -> None:
    one = reader(viewport=WIDE)
    page = one.open(plain_sites["sample"] / "healing.html")
    table = page.locator("table", has_text="Context")
    last = table.locator("tbody tr").last.locator("td").last.text_content() or ""
    word = last.split()[0]
    page.get_by_role("searchbox", name="Attempts").fill(word)
    one.until("document.querySelectorAll('table.filtered').length === 1")
    assert table.locator("tbody tr").last.is_visible()
    assert page.get_by_role("button", name="Show all 26 rows").count() == 0


def test_reset_is_there_only_while_a_filter_or_an_order_is_in_force(
    plain_sites: dict[str, Path], reader: Readers
) -> None:
    one = reader(viewport=WIDE)
    page = one.open(plain_sites["sample"] / "agents.html")
    reset = page.get_by_role("button", name="Reset")
    assert reset.count() == 0
    page.locator(".tools input").first.fill("doc-pipeline")
    wait(one, f"6 of {AGENTS} rows")
    assert reset.is_visible()
    page.locator(".tools input").first.press("Escape")
    reset.wait_for(state="hidden")
    # Opened to its end, a table has its own button to close it again.
    page = one.open(plain_sites["sample"] / "healing.html")
    page.get_by_role("button", name="Show all 26 rows").click()
    assert page.get_by_role("button", name="Reset").count() == 0
    page.locator("table", has_text="Context").locator("th button").first.click()
    assert page.get_by_role("button", name="Reset").first.is_visible()
