"""Sentences from a detector's front matter, with a row's values filled in: shown for reading, escaped for Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal

from reportgen.detectorfile import SLOT
from reportgen.detectors import Finding, as_text
from reportgen.model import Measure
from reportgen.render.format import show
from reportgen.render.prose import escape_markdown, plain


def fill(finding: Finding, text: str, measure: Measure, *, markdown: bool = True, about: bool = False) -> str:
    """Fill `{column}` with the shown value (with its unit), `{column:n}` without the unit.

    `about`: the pipeline's cost is not measured, so that each amount of it is marked.
    """

    def value(found: re.Match[str]) -> str:
        name, bare = found.group(1), found.group(2)
        raw = as_text(finding.row.get(name))
        unit = finding.detector.columns.get(name, ("", None))[1]
        if bare and unit not in ("cost", "usd", "share"):
            unit = None
        if unit is None and raw is not None and name in ("pipeline", "subject"):
            unit = "text"
        shown = show(raw, unit, measure)
        if about and unit == "cost" and raw is not None:
            shown = f"≈ {shown}"
        if name == "observed" and raw is not None and finding.row.get("incomplete") is True:
            # An event of unknown cost is in it.
            shown = f"≥ {shown}"
        if bare and shown.endswith("x"):
            shown = shown[:-1]
        # A number is ours and reads better as it is; everything else came from an input.
        if isinstance(finding.row.get(name), int | Decimal):
            return shown
        return escape_markdown(shown) if markdown else plain(shown)

    # A slot at the end may be empty.
    return SLOT.sub(value, text).rstrip()


def action_of(finding: Finding) -> str:
    """Return the action for this finding: that of all its labels, else of the first with one, else the detector's."""
    for label in (", ".join(finding.labels), *finding.labels):
        if label in finding.detector.actions:
            return finding.detector.actions[label]
    return finding.detector.action


def shared_action(template: str, fills: Sequence[Callable[[str], str]]) -> str:
    """Return what an action says of all its findings: its whole sentences that read the same for each of them.

    `fills` fill a text with the values of one finding each, the first finding's first. `Mend {tool}. Ask {agent}.` is
    `Mend Bash.` where only the agents differ. Where every sentence differs, the first finding's text stands, with how
    many more there are: `Ask writer. (and 2 more)`.
    """
    kept = []
    for sentence in re.split(r"(?<=[.!?]) (?=[A-Z{`])", " ".join(template.split())):
        said = [fill_in(sentence) for fill_in in fills]
        if len(set(said)) == 1:
            kept.append(said[0])
    return " ".join(kept) if kept else f"{fills[0](template).rstrip()} (and {len(fills) - 1} more)"
