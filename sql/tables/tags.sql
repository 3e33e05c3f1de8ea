/*---
title = "Tags of the feedback"
doc = "One row per pipeline, agent and tag: how many reviews carry it."
---*/
select
    t.pipeline,
    t.agent,
    t.tag,
    count(*) as feedback_rows
from feedback_tags as t
cross join params.report as rp
where rp.pipeline in ('', t.pipeline)
group by t.pipeline, t.agent, t.tag
order by t.pipeline asc, t.agent asc, feedback_rows desc, t.tag asc
