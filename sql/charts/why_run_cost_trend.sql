/*---
title = "Cost of each run, before and after the middle of the period"
headline = "A run costs {observed:cost} in the later half, {earlier_mean:cost} in the earlier"
page = "recommendation"
detectors = ["run_cost_trend"]
kind = "points"
x = "started"
y = "cost"
series = "half"
label = "run"
level = "half_mean"
note = "The latest 120 runs of each half."

[colours]
"earlier" = "1"
"later" = "2"

[columns.started]
label = "Started"
unit = "time"

[columns.half]
label = "Half"

[columns.run]
label = "Run"

[columns.cost]
label = "Cost"
unit = "cost"

[columns.half_mean]
label = "Mean of the half"
unit = "cost"
---*/
with placed as (
    select
        f.finding_no,
        f.detector,
        f.subject_key,
        f.baseline,
        f.observed,
        r.*,
        case when r.started >= h.middle_time then 'later' else 'earlier' end as half
    from findings as f
    inner join runs as r on f.pipeline = r.pipeline
    inner join pipeline_halves as h on f.pipeline = h.pipeline
    where f.detector = 'run_cost_trend' and not r.from_feedback and r.started is not null
)

select
    p.detector,
    p.pipeline,
    p.subject_key,
    pl.cost_measure as measure,
    p.started,
    p.half,
    p.run,
    p.cost,
    case p.half when 'later' then p.observed else p.baseline end as half_mean,
    p.observed,
    p.baseline as earlier_mean
from placed as p
inner join pipelines as pl on p.pipeline = pl.pipeline
qualify row_number() over (partition by p.finding_no, p.half order by p.run_rank desc) <= 120
order by p.finding_no, p.run_rank
