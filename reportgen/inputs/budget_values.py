"""What the words of BUDGET.md mean: amounts, windows, shares, yes and no. A text that means nothing here is refused."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Literal

Window = Literal["daily", "weekly", "monthly", "total"]

_WINDOWS: dict[str, Window] = {
    **dict.fromkeys(("daily", "day", "a day", "each day", "per day", "every day"), "daily"),
    **dict.fromkeys(("weekly", "week", "a week", "each week", "per week", "every week"), "weekly"),
    **dict.fromkeys(("monthly", "month", "a month", "each month", "per month", "every month"), "monthly"),
    **dict.fromkeys(("total", "in total", "overall", "all time", "all-time", "lifetime"), "total"),
}
_NO_LIMIT = frozenset({"none", "unlimited", "no limit", "infinite", "infinity", "inf", "-", "—", "n/a"})
_WORDS_YES = frozenset({"true", "yes", "on"})
_WORDS_NO = frozenset({"false", "no", "off"})

_NUMBER = r"(?P<number>[0-9]{1,3}(?:[,_'][0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
_AMOUNT = re.compile(
    rf"(?P<before>US\$|\$|USD)?\s*{_NUMBER}\s*(?P<after>US\$|\$|USD|US dollars?|dollars?|cents?|¢)?"
    r"(?P<rest>\W.*)?",
    re.IGNORECASE,
)
#: More than this is a slip of the pen.
_LIMIT = Decimal(10) ** 12


def read_window(text: str) -> Window | None:
    """Return the window that a text names (`daily`, `per day`), or None."""
    return _WINDOWS.get(" ".join(text.casefold().split()))


def says_no_limit(text: str) -> bool:
    """Say whether a value means that there is no limit."""
    return text.casefold().strip() in _NO_LIMIT


def read_amount(text: str) -> tuple[Decimal, str] | str:
    """Return US dollars and what stands behind the amount (a window, or ""); or why the text is no amount.

    `500 cents`, `$5`, `5 usd`, `5.00 USD / day`, `1,000 cents per week`.
    """
    match = _AMOUNT.fullmatch(text.strip())
    if not match or len(match["number"]) > 40:
        return "is no amount such as 500 cents or 5.00 USD"
    after = (match["after"] or "").casefold()
    if not match["before"] and not after:
        return "has no unit: write cents or USD"
    if match["before"] and after.startswith(("cent", "¢")):
        return "is both dollars and cents"
    amount = Decimal(re.sub(r"[,_']", "", match["number"]))
    if after.startswith(("cent", "¢")):
        amount = amount.scaleb(-2)
    if amount >= _LIMIT:
        return "is too large"
    if amount.quantize(Decimal(1).scaleb(-12)) == 0:
        return "is 0: for no limit leave the line out"
    rest = re.sub(r"^\s*/\s*", "", match["rest"] or "").strip()
    return amount, rest.removeprefix("(").removesuffix(")").strip()


def read_percent(text: str) -> Decimal | None:
    """Return a share of 1 to 100 percent (`80`, `80%`), or None."""
    match = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,9})?)\s*(?:%|percent)?", text.strip(), re.IGNORECASE)
    value = Decimal(match[1]) if match else Decimal(0)
    return value.quantize(Decimal("0.001")) if 1 <= value <= 100 else None


def read_switch(text: str) -> bool | None:
    """Return what `true`, `yes`, `on` and their opposites say, or None."""
    word = text.casefold().strip()
    return True if word in _WORDS_YES else False if word in _WORDS_NO else None
