/*---
title = "Mean review score per week, by pipeline"
page = "overview"
kind = "lines"
x = "week"
y = "mean_score"
series = "pipeline"
line = "score_flag"
line_label = "low score"

[columns.week]
label = "Week from"
unit = "date"

[columns.pipeline]
label = "Pipeline"

[columns.mean_score]
label = "Mean score"
unit = "score"

[columns.reviews]
label = "Reviews"
---*/
select
    cast(date_trunc('week', f.feedback_date) as date) as week,
    f.pipeline,
    cast(avg(f.score) as decimal(18, 2)) as mean_score,
    count(*) as reviews,
    w.score_flag
from feedback as f
cross join window_bounds as w
cross join params.report as rp
where rp.pipeline in ('', f.pipeline) and f.score is not null and f.feedback_date is not null
group by cast(date_trunc('week', f.feedback_date) as date), f.pipeline, w.score_flag
order by week, f.pipeline
