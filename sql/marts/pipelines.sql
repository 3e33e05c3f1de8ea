/*---
title = "Pipelines"
doc = "One row per pipeline in the events or the feedback. Costs are in its cost_measure."

[columns]
pipeline = "Shown name, or (unassigned)"
events = "All its events"
attributed_events = "Events whose agent is known"
event_agents = "Agents in its events"
runs = "R: its runs"
id_runs = "Runs told by their run id"
gap_runs = "Runs told by gaps in time"
date_runs = "Runs told by feedback dates"
cost_measure = "usd, tokens or events: what its costs are counted in"
cost = "Known cost of all its events; null where it has no events"
run_cost = "Known cost of its runs: the C that runs are compared with"
known_costs = "Events whose cost is known in the measure"
carrying = "Events that carry cost"
cost_basis = "measured, priced, estimated or unknown: what its cost rests on"
incomplete_runs = "Runs with an event of unknown cost"
unattributed_events = "Events whose agent is not known"
runless_events = "Events that belong to no run"
inferred_events = "Events whose pipeline comes from the feedback"
undated_events = "Events without a date"
feedback_rows = "Feedback rows"
feedback_dates = "Dates with feedback"
first_time = "Its first dated event or feedback row"
last_time = "Its last dated event or feedback row"
span_microseconds = "From its first to its last dated event or feedback row, at least one day"
---*/
with spans as (
    select
        pipeline,
        min(first_time) as first_time,
        max(last_time) as last_time
    from (
        select
            pipeline,
            first_time,
            last_time
        from event_sums
        union all
        select
            pipeline,
            cast(feedback_date as timestamp),
            cast(feedback_date as timestamp)
        from feedback
    )
    group by pipeline
),

agent_sums as (
    select
        pipeline,
        cast(sum(cost) as decimal(38, 12)) as cost,
        cast(sum(known_costs) as bigint) as known_costs,
        cast(sum(unknown_costs) as bigint) as unknown_costs,
        cast(sum(estimated_costs) as bigint) as estimated_costs,
        cast(sum(priced_costs) as bigint) as priced_costs,
        cast(coalesce(sum(events) filter (where not attributed), 0) as bigint) as unattributed_events,
        cast(coalesce(sum(events) filter (where attributed), 0) as bigint) as attributed_events,
        cast(coalesce(sum(events) filter (where run_key is null), 0) as bigint) as runless_events,
        count(distinct agent) filter (where attributed) as event_agents
    from agent_runs
    where not from_feedback
    group by pipeline
),

run_sums as (
    select
        pipeline,
        count(*) as runs,
        count(*) filter (where starts_with(run_key, 'id:')) as id_runs,
        count(*) filter (where starts_with(run_key, 'at:')) as gap_runs,
        count(*) filter (where starts_with(run_key, 'date:')) as date_runs,
        cast(sum(cost) as decimal(38, 12)) as run_cost,
        count(*) filter (where incomplete) as incomplete_runs
    from runs
    group by pipeline
),

flags as (
    select
        pipeline,
        cast(coalesce(sum(events) filter (where pipeline_inferred), 0) as bigint) as inferred_events,
        cast(coalesce(sum(events) filter (where day is null), 0) as bigint) as undated_events
    from event_sums
    group by pipeline
),

reviews as (
    select
        pipeline,
        count(*) as feedback_rows,
        count(distinct feedback_date) as feedback_dates
    from feedback
    group by pipeline
)

select
    s.pipeline,
    coalesce(m.events, 0) as events,
    coalesce(e.attributed_events, 0) as attributed_events,
    coalesce(e.event_agents, 0) as event_agents,
    coalesce(r.runs, 0) as runs,
    coalesce(r.id_runs, 0) as id_runs,
    coalesce(r.gap_runs, 0) as gap_runs,
    coalesce(r.date_runs, 0) as date_runs,
    coalesce(m.cost_measure, 'events') as cost_measure,
    e.cost,
    coalesce(r.run_cost, 0) as run_cost,
    coalesce(e.known_costs, 0) as known_costs,
    coalesce(m.carrying, 0) as carrying,
    case
        when coalesce(e.known_costs, 0) = 0 then 'unknown'
        when e.estimated_costs > 0 then 'estimated'
        when e.priced_costs > 0 then 'priced'
        else 'measured'
    end as cost_basis,
    coalesce(r.incomplete_runs, 0) as incomplete_runs,
    coalesce(e.unattributed_events, 0) as unattributed_events,
    coalesce(e.runless_events, 0) as runless_events,
    coalesce(f.inferred_events, 0) as inferred_events,
    coalesce(f.undated_events, 0) as undated_events,
    coalesce(v.feedback_rows, 0) as feedback_rows,
    coalesce(v.feedback_dates, 0) as feedback_dates,
    s.first_time,
    s.last_time,
    greatest(coalesce(date_diff('microsecond', s.first_time, s.last_time), 0), 86400000000) as span_microseconds
from spans as s
left join measures as m on s.pipeline = m.pipeline
left join agent_sums as e on s.pipeline = e.pipeline
left join run_sums as r on s.pipeline = r.pipeline
left join flags as f on s.pipeline = f.pipeline
left join reviews as v on s.pipeline = v.pipeline
order by s.pipeline
