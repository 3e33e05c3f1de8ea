/*---
title = "Recovery attempts per day, by action"
page = "healing"
kind = "bars"
x = "day"
y = "attempts"
series = "action"

[columns.day]
label = "Day"
unit = "date"

[columns.action]
label = "Action"

[columns.attempts]
label = "Attempts"
---*/
select
    cast(log_time as date) as day,
    action,
    count(*) as attempts
from healing_attempts
cross join params.report as rp
where log_time is not null and rp.pipeline in ('', healing_attempts.pipeline)
group by cast(log_time as date), action
order by day, action
