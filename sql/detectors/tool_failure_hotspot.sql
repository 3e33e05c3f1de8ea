/*---
title = "Agents whose tools keep failing"
issue = "Tool failures"
doc = """
Counts the days on which an agent had a tool failure or a timeout: a review tagged `tool-fail` or `timeout`, or a
healing incident of the type `timeout` or `tool-not-found`. A review and an incident of one day are taken to tell of one
failure. An agent with enough of them, and with a large share of its pipeline's, is reported, together with the tool
that it used last before its incidents.
"""
enabled = false
finding = """
{observed:n} of the {baseline:n} tool failures and timeouts of {pipeline} are {subject}'s, told by {told_by}: on \
{affected_runs} of the {total_runs} days on which it worked. {lately}."""
action = """
Mend or replace the tool, give it a time limit of its own, or check before a run that it is there. Look first at \
{look_at}."""
effort = "M"
burden = 5
occurrences = ["failure", "failures"]
affected = "days on which it worked"
subject_kind = "agent"

[minimum]
reports = 3

[params.min_failures]
default = 3
unit = "failures"
doc = "An agent with at least this many failures can be reported."

[params.min_share]
default = 0.5
unit = "share of the pipeline's failures"
doc = "An agent with at least this share of them is reported."

[params.min_tool_incidents]
default = 2
unit = "incidents"
doc = "A tool is named in the advice from so many incidents on; fewer may be chance."

[columns.observed]
label = "Failures of the agent"

[columns.baseline]
label = "Failures in the pipeline"

[columns.threshold]
label = "Reported from"

[columns.reviews]
label = "Reviews that tell of one"

[columns.incidents]
label = "Incidents that tell of one"

[columns.affected_runs]
label = "Days with a failure"

[columns.total_runs]
label = "Days on which it worked"

[columns.tool]
label = "Tool used last before most of its incidents"

[columns.tool_incidents]
label = "Incidents after that tool"

[columns.told_by]
label = "Told by"

[columns.look_at]
label = "Where to look first"

[columns.first_day]
label = "First failure"
unit = "date"

[columns.last_day]
label = "Latest failure"
unit = "date"

[columns.lately]
label = ""
---*/
with param as (
    select * from params.tool_failure_hotspot
),

signals as (
    select
        pipeline,
        agent,
        feedback_date as day,
        1 as review,
        0 as incident
    from feedback
    where attributed and list_has_any(tags, ['tool-fail', 'timeout'])
    union all
    select
        pipeline,
        agent,
        cast(first_time as date) as day,
        0 as review,
        1 as incident
    from healing_incidents
    where attributed and error_type in ('timeout', 'tool-not-found')
),

failures as (
    -- Without a date nobody can tell whether two signals are one failure: each counts.
    select
        pipeline,
        agent,
        count(distinct day) as days,
        count(distinct day) + count(*) filter (where day is null) as failures,
        cast(sum(review) as bigint) as reviews,
        cast(sum(incident) as bigint) as incidents,
        min(day) as first_day,
        max(day) as last_day
    from signals
    group by pipeline, agent
),

compared as (
    select
        *,
        cast(sum(failures) over (partition by pipeline) as bigint) as pipeline_failures
    from failures
),

flagged as (
    select c.*
    from compared as c
    cross join param as p
    where c.failures >= p.min_failures and c.failures >= p.min_share * c.pipeline_failures
),

middle as (
    select max(middle_time) as middle_time
    from pipeline_halves
),

worked as (
    -- The days on which an agent did something, was reviewed, or failed.
    select
        d.pipeline,
        d.agent,
        count(distinct d.day) as days,
        count(distinct d.day) filter (where is_later(d.day, m.middle_time)) as later_days
    from (
        select
            pipeline,
            agent,
            day
        from agent_days
        union all
        select
            pipeline,
            agent,
            feedback_date
        from feedback
        union all
        select
            pipeline,
            agent,
            day
        from signals
    ) as d
    cross join middle as m
    group by d.pipeline, d.agent
),

tools as (
    select
        pipeline,
        agent,
        tool,
        count(*) as incidents
    from incident_tools
    where error_type in ('timeout', 'tool-not-found')
    group by pipeline, agent, tool
    qualify row_number() over (partition by pipeline, agent order by count(*) desc, tool asc) = 1
)

select
    f.pipeline,
    f.agent as subject,
    f.failures as observed,
    f.pipeline_failures as baseline,
    greatest(p.min_failures, p.min_share * f.pipeline_failures) as threshold,
    f.failures as occurrences,
    f.days as affected_runs,
    w.days as total_runs,
    f.reviews,
    f.incidents,
    t.tool,
    t.incidents as tool_incidents,
    f.first_day,
    f.last_day,
    lately(f.last_day, m.middle_time, w.later_days, 'working day') as lately,
    concat_ws(
        ' and ',
        case when f.reviews > 0 then counted(f.reviews, 'review') end,
        case when f.incidents > 0 then counted(f.incidents, 'incident') end
    ) as told_by,
    case
        when t.incidents >= p.min_tool_incidents
            then concat(t.tool, ', which it used last before ', t.incidents, ' of these incidents')
        when f.reviews > 0 then 'what the reviews say'
        else 'the contexts in the healing log'
    end as look_at
from flagged as f
inner join pipelines as pl on f.pipeline = pl.pipeline
inner join worked as w on f.pipeline = w.pipeline and f.agent = w.agent
left join tools as t on f.pipeline = t.pipeline and f.agent = t.agent
cross join middle as m
cross join param as p
order by f.pipeline asc, f.failures desc, f.agent asc
