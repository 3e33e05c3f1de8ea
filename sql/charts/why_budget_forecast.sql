/*---
title = "Spent in the window day by day, and where it is heading"
headline = [
    "{who} will reach {observed:usd} by {last_day:date}; the limit is {limit_usd:usd}",
    "{who}: {spent_usd:usd} spent; the limit is {limit_usd:usd}",
]
page = "recommendation"
detectors = ["budget_forecast"]
kind = "bars"
x = "day"
y = "usd"
series = "kind"
line = "limit_usd"
line_label = "limit"
note = "Each bar is the sum since the window began; each day to come adds the mean of the last days."

[colours]
"spent" = "base"
"forecast" = "grey"

[columns.day]
label = "Day"
unit = "date"

[columns.kind]
label = "Spent or forecast"

[columns.usd]
label = "Since the window began"
unit = "usd"
---*/
with param as (
    select * from params.budget_forecast
),

limits as (
    select
        f.finding_no,
        f.detector,
        f.pipeline,
        f.subject_key,
        f.observed,
        b.subject,
        b.limit_usd,
        b.spent_usd,
        b.window_start,
        b.window_end,
        cast(w.now_time as date) as today
    from findings as f
    inner join budget_windows as b on f.subject = concat(b.subject, ', ', b.window_name)
    cross join window_bounds as w
    where f.detector = 'budget_forecast' and b.is_current
),

days as (
    select
        l.*,
        cast(g.day_time as date) as day
    from limits as l
    cross join lateral (
        select unnest(
            generate_series(
                cast(l.window_start as timestamp), cast(l.window_end as timestamp) - interval 1 day, interval 1 day
            )
        ) as day_time
    ) as g
),

rates as (
    select
        l.finding_no,
        cast(sum(d.usd) as decimal(38, 12)) as usd
    from limits as l
    cross join param as p
    inner join agent_days as d
        on
            l.subject in ('(all agents)', d.agent)
            and l.today > d.day
            and date_diff('day', d.day, l.today) <= p.rate_days
    group by l.finding_no
),

spent as (
    select
        y.finding_no,
        y.day,
        cast(coalesce(sum(d.usd), 0) as decimal(38, 12)) as usd
    from days as y
    left join agent_days as d
        on y.subject in ('(all agents)', d.agent) and d.day between y.window_start and y.day
    where y.day <= y.today
    group by y.finding_no, y.day
)

select
    y.detector,
    y.pipeline,
    y.subject_key,
    y.day,
    case when y.day <= y.today then 'spent' else 'forecast' end as kind,
    case
        when y.day <= y.today then s.usd
        else y.spent_usd + prorate(r.usd, date_diff('day', y.today, y.day), p.rate_days)
    end as usd,
    y.limit_usd,
    case when y.subject = '(all agents)' then 'All agents together' else y.subject end as who,
    case when y.spent_usd <= y.limit_usd then y.observed end as observed,
    y.window_end - 1 as last_day,
    y.spent_usd
from days as y
inner join rates as r on y.finding_no = r.finding_no
cross join param as p
left join spent as s on y.finding_no = s.finding_no and y.day = s.day
order by y.finding_no, y.day
