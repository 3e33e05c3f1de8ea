/*---
title = "Is it getting better: the later half of the period beside the earlier"
doc = "One row per pipeline: mean cost of a run, and mean score, before and after the middle of the project's period."

[columns]
pipeline = "Shown name"
middle_time = "The middle of the project's period: what starts then or later is of the later half"
earlier_runs = "Runs that started before it; a pipeline without events has none"
recent_runs = "Runs that started then or later"
earlier_cost = "Their known cost together, in the pipeline's measure; null: no such run"
recent_cost = "That of the runs that started then or later"
earlier_run_cost = "Mean cost of a run that started before it, in the pipeline's measure"
recent_run_cost = "Mean cost of a run that started then or later"
earlier_score = "Mean score of the reviews before it"
recent_score = "Mean score of the reviews from then on"
---*/
with middle as (
    select min(first_time) + (max(last_time) - min(first_time)) / 2 as middle_time
    from pipelines
),

run_halves as (
    select
        r.pipeline,
        count(*) filter (where r.started < m.middle_time) as earlier_runs,
        count(*) filter (where r.started >= m.middle_time) as recent_runs,
        coalesce(sum(r.cost) filter (where r.started < m.middle_time), 0) as earlier_cost,
        coalesce(sum(r.cost) filter (where r.started >= m.middle_time), 0) as recent_cost
    from runs as r
    cross join middle as m
    where not r.from_feedback
    group by r.pipeline
),

score_halves as (
    select
        f.pipeline,
        cast(avg(f.score) filter (where f.feedback_date < m.middle_time) as decimal(18, 6)) as earlier_score,
        cast(avg(f.score) filter (where f.feedback_date >= m.middle_time) as decimal(18, 6)) as recent_score
    from feedback as f
    cross join middle as m
    group by f.pipeline
)

select
    p.pipeline,
    m.middle_time,
    coalesce(r.earlier_runs, 0) as earlier_runs,
    coalesce(r.recent_runs, 0) as recent_runs,
    case when r.earlier_runs > 0 then cast(r.earlier_cost as decimal(38, 12)) end as earlier_cost,
    case when r.recent_runs > 0 then cast(r.recent_cost as decimal(38, 12)) end as recent_cost,
    case when r.earlier_runs > 0 then prorate(r.earlier_cost, 1, r.earlier_runs) end as earlier_run_cost,
    case when r.recent_runs > 0 then prorate(r.recent_cost, 1, r.recent_runs) end as recent_run_cost,
    s.earlier_score,
    s.recent_score
from pipelines as p
cross join middle as m
left join run_halves as r on p.pipeline = r.pipeline
left join score_halves as s on p.pipeline = s.pipeline
order by p.pipeline
