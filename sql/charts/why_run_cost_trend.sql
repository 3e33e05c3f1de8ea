/*---
title = "Mean cost of a run each day, before and after the middle of the period"
headline = "A run costs {observed:cost} in the later half, {earlier_mean:cost} in the earlier"
page = "recommendation"
detectors = ["run_cost_trend"]
kind = "points"
x = "day"
y = "cost"
series = "half"
level = "half_mean"

[colours]
"earlier" = "1"
"later" = "2"

[columns.day]
label = "Day"
unit = "date"

[columns.half]
label = "Half"

[columns.runs]
label = "Runs started"

[columns.cost]
label = "Mean cost of a run"
unit = "cost"

[columns.half_mean]
label = "Mean of the half"
unit = "cost"
---*/
with placed as (
    select
        f.finding_no,
        f.detector,
        f.pipeline,
        f.subject_key,
        f.baseline,
        f.observed,
        cast(r.started as date) as day,
        r.cost,
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
    p.day,
    p.half,
    count(*) as runs,
    prorate(sum(p.cost), 1, count(*)) as cost,
    case p.half when 'later' then p.observed else p.baseline end as half_mean,
    p.observed,
    p.baseline as earlier_mean
from placed as p
inner join pipelines as pl on p.pipeline = pl.pipeline
group by
    p.finding_no, p.detector, p.pipeline, p.subject_key, pl.cost_measure, p.day, p.half, p.observed, p.baseline
order by p.finding_no, p.day, p.half
