/*---
title = "Budgets that will not last"
issue = "Budget forecast"
doc = """
Looks at the weekly and monthly limits of BUDGET.md: what was spent in the window so far, and, for each whole day left
in it, the mean of the last days. What today will still cost is left out, and so is a daily limit: its day is over
before anybody could act.
"""
enabled = false
finding = """
{who} spent {baseline} of {threshold} in the {window_name} window from {window_start}. At {daily_usd} a day, the mean \
of the last {rate_days}, it will be {observed} by its end on {last_day}."""
action = "Decide before {passed_on} whether something can wait or the limit is raised: on that day it will be passed."
effort = "M"
burden = 6
counts_failures = false
occurrences = ["window forecast to go over", "windows forecast to go over"]
affected = "windows"
subject_kind = "other"
needs = ["events", "budget"]

[actions]
"already over" = "Stop what can wait until the window ends, or raise the limit: it is passed already."
"hard stop" = """
Decide before {passed_on} whether something can wait or the limit is raised: it is a hard stop, and will be passed on \
that day."""

[minimum]
period_limits = 1
priced_events = 1

[params.rate_days]
default = 7
unit = "days"
doc = "The days before today whose mean is the rate; whole weeks count weekends as they are."

[params.min_days]
default = 3
unit = "days with spending"
doc = "With fewer days with spending among them there is no rate, and no forecast."

[columns.observed]
label = "Forecast for the window"
unit = "usd"

[columns.baseline]
label = "Spent so far"
unit = "usd"

[columns.threshold]
label = "Limit"
unit = "usd"

[columns.who]
label = "Limit of"

[columns.window_name]
label = "Window"

[columns.window_start]
label = "From"
unit = "date"

[columns.last_day]
label = "To"
unit = "date"

[columns.days_left]
label = "Whole days left"
unit = "days"

[columns.daily_usd]
label = "Mean spending of a day"
unit = "usd"

[columns.rate_days]
label = "Days behind this mean"
unit = "days"

[columns.spend_days]
label = "Days with spending among them"
unit = "days"

[columns.passed_on]
label = "The limit will be passed on"
unit = "date"

[columns.earlier_over]
label = "Earlier windows over the limit"

[columns.windows]
label = "Windows of the period, this one included"

[columns.hard_stop]
label = "Hard stop"
---*/
with param as (
    select * from params.budget_forecast
),

today as (
    select cast(now_time as date) as today
    from window_bounds
),

limits as (
    select
        b.row_no,
        b.subject,
        b.window_name,
        b.limit_usd,
        b.hard_stop,
        b.window_start,
        b.window_end,
        b.spent_usd,
        t.today,
        date_diff('day', t.today, b.window_end) - 1 as days_left
    from budget_windows as b
    cross join today as t
    where b.is_current and b.window_name in ('weekly', 'monthly')
),

rates as (
    -- What the limit's subject spent on the last whole days.
    select
        l.row_no,
        cast(sum(d.usd) as decimal(38, 12)) as usd,
        count(distinct d.day) filter (where d.usd > 0) as spend_days
    from limits as l
    cross join param as p
    inner join agent_days as d
        on
            l.subject in ('(all agents)', d.agent)
            and l.today > d.day
            and date_diff('day', d.day, l.today) <= p.rate_days
    group by l.row_no
),

overs as (
    select
        row_no,
        count(*) as windows,
        count(*) filter (where not is_current and spent_usd > limit_usd) as earlier_over
    from budget_windows
    group by row_no
),

flagged as (
    -- spent + rate x days left > limit, where the rate is usd / rate_days.
    select
        l.*,
        r.usd,
        r.spend_days,
        o.windows,
        o.earlier_over,
        p.rate_days,
        l.spent_usd > l.limit_usd as is_over,
        -- The first day at whose end the limit is passed.
        case
            when l.spent_usd <= l.limit_usd
                then l.today + cast(pico(l.limit_usd - l.spent_usd) * p.rate_days // pico(r.usd) + 1 as integer)
        end as passed_on
    from limits as l
    inner join rates as r on l.row_no = r.row_no
    inner join overs as o on l.row_no = o.row_no
    cross join param as p
    where
        r.spend_days >= p.min_days
        and l.spent_usd * p.rate_days + r.usd * l.days_left > l.limit_usd * p.rate_days
)

select
    '(all pipelines)' as pipeline,
    concat(f.subject, ', ', f.window_name) as subject,
    f.spent_usd + prorate(f.usd, f.days_left, f.rate_days) as observed,
    f.spent_usd as baseline,
    f.limit_usd as threshold,
    -- What is found is this window; that earlier ones were over is evidence.
    1 as occurrences,
    1 as affected_runs,
    f.windows as total_runs,
    -- A low score must not hide that it has a date.
    list_filter([
        case when f.is_over then 'already over' end,
        case when f.hard_stop then 'hard stop' end,
        case when not f.is_over then concat('act before ', f.passed_on) end
    ], lambda l: l is not null) as labels,
    case when f.subject = '(all agents)' then 'All agents together' else f.subject end as who,
    f.window_name,
    f.window_start,
    f.window_end - 1 as last_day,
    f.days_left,
    prorate(f.usd, 1, f.rate_days) as daily_usd,
    f.rate_days,
    f.spend_days,
    f.passed_on,
    f.earlier_over,
    f.windows,
    f.hard_stop
from flagged as f
order by f.subject, f.window_name
