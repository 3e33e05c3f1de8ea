/*---
title = "Reviews per date, with and without loop-excess"
headline = "{loop_rows} of {all_rows} are tagged loop-excess"
page = "recommendation"
detectors = ["revision_loops"]
kind = "bars"
x = "reviewed"
y = "reviews"
series = "tagged"

[colours]
"loop-excess" = "bad"
"no loop" = "grey"

[columns.reviewed]
label = "Date"
unit = "date"

[columns.tagged]
label = "Tagged"

[columns.reviews]
label = "Reviews"
unit = "reviews"
---*/
with reviewed as (
    select
        f.finding_no,
        f.detector,
        f.pipeline,
        f.subject_key,
        r.feedback_date,
        list_contains(r.tags, 'loop-excess') as is_loop
    from findings as f
    inner join feedback as r
        on
            f.subject_kind = 'project'
            or (
                f.pipeline = r.pipeline
                and (f.subject_kind = 'pipeline' or (r.attributed and f.subject = r.agent))
            )
    where f.detector = 'revision_loops'
),

totals as (
    -- The undated ones, too, which are not drawn.
    select
        finding_no,
        count(*) filter (where is_loop) as loop_rows,
        counted(count(*), 'review') as all_rows
    from reviewed
    group by finding_no
)

select
    r.detector,
    r.pipeline,
    r.subject_key,
    r.feedback_date as reviewed,
    case when r.is_loop then 'loop-excess' else 'no loop' end as tagged,
    count(*) as reviews,
    t.loop_rows,
    t.all_rows
from reviewed as r
inner join totals as t on r.finding_no = t.finding_no
where r.feedback_date is not null
group by all
order by r.pipeline, r.subject_key, r.feedback_date, tagged
