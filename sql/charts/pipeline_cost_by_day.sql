/*---
title = "Cost per {bar}, by agent"
headline = "{dearest} costs most: {dearest_cost:cost}, {dearest_share:share} of all"
page = "pipeline"
kind = "bars"
x = "day"
y = "cost"
series = "agent"

[columns.day]
label = "Day"
unit = "date"

[columns.agent]
label = "Agent"

[columns.cost]
label = "Cost"
unit = "cost"
---*/
with ranked as (
    select
        pipeline,
        agent,
        cast(sum(cost) as decimal(38, 12)) as cost,
        row_number() over (partition by pipeline order by sum(cost) desc, agent) as place
    from agent_days
    where day is not null
    group by pipeline, agent
),

tops as (
    select
        pipeline,
        case when count(*) > 1 then arg_min(agent, place) end as dearest,
        max(cost) as dearest_cost,
        prorate(1, pico(max(cost)), nullif(pico(cast(sum(cost) as decimal(38, 12))), 0)) as dearest_share
    from ranked
    group by pipeline
),

bars as (
    -- Over years, a bar a day can't be told from its neighbours.
    select bar_of(min(day), max(day)) as bar
    from agent_days
)

select
    d.pipeline,
    m.cost_measure as measure,
    bar_start(d.day, b.bar) as day,
    case when r.place <= 8 then d.agent else '(others)' end as agent,
    cast(sum(d.cost) as decimal(38, 12)) as cost,
    b.bar,
    max(t.dearest) as dearest,
    max(t.dearest_cost) as dearest_cost,
    max(t.dearest_share) as dearest_share
from agent_days as d
inner join measures as m on d.pipeline = m.pipeline
inner join tops as t on d.pipeline = t.pipeline
inner join ranked as r on d.pipeline = r.pipeline and d.agent = r.agent
cross join bars as b
where d.day is not null
group by
    d.pipeline, m.cost_measure, b.bar, bar_start(d.day, b.bar), case when r.place <= 8 then d.agent else '(others)' end
order by d.pipeline, day, agent
