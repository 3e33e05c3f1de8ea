"""RECOMMENDATIONS.md: from a `Report` to one Markdown text that a reader with no other tool can use.

Every value that the template prints is escaped by default (`finalize`): it stays text, on one line, whatever it holds.
Only what this room marks as `Markdown` itself (tables, authors' prose that was checked) is printed as it is. The
template writes one line a paragraph; `fold_lines` folds long ones, so that the file reads well in a terminal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from reportgen import glossary
from reportgen.model import Report
from reportgen.names import ALL_PIPELINES
from reportgen.render import BUILD_HASH
from reportgen.render import markdown_rows as rows
from reportgen.render.format import UNKNOWN, exact, lasting, show
from reportgen.render.inputviews import shown_inputs
from reportgen.render.markdown_links import Links
from reportgen.render.pages import environment, fill
from reportgen.render.prose import calls_nobody, escape_markdown, one_line, visible
from reportgen.render.views import elsewhere, group_views, headline, measure_totals, not_measured_pipelines

TEMPLATE = "RECOMMENDATIONS.md.j2"
#: Publishing looks for this in the first line before it replaces a file.
MARKER = "<!-- reportgen:"
#: Members of a group that are told in full; the others stand in one table.
IN_FULL = 10
REJECTED_SHOWN = 20
#: Where lines are folded, in columns of a terminal.
WIDTH = 100

#: Cells longer than this don't widen their column for the other rows.
_WIDEST = 44
#: A line must not be folded before a word that would start a list, a quote, a heading or a table's rule.
_STARTS_BLOCK = re.compile(r"(?:[-+*]|\d{1,9}[.)]|#{1,6})$|[>|<=:]|```|~~~|---?|\*\*\*|___")
_ITEM = re.compile(r"( *)(?:[-*] +|\d+\. +)?")
_NOT_WRAPPED = ("|", "#", "<", "    ")
#: Where a link leads, on a line of its own.
_DEFINITION = re.compile(r"\[.+\]: #[\w-]+$")


class Markdown(str):
    """Text that is Markdown already, made or checked in this room: printed as it is."""

    __slots__ = ()


def render_markdown(report: Report, *, template_dirs: Sequence[Path] = ()) -> str:
    """Return RECOMMENDATIONS.md: LF, one line end at the end, the build hash's token in the first line.

    `template_dirs` are searched for RECOMMENDATIONS.md.j2 before the built-in one. Raises ReportgenError, with the
    template's file and line, where a template is wrong.
    """
    env = environment(template_dirs)
    env.autoescape = False
    env.finalize = as_markdown
    env.globals.update(
        show=show,
        lasting=lasting,
        exact=exact,
        table=table,
        when=rows.when,
        why_skipped=glossary.why_skipped,
        hint_words=glossary.hint_words,
    )
    env.filters.update(prose=_prose, markdown=Markdown)
    groups = group_views(report)
    score_flag = next((value for name, value, _ in report.build.settings if name == "score_flag"), "60")
    incidents = rows.incident_rows(report)
    incomplete = {p.pipeline for p in report.pipelines if p.incomplete}
    if incomplete:
        incomplete.add(ALL_PIPELINES)
    about = not_measured_pipelines(report)
    links = Links(groups)
    values = {
        "report": report,
        "marker": Markdown(f"{MARKER} written by reportgen build, which replaces it; build {BUILD_HASH} -->"),
        "groups": groups,
        "headline": headline(report, groups),
        "in_full": IN_FULL,
        "dated": any(glossary.has_date(one.labels) for one in report.recommendations),
        "events": sum(file.events for file in report.inputs if file.kind == "events"),
        "feedback_rows": sum(file.events for file in report.inputs if file.kind == "feedback"),
        "failed": [detector for detector in report.detectors if detector.status == "error"],
        "all_pipelines": ALL_PIPELINES,
        "score_flag": score_flag,
        "glossary": glossary.TABLES,
        "elsewhere": elsewhere(report),
        "pipeline_rows": rows.pipeline_rows(report),
        "model_rows": rows.model_rows(report),
        "trend_lines": rows.trend_lines(measure_totals(report)),
        "change_lines": rows.change_lines(report),
        "ranked_rows": [[*rows.ranked_row(view), Markdown(links.link(view))] for view in groups],
        "link_lines": [Markdown(line) for line in links.definitions()],
        "anchor": lambda one: Markdown(links.anchor(one)),
        "fold": lambda words: Markdown(f"<details><summary>{escape(words)}</summary>"),
        "unfold": Markdown("</details>"),
        "saving": lambda one: rows.saving_words(one, one.pipeline in incomplete),
        "some_at_least": any(rows.at_least(one) for one in report.recommendations)
        or any(one.incomplete for one in report.pipelines),
        "evidence_rows": lambda one: rows.evidence_rows(one, about=one.pipeline in about),
        "other_rows": rows.other_rows,
        "detector_rows": rows.detector_rows(report),
        "agent_rows": lambda pipeline: rows.agent_rows(report, pipeline, score_flag),
        "incident_rows": incidents[: rows.INCIDENTS_SHOWN],
        "incidents_left": max(len(incidents) - rows.INCIDENTS_SHOWN, 0),
        "budget_rows": rows.budget_rows(report),
        "fate_heads": "".join(f" | {word.capitalize()}:" for _, word in glossary.FATES),
        "input_rows": rows.input_rows(report),
        "shown_inputs": shown_inputs(report.inputs, rows.INPUTS_SHOWN, faulty=True),
        "rejected_rows": rows.rejected_rows(report, REJECTED_SHOWN),
        "notice_lines": rows.notice_lines(report),
        "rejected_left": max(report.rejected_total - REJECTED_SHOWN, 0),
        "files": {made.file for made in report.tables},
    }
    return fold_lines(fill(env, TEMPLATE, values))


def as_markdown(value: object) -> str:
    """Return what an expression of the template prints: literal text, unless it is `Markdown`; None is an error."""
    if value is None:
        raise TypeError("an unknown value would be printed as None")
    return str(value) if isinstance(value, Markdown) else calls_nobody(escape_markdown(value))


def table(heads: str, body: Iterable[Sequence[object]]) -> Markdown:
    """Return a table: `heads` is `Agent | Events: | Cost:`, a colon aligns to the right; None is `unknown`.

    Columns are padded for a terminal, in steps of four beyond eight, so that one longer value seldom moves every line.
    """
    columns = [head.strip() for head in heads.split("|")]
    right = [column.endswith(":") for column in columns]
    lines = [[as_markdown(column.rstrip(":")) for column in columns]]
    lines += [[as_markdown(UNKNOWN if cell is None else cell) for cell in row] for row in body]
    widths = [_column_width([line[place] for line in lines]) for place in range(len(columns))]
    rule = [
        ("-" * (width - 1) + ":") if at_right else "-" * width for width, at_right in zip(widths, right, strict=True)
    ]
    padded = [
        [_pad(cell, width, at_right) for cell, width, at_right in zip(line, widths, right, strict=True)]
        for line in lines
    ]
    padded.insert(1, rule)
    return Markdown("".join(f"| {' | '.join(cells)} |\n" for cells in padded))


def _prose(text: str) -> Markdown:
    """Return an author's Markdown (a finding, an action) as one line of it, or as literal text where it is more."""
    line = " ".join(visible(text).split())
    return Markdown(calls_nobody(line if one_line(line) else escape_markdown(text)))


