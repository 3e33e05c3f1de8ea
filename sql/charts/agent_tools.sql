/*---
title = "Tools it uses"
headline = "{top_tool} is {top_share:share} of its events"
page = "agent"
kind = "rows"
x = "events"
y = "tool"

[columns.tool]
label = "Tool"

[columns.events]
label = "Events"
unit = "events"
---*/
with sums as (
    select
        agent,
        tool,
        cast(sum(events) as bigint) as events,
        row_number() over (partition by agent order by sum(events) desc, tool asc) as place
    from agent_tools
    where agent <> '(unattributed)'
    group by agent, tool
)

select
    agent,
    tool,
    events,
    -- What names no tool says nothing of one.
    case when arg_min(tool, place) over of_agent <> '(none)' then arg_min(tool, place) over of_agent end as top_tool,
    prorate(1, max(events) over of_agent, nullif(sum(events) over of_agent, 0)) as top_share
from sums
window of_agent as (partition by agent)
-- A few tools are read faster in the table above it.
qualify place <= 20 and count(*) over of_agent > 6
order by agent, place
