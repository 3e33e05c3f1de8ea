/*---
title = "Pipelines"
doc = "One row per pipeline: its size, its cost, its scores, and the later half of the period beside the earlier."
---*/
with scores as (
    select
        pipeline,
        sum(score) as score_sum,
        count(score) as scores
    from feedback
    group by pipeline
)

select
    p.pipeline,
    p.events,
    p.runs,
    p.event_agents as agents,
    p.cost_measure,
    p.cost,
    p.cost_basis,
    case when p.runs > 0 and p.events > 0 then round(prorate(p.run_cost, 1, p.runs), 6) end as cost_per_run,
    round(h.earlier_run_cost, 6) as earlier_cost_per_run,
    round(h.recent_run_cost, 6) as recent_cost_per_run,
    p.known_costs,
    case when p.events > 0 then round(prorate(p.known_costs, 1, p.events), 6) end as cost_coverage,
    p.incomplete_runs,
    p.unattributed_events,
    p.inferred_events,
    p.undated_events,
    p.runless_events,
    p.feedback_rows,
    case when s.scores > 0 then round(prorate(s.score_sum, 1, s.scores), 6) end as mean_score,
    h.earlier_score,
    h.recent_score,
    p.first_time,
    p.last_time
from pipelines as p
inner join pipeline_halves as h on p.pipeline = h.pipeline
left join scores as s on p.pipeline = s.pipeline
cross join params.report as rp
where rp.pipeline in ('', p.pipeline)
order by p.pipeline
