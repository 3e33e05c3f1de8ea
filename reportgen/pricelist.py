"""What a token of a model costs and when, from the maintained list of the package genai-prices.

The only room that knows the package, which takes half a second to import: it is imported for a model that was never
asked for, and what it says is kept beside our own files. Nothing here touches the network.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from reportgen.compiled import Notes
from reportgen.quickclass import dataclass
from reportgen.resources import resource_dir
from reportgen.versions import versions

_MILLION = Decimal(1_000_000)
#: Decimal places of the price of one token.
PLACES = 15
_LONG_AGO = date(2000, 1, 1)
#: How a model is called in other words: a context window in brackets, and a cloud's region before the name.
_WINDOW = re.compile(r"\[[^\]]*\]\Z")
_FAST = re.compile(r"(claude-[a-z]+-\d+)(?:-(\d{1,2}))?(?:-\d{8})?-fast")
_REGION = re.compile(r"(?:us|eu|apac|global|au|jp)\.|anthropic\.|amazon\.|meta\.|mistral\.", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class UnitPrice:
    """The prices of one token in US dollars, as exact decimals, and where they hold.

    From the day `since` (UTC) on, before the day `until`, at times of day from `day_from` on and before `day_until`,
    for calls of more than `above` tokens of input and no more than `up_to`; None: no bound.
    """

    since: str | None
    until: str | None
    day_from: str | None
    day_until: str | None
    above: int
    up_to: int | None
    input: str
    output: str
    cache_read: str
    cache_write: str
    cache_write_1h: str


def listed(models: Iterable[str]) -> dict[str, tuple[UnitPrice, ...]]:
    """Return the prices of these models, without those that the list does not know."""
    notes = Notes(resource_dir("sql") / "price-list", "prices 1", versions()["genai-prices"])
    found: dict[str, tuple[UnitPrice, ...]] = {}
    for model in sorted(set(models)):
        known = notes.get(model)
        if known is None:
            prices = tuple(_look_up(model))
            notes.put(model, json.dumps([asdict(one) for one in prices]))
        else:
            prices = tuple(UnitPrice(**one) for one in json.loads(known))
        if prices:
            found[model] = prices
    notes.save()
    return found


def own_price(given: Mapping[str, Decimal]) -> UnitPrice:
    """Return a project's own price, given in dollars for a million tokens.

    What it leaves out costs as input does, output nothing; a cache write for an hour costs twice the input where cache
    writes have a price.
    """
    each = {name: value / _MILLION for name, value in given.items()}
    first = each.get("input", Decimal(0))
    return UnitPrice(
        since=None, until=None, day_from=None, day_until=None, above=0, up_to=None,
        input=_text(first),
        output=_text(each.get("output", Decimal(0))),
        cache_read=_text(each.get("cache_read", first)),
        cache_write=_text(each.get("cache_write", first)),
        cache_write_1h=_text(each.get("cache_write_1h", 2 * first if "cache_write" in each else first)),
    )  # fmt: skip


def _look_up(model: str) -> Iterator[UnitPrice]:
    info = _model(model)
    if info is None:
        return
    prices = info.prices if isinstance(info.prices, list) else []
    days = sorted({c.start_date for p in prices if hasattr(c := p.constraint, "start_date")})
    daily = [p.constraint for p in prices if hasattr(p.constraint, "start_time")]
    times = sorted({_utc(moment) for one in daily for moment in (one.start_time, one.end_time)} - {time(0)})
    for since, until in _ranges(days):
        # A moment of the range tells for all of it.
        day = since or (until - timedelta(days=1) if until else _LONG_AGO)
        for day_from, day_until in _ranges(times):
            found = info.get_prices(datetime.combine(day, day_from or time(0), tzinfo=UTC))
            for above, up_to in _tiers(found):
                unit = _unit(found, above)
                if unit is not None:
                    yield UnitPrice(
                        _iso(since), _iso(until), _iso(day_from), _iso(day_until), above, up_to,
                        unit["input"], unit["output"], unit["cache_read"], unit["cache_write"], unit["cache_write_1h"],
                    )  # fmt: skip


def _model(name: str) -> Any:  # noqa: ANN401 - a class of the package
    from genai_prices.data_snapshot import get_snapshot

    snapshot = get_snapshot()
    bare = _WINDOW.sub("", name).strip()
    tries: list[tuple[str, str | None]] = [(name, None), (bare, None)]
    before, slash, rest = bare.partition("/")
    if slash:
        # As routers call it: the maker's own price, else the router's.
        tries += [(rest, before), (rest, None), (bare, "openrouter")]
    if _REGION.match(bare):
        tries.append((bare, "aws"))
    fast = _FAST.fullmatch(bare.lower())
    if fast:
        # A mode that costs several times as much. The maker's own list has no prices of it: it would be taken for the
        # model whose name it begins with. A router that asks what the maker asks has them, under the maker's numbers.
        tries = [(f"anthropic/{'.'.join(filter(None, fast.groups()))}-fast", "openrouter")]
    for model, provider in tries:
        try:
            return snapshot.find_provider_model(model, None, provider, None)[1]
        except LookupError:
            continue
    return None


def _utc(moment: time) -> time:
    if moment.tzinfo is None:
        return moment
    return datetime.combine(_LONG_AGO, moment).astimezone(UTC).time()


def _iso(bound: date | time | None) -> str | None:
    return None if bound is None else bound.isoformat()


def _ranges(bounds: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Return the ranges between bounds, the first and the last open: `[a, b]` gives `(None, a), (a, b), (b, None)`."""
    return list(zip([None, *bounds], [*bounds, None], strict=True))


_KEYS = ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok", "cache_write_5m_mtok",
         "cache_write_1h_mtok")  # fmt: skip


def _tiers(prices: Any) -> list[tuple[int, int | None]]:  # noqa: ANN401 - a class of the package
    starts = {tier.start for key in _KEYS for tier in getattr(getattr(prices, key), "tiers", ())} - {0}
    return [(above or 0, up_to) for above, up_to in _ranges(sorted(starts))]


def _unit(prices: Any, above: int) -> dict[str, str] | None:  # noqa: ANN401 - a class of the package
    """Return the price of a token of each kind for calls of more than `above` tokens; None where tokens have none."""
    each: dict[str, Decimal] = {}
    for key in _KEYS:
        price = getattr(prices, key)
        if price is not None and not isinstance(price, Decimal):
            price = next((tier.price for tier in reversed(price.tiers) if tier.start <= above), price.base)
        if price is not None:
            each[key] = price / _MILLION
    if not each.keys() & {"input_mtok", "output_mtok"}:
        return None
    first = each.get("input_mtok", Decimal(0))
    write = each.get("cache_write_5m_mtok", each.get("cache_write_mtok"))
    return {
        "input": _text(first),
        "output": _text(each.get("output_mtok", Decimal(0))),
        # Without a price of their own they cost what other input costs.
        "cache_read": _text(each.get("cache_read_mtok", first)),
        "cache_write": _text(first if write is None else write),
        "cache_write_1h": _text(each.get("cache_write_1h_mtok", first if write is None else 2 * first)),
    }


def _text(price: Decimal) -> str:
    return format(price.quantize(Decimal(1).scaleb(-PLACES)).normalize(), "f")
