/*---
title = "Events of each agent"
page = "pipeline"
kind = "rows"
x = "events"
y = "agent"
mark = "bottleneck"
line = "line_at"
line_label = "bottleneck from here"

[columns.agent]
label = "Agent"

[columns.events]
label = "Events"
unit = "events"

[columns.cost]
label = "Cost"
unit = "cost"

[columns.runs]
label = "Runs"

[columns.bottleneck]
label = "Bottleneck"
---*/
with ranked as (
    select
        a.*,
        pl.cost_measure,
        pl.attributed_events,
        pl.event_agents,
        case when a.attributed then row_number() over (
            partition by a.pipeline, a.attributed order by a.events desc, a.agent asc
        ) else 0 end as place
    from agents as a
    inner join pipelines as pl on a.pipeline = pl.pipeline
    where a.events > 0
),

folded as (
    -- Twenty agents by name, the others as one row.
    select
        pipeline,
        cost_measure as measure,
        case when place <= 20 then agent else '(others)' end as agent,
        least(place, 21) as place,
        sum(events) as events,
        sum(cost) as cost,
        max(runs) as runs,
        max(attributed_events) as attributed_events,
        max(event_agents) as event_agents
    from ranked
    group by pipeline, cost_measure, case when place <= 20 then agent else '(others)' end, least(place, 21)
)

select
    d.pipeline,
    d.measure,
    d.agent,
    cast(d.events as bigint) as events,
    cast(d.cost as decimal(38, 12)) as cost,
    d.runs,
    f.finding_no is not null as bottleneck,
    case
        when d.event_agents > 0 then prorate(p.min_ratio, d.attributed_events, d.event_agents)
    end as line_at
from folded as d
cross join params.bottleneck_agent as p
left join findings as f
    on f.detector = 'bottleneck_agent' and d.pipeline = f.pipeline and d.agent = f.subject
order by d.pipeline, d.place = 0, d.place
