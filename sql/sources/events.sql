/*---
title = "Canonical cost events"
view = true
doc = """
One row per cost event looked at: who, in which pipeline and run, what it used and cost. A pipeline that is not named is
taken from the feedback where the agent stands under exactly one; a run that is not named is told from gaps; a cost that
is not told is priced where the model's price is known.
"""

[columns]
event_no = "Number of the event, in reading order"
file_no = "Number of the input file"
line_no = "Line of the input file"
event_time = "UTC; null is undated"
pipeline = "Shown name, or (unassigned)"
pipeline_inferred = "True where the pipeline comes from the feedback"
agent = "Shown name, or (unattributed)"
attributed = "False for the bucket (unattributed)"
run_key = "id:<run id> or at:<start>; null where the event belongs to no run"
run = "The run's shown name"
tool_name = "Tool used, if named"
model = "Model used, if named"
input_tokens = "Input tokens, where told"
output_tokens = "Output tokens, where told"
cache_read_tokens = "Tokens read from the cache, where told"
cache_write_tokens = "Tokens written to the cache, where told"
total_tokens = "Exact total, else the sum of exact parts, else the estimate"
tokens_estimated = "True where the number comes from an estimated_* field"
cost_usd = "Exact; null is unknown"
cost_basis = "reported, estimated, or priced from tokens and model; null where the cost is unknown"
duration_ms = "Milliseconds"
---*/
with named_runs as (
    select
        spelling_no,
        shown as run,
        'id:' || shown as run_key
    from spellings
    where kind = 'run'
)

select
    e.event_no,
    e.file_no,
    e.line_no,
    e.event_time,
    p.pipeline,
    p.pipeline_inferred,
    p.agent,
    p.attributed,
    case
        when r.run_key is not null then r.run_key
        when g.run_start is not null then 'at:' || strftime(g.run_start, '%Y-%m-%dT%H:%M:%S.%fZ')
    end as run_key,
    case
        when r.run is not null then r.run
        when g.run_start is not null then strftime(g.run_start, '%Y-%m-%dT%H:%M:%SZ')
    end as run,
    e.tool_name,
    e.model,
    e.input_tokens,
    e.output_tokens,
    e.cache_read_tokens,
    e.cache_write_tokens,
    e.total_tokens,
    e.tokens_estimated,
    coalesce(e.cost_usd, q.price_usd) as cost_usd,
    coalesce(e.cost_basis, q.price_basis) as cost_basis,
    e.duration_ms
from seen_events as e
inner join event_places as p
    on e.pipeline_no is not distinct from p.pipeline_no and e.agent_no is not distinct from p.agent_no
left join named_runs as r on e.run_no = r.spelling_no
left join gap_runs as g on e.event_no = g.event_no
left join event_prices as q on e.event_no = q.event_no
