/*---
title = "Cost per {bar}, by pipeline"
headline = [
    """{dearest} costs most: {mark} {dearest_cost:cost}, {dearest_share:share} of all; all agents together were over \
    the daily budget on {days_over}""",
    "{dearest} costs most: {mark} {dearest_cost:cost}, {dearest_share:share} of all",
    "{alone} costs {mark} {total:cost} on {days}; all agents together were over the daily budget on {days_over}",
    "{alone} costs {mark} {total:cost} on {days}",
]
doc = """
The eleven pipelines that cost most, the others as one. The budget line is there where BUDGET.md has a daily limit for
all agents, all pipelines are shown, all their costs are in US dollars, and a bar is a day: else the bars are not what
the limit is of.
"""
page = "overview"
kind = "bars"
x = "day"
y = "cost"
series = "pipeline"
facet = "measure"
line = "daily_limit"
line_label = "daily budget of all agents"

[columns.day]
label = "Day"
unit = "date"

[columns.pipeline]
label = "Pipeline"

[columns.cost]
label = "Cost"
unit = "cost"
---*/
with daily as (
    select
        m.cost_measure as measure,
        d.pipeline,
        d.day,
        cast(sum(d.cost) as decimal(38, 12)) as cost
    from agent_days as d
    inner join measures as m on d.pipeline = m.pipeline
    cross join params.report as rp
    where d.day is not null and rp.pipeline in ('', d.pipeline)
    group by m.cost_measure, d.pipeline, d.day
),

ranked as (
    select
        measure,
        pipeline,
        cast(sum(cost) as decimal(38, 12)) as cost,
        row_number() over (partition by measure order by sum(cost) desc, pipeline asc) as place
    from daily
    group by measure, pipeline
),

limits as (
    -- The smallest, should there be more than one.
    select min(b.limit_usd) as daily_limit
    from budget_windows as b
    cross join params.report as rp
    where
        b.subject = '(all agents)'
        and b.window_name = 'daily'
        and rp.pipeline = ''
        and 'usd' = all(select m.cost_measure from measures as m)
),

sums as (
    select
        measure,
        day,
        sum(cost) as cost
    from daily
    group by measure, day
),

totals as (
    select
        s.measure,
        cast(sum(s.cost) as decimal(38, 12)) as cost,
        count(*) as days,
        count(*) filter (where s.cost > l.daily_limit) as days_over
    from sums as s
    cross join limits as l
    group by s.measure
),

unsure as (
    select
        p.pipeline,
        cost_mark(p.cost_basis, coalesce(bool_or(a.unknown_costs > 0), false)) as mark
    from pipelines as p
    left join agent_runs as a on p.pipeline = a.pipeline
    group by p.pipeline, p.cost_basis
),

said as (
    select
        t.measure,
        t.cost as total,
        case when count(*) > 1 then arg_min(r.pipeline, r.place) end as dearest,
        case when count(*) = 1 then min(r.pipeline) end as alone,
        max(r.cost) as dearest_cost,
        arg_min(u.mark, r.place) as mark,
        case when t.cost > 0 then prorate(1, pico(max(r.cost)), pico(t.cost)) end as dearest_share,
        counted(t.days, 'day') as days,
        case when t.days_over > 0 then counted(t.days_over, 'day') end as days_over
    from totals as t
    inner join ranked as r on t.measure = r.measure
    inner join unsure as u on r.pipeline = u.pipeline
    group by t.measure, t.cost, t.days, t.days_over
),

bars as (
    -- Over years, a bar a day can't be told from its neighbours.
    select bar_of(min(day), max(day)) as bar
    from daily
),

folded as (
    select
        d.measure,
        b.bar,
        bar_start(d.day, b.bar) as day,
        case when r.place <= 11 then d.pipeline else '(others)' end as pipeline,
        cast(sum(d.cost) as decimal(38, 12)) as cost
    from daily as d
    inner join ranked as r on d.measure = r.measure and d.pipeline = r.pipeline
    cross join bars as b
    group by
        d.measure, b.bar, bar_start(d.day, b.bar), case when r.place <= 11 then d.pipeline else '(others)' end
)

select
    f.measure,
    f.day,
    f.pipeline,
    f.cost,
    case when f.bar = 'day' then l.daily_limit end as daily_limit,
    f.bar,
    s.dearest,
    s.dearest_cost,
    s.mark,
    s.dearest_share,
    s.alone,
    s.total,
    s.days,
    s.days_over
from folded as f
inner join said as s on f.measure = s.measure
cross join limits as l
order by case f.measure when 'usd' then 1 when 'tokens' then 2 else 3 end, f.day, f.pipeline
