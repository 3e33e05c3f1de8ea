/*---
title = "Tools that agents use"
doc = "One row per pipeline, agent and tool."

[columns]
pipeline = "Shown name"
agent = "Shown name, or (unattributed)"
tool = "Name of the tool, or (none)"
events = "Events with the tool"
cost = "Their known cost in the pipeline's measure; null where none is known"
---*/
with sums as (
    -- By numbers: names are looked up for each row of sums, not for each event.
    select
        e.pipeline_no,
        e.agent_no,
        e.tool_name,
        count(*) as events,
        sum(coalesce(e.cost_usd, q.price_usd)) as usd,
        sum(e.total_tokens) as tokens
    from seen_events as e
    left join event_prices as q on e.event_no = q.event_no
    group by e.pipeline_no, e.agent_no, e.tool_name
)

select
    p.pipeline,
    p.agent,
    coalesce(s.tool_name, '(none)') as tool,
    cast(sum(s.events) as bigint) as events,
    cast(
        sum(
            case m.cost_measure
                when 'usd' then s.usd
                when 'tokens' then cast(s.tokens as decimal(38, 12))
                else cast(s.events as decimal(38, 12))
            end
        ) as decimal(38, 12)
    ) as cost
from sums as s
inner join event_places as p
    on s.pipeline_no is not distinct from p.pipeline_no and s.agent_no is not distinct from p.agent_no
inner join measures as m on p.pipeline = m.pipeline
group by p.pipeline, p.agent, coalesce(s.tool_name, '(none)')
order by p.pipeline asc, p.agent asc, events desc, tool asc
