/*---
title = "Reviews per date, with and without loop-excess"
page = "recommendation"
detectors = ["revision_loops"]
kind = "bars"
x = "reviewed"
y = "reviews"
series = "tagged"

[columns.reviewed]
label = "Date"
unit = "date"

[columns.tagged]
label = "Tagged"

[columns.reviews]
label = "Reviews"
unit = "rows"
---*/
select
    f.detector,
    f.pipeline,
    f.subject_key,
    r.feedback_date as reviewed,
    case when list_contains(r.tags, 'loop-excess') then 'loop-excess' else 'no loop' end as tagged,
    count(*) as reviews
from findings as f
inner join feedback as r
    on
        f.subject_kind = 'project'
        or (
            f.pipeline = r.pipeline
            and (f.subject_kind = 'pipeline' or (r.attributed and f.subject = r.agent))
        )
where f.detector = 'revision_loops' and r.feedback_date is not null
group by f.finding_no, f.detector, f.pipeline, f.subject_key, r.feedback_date, tagged
order by f.finding_no, r.feedback_date, tagged
