/*---
title = "Cost per {bar}, by agent"
headline = "{dearest} costs most: {mark} {dearest_cost:cost}, {dearest_share:share} of all"
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

unsure as (
    select
        s.pipeline,
        s.agent,
        cost_mark(s.cost_basis, coalesce(bool_or(a.unknown_costs > 0), false)) as mark
    from agents as s
    left join agent_runs as a on s.pipeline = a.pipeline and s.agent = a.agent
    group by s.pipeline, s.agent, s.cost_basis
),

tops as (
    select
        r.pipeline,
        case when count(*) > 1 then arg_min(r.agent, r.place) end as dearest,
        max(r.cost) as dearest_cost,
        arg_min(u.mark, r.place) as mark,
        prorate(1, pico(max(r.cost)), nullif(pico(cast(sum(r.cost) as decimal(38, 12))), 0)) as dearest_share
    from ranked as r
    inner join unsure as u on r.pipeline = u.pipeline and r.agent = u.agent
    group by r.pipeline
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
    max(t.mark) as mark,
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
