/*---
title = "The cost measure of each pipeline"
doc = """
One row per pipeline with events. An event carries cost if it has cost_usd (0 is a cost) or tokens above 0. The measure
is usd if at least 95% of those have cost_usd and their sum is above 0; else tokens if there are any; else events.
"""

[columns]
pipeline = "Shown name"
events = "All events"
carrying = "Events that carry cost"
with_usd = "Events with a known cost_usd"
with_tokens = "Events with a known token count"
usd = "Sum of the known cost_usd"
tokens = "Sum of the known token counts"
cost_measure = "usd, tokens or events"
---*/
with sums as (
    select
        pipeline,
        cast(sum(events) as bigint) as events,
        cast(sum(carrying) as bigint) as carrying,
        cast(sum(with_usd) as bigint) as with_usd,
        cast(sum(with_tokens) as bigint) as with_tokens,
        coalesce(sum(usd), 0) as usd,
        coalesce(sum(tokens), 0) as tokens
    from event_sums
    group by pipeline
)

select
    pipeline,
    events,
    carrying,
    with_usd,
    with_tokens,
    cast(usd as decimal(38, 12)) as usd,
    cast(tokens as decimal(38, 0)) as tokens,
    case
        when with_usd >= 1 and with_usd * 100 >= carrying * 95 and usd > 0 then 'usd'
        when tokens > 0 then 'tokens'
        else 'events'
    end as cost_measure
from sums
order by pipeline
