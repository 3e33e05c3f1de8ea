"""A real Chromium, and the sites of the hand-made reports on a disk, for the tests of what a reader meets."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from report_factory import empty_report, hostile_report, sample_report

from reportgen.render.site import render_site

from .real_sites import make_site

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
#: One page of each kind.
KINDS = [
    "index.html",
    "recommendations.html",
    f"recommendations/{sample_report().recommendations[0].id}.html",
    "agents.html",
    "agents/agent-writer.html",
    "pipelines.html",
    "pipelines/doc-pipeline.html",
    "healing.html",
    "budget.html",
    "data-quality.html",
    "detectors.html",
    "detectors/night_work.html",
    "how-to-read.html",
    "404.html",
]
#: Stands in for the script of the charts where what matters is the page around them: it draws nothing.
NO_PLOTLY = """
  var Plotly = new Proxy({}, { get: () => (box) => {
    box.on = () => {};
    return Promise.resolve(box);
  } });
"""
WIDE = {"width": 1366, "height": 900}
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
HOW = "The browser tests need Chromium on the PATH. On Debian or Ubuntu: apt-get install chromium"


class Reader:
    """A reader with a browser of their own: opens pages, and keeps what the browser said or asked for.

    `said` is every console message, error and dialog; `asked` every address that was fetched.
    """

    def __init__(self, browser: Browser, **options: object) -> None:
        self.context = browser.new_context(**options)  # type: ignore[arg-type]
        self.context.set_default_timeout(15_000)
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page: Page = self.context.new_page()
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        self.page.on("request", lambda request: self.asked.append(request.url))

        def dialog(shown: object) -> None:
            self.said.append("a dialog")
            shown.dismiss()  # type: ignore[attr-defined]

        self.page.on("dialog", dialog)

    def open(self, address: str | Path) -> Page:
        """Open a page and wait until every chart that is near the window is drawn."""
        self.page.goto(address.as_uri() if isinstance(address, Path) else address)
        return self.page

    def see_all(self) -> Page:
        """Make the window as tall as the page, so that every chart is drawn, and wait for them."""
        width = self.page.viewport_size["width"] if self.page.viewport_size else 1280
        height = self.page.evaluate("document.documentElement.scrollHeight")
        self.page.set_viewport_size({"width": width, "height": min(height, 12_000)})
        self.until(
            "[...document.querySelectorAll('.chart:not(.failed) .plot')]"
            ".every((box) => box.querySelector('.xtick text, .ytick text'))"
        )
        return self.page

    def see(self, chart: str) -> Page:
        """Go to a chart, and wait until it is drawn: cheaper than `see_all`, which paints a page of many windows."""
        self.page.locator(chart).first.scroll_into_view_if_needed()
        self.until(f"document.querySelector({chart!r} + ' .plot').querySelector('.xtick text, .ytick text')")
        return self.page

    def barriers(self, *rules: str, within: str = "document") -> list[str]:
        """Return what axe-core finds on the page as it is now: rule, how bad, and the first places.

        `rules`: only these; all of axe's own choice otherwise. `within`: an expression that gives what to look at.
        """
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE)
        options: dict[str, object] = {"preload": False, "resultTypes": ["violations"]}
        if rules:
            options["runOnly"] = list(rules)
        found = self.page.evaluate(f"(options) => axe.run({within}, options)", options)
        return [
            f"{one['id']} ({one['impact']}): {[node['html'][:160] for node in one['nodes'][:3]]}"
            for one in found["violations"]
        ]

    def until(self, condition: str) -> None:
        """Wait until the expression is true. Playwright's own way needs `eval`, which the pages refuse."""
        for _ in range(300):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(50)
        pytest.fail(f"never true: {condition}")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.fail(HOW)
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def reader(browser: Browser) -> Iterator[Callable[..., Reader]]:
    """Give readers, each with the options of a browser context (`color_scheme`, `viewport`, `java_script_enabled`)."""
    made: list[Reader] = []

    def make(**options: object) -> Reader:
        made.append(Reader(browser, **options))
        return made[-1]

    yield make
    for one in made:
        one.context.close()


@pytest.fixture(scope="session")
def sites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write the sites of the rich, the empty and the hostile report."""
    out = {}
    for name, report in (("sample", sample_report()), ("empty", empty_report()), ("hostile", hostile_report())):
        out[name] = tmp_path_factory.mktemp(name)
        for path, data in render_site(report).items():
            target = out[name] / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    return out


@pytest.fixture(scope="session")
def plain_sites(sites: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Give the same sites with charts that stay undrawn, which load at once."""
    made = {name: tmp_path_factory.mktemp("plain") / name for name in sites}
    for name, site in made.items():
        shutil.copytree(sites[name], site)
        if (site / "assets" / "plotly.min.js").exists():
            (site / "assets" / "plotly.min.js").write_text(NO_PLOTLY, encoding="utf-8")
    return made


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Give the site of a project by its name (see `real_sites.PROJECTS`), built when it is first asked for."""
    made: dict[str, Path] = {}

    def get(name: str) -> Path:
        if name not in made:
            made[name] = make_site(name, tmp_path_factory.mktemp(name))
        return made[name]

    return get


@pytest.fixture(scope="session")
def undrawn(real: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Give the same site with charts that stay undrawn: most pages differ in what is around them."""
    made: dict[str, Path] = {}

    def get(name: str) -> Path:
        if name not in made:
            made[name] = tmp_path_factory.mktemp(f"undrawn-{name}") / "site"
            shutil.copytree(real(name), made[name])
            script = made[name] / "assets" / "plotly.min.js"
            if script.exists():
                script.write_text(NO_PLOTLY, encoding="utf-8")
        return made[name]

    return get


@pytest.fixture(scope="session")
def looked_at() -> set[str]:
    """Give what the pages are made of that axe-core has looked at so far, on whatever site (see `walk.MAKE_UP`)."""
    return set()


@pytest.fixture
def host(sites: dict[str, Path], tmp_path: Path) -> Iterator[str]:
    """Serve the site from a deep folder, as static hosts do: a missing page is answered with 404.html."""
    deep = tmp_path / "team" / "reports"
    deep.mkdir(parents=True)
    (deep / "nightly").symlink_to(sites["sample"])
    missing = (sites["sample"] / "404.html").read_bytes()

    class Host(SimpleHTTPRequestHandler):
        def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
            self.send_response(code)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(missing)

        def log_message(self, format: str, *args: object) -> None:
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Host, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/team/reports/nightly/"
    server.shutdown()
    server.server_close()
