"""Which prices hold for the models of a project's events: its own, else those of the list; and what is to be said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, time
from decimal import Decimal
from typing import Any

from reportgen.model import Notice
from reportgen.names import fold
from reportgen.rawtables import RAW_TABLES
from reportgen.settings import Settings
from reportgen.warehouse import Warehouse

#: Models that are named one by one in the notices of one kind; the rest are counted.
_NAMED = 20
#: A price and a cost that is told may differ by one part in so many.
_TOLERANCE = 20


def fill_prices(store: Warehouse, settings: Settings) -> None:
    """Fill `raw.prices` for the models of `raw.events` that tell tokens. Nothing is looked up where there is none."""
    own = {fold(name): prices for name, prices in settings.prices.items()}
    if not own and not settings.price_list:
        return
    models = [
        str(row[0])
        for row in store.query(
            "select distinct model from raw.events where model is not null"
            " and (input_tokens is not null or output_tokens is not null) order by model"
        ).rows
    ]
    if not models:
        return
    from reportgen import pricelist

    found: dict[str, tuple[pricelist.UnitPrice, ...]]
    found = {model: (pricelist.own_price(own[fold(model)]),) for model in models if fold(model) in own}
    rest = [model for model in models if model not in found]
    is_own = frozenset(found)
    if settings.price_list and rest:
        found |= pricelist.listed(rest)
    rows: list[Sequence[Any]] = [
        (
            model,
            *(None if day is None else datetime.fromisoformat(day) for day in (one.since, one.until)),
            *(None if moment is None else time.fromisoformat(moment) for moment in (one.day_from, one.day_until)),
            # No input at all is no more than nothing, and belongs to the first tier.
            one.above or -1, one.up_to,
            *map(Decimal, (one.input, one.output, one.cache_read, one.cache_write, one.cache_write_1h)),
            model in is_own,
        )
        for model, prices in sorted(found.items())
        for one in prices
    ]  # fmt: skip
    store.fill("raw.prices", RAW_TABLES["prices"], rows)


def price_notices(store: Warehouse, *, listed: bool = True) -> Iterator[Notice]:
    """Yield what is to be said of costs that were priced, could not be, or differ from what the events tell.

    `listed`: the price list was asked.
    """
    why = "no price is known" if listed else "the price list is switched off ([prices] list), and no price is given"
    told = store.query(
        """
        select count(*), sum(price_usd), count(distinct model) from event_prices
        """
    ).rows[0]
    if told[0]:
        yield Notice(
            code="priced",
            message=f"{_events(told[0])} of {_count(told[2], 'model')} {_tell(told[0])} no cost: priced from tokens and"
            f" model, {usd(told[1])} in all",
            severity="info",
            count=told[0],
        )
    unknown = store.query(
        """
        select e.model, count(*), sum(e.total_tokens)
        from seen_events as e
        where
            e.cost_usd is null and e.model is not null and e.total_tokens > 0
            and e.event_no not in (select event_no from event_prices)
        group by e.model order by sum(e.total_tokens) desc, e.model
        """
    ).rows
    for model, events, tokens in unknown[:_NAMED]:
        yield Notice(
            code="price-unknown",
            message=f"{why} for model '{model}': the cost of {_events(events)} with {tokens:,} tokens is"
            " unknown (a price of your own goes into [prices] of reportgen.toml)",
            count=events,
        )
    if len(unknown) > _NAMED:
        rest = unknown[_NAMED:]
        yield Notice(
            code="price-unknown",
            message=f"{why} for {_count(len(rest), 'more model')}: the cost of"
            f" {_events(sum(row[1] for row in rest))} with {sum(row[2] for row in rest):,} tokens is unknown",
            count=sum(row[1] for row in rest),
        )
    if unknown:
        known, carrying = store.query(
            "select cast(sum(with_usd) as bigint), cast(sum(carrying) as bigint) from event_sums"
        ).rows[0]
        yield Notice(
            code="cost-known",
            message=f"the cost is known for {known * 100 // carrying}% of the events that tell a cost or tokens"
            f" ({known:,} of {carrying:,}); what is unknown adds nothing to any total",
            severity="info",
            count=carrying - known,
        )
    differing = store.query(
        f"""
        select model, events, told_usd, price_usd from price_checks
        where abs(told_usd - price_usd) * {_TOLERANCE} > told_usd
        order by abs(told_usd - price_usd) desc, model
        """
    ).rows
    for model, events, said, priced in differing[:_NAMED]:
        yield Notice(
            code="price-differs",
            message=f"model '{model}': {_events(events)} {_tell(events)} {usd(said)}, and its price would give"
            f" {usd(priced)}; what is told counts",
            count=events,
        )


def usd(amount: Decimal) -> str:
    """Return an amount in dollars, with cents, and with more digits where it is small."""
    return f"${amount:,.2f}" if amount >= 1 or not amount else f"${amount:.6f}".rstrip("0")


def _tell(count: int) -> str:
    return "tells" if count == 1 else "tell"


def _events(count: int) -> str:
    return _count(count, "event")


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
