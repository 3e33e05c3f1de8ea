/*---
title = "Limits of BUDGET.md against what was spent"
doc = "One row per limit and window of the period: a UTC day, an ISO week, a month, or the whole period."

[columns]
row_no = "Number of the limit in BUDGET.md"
subject = "(all agents), or an agent's name, over all pipelines"
window_name = "daily, weekly, monthly or total"
limit_usd = "The limit, in US dollars"
warn_percent = "Warn from this share of the limit on, in percent; null: not set"
hard_stop = "True where BUDGET.md asks for a hard stop; null: not said"
window_start = "First day of the window"
window_end = "The day after its last"
is_current = "True for the window that now is in"
spent_usd = "Known US dollars; null where no event, or none of the agent, has a known cost"
---*/
with limits as (
    select
        b.row_no,
        coalesce(s.shown, '(all agents)') as subject,
        s.shown is not null as for_agent,
        b.window_name,
        b.limit_usd,
        b.warn_percent,
        b.hard_stop
    from raw.budget as b
    left join spellings as s on b.agent_no = s.spelling_no
),

spends as (
    select
        day,
        agent,
        attributed,
        sum(usd) as usd,
        sum(with_usd) as with_usd
    from agent_days
    where day is not null
    group by day, agent, attributed
),

known as (
    -- Nothing spent is only ever a measured nothing: an agent that no event names has no known spending.
    select
        l.*,
        (
            select coalesce(sum(x.with_usd), 0) from spends as x
            where not l.for_agent or l.subject = x.agent
        ) > 0 as is_known
    from limits as l
),

spans as (
    select
        cast(coalesce(min(day), min(cast(w.now_time as date))) as timestamp) as first_day,
        cast(greatest(max(day), max(cast(w.now_time as date))) as timestamp) as last_day
    from window_bounds as w
    left join spends on true
),

starts as (
    select
        l.*,
        cast(g.start_time as date) as window_start
    from known as l
    cross join spans as s
    cross join lateral (
        select unnest(
            case l.window_name
                when 'daily' then generate_series(s.first_day, s.last_day, interval 1 day)
                when 'weekly' then generate_series(date_trunc('week', s.first_day), s.last_day, interval 7 day)
                when 'monthly' then generate_series(date_trunc('month', s.first_day), s.last_day, interval 1 month)
                else [s.first_day]
            end
        ) as start_time
    ) as g
),

bounded as (
    select
        *,
        case window_name
            when 'daily' then cast(window_start + interval 1 day as date)
            when 'weekly' then cast(window_start + interval 7 day as date)
            when 'monthly' then cast(window_start + interval 1 month as date)
            else cast('9999-12-31' as date)
        end as window_end
    from starts
)

select
    b.row_no,
    b.subject,
    b.window_name,
    b.limit_usd,
    b.warn_percent,
    b.hard_stop,
    b.window_start,
    b.window_end,
    b.window_start <= cast(w.now_time as date) and b.window_end > cast(w.now_time as date) as is_current,
    case when bool_or(b.is_known) then cast(coalesce(sum(s.usd), 0) as decimal(38, 12)) end as spent_usd
from bounded as b
cross join window_bounds as w
left join spends as s
    on
        b.window_start <= s.day and b.window_end > s.day
        and (not b.for_agent or b.subject = s.agent)
group by all
order by b.row_no, b.window_start
