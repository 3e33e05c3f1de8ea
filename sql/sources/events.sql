/*---
title = "Canonical cost events"
doc = """
One row per cost event looked at: who, in which pipeline and run, what it used and cost. A pipeline that is not named is
taken from the feedback where the agent stands under exactly one; a run that is not named is told from gaps.
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
cost_basis = "reported or estimated"
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

named as (
    select
        e.*,
        coalesce(p.shown, i.pipeline, '(unassigned)') as pipeline,
        p.shown is null and i.pipeline is not null as pipeline_inferred,
        coalesce(a.shown, '(unattributed)') as agent,
        a.shown is not null as attributed,
        r.shown as run_id
    from seen_events as e
    left join spellings as p on e.pipeline_no = p.spelling_no
    left join spellings as a on e.agent_no = a.spelling_no
    left join feedback_pipelines as i on a.key_no = i.agent_key
    left join spellings as r on e.run_no = r.spelling_no
),

steps as (
    -- Gaps are measured among the dated events of a pipeline that carry no run id.
    select
        event_no,
        pipeline,
        event_time,
        coalesce(
            event_time - lag(event_time) over (partition by pipeline order by event_time)
            > to_seconds((select run_gap_seconds from window_bounds)),
            true
        ) as starts_run
    from named
    where run_id is null and event_time is not null
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
)

select
    n.event_no,
    n.file_no,
    n.line_no,
    n.event_time,
    n.pipeline,
    n.pipeline_inferred,
    n.agent,
    n.attributed,
    case
        when n.run_id is not null then 'id:' || n.run_id
        when g.run_start is not null then 'at:' || strftime(g.run_start, '%Y-%m-%dT%H:%M:%S.%fZ')
    end as run_key,
    coalesce(n.run_id, strftime(g.run_start, '%Y-%m-%dT%H:%M:%SZ')) as run,
    n.tool_name,
    n.model,
    n.input_tokens,
    n.output_tokens,
    n.cache_read_tokens,
    n.cache_write_tokens,
    n.total_tokens,
    n.tokens_estimated,
    n.cost_usd,
    n.cost_basis,
    n.duration_ms
from named as n
left join gap_runs as g on n.event_no = g.event_no
order by n.event_no
