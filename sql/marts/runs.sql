/*---
title = "Runs"
doc = "One row per run of a pipeline."

[columns]
pipeline = "Shown name, or (unassigned)"
run_key = "id:<run id>, at:<start> or date:<day>; unique in the pipeline"
run = "The run's shown name"
run_rank = "1 is the pipeline's first run by start; undated runs come last"
started = "Its first dated event; null: none"
ended = "Its last dated event"
events = "Its events"
agents = "Agents in it"
cost = "Known cost in the pipeline's measure"
incomplete = "True where an event of unknown cost is in it"
from_feedback = "True where the run is a feedback date"
---*/
with sums as (
    select
        pipeline,
        run_key,
        min(run) as run,
        cast(sum(events) as bigint) as events,
        cast(sum(cost) as decimal(38, 12)) as cost,
        count(*) filter (where attributed) as agents,
        min(first_time) as started,
        max(last_time) as ended,
        sum(unknown_costs) > 0 as incomplete,
        bool_or(from_feedback) as from_feedback
    from agent_runs
    where run_key is not null
    group by pipeline, run_key
)

select
    pipeline,
    run_key,
    run,
    row_number() over (partition by pipeline order by started nulls last, run_key) as run_rank,
    started,
    ended,
    events,
    agents,
    cost,
    incomplete,
    from_feedback
from sums
order by pipeline, run_rank
