/*---
title = "First and last day of what each finding rests on"
headline = [
    "{still} of {found} rest on something of the last 7 days",
    "None of {found} rests on anything of the last 7 days",
]
doc = """
From the first to the last day on which what a finding rests on was seen: the run, the reviews with the tag, the
incidents, the later runs that cost more; where it is about an agent or a pipeline as a whole, all its dated events and
reviews. That is when it happened, not when it was found.
"""
page = "recommendations"
kind = "spans"
x = "first_day"
end = "last_day"
y = "finding_no"
series = "decision"
link = "finding_no"
note = "At most twenty findings, those with the highest scores, in the order of the list of every finding."

[colours]
"implement" = "good"
"defer" = "warn"
"reject" = "grey"

[columns.finding_no]
label = "Finding"

[columns.decision]
label = "Decision hint"

[columns.first_day]
label = "From"
unit = "date"

[columns.last_day]
label = "To"
unit = "date"

[columns.rests_on]
label = "Of"
---*/
with loops as (
    select
        f.finding_no,
        'reviews tagged loop-excess' as rests_on,
        min(t.feedback_date) as first_day,
        max(t.feedback_date) as last_day
    from findings as f
    inner join feedback_tags as t
        on
            t.tag = 'loop-excess'
            and (
                f.subject_kind = 'project'
                or (f.pipeline = t.pipeline and (f.subject_kind = 'pipeline' or f.subject = t.agent))
            )
    where f.detector = 'revision_loops'
    group by f.finding_no
),

scores as (
    select
        f.finding_no,
        'the latest scores' as rests_on,
        min(s.feedback_date) as first_day,
        max(s.feedback_date) as last_day
    from findings as f
    cross join params.score_regression as p
    inner join agent_scores as s on f.pipeline = s.pipeline and f.subject = s.agent and p.reviews >= s.place
    where f.detector = 'score_regression'
    group by f.finding_no
),

failures as (
    select
        f.finding_no,
        'failures told by reviews and incidents' as rests_on,
        min(d.day) as first_day,
        max(d.day) as last_day
    from findings as f
    inner join (
        select
            pipeline,
            agent,
            feedback_date as day
        from feedback
        where list_has_any(tags, ['tool-fail', 'timeout'])
        union all
        select
            pipeline,
            agent,
            cast(last_time as date)
        from healing_incidents
        where error_type in ('timeout', 'tool-not-found')
    ) as d on f.pipeline = d.pipeline and f.subject = d.agent
    where f.detector = 'tool_failure_hotspot'
    group by f.finding_no
),

escalations as (
    select
        f.finding_no,
        'escalated incidents' as rests_on,
        cast(min(i.first_time) as date) as first_day,
        cast(max(i.last_time) as date) as last_day
    from findings as f
    inner join healing_incidents as i on f.pipeline = i.pipeline
    where f.detector = 'healing_escalations' and i.outcome = 'escalated'
    group by f.finding_no
),

later_runs as (
    select
        f.finding_no,
        'the runs of the later half' as rests_on,
        cast(min(r.started) as date) as first_day,
        cast(max(r.started) as date) as last_day
    from findings as f
    inner join pipeline_halves as h on f.pipeline = h.pipeline
    inner join runs as r on f.pipeline = r.pipeline and h.middle_time <= r.started
    where f.detector = 'run_cost_trend' and not r.from_feedback
    group by f.finding_no
),

windows as (
    select
        f.finding_no,
        'the window of the limit' as rests_on,
        b.window_start as first_day,
        cast(w.now_time as date) as last_day
    from findings as f
    inner join budget_windows as b on f.subject = concat(b.subject, ', ', b.window_name) and b.is_current
    cross join window_bounds as w
    where f.detector = 'budget_forecast'
),

own as (
    select * from loops
    union all
    select * from scores
    union all
    select * from failures
    union all
    select * from escalations
    union all
    select * from later_runs
    union all
    select * from windows
),

subjects as (
    -- What tells nothing of its own stands for its subject.
    select
        f.finding_no,
        'the run' as rests_on,
        cast(r.started as date) as first_day,
        cast(r.ended as date) as last_day
    from findings as f
    inner join runs as r on f.pipeline = r.pipeline and f.subject_key = r.run_key
    where f.subject_kind = 'run'
    union all
    select
        f.finding_no,
        'reviews with the tag' as rests_on,
        min(t.feedback_date) as first_day,
        max(t.feedback_date) as last_day
    from findings as f
    inner join feedback_tags as t on f.pipeline = t.pipeline and f.subject = t.tag
    where f.subject_kind = 'tag'
    group by f.finding_no
    union all
    select
        f.finding_no,
        'all that the agent did there' as rests_on,
        least(cast(a.first_seen as date), a.first_reviewed) as first_day,
        greatest(cast(a.last_seen as date), a.last_reviewed) as last_day
    from findings as f
    inner join agents as a on f.pipeline = a.pipeline and f.subject = a.agent
    where f.subject_kind = 'agent'
    union all
    select
        f.finding_no,
        'the whole pipeline' as rests_on,
        cast(p.first_time as date) as first_day,
        cast(p.last_time as date) as last_day
    from findings as f
    inner join pipelines as p on f.pipeline = p.pipeline
    where f.subject_kind = 'pipeline'
),

spans as (
    select * from own
    union all
    select s.*
    from subjects as s
    where s.finding_no not in (select o.finding_no from own as o)
),

placed as (
    select
        f.finding_no,
        v.decision,
        s.first_day,
        s.last_day,
        coalesce(s.rests_on, 'nothing that has a date') as rests_on,
        coalesce(s.last_day > cast(w.now_time as date) - 7, false) as is_recent,
        row_number() over (
            -- As the list has it: of two equal scores the smaller effort, then the larger part of the cost.
            order by
                v.total desc,
                position(f.effort in 'SML') asc,
                case
                    when f.wait then 0
                    -- Only an order: an exact fraction of the largest amounts would not fit.
                    when f.saving_of > 0 then cast(f.saving as double) / cast(f.saving_of as double)
                end desc nulls last,
                f.detector asc,
                f.finding_no asc
        ) as place
    from findings as f
    inner join vfm as v on f.finding_no = v.finding_no
    left join spans as s on f.finding_no = s.finding_no
    cross join window_bounds as w
    cross join params.report as rp
    where rp.pipeline in ('', f.pipeline)
)

select
    p.finding_no,
    p.decision,
    p.first_day,
    p.last_day,
    p.rests_on,
    counted(count(*) over (), 'finding') as found,
    case when count(*) filter (where p.is_recent) over () > 0 then count(*) filter (where p.is_recent) over () end
        as still
from placed as p
qualify p.place <= 20
order by p.place
