/*---
title = "Runs of the pipeline's agents"
headline = "{subject} is in {observed:n} of {baseline:runs}"
page = "recommendation"
detectors = ["underutilized_agent"]
kind = "rows"
x = "runs"
y = "agent"
mark = "this_one"
link = "agent"
line = "line_at"
line_label = "reported below"
note = "The agent, and the twenty that are in most runs."

[columns.agent]
label = "Agent"

[columns.runs]
label = "Runs"
unit = "runs"

[columns.this_one]
label = "This recommendation"
---*/
select
    f.detector,
    f.pipeline,
    f.subject_key,
    a.agent,
    a.runs,
    a.agent = f.subject as this_one,
    f.threshold as line_at,
    f.subject,
    f.observed,
    f.baseline
from findings as f
inner join agents as a on f.pipeline = a.pipeline
where f.detector = 'underutilized_agent' and a.attributed
qualify row_number() over (partition by f.finding_no order by a.agent = f.subject desc, a.runs desc, a.agent asc) <= 21
order by f.finding_no asc, a.runs desc, a.agent asc
