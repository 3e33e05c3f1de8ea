/*---
title = "What a point of its score costs each agent"
headline = "A point costs {subject} {observed:cost}, {ratio:times} what it costs the others"
page = "recommendation"
detectors = ["cost_per_point"]
kind = "rows"
x = "point_cost"
y = "agent"
mark = "this_one"
link = "agent"
line = "line_at"
line_label = "reported from, for this one"
note = "The twenty reviewed agents with the dearest points. Only who scores below the flag is reported."

[columns.agent]
label = "Agent"

[columns.point_cost]
label = "Cost per point"
unit = "cost"

[columns.run_cost]
label = "Cost in a run"
unit = "cost"

[columns.mean_score]
label = "Mean score"
unit = "score"

[columns.scores]
label = "Scores"

[columns.this_one]
label = "This recommendation"
---*/
with scored as (
    select
        pipeline,
        agent,
        prorate(cost, 1, runs) as run_cost,
        cast(prorate(score_sum, 1, scores) as decimal(5, 2)) as mean_score,
        scores
    from agents
    where attributed and runs > 0 and scores > 0 and cost is not null
)

select
    f.detector,
    f.pipeline,
    f.subject_key,
    pl.cost_measure as measure,
    s.agent,
    prorate(s.run_cost, 100, greatest(s.mean_score, 1) * 100) as point_cost,
    s.run_cost,
    s.mean_score,
    s.scores,
    s.agent = f.subject as this_one,
    f.threshold as line_at,
    f.subject,
    f.observed,
    prorate(1, pico(f.observed), nullif(pico(f.baseline), 0)) as ratio
from findings as f
inner join pipelines as pl on f.pipeline = pl.pipeline
inner join scored as s on f.pipeline = s.pipeline
where f.detector = 'cost_per_point'
qualify
    row_number() over (
        partition by f.finding_no
        order by prorate(s.run_cost, 100, greatest(s.mean_score, 1) * 100) desc, s.agent asc
    ) <= 20
order by f.finding_no asc, point_cost desc, s.agent asc
