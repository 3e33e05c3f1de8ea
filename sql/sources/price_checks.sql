/*---
title = "Costs that are told, against the price list"
doc = "One row per model: what its events tell that they cost, and what they would cost by the price of the model."

[columns]
model = "Model used"
events = "Events that tell a cost, their tokens and this model"
told_usd = "US dollars that they tell"
price_usd = "US dollars by the price list, or by the project's own price"
---*/
with calls as (
    select
        event_time,
        model,
        cost_usd,
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
    where cost_basis = 'reported' and (input_tokens is not null or output_tokens is not null)
),

sums as (
    -- Added up first: one multiplication for each price, not for each event.
    select
        p.model,
        p.input_usd,
        p.output_usd,
        p.cache_read_usd,
        p.cache_write_usd,
        p.cache_write_1h_usd,
        count(*) as events,
        sum(c.cost_usd) as told_usd,
        cast(sum(c.fresh_tokens) as decimal(20, 0)) as fresh_tokens,
        cast(sum(c.output_tokens) as decimal(20, 0)) as output_tokens,
        cast(sum(c.read_tokens) as decimal(20, 0)) as read_tokens,
        cast(sum(c.write_tokens - c.long_write_tokens) as decimal(20, 0)) as write_tokens,
        cast(sum(c.long_write_tokens) as decimal(20, 0)) as long_write_tokens
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
    group by all
)

select
    model,
    cast(sum(events) as bigint) as events,
    cast(sum(told_usd) as decimal(38, 12)) as told_usd,
    cast(
        sum(
            fresh_tokens * input_usd
            + output_tokens * output_usd
            + read_tokens * cache_read_usd
            + write_tokens * cache_write_usd
            + long_write_tokens * cache_write_1h_usd
        ) as decimal(38, 12)
    ) as price_usd
from sums
group by model
order by model
