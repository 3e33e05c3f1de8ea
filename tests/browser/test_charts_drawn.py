"""Charts in a real Chromium: points lead where their rows lead, legends hide and show, nothing is cut or dark on paper."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from chart_dress import SCRIPT
from chart_factory import LINK, hostile_charts
from playwright.sync_api import Browser, Locator, Page

from reportgen.render.charts import figure
from reportgen.render.pack import packed
from reportgen.render.plotlyjs import plotly_js

from .conftest import KINDS, Reader

pytestmark = pytest.mark.browser

Readers = Callable[..., Reader]

WIDE = {"width": 1440, "height": 900}
CHARTED = [
    "index.html",
    "agents.html",
    "recommendations.html",
    "pipelines/doc-pipeline.html",
    "agents/agent-writer.html",
]


def middle(mark: Locator) -> tuple[float, float]:
    box = mark.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def chart_of(page: Page, name: str) -> Locator:
    return page.locator(f"#chart-{name}")


def test_a_click_on_an_outlier_opens_its_recommendation_and_so_does_its_row(
    sites: dict[str, Path], reader: Readers
) -> None:
    one = reader(viewport=WIDE)
    one.open(sites["sample"] / "pipelines/doc-pipeline.html")
    page = one.see("#chart-runs_over_time")
    chart = chart_of(page, "runs_over_time")
    links = chart.locator("a[data-to]")
    assert links.count() == 3
    goals = [link.get_attribute("href") for link in links.all()]
    diamonds = chart.locator(".scatterlayer .trace").last.locator(".point")
    assert diamonds.count() == 3
    # The cursor says so before.
    page.mouse.move(*middle(diamonds.nth(1)))
    one.until("document.querySelector('#chart-runs_over_time .plot').classList.contains('leads')")
    page.mouse.click(*middle(diamonds.nth(1)))
    page.wait_for_url("**/recommendations/*.html")
    assert goals[1] is not None
    assert page.url.endswith(goals[1].removeprefix(".."))
    assert one.said == []


def test_an_agent_among_the_bubbles_leads_to_its_page(sites: dict[str, Path], reader: Readers) -> None:
    one = reader(viewport=WIDE)
    one.open(sites["sample"] / "agents.html")
    page = one.see("#chart-agents_cost_score")
    chart = chart_of(page, "agents_cost_score")
    # Five have a cost and a score; the sixth has no score, and stands in the table only.
    assert chart.locator(".scatterlayer .point").count() == 5
    assert "1 row is in the table only, for want of a value." in (chart.text_content() or "")
    page.mouse.click(*middle(chart.locator(".scatterlayer .trace").last.locator(".point")))
    page.wait_for_url("**/agents/agent-writer.html")


def test_a_legend_hides_and_shows_by_keyboard(sites: dict[str, Path], reader: Readers) -> None:
    one = reader(viewport=WIDE)
    one.open(sites["sample"] / "agents/agent-writer.html")
    page = one.see("#chart-agent_scores")
    chart = chart_of(page, "agent_scores")
    drawn = chart.locator(".scatterlayer .trace")
    assert drawn.count() == 2
    button = chart.get_by_role("button", name="mean of 10")
    assert button.get_attribute("aria-pressed") == "true"
    button.press("Enter")
    assert button.get_attribute("aria-pressed") == "false"
    one.until("document.querySelectorAll('#chart-agent_scores .scatterlayer .trace').length === 1")
    button.press("Enter")
    one.until("document.querySelectorAll('#chart-agent_scores .scatterlayer .trace').length === 2")
    # The threshold is in the legend, too, and can't be switched off.
    assert chart.locator(".key li", has_text="flag below 60: 60").locator("button").count() == 0


#: Texts of a plot that reach out of its box, by more than a pixel of rounding.
CUT = """[...document.querySelectorAll('.plot')].flatMap((plot) => {
    const box = plot.getBoundingClientRect();
    return [...plot.querySelectorAll('svg text')].filter((text) => text.textContent.trim()).filter((text) => {
        const { left, right, top, bottom } = text.getBoundingClientRect();
        return left < box.left - 1 || right > box.right + 1 || top < box.top - 1 || bottom > box.bottom + 1;
    }).map((text) => text.textContent);
})"""
#: Legends that something of the plot lies over, or that are wider than their chart.
OVER = """[...document.querySelectorAll('.key')].filter((key) => {
    const plot = key.parentElement.querySelector('.plot').getBoundingClientRect();
    const box = key.getBoundingClientRect();
    return box.bottom > plot.top + 1 || key.scrollWidth > key.clientWidth + 1;
}).length"""


#: What Plotly's own check says of what the script made.
FAULTS = """[...document.querySelectorAll('.plot')].flatMap((box) => (Plotly.validate(box.data, box.layout) || [])
    .filter((one) => !['unused', 'dynamic'].includes(one.code)).map((one) => one.msg))"""
#: Drawn again, as wide as its box is now.
FITS = """[...document.querySelectorAll('.plot')].every((box) =>
    Math.abs(box.querySelector('.main-svg').clientWidth - box.clientWidth) <= 1)"""
VISITED = {"sample": [*CHARTED, KINDS[2]], "hostile": [*CHARTED, KINDS[2], "healing.html", "budget.html"]}
Seen = dict[tuple[str, str], dict[str, object]]


@pytest.fixture(scope="module")
def seen(sites: dict[str, Path], browser: Browser) -> Seen:
    """Visit each page once, on a phone that is turned and becomes a desk, and keep what there is to see of its charts."""
    found: Seen = {}
    for which, paths in VISITED.items():
        one = Reader(browser, viewport={"width": 320, "height": 800}, color_scheme="dark")
        for path in paths:
            one.said.clear()
            one.asked.clear()
            one.page.set_viewport_size({"width": 320, "height": 800})
            one.open(sites[which] / path)
            page = one.see_all()
            at: dict[str, object] = {"cut at 320": page.evaluate(CUT), "over at 320": page.evaluate(OVER)}
            # What is drawn stays drawn in a window that is not as tall, which costs far less to paint.
            page.set_viewport_size({"width": 1440, "height": 800})
            one.until(f"{FITS} && {CUT}.length === 0 && {OVER} === 0")
            at |= {
                "faults": page.evaluate(FAULTS) if page.locator(".plot").count() else [],
                "charts": page.locator(".chart").count(),
                "drawn": page.locator(".plot:has(.main-svg)").count(),
                "failed": page.locator(".chart.failed").count(),
                # Nothing of Plotly's own tools, and no link that a text smuggled into a chart.
                "tools": page.locator(".modebar-btn, .plot a").count(),
                "said": list(one.said),
                "asked": [address for address in one.asked if not address.startswith(sites[which].as_uri())],
            }
            found[which, path] = at
        one.context.close()
    return found


def test_every_chart_is_drawn_and_nothing_is_said_or_asked_for(seen: Seen) -> None:
    for place, at in seen.items():
        assert at["drawn"] == at["charts"], place
        assert (at["failed"], at["tools"], at["said"], at["asked"]) == (0, 0, [], []), place
    assert all(at["charts"] for at in seen.values())


def test_no_label_is_cut_and_no_legend_overlaps(seen: Seen) -> None:
    # At 1440 px the visit waits until it is so.
    assert {place: at for place, at in seen.items() if at["cut at 320"] or at["over at 320"]} == {}


def test_plotly_finds_no_fault_with_what_the_script_made(seen: Seen) -> None:
    assert {place: at["faults"] for place, at in seen.items() if at["faults"]} == {}


def test_on_paper_charts_are_light_and_as_wide_as_the_sheet(sites: dict[str, Path], reader: Readers) -> None:
    one = reader(viewport=WIDE, color_scheme="dark")
    one.open(sites["sample"] / "index.html")
    page = one.see_all()
    tick = "getComputedStyle(document.querySelector('.ytick text')).fill"
    dark = page.evaluate(tick)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    one.until(f"{tick} === 'rgb(36, 41, 47)'")
    one.until("Math.max(...[...document.querySelectorAll('.main-svg')].map((svg) => svg.clientWidth)) <= 660")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    one.until(f"{tick} === '{dark}'")
    one.until("Math.max(...[...document.querySelectorAll('.main-svg')].map((svg) => svg.clientWidth)) > 660")
    assert one.said == []


def test_each_chart_tells_its_gist_to_who_does_not_see_it(plain_sites: dict[str, Path], reader: Readers) -> None:
    page = reader(viewport=WIDE).open(plain_sites["sample"] / "agents.html")
    told = page.locator(".plot").get_attribute("aria-label")
    assert told == (
        "Bubbles: Mean score (0 to 100) against Cost (USD), as large as Runs, "
        "6 points. Highest 91, agent-publisher; lowest 54.3, agent-writer; 1 unknown. 1 marked: Flagged. "
        "A line at 60: low score below."
    )


def test_hostile_names_show_as_they_are(reader: Readers, tmp_path: Path) -> None:
    charts = "".join(
        '<figure class="chart"><div class="plot" data-height="400"></div><script type="application/json">'
        + json.dumps(packed(figure(chart))).replace("<", "\\u003c")
        + "</script><details></details></figure>"
        for chart in hostile_charts()
    )
    (tmp_path / "plotly.min.js").write_bytes(plotly_js())
    (tmp_path / "charts.js").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "page.html").write_text(
        f"""<!doctype html><html data-theme="dark"><meta charset="utf-8"><body>{charts}
        <script src="charts.js" defer></script><script src="plotly.min.js" defer></script>""",
        encoding="utf-8",
    )
    one = reader(viewport={"width": 900, "height": 6000})
    page = one.open(tmp_path / "page.html")
    one.until("[...document.querySelectorAll('.plot')].every((box) => box.querySelector('.xtick text'))")
    page.evaluate(
        "[...document.querySelectorAll('.plot')]"
        ".forEach((box) => Plotly.Fx.hover(box, [{curveNumber: 0, pointNumber: 0}]))"
    )
    one.until("document.querySelectorAll('.hovertext').length > 3")
    shown = page.evaluate("[...document.querySelectorAll('svg text, .key bdi')].map((node) => node.textContent)")
    assert page.evaluate("document.querySelectorAll('a').length") == 0
    # Ticks are cut to 28 characters; hovers and legends are whole.
    assert '<a href="javascript:alert(1…' in shown
    assert LINK in shown
    for name in ("<b>bold</b>", "a &lt;b&gt; c", "$x^2$", "%{y} %{customdata[0]}", "a<br>b", "<U+202E>evil 2"):
        assert name in shown
    ticks = page.evaluate("[...document.querySelectorAll('.xtick text')].map((n) => getComputedStyle(n).fill)")
    assert set(ticks) == {"rgb(230, 234, 239)"}
    assert one.said == []
