/*---
title = "Agents in each pipeline"
doc = "One row per agent and pipeline: what it did, what it cost, and how reviewers scored it."
---*/
select
    a.pipeline,
    a.agent,
    a.attributed,
    a.in_roster,
    a.events,
    a.runs,
    a.cost,
    a.cost_basis,
    case when p.cost > 0 then cast(a.cost / p.cost as decimal(18, 6)) end as cost_share,
    case when a.cost is not null and a.runs > 0 then round(prorate(a.cost, 1, a.runs), 6) end as cost_per_run,
    a.feedback_rows,
    a.scores,
    a.low_scores,
    case when a.scores > 0 then round(prorate(a.score_sum, 1, a.scores), 6) end as mean_score,
    case when a.scores > 0 then round(prorate(a.low_scores, 1, a.scores), 6) end as error_rate,
    round(a.trend, 6) as trend,
    a.first_seen,
    a.last_seen
from agents as a
inner join pipelines as p on a.pipeline = p.pipeline
cross join params.report as rp
where rp.pipeline in ('', a.pipeline)
order by a.pipeline, a.agent
