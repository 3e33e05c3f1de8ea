/*---
title = "Events, with the dates that can be trusted"
doc = """
One row per event that counts (repeats and superseded rows are already out). A group of one event, or of under 1% of
the events, that stands more than 366 days apart from all others is a clock fault: its events are kept, undated. At
least one group must be larger, or nothing tells which of them is the fault.
"""

[columns]
event_no = "Number of the event, in reading order"
event_time = "UTC; null is undated"
---*/
with days as (
    select
        cast(event_time as date) as day,
        min(event_time) as first_time,
        max(event_time) as last_time,
        count(*) as events
    from raw.events
    where event_time is not null
    group by cast(event_time as date)
),

steps as (
    select
        *,
        coalesce(first_time - lag(last_time) over (order by day) > interval 366 day, false) as starts_group
    from days
),

numbered as (
    select
        *,
        count(*) filter (where starts_group) over (order by day) as group_no
    from steps
),

sizes as (
    select
        group_no,
        sum(events) as events,
        sum(events) = 1 or sum(events) * 100 < (select count(*) from raw.events) as is_small
    from numbered
    group by group_no
),

faults as (
    select numbered.day
    from numbered
    inner join sizes on numbered.group_no = sizes.group_no
    where sizes.is_small and exists (
        select 1 from sizes
        where not is_small
    )
)

select
    e.* exclude (event_time),
    case when f.day is null then e.event_time end as event_time,
    f.day is not null as date_set_aside
from raw.events as e
left join faults as f on cast(e.event_time as date) = f.day
order by e.event_no
