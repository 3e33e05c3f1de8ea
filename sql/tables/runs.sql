/*---
title = "Runs"
doc = "One row per run, in the order in which the runs of a pipeline began."
---*/
select
    r.pipeline,
    r.run,
    r.started,
    r.ended,
    r.events,
    r.agents,
    r.cost,
    r.incomplete
from runs as r
cross join params.report as rp
where rp.pipeline in ('', r.pipeline)
order by r.pipeline, r.run_rank
