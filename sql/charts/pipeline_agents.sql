/*---
title = "Share of the events of each agent"
headline = [
    "{busiest} has {busiest_share:share} of the events, {busiest_ratio:times} an even share",
    "No agent reaches {min_ratio:times} an even share; the busiest, {top_agent}, has {top_share:share}",
]
page = "pipeline"
kind = "rows"
x = "share"
y = "agent"
mark = "bottleneck"
link = "agent"
line = "line_at"
line_label = "bottleneck from here"
note = "Of the events whose agent is known."

[columns.agent]
label = "Agent"

[columns.share]
label = "Share of the events"
unit = "share"

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
    -- Twenty agents by name, the others as one.
    select
        pipeline,
        cost_measure as measure,
        case when place <= 20 then agent else '(others)' end as agent,
        least(place, 21) as place,
        cast(sum(events) as bigint) as events,
        cast(sum(cost) as decimal(38, 12)) as cost,
        -- Runs of several agents overlap: nobody knows their sum.
        case when count(*) = 1 then max(runs) end as runs,
        max(attributed_events) as attributed_events,
        max(event_agents) as event_agents
    from ranked
    group by pipeline, cost_measure, case when place <= 20 then agent else '(others)' end, least(place, 21)
)

select
    d.pipeline,
    d.measure,
    d.agent,
    case when d.place > 0 then prorate(1, d.events, nullif(d.attributed_events, 0)) end as share,
    d.events,
    d.cost,
    d.runs,
    f.finding_no is not null as bottleneck,
    prorate(p.min_ratio, 1, nullif(d.event_agents, 0)) as line_at,
    p.min_ratio,
    arg_min(d.agent, d.place) filter (where f.finding_no is not null) over of_pipeline as busiest,
    prorate(
        1,
        max(d.events) filter (where f.finding_no is not null) over of_pipeline,
        nullif(d.attributed_events, 0)
    ) as busiest_share,
    prorate(
        1,
        max(d.events) filter (where f.finding_no is not null) over of_pipeline * d.event_agents,
        nullif(d.attributed_events, 0)
    ) as busiest_ratio,
    arg_min(d.agent, d.place) filter (where d.place > 0) over of_pipeline as top_agent,
    prorate(
        1,
        max(d.events) filter (where d.place between 1 and 20) over of_pipeline,
        nullif(d.attributed_events, 0)
    ) as top_share
from folded as d
cross join params.bottleneck_agent as p
left join findings as f
    on f.detector = 'bottleneck_agent' and d.pipeline = f.pipeline and d.agent = f.subject
window of_pipeline as (partition by d.pipeline)
order by d.pipeline, d.place = 0, d.place
