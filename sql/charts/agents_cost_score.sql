/*---
title = "Cost and mean score of each agent in a pipeline"
headline = [
    "{dearest_low} costs {low_mark} {low_cost:cost} and scores {low_mean:score} of 100",
    """None scores below {score_flag:score}; {dearest} costs most, {dearest_mark} {dearest_cost:cost}, and scores \
    {dearest_mean:score}""",
]
doc = """
Good is at the top, dear on the right. Agents that cost most of 300; one that nobody scored, or whose cost is unknown,
is in the table only: nothing is drawn at zero for want of a number.
"""
page = "agents"
kind = "bubbles"
x = "cost"
y = "mean_score"
size = "runs"
mark = "low"
label = "agent"
link = "agent"
facet = "measure"
line = "score_flag"
line_label = "low score below"

[columns.agent]
label = "Agent"

[columns.pipeline]
label = "Pipeline"

[columns.cost]
label = "Cost"
unit = "cost"

[columns.mean_score]
label = "Mean score"
unit = "score"

[columns.scores]
label = "Scores"

[columns.runs]
label = "Runs"

[columns.low]
label = "Low score"
---*/
with unsure as (
    select
        pipeline,
        agent,
        bool_or(unknown_costs > 0) as incomplete
    from agent_runs
    group by pipeline, agent
),

shown as (
    select
        pl.cost_measure as measure,
        a.agent,
        a.pipeline,
        a.cost,
        case when a.scores > 0 then cast(prorate(a.score_sum, 1, a.scores) as decimal(18, 2)) end as mean_score,
        cost_mark(a.cost_basis, u.incomplete) as mark,
        a.scores,
        a.runs,
        coalesce(a.scores > 0 and a.score_sum < w.score_flag * a.scores, false) as low,
        w.score_flag,
        row_number() over (partition by pl.cost_measure order by a.cost_sum desc, a.agent asc, a.pipeline asc) as place
    from agents as a
    inner join pipelines as pl on a.pipeline = pl.pipeline
    left join unsure as u on a.pipeline = u.pipeline and a.agent = u.agent
    cross join window_bounds as w
    cross join params.report as rp
    where a.attributed and pl.events > 0 and rp.pipeline in ('', a.pipeline)
)

select
    s.measure,
    s.agent,
    s.pipeline,
    s.cost,
    s.mean_score,
    s.scores,
    s.runs,
    s.low,
    s.score_flag,
    arg_min(s.agent, s.place) filter (where s.low and s.cost is not null) over of_measure as dearest_low,
    arg_min(s.cost, s.place) filter (where s.low and s.cost is not null) over of_measure as low_cost,
    arg_min(s.mark, s.place) filter (where s.low and s.cost is not null) over of_measure as low_mark,
    arg_min(s.mean_score, s.place) filter (where s.low and s.cost is not null) over of_measure as low_mean,
    arg_min(s.agent, s.place) filter (where s.scores > 0 and s.cost is not null) over of_measure as dearest,
    arg_min(s.cost, s.place) filter (where s.scores > 0 and s.cost is not null) over of_measure as dearest_cost,
    arg_min(s.mark, s.place) filter (where s.scores > 0 and s.cost is not null) over of_measure as dearest_mark,
    arg_min(s.mean_score, s.place) filter (where s.scores > 0 and s.cost is not null) over of_measure as dearest_mean
from shown as s
window of_measure as (partition by s.measure)
qualify s.place <= 300 and count(*) filter (where s.scores > 0 and s.cost is not null) over of_measure > 0
order by case s.measure when 'usd' then 1 when 'tokens' then 2 else 3 end, s.place
