/*---
title = "Healing log entries inside the period looked at"
---*/
select h.*
from raw.healing as h
cross join window_bounds as w
where
    (h.log_time is null and not w.is_bounded)
    or (
        h.log_time is not null
        and (w.since_time is null or h.log_time >= w.since_time)
        and (w.until_time is null or h.log_time <= w.until_time)
    )
order by h.row_no
