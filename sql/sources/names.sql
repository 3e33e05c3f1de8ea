/*---
title = "Names as they are shown"
doc = """
One row per agent, pipeline and run id. Shown is the most frequent spelling in the events, else in the feedback, else
any; ties go to the smallest by code point.
"""

[columns]
kind = "agent, pipeline or run"
key_no = "Number of the name: two spellings of one name share it"
shown = "The spelling that the report uses"
name_key = "The case-folded name"
key_hash = "Hash of the name before redaction: what a stable id is made of"
---*/
with event_counts as (
    select
        agent_no as spelling_no,
        count(*) as uses
    from seen_events
    group by agent_no
    union all
    select
        pipeline_no,
        count(*)
    from seen_events
    group by pipeline_no
),

feedback_counts as (
    select
        agent_no as spelling_no,
        count(*) as uses
    from seen_feedback
    group by agent_no
    union all
    select
        pipeline_no,
        count(*)
    from seen_feedback
    group by pipeline_no
),

counted as (
    -- The spellings of the feedback count only for a name that the events do not have.
    select
        n.*,
        coalesce(e.uses, 0) as event_uses,
        case
            when sum(coalesce(e.uses, 0)) over (partition by n.kind, n.key_no) = 0 then coalesce(f.uses, 0)
            else 0
        end as feedback_uses
    from raw.names as n
    left join event_counts as e on n.spelling_no = e.spelling_no
    left join feedback_counts as f on n.spelling_no = f.spelling_no
),

ranked as (
    select
        n.kind,
        n.key_no,
        n.spelling,
        n.name_key,
        n.key_hash,
        row_number() over (
            partition by n.kind, n.key_no
            order by n.event_uses desc, n.feedback_uses desc, n.code_point_rank asc
        ) as place
    from counted as n
)

select
    kind,
    key_no,
    spelling as shown,
    name_key,
    key_hash
from ranked
where place = 1
order by kind, key_no
