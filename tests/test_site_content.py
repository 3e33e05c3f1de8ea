"""What the pages say: the answer first, each number with its digits, unknown as unknown, every line accounted for."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import pytest
from page_reader import Page, goal_of, read_page
from report_factory import empty_report, sample_report

from reportgen.model import Report
from reportgen.render.chartview import CHART_ROWS
from reportgen.render.site import render_site

Site = dict[str, bytes]


@pytest.fixture(scope="module")
def report() -> Report:
    return sample_report()


@pytest.fixture(scope="module")
def site(report: Report) -> Site:
    return render_site(report)


def page(site: Site, path: str) -> Page:
    return read_page(site[path])


def test_the_overview_answers_first(report: Report, site: Site) -> None:
    one = page(site, "index.html")
    assert one.all("h1")[0].text == "Two things are worth doing now"
    text = re.sub(r"\s+", " ", one.all("main")[0].text)
    # Totals by measure with the change of the whole cost ((219.939408 - 192.63431) / 192.63431 is 14.2%), that of a
    # pipeline's run ((2.114802 - 1.751221) / 1.751221 is 20.8%), data quality in one line.
    for words in (
        "$412.87",
        "▲\xa014% up in the later half",
        "48.2 M tokens",
        "▼\xa018%",
        "2,210 events trend unknown",
        "▲\xa021%",
        "Data quality 51,811 lines: 51,755 used, 7 rejected, 49 set aside",
    ):
        assert words.replace("\xa0", " ") in text.replace("\xa0", " ")
    assert "1 detector failed" in text
    assert [link.text for link in one.all("a", "badge")][:4] == ["4 found", "1 clear", "1 skipped", "1 error"]
    first = [e.text for e in one.all("h4") if e.inside[-1].has_class("what")]
    assert first == [group.title for group in report.groups[:3]]
    # Nothing stands under a heading that it does not fit: two things to do now, and one for later.
    parts = {e.text: n for n, e in enumerate(one.elements) if e.tag == "h3" and e.has_class("hint-part")}
    assert list(parts) == ["Worth doing now", "Worth doing later"]
    assert [e.text for e in one.elements[parts["Worth doing later"] :] if e.tag == "h4"] == first[2:]
    scores = [e.text for e in one.all("span", "score")]
    assert scores == ["64/100", "58/100", "50/100"]
    savings = [re.sub(r"\s+", " ", e.text).strip() for e in one.all("span", "saving")]
    assert savings == ["Saving $153.64 (37%)", "Saving $81.99 (20%)", "Saving ≈ 18.7 M tokens (39%)"]
    titles = {chart.title for chart in report.charts if chart.page == "overview"}
    assert titles <= {e.text for e in one.all("h3")}
    for old in report.retired:
        assert old.id in one.ids
        assert old.title in text


def test_recommendations_are_ranked_in_groups_with_their_members(report: Report, site: Site) -> None:
    one = page(site, "recommendations.html")
    assert [e.text for e in one.all("h2") if e.inside[-1].has_class("what")] == [g.title for g in report.groups]
    assert {g.group for g in report.groups} <= set(one.ids)
    outliers = next(g for g in report.groups if g.detector == "cost_outlier")
    # The full table counts as the list does: three findings of the fourth recommendation.
    rows = [e for e in one.all("tr") if e.attributes.get("id") in outliers.ids]
    numbers = [next(e for e in one.all("a") if row in e.inside) for row in rows]
    assert [(e.text, e.attributes["href"]) for e in numbers] == [("4", f"#{outliers.group}")] * 3
    inside = [e.attributes["href"] for e in one.all("a") if any(p.has_class("members") for p in e.inside)]
    inside = [href for href in inside if href.startswith("recommendations/")]
    assert inside == [f"recommendations/{name}.html" for name in outliers.ids]
    # Every finding has a stable anchor in the full table.
    assert {found.id for found in report.recommendations} <= set(one.ids)


def test_long_lists_put_what_follows_the_first_twenty_into_a_table_of_a_row_each(report: Report) -> None:
    groups = [
        replace(report.groups[0], group=f"g{n}", rank=n + 1, ids=[report.recommendations[n % 10].id]) for n in range(33)
    ]
    one = page(render_site(replace(report, groups=groups)), "recommendations.html")
    assert [e.attributes["id"] for e in one.all("div", "thing")] == [f"g{n}" for n in range(20)]
    rows = [e for e in one.all("tr") if e.attributes.get("id", "").startswith("g")]
    # Nothing is lost: each has its number, its anchor, a link to its page, and the score.
    assert [e.attributes["id"] for e in rows] == [f"g{n}" for n in range(20, 33)]
    for n, row in enumerate(rows, 20):
        cells = [e for e in one.elements if e.tag == "td" and e.inside[-1] is row]
        assert (cells[0].text, cells[3].text) == (str(n + 1), str(report.groups[0].total))
        (link,) = [e for e in one.all("a") if row in e.inside]
        assert link.attributes["href"] == f"recommendations/{groups[n].ids[0]}.html"
    table = next(e for e in rows[0].inside if e.tag == "table")
    assert {"data-sort", "data-fold"} <= set(table.attributes)


def test_a_large_group_names_ten_findings_and_leads_to_all(report: Report) -> None:
    ids = [found.id for found in report.recommendations if found.pipeline == report.groups[0].pipeline] * 4
    group = replace(report.groups[0], ids=ids[:13])
    one = page(render_site(replace(report, groups=[group, *report.groups[1:]])), "recommendations.html")
    (table,) = [
        e for e in one.all("table") if any(p.tag == "details" for p in e.inside) and not e.inside[-1].has_class("data")
    ][:1]
    assert len([e for e in one.all("tr") if table in e.inside]) == 1 + 10
    (link,) = [e for e in one.all("a") if "every-finding.filter=" in e.attributes["href"]]
    assert link.attributes["href"] == "recommendations.html?every-finding.filter=Bottleneck%20agent%20doc-pipeline#all"


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
        # The query stands on one page, that of its detector.
        assert f"../detectors/{found.detector}.html#sql" in links


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


def test_rounded_numbers_keep_every_digit_in_their_title(site: Site) -> None:
    one = page(site, "agents.html")
    writer = next(e for e in one.all("tr") if e.text.startswith("agent-writer"))
    cells = {e.text: e.attributes.get("title") for e in one.all("td") if writer in e.inside}
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
    for words in ("54.3", "-8.4", "22 of 40 scores below 60", "loop-excess", "recurring", "WebSearch"):
        assert words in writer
    assert "counts for" not in writer
    assert "no detector about agents flags them" in page(site, "agents/unattributed.html").text()


def test_the_score_that_flags_is_the_one_in_force(report: Report) -> None:
    build = replace(report.build, settings=[("score_flag", "75", "points")])
    # What a chart or a score says of it came with its rows.
    made = render_site(replace(report, build=build, charts=[], groups=[]))
    for path in ("agents.html", "agents/agent-writer.html", "how-to-read.html"):
        assert "below 75" in page(made, path).text()
        assert "below 60" not in page(made, path).text()


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
        "+ not about cost",
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
    assert "Not enough data: 7 scores, 20 needed." in changed
    assert "not_enough_data" not in changed + page(site, "detectors.html").text()
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
    tops = ("recommendations", "agents", "healing", "budget")
    where = {"overview": "index.html", **{name: f"{name}.html" for name in tops}}
    names = {"pipeline": "pipelines", "agent": "agents", "recommendation": "recommendations"}
    for chart in report.charts:
        path = where.get(chart.page) or f"{names[chart.page]}/{chart.key}.html"
        one = page(site, path)
        (figure,) = one.all("figure", id=f"chart-{chart.id}")
        rows = [e for e in one.all("tr") if figure in e.inside]
        assert len(rows) == 1 + min(len(chart.rows), CHART_ROWS)
        # Without a script the table stands open.
        (details,) = [e for e in one.all("details") if figure in e.inside]
        assert "open" in details.attributes
        (link,) = [e for e in one.all("a") if figure in e.inside and e.text == "CSV"]
        data = site[goal_of(path, link.attributes["href"])]
        assert len(list(csv.reader(io.StringIO(data.decode())))) == 1 + len(chart.rows)
        (drawn,) = [json.loads(e.text) for e in one.all("script") if figure in e.inside]
        assert set(drawn) == {"data", "layout"}
        assert len([e for e in one.all("div", "plot") if figure in e.inside]) == 1
        assert chart.title in figure.text
    csvs = [path for path in site if path.startswith("data/")]
    assert len(csvs) == len(report.charts)


def test_a_chart_of_many_rows_keeps_its_page_small_and_its_csv_whole(report: Report) -> None:
    days = [f"2026-{month:02d}-{day:02d}" for month in range(1, 11) for day in range(1, 29)]
    long = replace(report.charts[0], rows=[[day, "1.5", "doc-pipeline"] for day in days])
    made = render_site(replace(report, charts=[long]))
    one = page(made, "index.html")
    (figure,) = one.all("figure", "chart")
    rows = [e.text.strip() for e in one.all("tr") if figure in e.inside]
    assert len(rows) == 1 + CHART_ROWS
    # What goes on in time shows its latest rows.
    assert rows[-1].startswith("2026-10-28")
    assert "The latest 6 rows; the CSV has 274 more." in figure.text
    assert made[f"data/{long.csv}"].count(b"\n") == 1 + 280


def test_an_empty_project_is_told_what_to_do() -> None:
    made = render_site(empty_report())
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
    runs = [replace(run, recommendations=[]) for run in report.runs]
    clear = replace(
        report, recommendations=[], groups=[], detectors=detectors, pipelines=lines, agents=agents, charts=[], runs=runs
    )
    made = render_site(clear)
    for path in ("index.html", "recommendations.html"):
        text = page(made, path).text()
        for detector in detectors:
            assert detector.title in text
            assert detector.checked in text
        assert "What you can do now" in text
    assert page(made, "index.html").all("h1")[0].text == "Nothing stands out"


def test_a_page_of_one_pipeline_says_so(report: Report) -> None:
    build = replace(report.build, pipeline_filter="doc-pipeline")
    made = render_site(replace(report, build=build))
    for path in ("index.html", "agents/agent-writer.html"):
        assert "Only the pipeline doc-pipeline is shown" in page(made, path).text()


def test_the_findings_of_no_single_pipeline_stand_under_the_table_of_pipelines(report: Report) -> None:
    of_all = replace(report.recommendations[0], pipeline="(all pipelines)")
    changed = replace(report, recommendations=[of_all, *report.recommendations[1:]])
    said = re.sub(r"\s+", " ", page(render_site(changed), "pipelines.html").all("main")[0].text)
    assert f"(all pipelines): 1 finding of no single pipeline: {of_all.title}" in said


def test_the_counts_beside_the_pages_leave_out_what_has_no_name(report: Report) -> None:
    nobody = replace(report.agents[0], agent="(unattributed)", attributed=False, slug="unattributed", flagged=False)
    nowhere = replace(report.pipelines[0], pipeline="(unassigned)", slug="unassigned")
    agents = [one for one in report.agents if one.attributed]
    named = len({one.slug for one in agents})
    # Of one measure only, so that the tile of the agents has room.
    pipelines = [replace(one, cost_measure="usd") for one in (*report.pipelines, nowhere)]
    more = replace(report, agents=[*agents, nobody], pipelines=pipelines)
    site = render_site(more)
    beside = {link.text: link for link in page(site, "index.html").all("a") if link.inside[-1].tag == "li"}
    assert f"Agents{named}" in beside
    assert f"Pipelines{len(report.pipelines)}" in beside
    main = page(site, "index.html").all("main")[0].text
    assert "and events of no agent" in main
    assert "Cost in all" in main
    assert f"{named} agents, and events of no agent" in page(site, "agents.html").all("main")[0].text
    lead = f"{len(report.pipelines)} pipelines, and events of no pipeline"
    assert lead in page(site, "pipelines.html").all("main")[0].text


def test_the_number_in_the_list_of_findings_says_what_it_numbers(site: Site) -> None:
    (head,) = [one for one in page(site, "recommendations.html").all("th") if one.text == "No."]
    assert "the CSV calls it place" in head.attributes["title"]
    assert "finding rank" in head.attributes["title"]


def test_a_word_of_its_own_is_explained_and_part_of_a_cost_is_told_from_all_of_it(site: Site) -> None:
    assert "VFM, for Value-First Modification" in page(site, "how-to-read.html").all("main")[0].text
    heads = [one.text for one in page(site, "data-quality.html").all("th")]
    assert "Runs with some unknown cost" in heads
    assert "under 1% either way is steady" in page(site, "how-to-read.html").all("main")[0].text
