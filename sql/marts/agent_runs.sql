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
        e.*,
        m.cost_measure,
        case m.cost_measure
            when 'usd' then e.usd
            when 'tokens' then cast(e.tokens as decimal(38, 12))
            else cast(e.events as decimal(38, 12))
        end as cost,
        case m.cost_measure when 'usd' then e.with_usd when 'tokens' then e.with_tokens else e.events end
            as known_costs,
        case m.cost_measure when 'usd' then e.without_usd when 'tokens' then e.without_tokens else 0 end
            as unknown_costs
    from event_sums as e
    inner join measures as m on e.pipeline = m.pipeline
),

from_events as (
    select
        pipeline,
        run_key,
        run,
        agent,
        attributed,
        cast(sum(events) as bigint) as events,
        cast(0 as bigint) as feedback_rows,
        cast(coalesce(sum(cost), 0) as decimal(38, 12)) as cost,
        cast(sum(known_costs) as bigint) as known_costs,
        cast(sum(unknown_costs) as bigint) as unknown_costs,
        cast(sum(case cost_measure when 'usd' then estimated_usd else events end) as bigint) as estimated_costs,
        cast(sum(priced_usd) as bigint) as priced_costs,
        min(first_time) as first_time,
        max(last_time) as last_time,
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
