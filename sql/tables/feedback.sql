/*---
title = "Reviewers' feedback"
doc = "One row per review, as the feedback files have them."
---*/
select
    f.feedback_date,
    f.pipeline,
    f.agent,
    f.score,
    f.score_text,
    array_to_string(f.tags, ', ') as tags,
    f.issue,
    f.resolution
from feedback as f
cross join params.report as rp
where rp.pipeline in ('', f.pipeline)
order by f.row_no
