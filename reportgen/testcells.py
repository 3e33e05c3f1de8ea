"""The cells of a test's tables: from what is written to a value of the column's DuckDB type, and back to text.

Empty and `null` are null; `"null"` and `""` are text; times are UTC; numbers are exact. `shown` gives one text for one
value, so that two values are the same if their texts are.
"""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal

_INTEGERS = {
    "TINYINT": (-(2**7), 2**7 - 1),
    "SMALLINT": (-(2**15), 2**15 - 1),
    "INTEGER": (-(2**31), 2**31 - 1),
    "BIGINT": (-(2**63), 2**63 - 1),
    "HUGEINT": (-(2**127), 2**127 - 1),
    "UTINYINT": (0, 2**8 - 1),
    "USMALLINT": (0, 2**16 - 1),
    "UINTEGER": (0, 2**32 - 1),
    "UBIGINT": (0, 2**64 - 1),
    "UHUGEINT": (0, 2**128 - 1),
}
_SIMPLE = ("DOUBLE", "FLOAT", "BOOLEAN", "DATE", "VARCHAR")
_DECIMAL = re.compile(r"DECIMAL\((\d+), ?(\d+)\)$")
_NUMBER = re.compile(r"-?\d+(\.\d+)?$")
_FLOAT = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?$|-?inf$|nan$", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}$")
_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})([T ](\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?))?Z?$")
_ITEM = re.compile(r'\s*("[^"]*"|[^,]*?)\s*(?:,|$)')


def read_cell(text: str, kind: str) -> object:
    """Return the value that a cell holds, for a column of the DuckDB type `kind`.

    Raises ValueError, worded to follow "'x'", where the text can't be read as the type.
    """
    if text in ("", "null"):
        return None
    if kind.endswith("[]"):
        return _list(text, kind[:-2])
    if kind in _INTEGERS:
        low, high = _INTEGERS[kind]
        if not re.fullmatch(r"-?\d+", text):
            raise ValueError("is no whole number")
        if not low <= int(text) <= high:
            raise ValueError(f"is out of the range of {kind}")
        return int(text)
    if found := _DECIMAL.match(kind):
        return _decimal(text, int(found.group(1)), int(found.group(2)))
    if kind in ("DOUBLE", "FLOAT"):
        if not _FLOAT.match(text):
            raise ValueError("is no number")
        return float(text)
    if kind == "BOOLEAN":
        if text.lower() not in ("yes", "no", "true", "false"):
            raise ValueError("is neither yes nor no")
        return text.lower() in ("yes", "true")
    if kind == "DATE":
        return _date(text)
    if kind.startswith("TIMESTAMP"):
        return _time(text)
    if kind == "VARCHAR":
        return _text(text)
    raise ValueError(f"can't be given: columns of type {kind} can't be written in a test")


def expected_text(text: str, kind: str) -> str:
    """Return the text that `shown` would give for the expected value; a type without a form of its own is its text."""
    if text in ("", "null"):
        return "null"
    item = kind.rstrip("[]")
    known = item in _INTEGERS or _DECIMAL.match(item) or item.startswith("TIMESTAMP") or item in _SIMPLE
    return shown(read_cell(text, kind)) if known else text


def _text(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def _list(text: str, kind: str) -> list[object]:
    inner = text[1:-1].strip() if text[0] == "[" and text[-1] == "]" else text
    if not inner:
        return []
    # The pattern also matches the nothing after the last item.
    return [read_cell(m.group(1), kind) for m in _ITEM.finditer(inner) if m.start() < len(inner)]


def _decimal(text: str, width: int, scale: int) -> Decimal:
    if not _NUMBER.match(text):
        raise ValueError("is no plain decimal number")
    whole, _, part = text.lstrip("-").partition(".")
    if len(part.rstrip("0")) > scale:
        raise ValueError(f"has more than the column's {scale} decimal places")
    if len(whole.lstrip("0")) > width - scale:
        raise ValueError(f"is too large for it: at most {width - scale} digits before the point")
    return Decimal(text)


def _date(text: str) -> dt.date:
    try:
        if _DATE.match(text):
            return dt.date.fromisoformat(text)
    except ValueError:
        pass
    raise ValueError("is no date like 2026-11-03")


def _time(text: str) -> dt.datetime:
    try:
        if found := _TIME.match(text):
            return dt.datetime.fromisoformat(f"{found.group(1)}T{found.group(3) or '00:00'}")
    except ValueError:
        pass
    raise ValueError("is no UTC time like 2026-11-03 09:14")


def shown(value: object) -> str:
    """Return the text for a value, as it would be written in a cell; another type of the same value reads the same."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Decimal):
        text = f"{value:f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return "0" if text in ("-0", "") else text
    if isinstance(value, float):
        # Sums of floating-point numbers differ in their last digits from run to run.
        return f"{value:.12g}"
    if isinstance(value, dt.datetime):
        return _shown_time(value)
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return ", ".join(f'"{item}"' if "," in str(item) else shown(item) for item in value) or "[]"
    text = str(value)
    ambiguous = text != text.strip() or text in ("", "null", "[]") or (len(text) > 1 and text[0] == text[-1] == '"')
    return f'"{text}"' if ambiguous else text


def _shown_time(value: dt.datetime) -> str:
    if value.tzinfo is not None:
        value = value.astimezone(dt.UTC)
    form = "%Y-%m-%d %H:%M:%S.%f" if value.microsecond else "%Y-%m-%d %H:%M:%S" if value.second else "%Y-%m-%d %H:%M"
    return value.strftime(form)
