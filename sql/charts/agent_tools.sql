/*---
title = "Tools it uses"
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
select
    agent,
    tool,
    cast(sum(events) as bigint) as events
from agent_tools
where agent <> '(unattributed)'
group by agent, tool
qualify row_number() over (partition by agent order by sum(events) desc, tool) <= 20
order by agent asc, events desc, tool asc
