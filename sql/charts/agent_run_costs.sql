/*---
title = "Cost per run"
page = "agent"
kind = "points"
x = "started"
y = "cost"
series = "pipeline"
label = "run"
facet = "measure"
note = "The latest 500 runs with this agent."

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
    a.events
from agent_runs as a
inner join runs as r on a.pipeline = r.pipeline and a.run_key = r.run_key
inner join measures as m on a.pipeline = m.pipeline
where a.attributed and r.started is not null
qualify row_number() over (partition by a.agent, m.cost_measure order by r.started desc, a.run_key asc) <= 500
order by a.agent, m.cost_measure, r.started, a.pipeline, a.run_key
