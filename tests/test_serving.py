"""The preview as a browser meets it: what it serves, what it refuses, and what it shows when a file is saved."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from page_reader import read_page
from project import HEADER, event, write_project
from served import PATIENCE, Client, preview, published

from reportgen import build, testresults
from reportgen.errors import ReportgenError
from reportgen.live.server import read_inside, site_path
from reportgen.querying import run_query
from reportgen.resources import resource_dir
from reportgen.serving import serve

LOOP = "| 2026-11-04 | docs | writer | 40/100 | too long | shorter | loop-excess |\n"
OUTLIER = "sql/detectors/cost_outlier.sql"


def events() -> list[dict[str, Any]]:
    """Ten runs of one pipeline, of which one costs nine times the others."""
    return [
        event(f"2026-11-{day:02d}T09:00:00Z", "writer", run_id=f"r{day}", cost_usd=9 if day == 3 else 1)
        for day in range(1, 11)
    ]


def outlier(least: str = "3.0") -> str:
    """The built-in detector of outliers with another threshold."""
    text = (resource_dir("sql") / "detectors" / "cost_outlier.sql").read_text("utf-8")
    assert "default = 3.0" in text
    return text.replace("default = 3.0", f"default = {least}", 1)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path / "project", events(), files={OUTLIER: outlier()})


def bare(page: str) -> str:
    """A page without what names its content and its build."""
    return re.sub(r'data-content="[^"]*"|build (?:preview|[0-9a-f]{16})', "", page)


def outputs(folder: Path) -> dict[str, bytes]:
    files = [folder / "RECOMMENDATIONS.md", *(folder / "site").rglob("*")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files if path.is_file()}


# --- what is served -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, Path]]:
    """A preview that nobody edits, with things in its site that must not be served."""
    folder = tmp_path_factory.mktemp("quiet")
    project = write_project(folder / "project", events())
    build(project)
    (folder / "secret.txt").write_text("secret", encoding="utf-8")
    site = project / "site"
    (site / "link.txt").symlink_to(folder / "secret.txt")
    (site / "up").symlink_to(folder)
    (site / ".hidden").write_text("secret", encoding="utf-8")
    (site / ".git").mkdir()
    (site / ".git" / "config").write_text("secret", encoding="utf-8")
    os.mkfifo(site / "pipe")
    with preview(project) as client:
        client.shown()
        yield client, project


def test_pages_get_the_script_and_what_is_published_does_not(quiet: tuple[Client, Path]) -> None:
    client, project = quiet
    status, headers, data = client.get("")
    page = read_page(data.decode())
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert page.faults == []
    assert b'<script src="/.reportgen/live.js"' in data
    assert b"connect-src &#x27;self&#x27;" in data
    assert client.get("recommendations.html")[2].count(b"/.reportgen/live.js") == 1
    for path in ("assets/style.css", "assets/report.js", "data/report.json", "data/runs.csv"):
        assert client.get(path)[0] == 200, path
    published(project / "site" / "index.html", lambda text: "</html>" in text)
    for path, data in outputs(project).items():
        assert b"/.reportgen/" not in data, path
        assert b"@@reportgen" not in data, path


def test_a_file_that_did_not_change_is_not_sent_again(quiet: tuple[Client, Path]) -> None:
    client = quiet[0]
    _, headers, data = client.get("assets/plotly.min.js")
    assert len(data) > 1_000_000
    status, _, data = client.get("assets/plotly.min.js", {"If-None-Match": headers["ETag"]})
    assert (status, data) == (304, b"")
    assert client.get("index.html")[1]["Cache-Control"] == "no-store"


def test_a_missing_page_says_so_and_reloads_too(quiet: tuple[Client, Path]) -> None:
    status, _, data = quiet[0].get("no/such/page.html")
    assert status == 404
    assert b"/.reportgen/live.js" in data
    # Beside what the page allows itself, by a hash.
    assert re.search(rb"script-src [^\"]*&#x27;self&#x27;", data)


def test_many_pages_may_be_open(quiet: tuple[Client, Path]) -> None:
    clients = [Client(quiet[0].url, []) for _ in range(12)]
    assert {one.shown() for one in clients} == {quiet[0].shown()}


def test_a_port_in_use_is_an_error_with_the_next_step(quiet: tuple[Client, Path]) -> None:
    port = int(urlsplit(quiet[0].url).port or 0)
    with pytest.raises(ReportgenError) as caught:
        serve(quiet[1], port=port)
    assert caught.value.exit_code == 2
    assert f"port {port} is in use" in caught.value.what
    step = re.search(r"reportgen serve --port (\d+)", caught.value.next_step)
    assert step is not None
    assert int(step.group(1)) not in (port, 0)


def test_the_disk_holds_what_a_build_writes_after_every_edit(project: Path) -> None:
    with preview(project) as client:
        first = client.shown()
        (project / OUTLIER).write_text(outlier("2.0"), encoding="utf-8")
        second = str(client.newer(first)["content"])
        (project / "FEEDBACK.md").write_text(HEADER + LOOP * 3, encoding="utf-8")
        client.newer(second)
    served = outputs(project)
    assert b"2.0" in served["site/detectors/cost_outlier.html"]
    assert b"loop-excess" in served["site/data/feedback.csv"]
    marts = ("runs", "agents", "findings", "vfm", "feedback")
    kept = {mart: run_query(project, f"select * from {mart} order by all").rows for mart in marts}
    result = build(project)
    assert (result.written, result.removed) == (0, 0)
    assert outputs(project) == served
    assert {mart: run_query(project, f"select * from {mart} order by all").rows for mart in marts} == kept


def test_files_of_the_site_that_others_put_there_are_served_and_stale_ones_are_not(project: Path) -> None:
    build(project)
    site = project / "site"
    (site / "logo.png").write_bytes(b"\x89PNG")
    (site / "notes").mkdir()
    (site / "notes" / "index.html").write_text("<!doctype html><title>Notes</title><p>Hello", encoding="utf-8")
    gone = next((site / "recommendations").iterdir())
    (project / OUTLIER).write_text(outlier("99.0"), encoding="utf-8")
    with preview(project) as client:
        client.shown()
        status, headers, data = client.get("logo.png")
        assert (status, headers["Content-Type"], data) == (200, "image/png", b"\x89PNG")
        assert "Hello" in client.text("notes/")
        assert client.get(f"recommendations/{gone.name}")[0] == 404


# --- what is refused ------------------------------------------------------------------------------------------------


def ask(client: Client, path: str, headers: dict[str, str] | None = None, method: str = "GET") -> tuple[int, bytes]:
    """Send exactly this path and these headers, which a well-behaved client would tidy up."""
    connection = http.client.HTTPConnection("127.0.0.1", int(urlsplit(client.url).port or 0), timeout=PATIENCE)
    connection.putrequest(method, path, skip_host=True)
    for name, value in {"Host": "localhost", **(headers or {})}.items():
        if value:
            connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, data


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/agents/../../secret.txt",
        "/..\\secret.txt",
        "/link.txt",
        "/up/secret.txt",
        "/.hidden",
        "/%2ehidden",
        "/.git/config",
        "/pipe",
        "/reportgen-manifest.json",
        "/.reportgen-staging/plan.json",
        "/.reportgen/../index.html",
        "/.reportgen/warehouse.duckdb",
        "//etc/hostname",
        "/index.html%00",
        "/%ff",
        "/./index.html",
    ],
)
def test_nothing_outside_the_site_is_served(quiet: tuple[Client, Path], path: str) -> None:
    status, data = ask(quiet[0], path)
    assert status in (403, 404)
    assert b"secret" not in data.replace(b"secret.txt", b"")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:9", "127.0.0.1", "127.0.0.1:8000", "[::1]:8000"])
def test_names_of_this_machine_are_answered(quiet: tuple[Client, Path], host: str) -> None:
    assert ask(quiet[0], "/index.html", {"Host": host})[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:8000"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "localhost.evil.example:8000"},
        {"Host": "evil.example:localhost"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"},
    ],
)
@pytest.mark.parametrize("path", ["/index.html", "/.reportgen/events", "/data/report.json"])
def test_pages_from_elsewhere_are_not_answered(quiet: tuple[Client, Path], headers: dict[str, str], path: str) -> None:
    status, data = ask(quiet[0], path, headers)
    assert status == 403
    assert b"only as" in data


def test_a_link_from_elsewhere_may_lead_here(quiet: tuple[Client, Path]) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert ask(quiet[0], "/index.html", headers)[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_nothing_can_be_sent(quiet: tuple[Client, Path], method: str) -> None:
    assert ask(quiet[0], "/index.html", method=method)[0] == 501


def test_the_head_of_a_page_without_its_content(quiet: tuple[Client, Path]) -> None:
    assert ask(quiet[0], "/index.html", method="HEAD") == (200, b"")


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        ("/", "index.html"),
        ("/agents/", "agents/index.html"),
        ("/a%20b.html", "a b.html"),
        ("/a?b", "a?b"),
        ("/..", None),
        ("/a//b", None),
        ("/a/.b", None),
        ("/a%5cb", None),
        ("/%e2%80%ae", None),
    ],
)
def test_which_file_a_url_means(asked: str, path: str | None) -> None:
    assert site_path(asked) == path


def test_a_folder_that_became_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "site" / "a").mkdir(parents=True)
    (tmp_path / "site" / "a" / "x").write_text("x", encoding="utf-8")
    assert read_inside(tmp_path / "site", "a/x") == b"x"
    (tmp_path / "site" / "b").symlink_to(tmp_path / "site" / "a")
    assert read_inside(tmp_path / "site", "b/x") is None
    assert read_inside(tmp_path / "site", "a") is None
    assert read_inside(tmp_path / "nowhere", "x") is None


# --- what is shown when a file is saved -----------------------------------------------------------------------------


def test_a_saved_detector_is_shown_and_an_error_keeps_the_last_good_content(project: Path) -> None:
    with preview(project) as client:
        first = client.shown()
        assert "r3" in client.text("recommendations.html")
        (project / OUTLIER).write_text(outlier("99.0"), encoding="utf-8")
        second = str(client.newer(first)["content"])
        good = bare(client.text("recommendations.html"))
        assert "r3" not in good
        published(project / "site" / "recommendations.html", lambda text: "r3" not in text)
        bad = outlier().replace("from compared as c", "from compard as <c>\u202e", 1)
        (project / OUTLIER).write_text(bad, encoding="utf-8")
        state = client.until(lambda state: state["problems"])
        assert (state["content"], state["held"]) == (second, True)
        (problem,) = state["problems"]
        line = next(n for n, text in enumerate(bad.splitlines(), 1) if "compard" in text)
        assert problem["where"].startswith(f"{OUTLIER}:{line}")
        assert problem["line"] == line
        assert [line, "    from compard as <c><U+202E>"] in problem["excerpt"]
        assert bare(client.text("recommendations.html")) == good
        (project / OUTLIER).write_text(outlier("2.0"), encoding="utf-8")
        state = client.newer(second)
        assert (state["problems"], state["held"]) == ([], False)
        assert "r3" in client.text("recommendations.html")


def test_only_what_depends_on_a_change_is_done_again(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from reportgen import loading

    done: list[str] = []

    def counted(name: str) -> None:
        real = getattr(loading, name)

        def count(*args: Any) -> Any:
            done.append(name)
            return real(*args)

        monkeypatch.setattr(loading, name, count)

    for name in ("read_cost_events", "load", "make_marts"):
        counted(name)
    with preview(project) as client:
        content = client.shown()
        assert done == ["read_cost_events", "load", "make_marts"]
        done.clear()
        (project / "templates").mkdir()
        own = (resource_dir("templates") / "agents.html").read_text("utf-8").replace("<h1>", "<h1>Own ", 1)
        (project / "templates" / "agents.html").write_text(own, encoding="utf-8")
        content = str(client.newer(content)["content"])
        assert "<h1>Own " in client.text("agents.html")
        assert done == []
        (project / OUTLIER).write_text(outlier("4.0"), encoding="utf-8")
        content = str(client.newer(content)["content"])
        assert done == ["make_marts"]
        done.clear()
        (project / "BUDGET.md").write_text("| Agent | Daily |\n|---|---|\n| writer | $5 |\n", encoding="utf-8")
        content = str(client.newer(content)["content"])
        assert done == ["load", "make_marts"]
        done.clear()
        log = project / "budget" / "cost-events.jsonl"
        log.write_text(log.read_text("utf-8") + json.dumps(event("2026-11-20T09:00:00Z", "late")) + "\n")
        client.newer(content)
        assert done == ["read_cost_events", "load", "make_marts"]
        assert "late" in client.text("agents.html")


def test_a_broken_template_is_told_with_its_line(project: Path) -> None:
    with preview(project) as client:
        content = client.shown()
        own = project / "templates" / "index.html"
        own.parent.mkdir()
        own.write_text('{% extends "_base.html" %}\n{% block content %}\n{{ nothing.at.all }}\n{% endblock %}\n')
        state = client.until(lambda state: state["problems"])
        (problem,) = state["problems"]
        assert (state["content"], state["held"]) == (content, True)
        assert problem["where"] == "templates/index.html:3"
        assert problem["line"] == 3
        assert [3, "{{ nothing.at.all }}"] in problem["excerpt"]
        own.unlink()
        client.until(lambda state: not state["problems"])


def test_a_page_that_nobody_looks_at_may_fail_later_and_keeps_its_last_good_content(project: Path) -> None:
    with preview(project) as client:
        client.shown()
        published(project / "site" / "agents.html", bool)
        client.until(lambda state: not state["busy"])
        good = bare(client.text("agents.html"))
        own = project / "templates" / "agents.html"
        own.parent.mkdir()
        own.write_text("{{ unheard_of }}")
        state = client.until(lambda state: state["problems"])
        assert state["problems"][0]["where"] == "templates/agents.html:1"
        assert bare(client.text("agents.html")) == good
        assert "unheard_of" not in (project / "site" / "agents.html").read_text("utf-8")


def test_a_saved_test_runs_alone_and_its_result_is_shown(project: Path) -> None:
    asked: list[Sequence[str]] = []

    def run(home: Path, ids: Sequence[str]) -> testresults.TestRun:
        asked.append(ids)
        bad = testresults.CaseResult(
            "cost_outlier", "A <hit>", "failed", "- r1\n+ r2", "sql/detectors/cost_outlier.test.md", 2
        )
        good = testresults.CaseResult("cost_outlier", "A miss", "passed", "", "sql/detectors/cost_outlier.test.md", 5)
        return testresults.TestRun((bad, good), ())

    with preview(project, run_tests=run) as client:
        content = client.shown()
        test = project / "sql" / "detectors" / "cost_outlier.test.md"
        test.write_text("# Tests\n## A hit\n", encoding="utf-8")
        state = client.until(lambda state: state["tests"])
        assert asked == [["cost_outlier"]]
        assert state["content"] == content
        assert state["tests"]["passed"] == 1
        (failed,) = state["tests"]["failed"]
        assert failed["where"] == "sql/detectors/cost_outlier.test.md:2"
        assert failed["what"] == "A <hit>\n- r1\n+ r2"
        (project / OUTLIER).write_text(outlier("5.0"), encoding="utf-8")
        client.newer(content)
        state = client.until(lambda state: state["tests"]["run"] == 2)
        assert (asked, state["tests"]["failed"]) == ([["cost_outlier"]] * 2, [failed])


def test_settings_that_can_not_be_read_are_told_and_mended(project: Path) -> None:
    with preview(project) as client:
        content = client.shown()
        (project / "reportgen.toml").write_text('[quality]\nscore_flga = 1\n"<b>" = 2\n', encoding="utf-8")
        state = client.until(lambda state: state["problems"])
        assert state["held"] is True
        assert "score_flag" in state["problems"][0]["what"]
        (project / "reportgen.toml").write_text("[detectors.cost_outlier]\nenabled = false\n", encoding="utf-8")
        assert client.newer(content)["problems"] == []
        assert "r3" not in client.text("recommendations.html")


# --- when there is nothing to show ----------------------------------------------------------------------------------


def test_without_inputs_a_page_says_what_to_do_and_a_report_follows(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    with preview(folder) as client:
        client.until(lambda state: state["problems"])
        status, _, data = client.get("")
        assert status == 503
        page = read_page(data.decode())
        assert page.faults == []
        assert "There is no report yet" in page.text()
        assert "budget/cost-events.jsonl" in page.text()
        assert b"/.reportgen/live.js" in data
        assert list(folder.iterdir()) == []
        write_project(folder, events())
        client.shown()
        assert "writer" in client.text("agents.html")


def test_a_page_of_problems_escapes_everything(tmp_path: Path) -> None:
    hostile = '<script>alert(1)</script>"&\u202e'
    folder = write_project(tmp_path / "p", events(), settings=f"[quality]\n'{hostile}' = 1\n")
    with preview(folder) as client:
        client.until(lambda state: state["problems"])
        data = client.get("")[2].decode()
        assert "<script>alert" not in data
        assert "&lt;script&gt;alert" in data
        assert "\u202e" not in data
        assert read_page(data).faults == []
        (folder / "reportgen.toml").unlink()
        client.shown()


def test_a_detector_that_is_broken_from_the_start_is_shown_as_a_build_shows_it(project: Path) -> None:
    (project / OUTLIER).write_text(outlier().replace("select", "selct"), encoding="utf-8")
    with preview(project) as client:
        client.shown()
        (problem,) = client.state["problems"]
        assert problem["where"].startswith(OUTLIER)
        assert client.state["held"] is False
        assert "error" in client.text("detectors/cost_outlier.html")
        # It is broken otherwise now: there is no better content to keep.
        (project / OUTLIER).write_text(outlier().replace("order by", "ordr by"), encoding="utf-8")
        client.until(lambda state: state["problems"] not in ([], [problem]))
        assert client.state["held"] is False


# --- starting and stopping ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "where"),
    [({"port": 70000}, "--port"), ({"port": 0, "flags": {"since": "soon"}}, "--since")],
)
def test_what_no_file_can_mend_is_an_error_at_once(project: Path, options: dict[str, Any], where: str) -> None:
    with pytest.raises(ReportgenError) as caught:
        serve(project, **options)
    assert (caught.value.where, caught.value.exit_code) == (where, 2)


def test_a_project_that_is_none_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(ReportgenError, match="no such directory"):
        serve(tmp_path / "nowhere", port=0)


SERVE = "import sys; from reportgen.serving import serve; sys.exit(serve(sys.argv[1], port=0, on_message=print, on_ready=lambda url: print(url, flush=True)))"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_cleanly_and_what_was_shown_is_published(project: Path, number: int) -> None:
    with subprocess.Popen([sys.executable, "-c", SERVE, str(project)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = next(line.strip() for line in process.stdout if line.startswith("http"))
        Client(url, []).shown()
        # As `timeout` and others do it: to the process, and again to its group.
        process.send_signal(number)
        process.send_signal(number)
        assert process.wait(PATIENCE) == 0
    assert (project / "site" / "index.html").is_file()
    assert sorted(path.name for path in (project / ".reportgen").iterdir()) == ["lock", "warehouse.duckdb"]


def test_a_build_beside_it_is_no_trouble(project: Path) -> None:
    with preview(project) as client:
        content = client.shown()
        published(project / "site" / "index.html", bool)
        assert build(project).exit_code == 0
        (project / OUTLIER).write_text(outlier("99.0"), encoding="utf-8")
        client.newer(content)
        published(project / "site" / "recommendations.html", lambda text: "r3" not in text)


def test_the_work_folder_may_be_deleted_while_it_runs(project: Path) -> None:
    with preview(project) as client:
        content = client.shown()
        published(project / "site" / "index.html", bool)
        client.until(lambda state: not state["busy"])
        shutil.rmtree(project / ".reportgen")
        (project / OUTLIER).write_text(outlier("99.0"), encoding="utf-8")
        assert client.newer(content)["problems"] == []
        published(project / "site" / "recommendations.html", lambda text: "r3" not in text)


def test_what_a_killed_preview_left_is_cleared_away(project: Path) -> None:
    left = project / ".reportgen" / "serve-left"
    left.mkdir(parents=True)
    (left / "1.duckdb.new").write_bytes(b"x")
    with preview(project) as client:
        client.shown()
        assert not left.exists()


# --- in a browser ---------------------------------------------------------------------------------------------------


@pytest.mark.browser
def test_a_browser_follows_what_is_saved(project: Path) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    # In a thread of its own: the browser of other tests may be open in this one, and Playwright takes one a thread.
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(_followed, project, chromium).result() == []


def _followed(project: Path, chromium: str) -> list[str]:
    """Save one thing after another while a browser is open; return what it said."""
    playwright = pytest.importorskip("playwright.sync_api")
    said: list[str] = []
    with preview(project) as client, playwright.sync_playwright() as driver:
        client.shown()
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(f"{client.url}recommendations.html")
        page.get_by_text("r3").first.wait_for()
        (project / OUTLIER).write_text(outlier("99.0"), encoding="utf-8")
        page.get_by_text("r3").first.wait_for(state="detached")
        bad = outlier().replace("from compared as c", "from compared as c, <b>", 1)
        (project / OUTLIER).write_text(bad, encoding="utf-8")
        marked = page.locator("#reportgen-live .line.marked").first
        marked.wait_for()
        assert "from compared as c, <b>" in marked.inner_text()
        assert page.locator("#reportgen-live .panel").get_by_text("last content that was good").count() == 1
        assert page.locator("#reportgen-live b:not(.line b)").count() == 0
        (project / OUTLIER).write_text(outlier("2.0"), encoding="utf-8")
        page.get_by_text("r3").first.wait_for()
        assert page.locator("#reportgen-live .panel.bad").count() == 0
        browser.close()
    return said
