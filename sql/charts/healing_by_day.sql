/*---
title = "Recovery attempts per day, by action"
headline = "{attempts_in_all} on {days}, most on {worst_day:date}: {most}"
page = "healing"
kind = "bars"
x = "day"
y = "attempts"
series = "action"

[colours]
"retry-shorter-scope" = "1"
"retry-backoff" = "3"
"retry-stricter-prompt" = "4"
"skip" = "grey"
"alert-operator" = "5"
"abort" = "6"
"escalate" = "bad"

[columns.day]
label = "Day"
unit = "date"

[columns.action]
label = "Action"

[columns.attempts]
label = "Attempts"
---*/
with daily as (
    select
        cast(log_time as date) as day,
        action,
        count(*) as attempts
    from healing_attempts
    cross join params.report as rp
    where log_time is not null and rp.pipeline in ('', healing_attempts.pipeline)
    group by cast(log_time as date), action
),

sums as (
    select
        day,
        cast(sum(attempts) as bigint) as attempts
    from daily
    group by day
),

totals as (
    select
        counted(cast(sum(attempts) as bigint), 'recovery attempt') as attempts_in_all,
        counted(count(*), 'day') as days,
        max(attempts) as most,
        -- Of days alike the first.
        arg_min(day, { 'less': -attempts, 'day': day }) as worst_day
    from sums
)

select
    d.day,
    d.action,
    d.attempts,
    t.attempts_in_all,
    t.days,
    t.most,
    t.worst_day
from daily as d
cross join totals as t
order by d.day, d.action
