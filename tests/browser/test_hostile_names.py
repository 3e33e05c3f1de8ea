"""Names that attack, from the inputs of a real build to a real Chromium: no script of theirs runs, no request leaves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from trust.hostile import write_hostile

from reportgen import build

from .conftest import NO_PLOTLY, WIDE, Reader

pytestmark = pytest.mark.browser


def test_no_name_runs_as_a_script(tmp_path: Path, reader: Callable[..., Reader]) -> None:
    site = build(write_hostile(tmp_path / "project")).site
    (site / "assets" / "plotly.min.js").write_text(NO_PLOTLY, encoding="utf-8")
    one = reader(viewport=WIDE)
    folders = ("agents", "pipelines", "recommendations")
    paths = [path for folder in folders for path in sorted((site / folder).glob("*.html"))[::9]]
    for path in [*sorted(site.glob("*.html")), *paths]:
        page = one.open(path)
        assert page.locator("main h1").count() == 1, path
        assert page.evaluate("document.querySelectorAll('main script:not([type]):not([src]), main img').length") == 0, (
            path
        )
    page = one.open(site / "index.html")
    page.keyboard.press("/")
    page.keyboard.type("script")
    one.until("document.querySelectorAll('[role=option]').length > 0")
    assert page.locator("[role=listbox] script, [role=listbox] img").count() == 0
    assert one.said == []
    assert [address for address in one.asked if not address.startswith(site.as_uri())] == []
