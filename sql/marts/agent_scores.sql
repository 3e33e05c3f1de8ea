/*---
title = "Review scores of each agent, the newest first"
doc = "One row per feedback row with a score: its place among those of its pipeline and agent."

[columns]
row_no = "Number of the feedback row"
feedback_date = "Date of the review; undated ones count as the oldest"
pipeline = "Shown name"
agent = "Shown name, or (unattributed)"
attributed = "False for the bucket (unattributed)"
score = "0 to 100"
place = "1 is the agent's latest score in the pipeline; on one date the row further down is the later"
---*/
select
    row_no,
    feedback_date,
    pipeline,
    agent,
    attributed,
    score,
    row_number() over (
        partition by pipeline, agent
        order by feedback_date desc nulls last, file_no desc, line_no desc, row_no desc
    ) as place
from feedback
where score is not null
order by pipeline, agent, place
