/*---
title = "Recovery attempts from the healing log"
doc = """
One row per entry looked at. An entry without a pipeline belongs to the only one that its run id is in, else to the only
one that its agent's events name, else to the only one that the feedback puts its agent under, else to (unassigned).
"""

[columns]
row_no = "Number of the entry, in reading order"
line_no = "Line of the healing log"
log_time = "UTC; null is undated"
pipeline = "Shown name, or (unassigned)"
agent = "Shown name, or (unattributed)"
attributed = "False for the bucket (unattributed)"
run_id = "The run's shown id; null where none was given"
error_type = "What had failed: timeout, api-error, …"
attempt = "Number of the recovery attempt, from 1"
max_attempts = "Attempts that its error type allows"
action = "What heal answered: retry-…, skip, alert-operator, abort or escalate"
exit_code = "0 retry, 1 do not retry, 2 escalate"
delay_seconds = "Seconds that heal waited before the retry"
reason = "Why heal answered so"
context = "What the caller told of the failure"
---*/
with run_pipelines as (
    select
        run,
        min(pipeline) as pipeline
    from event_sums
    where starts_with(run_key, 'id:')
    group by run
    having count(distinct pipeline) = 1
),

agent_pipelines as (
    select
        a.key_no as agent_key,
        min(p.shown) as pipeline
    from dated_events as e
    inner join spellings as a on e.agent_no = a.spelling_no
    inner join spellings as p on e.pipeline_no = p.spelling_no
    group by a.key_no
    having count(distinct p.key_no) = 1
),

feedback_pipelines as (
    -- As for events: where the feedback puts an agent under exactly one pipeline, it is taken to work there.
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
)

select
    h.row_no,
    h.line_no,
    h.log_time,
    coalesce(p.shown, rp.pipeline, ap.pipeline, fp.pipeline, '(unassigned)') as pipeline,
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
left join feedback_pipelines as fp on a.key_no = fp.agent_key
order by h.row_no
