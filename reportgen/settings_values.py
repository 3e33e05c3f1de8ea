"""From a written value to a typed one. Each reader raises ValueError with a clause that says what it wanted."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from reportgen.names import clean_name, fold, is_missing
from reportgen.redact import redact

_DURATION = re.compile(r"([0-9]{1,15})\s*([smhd])")
_MEMORY = re.compile(r"([0-9]{1,7})\s*(MB|GB)")
#: Tools whose sessions are found without a path.
SOURCES = ("claude-code", "codex", "opencode")
_UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_LONGEST = timedelta(days=36_525)
_SHORTEST = timedelta(seconds=1)


def shown(value: object) -> str:
    """Return a value as a person wrote it, cut to a length that fits a message."""
    if isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, str):
        text = f"'{value}'"
    elif isinstance(value, Mapping):
        text = "a table"
    elif isinstance(value, (list, tuple)):
        text = "an empty list" if not value else "a list"
    else:
        text = str(value)
    # Before it is cut: of half a key nobody can tell that it is one.
    text = redact(text)
    return text if len(text) <= 60 else text[:57] + "…" + ("'" if text.startswith("'") else "")


def near(word: str, words: Iterable[str], quoted: str = "'{}'") -> str:
    """Return `; did you mean 'x'?` where a known word is near, else an empty text."""
    found = difflib.get_close_matches(word, list(words), n=1, cutoff=0.6)
    return f"; did you mean {quoted.format(found[0])}?" if found else ""


def truth(value: object) -> bool:
    """Read true or false."""
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {shown(value)}")
    return value


def running_totals(value: object) -> str:
    """Read how rows of one session are taken."""
    if value not in ("auto", "always", "never"):
        raise ValueError(f'must be "auto", "always" or "never", not {shown(value)}')
    return str(value)


def dollars(value: object) -> Decimal:
    """Read a price in dollars."""
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)) or not 0 <= value < 1_000_000:
        raise ValueError(f"must be a number of dollars from 0 to below 1,000,000, not {shown(value)}")
    price = Decimal(value)
    exponent = price.as_tuple().exponent
    if not isinstance(exponent, int) or exponent < -9:
        raise ValueError("must have at most 9 decimal places")
    return price


def event_sources(value: object) -> tuple[str, ...]:
    """Read the name of a place where a tool keeps its sessions, or a list of them."""
    names = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    for name in names:
        if name not in SOURCES:
            raise ValueError(f"must be {' or '.join(SOURCES)}, not {shown(name)}")
    return tuple(dict.fromkeys(str(name) for name in names))


def path(value: object) -> str:
    """Read one path; `~` at its start is the home directory."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str):
        raise ValueError(f"must be one path in quotes, not {shown(value)}")
    if not value.strip():
        raise ValueError("must be a path, not an empty text")
    if "\0" in value:
        raise ValueError("must be a path, and a path can't hold a NUL character")
    return os.path.expanduser(value)  # noqa: PTH111 - a glob is not a Path


def paths(value: object) -> tuple[str, ...]:
    """Read a path or glob, or a list of them, in the order given; one written twice is kept once."""
    if isinstance(value, (list, tuple)):
        if not value:
            raise ValueError("must name at least one path; leave it out for the default places")
        return tuple(dict.fromkeys(path(item) for item in value))
    if isinstance(value, (str, os.PathLike)):
        return (path(value),)
    raise ValueError(f"must be a path or glob in quotes, or a list of them, not {shown(value)}")


def duration(value: object) -> timedelta:
    """Read a length of time of at least a second: a whole number and s, m, h or d, such as `30m`."""
    if isinstance(value, timedelta):
        length = value
    else:
        match = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
        if not match:
            raise ValueError(f'must be a whole number with a unit, "30s", "30m", "12h" or "30d", not {shown(value)}')
        seconds = int(match[1]) * _UNIT_SECONDS[match[2]]
        length = timedelta(seconds=min(seconds, int(_LONGEST.total_seconds()) + 1))
    if length < _SHORTEST:
        raise ValueError(f"must be at least 1s, not {shown(value)}")
    if length > _LONGEST:
        raise ValueError(f"must be at most 36525d, not {shown(value)}")
    return length


def start(value: object) -> datetime:
    """Read a date (its first instant) or a datetime, as naive UTC."""
    return _moment(value, time.min)


def end(value: object) -> datetime:
    """Read a date (its last instant, 23:59:59.999999) or a datetime, as naive UTC."""
    return _moment(value, time.max)


