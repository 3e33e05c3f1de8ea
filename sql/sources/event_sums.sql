/*---
title = "What the events add up to"
doc = """
Rows of sums, at most one for each spelling of pipeline, agent and run, each day and each model: what the marts are made
of. Rows of one key can be added up, and so can those of other days, models or agents.
"""

[columns]
pipeline = "Shown name, or (unassigned)"
pipeline_inferred = "True where the pipeline comes from the feedback"
agent = "Shown name, or (unattributed)"
attributed = "False for the bucket (unattributed)"
run_key = "id:<run id> or at:<start>; null: events that belong to no run"
run = "The run's shown name"
day = "UTC day; null: undated events"
model = "Model used, if named"
events = "All events"
carrying = "Events that carry cost: a known cost_usd, or tokens above 0"
with_usd = "Events with a known cost_usd"
usd = "Sum of the known cost_usd"
with_tokens = "Events with a known token count"
tokens = "Sum of the known token counts"
without_usd = "Events that carry cost, but no known cost_usd"
without_tokens = "Events that carry cost, but no known token count"
estimated_usd = "Events whose cost_usd is given as an estimate"
priced_usd = "Events whose cost_usd was priced from tokens and model"
token_usd_events = "Events with tokens above 0 and a known cost_usd"
token_usd_tokens = "Their tokens"
token_usd_usd = "Their cost_usd"
token_usd_estimated = "Those of them whose cost_usd is given as an estimate"
token_usd_priced = "Those of them whose cost_usd was priced"
cache_events = "Events that tell both input and cache-read tokens"
cache_input_tokens = "Input tokens of these events"
cache_read_tokens = "Cache-read tokens of these events"
largest_input = "Input tokens of the largest of these events"
all_cache_reads = "Cache-read tokens of all events that tell them"
all_cache_input = "All tokens but the output of the events that tell cache-read tokens"
first_time = "First dated event"
last_time = "Last dated event"
duration_ms = "Sum of the durations that are told, in milliseconds"
---*/
with sums as (
    -- By numbers: names are looked up for each row of sums, not for each event.
    select
        e.pipeline_no,
        e.agent_no,
        e.run_no,
        g.run_start,
        cast(e.event_time as date) as day,
        e.model,
        count(*) as events,
        count(coalesce(e.cost_usd, q.price_usd)) as with_usd,
        sum(coalesce(e.cost_usd, q.price_usd)) as usd,
        count(e.total_tokens) as with_tokens,
        sum(e.total_tokens) as tokens,
        count(*) filter (where coalesce(e.cost_usd, q.price_usd) is null and e.total_tokens > 0) as without_usd,
        count(*) filter (where coalesce(e.cost_usd, q.price_usd) is not null and e.total_tokens is null)
            as without_tokens,
        count(*) filter (where coalesce(e.cost_basis, q.price_basis) = 'estimated') as estimated_usd,
        count(*) filter (where coalesce(e.cost_basis, q.price_basis) = 'priced') as priced_usd,
        count(*) filter (where coalesce(e.cost_usd, q.price_usd) is not null and e.total_tokens > 0)
            as token_usd_events,
        sum(e.total_tokens) filter (where coalesce(e.cost_usd, q.price_usd) is not null) as token_usd_tokens,
        sum(coalesce(e.cost_usd, q.price_usd)) filter (where e.total_tokens > 0) as token_usd_usd,
        count(*) filter (where coalesce(e.cost_basis, q.price_basis) = 'estimated' and e.total_tokens > 0)
            as token_usd_estimated,
        count(*) filter (where coalesce(e.cost_basis, q.price_basis) = 'priced' and e.total_tokens > 0)
            as token_usd_priced,
        count(*) filter (where e.input_tokens is not null and e.cache_read_tokens is not null) as cache_events,
        sum(e.input_tokens) filter (where e.cache_read_tokens is not null) as cache_input_tokens,
        sum(e.cache_read_tokens) filter (where e.input_tokens is not null) as cache_read_tokens,
        max(e.input_tokens) filter (where e.cache_read_tokens is not null) as largest_input,
        sum(e.cache_read_tokens) as all_cache_reads,
        sum(e.total_tokens - coalesce(e.output_tokens, 0)) filter (where e.cache_read_tokens is not null)
            as all_cache_input,
        min(e.event_time) as first_time,
        max(e.event_time) as last_time,
        sum(e.duration_ms) as duration_ms
    from seen_events as e
    left join gap_runs as g on e.event_no = g.event_no
    left join event_prices as q on e.event_no = q.event_no
    group by e.pipeline_no, e.agent_no, e.run_no, g.run_start, cast(e.event_time as date), e.model
)

select
    p.pipeline,
    p.pipeline_inferred,
    p.agent,
    p.attributed,
    case
        when r.shown is not null then 'id:' || r.shown
        when s.run_start is not null then 'at:' || strftime(s.run_start, '%Y-%m-%dT%H:%M:%S.%fZ')
    end as run_key,
    case
        when r.shown is not null then r.shown
        when s.run_start is not null then strftime(s.run_start, '%Y-%m-%dT%H:%M:%SZ')
    end as run,
    s.* exclude (pipeline_no, agent_no, run_no, run_start),
    s.with_usd + s.without_usd as carrying
from sums as s
inner join event_places as p
    on s.pipeline_no is not distinct from p.pipeline_no and s.agent_no is not distinct from p.agent_no
left join spellings as r on s.run_no = r.spelling_no and r.kind = 'run'
