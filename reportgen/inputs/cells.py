"""One field of a record to one cell of the CSV: names to numbers, numbers to exact text, a remark where it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reportgen.inputs.amounts import (
    COST_LIMIT,
    COST_PLACES,
    DURATION_LIMIT,
    DURATION_PLACES,
    TOKEN_LIMIT,
    amount,
    token_count,
)
from reportgen.inputs.eventcsv import cell
from reportgen.inputs.fields import Keys, Plan
from reportgen.inputs.records import NumberText, Record
from reportgen.inputs.remarks import Remarks
from reportgen.names import MISSING_WORDS, Names, fold, squeeze
from reportgen.redact import redact

#: A longer tool or model name is cut.
_LONGEST_LABEL = 200
_CACHED = 50_000
_WHOLE_DOLLARS = int(COST_LIMIT)
_WHOLE_MILLISECONDS = int(DURATION_LIMIT)


class Spelled:
    """The numbers of agents, pipelines or runs as text, remembered by how they were written; "" names nobody."""

    __slots__ = ("_number", "known")

    def __init__(self, number: Callable[[str], int | None]) -> None:
        self._number = number
        self.known: dict[str, str] = {}

    def add(self, text: str) -> str:
        """Return the number of a name met for the first time."""
        if len(self.known) >= _CACHED:
            self.known.clear()
        number = self._number(text)
        found = self.known[text] = "" if number is None else str(number)
        return found


class Cells:
    """Reads fields by a plan. A value is present when it is not null and not an empty string; the first one counts."""

    def __init__(self, names: Names, remarks: Remarks, *, redacted: bool) -> None:
        self.agents = Spelled(names.agent)
        self.pipelines = Spelled(names.pipeline)
        self.runs = Spelled(names.run)
        self._remarks = remarks
        self._redacted = redacted
        self._labels: dict[str, str] = {}
        #: Costs read, and those above 0, since the caller last set them to 0.
        self.costs = 0
        self.costs_above_zero = 0

    def name(self, flat: Record, keys: Keys, names: Spelled) -> str:
        """Return the number of the first name that names somebody; a word for "none" lets the next key speak."""
        for key in keys:
            value = flat[key]
            if value is None or value == "":
                continue
            text = value if type(value) is str else self._text(value)
            if text is None:
                continue
            found = names.known.get(text)
            if found is None:
                found = names.add(text)
            if found:
                return found
        return ""

    def _text(self, value: object) -> str | None:
        if isinstance(value, int | NumberText) and not isinstance(value, bool):
            self._remarks.add("integer-name")
            return str(value)
        self._remarks.add("unusable-name")
        return None

    def label(self, flat: Record, keys: Keys) -> str:
        """Return the first text, ready to be shown."""
        for key in keys:
            value = flat[key]
            if value is None or value == "":
                continue
            text = value if type(value) is str else self._text(value)
            if text is None:
                continue
            shown = self._labels.get(text)
            if shown is None:
                if len(self._labels) >= _CACHED:
                    self._labels.clear()
                shown = self._labels[text] = cell(shown_text(text, redacted=self._redacted))
            if shown:
                return shown
        return ""

    def identity(self, flat: Record, keys: Keys) -> str | None:
        """Return the first event id; a word for "none" is no id."""
        for key in keys:
            value = flat[key]
            if value is None or value == "":
                continue
            text = value if type(value) is str else self._text(value)
            # A collector that writes "unknown" for every id must not lose all events but one.
            if text is not None and fold(squeezed := squeeze(text)) not in MISSING_WORDS:
                return squeezed
        return None

    def count(self, value: object) -> int | None:
        """Return a token count, or None with a remark."""
        count = token_count(value)
        if count is None:
            self._remarks.add("tokens-unusable")
        return count

    def total(self, flat: Record, plan: Plan, parts: list[int | None], summed: int | None) -> tuple[int | None, bool]:
        """Return the total and whether it is an estimate: given, else the sum of the parts, else the estimate.

        `parts`: input, output, cache reads, cache writes; `summed`: all of them together.
        """
        total: int | None = None
        flagged = False
        for key in plan.total_tokens:
            value = flat[key]
            if value is not None and value != "":
                total = value if type(value) is int and 0 <= value < TOKEN_LIMIT else self.count(value)
                break
        if total is None and summed is not None:
            total = summed
            inputs, _, reads, _ = parts
            # More reads than input can't be inside it.
            if reads and inputs is not None and reads <= inputs and _reads_inside(flat, plan):
                total -= reads
        for key in plan.estimated_tokens:
            value = flat[key]
            if value is None or value == "":
                continue
            if type(value) is bool and key in plan.estimate_flags:
                flagged = value
                continue
            if total is None:
                return self.count(value), True
            break
        return total, flagged and total is not None

    def cost(self, flat: Record, plan: Plan) -> tuple[str, str]:
        """Return the cost in dollars and its basis."""
        for key in plan.cost_usd:
            value = flat[key]
            if value is None or value == "":
                continue
            scale = plan.scales.get(key)
            if type(value) is int and scale is None and 0 <= value < _WHOLE_DOLLARS:
                text = str(value)
            else:
                found = amount(value, COST_LIMIT, COST_PLACES, scale)
                if found is None:
                    self._remarks.add("cost-unusable")
                    return "", ""
                text, rounded = found
                if rounded:
                    self._remarks.add("cost-rounded")
            self.costs += 1
            if not self.costs_above_zero and text.strip("0."):
                self.costs_above_zero = 1
            return text, "estimated" if key in plan.estimated_costs else "reported"
        return "", ""

    def duration(self, flat: Record, plan: Plan) -> str:
        """Return the duration in milliseconds."""
        for key in plan.duration_ms:
            value = flat[key]
            if value is None or value == "":
                continue
            scale = plan.scales.get(key)
            if type(value) is int and scale is None and 0 <= value < _WHOLE_MILLISECONDS:
                return str(value)
            found = amount(value, DURATION_LIMIT, DURATION_PLACES, scale)
            if found is None:
                self._remarks.add("duration-unusable")
                return ""
            return found[0]
        return ""


def _reads_inside(flat: Record, plan: Plan) -> bool:
    """Say whether the producer that used these names counts cache reads as input."""
    for keys in (plan.input_tokens, plan.cache_read_tokens):
        used = next((key for key in keys if flat[key] is not None and flat[key] != ""), None)
        if used in plan.cache_inside:
            return True
    return False


def truth(flat: Record, keys: Keys) -> bool | None:
    """Return a truth value given as true, false, 1, 0 or as one of these words; None where there is none."""
    for key in keys:
        value: Any = flat[key]
        word = str(value).strip().casefold() if isinstance(value, bool | int | str) else ""
        if word in ("true", "1", "yes"):
            return True
        if word in ("false", "0", "no"):
            return False
    return None


def session_name(text: str) -> str:
    """Return a session's id as it is compared; empty for a word that says "none"."""
    text = squeeze(text)
    return "" if fold(text) in MISSING_WORDS else text


def shown_text(text: str, *, redacted: bool) -> str:
    """Return a tool's or a model's name as it may be shown: on one line, redacted, not too long."""
    text = squeeze(text)
    if redacted:
        text = redact(text[: 4 * _LONGEST_LABEL])
    return text if len(text) <= _LONGEST_LABEL else text[:_LONGEST_LABEL] + "…"
