"""Numbers as producers write them, to exact ones: token counts, dollars, milliseconds (SPEC 2).

A numeric string counts as a number; a boolean never does.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Context, Decimal

from reportgen.inputs.records import NumberText

#: A token count at or above this is no count.
TOKEN_LIMIT = 10**12
#: A cost of one event at or above this many dollars is no cost.
COST_LIMIT = Decimal(10**9)
#: A duration at or above this many milliseconds (31 years) is no duration.
DURATION_LIMIT = Decimal(10**12)
COST_PLACES = 12
DURATION_PLACES = 3

_NUMBER = re.compile(r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?:[eE]([+-]?)([0-9]+))?")
#: Digits of an exponent that are worth the arithmetic.
_EXPONENT_DIGITS = 4
_LONGEST_NUMBER = 1000
_EXACT = Context(prec=2200, rounding=ROUND_HALF_EVEN)


def number(value: object) -> Decimal | None:
    """Return a JSON number or a numeric string as an exact, finite decimal; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Decimal(value)
    if isinstance(value, str):
        text = value.strip()
        match = _NUMBER.fullmatch(text) if len(text) <= _LONGEST_NUMBER else None
        if match is None:
            return None
        if len(match[3] or "") <= _EXPONENT_DIGITS:
            return Decimal(text)
        if not match[1].strip("+-.0") or (match[2] == "-" and match[1][0] != "-"):
            return Decimal(0)
    return None


def token_count(value: object) -> int | None:
    """Return a whole number of 0 up to `TOKEN_LIMIT`; None for anything else."""
    exact = number(value)
    if exact is None or not 0 <= exact < TOKEN_LIMIT:
        return None
    if exact and exact.adjusted() < 0:
        return None
    whole = int(exact) if exact else 0
    return whole if whole == exact else None


def amount(value: object, limit: Decimal, places: int, scale: Decimal | None = None) -> tuple[str, bool] | None:
    """Return a number of 0 up to the limit as a plain decimal of at most so many places, and whether it was rounded.

    `scale` turns the value's unit into ours. Rounds half to even. None for anything that is not such a number.
    """
    if type(value) is NumberText and scale is None:
        # The common price, `0.0091`: its own text is the answer where that is plain and short.
        point = value.find(".")
        if 0 < point <= 9 and len(value) <= point + 1 + places and value.replace(".", "", 1).isdigit():
            return value, False
    exact = number(value)
    if exact is None or exact < 0:
        return None
    if not exact:
        return "0", False
    if exact.adjusted() > 40:
        return None
    if scale is not None:
        exact = _EXACT.multiply(exact, scale)
    if exact >= limit:
        return None
    if exact.adjusted() < -places - 1:
        return "0", True
    text = format(exact, "f")
    _, _, fraction = text.partition(".")
    if len(fraction) <= places:
        return text, False
    rounded = exact.quantize(Decimal(1).scaleb(-places), context=_EXACT)
    return format(rounded, "f"), rounded != exact
