"""One recommendation as Markdown, to paste into an issue tracker: whole without the report beside it.

Every value is escaped, so that it reads back as what it is; only a detector's own prose keeps its markup. The line
that names the page comes last, and is the caller's: only who copies knows the address.
"""

from __future__ import annotations

import re

from reportgen.model import Basis, Recommendation
from reportgen.names import ALL_PIPELINES
from reportgen.render.format import UNKNOWN, show
from reportgen.render.markdown import table
from reportgen.render.markdown_rows import evidence_rows
from reportgen.render.prose import calls_nobody, escape_markdown, one_line, visible

_PARTS = (
    ("frequency", "how often"),
    ("failure_reduction", "failures it would prevent"),
    ("burden_reduction", "work it would take off people"),
    ("cost_savings", "cost it would save"),
)
_GAP = re.compile(" {2,}")
_RULE = re.compile("-{4,}")
_EFFORT = {"S": "small", "M": "medium", "L": "large"}
_BASIS: dict[Basis, str] = {
    "measured": "measured, from costs that the producer reported",
    "priced": "≈ priced from tokens and model",
    "estimated": "≈ estimated by the producer, or known in tokens only",
    "unknown": "unknown",
}


def clipping(found: Recommendation, incomplete: bool = False, *, about: bool = False) -> str:
    """Return the recommendation as Markdown: title, finding, action, saving, the score's parts, the evidence.

    `incomplete`: some costs of its pipeline are unknown; `about`: they are not measured. It ends with `Page: `, after
    which its address is to stand.
    """
    score = ", ".join(f"{label} {getattr(found.vfm, name)}" for name, label in _PARTS)
    parts = [
        f"### {calls_nobody(escape_markdown(found.title))}",
        _prose(found.finding),
        f"**What to do:** {_prose(found.action)} Effort: {_EFFORT[found.effort]}.",
        f"**Could save:** {_saving(found, incomplete)}",
        f"**Score:** {found.vfm.total} of 100, hint: {found.decision} ({score}; each of 25).",
    ]
    if found.evidence:
        parts.append(_tight(table("Evidence | Value:", evidence_rows(found, about=about))))
    parts.append(f"Detector: `{found.detector}`. Id: `{found.id}`. Page: ")
    return "\n\n".join(parts)


def _tight(text: str) -> str:
    """Return a table without the blanks that align it in a terminal: where it is pasted, it is rendered."""
    head, rule, *rows = text.rstrip("\n").split("\n")
    return "\n".join(_GAP.sub(" ", line) for line in (head, _RULE.sub("---", rule), *rows))


def _prose(text: str) -> str:
    """Return an author's Markdown as one line of it, or as literal text where it is more than prose."""
    line = " ".join(visible(text).split())
    return calls_nobody(line if one_line(line) else escape_markdown(text))


def _saving(found: Recommendation, incomplete: bool) -> str:
    if found.saving is None:
        return UNKNOWN
    whole = "all cost" if found.pipeline == ALL_PIPELINES else "the pipeline's cost"
    share = "" if found.saving_share is None else f" ({show(found.saving_share, 'share')} of {whole})"
    text = f"{show(found.saving, 'cost', found.cost_measure)}{share}"
    part = "; unknown costs are not in it" if incomplete else ""
    return f"{escape_markdown(text)}; {_BASIS[found.saving_basis]}{part}."
