/*---
title = "Events inside the period looked at"
view = true
doc = "Undated events are looked at only while no --since, --until or --window is given: nobody knows when they were."
---*/
select e.*
from dated_events as e
cross join window_bounds as w
where
    (e.event_time is null and not w.is_bounded)
    or (
        e.event_time is not null
        and (w.since_time is null or e.event_time >= w.since_time)
        and (w.until_time is null or e.event_time <= w.until_time)
    )