# ── for a terminal ───────────────────────────────────────────────────────────────────────────────────────────────


def _columns_of(text: str) -> int:
    """Return how many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.category(character) in {"Mn", "Me", "Cf"} for character in text)


def _column_width(cells: list[str]) -> int:
    width = max(3, *(size for cell in cells if (size := _columns_of(cell)) <= _WIDEST))
    return width if width <= 8 else -(-width // 4) * 4


def _pad(cell: str, width: int, at_right: bool) -> str:
    blanks = " " * max(width - _columns_of(cell), 0)
    return blanks + cell if at_right else cell + blanks


def fold_lines(text: str) -> str:
    """Fold long lines, drop blanks at line ends, and keep at most one empty line in a row."""
    out: list[str] = []
    fenced = False
    for line in text.split("\n"):
        bare = line.rstrip()
        fenced ^= bare.startswith("```")
        if bare or (out and out[-1]):
            out += [bare] if fenced or bare.startswith(_NOT_WRAPPED) or _DEFINITION.match(bare) else _fold(bare)
    return "\n".join(out).strip("\n") + "\n"


def _fold(line: str) -> list[str]:
    """Break a paragraph's or an item's line at blanks; the rest of an item is indented under its text."""
    start = _ITEM.match(line)
    indent = " " * (len(start.group()) if start else 0)
    chunks: list[str] = []
    for word in line[len(indent) :].split(" "):
        if chunks and _STARTS_BLOCK.match(word):
            chunks[-1] += f" {word}"
        else:
            chunks.append(word)
    lines, current = [], chunks[0]
    for chunk in chunks[1:]:
        if len(indent) + _columns_of(current) + 1 + _columns_of(chunk) > WIDTH:
            lines.append(current)
            current = chunk
        else:
            current += f" {chunk}"
    lines.append(current)
    return [line[: len(indent)] + lines[0], *(indent + rest for rest in lines[1:])]
