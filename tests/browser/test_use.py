"""How the pages are used in a real Chromium: themes, a keyboard, long tables, no script, paper."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from report_factory import sample_report

from .conftest import KINDS, Reader

pytestmark = pytest.mark.browser

Readers = Callable[..., Reader]

WIDE = {"width": 1440, "height": 900}


#: What of a page does not stand there whole without a script.
STANDS_OPEN = """
  [...document.querySelectorAll('.chart')].filter((chart) =>
    !chart.querySelector('table, .muted')?.checkVisibility() || chart.querySelector('.plot').checkVisibility()).map((one) => one.id)
  .concat([...document.querySelectorAll('table[data-fold]')].filter((table) =>
    !table.closest('details:not([open])') && ![...table.tBodies[0].rows].at(-1).checkVisibility()).map((one) => one.textContent.slice(0, 40)))
"""


def test_without_a_script_every_table_stands_open_and_no_box_is_empty(sites: dict[str, Path], reader: Readers) -> None:
    one = reader(viewport=WIDE, java_script_enabled=False)
    for path in KINDS:
        page = one.open(sites["sample"] / path)
        wrong = page.evaluate(STANDS_OPEN)
        assert wrong == [], path
        assert page.locator("main button").count() == 0, path


def test_without_plotly_a_page_falls_back_to_its_tables(
    sites: dict[str, Path], reader: Readers, tmp_path: Path
) -> None:
    for name in ("index.html", "assets/style.css", "assets/report.js", "assets/icon.svg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((sites["sample"] / name).read_bytes())
    page = reader(viewport=WIDE).open(tmp_path / "index.html")
    for figure in page.locator(".chart").all():
        assert figure.locator("table").is_visible()
        assert figure.locator(".plot").is_hidden()


def test_the_theme_follows_the_system_and_a_choice_is_remembered(sites: dict[str, Path], reader: Readers) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    ticks = "getComputedStyle(document.querySelector('.ytick text')).fill"
    one = reader(viewport=WIDE, color_scheme="light")
    page = one.open(sites["sample"] / "index.html")
    one.see(".chart")
    light, light_ticks = page.evaluate(ground), page.evaluate(ticks)
    page.get_by_role("button", name="Use the dark theme").click()
    dark, dark_ticks = page.evaluate(ground), page.evaluate(ticks)
    assert light != dark
    assert light_ticks != dark_ticks
    one.open(sites["sample"] / "pipelines/doc-pipeline.html")
    one.see(".chart")
    assert (page.evaluate(ground), page.evaluate(ticks)) == (dark, dark_ticks)
    # Back to what the system says: the choice is forgotten, and the system's change is followed again.
    page.get_by_role("button", name="Use the light theme").click()
    assert page.evaluate(ground) == light
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(ground) == dark
    one.until(f"{ticks} === '{dark_ticks}'")
    assert one.said == []


def test_tables_sort_by_keyboard_and_unknown_comes_last(plain_sites: dict[str, Path], reader: Readers) -> None:
    page = reader(viewport=WIDE).open(plain_sites["sample"] / "agents.html")
    head = page.locator("th", has_text="Mean score").first
    first = "[...document.querySelectorAll('tbody th')].map((cell) => cell.textContent)"
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    # 91, 90.2, 88.1 … 54.25, then those without a score.
    down = page.evaluate(first)
    assert down[:3] == ["agent-publisher", "agent-reviewer", "agent-planner"]
    assert down[8] == "agent-writer"
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    up = page.evaluate(first)
    assert up[:2] == ["agent-writer", "summariser"]
    assert set(up[9:]) == set(down[9:]) == {"(unattributed)", "linter", "triage", "archivist"}
    page.locator("th button", has_text="Agent").first.press("Enter")
    assert page.evaluate(first)[:2] == ["(unattributed)", "agent-illustrator"]
    assert head.get_attribute("aria-sort") is None


def test_long_tables_show_twenty_rows_until_asked(plain_sites: dict[str, Path], reader: Readers) -> None:
    page = reader(viewport=WIDE).open(plain_sites["sample"] / "healing.html")
    table = page.locator("table", has_text="Context")
    shown = table.locator("tbody tr:visible")
    assert shown.count() == 20
    more = page.get_by_role("button", name="Show all 26 rows")
    assert more.get_attribute("aria-expanded") == "false"
    more.press("Enter")
    assert shown.count() == 26
    page.get_by_role("button", name="Show the first 20 only").press("Enter")
    assert shown.count() == 20


def test_a_link_to_a_finding_opens_its_place(plain_sites: dict[str, Path], reader: Readers) -> None:
    last = sample_report().recommendations[-1].id
    page = reader(viewport=WIDE).open(f"{(plain_sites['sample'] / 'recommendations.html').as_uri()}#{last}")
    assert page.locator(f"tr#{last}").is_visible()


def test_the_way_by_keyboard(plain_sites: dict[str, Path], reader: Readers) -> None:
    one = reader(viewport=WIDE)
    page = one.open(plain_sites["sample"] / "data-quality.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    one.until("document.querySelector('.skip').getBoundingClientRect().top >= 0")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    # A region that scrolls is a stop on the way; one that doesn't is none.
    page.set_viewport_size({"width": 320, "height": 640})
    one.until("document.querySelector('.scroll').tabIndex === 0")
    page.set_viewport_size({"width": 3000, "height": 900})
    one.until("document.querySelector('.scroll').tabIndex === -1")


def test_on_paper_nothing_is_cut_and_nothing_is_dark(plain_sites: dict[str, Path], reader: Readers) -> None:
    one = reader(viewport={"width": 794, "height": 1123}, color_scheme="dark")
    page = one.open(plain_sites["sample"] / "healing.html")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator(".nav").is_hidden()
    assert page.locator("table", has_text="Context").locator("tbody tr:visible").count() == 26
    assert page.evaluate(
        "[...document.querySelectorAll('.scroll')].every((s) => getComputedStyle(s).overflowX === 'visible')"
    )
    assert page.pdf().startswith(b"%PDF")
    # The heads gave their buttons up for the printer, and have them back.
    one.until("document.querySelectorAll('th button').length > 10")
    assert one.said == []
