/*---
title = "Feedback rows inside the period looked at"
doc = "A date stands for its midnight (UTC)."
---*/
select f.*
from raw.feedback as f
cross join window_bounds as w
where
    (f.feedback_date is null and not w.is_bounded)
    or (
        f.feedback_date is not null
        and (w.since_time is null or f.feedback_date >= cast(w.since_time as date))
        and (w.until_time is null or f.feedback_date <= cast(w.until_time as date))
    )
order by f.row_no
