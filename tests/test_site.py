"""Every page of the site: there, whole, linked, escaped, and saying what the report says."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
from dataclasses import replace
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import pytest
from page_reader import Page, read_page
from report_factory import empty_report, hostile_report, sample_report

from reportgen.errors import ReportgenError
from reportgen.model import Report
from reportgen.render import BUILD_HASH
from reportgen.render.site import render_site

Site = dict[str, bytes]


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
    expected = {f"{name}.html" for name in (*top, "how-to-read", "404")}
    expected |= {f"recommendations/{found.id}.html" for found in report.recommendations}
    expected |= {f"agents/{agent.slug}.html" for agent in report.agents}
    expected |= {f"pipelines/{line.slug}.html" for line in report.pipelines}
    expected |= {f"detectors/{one.detector}.html" for one in report.detectors}
    assert {path for path in site if path.endswith(".html")} == expected
    assets = {path for path in site if path.startswith("assets/")}
    assert assets == {"assets/style.css", "assets/report.js", "assets/icon.svg", "assets/plotly.min.js"}


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
        assert "duckdb 2.0.1" in one.all("footer")[0].text
        depth = path.count("/") - 1
        marked = [link for link in one.all("a") if link.attributes.get("aria-current") in ("page", "true")]
        assert len(marked) == 1, path
        assert marked[0].attributes["aria-current"] == ("true" if depth else "page"), path
        crumbs = one.all("nav", aria_label="Breadcrumb")
        assert bool(crumbs) is not path.endswith("/index.html"), path


def test_nothing_runs_but_the_two_scripts_and_nothing_is_styled_in_place(pages: dict[str, Page]) -> None:
    for path, one in pages.items():
        for script in one.all("script"):
            if script.attributes.get("type") == "application/json":
                assert "src" not in script.attributes
                json.loads(script.text)
            else:
                assert script.text == "", path
                assert PurePosixPath(script.attributes["src"]).name in ("report.js", "plotly.min.js")
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
            style = one.all("style")[0].text
            assert allowed["style-src"] == [
                f"'sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}'"
            ]
            assert "script-src" not in allowed
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
                    assert target in ("index.html", "../index.html", "data:,")
                    continue
                assert (parts.scheme, parts.netloc) == ("", ""), (which, path, target)
                assert not target.startswith("/"), (which, path, target)
                goal = normal(str(PurePosixPath(path).parent / unquote(parts.path))) if parts.path else path
                assert goal in there, (which, path, target)
                if parts.fragment and goal.endswith(".html"):
                    assert unquote(parts.fragment) in parsed[goal].ids, (which, path, target, element.text)


def normal(path: str) -> str:
    out: list[str] = []
    for part in path.split("/"):
        if part == "..":
            out.pop()
        elif part != ".":
            out.append(part)
    return "/".join(out)


def test_the_overview_answers_first(report: Report, site: Site) -> None:
    one = page(site, "index.html")
    assert one.all("h1")[0].text == "Two things are worth doing now"
    text = re.sub(r"\s+", " ", one.all("main")[0].text)
    # Totals by measure, the change of cost per run ((2.114802 - 1.751221) / 1.751221 is 20.8%), data in one line.
    for words in (
        "$412.87",
        "48.2 M tokens",
        "2,210 events",
        "▲\xa021%",
        "▼\xa018%",
        "51,811 lines read",
        "7 rejected",
    ):
        assert words.replace("\xa0", " ") in text.replace("\xa0", " ")
    assert "1 detector failed" in text
    assert [link.text for link in one.all("a", "badge")][:4] == ["4 found", "1 clear", "1 skipped", "1 error"]
    first = [e.text for e in one.all("h3") if e.inside[-1].has_class("what")]
    assert first == [group.title for group in report.groups[:3]]
    scores = [e.text for e in one.all("span", "score")]
    assert scores == ["64/100", "58/100", "50/100"]
    savings = [re.sub(r"\s+", " ", e.text).strip() for e in one.all("span", "saving")]
    assert savings == ["$153.64 (37%)", "$81.99 (20%)", "≈ 18.7 M tokens (39%)"]
    titles = {chart.title for chart in report.charts if chart.page == "overview"}
    assert titles <= {e.text for e in one.all("h3")}
    for old in report.retired:
        assert old.id in one.ids
        assert old.title in text


def test_recommendations_are_ranked_in_groups_with_their_members(report: Report, site: Site) -> None:
    one = page(site, "recommendations.html")
    assert [e.text for e in one.all("h2") if e.inside[-1].has_class("what")] == [g.title for g in report.groups]
    outliers = next(g for g in report.groups if g.detector == "cost_outlier")
    inside = [e.attributes["href"] for e in one.all("a") if any(p.tag == "details" for p in e.inside)]
    assert inside == [f"recommendations/{name}.html" for name in outliers.ids]
    # Every finding has a stable anchor in the full table.
    assert {found.id for found in report.recommendations} <= set(one.ids)


def test_long_lists_put_what_follows_the_first_twenty_under_a_disclosure(report: Report) -> None:
    groups = [
        replace(report.groups[0], group=f"g{n}", rank=n + 1, ids=[report.recommendations[n % 10].id]) for n in range(33)
    ]
    one = page(render_site(replace(report, groups=groups)), "recommendations.html")
    folded = [e for e in one.all("div", "thing") if any(p.tag == "details" for p in e.inside)]
    assert len(one.all("div", "thing")) == 33
    assert len(folded) == 13
    assert "13 more" in [e.text for e in one.all("summary")]


def test_a_recommendation_can_be_recomputed_from_its_page(report: Report, site: Site) -> None:
    for found in report.recommendations:
        one = page(site, f"recommendations/{found.id}.html")
        text = one.all("main")[0].text
        parts = [found.vfm.frequency, found.vfm.failure_reduction, found.vfm.burden_reduction, found.vfm.cost_savings]
        drawn = one.all("ul", "parts")[0]
        bars = [e for e in one.all("rect") if drawn in e.inside and not e.has_class("track")]
        assert [int(bar.attributes["width"]) for bar in bars] == parts
        assert {e.attributes["viewbox"] for e in one.all("svg", "stack")} == {"0 0 25 1"}
        for words in found.vfm_evidence.values():
            assert words in text
        assert f"{found.vfm.total}/100" in text
        assert found.action in text
        for row in found.evidence:
            assert row.label in text
        links = {e.attributes["href"] for e in one.all("a")}
        assert f"../detectors/{found.detector}.html" in links
        assert f"../pipelines/{found.pipeline}.html" in links
        assert next(d for d in report.detectors if d.detector == found.detector).sql.strip() in one.all("pre")[0].text


def test_what_is_unknown_is_called_unknown_and_never_zero(report: Report, site: Site) -> None:
    archivist = next(found for found in report.recommendations if found.subject == "archivist")
    assert archivist.saving is None
    one = page(site, f"recommendations/{archivist.id}.html")
    rows = {e.text: n for n, e in enumerate(one.elements) if e.tag == "th"}
    cell = next(e for e in one.elements[rows["What could be saved"] :] if e.tag == "td")
    assert cell.text == "unknown"
    agents = page(site, "agents.html")
    triage = next(e for e in agents.all("tr") if e.text.startswith("triage"))
    cells = [e for e in agents.all("td") if triage in e.inside]
    assert [c.text for c in cells[3:9]] == ["unknown"] * 6
    assert all(c.attributes["data-v"] == "" for c in cells[3:9])


def test_rounded_numbers_keep_every_digit_in_their_title(site: Site) -> None:
    one = page(site, "agents.html")
    writer = next(e for e in one.all("tr") if e.text.startswith("agent-writer"))
    cells = {e.text: e.attributes.get("title") for e in one.all("td", "n") if writer in e.inside}
    assert cells["$240.12"] == "$240.118"
    assert cells["58%"] == "58.16%"
    # 55% is 22 of 40: nothing is lost, so nothing is added.
    assert cells["55%"] is None
    # The producer of review-pipeline estimates its tokens: marked, and the mark is explained.
    reader = next(e for e in one.all("tr") if e.text.startswith("code-reader"))
    assert "≈\xa029.4 M tokens" in reader.text
    assert "≈ marks an estimate" in one.all("footer")[0].text


def test_an_agent_of_two_pipelines_has_one_page_that_shows_both(report: Report, site: Site) -> None:
    one = page(site, "agents/agent-reviewer.html")
    assert [e.text for e in one.all("h2")][:2] == ["In doc-pipeline", "In review-pipeline"]
    assert "$61.00" in one.text()
    assert "2.70 M tokens" in one.text()
    writer = page(site, "agents/agent-writer.html").text()
    for words in ("54.3", "-8.4", "22 of 40 scores under 60", "loop-excess", "recurring", "WebSearch"):
        assert words in writer
    assert "counts for" not in writer
    assert "no detector about agents flags them" in page(site, "agents/unattributed.html").text()


def test_the_score_that_flags_is_the_one_in_force(report: Report) -> None:
    build = replace(report.build, settings=[("score_flag", "75", "points")])
    made = render_site(replace(report, build=build))
    for path in ("agents.html", "agents/agent-writer.html", "how-to-read.html"):
        assert "under 75" in page(made, path).text()
        assert "under 60" not in page(made, path).text()


def test_the_account_of_the_lines_visibly_adds_up(report: Report, site: Site) -> None:
    one = page(site, "data-quality.html")
    table = one.all("table")[0]
    rows = [
        [c.text for c in one.elements if c.tag in ("th", "td") and row in c.inside]
        for row in one.all("tr")
        if table in row.inside
    ]
    head = [h.replace("\xa0", " ") for h in rows[0]]
    assert head[2:10] == [
        "Used",
        "+ superseded",
        "+ duplicate",
        "+ not a cost",
        "+ rejected",
        "+ blank",
        "= lines",
        "Adds up",
    ]
    assert rows[1][2:10] == ["51,567", "4", "12", "15", "5", "1", "51,604", "✓ yes"]
    assert rows[-1][0] == "All files"
    assert rows[-1][2:10] == ["51,755", "4", "12", "21", "7", "12", "51,811", "✓ yes"]
    for line in report.rejected:
        assert line.reason in one.text()
        assert f"{line.line:,}" in one.text()
    for notice in report.notices:
        assert notice.message in one.text()
    wrong = replace(report, inputs=[replace(report.inputs[0], blank=3), *report.inputs[1:]])
    assert "✗ no: 51,606" in page(render_site(wrong), "data-quality.html").text()


def test_detectors_show_outcome_parameters_and_sql(report: Report, site: Site) -> None:
    for detector in report.detectors:
        one = page(site, f"detectors/{detector.detector}.html")
        assert detector.sql.strip("\n") in one.all("pre")[0].text
        assert one.all("span", "badge")[0].text == detector.status
        for parameter in detector.parameters:
            assert parameter.name in one.text()
            assert parameter.doc in one.text()
    failed = page(site, "detectors/night_work.html").text()
    assert "sql/detectors/night_work.sql:12" in failed
    assert 'Referenced column "hour" not found' in failed
    assert "nothing can be said" in failed
    changed = page(site, "detectors/score_drop.html").text()
    assert "not_enough_data: 7 scores, 20 needed" in changed
    assert "20 changed" in changed
    # What did not run has no count of findings: zero is only ever a measured zero.
    listed = page(site, "detectors.html")
    row = next(e for e in listed.all("tr") if e.attributes.get("id") == "night_work")
    assert [c.text for c in listed.all("td") if row in c.inside][1] == "unknown"


def test_healing_and_budget(report: Report, site: Site) -> None:
    healing = page(site, "healing.html").text()
    assert f"{report.healing.attempts}" in healing
    assert "attempt 6 is over the cap of 5" in healing
    budget = page(site, "budget.html")
    assert [e.text for e in budget.all("span", "badge")] == ["near the limit", "over", "unknown"]
    bars = [e.attributes["width"] for e in budget.all("rect", "fill")]
    # 140% fills the bar and no more.
    assert [float(width) for width in bars] == [89.14, 100]
    assert "budget.html" not in render_site(empty_report())


def test_every_chart_has_its_numbers_as_a_table_and_as_csv(report: Report, site: Site) -> None:
    where = {"overview": "index.html", "healing": "healing.html", "budget": "budget.html"}
    names = {"pipeline": "pipelines", "agent": "agents", "recommendation": "recommendations"}
    for chart in report.charts:
        path = where.get(chart.page) or f"{names[chart.page]}/{chart.key}.html"
        one = page(site, path)
        (figure,) = one.all("figure", id=f"chart-{chart.id}")
        rows = [e for e in one.all("tr") if figure in e.inside]
        assert len(rows) == 1 + len(chart.rows)
        # Without a script the table stands open.
        (details,) = [e for e in one.all("details") if figure in e.inside]
        assert "open" in details.attributes
        (link,) = [e for e in one.all("a") if figure in e.inside and e.text == "CSV"]
        data = site[normal(str(PurePosixPath(path).parent / link.attributes["href"]))]
        assert len(list(csv.reader(io.StringIO(data.decode())))) == 1 + len(chart.rows)
        (drawn,) = [json.loads(e.text) for e in one.all("script") if figure in e.inside]
        assert set(drawn["figure"]) == {"data", "layout"}
        assert drawn["config"]["displayModeBar"] is False
        (box,) = [e for e in one.all("div", "plot") if figure in e.inside]
        assert chart.title in box.attributes["aria-label"]
    csvs = [path for path in site if path.startswith("data/")]
    assert len(csvs) == len(report.charts)


def test_a_chart_of_many_rows_keeps_its_page_small_and_its_csv_whole(report: Report) -> None:
    long = replace(report.charts[0], rows=[["2026-09-17", "1.5", "doc-pipeline"]] * 1000)
    made = render_site(replace(report, charts=[long]))
    one = page(made, "index.html")
    (figure,) = one.all("figure", "chart")
    assert len([e for e in one.all("tr") if figure in e.inside]) == 201
    assert "The first 200 rows; the CSV has 800 more." in figure.text
    assert made[f"data/chart-{long.id}.csv"].count(b"\n") == 1001


def test_an_empty_project_is_told_what_to_do(sites: dict[str, Site]) -> None:
    made = sites["empty"]
    one = page(made, "index.html")
    assert one.all("h1")[0].text == "There is nothing to look at yet"
    assert "budget/cost-events.jsonl" in one.text()
    assert "FEEDBACK.md" in one.text()
    assert "0 events" not in one.text()
    assert "reportgen heal" in page(made, "healing.html").text()
    assert not [path for path in made if "plotly" in path or path.startswith("data/")]


def test_a_clear_report_says_what_was_checked(report: Report) -> None:
    detectors = [replace(d, status="clear", findings=0, message=None, where=None) for d in report.detectors[:4]]
    lines = [replace(line, recommendations=[]) for line in report.pipelines]
    agents = [replace(agent, recommendations=[]) for agent in report.agents]
    clear = replace(
        report, recommendations=[], groups=[], detectors=detectors, pipelines=lines, agents=agents, charts=[]
    )
    made = render_site(clear)
    for path in ("index.html", "recommendations.html"):
        text = page(made, path).text()
        for detector in detectors:
            assert detector.title in text
            assert detector.checked in text
    assert page(made, "index.html").all("h1")[0].text == "Nothing stands out"


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


def test_a_page_of_one_pipeline_says_so(report: Report) -> None:
    build = replace(report.build, pipeline_filter="doc-pipeline")
    made = render_site(replace(report, build=build))
    for path in ("index.html", "agents/agent-writer.html"):
        assert "Only the pipeline doc-pipeline is shown" in page(made, path).text()


def test_the_page_for_missing_pages_stands_alone_and_names_what_is_gone(report: Report, site: Site) -> None:
    one = page(site, "404.html")
    assert not one.all("script")
    assert not one.all("link", rel="stylesheet")
    assert one.all("style")[0].text == site["assets/style.css"].decode().rstrip("\n")
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
    assert page(made, "404.html").all("style")[0].text == "body { color: teal }"


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


def test_pages_and_assets_stay_small(site: Site) -> None:
    first = sum(len(site[path]) for path in ("index.html", "assets/style.css", "assets/report.js", "assets/icon.svg"))
    assert first < 100_000
    assert sum(len(data) for path, data in site.items() if path != "assets/plotly.min.js") < 1_500_000
