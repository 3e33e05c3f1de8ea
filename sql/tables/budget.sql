/*---
title = "Budget windows"
doc = "One row per limit and window: what was spent in it. Limits are the whole project's, whatever is shown."
---*/
select
    subject,
    window_name,
    window_start,
    spent_usd,
    limit_usd
from budget_windows
order by row_no, window_start
