"""One word for one thing: what the pages, RECOMMENDATIONS.md and the console call what the model keeps as a code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from reportgen.model import Basis, BudgetWindow, Decision, Effort, Measure

#: The four parts of the score, in their order: field of `Vfm`, its name, and what it is about.
PARTS: Final[tuple[tuple[str, str, str], ...]] = (
    ("frequency", "Frequency", "how often it happens, in the days of its pipeline"),
    ("failure_reduction", "Failure reduction", "what it would prevent"),
    ("burden_reduction", "Burden reduction", "work it would take off people"),
    ("cost_savings", "Cost savings", "how much of the cost would go away"),
)
#: What a decision hint means.
HINTS: Final[Mapping[Decision, str]] = {
    "implement": "worth doing now",
    "defer": "worth doing later",
    "reject": "not worth the effort now",
}
#: What it means where the score is low and there is a date all the same: the score weighs no dates.
LOW_BUT_DATED: Final = "a low score, but it has a date: decide before it"
#: How the labels of a finding begin that has one.
_DATED: Final = ("act before ", "already over")
#: The totals that give a hint.
HINT_RANGES: Final[Mapping[Decision, str]] = {"implement": "over 50", "defer": "26 to 50", "reject": "25 or less"}
EFFORTS: Final[Mapping[Effort, str]] = {"S": "small", "M": "medium", "L": "large"}
#: How a cost or a saving is known.
BASES: Final[Mapping[Basis, str]] = {
    "measured": "measured: costs that the producer reported",
    "priced": "priced: from tokens and model",
    "estimated": "estimated: by the producer, or known in tokens only",
    "unknown": "unknown",
}
MEASURES: Final[Mapping[Measure, str]] = {"usd": "US dollars", "tokens": "tokens", "events": "events"}
#: Where a budget window stands.
STATES: Final[Mapping[str, str]] = {
    "ok": "within",
    "warn": "near the limit",
    "over": "over",
    "unknown": "unknown",
}
#: What becomes of a line: field of `InputFile`, and its word. They add up to the lines.
FATES: Final[tuple[tuple[str, str], ...]] = (
    ("used", "used"),
    ("superseded", "superseded"),
    ("duplicates", "duplicate"),
    ("not_cost", "not about cost"),
    ("rejected", "rejected"),
    ("blank", "blank"),
)
#: A remark's severity.
REMARKS: Final[Mapping[str, str]] = {"warning": "warning", "info": "note"}

#: All of them, for templates.
TABLES: Final[Mapping[str, object]] = {
    "parts": PARTS,
    "hints": HINTS,
    "hint_ranges": HINT_RANGES,
    "efforts": EFFORTS,
    "bases": BASES,
    "measures": MEASURES,
    "states": STATES,
    "fates": FATES,
    "remarks": REMARKS,
}


def not_measured(basis: Basis, measure: Measure) -> bool:
    """Say whether an amount is marked as no measured one; how many events there are is always counted."""
    return basis in ("priced", "estimated") and measure != "events"


def has_date(labels: Sequence[str]) -> bool:
    """Say whether the labels of a finding tell of a date before which somebody has to decide."""
    return any(label.startswith(_DATED) for label in labels)


def hint_words(decision: Decision, labels: Sequence[str]) -> str:
    """Return what the decision hint of a finding with these labels means."""
    return LOW_BUT_DATED if decision == "reject" and has_date(labels) else HINTS[decision]


def state_of(window: BudgetWindow) -> str:
    """Return the word for where a budget window stands."""
    return STATES[window.state]


def why_skipped(message: str | None) -> str:
    """Return in words why a detector was skipped: `not enough data: 7 of at least 20 review scores`."""
    return (message or "an input that it needs is missing").replace("not_enough_data", "not enough data", 1)
