/*---
title = "Cost of each model"
headline = [
    "{top_model} is {top_share:share} of the cost that is known",
    "No cost of a model is known",
]
page = "overview"
kind = "rows"
x = "cost"
y = "model"
note = "Of the events whose cost is known. Cache: how much of the input was read from the cache, where that is told."

[columns.model]
label = "Model"

[columns.cost]
label = "Cost"
unit = "usd"

[columns.share]
label = "Share of the cost"
unit = "share"

[columns.events]
label = "Events"
unit = "events"

[columns.unknown]
label = "Cost unknown"
unit = "events"

[columns.tokens]
label = "Tokens"
unit = "tokens"

[columns.cached]
label = "Cache"
unit = "share"
---*/
with sums as (
    select
        e.model,
        sum(e.usd) as cost,
        sum(e.events) as events,
        sum(e.events) - sum(e.with_usd) as unknown,
        sum(e.tokens) as tokens,
        sum(e.all_cache_reads) as cache_reads,
        sum(e.all_cache_input) as input
    from event_sums as e
    cross join params.report as rp
    where rp.pipeline in ('', e.pipeline)
    group by e.model
),

ranked as (
    -- What names no model comes last.
    select
        *,
        row_number() over (order by model is null asc, cost desc nulls last, events desc, model asc) as place
    from sums
),

folded as (
    -- Twenty models by name, the others as one.
    select
        case when place <= 20 then coalesce(model, '(none named)') else '(others)' end as model,
        least(place, 21) as place,
        cast(sum(cost) as decimal(38, 12)) as cost,
        cast(sum(events) as bigint) as events,
        cast(sum(unknown) as bigint) as unknown,
        cast(sum(tokens) as bigint) as tokens,
        sum(cache_reads) as cache_reads,
        sum(input) as input
    from ranked
    group by case when place <= 20 then coalesce(model, '(none named)') else '(others)' end, least(place, 21)
)

select
    model,
    cost,
    prorate(1, pico(cost), nullif(pico(cast(sum(cost) over () as decimal(38, 12))), 0)) as share,
    events,
    unknown,
    tokens,
    prorate(1, cache_reads, nullif(input, 0)) as cached,
    case when max(cost) over () > 0 then arg_max(model, cost) over () end as top_model,
    prorate(1, pico(max(cost) over ()), nullif(pico(cast(sum(cost) over () as decimal(38, 12))), 0)) as top_share
from folded
-- Where no event names its model, or all name one, there is nothing to compare.
qualify count(*) over () > 1
order by place
