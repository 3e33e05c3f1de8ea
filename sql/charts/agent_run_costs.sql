/*---
title = "Cost per run"
headline = [
    "A run costs it {mean:cost} on average, {dearest:cost} at most",
    "Its only run cost {mean:cost}",
]
page = "agent"
kind = "points"
x = "started"
y = "cost"
series = "pipeline"
label = "run"
facet = "measure"
note = "The latest 120 runs with this agent, and the dearest of all."

[columns.started]
label = "Run started"
unit = "time"

[columns.pipeline]
label = "Pipeline"

[columns.run]
label = "Run"

[columns.cost]
label = "Cost of the agent in it"
unit = "cost"

[columns.events]
label = "Events"
---*/
select
    a.agent,
    m.cost_measure as measure,
    r.started,
    a.pipeline,
    a.run,
    a.cost,
    a.events,
    prorate(sum(a.cost) over of_agent, 1, count(*) over of_agent) as mean,
    case when count(*) over of_agent > 1 then max(a.cost) over of_agent end as dearest
from agent_runs as a
inner join runs as r on a.pipeline = r.pipeline and a.run_key = r.run_key
inner join measures as m on a.pipeline = m.pipeline
where a.attributed and r.started is not null
window of_agent as (partition by a.agent, m.cost_measure)
qualify
    row_number() over (of_agent order by r.started desc, a.run_key asc) <= 120
    or row_number() over (of_agent order by a.cost desc, r.started desc, a.run_key asc) = 1
order by a.agent, m.cost_measure, r.started, a.pipeline, a.run_key
