"""The style sheet's promises: both dark themes agree, and text stands out from its ground in every theme."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CSS = (Path(__file__).parent.parent / "templates" / "assets" / "style.css").read_text()
TOKENS = re.compile(r"(--[a-z0-9-]+):\s*([^;]+);")


def tokens(selector: str) -> dict[str, str]:
    """Return the tokens of the first rule that starts with the selector."""
    start = CSS.index(selector + " {")
    return dict(TOKENS.findall(CSS[start : CSS.index("\n  }" if CSS[start - 2 : start] == "  " else "\n}", start)]))


LIGHT = tokens(":root")
DARK = LIGHT | tokens(':root[data-theme="dark"]')
PRINT = LIGHT | tokens('  :root, :root:not([data-theme="light"]), :root[data-theme="dark"]')


def luminance(colour: str) -> float:
    digits = colour.removeprefix("#")
    digits = "".join(d * 2 for d in digits) if len(digits) == 3 else digits
    channels = [int(digits[n : n + 2], 16) / 255 for n in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_the_switch_gives_the_same_dark_theme_as_the_system() -> None:
    assert tokens('  :root:not([data-theme="light"])') == tokens(':root[data-theme="dark"]')


@pytest.mark.parametrize("theme", [LIGHT, DARK, PRINT], ids=["light", "dark", "print"])
def test_text_stands_out_from_its_ground(theme: dict[str, str]) -> None:
    grounds = ("--ground", "--surface", "--sunken")
    pairs = [(ink, ground) for ink in ("--ink", "--ink-2", "--muted", "--accent", "--text") for ground in grounds]
    pairs += [(f"--{word}", f"--{word}-soft") for word in ("good", "warn", "bad", "accent")]
    pairs += [(f"--{word}", ground) for word in ("good", "bad") for ground in ("--surface", "--ground")]
    pairs += [("--ink", "--bad-soft"), ("--ink", "--warn-soft"), ("--ink", "--accent-soft"), ("--accent", "--bad-soft")]
    weak = {pair: round(contrast(theme[pair[0]], theme[pair[1]]), 2) for pair in pairs}
    assert {pair: value for pair, value in weak.items() if value < 4.5} == {}


def test_colours_are_tokens() -> None:
    rules = re.sub(r"(?s)/\*.*?\*/", "", CSS)
    rules = re.sub(r"--[a-z0-9-]+:[^;]+;", "", rules)
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b", rules) == []
