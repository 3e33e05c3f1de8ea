/*---
title = "Mean review score per week, by pipeline"
headline = [
    "{lowest} scores lowest: {lowest_mean:score} on average, {lowest_reviews}",
    "{alone} scores {lowest_mean:score} on average, {lowest_reviews}",
]
page = "overview"
kind = "lines"
x = "week"
y = "mean_score"
series = "pipeline"
line = "score_flag"
line_label = "low score below"

[columns.week]
label = "Week from"
unit = "date"

[columns.pipeline]
label = "Pipeline"

[columns.mean_score]
label = "Mean score"
unit = "score"

[columns.reviews]
label = "Reviews"
---*/
with weeks as (
    select
        cast(date_trunc('week', f.feedback_date) as date) as week,
        f.pipeline,
        sum(f.score) as score_sum,
        count(*) as reviews
    from feedback as f
    cross join params.report as rp
    where rp.pipeline in ('', f.pipeline) and f.score is not null and f.feedback_date is not null
    group by cast(date_trunc('week', f.feedback_date) as date), f.pipeline
),

means as (
    select
        pipeline,
        cast(prorate(sum(score_sum), 1, cast(sum(reviews) as bigint)) as decimal(18, 6)) as mean_score,
        cast(sum(reviews) as bigint) as reviews
    from weeks
    group by pipeline
),

lowest as (
    -- A mean of few reviews says little: with fewer than five a pipeline is not told of.
    select
        pipeline,
        mean_score,
        reviews
    from means
    where reviews >= 5
    order by mean_score, pipeline
    limit 1
)

select
    d.week,
    d.pipeline,
    cast(prorate(d.score_sum, 1, d.reviews) as decimal(18, 2)) as mean_score,
    d.reviews,
    w.score_flag,
    case when (select count(*) from means) > 1 then l.pipeline end as lowest,
    l.pipeline as alone,
    l.mean_score as lowest_mean,
    counted(l.reviews, 'review') as lowest_reviews
from weeks as d
cross join window_bounds as w
left join lowest as l on true
order by d.week, d.pipeline
