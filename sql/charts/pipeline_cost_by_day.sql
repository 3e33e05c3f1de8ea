/*---
title = "Cost per day, by agent"
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
        row_number() over (partition by pipeline order by sum(cost) desc, agent) as place
    from agent_days
    where day is not null
    group by pipeline, agent
)

select
    d.pipeline,
    m.cost_measure as measure,
    d.day,
    case when r.place <= 8 then d.agent else '(others)' end as agent,
    cast(sum(d.cost) as decimal(38, 12)) as cost
from agent_days as d
inner join measures as m on d.pipeline = m.pipeline
inner join ranked as r on d.pipeline = r.pipeline and d.agent = r.agent
where d.day is not null
group by d.pipeline, m.cost_measure, d.day, case when r.place <= 8 then d.agent else '(others)' end
order by d.pipeline, d.day, agent
