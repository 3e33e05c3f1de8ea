/*---
title = "Models that each agent used in each run, and what they cost"
doc = """
One row per pipeline, run, agent and model, of the events that name a model and have both tokens and a known cost in US
dollars. Sums only, so that rows can be added up. Events without a run stand under a null run_key.
"""

[columns]
pipeline = "Shown name"
run_key = "Key of the run; null: events that belong to no run"
agent = "Shown name, or (unattributed)"
attributed = "False for the bucket (unattributed)"
model = "The model's name, as given"
priced_events = "Events with tokens and a known cost_usd"
tokens = "Their tokens, input and output together"
usd = "Their cost in US dollars"
estimated_costs = "Those of them whose cost is given as an estimate"
priced_costs = "Those of them whose cost was priced from tokens and model"
---*/
select
    pipeline,
    run_key,
    agent,
    attributed,
    model,
    cast(sum(token_usd_events) as bigint) as priced_events,
    cast(sum(token_usd_tokens) as bigint) as tokens,
    cast(sum(token_usd_usd) as decimal(38, 12)) as usd,
    cast(sum(token_usd_estimated) as bigint) as estimated_costs,
    cast(sum(token_usd_priced) as bigint) as priced_costs
from event_sums
where model is not null and token_usd_events > 0
group by pipeline, run_key, agent, attributed, model
order by pipeline, run_key, agent, model
