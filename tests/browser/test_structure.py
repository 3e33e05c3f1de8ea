"""The structure of a handful of pages, as a person who listens meets it: landmarks, headings, tables, charts, controls.

Not pixels and not markup: what changes here changes what a reader finds. Accepted by `pytest --accept-goldens` like the
other goldens, and read in the diff.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from report_factory import sample_report

from .conftest import WIDE, Reader

pytestmark = pytest.mark.browser

Readers = Callable[..., Reader]

GOLDEN = Path(__file__).parents[1] / "golden" / "structure"
PAGES = {
    "overview": "index.html",
    "recommendations": "recommendations.html",
    "recommendation": f"recommendations/{sample_report().recommendations[0].id}.html",
    "agents": "agents.html",
    "pipeline": "pipelines/doc-pipeline.html",
    "data-quality": "data-quality.html",
}
OUTLINE = """
() => {
  const lines = [];
  const words = (text) => (text ?? '').replace(/\\s+/g, ' ').trim();
  const named = (one) => words(one.getAttribute('aria-label')
    ?? one.getAttribute('aria-labelledby')?.split(' ').map((id) => document.getElementById(id)?.textContent).join(' '));
  const landmarks = { HEADER: 'banner', NAV: 'navigation', MAIN: 'main', FOOTER: 'contentinfo', SECTION: 'region' };
  const walk = (one, depth) => {
    if (!one.checkVisibility({ checkVisibilityCSS: true })) return;
    const add = (text) => lines.push('  '.repeat(depth) + text.trimEnd());
    let inside = depth;
    const landmark = one.getAttribute('role') === 'search' ? 'search' : landmarks[one.tagName];
    if (landmark) {
      if (one.tagName !== 'SECTION' || named(one)) {
        add(`${landmark} ${named(one)}`);
        inside += 1;
      }
    } else if (/^H[1-6]$/.test(one.tagName)) {
      add(`${one.tagName.toLowerCase()} ${named(one) || words(one.textContent)}`);
      return;
    } else if (one.tagName === 'TABLE') {
      const heads = [...one.tHead.rows[0].cells].map((head) =>
        words(head.textContent) + (head.querySelector('button') ? ' ⇅' : ''));
      add(`table ${words(one.closest('.scroll')?.getAttribute('aria-label'))}: ${heads.join(' | ')}`);
      return;
    } else if (one.classList.contains('chart')) {
      const heading = one.querySelector('h2, h3, h4');
      add(`chart ${heading.tagName.toLowerCase()} ${named(heading) || words(heading.textContent)}`);
      add(`  ${[...one.querySelectorAll('details > summary')].map((line) => words(line.textContent)).join(', ')}`);
      return;
    } else if (['BUTTON', 'INPUT', 'SUMMARY'].includes(one.tagName)) {
      add(`${one.tagName.toLowerCase()} ${words(one.labels?.[0]?.textContent) || named(one) || words(one.textContent)}`);
      return;
    } else if (['UL', 'OL', 'DL'].includes(one.tagName) && one.closest('main')) {
      add(`${one.tagName.toLowerCase()} of ${one.children.length}`);
      inside += 1;
    }
    for (const child of one.children) walk(child, inside);
  };
  walk(document.body, 0);
  return lines.join('\\n') + '\\n';
}
"""


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_the_structure_that_was_read(
    plain_sites: dict[str, Path], reader: Readers, name: str, request: pytest.FixtureRequest
) -> None:
    one = reader(viewport=WIDE)
    page = one.open(plain_sites["sample"] / PAGES[name])
    one.until("document.querySelector('#search')")
    outline = page.evaluate(OUTLINE)
    kept = GOLDEN / f"{name}.txt"
    if request.config.getoption("--accept-goldens"):
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(outline, encoding="utf-8")
    assert outline == kept.read_text("utf-8"), "read the change with --accept-goldens and git diff"


@pytest.mark.parametrize("name", PAGES)
def test_headings_go_down_one_level_at_a_time(plain_sites: dict[str, Path], reader: Readers, name: str) -> None:
    page = reader(viewport=WIDE, java_script_enabled=False).open(plain_sites["sample"] / PAGES[name])
    levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3, h4')].map((one) => Number(one.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
