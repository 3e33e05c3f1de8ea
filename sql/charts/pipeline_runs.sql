/*---
title = "Cost of each run"
page = "pipeline"
kind = "points"
x = "started"
y = "cost"
mark = "outlier"
label = "run"
line = "line_at"
line_label = "outlier from here"
note = "The latest 1,000 runs and every outlier; all runs are in runs.csv."

[columns.started]
label = "Started"
unit = "time"

[columns.run]
label = "Run"

[columns.cost]
label = "Cost"
unit = "cost"

[columns.events]
label = "Events"

[columns.outlier]
label = "Outlier"

[columns.incomplete]
label = "Some costs unknown"
---*/
select
    r.pipeline,
    pl.cost_measure as measure,
    r.started,
    r.run,
    r.cost,
    r.events,
    f.finding_no is not null as outlier,
    r.incomplete,
    case when pl.runs > 0 then prorate(pl.run_cost * p.min_ratio, 1, pl.runs) end as line_at
from runs as r
inner join pipelines as pl on r.pipeline = pl.pipeline
cross join params.cost_outlier as p
left join findings as f
    on f.detector = 'cost_outlier' and r.pipeline = f.pipeline and r.run_key = f.subject_key
where
    not r.from_feedback
    and r.started is not null
    and (r.run_rank > pl.runs - 1000 or f.finding_no is not null)
order by r.pipeline, r.run_rank
