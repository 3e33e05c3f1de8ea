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
    e.day,
    cast(sum(e.events) as bigint) as events,
    cast(
        coalesce(
            sum(
                case m.cost_measure
                    when 'usd' then e.usd
                    when 'tokens' then cast(e.tokens as decimal(38, 12))
                    else cast(e.events as decimal(38, 12))
                end
            ),
            0
        ) as decimal(38, 12)
    ) as cost,
    cast(coalesce(sum(e.usd), 0) as decimal(38, 12)) as usd,
    cast(sum(e.with_usd) as bigint) as with_usd,
    count(distinct e.run_key) as runs
from event_sums as e
inner join measures as m on e.pipeline = m.pipeline
group by e.pipeline, e.agent, e.attributed, e.day
order by e.pipeline, e.agent, e.day
