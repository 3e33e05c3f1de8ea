/*---
title = "Cost per day, by pipeline"
page = "overview"
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

[columns.cost]
label = "Cost"
unit = "cost"
---*/
select
    m.cost_measure as measure,
    d.day,
    d.pipeline,
    cast(sum(d.cost) as decimal(38, 12)) as cost
from agent_days as d
inner join measures as m on d.pipeline = m.pipeline
cross join params.report as rp
where d.day is not null and rp.pipeline in ('', d.pipeline)
group by m.cost_measure, d.day, d.pipeline
order by case m.cost_measure when 'usd' then 1 when 'tokens' then 2 else 3 end, d.day, d.pipeline
