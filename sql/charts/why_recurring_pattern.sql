/*---
title = "Reviews per date, with and without the tag"
headline = "{tagged_rows:n} of {all_rows} carry {subject}"
page = "recommendation"
detectors = ["recurring_pattern"]
kind = "bars"
x = "reviewed"
y = "reviews"
series = "tagged"

[colours]
"without it" = "grey"

[columns.reviewed]
label = "Date"
unit = "date"

[columns.tagged]
label = "Tagged"

[columns.reviews]
label = "Reviews"
unit = "reviews"
---*/
select
    f.detector,
    f.pipeline,
    f.subject_key,
    r.feedback_date as reviewed,
    case when list_contains(r.tags, f.subject) then f.subject else 'without it' end as tagged,
    count(*) as reviews,
    f.subject,
    f.observed as tagged_rows,
    counted(pl.feedback_rows, 'review') as all_rows
from findings as f
inner join pipelines as pl on f.pipeline = pl.pipeline
inner join feedback as r on f.pipeline = r.pipeline
where f.detector = 'recurring_pattern' and r.feedback_date is not null
group by
    f.finding_no, f.detector, f.pipeline, f.subject_key, r.feedback_date, tagged, f.subject, f.observed,
    pl.feedback_rows
order by f.finding_no, r.feedback_date, tagged
