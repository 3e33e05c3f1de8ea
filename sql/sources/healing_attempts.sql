/*---
title = "Recovery attempts from the healing log"
doc = """
One row per entry looked at. An entry without a pipeline belongs to the only one that its run id is in, else to the only
one that its agent's events name, else to (unassigned).
"""
---*/
with run_pipelines as (
    select
        run,
        min(pipeline) as pipeline
    from events
    where starts_with(run_key, 'id:')
    group by run
    having count(distinct pipeline) = 1
),

agent_pipelines as (
    select
        a.key_no as agent_key,
        min(p.shown) as pipeline
    from seen_events as e
    inner join spellings as a on e.agent_no = a.spelling_no
    inner join spellings as p on e.pipeline_no = p.spelling_no
    group by a.key_no
    having count(distinct p.key_no) = 1
)

select
    h.row_no,
    h.line_no,
    h.log_time,
    coalesce(p.shown, rp.pipeline, ap.pipeline, '(unassigned)') as pipeline,
    coalesce(a.shown, '(unattributed)') as agent,
    a.shown is not null as attributed,
    r.shown as run_id,
    h.error_type,
    h.attempt,
    h.max_attempts,
    h.action,
    h.exit_code,
    h.delay_seconds,
    h.reason,
    h.context
from seen_healing as h
left join spellings as p on h.pipeline_no = p.spelling_no
left join spellings as a on h.agent_no = a.spelling_no
left join spellings as r on h.run_no = r.spelling_no
left join run_pipelines as rp on r.shown = rp.run
left join agent_pipelines as ap on a.key_no = ap.agent_key
order by h.row_no
