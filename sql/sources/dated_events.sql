/*---
title = "Events, with the dates that can be trusted"
view = true
doc = """
One row per event that counts (repeats and superseded rows are already out). The dates of `clock_faults` are taken away:
such events are kept, undated.
"""

[columns]
event_no = "Number of the event, in reading order"
event_time = "UTC; null is undated"
---*/
select
    e.* exclude (event_time),
    case when f.day is null then e.event_time end as event_time,
    f.day is not null as date_set_aside
from raw.events as e
left join clock_faults as f on cast(e.event_time as date) = f.day
