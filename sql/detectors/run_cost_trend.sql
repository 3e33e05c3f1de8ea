/*---
title = "Pipelines whose runs cost more than they did"
issue = "Rising cost"
doc = """
Compares the mean cost of a run in the later half of the project's period with that in the earlier half, in the
pipeline's cost measure. A rise to at least the ratio is reported, if most of the later runs cost more than the earlier
mean: one run that ran away is an outlier, not a trend.
"""
enabled = false
sessions = true
finding = """
A run of {pipeline} cost {baseline} on average before {middle_time}, and {observed} from then on: {ratio:n} times as \
much. {above} of the later {recent_runs} cost more than the earlier mean."""
action = """
Find out what changed (the model, the number of calls, the size of the inputs), and decide whether it is worth its \
price."""
effort = "M"
burden = 3
counts_failures = false
occurrences = ["later run above the earlier mean", "later runs above the earlier mean"]
saving = "What the later half cost above the earlier mean: {recent_cost} - {recent_runs:n} x {baseline}."
subject_kind = "pipeline"
needs = ["events"]

[minimum]
pipeline_runs = 20

[params.min_ratio]
default = 1.25
unit = "times the earlier mean"
doc = "A pipeline whose later runs cost at least this multiple is reported."

[params.min_runs]
default = 10
unit = "runs in each half"
doc = "With fewer runs in one of the halves nothing is compared."

[params.min_above]
default = 0.6
unit = "share of the later runs"
doc = "At least this share of the later runs must cost more than the earlier mean."

[columns.observed]
label = "Mean cost of a later run"
unit = "cost"

[columns.baseline]
label = "Mean cost of an earlier run"
unit = "cost"

[columns.threshold]
label = "Reported from"
unit = "cost"

[columns.ratio]
label = "Times the earlier mean"
unit = "times"

[columns.middle_time]
label = "The later half begins"
unit = "time"

[columns.earlier_runs]
label = "Runs before"
unit = "runs"

[columns.recent_runs]
label = "Runs since"
unit = "runs"

[columns.above]
label = "Later runs above the earlier mean"

[columns.recent_cost]
label = "Cost of the later runs"
unit = "cost"
---*/
with param as (
    select * from params.run_cost_trend
),

placed as (
    -- The bucket (unassigned) is no pipeline: what is in it changes with what is known.
    select
        r.pipeline,
        r.cost,
        h.middle_time,
        r.started >= h.middle_time as is_recent
    from runs as r
    inner join pipeline_halves as h on r.pipeline = h.pipeline
    where not r.from_feedback and r.started is not null and r.pipeline <> '(unassigned)'
),

halves as (
    select
        pipeline,
        middle_time,
        count(*) filter (where is_recent) as recent_runs,
        count(*) filter (where not is_recent) as earlier_runs,
        cast(sum(cost) filter (where is_recent) as decimal(38, 12)) as recent_cost,
        cast(sum(cost) filter (where not is_recent) as decimal(38, 12)) as earlier_cost
    from placed
    group by pipeline, middle_time
),

compared as (
    -- c(r) > earlier cost / earlier runs, cross-multiplied.
    select
        h.pipeline,
        h.middle_time,
        h.recent_runs,
        h.earlier_runs,
        h.recent_cost,
        h.earlier_cost,
        count(*) as above
    from halves as h
    inner join placed as r on h.pipeline = r.pipeline
    where r.is_recent and r.cost * h.earlier_runs > h.earlier_cost
    group by all
),

flagged as (
    select c.*
    from compared as c
    cross join param as p
    where
        c.recent_runs >= p.min_runs
        and c.earlier_runs >= p.min_runs
        and c.earlier_cost > 0
        and c.recent_cost * c.earlier_runs >= p.min_ratio * c.earlier_cost * c.recent_runs
        and c.above >= p.min_above * c.recent_runs
)

select
    f.pipeline,
    f.pipeline as subject,
    prorate(f.recent_cost, 1, f.recent_runs) as observed,
    prorate(f.earlier_cost, 1, f.earlier_runs) as baseline,
    p.min_ratio * prorate(f.earlier_cost, 1, f.earlier_runs) as threshold,
    f.above as occurrences,
    f.above as affected_runs,
    pl.runs as total_runs,
    -- What the later runs cost above the price of as many earlier ones.
    f.recent_cost - prorate(f.earlier_cost, f.recent_runs, f.earlier_runs) as saving,
    pl.cost as saving_of,
    pl.cost_basis as saving_basis,
    about(pico(f.recent_cost) * f.earlier_runs, pico(f.earlier_cost) * f.recent_runs) as ratio,
    f.middle_time,
    f.earlier_runs,
    f.recent_runs,
    f.above,
    f.recent_cost
from flagged as f
inner join pipelines as pl on f.pipeline = pl.pipeline
cross join param as p
order by f.pipeline
