/*---
title = "The moments that bound what is looked at"
doc = "One row: now, and the first and last instant looked at (null: no bound)."

[columns]
now_time = 'The latest entry of the inputs, or --as-of: what "now" is in this report'
since_time = "First instant looked at; null: no bound"
until_time = "Last instant looked at; null: no bound"
is_bounded = "True where --since, --until or --window is given"
run_gap_seconds = "A longer pause starts a new run (setting gap)"
score_flag = "A score below this is low (setting score_flag)"
---*/
with latest as (
    select
        coalesce(
            s.as_of,
            (select max(event_time) from dated_events),
            (
                select max(log_time) from raw.healing
                where s.as_of is null or log_time <= s.as_of
            ),
            (select cast(max(feedback_date) as timestamp) from raw.feedback)
        ) as now_time
    from raw.settings as s
)

select
    l.now_time,
    case
        when s.since_time is null then l.now_time - to_seconds(s.window_seconds)
        when s.window_seconds is null then s.since_time
        else greatest(s.since_time, l.now_time - to_seconds(s.window_seconds))
    end as since_time,
    least(s.until_time, s.as_of) as until_time,
    s.since_time is not null or s.until_time is not null or s.window_seconds is not null as is_bounded,
    s.run_gap_seconds,
    s.score_flag
from raw.settings as s
cross join latest as l
