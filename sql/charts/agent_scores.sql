/*---
title = "Review scores"
headline = [
    "In {of_pipeline} scores {went} from {earlier:score} to {latest:score}: means of 10",
    "Scores {went} from {earlier:score} to {latest:score}: means of 10",
    "Scores hold at {latest:score}, the mean of the last 10",
    "{low_scores} of {scores} are below {score_flag:score}",
    "None of {scores} is below {score_flag:score}",
]
doc = """
The lines are the means of the last ten scores and of the ten before, in one pipeline: what the trend compares. With
fewer than twenty scores there are none.
"""
page = "agent"
kind = "points"
x = "reviewed"
y = "score"
series = "pipeline"
mark = "low"
label = "issue"
level = "window_mean"
line = "score_flag"
line_label = "low score below"

[columns.reviewed]
label = "Reviewed"
unit = "date"

[columns.pipeline]
label = "Pipeline"

[columns.score]
label = "Score"
unit = "score"

[columns.low]
label = "Low"

[columns.window_mean]
label = "Mean of ten"
unit = "score"

[columns.tags]
label = "Tags"

[columns.issue]
label = "Issue"
---*/
with windows as (
    select
        pipeline,
        agent,
        place <= 10 as is_latest,
        cast(prorate(sum(score), 1, count(*)) as decimal(18, 6)) as mean
    from agent_scores
    where attributed and place <= 20
    group by pipeline, agent, place <= 10
    having count(*) = 10
),

both_windows as (
    select
        pipeline,
        agent
    from windows
    where not is_latest
),

trends as (
    -- Of an agent in several pipelines the one whose mean moved most is told.
    select
        l.agent,
        l.pipeline,
        l.mean as latest,
        e.mean as earlier,
        count(*) over (partition by l.agent) as pipelines
    from windows as l
    inner join windows as e on l.pipeline = e.pipeline and l.agent = e.agent
    where l.is_latest and not e.is_latest
    qualify row_number() over (partition by l.agent order by abs(l.mean - e.mean) desc, l.pipeline asc) = 1
),

shown as (
    select
        f.agent,
        f.row_no,
        f.feedback_date as reviewed,
        f.pipeline,
        cast(f.score as decimal(18, 2)) as score,
        f.score < w.score_flag as low,
        array_to_string(f.tags, ', ') as tags,
        f.issue,
        w.score_flag,
        count(*) over (partition by f.agent) as scores,
        count(*) filter (where f.score < w.score_flag) over (partition by f.agent) as low_scores,
        s.place
    from feedback as f
    cross join window_bounds as w
    inner join agent_scores as s on f.row_no = s.row_no
    where f.score is not null and f.feedback_date is not null and f.attributed
    qualify row_number() over (partition by f.agent order by f.feedback_date desc, f.row_no desc) <= 500
)

select
    s.agent,
    s.reviewed,
    s.pipeline,
    s.score,
    s.low,
    m.mean as window_mean,
    s.tags,
    s.issue,
    s.score_flag,
    counted(s.scores, 'score') as scores,
    case when s.low_scores > 0 then s.low_scores end as low_scores,
    t.latest,
    t.earlier,
    case
        when t.latest <= t.earlier - 1 then 'fell'
        when t.latest >= t.earlier + 1 then 'rose'
    end as went,
    case when t.pipelines > 1 then t.pipeline end as of_pipeline
from shown as s
left join trends as t on s.agent = t.agent
left join both_windows as b on s.pipeline = b.pipeline and s.agent = b.agent and s.place <= 20
left join windows as m on b.pipeline = m.pipeline and b.agent = m.agent and (s.place <= 10) = m.is_latest
order by s.agent, s.reviewed, s.row_no
