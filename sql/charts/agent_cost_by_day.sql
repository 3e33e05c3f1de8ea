/*---
title = "Cost per {bar}"
headline = [
    "A run costs it {mark} {mean:cost} on average, {mark} {dearest:cost} at most",
    "Its only run cost {mark} {mean:cost}",
]
page = "agent"
kind = "bars"
x = "day"
y = "cost"
series = "pipeline"
facet = "measure"

[columns.day]
label = "Day"
unit = "date"

[columns.pipeline]
label = "Pipeline"

[columns.runs]
label = "Runs"

[columns.cost]
label = "Cost"
unit = "cost"
---*/
with of_agent as (
    select
        a.agent,
        m.cost_measure as measure,
        prorate(sum(a.cost), 1, count(*)) as mean,
        case when count(*) > 1 then max(a.cost) end as dearest,
        cost_mark(
            max(s.cost_basis) filter (where s.cost_basis in ('priced', 'estimated')), bool_or(a.unknown_costs > 0)
        ) as mark
    from agent_runs as a
    inner join measures as m on a.pipeline = m.pipeline
    left join agents as s on a.pipeline = s.pipeline and a.agent = s.agent
    where a.attributed
    group by a.agent, m.cost_measure
),

bars as (
    -- Over years, a bar a day can't be told from its neighbours.
    select bar_of(min(day), max(day)) as bar
    from agent_days
),

ranked as (
    select
        agent,
        pipeline,
        row_number() over (partition by agent order by sum(cost) desc nulls last, pipeline asc) as place
    from agent_days
    where attributed and day is not null
    group by agent, pipeline
)

select
    d.agent,
    m.cost_measure as measure,
    bar_start(d.day, b.bar) as day,
    case when r.place <= 11 then d.pipeline else '(others)' end as pipeline,
    -- A run of several days counts on each: their sum would count it more than once.
    case when count(*) = 1 then max(d.runs) end as runs,
    cast(sum(d.cost) as decimal(38, 12)) as cost,
    b.bar,
    o.mean,
    o.dearest,
    o.mark
from agent_days as d
inner join measures as m on d.pipeline = m.pipeline
inner join ranked as r on d.agent = r.agent and d.pipeline = r.pipeline
cross join bars as b
left join of_agent as o on d.agent = o.agent and m.cost_measure = o.measure
where d.attributed and d.day is not null
group by
    d.agent, m.cost_measure, b.bar, bar_start(d.day, b.bar),
    case when r.place <= 11 then d.pipeline else '(others)' end, o.mean, o.dearest, o.mark
order by d.agent, m.cost_measure, day, pipeline
