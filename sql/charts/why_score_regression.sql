/*---
title = "Its scores, review by review"
page = "recommendation"
detectors = ["score_regression"]
kind = "points"
x = "reviewed"
y = "score"
series = "side"
label = "issue"
line = "earlier_mean"
line_label = "earlier mean"
note = "The scores that were compared, and at most 100 before them. Reviews without a date are not drawn."

[columns.reviewed]
label = "Reviewed"
unit = "date"

[columns.side]
label = "Side"

[columns.score]
label = "Score"
unit = "score"

[columns.issue]
label = "Issue"
---*/
select
    f.detector,
    f.pipeline,
    f.subject_key,
    s.feedback_date as reviewed,
    case
        when s.place <= p.reviews then 'latest'
        when s.place <= 2 * p.reviews then 'before'
        else 'older, not compared'
    end as side,
    cast(s.score as decimal(18, 2)) as score,
    r.issue,
    f.baseline as earlier_mean
from findings as f
inner join agent_scores as s on f.pipeline = s.pipeline and f.subject = s.agent
inner join feedback as r on s.row_no = r.row_no
cross join params.score_regression as p
where f.detector = 'score_regression' and s.feedback_date is not null and s.place <= 2 * p.reviews + 100
order by f.finding_no asc, s.place desc
