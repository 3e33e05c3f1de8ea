/*---
title = "Recovery attempts"
doc = "One row per line of the healing log."
---*/
select
    h.log_time,
    h.pipeline,
    h.agent,
    h.run_id,
    h.error_type,
    h.attempt,
    h.max_attempts,
    h.action,
    h.exit_code,
    h.reason,
    h.context
from healing_attempts as h
cross join params.report as rp
where rp.pipeline in ('', h.pipeline)
order by h.row_no
