"""Every page of the site: there, whole, linked, escaped, and saying what the report says."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import pytest
from page_reader import Page, goal_of, read_page
from report_factory import empty_report, hostile_report, sample_report

from reportgen.errors import ReportgenError
from reportgen.model import Report
from reportgen.render import BUILD_HASH
from reportgen.render.site import render_site

Site = dict[str, bytes]
SCRIPTS = ("report.js", "use.js", "charts.js", "plotly.min.js")


@pytest.fixture(scope="module")
def report() -> Report:
    return sample_report()


@pytest.fixture(scope="module")
def site(report: Report) -> Site:
    return render_site(report)


@pytest.fixture(scope="module")
def sites(site: Site) -> dict[str, Site]:
    return {"sample": site, "empty": render_site(empty_report()), "hostile": render_site(hostile_report())}


@pytest.fixture(scope="module")
def pages(sites: dict[str, Site]) -> dict[str, Page]:
    return {f"{which}/{path}": read_page(data) for which, made in sites.items() for path, data in made.items() if path.endswith(".html")}  # fmt: skip


def page(site: Site, path: str) -> Page:
    return read_page(site[path])


def policy(of: Page) -> dict[str, list[str]]:
    (meta,) = of.all("meta", http_equiv="Content-Security-Policy")
    return {words[0]: words[1:] for part in meta.attributes["content"].split(";") if (words := part.split())}


def test_every_page_of_the_report_is_there_and_nothing_else(report: Report, site: Site) -> None:
    top = ["index", "recommendations", "agents", "pipelines", "healing", "budget", "data-quality", "detectors"]
    expected = {f"{name}.html" for name in (*top, "sql", "how-to-read", "404")}
    expected |= {f"sql/{one.kind}.html" for one in report.sql}
    expected |= {f"recommendations/{found.id}.html" for found in report.recommendations}
    expected |= {f"agents/{agent.slug}.html" for agent in report.agents}
    expected |= {f"pipelines/{line.slug}.html" for line in report.pipelines}
    expected |= {f"detectors/{one.detector}.html" for one in report.detectors}
    slugs = {line.pipeline: line.slug for line in report.pipelines}
    months = {(slugs[run.pipeline], run.started[:7] if run.started else "undated") for run in report.runs}
    expected |= {f"pipelines/{slug}/runs-{month}.html" for slug, month in months}
    assert {path for path in site if path.endswith(".html")} == expected
    assets = {path for path in site if path.startswith("assets/")}
    assert assets == {f"assets/{name}" for name in ("style.css", "icon.svg", "search-index.js", *SCRIPTS)}


def test_the_same_report_gives_the_same_bytes(report: Report, site: Site) -> None:
    again = render_site(sample_report())
    assert list(again) == sorted(again)
    assert again == site


def test_markup_is_whole_on_every_page(pages: dict[str, Page]) -> None:
    faults = {path: one.faults for path, one in pages.items() if one.faults}
    assert faults == {}


def test_every_page_has_its_frame(pages: dict[str, Page]) -> None:
    for path, one in pages.items():
        assert len(one.all("h1")) == 1, path
        assert one.all("title")[0].text.strip(), path
        assert one.all("html", lang="en"), path
        assert one.all("meta", name="robots", content="noindex"), path
        assert BUILD_HASH in one.all("footer")[0].text, path
        assert len(one.all("main")) == 1, path
        if path.endswith("/404.html"):
            continue
        assert one.all("a", "skip", href="#main"), path
        assert "reportgen 0.1.0" in one.all("footer")[0].text
        depth = path.count("/") - 1
        marked = [link for link in one.all("a") if link.attributes.get("aria-current") in ("page", "true")]
        assert len(marked) == 1, path
        assert marked[0].attributes["aria-current"] == ("true" if depth else "page"), path
        crumbs = one.all("nav", aria_label="Breadcrumb")
        assert bool(crumbs) is not path.endswith("/index.html"), path


def test_nothing_runs_but_the_sites_own_scripts_and_nothing_is_styled_in_place(pages: dict[str, Page]) -> None:
    for path, one in pages.items():
        for script in one.all("script"):
            if script.attributes.get("type") == "application/json":
                assert "src" not in script.attributes
                json.loads(script.text)
            elif path.endswith("/404.html"):
                # It can't know where the site's scripts are; the policy allows this text only (see below).
                assert "src" not in script.attributes
            else:
                assert script.text == "", path
                assert PurePosixPath(script.attributes["src"]).name in SCRIPTS
        for element in one.elements:
            assert "style" not in element.attributes, (path, element)
            assert not [name for name in element.attributes if name.startswith("on")], (path, element)
            assert element.tag not in ("iframe", "object", "embed", "img", "form", "base"), path
        assert bool(one.all("style")) is path.endswith("/404.html")


def test_the_policy_allows_nothing_from_outside_and_nothing_in_place(pages: dict[str, Page]) -> None:
    empty = base64.b64encode(hashlib.sha256(b"").digest()).decode()
    for path, one in pages.items():
        allowed = policy(one)
        assert allowed["default-src"] == allowed["base-uri"] == allowed["form-action"] == ["'none'"]
        assert not {"'unsafe-inline'", "'unsafe-eval'", "https:", "http:", "*"} & {
            word for words in allowed.values() for word in words
        }
        if path.endswith("/404.html"):
            for kind in ("style", "script"):
                (own,) = one.all(kind)
                digest = base64.b64encode(hashlib.sha256(own.text.encode()).digest()).decode()
                assert allowed[f"{kind}-src"] == [f"'sha256-{digest}'"]
            continue
        assert allowed["script-src"] == ["'self'"]
        has_charts = bool(one.all("figure", "chart"))
        assert allowed["style-src"] == (["'self'", f"'sha256-{empty}'"] if has_charts else ["'self'"]), path
        assert (
            bool([s for s in one.all("script") if s.attributes.get("src", "").endswith("plotly.min.js")]) is has_charts
        )
        # The policy has to stand before what it rules over.
        first = next(e for e in one.elements if e.tag in ("script", "link", "style", "title"))
        (meta,) = one.all("meta", http_equiv="Content-Security-Policy")
        assert one.elements.index(meta) < one.elements.index(first)


def test_every_link_is_relative_and_leads_somewhere(sites: dict[str, Site]) -> None:
    for which, made in sites.items():
        parsed = {path: read_page(data) for path, data in made.items() if path.endswith(".html")}
        # The whole tables are added by the caller.
        there = set(made) | {"data/report.json"} | {f"data/{table.file}" for table in sample_report().tables}
        for path, one in parsed.items():
            links = [(e, e.attributes[name]) for e in one.elements for name in ("href", "src") if name in e.attributes]
            for element, target in links:
                parts = urlsplit(target)
                if path == "404.html":
                    assert target in ("index.html", "../index.html", "../../index.html", "data:,")
                    continue
                assert (parts.scheme, parts.netloc) == ("", ""), (which, path, target)
                assert not target.startswith("/"), (which, path, target)
                goal = goal_of(path, parts.path)
                assert goal in there, (which, path, target)
                if parts.fragment and goal.endswith(".html"):
                    assert unquote(parts.fragment) in parsed[goal].ids, (which, path, target, element.text)


def test_hostile_text_is_shown_and_never_acts(sites: dict[str, Site]) -> None:
    for path, data in sites["hostile"].items():
        if not path.endswith(".html"):
            continue
        text = data.decode()
        assert "<script>alert" not in text, path
        assert "<img" not in text, path
        assert "\x00" not in text, path
        assert "\x1b" not in text, path
        assert "\u202e" not in text, path
    shown = page(sites["hostile"], "agents.html").text()
    assert "<script>alert(1)</script></script><!--\"'><img src=x onerror=alert(2)>{{7*7}}{% raw %}" in shown
    assert "<U+202E>" in shown


def test_the_page_for_missing_pages_stands_alone_and_names_what_is_gone(report: Report, site: Site) -> None:
    one = page(site, "404.html")
    assert not one.all("link", rel="stylesheet")
    # Of the style sheet it brings what it needs, and not what only other pages show.
    style = one.all("style")[0].text
    assert ":root{" in style
    assert ".lone" in style
    assert ".chart" not in style
    for old in report.retired:
        assert old.id in one.text()
        assert old.title in one.text()


def test_templates_of_a_project_stand_in_for_ours(tmp_path: Path, report: Report) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "healing.html").write_text('{% extends "_base.html" %}{% block content %}<h1>Ours {{ report.healing.attempts }}</h1>{% endblock %}')  # fmt: skip
    (tmp_path / "cost-notes.html").write_text('{% extends "_base.html" %}{% block content %}<h1>{{ page.title }}: {{ report.pipelines[0].cost }}</h1>{% endblock %}')  # fmt: skip
    (tmp_path / "_part.html").write_text("not a page")
    (tmp_path / "assets" / "style.css").write_text("body { color: teal }\n")
    (tmp_path / "assets" / "logo.svg").write_text("<svg/>")
    made = render_site(report, template_dirs=[tmp_path])
    assert "Ours 26" in page(made, "healing.html").text()
    added = page(made, "cost-notes.html")
    assert added.all("h1")[0].text == "Cost notes: 412.873104"
    assert [e.text for e in added.all("a") if e.attributes.get("aria-current") == "page"] == ["Cost notes"]
    assert made["assets/style.css"] == b"body { color: teal }\n"
    assert made["assets/logo.svg"] == b"<svg/>"
    assert "_part.html" not in made
    assert page(made, "404.html").all("style")[0].text == "body{color: teal}\n"


@pytest.mark.parametrize(
    ("template", "line", "words"),
    [
        ("{% block content %}\n{{ report.nothing }}{% endblock %}", 3, "nothing"),
        ("\n\n{% if %}", 4, "Expected an expression"),
        ("{% block content %}{{ ''.__class__ }}{% endblock %}", 2, "unsafe"),
    ],
)
def test_a_wrong_template_is_named_by_its_line(
    tmp_path: Path, report: Report, template: str, line: int, words: str
) -> None:
    (tmp_path / "healing.html").write_text('{% extends "_base.html" %}\n' + template)
    with pytest.raises(ReportgenError) as caught:
        render_site(report, template_dirs=[tmp_path])
    assert caught.value.where.endswith(f"healing.html:{line}")
    assert words in caught.value.what


def test_sql_of_a_project_is_marked_and_every_character_of_it_shown(report: Report, site: Site) -> None:
    one = page(site, "sql/marts.html")
    assert [e.text for e in one.all("pre")] == [text.sql.strip("\n") for text in report.sql if text.kind == "marts"]
    assert [e.text for e in one.all("h2")] == ["Agents", "What runs at night project"]
    # Two files of functions have one name, and an anchor each.
    assert {"macros", "macros-project"} <= set(page(site, "sql/macros.html").ids)


def test_pages_and_assets_stay_small(site: Site) -> None:
    first = sum(len(site[path]) for path in ("index.html", "assets/style.css", "assets/report.js", "assets/icon.svg"))
    assert first < 100_000
    assert sum(len(data) for path, data in site.items() if path != "assets/plotly.min.js") < 1_500_000
