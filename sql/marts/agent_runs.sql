/*---
title = "What each agent did in each run"
doc = """
One row per pipeline, run and agent. Sums only, so that rows can be added up. Events without a run stand under a null
run_key. A pipeline without any event takes its runs from the feedback, one per date: a stand-in (from_feedback).
"""

[columns]
pipeline = "Shown name"
run_key = "Key of the run; null: events that belong to no run"
run = "Shown name of the run"
agent = "Shown name, or (unattributed)"
attributed = "False for the bucket (unattributed)"
events = "Events of the agent in the run"
feedback_rows = "Feedback rows of the agent at that date, where from_feedback; else 0"
cost = "Known cost in the pipeline's measure; unknown costs add 0"
known_costs = "Events whose cost is known in the measure"
unknown_costs = "Events that carry cost, but none in the pipeline's measure"
estimated_costs = "Of those, given as an estimate (tokens and event counts always are)"
priced_costs = "Of those, priced from tokens and model"
first_time = "Its first dated event in the run"
last_time = "Its last dated event in the run"
duration_ms = "Sum of the durations that are told, in milliseconds"
from_feedback = "True where the run is a feedback date"
---*/
with costs as (
    select
        e.pipeline,
        e.run_key,
        e.run,
        e.agent,
        e.attributed,
        e.event_time,
        e.duration_ms,
        m.cost_measure,
        e.cost_basis,
        case m.cost_measure
            when 'usd' then e.cost_usd
            when 'tokens' then cast(e.total_tokens as decimal(38, 12))
            else cast(1 as decimal(38, 12))
        end as cost,
        e.cost_usd is not null or e.total_tokens > 0 as carries
    from events as e
    inner join measures as m on e.pipeline = m.pipeline
),

from_events as (
    select
        pipeline,
        run_key,
        run,
        agent,
        attributed,
        count(*) as events,
        cast(0 as bigint) as feedback_rows,
        cast(coalesce(sum(cost), 0) as decimal(38, 12)) as cost,
        count(cost) as known_costs,
        count(*) filter (where cost is null and carries) as unknown_costs,
        count(*) filter (where cost_measure <> 'usd' or cost_basis = 'estimated') as estimated_costs,
        count(*) filter (where cost_basis = 'priced') as priced_costs,
        min(event_time) as first_time,
        max(event_time) as last_time,
        cast(sum(duration_ms) as decimal(38, 3)) as duration_ms,
        false as from_feedback
    from costs
    group by pipeline, run_key, run, agent, attributed
),

from_feedback as (
    select
        pipeline,
        'date:' || strftime(feedback_date, '%Y-%m-%d') as run_key,
        strftime(feedback_date, '%Y-%m-%d') as run,
        agent,
        attributed,
        cast(0 as bigint) as events,
        count(*) as feedback_rows,
        cast(0 as decimal(38, 12)) as cost,
        cast(0 as bigint) as known_costs,
        cast(0 as bigint) as unknown_costs,
        cast(0 as bigint) as estimated_costs,
        cast(0 as bigint) as priced_costs,
        cast(feedback_date as timestamp) as first_time,
        cast(feedback_date as timestamp) as last_time,
        cast(null as decimal(38, 3)) as duration_ms,
        true as from_feedback
    from feedback
    where
        feedback_date is not null
        and pipeline not in (select m.pipeline from measures as m)
    group by pipeline, feedback_date, agent, attributed
)

select * from from_events
union all
select * from from_feedback
order by pipeline, run_key, agent
