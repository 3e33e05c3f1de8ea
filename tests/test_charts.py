"""Charts: figures that Plotly accepts, exact hovers, links, hostile names shown as they are."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from chart_dress import LOOK, THEMES, dressed
from chart_factory import (
    agents,
    bars,
    bubbles,
    hostile_charts,
    make,
    reviews,
    runs,
    samples,
    scores,
    spans,
)

from reportgen.errors import ReportgenError
from reportgen.model import Cell
from reportgen.render.charts import chart_csv, figure
from reportgen.render.hover import number_format
from reportgen.render.look import Known
from reportgen.render.pack import packed, unpacked
from reportgen.render.plotlyjs import plotly_js

KNOWN = Known(
    pipelines=["docs", "release"],
    pages={"agents": {"writer": "writer", "reviewer": "reviewer-1a2b3c4d"}, "recommendations": {"a": "a"}},
)

# ── Plotly ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_plotly_accepts_every_figure_and_it_is_plain_json() -> None:
    import plotly.graph_objects as go

    for chart in [*samples(), *hostile_charts()]:
        made = figure(chart)
        for theme in THEMES:
            go.Figure(dressed(made, theme))
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
    assert made["layout"]["meta"]["names"] == ["docs", "release"]
    assert (docs["x"], docs["y"]) == (["2026-11-01", "2026-11-02"], [5, 0.3])
    assert docs["hovertemplate"] == "docs<br>%{x|%Y-%m-%d}<br>Cost: %{y:$,.2f}<extra></extra>"
    # Unknown is a gap, never a zero.
    assert (release["x"], release["y"]) == (["2026-11-01"], [1])
    assert made["layout"]["barmode"] == "relative"
    assert made["layout"]["yaxis"]["title"]["text"] == "Cost (USD)"
    assert made["layout"]["xaxis"]["title"]["text"] == "Day (UTC)"


def test_of_more_than_twelve_series_the_largest_eleven_stay_and_the_others_add_up() -> None:
    made = figure(bars([["2026-11-01", str(number), f"p{number:02d}"] for number in range(1, 16)]))
    meta = made["layout"]["meta"]
    assert meta["names"] == [*[f"p{number:02d}" for number in range(15, 4, -1)], "4 others"]
    assert (made["data"][-1]["y"], meta["colours"][-1]) == ([1 + 2 + 3 + 4], "others")
    twelve = figure(bars([["2026-11-01", "1", f"p{number:02d}"] for number in range(12)]))
    assert twelve["layout"]["meta"]["names"] == [f"p{number:02d}" for number in range(12)]
    # Every two of the twelve differ in colour or in hatch.
    hatched = ["pattern" in trace.get("marker", {}) for trace in twelve["data"]]
    assert len(set(zip(twelve["layout"]["meta"]["colours"], hatched, strict=True))) == 12


def test_days_in_a_row_are_told_by_the_first_and_unknown_is_a_gap() -> None:
    days: list[list[Cell]] = [[f"2026-11-{day:02d}", "1.5", "docs"] for day in (1, 2, 3, 5, 6)]
    (trace,) = figure(bars(days))["data"]
    assert (trace["x0"], trace["dx"], trace["y"]) == ("2026-11-01", 86_400_000, [1.5, 1.5, 1.5, None, 1.5, 1.5])
    # Weeks step by seven days; where most days would be gaps, each is told.
    weeks: list[list[Cell]] = [[f"2026-11-{day:02d}", "1", "docs"] for day in (2, 9, 16)]
    assert figure(bars(weeks))["data"][0]["dx"] == 7 * 86_400_000
    rare: list[list[Cell]] = [["2026-01-01", "1", "a"], ["2026-01-02", "1", "a"], ["2026-12-31", "1", "a"]]
    assert figure(bars(rare))["data"][0]["x"] == ["2026-01-01", "2026-01-02", "2026-12-31"]


def test_a_pipeline_has_one_colour_in_all_charts() -> None:
    heavy = figure(bars([["2026-11-01", "1", "docs"], ["2026-11-01", "9", "release"]]), KNOWN)
    assert (heavy["layout"]["meta"]["names"], heavy["layout"]["meta"]["colours"]) == (
        ["docs", "release"],
        ["series0", "series1"],
    )
    alone = figure(
        bars([["2026-11-01", "9", "release"], ["2026-11-01", "1", "new"], ["2026-11-01", "2", "(others)"]]), KNOWN
    )
    colours = dict(zip(alone["layout"]["meta"]["names"], alone["layout"]["meta"]["colours"], strict=True))
    assert colours == {"release": "series1", "new": "series0", "(others)": "others"}


def test_outcomes_have_the_colours_that_their_file_gives_whatever_the_rows() -> None:
    fixed = {"presumed recovered": "good", "blocked": "warn", "escalated": "bad"}
    columns: list[tuple[str, str, str | None]] = [("type", "Type", None), ("n", "Incidents", None), ("o", "O", None)]
    for rows in (
        [["timeout", 1, "escalated"], ["timeout", 9, "presumed recovered"]],
        [["timeout", 9, "escalated"], ["timeout", 1, "presumed recovered"], ["timeout", 5, "unheard of"]],
    ):
        meta = figure(make("bars", columns, rows, series="o", colours=fixed))["layout"]["meta"]  # type: ignore[arg-type]
        colours = dict(zip(meta["names"], meta["colours"], strict=True))
        assert (colours["presumed recovered"], colours["escalated"]) == ("series2", "series1")
        assert colours.get("unheard of", "series0") not in ("series1", "series2", "series4")


def test_counts_have_no_ticks_between_whole_numbers() -> None:
    columns: list[tuple[str, str, str | None]] = [("type", "Type", None), ("n", "Incidents", None)]
    steps = {}
    for most in (1, 3, 8, 16, 40, 41):
        y_axis = figure(make("bars", columns, [["a", most]], measure=None))["layout"]["yaxis"]
        steps[most] = y_axis.get("dtick")
    assert steps == {1: 1, 3: 1, 8: 1, 16: 2, 40: 5, 41: None}
    # Stacks count as high as they stand.
    stacked = make("bars", [*columns, ("s", "S", None)], [["a", 5, "x"], ["a", 5, "y"]], series="s", measure=None)
    assert figure(stacked)["layout"]["yaxis"]["dtick"] == 2
    assert "dtick" not in figure(bars([["2026-11-01", "3", "docs"]]))["layout"]["yaxis"]


def test_a_score_stands_on_its_whole_scale() -> None:
    y_axis = figure(scores([["2026-11-01", "44.5", "a"]], line_at="60"))["layout"]["yaxis"]
    assert (y_axis["range"], y_axis["dtick"], y_axis["title"]["text"]) == ([0, 104], 20, "Score (0 to 100)")


def test_other_lines_are_drawn_and_never_added_up() -> None:
    made = figure(
        scores(
            [[day, str(90 - number), f"p{number:02d}"] for number in range(13) for day in ("2026-11-01", "2026-11-08")]
        )
    )
    others = made["data"][-1]
    assert made["layout"]["meta"]["names"][-1] == "2 others"
    assert others["y"] == [79, 79, None, 78, 78]
    assert others["text"] == ["p11", "p11", "", "p12", "p12"]


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
    assert made["layout"]["meta"]["colours"] == ["base", "accent"]
    assert made["layout"]["meta"]["names"] == [None, "Bottleneck"]
    line = made["layout"]["shapes"][0]
    assert (line["x0"], line["x1"], line["y0"], line["y1"], line["yref"]) == (22.5, 22.5, 0, 1, "paper")
    assert made["layout"]["meta"]["line"] == "from: 22.5 events"
    assert made["layout"]["xaxis"]["autorangeoptions"] == {"include": 22.5}


def test_rows_of_one_name_or_alike_when_shortened_stay_apart() -> None:
    long = "agent-with-a-very-long-name-indeed-"
    made = figure(agents([[3, f"{long}1", False], [2, f"{long}2", False], [1, f"{long}1", False]]))
    assert made["data"][0]["y"] == [0, 1, 2]
    assert len(set(made["layout"]["yaxis"]["ticktext"])) == 1
    # The whole name is in the hover; a narrow window gets shorter ones.
    assert made["data"][0]["hovertext"] == [f"{long}1", f"{long}2", f"{long}1"]
    assert {len(name) for name in made["layout"]["meta"]["narrow"]} == {15}


def test_of_many_rows_the_first_and_the_marked_are_drawn_and_the_rest_counted() -> None:
    made = figure(agents([[300 - number, f"a{number:03d}", number == 250] for number in range(300)]))
    assert len(made["layout"]["yaxis"]["ticktext"]) == 25
    assert made["layout"]["yaxis"]["ticktext"][-1] == "◆ a250"
    assert (made["layout"]["meta"]["left_out"], made["layout"]["meta"]["why"]) == (275, "for want of room")
    unknown = figure(agents([[3, "a", False], [None, "b", False]]))
    assert unknown["layout"]["yaxis"]["ticktext"] == ["a"]
    assert (unknown["layout"]["meta"]["left_out"], unknown["layout"]["meta"]["why"]) == (1, "for want of a value")


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
    assert (marked["x"], marked["text"], marked["y"]) == (["2026-11-03 09:14:07"], ["run-2"], [9.123456789012])
    # The place of the point is the number: a format writes every digit of it.
    assert "%{y:$,.12~f}" in marked["hovertemplate"]
    assert "customdata" not in marked
    assert (made["layout"]["meta"]["names"], marked["marker"]["symbol"]) == ([None, "Outlier"], "diamond")
    assert ordinary["marker"]["symbol"] != "diamond"
    meta = made["layout"]["meta"]
    assert meta["line"] == "outlier from here: $3.06"
    assert (meta["left_out"], meta["why"]) == (1, "for want of a value")


def test_a_number_that_no_float_holds_is_told_as_text() -> None:
    exact = "123456789.123456789012"
    made = figure(runs([["2026-11-03T09:14:07Z", exact, "r", False], ["2026-11-04T09:14:07Z", "1", "s", False]]))
    assert made["data"][0]["customdata"] == ["&#36;123,456,789.123456789012", "&#36;1.00"]
    assert "Cost: %{customdata}" in made["data"][0]["hovertemplate"]


@pytest.mark.parametrize(
    ("cells", "unit", "wanted"),
    [
        (["5", "0.3"], "usd", "$,.2f"),
        (["0.774523"], "usd", "$,.6f"),
        (["0.0000000001"], "usd", "$,.10~f"),
        ([1, 2000], "events", ",.0f"),
        (["0.42125"], "share", ",.3~%"),
        (["1"], "share", ",.0~%"),
        (["44.5"], "score", ",.1~f"),
        (["0.0000000000001"], "usd", None),
        (["9999999999999999"], "tokens", None),
        ([None], "usd", "$,.2f"),
    ],
)
def test_a_format_writes_every_digit_or_there_is_none(cells: list[Cell], unit: str, wanted: str | None) -> None:
    assert number_format(cells, unit) == wanted


def test_points_lead_to_the_page_that_their_row_leads_to() -> None:
    made = figure(
        agents([[3, "writer", False], [2, "stranger", False], [1, "reviewer", True]], link="agent", link_to="agents"),
        KNOWN,
    )
    assert made["layout"]["meta"]["links"] == [["agents/writer", None], ["agents/reviewer-1a2b3c4d"]]
    assert "links" not in figure(agents([[3, "writer", False]]), KNOWN)["layout"]["meta"]


def test_levels_go_from_the_first_to_the_last_of_their_points() -> None:
    made = figure(
        reviews(
            [
                ["2026-11-01", "70", None],
                ["2026-11-02", "66", "66.9"],
                ["2026-11-04", "67.8", "66.9"],
                ["2026-11-05", "50", "50.1"],
                ["2026-11-07", "50.2", "50.1"],
            ]
        )
    )
    level = made["data"][-1]
    assert level["x"] == ["2026-11-02", "2026-11-04", None, "2026-11-05", "2026-11-07"]
    assert level["y"] == [66.9, 66.9, None, 50.1, 50.1]
    assert made["layout"]["meta"]["names"][-1] == "Mean of ten: 66.9, 50.1"


def test_bubbles_are_areas_and_an_unknown_score_is_drawn_nowhere() -> None:
    made = figure(
        bubbles([["12.5", "88", "writer", 40, False], ["3", "41.5", "tester", 10, True], ["9", None, "new", 1, False]]),
        KNOWN,
    )
    plain, low = made["data"]
    assert (plain["x"], plain["y"], low["x"], low["y"]) == ([12.5], [88], [3], [41.5])
    assert plain["marker"]["sizemode"] == "area"
    # The scale is one for all, so that areas can be compared.
    assert plain["marker"]["sizeref"] == low["marker"]["sizeref"] == made["layout"]["meta"]["sizeref"]
    assert (plain["marker"]["size"], low["marker"]["size"]) == ([40], [10])
    assert (made["layout"]["meta"]["left_out"], made["layout"]["meta"]["why"]) == (1, "for want of a value")
    assert made["layout"]["meta"]["links"] == [["agents/writer"], None]


def test_names_beside_bubbles_never_lie_over_each_other() -> None:
    crowd: list[list[Cell]] = [[str(number), "50", f"agent-{number:03d}", 1, False] for number in range(300)]
    (trace,) = figure(bubbles(crowd))["data"]
    # On one line every name would lie over bubbles; all are in the hover.
    assert set(trace["text"]) == {""}
    assert trace["hovertext"] == [f"agent-{number:03d}" for number in range(300)]
    apart: list[list[Cell]] = [
        ["100", "90", "up", 1, False],
        ["50", "50", "middle", 1, False],
        ["0", "10", "low", 1, True],
    ]
    made = figure(bubbles(apart))
    assert [trace["text"] for trace in made["data"]] == [["up", "middle"], ["low"]]
    # A name never leaves the plot.
    assert made["data"][0]["textposition"] == ["middle left", "middle right"]


def test_spans_go_from_first_to_last_and_an_instant_is_a_dot() -> None:
    made = figure(
        spans(
            [["2026-11-01", "One", "2026-11-09", "defer", "a"], ["2026-11-03", "Two", "2026-11-03", "defer", "gone"]]
        ),
        KNOWN,
    )
    (trace,) = made["data"]
    assert trace["x"] == ["2026-11-01", "2026-11-09", None, "2026-11-03", "2026-11-03"]
    assert trace["y"] == [0, 0, None, 1, 1]
    assert trace["hovertext"] == ["One<br>2026-11-01 to 2026-11-09"] * 2 + [""] + ["Two<br>2026-11-03"] * 2
    assert made["layout"]["meta"]["links"] == [["recommendations/a"] * 2 + [None] * 3]
    assert made["layout"]["meta"]["colours"] == ["series4"]


def test_twenty_thousand_points_stay_compact() -> None:
    made = figure(
        runs(
            [
                [f"2026-11-{1 + n % 28:02d}T{n % 24:02d}:14:07Z", f"0.{n:06d}", f"run-{n:06d}", False]
                for n in range(20_000)
            ]
        )
    )
    text = json.dumps(packed(made), separators=(",", ":"))
    assert len(made["data"][0]["x"]) == 20_000
    # A step in time, a number and a name: 35 bytes a point.
    assert len(text) < 20_000 * 35


def test_points_of_runs_lead_to_their_rows_and_their_links_are_told_in_short() -> None:
    names = [f"r{number}" for number in range(9)]
    chart = runs([["2026-11-01T00:00:00Z", str(number), name, False] for number, name in enumerate(names)])
    places = {name: f"pipelines/docs/runs-2026-11#run-{name}" for name in names[:8]}
    made = figure(chart, Known(runs={chart.key: places}))
    assert made["layout"]["meta"]["links"] == [[*places.values(), None]]
    small = packed(made)["layout"]["meta"]["links"]
    assert small == [{"heads": [["pipelines/docs/runs-2026-11#run-", 8], [None, 1]]}]
    # No chart of another pipeline, and none that is not of runs.
    assert "links" not in figure(chart, Known(runs={"web": places}))["layout"]["meta"]
    flagged: list[list[Cell]] = [["1", "r1", False]]
    assert "links" not in figure(agents(flagged), Known(runs={chart.key: places}))["layout"]["meta"]


def test_packed_times_come_out_as_they_went_in() -> None:
    for chart in samples():
        made = figure(chart)
        for whole, small in zip(made["data"], packed(made)["data"], strict=True):
            if whole.get("x") == small.get("x"):
                continue
            there = [None if place is None else f"{place:<10.10} {place[11:] or '00:00:00'}" for place in whole["x"]]
            assert unpacked(small["x"]) == there
    long = figure(runs([[f"2026-11-01T0{hour}:14:07Z", "1", "r", False] for hour in range(9)]))
    assert packed(long)["data"][0]["x"] == {"from": "2026-11-01 00:14:07", "unit": 1000, "by": [0] + [3600] * 8}
    daily = figure(reviews([[f"2026-11-{day:02d}", "1", None] for day in (1, 1, 2, 3, 5, 8, 13, 21)]))
    assert packed(daily)["data"][0]["x"] == {"from": "2026-11-01", "unit": 86_400_000, "by": [0, 0, 1, 1, 2, 3, 5, 8]}
    # Fractions of a second are kept as they are.
    split = figure(runs([[f"2026-11-{day:02d}T09:14:07.250Z", "1", "r", False] for day in range(1, 10)]))
    assert packed(split)["data"][0]["x"] == split["data"][0]["x"]


def test_what_all_figures_share_is_left_to_the_script() -> None:
    made = figure(runs([["2026-11-01T09:14:07Z", "1", "r", False]]))
    small = packed(made)
    assert made["layout"]["yaxis"]["separatethousands"] is True
    assert "separatethousands" not in small["layout"]["yaxis"]
    assert (made["layout"]["yaxis"]["type"], LOOK["axis"]["type"]) == ("linear", "linear")
    assert "type" not in small["layout"]["yaxis"]
    assert (made["layout"]["height"], LOOK["layout"]["height"]) == (320, 320)
    assert "height" not in small["layout"]
    assert (made["layout"]["xaxis"]["showgrid"], LOOK["xaxis"]["showgrid"]) == (False, False)
    assert "showgrid" not in small["layout"]["xaxis"]
    # An axis of names has ticks of its own, and numbers along x their lines.
    rows = figure(agents([[5, "a", False]]))
    packed_rows = packed(rows)["layout"]
    assert "tickmode" not in packed_rows["yaxis"]
    assert packed_rows["yaxis"]["tickvals"] == [0]
    assert packed_rows["xaxis"]["showgrid"] is True
    whole, short = made["data"][0]["hovertemplate"], small["data"][0]["hovertemplate"]
    assert "<" not in short
    assert short.replace("\n", "<br>") + "<extra></extra>" == whole


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
        made = figure(chart)
        # Names in the legend are set as text, never by Plotly.
        del (
            made["layout"]["meta"]["names"],
            made["layout"]["meta"]["line" if "line" in made["layout"]["meta"] else "colours"],
        )
        for text in texts(made):
            bare = text.replace("<br>", "").replace("<extra></extra>", "")
            assert "<" not in bare
            assert "bold</b>" not in text
            assert "a<br>b" not in text
            assert "\u202e" not in text
            assert "\x00" not in text
