"""How a number looks: `show` for reading, `exact` for hover texts and anyone who wants every digit.

Exact decimal arithmetic, half up, no locale. Nothing here escapes: the result is plain text for a renderer to escape.
"""

from __future__ import annotations

import re
from datetime import datetime
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal, InvalidOperation, localcontext
from functools import lru_cache

#: Enough digits that no sum of money (12 places) is ever rounded by the arithmetic itself.
_CONTEXT = Context(prec=60, rounding=ROUND_HALF_UP)
_SCALES = ((Decimal(10) ** 12, "T"), (Decimal(10) ** 9, "B"), (Decimal(10) ** 6, "M"))
_TENTH = Decimal("0.1")
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(\.\d+)?Z?")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
UNKNOWN = "unknown"


@lru_cache(maxsize=4096, typed=True)
def show(value: str | int | float | None, unit: str | None, measure: str | None = None) -> str:
    """Return the value as a reader wants it: `$12.34`, `$0.0042`, `1.23 M tokens`, `12,345 events`, `42%`, `1.5x`.

    `unit` is one of `model.Evidence`'s, or any plural noun; `cost` takes its unit from `measure`. None is `unknown`.
    A value that is no number where one is expected is returned as it is.
    """
    if value is None:
        return UNKNOWN
    unit = _unit(unit, measure)
    if unit in {"text", "time", "date"}:
        return _moment(str(value), unit, seconds=False)
    number = to_decimal(value)
    if number is None:
        return str(value)
    with localcontext(_CONTEXT):
        if unit == "usd":
            return _signed(number, "$" + _money(abs(number)))
        if unit == "share":
            return _signed(number, _percent(abs(number)))
        if unit == "score":
            return _grouped(_rounded(number, 1))
        if unit == "times":
            return _signed(number, _scaled(abs(number))) + "x"
        return _counted(_signed(number, _scaled(abs(number))), unit)


@lru_cache(maxsize=4096, typed=True)
def exact(value: str | int | float | None, unit: str | None, measure: str | None = None) -> str:
    """Return the value with every digit it has and its unit: `$1,234.567`, `1,234,567 tokens`, `42.125%`."""
    if value is None:
        return UNKNOWN
    unit = _unit(unit, measure)
    if unit in {"text", "time", "date"}:
        return _moment(str(value), unit, seconds=True)
    number = to_decimal(value)
    if number is None:
        return str(value)
    with localcontext(_CONTEXT):
        if unit == "usd":
            size = abs(number)
            cents = size if size != _rounded(size, 2) else size.quantize(Decimal("0.01"))
            return _signed(number, "$" + _grouped(cents, trim=False))
        if unit == "share":
            # A quotient has no last digit: as many as tell two shares of a million apart.
            return _grouped(_rounded(number * 100, 4)) + "%"
        if unit == "times":
            return _grouped(number) + "x"
        return _counted(_grouped(number), None if unit == "score" else unit)


def duration(started: str | None, ended: str | None) -> str:
    """Return the time between two moments of the model: `45 s`, `12 min`, `3.5 h`, `2.1 days`, or `unknown`."""
    if started is None or ended is None:
        return UNKNOWN
    return _lasted(int((_instant(ended) - _instant(started)).total_seconds()))


def lasting(days: str | int | float | None) -> str:
    """Return a number of days; what is less than one as `duration` says it: `8 s`, `3.5 h`, `44.7 days`."""
    number = to_decimal(days)
    if number is None or not 0 <= number < 1:
        return show(days, "days")
    return _lasted(int(_rounded(number * 86400, 0)))


