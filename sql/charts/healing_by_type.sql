/*---
title = "Incidents by error type and outcome"
page = "healing"
kind = "bars"
x = "error_type"
y = "incidents"
series = "outcome"

[columns.error_type]
label = "Error type"

[columns.outcome]
label = "Outcome"

[columns.incidents]
label = "Incidents"
---*/
select
    error_type,
    outcome,
    count(*) as incidents
from healing_incidents
cross join params.report as rp
where rp.pipeline in ('', healing_incidents.pipeline)
group by error_type, outcome
order by error_type, outcome
