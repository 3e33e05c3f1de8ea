/*---
title = "Feedback tags"
doc = "One row per feedback row and tag."
---*/
select
    f.row_no,
    f.line_no,
    f.feedback_date,
    f.pipeline,
    f.agent,
    f.attributed,
    t.tag
from feedback as f
cross join unnest(f.tags) as t (tag)
order by f.row_no, t.tag