def _moment(value: object, of_day: time) -> datetime:
    given: object = value
    if isinstance(given, str):
        given = _from_text(given.strip())
    if isinstance(given, datetime):
        try:
            moment = given.astimezone(UTC) if given.tzinfo else given
        except OverflowError:
            raise ValueError(f"must lie between the years 1 and 9999 in UTC, not {shown(value)}") from None
        return moment.replace(tzinfo=None)
    if isinstance(given, date):
        return datetime.combine(given, of_day)
    raise ValueError(
        f"must be a date or a time such as 2026-11-03 or 2026-11-03T09:00:00Z (UTC without an offset), "
        f"not {shown(value)}"
    )


def _from_text(text: str) -> date | datetime | None:
    # A date first: `datetime.fromisoformat` would take one too, as its midnight.
    for read in (date.fromisoformat, datetime.fromisoformat):
        try:
            return read(text)
        except ValueError:
            continue
    return None


def score(value: object) -> Decimal:
    """Read a score of 0 to 100."""
    number = _number(value)
    if number is None or not 0 <= number <= 100:
        raise ValueError(f"must be a number from 0 to 100, not {shown(value)}")
    return number


def whole_score(value: object) -> int:
    """Read a whole score of 0 to 100."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 100:
        raise ValueError(f"must be a whole number from 0 to 100, not {shown(value)}")
    return value


def seconds(value: object) -> int:
    """Read a time in whole seconds, from a second to a day."""
    return _whole(value, 1, 86_400, "seconds")


def findings(value: object) -> int:
    """Read how many findings one detector may have."""
    return _whole(value, 1, 1_000_000, "findings")


def _whole(value: object, least: int, most: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"must be a whole number of {what} from {least} to {most:,}, not {shown(value)}")
    return value


def memory(value: object) -> str:
    """Read an amount of memory from 64MB to 1000GB, as DuckDB writes it."""
    match = _MEMORY.fullmatch(value.strip()) if isinstance(value, str) else None
    if not match or not 64 <= int(match[1]) * (1000 if match[2] == "GB" else 1) <= 1_000_000:
        raise ValueError(f'must be a whole number with MB or GB, "512MB" or "2GB", from 64MB on, not {shown(value)}')
    return f"{int(match[1])}{match[2]}"


def _number(value: object) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        return None
    number = Decimal(value)
    return number if number.is_finite() else None


def pipeline(value: object) -> str:
    """Read the name of one pipeline, as written."""
    if not isinstance(value, str):
        raise ValueError(f"must be a pipeline's name in quotes, not {shown(value)}")
    if not clean_name(value):
        raise ValueError(f"must be a pipeline's name, not {shown(value)}")
    return value


def title(value: object) -> str:
    """Read what the project is called: one line, white space squeezed."""
    text = " ".join(value.split()) if isinstance(value, str) else ""
    if not text or len(text) > 80:
        raise ValueError(f"must be a text of 1 to 80 characters in quotes, not {shown(value)}")
    return text


def agents(value: object) -> tuple[str, ...]:
    """Read a list of agents, cleaned as names are everywhere; the same agent written twice is kept once."""
    if not isinstance(value, (list, tuple)):
        raise ValueError(f'must be a list of agents, ["writer", "reviewer"], not {shown(value)}')
    known: dict[str, str] = {}
    for item in value:
        name = clean_name(item) if isinstance(item, str) else ""
        if not name or is_missing("agent", name):
            raise ValueError(f"must be a list of agents' names, and {shown(item)} names no agent")
        known.setdefault(fold(name), name)
    return tuple(known.values())


def field_names(value: object) -> tuple[str, ...]:
    """Read the name or names that a producer gives to one field of its events."""
    items: Sequence[object] = value if isinstance(value, (list, tuple)) else (value,)
    if not items or not all(isinstance(item, str) and item.strip() for item in items):
        raise ValueError(f'must be a field\'s name or a list of them, ["worker"], not {shown(value)}')
    return tuple(dict.fromkeys(str(item).strip() for item in items))


def parameter(value: object) -> Decimal | int | str | bool:
    """Read a detector's parameter: a finite number, a text, true or false."""
    if isinstance(value, (bool, str)):
        return value
    if _number(value) is None:
        raise ValueError(f"must be a number, a text, true or false, not {shown(value)}")
    assert isinstance(value, (int, Decimal))  # _number has looked
    return value
