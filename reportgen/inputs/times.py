"""From what a producer calls a time to one UTC text that sorts as it reads (SPEC 2, `event_time`)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from reportgen.inputs.amounts import number

FIRST_YEAR = 2000
LAST_YEAR = 2100

#: Why a time can't be used.
UNREADABLE = "unreadable"
OUT_OF_RANGE = "out of range"

#: Minutes met, as written, and in our form: `2026-11-03T09:14:` and `2026-11-03 09:14:`.
_MINUTES: dict[str, str] = {}
_MINUTES_HELD = 100_000
_SECONDS = frozenset(f"{second:02d}" for second in range(60))

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - naive UTC throughout this room
#: Characters that are a count, not a basic date (`20260502`).
_COUNT_DIGITS = 9
_OFFSET = r"(?P<zone>\s?(?:[Zz]|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2})?)?))?"
_EXTENDED = re.compile(
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[Tt ](?P<hour>[0-9]{2})(?::(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,](?P<part>[0-9]+))?)?)?"
    + _OFFSET
    + r")?"
)
_BASIC = re.compile(
    r"(?P<date>[0-9]{8})"
    r"(?:[Tt ](?P<hour>[0-9]{2})(?:(?P<minute>[0-9]{2})(?:(?P<second>[0-9]{2})(?:[.,](?P<part>[0-9]+))?)?)?"
    + _OFFSET
    + r")?"
)
#: Epoch counts by size: below the limit, so many microseconds each.
_EPOCH_UNITS = (
    (Decimal(10) ** 11, Decimal(10) ** 6),
    (Decimal(10) ** 14, Decimal(10) ** 3),
    (Decimal(10) ** 17, Decimal(1)),
    (Decimal(10) ** 20, Decimal("0.001")),
)


def utc_text(value: object) -> tuple[str, str]:
    """Return `2026-11-03 09:14:07.000000` (UTC, microseconds, cut not rounded), and ""; or "" and why there is none.

    ISO 8601, extended or basic, with `T` or a blank, `Z`, an offset or none (then it is UTC); epoch seconds,
    milliseconds, microseconds or nanoseconds by size, also as text. Years 2000 to 2100.
    """
    if type(value) is str:
        # A log names few minutes, and nearly every producer writes one of these forms: they get a short way.
        minute = _MINUTES.get(value[:17])
        if minute is not None and (second := value[17:19]) in _SECONDS:
            part = value[19:]
            if part == "Z":
                return f"{minute}{second}.000000", ""
            part = part.removesuffix("Z" if part[-1:] == "Z" else "+00:00")
            if not part or (part[0] == "." and part.isascii() and part[1:].isdigit()):
                return f"{minute}{second}.{part[1:7]:0<6}", ""
        return _from_text(value)
    exact = number(value)
    return ("", UNREADABLE) if exact is None else _from_epoch(exact)


def _from_text(value: str) -> tuple[str, str]:
    text = value.strip()
    if len(text) > 64:
        return "", UNREADABLE
    match = _EXTENDED.fullmatch(text) or _BASIC.fullmatch(text)
    if match:
        return _from_parts(match)
    exact = number(text) if len(text) >= _COUNT_DIGITS else None
    return ("", UNREADABLE) if exact is None else _from_epoch(exact)


def _from_parts(match: re.Match[str]) -> tuple[str, str]:
    part = (match["part"] or "")[:6].ljust(6, "0")
    second = match["second"] or "00"
    # A leap second has no place in a calendar of 86,400 seconds: it is the second after.
    leap = second == "60"
    clock = f"{match['hour'] or '00'}:{match['minute'] or '00'}:{'59' if leap else second}.{part}"
    try:
        moment = datetime.fromisoformat(f"{match['date']} {clock}") + timedelta(seconds=leap)
        zone = (match["zone"] or "").strip()
        if zone[:1] in ("+", "-"):
            sign = -1 if zone[0] == "-" else 1
            digits = zone[1:].replace(":", "").ljust(6, "0")
            hours, minutes, seconds = int(digits[:2]), int(digits[2:4]), int(digits[4:6])
            if hours > 23 or minutes > 59 or seconds > 59:
                return "", UNREADABLE
            moment -= sign * timedelta(hours=hours, minutes=minutes, seconds=seconds)
    except OverflowError:
        return "", OUT_OF_RANGE
    except ValueError:
        # Year 0 is a year, but none that a calendar here knows.
        return "", OUT_OF_RANGE if match["date"].startswith("0000") else UNREADABLE
    found = _shown(moment)
    if not zone or zone in ("Z", "+00:00"):
        _remember_minute(match.string, found[0])
    return found


def _remember_minute(text: str, found: str) -> None:
    """Note that this minute, so written in UTC, is a valid one."""
    if found and len(text) >= 19 and text[4] == "-" and text[16] == ":" and text[17:19] == found[17:19]:
        if len(_MINUTES) >= _MINUTES_HELD:
            _MINUTES.clear()
        _MINUTES[text[:17]] = found[:17]


def _from_epoch(count: Decimal) -> tuple[str, str]:
    # Below a microsecond is nothing, and a hostile exponent is not worth the arithmetic.
    if count > 0 and -6 <= count.adjusted() < 20:
        for limit, microseconds in _EPOCH_UNITS:
            if count < limit:
                return _shown(_EPOCH + timedelta(microseconds=int(count * microseconds)))
    return "", OUT_OF_RANGE


def _shown(moment: datetime) -> tuple[str, str]:
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        return "", OUT_OF_RANGE
    return f"{moment:%Y-%m-%d %H:%M:%S.%f}", ""


def bound_text(moment: datetime) -> str:
    """Return a moment (naive: UTC) in the form of `utc_text`, to be compared with it."""
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC)
    return f"{moment.year:04d}-{moment:%m-%d %H:%M:%S.%f}"
