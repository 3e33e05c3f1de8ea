/*---
title = "The run among its neighbours"
headline = "{subject} cost {observed:cost}, {ratio:times} the mean run"
page = "recommendation"
detectors = ["cost_outlier"]
kind = "points"
x = "started"
y = "cost"
mark = "this_one"
label = "run"
line = "line_at"
line_label = "reported from here"
note = "Twenty runs before and after it."

[columns.started]
label = "Started"
unit = "time"

[columns.run]
label = "Run"

[columns.cost]
label = "Cost"
unit = "cost"

[columns.this_one]
label = "This recommendation"
---*/
select
    f.detector,
    f.pipeline,
    f.subject_key,
    pl.cost_measure as measure,
    r.started,
    r.run,
    r.cost,
    r.run_key = f.subject_key as this_one,
    f.threshold as line_at,
    f.subject,
    f.observed,
    prorate(1, pico(f.observed), nullif(pico(f.baseline), 0)) as ratio
from findings as f
inner join pipelines as pl on f.pipeline = pl.pipeline
inner join runs as t on f.pipeline = t.pipeline and f.subject_key = t.run_key
inner join runs as r on f.pipeline = r.pipeline and r.run_rank between t.run_rank - 20 and t.run_rank + 20
where f.detector = 'cost_outlier' and r.started is not null
order by f.finding_no, r.run_rank
