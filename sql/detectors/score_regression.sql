/*---
title = "Agents whose review scores fell"
issue = "Score regression"
doc = """
Compares the mean of an agent's latest scores in a pipeline with the mean of as many before them. A fall of at least so
many points is reported, if most of the latest scores are below the earlier mean: one bad review is not a trend.
"""
enabled = false
finding = """
{subject} scored {observed:n} on average in its last {reviews} reviews in {pipeline}, and {baseline:n} in the \
{reviews} before: {points_lost:n} points less. {below} of the last {reviews} are below the earlier mean."""
action = "Find out what changed when the scores fell (the prompt, the model, the inputs), and undo it or adapt to it."
effort = "M"
burden = 4
occurrences = ["latest score below the earlier mean", "latest scores below the earlier mean"]
affected = "scores"
subject_kind = "agent"
needs = ["feedback"]

[minimum]
agent_scores = 20

[params.reviews]
default = 10
unit = "scores"
doc = "So many of the latest scores are compared with as many before them."

[params.min_drop]
default = 10
unit = "points"
doc = "A mean that fell by at least this much is reported."

[params.min_below]
default = 0.7
unit = "share of the latest scores"
doc = "At least this share of the latest scores must be below the earlier mean."

[columns.observed]
label = "Mean of the latest scores"
unit = "score"

[columns.baseline]
label = "Mean of those before"
unit = "score"

[columns.threshold]
label = "Reported at or below"
unit = "score"

[columns.points_lost]
label = "Points lost"
unit = "score"

[columns.reviews]
label = "Scores on each side"

[columns.below]
label = "Latest scores below the earlier mean"

[columns.recent_since]
label = "The latest scores begin on"
unit = "date"

[columns.earlier_since]
label = "Those before begin on"
unit = "date"

[columns.latest]
label = "Latest review"
unit = "date"
---*/
with param as (
    select * from params.score_regression
),

placed as (
    select
        s.pipeline,
        s.agent,
        s.score,
        s.feedback_date,
        s.place <= p.reviews as is_recent
    from agent_scores as s
    cross join param as p
    where s.attributed and s.place <= 2 * p.reviews
),

sides as (
    select
        pipeline,
        agent,
        count(*) as placed_scores,
        sum(score) filter (where is_recent) as recent_sum,
        sum(score) filter (where not is_recent) as earlier_sum,
        min(feedback_date) filter (where is_recent) as recent_since,
        min(feedback_date) filter (where not is_recent) as earlier_since,
        max(feedback_date) as latest
    from placed
    group by pipeline, agent
),

compared as (
    -- A score is below the earlier mean where score x reviews < the earlier sum.
    select
        s.pipeline,
        s.agent,
        s.recent_sum,
        s.earlier_sum,
        s.recent_since,
        s.earlier_since,
        s.latest,
        count(*) as below
    from sides as s
    inner join placed as l on s.pipeline = l.pipeline and s.agent = l.agent
    cross join param as p
    where s.placed_scores = 2 * p.reviews and l.is_recent and l.score * p.reviews < s.earlier_sum
    group by all
),

flagged as (
    select c.*
    from compared as c
    cross join param as p
    where c.earlier_sum - c.recent_sum >= p.min_drop * p.reviews and c.below >= p.min_below * p.reviews
),

totals as (
    select
        pipeline,
        agent,
        count(*) as scores
    from agent_scores
    group by pipeline, agent
)

select
    f.pipeline,
    f.agent as subject,
    prorate(f.recent_sum, 1, p.reviews) as observed,
    prorate(f.earlier_sum, 1, p.reviews) as baseline,
    prorate(f.earlier_sum, 1, p.reviews) - p.min_drop as threshold,
    f.below as occurrences,
    f.below as affected_runs,
    t.scores as total_runs,
    prorate(f.earlier_sum - f.recent_sum, 1, p.reviews) as points_lost,
    p.reviews,
    f.below,
    f.recent_since,
    f.earlier_since,
    f.latest
from flagged as f
inner join totals as t on f.pipeline = t.pipeline and f.agent = t.agent
cross join param as p
order by f.pipeline asc, points_lost desc, f.agent asc
