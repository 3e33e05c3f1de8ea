/*---
title = "Healing incidents"
doc = "One row per incident: attempts of one run, agent and error type, one after the other, whose number rises."
---*/
select
    i.pipeline,
    i.agent,
    i.run_id,
    i.error_type,
    i.outcome,
    i.attempts,
    i.first_time,
    i.last_time,
    i.last_action,
    i.last_reason
from healing_incidents as i
cross join params.report as rp
where rp.pipeline in ('', i.pipeline)
order by i.first_time nulls last, i.pipeline, i.agent, i.run_id, i.error_type, i.incident_no
