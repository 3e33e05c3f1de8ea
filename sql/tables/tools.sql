/*---
title = "Tools that agents use"
doc = "One row per pipeline, agent and tool. Costs are in the pipeline's measure."
---*/
select
    t.pipeline,
    t.agent,
    t.tool,
    t.events,
    t.cost
from agent_tools as t
cross join params.report as rp
where rp.pipeline in ('', t.pipeline)
order by t.pipeline asc, t.agent asc, t.events desc, t.tool asc
