/*---
title = "Reviewers' feedback"
doc = """
One row per feedback row looked at. A row without a pipeline belongs to the only one that its agent's events name.
"""

[columns]
row_no = "Number of the row, in reading order"
file_no = "Number of the input file"
line_no = "Line of the input file"
feedback_date = "Null is undated"
pipeline = "Shown name, or (unassigned)"
pipeline_inferred = "True where the pipeline comes from the agent's events"
agent = "Shown name, or (unattributed)"
attributed = "False for the bucket (unattributed)"
score = "0 to 100; null where the cell holds no score"
score_text = "The score as it was written"
issue = "What the reviewer found"
resolution = "What was done about it"
tags = "Pattern tags, folded"
---*/
with event_pipelines as (
    select
        a.key_no as agent_key,
        min(p.shown) as pipeline
    from dated_events as e
    inner join spellings as a on e.agent_no = a.spelling_no
    inner join spellings as p on e.pipeline_no = p.spelling_no
    group by a.key_no
    having count(distinct p.key_no) = 1
)

select
    f.row_no,
    f.file_no,
    f.line_no,
    f.feedback_date,
    coalesce(p.shown, i.pipeline, '(unassigned)') as pipeline,
    p.shown is null and i.pipeline is not null as pipeline_inferred,
    coalesce(a.shown, '(unattributed)') as agent,
    a.shown is not null as attributed,
    f.score,
    f.score_text,
    f.issue,
    f.resolution,
    f.tags
from seen_feedback as f
left join spellings as p on f.pipeline_no = p.spelling_no
left join spellings as a on f.agent_no = a.spelling_no
left join event_pipelines as i on a.key_no = i.agent_key
order by f.row_no
