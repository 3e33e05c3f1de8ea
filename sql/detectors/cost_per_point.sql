/*---
title = "Agents that cost much and score low"
issue = "Cost per point"
doc = """
Divides what an agent costs in a run by its mean score, and compares this with the other agents of the pipeline that
were reviewed, taken together. An agent is reported if it scores below the score flag of the settings and a point of its
score costs at least the ratio. Means count to two places, and a mean under 1 as 1.
"""
enabled = false
finding = """
{subject} costs {run_cost} a run in {pipeline} and scores {mean_score:n}: {observed} for a point, {ratio:n} times what \
the other reviewed agents cost ({baseline})."""
action = """
Read its low reviews first; then try a cheaper model, a narrower task, or give its work to an agent that does it \
better."""
effort = "M"
burden = 5
occurrences = ["score below the flag", "scores below the flag"]
affected = "scores"
subject_kind = "agent"
needs = ["events", "feedback"]

[minimum]
scores = 10
runs = 10

[params.min_ratio]
default = 2.0
unit = "times the cost per point of the others"
doc = "An agent at or above this multiple is reported."

[params.min_scores]
default = 5
unit = "scores on each side"
doc = "With fewer scores of the agent, or of all others, nothing is compared."

[params.min_runs]
default = 10
unit = "runs of the agent"
doc = "An agent in fewer runs is not judged."

[columns.observed]
label = "Cost per point of the agent"
unit = "cost"

[columns.baseline]
label = "Cost per point of the others"
unit = "cost"

[columns.threshold]
label = "Reported from"
unit = "cost"

[columns.ratio]
label = "Times the cost of the others"
unit = "times"

[columns.run_cost]
label = "Cost of the agent in a run"
unit = "cost"

[columns.mean_score]
label = "Mean score"
unit = "score"

[columns.scores]
label = "Its scores"

[columns.low_scores]
label = "Scores below the flag"

[columns.score_flag]
label = "Score flag"
unit = "score"

[columns.other_run_cost]
label = "Cost of another agent in a run"
unit = "cost"

[columns.other_mean_score]
label = "Mean score of the others"
unit = "score"

[columns.other_scores]
label = "Scores of the others"
---*/
with param as (
    select * from params.cost_per_point
),

scored as (
    -- Where cost is a number of events, it says nothing about what a point is worth.
    select
        a.pipeline,
        a.agent,
        a.runs,
        a.cost,
        a.scores,
        a.score_sum,
        a.low_scores,
        cast(prorate(a.score_sum, 1, a.scores) as decimal(5, 2)) as mean_score
    from agents as a
    inner join pipelines as pl on a.pipeline = pl.pipeline
    where a.attributed and a.runs > 0 and a.scores > 0 and a.cost is not null and pl.cost_measure <> 'events'
),

others as (
    select
        s.pipeline,
        s.agent,
        cast(sum(o.runs) as bigint) as runs,
        cast(sum(o.cost) as decimal(38, 12)) as cost,
        cast(sum(o.scores) as bigint) as scores,
        cast(prorate(sum(o.score_sum), 1, sum(o.scores)) as decimal(5, 2)) as mean_score
    from scored as s
    inner join scored as o on s.pipeline = o.pipeline and s.agent <> o.agent
    group by s.pipeline, s.agent
),

compared as (
    select
        s.pipeline,
        s.agent,
        s.runs,
        s.cost,
        s.scores,
        s.low_scores,
        s.mean_score,
        cast(greatest(s.mean_score, 1) as decimal(5, 2)) as points,
        o.runs as other_runs,
        o.cost as other_cost,
        o.scores as other_scores,
        o.mean_score as other_mean_score,
        cast(greatest(o.mean_score, 1) as decimal(5, 2)) as other_points,
        w.score_flag
    from scored as s
    inner join others as o on s.pipeline = o.pipeline and s.agent = o.agent
    cross join window_bounds as w
    where s.score_sum < w.score_flag * s.scores
),

flagged as (
    -- cost / runs / points >= ratio x other cost / other runs / other points, cross-multiplied.
    select c.*
    from compared as c
    cross join param as p
    where
        c.scores >= p.min_scores
        and c.other_scores >= p.min_scores
        and c.runs >= p.min_runs
        and c.other_cost > 0
        and c.cost * c.other_runs * c.other_points >= p.min_ratio * c.other_cost * c.runs * c.points
),

priced as (
    -- Points to two places are whole hundredths, so that the quotients are exact to their last place.
    select
        *,
        prorate(prorate(cost, 1, runs), 100, points * 100) as point_cost,
        prorate(prorate(other_cost, 1, other_runs), 100, other_points * 100) as other_point_cost
    from flagged
)

select
    f.pipeline,
    f.agent as subject,
    f.point_cost as observed,
    f.other_point_cost as baseline,
    p.min_ratio * f.other_point_cost as threshold,
    f.low_scores as occurrences,
    f.low_scores as affected_runs,
    f.scores as total_runs,
    about(pico(f.point_cost), pico(f.other_point_cost)) as ratio,
    prorate(f.cost, 1, f.runs) as run_cost,
    f.mean_score,
    f.scores,
    f.low_scores,
    f.score_flag,
    prorate(f.other_cost, 1, f.other_runs) as other_run_cost,
    f.other_mean_score,
    f.other_scores
from priced as f
cross join param as p
order by f.pipeline asc, f.point_cost desc, f.agent asc
