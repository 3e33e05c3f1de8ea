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
#: What a page is made of, as far as axe-core's rules go: of each element what it is, what it stands in, whether it has
#: text, and that text's colour on its ground; and how headings follow one another. A page whose landmarks or ids are
#: not unique is like no other.
MAKE_UP = """
  (address) => {
    const found = new Map();
    window.madeUp = found;
    const add = (key, one) => { if (!found.has(key)) found.set(key, one); };
    const walk = (one, ground) => {
      const style = getComputedStyle(one);
      if (style.backgroundColor !== 'rgba(0, 0, 0, 0)') ground = style.backgroundColor;
      const classes = [...one.classList].filter((css) => !/^n[0-9]+$/.test(css)).sort();
      const given = [...one.attributes].map(({ name, value }) => /^(role|scope|type|aria-(sort|hidden|pressed|expanded))$/.test(name)
        ? `${name}=${value}` : /^(aria-|href|tabindex)/.test(name) ? name : '').filter(Boolean).sort();
      const looks = one.textContent.trim() && `${style.color} on ${ground}, ${style.fontWeight >= 700} ${parseFloat(style.fontSize) >= 18}`;
      add(`${one.parentElement.tagName}>${[one.tagName, ...classes].join('.')} ${given}: ${looks}`, one);
      if (one.tagName !== 'svg') for (const child of one.children) walk(child, ground);
    };
    walk(document.body, '');
    const levels = [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map((one) => one.tagName);
    levels.forEach((level, n) => add(`${levels[n - 1]} then ${level}`, document.body));
    const unique = (some) => new Set(some).size === some.length;
    const landmarks = [...document.querySelectorAll('header, nav, main, footer, section[aria-label], section[aria-labelledby]')]
      .map((one) => one.tagName + (one.getAttribute('aria-label') ?? one.getAttribute('aria-labelledby') ?? ''));
    if (!unique(landmarks) || !unique([...document.querySelectorAll('[id]')].map((one) => one.id))) add(address, document.body);
    return [...found.keys()];
  }
"""
#: Leaves of each table the first row and those in which something is new, and says what to look at: the parts of the
#: page in which something is.
AIM = """
  (keys) => {
    const fresh = keys.map((key) => window.madeUp.get(key));
    for (const row of document.querySelectorAll('tbody tr + tr')) if (!fresh.some((one) => row.contains(one))) row.remove();
    window.aimed = [...new Set(fresh.map((one) => one.closest('main > *, header, footer, body > *') ?? document.body))];
    if (window.aimed.some((one) => one.matches('body, .frame, main'))) window.aimed = document;
  }
"""


def walk(
    one: Reader, site: Path, paths: list[str], *, looked_at: set[str], all_of_them: bool
) -> dict[tuple[str, str], Any]:
    """Visit the pages with a reader whose system is light, and return what is wrong, by page and by what was asked.

    Of every page: whether it scrolls sideways on a phone of 320 px. Of the first three of a folder, and of each that has
    something in it that is made up as nothing in `looked_at` is (of all, where `all_of_them`): whether a sheet of paper
    cuts something off. Of those with something new (of all, again): barriers in the light and in the dark theme. What
    was looked at is added to `looked_at`.
    """
    wrong: dict[tuple[str, str], Any] = {}
    seen: Counter[str] = Counter()
    for path in paths:
        one.page.set_viewport_size({"width": 320, "height": 640})
        page = one.open(site / path)
        wrong[path, "at 320 px"] = max(page.evaluate(TOO_WIDE), 0)
        made_of = set(page.evaluate(MAKE_UP, path))
        seen[dirname(path)] += 1
        if all_of_them or seen[dirname(path)] <= 3 or "/" not in path or not made_of <= looked_at:
            page.emulate_media(media="print")
            page.set_viewport_size({"width": SHEET, "height": 900})
            page.evaluate("dispatchEvent(new Event('beforeprint'))")
            wrong[path, "on paper"] = page.evaluate(CUT)[:3]
            page.evaluate("dispatchEvent(new Event('afterprint'))")
            page.emulate_media(media="screen")
        if all_of_them or not made_of <= looked_at:
            page.set_viewport_size({"width": 1366, "height": 900})
            # At the top each page is a kind of its own.
            whole = all_of_them or "/" not in path
            page.evaluate(AIM, sorted(made_of - looked_at))
            looked_at |= made_of
            within = "document" if whole else "window.aimed"
            wrong[path, "light"] = one.barriers(within=within)
            page.emulate_media(color_scheme="dark")
            wrong[path, "dark"] = one.barriers(within=within)
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
