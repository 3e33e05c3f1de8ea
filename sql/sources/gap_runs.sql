/*---
title = "Runs that are told from gaps in time"
doc = """
One row per dated event that carries no run id: the start of its run. A pause longer than the setting gap, among those
events of its pipeline, starts a new run.
"""

[columns]
event_no = "Number of the event"
run_start = "UTC; the first event of its run"
---*/
with steps as (
    select
        e.event_no,
        p.pipeline,
        e.event_time,
        coalesce(
            e.event_time - lag(e.event_time) over (partition by p.pipeline order by e.event_time)
            > to_seconds((select run_gap_seconds from window_bounds)),
            true
        ) as starts_run
    from seen_events as e
    inner join event_places as p
        on e.pipeline_no is not distinct from p.pipeline_no and e.agent_no is not distinct from p.agent_no
    where e.run_no is null and e.event_time is not null
)

select
    event_no,
    max(case when starts_run then event_time end) over (
        partition by pipeline
        order by event_time
        range between unbounded preceding and current row
    ) as run_start
from steps
