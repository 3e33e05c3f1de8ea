"""What a cell of a feedback table means: score, date, tags, and rows that are no data (SPEC 2, "Feedback")."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from decimal import ROUND_FLOOR, Context, Decimal
from functools import lru_cache

from reportgen.inputs.times import FIRST_YEAR, LAST_YEAR, utc_text

KNOWN_TAGS = frozenset(
    {"quality-low", "loop-excess", "timeout", "tool-fail", "cost-spike", "scope-drift", "hallucination"}
)
#: What people write where there is nothing to say.
_NOTHING = frozenset({"", "-", "--", "---", "–", "—", "none", "n/a"})

# --- rows to cells --------------------------------------------------------------------------------------------------

_PIPE = re.compile(r"(?<!\\)\|")
_CODE_PARTS = re.compile(r"`+|\\.|\|")


def split_row(line: str) -> list[str]:
    """Split a table row as GFM does: at each `|` without a backslash before it, also inside code; `\\|` is a pipe."""
    return _cells(_PIPE.split(line.strip()))


def split_row_keeping_code(line: str) -> list[str]:
    """Split a table row at the pipes outside code spans: what a writer of `` `a | b` `` has meant."""
    line = line.strip()
    # For each run of back-ticks the next run of the same length, which closes it.
    closing: dict[int, int] = {}
    last: dict[int, int] = {}
    for match in reversed(list(re.finditer(r"`+", line))):
        length = match.end() - match.start()
        if length in last:
            closing[match.start()] = last[length]
        last[length] = match.end()
    parts: list[str] = []
    start = position = 0
    while match_ := _CODE_PARTS.search(line, position):
        position = match_.end()
        if match_[0] == "|":
            parts.append(line[start : match_.start()])
            start = position
        elif match_[0][0] == "`":
            position = closing.get(match_.start(), position)
    parts.append(line[start:])
    return _cells(parts)


def _cells(parts: list[str]) -> list[str]:
    # Only a pipe at the very edge is a border; `|| a |` begins with an empty cell.
    if parts and not parts[0]:
        parts.pop(0)
    if parts and not parts[-1]:
        parts.pop()
    return [part.replace("\\|", "|").strip() for part in parts]


def is_delimiter(cells: Sequence[str]) -> bool:
    """Say whether a row is of the `|---|:--:|` kind."""
    return bool(cells) and all(re.fullmatch(r":?-+:?", cell) for cell in cells)


# --- cells to values ------------------------------------------------------------------------------------------------

_NUMBER = r"[0-9]+(?:\.[0-9]+)?|\.[0-9]+"
_FRACTION = re.compile(rf"(?<![\w.])(?<![0-9],)(?P<sign>[-−]?)(?P<a>{_NUMBER})[ \t]*/[ \t]*(?P<b>{_NUMBER})(?![0-9])")
_PERCENT = re.compile(rf"(?<![\w.])(?<![0-9],)(?P<sign>[-−]?)(?P<a>{_NUMBER})[ \t]*%")
_BARE = re.compile(rf"(?P<sign>[-−]?)(?P<a>{_NUMBER})")
_EXACT = Context(prec=120, rounding=ROUND_FLOOR)
_PLACES = Decimal(1).scaleb(-12)


@lru_cache(maxsize=4096)
def read_score(text: str) -> Decimal | None:
    """Return a score of 0 to 100, cut to 12 places, or None where the cell holds none (or one outside).

    The first `a/b` in the cell counts, scaled to 100; else `n%`; else a number that is the whole cell.
    """
    text = text.strip()
    match = _FRACTION.search(text) or _PERCENT.search(text) or _BARE.fullmatch(text)
    # A number of more digits than any score has is text.
    if not match or len(match[0]) > 40:
        return None
    score = Decimal(match["a"])
    if "b" in match.re.groupindex:
        whole = Decimal(match["b"])
        if not whole:
            return None
        score = _EXACT.divide(_EXACT.multiply(score, Decimal(100)), whole)
    if match["sign"] and score:
        return None
    return _EXACT.quantize(score, _PLACES) if score <= 100 else None


_ISO_DATE = re.compile(r"(?<![0-9-])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9-])")
_SLASH_DATE = re.compile(r"([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?P<month>[a-z]{3,9})\.?"
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_WORD_DATES = (
    re.compile(rf"{_DAY}[ -]{_MONTH}[ -](?P<year>[0-9]{{4}})", re.IGNORECASE),
    re.compile(rf"{_MONTH} {_DAY},? (?P<year>[0-9]{{4}})", re.IGNORECASE),
)


@lru_cache(maxsize=4096)
def read_date(text: str) -> tuple[date | None, str | None]:
    """Return the UTC date of a cell, or None and why there is none (no reason where the cell says nothing)."""
    text = text.strip()
    if is_nothing(text) or text.casefold() in ("null", "unknown"):
        return None, None
    if len(text) > 100:
        return None, "is not a date"
    moment, problem = utc_text(text)
    if moment:
        return date.fromisoformat(moment[:10]), None
    if problem == "out of range":
        return None, f"is outside the years {FIRST_YEAR} to {LAST_YEAR}"
    if len(found := set(_ISO_DATE.findall(text))) == 1:
        return _calendar(*found.pop().split("-"))
    if len(found) > 1:
        return None, "holds several dates"
    if match := _SLASH_DATE.fullmatch(text):
        return _calendar(*match.groups())
    for pattern in _WORD_DATES:
        if (match := pattern.fullmatch(text)) and match["month"][:3].casefold() in _MONTHS:
            return _calendar(match["year"], str(_MONTHS.index(match["month"][:3].casefold()) + 1), match["day"])
    if re.fullmatch(r"[0-9]{1,2}[/.-][0-9]{1,2}[/.-][0-9]{4}", text):
        return None, "may be day or month first"
    if re.search(r"[0-9]", text) and not re.search(r"[0-9]{4}", text):
        return None, "has no year"
    return None, "is not a date"


def _calendar(year: str, month: str, day: str) -> tuple[date | None, str | None]:
    if not FIRST_YEAR <= int(year) <= LAST_YEAR:
        return None, f"is outside the years {FIRST_YEAR} to {LAST_YEAR}"
    try:
        return date(int(year), int(month), int(day)), None
    except ValueError:
        return None, "is no day of the calendar"


@lru_cache(maxsize=4096)
def read_tags(text: str) -> tuple[str, ...]:
    """Return the tags of a Pattern cell, folded (`Loop_Excess` is `loop-excess`), each once, in order."""
    text = text.replace("`", " ").strip()
    whole = _fold_tag("-".join(text.split()))
    if whole in KNOWN_TAGS:
        return (whole,)
    if is_nothing(text):
        return ()
    parts = (_fold_tag(part) for part in re.split(r"[,;\s]+", text) if not is_nothing(part))
    return tuple(dict.fromkeys(parts))


def _fold_tag(text: str) -> str:
    return text.casefold().replace("_", "-")


def is_nothing(text: str) -> bool:
    """Say whether a cell says that there is nothing: empty, a dash, `none`, `n/a`."""
    return text.casefold() in _NOTHING


# --- rows that are no data ------------------------------------------------------------------------------------------

#: `{{DATE}}`, `${DATE}`, `{date}`, `<agent-name>`, `[AGENT NAME]`, `YYYY-MM-DD`, `XX/100`, `…`, also before `/100`.
_PLACEHOLDER = re.compile(
    r"(?:\{\{[^{}]*\}\}|\$?\{[^{}]*\}|<[A-Za-z][A-Za-z0-9 _-]*>|\[[A-Z][A-Z0-9 _-]*\]|YYYY-MM-DD|[XN]{1,3}|\.\.\.|…)"
    r"(?:[ ]?/[ ]?[0-9]+|%)?"
)
_BRACES = re.compile(r"\{\{[^{}]*\}\}")
_TOTAL = re.compile(
    r"(?:(?:grand|sub|overall|running)[ -]?)?(?:totals?|averages?|avg|mean|median|sum|overall)"
    r"(?: (?:score|of \w+))?(?: ?\([^()]*\))?[.:]?",
    re.IGNORECASE,
)


def is_placeholder(date_cell: str, agent_cell: str, score_cell: str, others: Sequence[str]) -> bool:
    """Say whether a row is a template's, not a review: its agent or its score is `{{…}}`, or no cell is filled in.

    Cells as they are written: `<agent-name>` is a tag to Markdown.
    """
    if _BRACES.search(agent_cell) or _BRACES.search(score_cell):
        return True
    forms = [_is_blank_form(cell) for cell in (date_cell, agent_cell, score_cell) if not is_nothing(cell)]
    rest = [_is_blank_form(cell) for cell in others if not is_nothing(cell)]
    return len(forms) + len(rest) > 0 and all(forms) and (len(forms) > 1 or all(rest))


def _is_blank_form(cell: str) -> bool:
    return bool(_PLACEHOLDER.fullmatch(cell.strip("`*_ ")))


def is_total(cells: Sequence[str], date_cell: str) -> bool:
    """Say whether a row sums others up: the first cell that says anything is `Total`, `Average` and the like."""
    first = next((cell for cell in cells if not is_nothing(cell)), "")
    return len(first) < 60 and bool(_TOTAL.fullmatch(first)) and read_date(date_cell)[0] is None
