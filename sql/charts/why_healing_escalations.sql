/*---
title = "Incidents of the pipeline by error type and outcome"
headline = "{observed:n} of {incidents_in_all:n} incidents were escalated"
page = "recommendation"
detectors = ["healing_escalations"]
kind = "bars"
x = "error_type"
y = "incidents"
series = "outcome"

[colours]
"presumed recovered" = "good"
"blocked" = "warn"
"escalated" = "bad"

[columns.error_type]
label = "Error type"

[columns.outcome]
label = "Outcome"

[columns.incidents]
label = "Incidents"
---*/
select
    f.detector,
    f.pipeline,
    f.subject_key,
    i.error_type,
    i.outcome,
    count(*) as incidents,
    max(f.observed) as observed,
    max(f.baseline) as incidents_in_all
from findings as f
inner join healing_incidents as i on f.pipeline = i.pipeline
where f.detector = 'healing_escalations' and i.error_type is not null
group by f.finding_no, f.detector, f.pipeline, f.subject_key, i.error_type, i.outcome
order by f.finding_no, i.error_type, i.outcome
