/*---
title = "Review scores"
page = "agent"
kind = "points"
x = "reviewed"
y = "score"
series = "pipeline"
mark = "low"
label = "issue"
line = "score_flag"
line_label = "low score"

[columns.reviewed]
label = "Reviewed"
unit = "date"

[columns.pipeline]
label = "Pipeline"

[columns.score]
label = "Score"
unit = "score"

[columns.low]
label = "Low"

[columns.tags]
label = "Tags"

[columns.issue]
label = "Issue"
---*/
select
    f.agent,
    f.feedback_date as reviewed,
    f.pipeline,
    cast(f.score as decimal(18, 2)) as score,
    f.score < w.score_flag as low,
    array_to_string(f.tags, ', ') as tags,
    f.issue,
    w.score_flag
from feedback as f
cross join window_bounds as w
where f.score is not null and f.feedback_date is not null and f.attributed
qualify row_number() over (partition by f.agent order by f.feedback_date desc, f.row_no desc) <= 500
order by f.agent, f.feedback_date, f.row_no
