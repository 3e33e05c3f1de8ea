/*---
title = "What the feedback and the healing log say about each finding's subject"
doc = """
One row per finding. An agent's rows and incidents are those in its pipeline; a run has incidents of its run id; a
pipeline and the whole project have all of theirs; a tag has the rows that carry it. Any other subject has none, and so
has every finding of a detector that is not about failures (counts_failures = false).
"""
---*/
with rows_of as (
    select
        f.finding_no,
        count(*) filter (where r.score < w.score_flag) as low_scores,
        count(*) filter (where list_has_any(r.tags, ['timeout', 'tool-fail', 'hallucination'])) as tagged
    from findings as f
    cross join window_bounds as w
    inner join feedback as r
        on
            (f.subject_kind = 'agent' and r.attributed and f.pipeline = r.pipeline and f.subject = r.agent)
            or (f.subject_kind = 'pipeline' and f.pipeline = r.pipeline)
            or (f.subject_kind = 'tag' and f.pipeline = r.pipeline and list_contains(r.tags, f.subject))
            or f.subject_kind = 'project'
    where f.counts_failures
    group by f.finding_no
),

incidents_of as (
    select
        f.finding_no,
        count(*) filter (where i.outcome = 'blocked') as blocked,
        count(*) filter (where i.outcome = 'escalated') as escalated,
        count(*) filter (where i.by_person) as by_person
    from findings as f
    inner join healing_incidents as i
        on
            (f.subject_kind = 'agent' and i.attributed and f.pipeline = i.pipeline and f.subject = i.agent)
            or (f.subject_kind = 'run' and f.pipeline = i.pipeline and 'id:' || i.run_id = f.subject_key)
            or (f.subject_kind = 'pipeline' and f.pipeline = i.pipeline)
            or f.subject_kind = 'project'
    where f.counts_failures
    group by f.finding_no
)

select
    f.finding_no,
    coalesce(r.low_scores, 0) as low_scores,
    coalesce(r.tagged, 0) as tagged,
    coalesce(i.blocked, 0) as blocked,
    coalesce(r.tagged, 0) + coalesce(i.blocked, 0) as failures,
    coalesce(i.escalated, 0) as escalated,
    coalesce(i.by_person, 0) as by_person
from findings as f
left join rows_of as r on f.finding_no = r.finding_no
left join incidents_of as i on f.finding_no = i.finding_no
order by f.finding_no
