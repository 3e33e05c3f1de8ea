"""Every page is valid HTML: of the rich report, of an empty one, of a hostile one, and the report as one page."""

from __future__ import annotations

import re

import pytest
from html_rules import faults
from report_factory import empty_report, hostile_report, sample_report

from reportgen.render.singlefile import render_single
from reportgen.render.site import render_site

REPORTS = {"sample": sample_report, "empty": empty_report, "hostile": hostile_report}


@pytest.mark.parametrize("name", REPORTS)
def test_every_page_is_valid(name: str) -> None:
    report = REPORTS[name]()
    site = render_site(report)
    pages = {path: data for path, data in site.items() if path.endswith(".html")}
    wrong = {path: found[:5] for path, data in pages.items() if (found := faults(data))}
    assert wrong == {}


def test_the_report_as_one_page_is_valid() -> None:
    report = hostile_report()
    page = render_single(report, render_site(report))
    # Scripts are no markup, and take the parser a minute.
    assert faults(re.sub(rb"(<script>).+?(</script>)", rb"\1\2", page, flags=re.DOTALL)) == []


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("<p>a<div>b</div></p>", "unexpected-end-tag"),
        ("<table><tr><td>x</td></tr>", "eof-in-table"),
        ("<ul><p>x</p></ul>", "<p> in <ul>"),
        ("<h2><div>x</div></h2>", "<div> in <h2>"),
        ("<a href=x><button>y</button></a>", "<button> in <a>"),
        ("<p id=a>x</p><p id=a>y</p>", "the id a stands 2 times"),
        ("<section aria-labelledby=gone>x</section>", "no id gone"),
        ("<p algin=left>x</p>", "<p algin>"),
        ("<dl><span>x</span></dl>", "<span> in <dl>"),
        ("<details><p>x</p></details>", "without a summary"),
        ("a & b &nosuch; <", "expected-named-entity"),
    ],
)
def test_the_rules_find_what_they_are_for(body: str, words: str) -> None:
    page = f"<!doctype html><html lang=en><head><title>x</title></head><body>{body}</body></html>"
    assert any(words in fault for fault in faults(page.encode())), faults(page.encode())
