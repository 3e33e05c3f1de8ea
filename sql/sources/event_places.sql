/*---
title = "Where the events of each pair of names belong"
doc = """
One row per pipeline and agent as events spell them. A pipeline that is not named is taken from the feedback where the
agent stands under exactly one. Looked up for each pair of names, not for each event.
"""

[columns]
pipeline_no = "Spelling of the pipeline; null: not named"
agent_no = "Spelling of the agent; null: not named"
pipeline = "Shown name, or (unassigned)"
pipeline_inferred = "True where the pipeline comes from the feedback"
agent = "Shown name, or (unattributed)"
attributed = "False for the bucket (unattributed)"
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
)

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
order by e.pipeline_no, e.agent_no
