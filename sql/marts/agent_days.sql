/*---
title = "What each agent cost each day"
doc = "One row per pipeline, agent and UTC day; a null day holds what is undated."

[columns]
pipeline = "Shown name"
agent = "Shown name, or (unattributed)"
attributed = "False for the bucket (unattributed)"
day = "UTC day; null: undated events"
events = "Events of the day"
cost = "Known cost in the pipeline's measure"
usd = "Known US dollars, whatever the measure"
with_usd = "Events with a known cost_usd"
runs = "Runs of which the agent has an event on the day"
---*/
select
    e.pipeline,
    e.agent,
    e.attributed,
    cast(e.event_time as date) as day,
    count(*) as events,
    cast(
        coalesce(
            sum(
                case m.cost_measure
                    when 'usd' then e.cost_usd
                    when 'tokens' then cast(e.total_tokens as decimal(38, 12))
                    else cast(1 as decimal(38, 12))
                end
            ),
            0
        ) as decimal(38, 12)
    ) as cost,
    cast(coalesce(sum(e.cost_usd), 0) as decimal(38, 12)) as usd,
    count(e.cost_usd) as with_usd,
    count(distinct e.run_key) as runs
from events as e
inner join measures as m on e.pipeline = m.pipeline
group by e.pipeline, e.agent, e.attributed, cast(e.event_time as date)
order by e.pipeline, e.agent, day
