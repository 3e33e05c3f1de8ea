/*---
title = "Agents that pay far more on one model than on their others"
issue = "Expensive model"
doc = """
Compares what an agent pays for 1,000 tokens on one model with what the same agent pays on all its other models in the
pipeline. Both sides need enough runs. Of several such models the one with the highest price is reported.
"""
enabled = false
sessions = true
finding = """
{subject} pays {observed} for 1,000 tokens on {model} in {pipeline}, and {baseline} on its other models: {ratio:n} \
times as much, in {model_runs:n} of the {agent_runs} it is in."""
action = """
Compare the reviews of runs on either model; where the cheaper one does as well, use it, and keep the dearer one for \
the steps that need it."""
effort = "S"
burden = 2
counts_failures = false
occurrences = ["run on the model", "runs on the model"]
saving = "What its tokens on {model} cost above the price of its other models; whether those do as well is not known."
subject_kind = "agent"
needs = ["events"]

[minimum]
priced_events = 10

[params.min_ratio]
default = 1.5
unit = "times the price of the other models"
doc = "A model at or above this multiple is reported."

[params.min_runs]
default = 5
unit = "runs on each side"
doc = "With fewer runs on the model, or on all others, nothing is compared."

[columns.observed]
label = "Price of 1,000 tokens on the model"
unit = "usd"

[columns.baseline]
label = "Price of 1,000 tokens on the others"
unit = "usd"

[columns.threshold]
label = "Reported from"
unit = "usd"

[columns.ratio]
label = "Times the price of the others"
unit = "times"

[columns.model]
label = "Model"

[columns.other_models]
label = "Its other models"

[columns.model_runs]
label = "Runs on the model"
unit = "runs"

[columns.other_runs]
label = "Runs on the others"
unit = "runs"

[columns.agent_runs]
label = "Runs of the agent"
unit = "runs"

[columns.model_usd]
label = "Cost of the model"
unit = "usd"

[columns.model_tokens]
label = "Tokens on the model"
unit = "tokens"
---*/
with param as (
    select * from params.expensive_model
),

per_model as (
    select
        pipeline,
        agent,
        model,
        count(distinct run_key) as runs,
        cast(sum(tokens) as bigint) as tokens,
        cast(sum(usd) as decimal(38, 12)) as usd
    from agent_run_models
    where attributed
    group by pipeline, agent, model
),

compared as (
    -- A run may use several models: the runs of the others are counted, not added up.
    select
        m.pipeline,
        m.agent,
        m.model,
        m.runs,
        m.tokens,
        m.usd,
        count(distinct o.run_key) as other_runs,
        cast(sum(o.tokens) as bigint) as other_tokens,
        cast(sum(o.usd) as decimal(38, 12)) as other_usd,
        string_agg(distinct o.model, ', ' order by o.model) as other_models
    from per_model as m
    inner join agent_run_models as o on m.pipeline = o.pipeline and m.agent = o.agent and m.model <> o.model
    group by all
),

flagged as (
    -- usd / tokens >= ratio x other usd / other tokens, cross-multiplied. Beside one that costs nothing any is dear.
    select
        c.*,
        prorate(c.usd, 1000, c.tokens) as price,
        prorate(c.other_usd, 1000, c.other_tokens) as other_price
    from compared as c
    cross join param as p
    where
        c.runs >= p.min_runs
        and c.other_runs >= p.min_runs
        and c.other_usd > 0
        and c.usd * c.other_tokens >= p.min_ratio * c.other_usd * c.tokens
    qualify row_number() over (
        partition by c.pipeline, c.agent
        order by prorate(c.usd, 1000000, c.tokens) desc, c.model asc
    ) = 1
),

bases as (
    select
        pipeline,
        agent,
        case
            when sum(estimated_costs) > 0 then 'estimated'
            when sum(priced_costs) > 0 then 'priced'
            else 'measured'
        end as cost_basis
    from agent_run_models
    group by pipeline, agent
)

select
    f.pipeline,
    f.agent as subject,
    f.price as observed,
    f.other_price as baseline,
    p.min_ratio * f.other_price as threshold,
    f.runs as occurrences,
    f.runs as affected_runs,
    pl.runs as total_runs,
    -- What the tokens on the model cost above the price of the others; only dollars can be compared with the pipeline.
    case when pl.cost_measure = 'usd' then f.usd - prorate(f.other_usd, f.tokens, f.other_tokens) end as saving,
    pl.cost as saving_of,
    b.cost_basis as saving_basis,
    f.model,
    f.other_models,
    about(pico(f.price), pico(f.other_price)) as ratio,
    f.runs as model_runs,
    f.other_runs,
    a.runs as agent_runs,
    f.usd as model_usd,
    f.tokens as model_tokens
from flagged as f
inner join pipelines as pl on f.pipeline = pl.pipeline
inner join agents as a on f.pipeline = a.pipeline and f.agent = a.agent
inner join bases as b on f.pipeline = b.pipeline and f.agent = b.agent
cross join param as p
order by f.pipeline asc, f.usd desc, f.agent asc
