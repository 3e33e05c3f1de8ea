/*---
title = "Pipelines whose incidents end with a person"
issue = "Healing escalations"
doc = """
Counts the healing incidents of a pipeline that were escalated: every retry was used up, and a person had to take over.
Beside it stands what the runs with a retried step cost, and what the pipeline's other runs cost. The difference is no
saving: a hard run costs more, retried or not.
"""
enabled = false
finding = """
{observed:n} of the {baseline:n} healing incidents of {pipeline} were escalated to a person when the retries were used \
up. The {retried_runs} with a retried step cost {retried_cost}, {retried_run_cost} each; the other runs cost \
{other_run_cost} each. {lately}."""
action = """
Look at the escalated incidents together, and remove their cause; let the error type that no retry ends go to a person \
at once."""
effort = "M"
burden = 6
occurrences = ["escalated incident", "escalated incidents"]
subject_kind = "pipeline"
needs = ["healing"]

[minimum]
incidents = 3

[params.min_escalated]
default = 2
unit = "incidents"
doc = "A pipeline with at least this many escalated incidents can be reported."

[params.min_incidents]
default = 3
unit = "incidents"
doc = "A pipeline with fewer incidents in all is not judged."

[params.min_share]
default = 0.1
unit = "share of the pipeline's incidents"
doc = "A pipeline is reported if at least this share of its incidents was escalated."

[columns.observed]
label = "Escalated incidents"

[columns.baseline]
label = "Incidents"

[columns.threshold]
label = "Reported from"

[columns.blocked]
label = "Incidents that were blocked"

[columns.attempts]
label = "Recovery attempts"

[columns.error_types]
label = "Escalated, by error type (the first five)"

[columns.agents]
label = "Escalated, by agent (the first five)"

[columns.retried_runs]
label = "Runs with a retried step"
unit = "runs"

[columns.retried_cost]
label = "Cost of these runs"
unit = "cost"

[columns.retried_run_cost]
label = "Mean cost of a run with a retried step"
unit = "cost"

[columns.other_run_cost]
label = "Mean cost of the other runs"
unit = "cost"

[columns.last_escalated]
label = "Latest escalation"
unit = "time"

[columns.lately]
label = ""
---*/
with param as (
    select * from params.healing_escalations
),

middle as (
    select max(middle_time) as middle_time
    from pipeline_halves
),

totals as (
    select
        h.pipeline,
        count(*) as incidents,
        count(*) filter (where h.outcome = 'escalated') as escalated,
        count(*) filter (where h.outcome = 'blocked') as blocked,
        cast(sum(h.attempts) as bigint) as attempts,
        count(distinct h.run_id) filter (where h.outcome = 'escalated') as escalated_runs,
        max(h.last_time) filter (where h.outcome = 'escalated') as last_escalated,
        count(*) filter (where is_later(h.last_time, m.middle_time)) as later_incidents
    from healing_incidents as h
    cross join middle as m
    group by h.pipeline
),

flagged as (
    select t.*
    from totals as t
    cross join param as p
    where
        t.escalated >= p.min_escalated
        and t.incidents >= p.min_incidents
        and t.escalated >= p.min_share * t.incidents
),

counted_errors as (
    select
        pipeline,
        coalesce(error_type, 'unknown') as error_type,
        count(*) as incidents
    from healing_incidents
    where outcome = 'escalated'
    group by pipeline, coalesce(error_type, 'unknown')
    qualify row_number() over (partition by pipeline order by count(*) desc, coalesce(error_type, 'unknown') asc) <= 5
),

error_lists as (
    select
        pipeline,
        string_agg(concat(error_type, ': ', incidents), ', ' order by incidents desc, error_type asc) as error_types
    from counted_errors
    group by pipeline
),

counted_agents as (
    select
        pipeline,
        agent,
        count(*) as incidents
    from healing_incidents
    where outcome = 'escalated'
    group by pipeline, agent
    qualify row_number() over (partition by pipeline order by count(*) desc, agent asc) <= 5
),

agent_lists as (
    select
        pipeline,
        string_agg(concat(agent, ': ', incidents), ', ' order by incidents desc, agent asc) as agents
    from counted_agents
    group by pipeline
),

retried as (
    -- One attempt that was not a retry (a step that was skipped at once) made no run longer.
    select distinct
        pipeline,
        'id:' || run_id as run_key
    from healing_incidents
    where attempts > 1 or outcome = 'presumed recovered'
),

run_costs as (
    select
        r.pipeline,
        count(t.run_key) as retried_runs,
        count(*) - count(t.run_key) as other_runs,
        cast(sum(r.cost) filter (where t.run_key is not null) as decimal(38, 12)) as retried_cost,
        cast(sum(r.cost) filter (where t.run_key is null) as decimal(38, 12)) as other_cost
    from runs as r
    left join retried as t on r.pipeline = t.pipeline and r.run_key = t.run_key
    where not r.from_feedback
    group by r.pipeline
)

select
    f.pipeline,
    f.pipeline as subject,
    f.escalated as observed,
    f.incidents as baseline,
    greatest(p.min_escalated, p.min_share * f.incidents) as threshold,
    f.escalated as occurrences,
    f.escalated_runs as affected_runs,
    pl.runs as total_runs,
    f.blocked,
    f.attempts,
    e.error_types,
    a.agents,
    coalesce(c.retried_runs, 0) as retried_runs,
    c.retried_cost,
    -- The mean of no runs is unknown.
    prorate(c.retried_cost, 1, c.retried_runs) as retried_run_cost,
    prorate(c.other_cost, 1, c.other_runs) as other_run_cost,
    f.last_escalated,
    lately(f.last_escalated, m.middle_time, f.later_incidents, 'incident') as lately
from flagged as f
inner join pipelines as pl on f.pipeline = pl.pipeline
inner join error_lists as e on f.pipeline = e.pipeline
inner join agent_lists as a on f.pipeline = a.pipeline
left join run_costs as c on f.pipeline = c.pipeline
cross join middle as m
cross join param as p
order by f.pipeline
