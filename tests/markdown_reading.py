"""RECOMMENDATIONS.md as a code host reads it: its headings, its tables, its sections; for the tests."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from report_factory import empty_report, group_up, hostile_report, sample_report

from reportgen.model import Recommendation, Report
from reportgen.render.markdown import render_markdown

HOST = MarkdownIt("commonmark").enable(["table", "strikethrough"])


@cache
def parsed(markdown: str) -> list[Token]:
    return HOST.parse(markdown)


@cache
def made(name: str) -> str:
    """Return the Markdown of one of the REPORTS, rendered once."""
    return render_markdown(REPORTS[name]())


def text_of(token: Token) -> str:
    return "".join(" " if part.type == "softbreak" else part.content for part in token.children or [])


def headings(markdown: str) -> list[tuple[str, str]]:
    tokens = parsed(markdown)
    return [
        (token.tag, text_of(tokens[place + 1])) for place, token in enumerate(tokens) if token.type == "heading_open"
    ]


def tables(markdown: str) -> list[list[list[str]]]:
    """Return the cells of every table, its head first."""
    found: list[list[list[str]]] = []
    in_cell = False
    for token in parsed(markdown):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type == "inline" and in_cell:
            found[-1][-1].append(text_of(token))
        in_cell = token.type in {"td_open", "th_open"}
    return found


def table_with(markdown: str, head: str) -> list[list[str]]:
    """Return the rows of the only table whose first column has this head, without the head."""
    found = [rows for rows in tables(markdown) if rows[0][0] == head]
    assert len(found) == 1
    return found[0][1:]


def section(markdown: str, title: str) -> str:
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", markdown, re.DOTALL | re.MULTILINE)
    assert found, title
    return found.group(1)


def anchors(markdown: str) -> dict[str, str]:
    """Return the heading under each anchor that the text sets itself; none is set twice."""
    tokens = parsed(markdown)
    found: dict[str, str] = {}
    for place, token in enumerate(tokens):
        mine = re.fullmatch(r'<a id="([\w-]+)"></a>', token.content) if token.type == "inline" else None
        if mine:
            assert mine[1] not in found
            assert tokens[place + 2].type == "heading_open"
            found[mine[1]] = text_of(tokens[place + 3])
    return found


def host_anchor(heading: str) -> str:
    """Return the anchor that GitHub makes of a heading's text."""
    kept = [letter for letter in heading.lower() if letter.isalnum() or letter in "-_ "]
    return "".join(kept).replace(" ", "-")


def rendered(markdown: str) -> str:
    """Return all prose and cells as a reader sees them, white space squeezed."""
    return " ".join(" ".join(text_of(token) for token in parsed(markdown) if token.type == "inline").split())


def run_outliers(count: int) -> Report:
    """Return the sample with one group of so many outlier runs, and nothing else found."""
    report = sample_report()
    model = next(r for r in report.recommendations if r.detector == "cost_outlier")
    runs: list[Recommendation] = [
        replace(model, id=f"cost-outlier-run-{n:03d}-abcdef{n:04d}", rank=n, subject=f"run-{n:03d}", title=f"Run {n}")
        for n in range(1, count + 1)
    ]
    return replace(report, recommendations=runs, groups=group_up(runs))


def clear_report() -> Report:
    report = sample_report()
    detectors = [
        replace(d, status="clear", findings=0, message=None) for d in report.detectors if d.origin == "built-in"
    ]
    return replace(report, recommendations=[], groups=[], detectors=detectors)


REPORTS = {"sample": sample_report, "empty": empty_report, "hostile": hostile_report, "clear": clear_report}
