"""One look that everyone can read: contrast, colour blindness, two themes."""

from __future__ import annotations

import itertools
import json
import math
import re

import pytest
from chart_dress import LOOK, THEMES
from chart_factory import hostile_charts, samples

from reportgen.chartfiles import COLOURS
from reportgen.render.charts import figure
from reportgen.render.look import HUES, NAMED
from reportgen.resources import resource_dir

STYLE = (resource_dir("templates") / "assets" / "style.css").read_text(encoding="utf-8")
#: What a chart may lie on: every ground of the site's own style sheet.
GROUNDS = sorted(set(re.findall(r"--(?:ground|surface|sunken): (#[0-9a-f]{6})", STYLE)))
PAGES = {
    "light": [ground for ground in GROUNDS if ground > "#8"],
    "dark": [ground for ground in GROUNDS if ground < "#8"],
}
GRAPHICS = [*[f"series{number}" for number in range(HUES)], "others", "base", "accent", "line"]
#: Machado, Oliveira and Fernandes (2009), full strength, on linear RGB.
BLINDNESS: dict[str, list[list[float]]] = {
    "none": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear(colour: str) -> list[float]:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of WCAG 2."""
    light, dark = sorted(
        (sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear(colour), strict=True)) for colour in (one, other)),
        reverse=True,
    )
    return (light + 0.05) / (dark + 0.05)


def lab(colour: str, matrix: list[list[float]]) -> list[float]:
    """Return CIE L*a*b* (D65) of the colour as it is seen."""
    seen = [sum(m * part for m, part in zip(row, linear(colour), strict=True)) for row in matrix]
    red, green, blue = (min(max(part, 0), 1) for part in seen)
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]


@pytest.mark.parametrize("theme", PAGES)
def test_marks_and_words_stand_out_from_the_page(theme: str) -> None:
    assert len(PAGES[theme]) >= 2
    for page in PAGES[theme]:
        for name in GRAPHICS:
            assert contrast(THEMES[theme][name], page) >= 3, (name, page)
        for name in ("text", "muted"):
            assert contrast(THEMES[theme][name], page) >= 4.5, (name, page)
    assert contrast(THEMES[theme]["text"], THEMES[theme]["hover"]) >= 4.5


@pytest.mark.parametrize("blindness", BLINDNESS)
@pytest.mark.parametrize("theme", PAGES)
def test_series_are_told_apart_by_colour_blind_readers(theme: str, blindness: str) -> None:
    colours = [THEMES[theme][name] for name in [*GRAPHICS[:HUES], "others"]]
    matrix = BLINDNESS[blindness]
    for one, other in itertools.combinations(colours, 2):
        assert math.dist(lab(one, matrix), lab(other, matrix)) > 12, (one, other)


def test_both_themes_have_the_colour_of_every_trace() -> None:
    assert THEMES["light"].keys() == THEMES["dark"].keys()
    for chart in [*samples(), *hostile_charts()]:
        made = figure(chart)
        colours = made["layout"]["meta"]["colours"]
        assert len(colours) == len(made["data"])
        assert set(colours) <= THEMES["light"].keys()
    # What a chart file may call a colour is one.
    assert set(COLOURS) <= NAMED.keys()
    assert set(NAMED.values()) <= THEMES["light"].keys()


def test_a_figure_holds_nothing_of_the_look() -> None:
    for chart in samples():
        made = figure(chart)
        text = json.dumps(made)
        assert not re.search(r"#[0-9a-f]{6}", text)
        assert "font" not in text
        assert "color" not in text
        # What each has of its own, without its points, is little.
        axes = json.dumps(made["layout"], separators=(",", ":"))
        assert len(axes) < 1500, len(axes)


def test_good_and_bad_are_told_apart_by_everyone() -> None:
    for theme, matrix in itertools.product(THEMES.values(), BLINDNESS.values()):
        colours = [theme[NAMED[name]] for name in ("good", "warn", "bad", "grey")]
        for one, other in itertools.combinations(colours, 2):
            assert math.dist(lab(one, matrix), lab(other, matrix)) > 12, (one, other)


def test_charts_are_calm() -> None:
    assert LOOK["config"]["displayModeBar"] is False
    layout = LOOK["layout"]
    assert layout["paper_bgcolor"] == layout["plot_bgcolor"] == "rgba(0,0,0,0)"
    assert layout["showlegend"] is False
    assert LOOK["axis"]["automargin"]
    for chart in samples():
        assert "title" not in figure(chart)["layout"]
