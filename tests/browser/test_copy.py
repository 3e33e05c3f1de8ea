"""What can be taken away: links, SQL, and a recommendation as Markdown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from page_reader import read_page
from playwright.sync_api import Page
from report_factory import sample_report

from reportgen.render.clipping import clipping

from .conftest import WIDE, Reader

pytestmark = pytest.mark.browser

Readers = Callable[..., Reader]

FOUND = sample_report().recommendations[0]
READ = {"permissions": ["clipboard-read", "clipboard-write"]}


def clipboard(page: Page) -> str:
    return str(page.evaluate("navigator.clipboard.readText()"))


def test_a_recommendation_is_copied_as_markdown_with_the_address_of_a_host(host: str, reader: Readers) -> None:
    one = reader(viewport=WIDE, **READ)
    page = one.open(f"{host}recommendations/{FOUND.id}.html")
    page.get_by_role("button", name="Copy as Markdown").press("Enter")
    page.get_by_role("button", name="Copied").wait_for()
    assert clipboard(page) == f"{clipping(FOUND)}<{host}recommendations/{FOUND.id}.html>"
    page.get_by_role("button", name="Copy link").first.press("Enter")
    one.until("document.querySelectorAll('.take .copied').length === 2")
    assert clipboard(page) == f"{host}recommendations/{FOUND.id}.html"
    assert one.said == []


def test_from_a_file_the_path_of_this_disk_is_not_told(plain_sites: dict[str, Path], reader: Readers) -> None:
    one = reader(viewport=WIDE, **READ)
    page = one.open(plain_sites["sample"] / f"recommendations/{FOUND.id}.html")
    page.get_by_role("button", name="Copy as Markdown").press("Enter")
    page.get_by_role("button", name="Copied").wait_for()
    assert clipboard(page) == f"{clipping(FOUND)}recommendations/{FOUND.id}.html"


def copied_from_the_list(one: Reader, address: str | Path, title: str) -> str:
    page = one.open(address)
    button = page.get_by_role("button", name=f"Copy as Markdown: {title}")
    button.press("Enter")
    one.until("document.querySelectorAll('.members button.copied').length === 1")
    return clipboard(page)


def test_the_list_gives_what_it_says_of_a_recommendation(
    plain_sites: dict[str, Path], host: str, reader: Readers
) -> None:
    one = reader(viewport=WIDE, **READ)
    text = copied_from_the_list(one, plain_sites["sample"] / "recommendations.html", FOUND.title)
    assert text.split("\n\n") == [
        f"### {FOUND.title}",
        "**What to do:** Batch tool calls or narrow the task scope. (medium effort)",
        "**Could save:** $153.64 (37%)",
        "**Score:** 64/100, hint: Implement. It helps to order the work; people decide.",
        f"Page: recommendations/{FOUND.id.replace('_', chr(92) + '_')}.html",
    ]
    hosted = copied_from_the_list(one, f"{host}recommendations.html", FOUND.title)
    assert hosted.endswith(f"Page: <{host}recommendations/{FOUND.id}.html>")


def test_hostile_names_from_the_list_are_text_where_they_are_pasted(
    plain_sites: dict[str, Path], reader: Readers
) -> None:
    one = reader(viewport=WIDE, **READ)
    page = one.open(plain_sites["hostile"] / "recommendations.html")
    buttons = page.locator(".members .tags button")
    assert buttons.count() > 5
    for number in range(buttons.count()):
        buttons.nth(number).click()
        one.until(f"document.querySelectorAll('.members .tags button')[{number}].classList.contains('copied')")
        html = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(clipboard(page))
        assert {one.tag for one in read_page(f"<main>{html}</main>").elements} <= {"main", "h3", "p", "strong"}


def test_sql_is_copied_as_it_runs(plain_sites: dict[str, Path], reader: Readers) -> None:
    one = reader(viewport=WIDE, **READ)
    detector = sample_report().detectors[0]
    page = one.open(plain_sites["sample"] / f"detectors/{detector.detector}.html")
    page.get_by_role("button", name="Copy SQL").press("Enter")
    page.get_by_role("button", name="Copied").wait_for()
    assert clipboard(page).strip() == detector.sql.strip()


def test_the_mark_at_a_heading_copies_its_address_and_leaves_its_name_alone(host: str, reader: Readers) -> None:
    one = reader(viewport=WIDE, **READ)
    page = one.open(f"{host}recommendations/{FOUND.id}.html")
    heading = page.get_by_role("heading", name="Is it worth doing?", exact=True)
    mark = heading.get_by_role("link", name="Copy the link to: Is it worth doing?")
    assert mark.evaluate("(one) => getComputedStyle(one).opacity") == "0"
    mark.focus()
    one.until("getComputedStyle(document.activeElement).opacity === '1'")
    page.keyboard.press("Enter")
    one.until("document.querySelectorAll('h2 .anchor.copied').length === 1")
    identifier = heading.get_attribute("id")
    assert page.url == f"{host}recommendations/{FOUND.id}.html#{identifier}"
    assert clipboard(page) == page.url
    assert page.locator("main > p[role=status], body > p[role=status]").first.text_content() == "Copied"


def test_without_a_clipboard_the_text_is_selected(plain_sites: dict[str, Path], reader: Readers) -> None:
    one = reader(viewport=WIDE)
    one.page.add_init_script(
        "Object.defineProperty(navigator, 'clipboard', { value: undefined });document.execCommand = () => false;"
    )
    page = one.open(plain_sites["sample"] / f"recommendations/{FOUND.id}.html")
    page.get_by_role("button", name="Copy as Markdown").press("Enter")
    page.get_by_role("button", name="Selected").wait_for()
    # As a selection gives it: white space at line ends aside.
    assert page.evaluate("String(getSelection())").startswith(f"### {FOUND.title}")


def test_without_a_script_the_markdown_is_there_to_read(plain_sites: dict[str, Path], reader: Readers) -> None:
    page = reader(viewport=WIDE, java_script_enabled=False).open(
        plain_sites["sample"] / f"recommendations/{FOUND.id}.html"
    )
    page.locator("summary", has_text="As Markdown").click()
    text = page.locator("details.markdown pre")
    assert text.is_visible()
    assert text.text_content() == f"{clipping(FOUND)}recommendations/{FOUND.id}.html"