def _lasted(seconds: int) -> str:
    for size, unit, most in ((1, "s", 120), (60, "min", 120), (3600, "h", 48)):
        if seconds < size * most:
            return f"{_scaled(Decimal(seconds) / size) if size == 3600 else (seconds + size // 2) // size} {unit}"
    return f"{_grouped(_rounded(Decimal(seconds) / 86400, 1))} days"


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def to_decimal(value: object) -> Decimal | None:
    """Return the exact number that a cell holds (text, int or float); None where it holds none, NaN or infinity."""
    if value is None or isinstance(value, bool):
        return None
    try:
        number = Decimal(value.strip() if isinstance(value, str) else repr(value))
    except InvalidOperation:
        return None
    # Beyond 40 digits it is no measure of anything, and `1e999999999` would fill the memory when written out.
    return number if number.is_finite() and abs(number.adjusted()) <= 40 else None


def unit_word(unit: str | None, measure: str | None = None) -> str:
    """Return the unit as an axis or a column head names it: `USD`, `tokens`, `%`, `UTC`; empty where there is none."""
    unit = _unit(unit, measure)
    words = {"usd": "USD", "share": "%", "score": "0 to 100", "time": "UTC", "date": "UTC"}
    return "" if unit in {None, "text", "times"} else words.get(str(unit), str(unit))


def _unit(unit: str | None, measure: str | None) -> str | None:
    return measure if unit == "cost" else unit


def _moment(text: str, unit: str | None, *, seconds: bool) -> str:
    if unit == "time" and (found := _TIME.fullmatch(text)):
        day, minute, second, fraction = found.groups()
        precise = f"{second or ''}{fraction or ''}" if seconds else ""
        return f"{day} {minute}{precise} UTC"
    if unit == "date" and _DAY.match(text):
        return text[:10]
    return text


def _money(size: Decimal) -> str:
    """Cents from ten cents up, two digits that count below, whole dollars from ten thousand."""
    if size >= 10_000:
        return _scaled(size)
    if size == 0 or size >= _TENTH or _significant(size, 2) >= _TENTH:
        return _grouped(_rounded(size, 2), trim=False)
    return _grouped(_significant(size, 2), trim=False)


def _percent(share: Decimal) -> str:
    """Whole percents from 10 up, two digits below; what is not quite all never reads as 100%."""
    percent = share * 100
    if 99 <= percent < 100:
        return f"{_grouped(percent.quantize(Decimal('0.1'), rounding=ROUND_DOWN))}%"
    if percent >= 10 or percent == 0:
        return f"{_grouped(_rounded(percent, 0))}%"
    return f"{_grouped(_significant(percent, 2))}%"


def _scaled(size: Decimal) -> str:
    """Return a size of zero or more: whole from 100 up, at most two decimals below, and millions by three digits."""
    for scale, letter in _SCALES:
        # What would round up to a million is shown as one.
        if _rounded(size, 0) >= scale:
            return f"{_grouped(_significant(size / scale, 3), trim=False)} {letter}"
    if size == 0 or size >= 100:
        return _grouped(_rounded(size, 0))
    if size >= 10:
        return _grouped(_rounded(size, 1))
    return _grouped(_rounded(size, 2) if size >= Decimal("0.1") else _significant(size, 2))


def _counted(number: str, unit: str | None) -> str:
    if not unit:
        return number
    if number == "1" and unit.endswith("s") and not unit.endswith("ss"):
        unit = f"{unit[:-3]}y" if unit.endswith("ies") else unit[:-1]
    return f"{number} {unit}"


def _signed(number: Decimal, size: str) -> str:
    return f"-{size}" if number < 0 else size


def _rounded(number: Decimal, places: int) -> Decimal:
    return number.quantize(Decimal(1).scaleb(-places))


def _significant(number: Decimal, digits: int) -> Decimal:
    """Round to so many digits that count, whole digits always kept: 0.004249 to 0.0042, 1234 to 1234."""
    if number == 0:
        return number
    rounded = number.quantize(Decimal(1).scaleb(max(number.adjusted() - digits + 1, -40)))
    # 9.999 became 10.00: one digit too many now.
    places = max(digits - 1 - rounded.adjusted(), 0)
    return rounded.quantize(Decimal(1).scaleb(-places))


def _grouped(number: Decimal, *, trim: bool = True) -> str:
    text = f"{number:,f}"
    if trim and "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
