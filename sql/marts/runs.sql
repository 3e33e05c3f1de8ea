/*---
title = "Runs"
doc = "One row per run of a pipeline."

[columns]
run_rank = "1 is the pipeline's first run by start; undated runs come last"
cost = "Known cost in the pipeline's measure"
incomplete = "True where an event of unknown cost is in it"
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
