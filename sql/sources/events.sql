/*---
title = "Canonical cost events"
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
with feedback_pipelines as (
    -- An agent that the feedback puts under exactly one pipeline is taken to work there. Who works where does not
    -- depend on the period that is looked at: all feedback tells, up to --as-of.
    select
        a.key_no as agent_key,
        min(p.shown) as pipeline
    from raw.feedback as f
    cross join raw.settings as s
    inner join spellings as a on f.agent_no = a.spelling_no
    inner join spellings as p on f.pipeline_no = p.spelling_no
    where s.as_of is null or f.feedback_date is null or f.feedback_date <= cast(s.as_of as date)
    group by a.key_no
    having count(distinct p.key_no) = 1
),

places as (
    -- Who works where is looked up for each pair of names, not for each event.
    select
        e.pipeline_no,
        e.agent_no,
        coalesce(p.shown, i.pipeline, '(unassigned)') as pipeline,
        p.shown is null and i.pipeline is not null as pipeline_inferred,
        coalesce(a.shown, '(unattributed)') as agent,
        a.shown is not null as attributed
    from (
        select distinct
            pipeline_no,
            agent_no
        from seen_events
    ) as e
    left join spellings as p on e.pipeline_no = p.spelling_no
    left join spellings as a on e.agent_no = a.spelling_no
    left join feedback_pipelines as i on a.key_no = i.agent_key
),

steps as (
    -- Gaps are measured among the dated events of a pipeline that carry no run id.
    select
        e.event_no,
        p.pipeline,
        e.event_time,
        coalesce(
            e.event_time - lag(e.event_time) over (partition by p.pipeline order by e.event_time)
            > to_seconds((select run_gap_seconds from window_bounds)),
            true
        ) as starts_run
    from seen_events as e
    inner join places as p
        on e.pipeline_no is not distinct from p.pipeline_no and e.agent_no is not distinct from p.agent_no
    where e.run_no is null and e.event_time is not null
),

gap_runs as (
    select
        event_no,
        max(case when starts_run then event_time end) over (
            partition by pipeline
            order by event_time
            range between unbounded preceding and current row
        ) as run_start
    from steps
),

named_runs as (
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
inner join places as p
    on e.pipeline_no is not distinct from p.pipeline_no and e.agent_no is not distinct from p.agent_no
left join named_runs as r on e.run_no = r.spelling_no
left join gap_runs as g on e.event_no = g.event_no
left join event_prices as q on e.event_no = q.event_no
