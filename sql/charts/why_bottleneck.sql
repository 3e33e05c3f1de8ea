/*---
title = "Events of the pipeline's agents"
page = "recommendation"
detectors = ["bottleneck_agent"]
kind = "rows"
x = "events"
y = "agent"
mark = "this_one"
line = "line_at"
line_label = "reported from here"
note = "The twenty busiest agents."

[columns.agent]
label = "Agent"

[columns.events]
label = "Events"
unit = "events"

[columns.this_one]
label = "This recommendation"
---*/
select
    f.detector,
    f.pipeline,
    f.subject_key,
    a.agent,
    a.events,
    a.agent = f.subject as this_one,
    f.threshold as line_at
from findings as f
inner join agents as a on f.pipeline = a.pipeline
where f.detector = 'bottleneck_agent' and a.attributed and a.events > 0
qualify row_number() over (partition by f.finding_no order by a.events desc, a.agent asc) <= 20
order by f.finding_no asc, a.events desc, a.agent asc
