"""How long it takes from saving a detector to its page reloaded in a browser, on the bundled example.

    python tests/bench/edit_to_reload.py                 # the example (60,000 events), 10 edits, Chromium
    python tests/bench/edit_to_reload.py --no-browser    # until the new page has been fetched
    python tests/bench/edit_to_reload.py --project DIR --page agents.html --edits 20

Every edit changes what the detector finds. The time runs from before the file is written until the browser's load
event: with the script of the charts, on a machine with nothing else to do. The target is half a second; the exit code
is 1 where the median is above it.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
DETECTOR = "cost_outlier"
TARGET_SECONDS = 0.5
_SERVE = (
    "import sys\nfrom reportgen.serving import serve\n"
    "serve(sys.argv[1], port=0, on_ready=lambda url: print(url, flush=True))"
)


@contextmanager
def served(project: Path) -> Iterator[str]:
    """Serve a project in a process of its own; gives the address."""
    command = [sys.executable, "-c", _SERVE, str(project)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def states(url: str, page: str) -> Iterator[dict[str, object]]:
    """Yield what the server says is to be seen, each time it changes."""
    with urllib.request.urlopen(f"{url}.reportgen/events?page=/{page}") as stream:
        for line in stream:
            if line.startswith(b"data: "):
                yield json.loads(line[6:])


def edits(path: Path, number: int) -> Iterator[Callable[[], None]]:
    """Yield what saves the detector with one threshold after the other."""
    text = path.read_text(encoding="utf-8")
    for turn in range(number):
        changed, count = re.subn(r"(?m)^default = .*$", f"default = {2 + turn % 5}.{turn % 10}", text, count=1)
        assert count == 1
        yield lambda changed=changed: path.write_text(changed, encoding="utf-8")  # type: ignore[misc]


def without_browser(url: str, page: str, path: Path, number: int, pause: float) -> list[float]:
    """Return the seconds from each edit until the new page was fetched."""
    stream = states(url, page)
    content = next(state["content"] for state in stream if state["content"])
    urllib.request.urlopen(url + page).read()
    time.sleep(pause)
    took = []
    for save in edits(path, number):
        start = time.perf_counter()
        save()
        content = next(state["content"] for state in stream if state["content"] != content)
        urllib.request.urlopen(url + page).read()
        took.append(time.perf_counter() - start)
        time.sleep(pause)
    return took


def in_browser(url: str, page: str, path: Path, number: int, pause: float) -> list[float]:
    """Return the seconds from each edit until the browser had loaded the new page."""
    from playwright.sync_api import sync_playwright

    next(state for state in states(url, page) if state["content"])
    took = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page()
        tab.goto(url + page, wait_until="load")
        tab.wait_for_timeout(pause * 1000)
        for save in edits(path, number):
            with tab.expect_event("load", timeout=60_000):
                start = time.perf_counter()
                save()
            took.append(time.perf_counter() - start)
            tab.wait_for_timeout(pause * 1000)
        browser.close()
    return took


def main() -> int:
    """Measure, and print one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--project", type=Path, help="a project's directory; it is copied  [default: the example]")
    parser.add_argument("--page", default="recommendations.html")
    parser.add_argument("--edits", type=int, default=10)
    parser.add_argument("--pause", type=float, default=4.0, help="seconds between edits  [default: 4]")
    parser.add_argument("--no-browser", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        if given.project is None:
            subprocess.run([sys.executable, str(ROOT / "examples" / "make_example.py"), str(project)], check=True)
        else:
            shutil.copytree(given.project, project, ignore=shutil.ignore_patterns("site", ".reportgen"))
        path = project / "sql" / "detectors" / f"{DETECTOR}.sql"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / "sql" / "detectors" / path.name, path)
        measure = without_browser if given.no_browser else in_browser
        with served(project) as url:
            took = measure(url, given.page, path, given.edits, given.pause)
    middle = statistics.median(took)
    print(
        f"{given.page}, {len(took)} edits: median {middle:.3f} s, fastest {min(took):.3f} s, slowest {max(took):.3f} s"
    )
    return int(middle > TARGET_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
