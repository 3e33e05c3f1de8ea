/*---
title = "What 1,000 tokens cost the agent on each model"
headline = "1,000 tokens cost {observed:usd} on {dearest}, {ratio:times} what they cost on the others"
page = "recommendation"
detectors = ["expensive_model"]
kind = "rows"
x = "price"
y = "model"
mark = "reported"
line = "line_at"
line_label = "reported from"

[columns.model]
label = "Model"

[columns.price]
label = "Price of 1,000 tokens"
unit = "usd"

[columns.runs]
label = "Runs"
unit = "runs"

[columns.usd]
label = "Cost"
unit = "usd"

[columns.reported]
label = "Over the line"
---*/
with per_model as (
    select
        pipeline,
        agent,
        model,
        count(distinct run_key) as runs,
        cast(sum(tokens) as bigint) as tokens,
        cast(sum(usd) as decimal(38, 12)) as usd
    from agent_run_models
    group by pipeline, agent, model
)

select
    f.detector,
    f.pipeline,
    f.subject_key,
    m.model,
    prorate(m.usd, 1000, m.tokens) as price,
    m.runs,
    m.usd,
    prorate(m.usd, 1000, m.tokens) >= f.threshold as reported,
    f.threshold as line_at,
    f.observed,
    min(m.model) filter (where prorate(m.usd, 1000, m.tokens) = f.observed) over of_finding as dearest,
    prorate(1, pico(f.observed), nullif(pico(f.baseline), 0)) as ratio
from findings as f
inner join per_model as m on f.pipeline = m.pipeline and f.subject = m.agent
where f.detector = 'expensive_model'
window of_finding as (partition by f.finding_no)
order by f.finding_no asc, price desc, m.model asc
