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
select
    e.pipeline,
    e.agent,
    coalesce(e.tool_name, '(none)') as tool,
    count(*) as events,
    case
        when
            count(
                case m.cost_measure
                    when 'usd' then e.cost_usd
                    when 'tokens' then e.total_tokens
                    else 1
                end
            ) > 0
            then cast(
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
            )
    end as cost
from events as e
inner join measures as m on e.pipeline = m.pipeline
group by e.pipeline, e.agent, coalesce(e.tool_name, '(none)')
order by e.pipeline asc, e.agent asc, events desc, tool asc
