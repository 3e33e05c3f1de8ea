/*---
title = "Input that each agent sent in each run, and what of it came from the cache"
doc = """
One row per pipeline, run and agent that has events which tell both input and cache-read tokens; an event that leaves
one of the two out counts nowhere. Events without a run stand under a null run_key.
"""

[columns]
pipeline = "Shown name"
run_key = "Key of the run; null: events that belong to no run"
agent = "Shown name, or (unattributed)"
attributed = "False for the bucket (unattributed)"
cache_events = "Events that tell both"
input_tokens = "Input tokens of these events, as the producer counts them: some count cache reads in, some do not"
cache_read_tokens = "Tokens of these events that were read from the cache"
largest_input = "Input tokens of the largest of these events"
---*/
select
    pipeline,
    run_key,
    agent,
    attributed,
    cast(sum(cache_events) as bigint) as cache_events,
    cast(sum(cache_input_tokens) as bigint) as input_tokens,
    cast(sum(cache_read_tokens) as bigint) as cache_read_tokens,
    max(largest_input) as largest_input
from event_sums
where cache_events > 0
group by pipeline, run_key, agent, attributed
order by pipeline, run_key, agent
