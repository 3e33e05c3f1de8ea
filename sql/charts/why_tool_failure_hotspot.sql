/*---
title = "Tool failures and timeouts per week"
headline = "{subject}: {observed:n} of the {baseline:n} failures of the pipeline"
page = "recommendation"
detectors = ["tool_failure_hotspot"]
kind = "bars"
x = "week"
y = "told"
series = "told_by"
note = "A review and an incident of one day tell of one failure, and are two here."

[colours]
"review" = "1"
"incident: timeout" = "bad"
"incident: tool-not-found" = "4"

[columns.week]
label = "Week from"
unit = "date"

[columns.told_by]
label = "Told by"

[columns.told]
label = "Reviews and incidents"
---*/
with signals as (
    select
        pipeline,
        agent,
        feedback_date as day,
        'review' as told_by
    from feedback
    where attributed and list_has_any(tags, ['tool-fail', 'timeout'])
    union all
    select
        pipeline,
        agent,
        cast(first_time as date) as day,
        'incident: ' || error_type as told_by
    from healing_incidents
    where attributed and error_type in ('timeout', 'tool-not-found')
)

select
    f.detector,
    f.pipeline,
    f.subject_key,
    cast(date_trunc('week', s.day) as date) as week,
    s.told_by,
    count(*) as told,
    f.subject,
    f.observed,
    f.baseline
from findings as f
inner join signals as s on f.pipeline = s.pipeline and f.subject = s.agent
where f.detector = 'tool_failure_hotspot' and s.day is not null
group by f.finding_no, f.detector, f.pipeline, f.subject_key, week, s.told_by, f.subject, f.observed, f.baseline
order by f.finding_no, week, s.told_by
