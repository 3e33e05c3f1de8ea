/*---
title = "Feedback tags"
doc = "One row per feedback row and tag."

[columns]
row_no = "Number of the feedback row"
line_no = "Line of the input file"
feedback_date = "Null is undated"
pipeline = "Shown name"
agent = "Shown name, or (unattributed)"
attributed = "False for the bucket (unattributed)"
tag = "The tag, folded"
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
