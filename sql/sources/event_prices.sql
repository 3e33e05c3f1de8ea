/*---
title = "What events cost by the price list"
doc = """
One row per event that tells no cost, but its tokens and a model whose price is known: what it costs by that price at
its time (an undated one: at the latest price). Input tokens hold what was read from a
cache, and written to it, where the total says so; a call of more input than a tier begins at costs that tier for all.
"""

[columns]
event_no = "Number of the event, in reading order"
model = "Model used"
price_usd = "US dollars by the price list, or by the project's own price"
price_basis = "priced; estimated where its tokens are an estimate"
---*/
with calls as (
    select
        event_no,
        event_time,
        model,
        tokens_estimated,
        coalesce(input_tokens, 0) - case
            when
                cache_read_tokens <= input_tokens
                and total_tokens = input_tokens + coalesce(output_tokens, 0) + coalesce(cache_write_tokens, 0)
                then cache_read_tokens
            when
                cache_write_tokens > 0 and total_tokens = input_tokens + coalesce(output_tokens, 0)
                and coalesce(cache_read_tokens, 0) + cache_write_tokens <= input_tokens
                then coalesce(cache_read_tokens, 0) + cache_write_tokens
            else 0
        end as fresh_tokens,
        coalesce(output_tokens, 0) as output_tokens,
        coalesce(cache_read_tokens, 0) as read_tokens,
        coalesce(cache_write_tokens, 0) as write_tokens,
        least(coalesce(cache_write_1h_tokens, 0), coalesce(cache_write_tokens, 0)) as long_write_tokens
    from seen_events
    where cost_usd is null and (input_tokens is not null or output_tokens is not null)
)

select
    c.event_no,
    c.model,
    cast(
        cast(c.fresh_tokens as decimal(13, 0)) * p.input_usd
        + cast(c.output_tokens as decimal(13, 0)) * p.output_usd
        + cast(c.read_tokens as decimal(13, 0)) * p.cache_read_usd
        + cast(c.write_tokens - c.long_write_tokens as decimal(13, 0)) * p.cache_write_usd
        + cast(c.long_write_tokens as decimal(13, 0)) * p.cache_write_1h_usd
        as decimal(38, 12)
    ) as price_usd,
    case when c.tokens_estimated then 'estimated' else 'priced' end as price_basis
from calls as c
inner join raw.prices as p
    on
        c.model = p.model
        and (p.since_time is null or c.event_time is null or c.event_time >= p.since_time)
        and (p.until_time is null or c.event_time < p.until_time)
        and (p.day_from is null or cast(c.event_time as time) >= p.day_from)
        and (p.day_until is null or c.event_time is null or cast(c.event_time as time) < p.day_until)
        and c.fresh_tokens + c.read_tokens + c.write_tokens > p.above_tokens
        and (p.up_to_tokens is null or c.fresh_tokens + c.read_tokens + c.write_tokens <= p.up_to_tokens)
order by c.event_no
