/*---
title = "Share of the events of the pipeline's agents"
headline = "{subject} has {subject_share:share} of the events, {ratio:times} an even share"
page = "recommendation"
detectors = ["bottleneck_agent"]
kind = "rows"
x = "share"
y = "agent"
mark = "this_one"
link = "agent"
line = "line_at"
line_label = "reported from here"
note = "The twenty busiest agents."

[columns.agent]
label = "Agent"

[columns.share]
label = "Share of the events"
unit = "share"

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
    prorate(1, a.events, sum(a.events) over of_finding) as share,
    a.events,
    a.agent = f.subject as this_one,
    prorate(1, pico(f.threshold), pico(sum(a.events) over of_finding)) as line_at,
    f.subject,
    prorate(1, pico(f.observed), pico(sum(a.events) over of_finding)) as subject_share,
    prorate(1, pico(f.observed), nullif(pico(f.baseline), 0)) as ratio
from findings as f
inner join agents as a on f.pipeline = a.pipeline
where f.detector = 'bottleneck_agent' and a.attributed and a.events > 0
window of_finding as (partition by f.finding_no)
qualify row_number() over (partition by f.finding_no order by a.events desc, a.agent asc) <= 20
order by f.finding_no asc, a.events desc, a.agent asc
