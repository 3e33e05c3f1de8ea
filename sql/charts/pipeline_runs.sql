/*---
title = "Cost of each run"
headline = [
    "{outliers} of {runs} cost {min_ratio:times} the mean or more",
    "The dearest of {runs} costs {dearest_ratio:times} the mean",
]
page = "pipeline"
kind = "points"
x = "started"
y = "cost"
mark = "outlier"
link = "finding_no"
label = "run"
line = "line_at"
line_label = "outlier from here"
note = "The latest 100 runs and every outlier; all runs are in runs.csv."

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

[columns.finding_no]
label = "Recommendation"
---*/
with told as (
    -- Of all runs, those without a time included, which are not drawn.
    select
        r.pipeline,
        max(r.cost) as dearest,
        count(f.finding_no) as outliers
    from runs as r
    left join findings as f
        on f.detector = 'cost_outlier' and r.pipeline = f.pipeline and r.run_key = f.subject_key
    group by r.pipeline
)

select
    r.pipeline,
    pl.cost_measure as measure,
    r.started,
    r.run,
    r.cost,
    r.events,
    f.finding_no is not null as outlier,
    r.incomplete,
    f.finding_no,
    case when pl.runs > 0 then prorate(pl.run_cost * p.min_ratio, 1, pl.runs) end as line_at,
    p.min_ratio,
    nullif(t.outliers, 0) as outliers,
    counted(pl.runs, 'run') as runs,
    case
        when pl.runs > 1 then prorate(1, pico(t.dearest) * pl.runs, nullif(pico(pl.run_cost), 0))
    end as dearest_ratio
from runs as r
inner join pipelines as pl on r.pipeline = pl.pipeline
inner join told as t on r.pipeline = t.pipeline
cross join params.cost_outlier as p
left join findings as f
    on f.detector = 'cost_outlier' and r.pipeline = f.pipeline and r.run_key = f.subject_key
where
    not r.from_feedback
    and r.started is not null
    and (r.run_rank > pl.runs - 100 or f.finding_no is not null)
order by r.pipeline, r.run_rank
