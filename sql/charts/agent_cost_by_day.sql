/*---
title = "Cost per day"
headline = [
    "A run costs it {mean:cost} on average, {dearest:cost} at most",
    "Its only run cost {mean:cost}",
]
page = "agent"
kind = "bars"
x = "day"
y = "cost"
series = "pipeline"
facet = "measure"

[columns.day]
label = "Day"
unit = "date"

[columns.pipeline]
label = "Pipeline"

[columns.runs]
label = "Runs"

[columns.cost]
label = "Cost"
unit = "cost"
---*/
with of_agent as (
    select
        a.agent,
        m.cost_measure as measure,
        prorate(sum(a.cost), 1, count(*)) as mean,
        case when count(*) > 1 then max(a.cost) end as dearest
    from agent_runs as a
    inner join measures as m on a.pipeline = m.pipeline
    where a.attributed
    group by a.agent, m.cost_measure
)

select
    d.agent,
    m.cost_measure as measure,
    d.day,
    d.pipeline,
    d.runs,
    d.cost,
    o.mean,
    o.dearest
from agent_days as d
inner join measures as m on d.pipeline = m.pipeline
left join of_agent as o on d.agent = o.agent and m.cost_measure = o.measure
where d.attributed and d.day is not null
order by d.agent, m.cost_measure, d.day, d.pipeline
