"""Pictures of the main pages, to be looked at: `make screenshots`, or `python tests/browser/screenshots.py SITE FOLDER`.

Each page on a laptop (what is seen at first, and the whole), in the dark theme, and on a phone. The folder is not
committed.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from browser.conftest import FLAGS, HOW, Reader

#: Name to width, height, theme, and whether the whole page is taken.
SHOTS = {
    "laptop": (1366, 768, "light", False),
    "whole": (1366, 768, "light", True),
    "dark": (1366, 768, "dark", True),
    "phone": (360, 800, "light", True),
}


def main_pages(site: Path) -> list[str]:
    """Return the pages at the top, and the first of each folder."""
    top = sorted(path.name for path in site.glob("*.html"))
    folders = sorted(path.name for path in site.iterdir() if path.is_dir())
    first = [sorted(site.glob(f"{folder}/*.html"))[:1] for folder in folders]
    return [*top, *(path.relative_to(site).as_posix() for found in first for path in found)]


def take(site: Path, folder: Path) -> int:
    """Write the pictures, `agents-phone.png`, and return how many there are."""
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit(HOW)
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        for shot, (width, height, theme, whole) in SHOTS.items():
            one = Reader(browser, viewport={"width": width, "height": height}, color_scheme=theme)
            for path in main_pages(site):
                one.open(site / path)
                if whole:
                    one.see_all()
                else:
                    one.page.wait_for_timeout(500)
                name = path.removesuffix(".html").replace("/", "-")
                one.page.screenshot(path=folder / f"{name}-{shot}.png", full_page=whole)
                one.page.set_viewport_size({"width": width, "height": height})
                count += 1
            one.context.close()
        browser.close()
    return count


if __name__ == "__main__":
    given = [Path(argument) for argument in sys.argv[1:]]
    print(f"{take(*given)} pictures in {given[1]}")
