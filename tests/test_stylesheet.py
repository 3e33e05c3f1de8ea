"""The style that a page brings along: all that can match something in it, and nothing else of elements."""

from __future__ import annotations

import pytest

from reportgen.render.stylesheet import needed

PAGE = '<html><body><div class="lone big" id="main"><h1>x</h1><a href="#">y</a></div></body></html>'


@pytest.mark.parametrize(
    "rule",
    [
        "h1 { color: red; }",
        "H1{color:red}",
        ".lone > h1, .big a { color: red; }",
        "#main a:hover::before { content: '}{'; }",
        ":root { --ink: #123; }",
        ':root[data-theme="dark"] { --ink: #fff; }',
        "*, ::before { box-sizing: border-box; }",
        "a:not(.absent) { color: red; }",
        ".big:is(.absent, .lone) { color: red; }",
        "@font-face { font-family: x; }",
        "@page { margin: 1cm; }",
        "@import 'more.css';",
    ],
)
def test_what_can_match_is_kept(rule: str) -> None:
    kept = needed(rule, PAGE)
    assert kept.strip().replace(" ", "") == rule.replace(" ", "")


@pytest.mark.parametrize(
    "rule", ["h2 { color: red; }", ".lone .absent { color: red; }", "#other { color: red; }", "/* h1 {} */"]
)
def test_what_can_not_match_is_left_out(rule: str) -> None:
    assert needed(rule, PAGE) == ""


def test_groups_keep_what_is_needed_of_them() -> None:
    style = "@media (min-width: 50rem) {\n  .lone { margin: 0; }\n  .absent { margin: 0; }\n}\n@media print { nav { display: none; } }\n"
    assert needed(style, PAGE) == "@media (min-width: 50rem){\n.lone{margin: 0;}\n}\n"


def test_of_several_selectors_those_are_kept_that_can_match() -> None:
    assert needed(".absent h1, .lone > h1, nav { color: red; }", PAGE) == ".lone > h1{color: red;}\n"


def test_rules_stay_in_their_order() -> None:
    style = "h1 { color: red; }\nnav { color: red; }\n.big { color: blue; }\n"
    assert needed(style, PAGE) == "h1{color: red;}\n.big{color: blue;}\n"


def test_texts_keep_their_blanks() -> None:
    assert "'a  b'" in needed("h1::after { content: 'a  b'; }", PAGE)
