"""Charts: figures that Plotly accepts, exact hovers, hostile names shown as they are."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from chart_factory import LINK, agents, bars, hostile_charts, make, runs, samples, scores

from reportgen.errors import ReportgenError
from reportgen.render.charts import CONFIG, chart_csv, figure
from reportgen.render.look import THEMES
from reportgen.render.plotlyjs import plotly_js

# ── Plotly ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_plotly_accepts_every_figure_and_it_is_plain_json() -> None:
    import plotly.graph_objects as go

    for chart in [*samples(), *hostile_charts()]:
        made = figure(chart)
        go.Figure(made)
        assert json.loads(json.dumps(made, allow_nan=False)) == made


def test_the_same_rows_give_the_same_bytes_and_no_plotly_is_imported() -> None:
    script = (
        "import sys, json; sys.path.insert(0, sys.argv[1])\n"
        "import chart_factory\nfrom reportgen.render.charts import figure\n"
        "made = [figure(chart) for chart in chart_factory.samples()]\n"
        "assert 'plotly' not in sys.modules and 'jinja2' not in sys.modules\n"
        "print(json.dumps(made))"
    )
    here = str(Path(__file__).parent)
    outs = {
        subprocess.run(
            [sys.executable, "-c", script, here], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert outs == {(json.dumps([figure(chart) for chart in samples()]) + "\n").encode()}


def test_the_script_is_the_installed_one() -> None:
    script = plotly_js()
    assert script.startswith(b"/**\n* plotly.js v")
    assert len(script) > 1_000_000


def test_a_column_that_is_not_there_is_named_with_those_that_are() -> None:
    chart = make("points", [("a", "A", None), ("b", "B", None)], [], label="name")
    with pytest.raises(ReportgenError, match=r"sql/charts/chart.sql: the chart has no column 'name'. .*a, b"):
        figure(chart)


# ── kinds ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_bars_stack_one_exact_sum_for_each_day_and_series() -> None:
    made = figure(
        bars(
            [
                ["2026-11-02", "0.1", "docs"],
                ["2026-11-01", "5", "docs"],
                ["2026-11-02", "0.2", "docs"],
                ["2026-11-02", None, "release"],
                ["2026-11-01", "1", "release"],
            ]
        )
    )
    docs, release = made["data"]
    assert (docs["name"], docs["x"], docs["y"]) == ("docs", ["2026-11-01", "2026-11-02"], [5, 0.3])
    assert [words for _, words in docs["customdata"]] == ["&#36;5.00", "&#36;0.30"]
    # Unknown is a gap, never a zero.
    assert (release["x"], release["y"]) == (["2026-11-01"], [1])
    assert made["layout"]["barmode"] == "relative"
    assert made["layout"]["yaxis"]["title"]["text"] == "Cost (USD)"
    assert made["layout"]["xaxis"]["title"]["text"] == "Day (UTC)"


def test_of_more_than_twelve_series_the_largest_eleven_stay_and_the_others_add_up() -> None:
    made = figure(bars([["2026-11-01", str(number), f"p{number:02d}"] for number in range(1, 16)]))
    assert [trace["name"] for trace in made["data"]] == [*[f"p{number:02d}" for number in range(15, 4, -1)], "4 others"]
    assert made["data"][-1]["y"] == [1 + 2 + 3 + 4]
    twelve = figure(bars([["2026-11-01", "1", f"p{number:02d}"] for number in range(12)]))
    assert [trace["name"] for trace in twelve["data"]] == [f"p{number:02d}" for number in range(12)]
    # Every two of the twelve differ in colour or in hatch.
    signs = {(trace["marker"]["color"], "pattern" in trace["marker"]) for trace in twelve["data"]}
    assert len(signs) == 12


def test_other_lines_are_drawn_and_never_added_up() -> None:
    made = figure(
        scores(
            [[day, str(90 - number), f"p{number:02d}"] for number in range(13) for day in ("2026-11-01", "2026-11-08")]
        )
    )
    others = made["data"][-1]
    assert others["name"] == "2 others"
    assert others["y"] == [79, 79, None, 78, 78]
    assert [row and row[0] for row in others["customdata"]] == ["p11", "p11", None, "p12", "p12"]


def test_lines_go_forward_in_time_and_break_where_a_value_is_unknown() -> None:
    made = figure(scores([["2026-11-08", None, "a"], ["2026-11-15", "3", "a"], ["2026-11-01", "1", "a"]]))
    assert made["data"][0]["x"] == ["2026-11-01", "2026-11-08", "2026-11-15"]
    assert made["data"][0]["y"] == [1, None, 3]


def test_rows_stand_in_order_with_the_first_on_top_and_the_marked_one_accented() -> None:
    made = figure(
        agents([[30, "writer", True], [12, "reviewer", False], [3, "tester", False]], line_at="22.5", line_label="from")
    )
    others, marked = made["data"]
    assert (others["x"], others["y"], marked["x"], marked["y"]) == ([12, 3], [1, 2], [30], [0])
    assert made["layout"]["yaxis"]["ticktext"] == ["◆ writer", "reviewer", "tester"]
    top, bottom = made["layout"]["yaxis"]["range"][::-1]
    assert top < 0 < 2 < bottom
    assert marked["marker"]["color"] == THEMES["light"]["accent"] != others["marker"]["color"]
    line = made["layout"]["shapes"][0]
    assert (line["x0"], line["x1"], line["xref"], line["yref"]) == (22.5, 22.5, "x", "paper")
    assert made["layout"]["annotations"][0]["text"] == "from: 22.5 events"
    assert made["layout"]["xaxis"]["autorangeoptions"] == {"include": 22.5}


def test_rows_of_one_name_or_alike_when_shortened_stay_apart() -> None:
    long = "agent-with-a-very-long-name-indeed-"
    made = figure(agents([[3, f"{long}1", False], [2, f"{long}2", False], [1, f"{long}1", False]]))
    assert made["data"][0]["y"] == [0, 1, 2]
    assert len(set(made["layout"]["yaxis"]["ticktext"])) == 1
    assert [name for name, _ in made["data"][0]["customdata"]] == [f"{long}1", f"{long}2", f"{long}1"]


def test_of_many_rows_the_first_and_the_marked_are_drawn_and_the_rest_counted() -> None:
    made = figure(agents([[300 - number, f"a{number:03d}", number == 250] for number in range(300)]))
    assert len(made["layout"]["yaxis"]["ticktext"]) == 25
    assert made["layout"]["yaxis"]["ticktext"][-1] == "◆ a250"
    assert made["layout"]["meta"]["left_out"] == 275


def test_points_put_the_marked_on_top_and_hover_with_every_digit() -> None:
    made = figure(
        runs(
            [
                ["2026-11-03T09:14:07Z", "9.123456789012", "run-2", True],
                ["2026-11-03T08:00:00Z", "0.1", "run-1", False],
                ["2026-11-03T07:00:00Z", None, "run-0", False],
            ],
            line_at="3.06",
            line_label="outlier from here",
        )
    )
    ordinary, marked = made["data"]
    assert (ordinary["x"], ordinary["y"], ordinary["text"]) == (["2026-11-03 08:00:00"], [0.1], ["run-1"])
    assert (marked["x"], marked["text"], marked["customdata"]) == (
        ["2026-11-03 09:14:07"],
        ["run-2"],
        ["&#36;9.123456789012"],
    )
    assert (marked["name"], marked["marker"]["symbol"]) == ("Outlier", "diamond")
    assert ordinary["marker"]["symbol"] != "diamond"
    assert made["layout"]["annotations"][0]["text"] == "outlier from here: &#36;3.06"


def test_twenty_thousand_points_stay_compact() -> None:
    made = figure(
        runs(
            [
                [f"2026-11-{1 + n % 28:02d}T{n % 24:02d}:14:07Z", f"0.{n:06d}", f"run-{n:06d}", False]
                for n in range(20_000)
            ]
        )
    )
    text = json.dumps(made, separators=(",", ":"))
    assert len(made["data"][0]["x"]) == 20_000
    # A time, a number, its exact text and a name: 70 bytes a point.
    assert len(text) < 20_000 * 70


def test_names_that_are_numbers_stay_names_under_bars() -> None:
    made = figure(samples()[3])
    assert made["layout"]["xaxis"]["ticktext"] == ["404", "timeout"]


def test_csv_keeps_every_digit_and_names_the_measure() -> None:
    chart = bars([["2026-11-01", "1.250000000001", "=docs"], ["2026-11-02", None, "a,b"]])
    assert chart_csv(chart) == 'day,cost_usd,pipeline\n2026-11-01,1.250000000001,\'=docs\n2026-11-02,,"a,b"\n'


# ── hostile names ────────────────────────────────────────────────────────────────────────────────────────────────


def texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for part in value.values() for text in texts(part)]
    if isinstance(value, list):
        return [text for part in value for text in texts(part)]
    return [value] if isinstance(value, str) else []


def test_no_text_of_an_input_has_a_tag_or_a_bare_entity_left() -> None:
    for chart in hostile_charts():
        for text in texts(figure(chart)):
            bare = text.replace("<br>", "").replace("<extra></extra>", "")
            assert "<" not in bare
            assert "bold</b>" not in text
            assert "a<br>b" not in text
            assert "\u202e" not in text
            assert "\x00" not in text


@pytest.mark.browser
def test_hostile_names_show_as_they_are_in_a_browser(tmp_path: Path) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    playwright = pytest.importorskip("playwright.sync_api")
    (tmp_path / "plotly.min.js").write_bytes(plotly_js())
    figures = [figure(chart) for chart in hostile_charts()]
    data = json.dumps([figures, CONFIG]).replace("<", "\\u003c")
    (tmp_path / "page.html").write_text(
        f"""<!doctype html><meta charset="utf-8"><body><script src="plotly.min.js"></script><script>
        const [figures, config] = {data};
        window.drawn = Promise.all(figures.map(async (figure) => {{
          const div = document.body.appendChild(document.createElement("div"));
          div.style.height = figure.layout.height + "px";
          await Plotly.newPlot(div, figure.data, figure.layout, config);
          const theme = figure.layout.meta.themes.dark;
          await Plotly.update(div, theme.restyle, theme.relayout);
          Plotly.Fx.hover(div, [{{curveNumber: 0, pointNumber: 0}}]);
        }}));
        </script>""",
        encoding="utf-8",
    )
    said: list[str] = []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 900, "height": 900})
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto((tmp_path / "page.html").as_uri())
        page.evaluate("window.drawn")
        shown = page.evaluate("[...document.querySelectorAll('svg text')].map((node) => node.textContent)")
        links = page.evaluate("document.querySelectorAll('svg a').length")
        colours = page.evaluate("[...document.querySelectorAll('.xtick text')].map((n) => getComputedStyle(n).fill)")
        browser.close()
    assert said == []
    assert links == 0
    # Ticks and legends are cut to 28 characters; hovers and titles are whole.
    assert '<a href="javascript:alert(1…' in shown
    assert LINK in shown
    for name in ("<b>bold</b>", "a &lt;b&gt; c", "$x^2$", "%{y} %{customdata[0]}", "a<br>b", "<U+202E>evil 2"):
        assert name in shown
    assert set(colours) == {"rgb(230, 234, 239)"}
