/*---
title = "Runs that cost three times the usual"
issue = "Cost outlier"
doc = """
Compares the cost of each run with the mean over the runs of its pipeline, in the pipeline's cost measure. A run at or
above the ratio is reported.
"""
finding = "Run {subject} of {pipeline} cost {observed}: {ratio:n} times the mean run of {baseline}."
action = "Add a per-run budget cap."
effort = "S"
burden = 8
occurrences = ["run", "runs"]
saving = "What the run cost above the mean run: {observed} - {baseline}."
subject_kind = "run"
needs = ["events"]

[minimum]
runs = 1

[params.min_ratio]
default = 3.0
unit = "times the mean run"
doc = "A run at or above this multiple is reported."

[columns.observed]
label = "Cost of the run"
unit = "cost"

[columns.baseline]
label = "Mean cost of a run"
unit = "cost"

[columns.threshold]
label = "Reported from"
unit = "cost"

[columns.ratio]
label = "Times the mean"
unit = "times"

[columns.started]
label = "Started"
unit = "time"

[columns.events]
label = "Events in the run"
unit = "events"

[columns.top_agent]
label = "Agent with the highest cost in it"

[columns.top_agent_cost]
label = "Cost of that agent in it"
unit = "cost"

[columns.incomplete]
label = "Some costs unknown"
---*/
with param as (
    select * from params.cost_outlier
),

compared as (
    select
        r.*,
        pl.run_cost,
        pl.runs as total_runs,
        pl.cost as pipeline_cost,
        pl.cost_basis
    from runs as r
    inner join pipelines as pl on r.pipeline = pl.pipeline
    where pl.run_cost > 0
),

flagged as (
    -- c(r) >= ratio x C / R, cross-multiplied.
    select c.*
    from compared as c
    cross join param as p
    where c.cost * c.total_runs >= p.min_ratio * c.run_cost
),

top_agents as (
    select
        pipeline,
        run_key,
        arg_max(agent, { 'cost': cost, 'events': events, 'agent': agent }) as agent,
        max(cost) as cost
    from agent_runs
    where run_key is not null
    group by pipeline, run_key
),

bases as (
    select
        pipeline,
        run_key,
        case
            when sum(known_costs) = 0 then 'unknown'
            when sum(estimated_costs) > 0 then 'estimated'
            when sum(priced_costs) > 0 then 'priced'
            else 'measured'
        end as cost_basis
    from agent_runs
    where run_key is not null
    group by pipeline, run_key
)

select
    f.pipeline,
    f.run as subject,
    f.run_key as subject_key,
    f.cost as observed,
    prorate(f.run_cost, 1, f.total_runs) as baseline,
    prorate(f.run_cost * p.min_ratio, 1, f.total_runs) as threshold,
    1 as occurrences,
    1 as affected_runs,
    f.total_runs,
    -- With a ratio below 1 a run below the mean is reported too; it saves nothing.
    prorate(greatest(f.cost * f.total_runs - f.run_cost, 0), 1, f.total_runs) as saving,
    f.pipeline_cost as saving_of,
    b.cost_basis as saving_basis,
    about(pico(f.cost) * f.total_runs, pico(f.run_cost)) as ratio,
    f.started,
    f.events,
    t.agent as top_agent,
    t.cost as top_agent_cost,
    f.incomplete
from flagged as f
inner join top_agents as t on f.pipeline = t.pipeline and f.run_key = t.run_key
inner join bases as b on f.pipeline = b.pipeline and f.run_key = b.run_key
cross join param as p
order by f.pipeline asc, f.cost desc, f.run_key asc
