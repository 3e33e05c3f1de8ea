/*---
title = "Days that no clock can have meant"
doc = """
One row per day whose events are set aside: those of a group of one event, or of under 1% of the events, that stands
more than 366 days apart from all others. At least one group must be larger, or nothing tells which of them is the
fault.
"""
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

large_groups as (
    select count(*) as groups
    from sizes
    where not is_small
)

select numbered.day
from numbered
inner join sizes on numbered.group_no = sizes.group_no
cross join large_groups
where sizes.is_small and large_groups.groups > 0
order by numbered.day
