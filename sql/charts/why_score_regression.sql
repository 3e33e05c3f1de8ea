/*---
title = "Its scores, review by review"
headline = "The mean fell from {earlier_mean:score} to {observed:score}, {reviews:n} reviews each"
page = "recommendation"
detectors = ["score_regression"]
kind = "points"
x = "reviewed"
y = "score"
series = "side"
label = "issue"
level = "window_mean"
note = "The scores that were compared, and at most 100 before them. Reviews without a date are not drawn."

[colours]
"latest" = "2"
"before" = "1"
"older, not compared" = "grey"

[columns.reviewed]
label = "Reviewed"
unit = "date"

[columns.side]
label = "Side"

[columns.score]
label = "Score"
unit = "score"

[columns.window_mean]
label = "Mean of what is compared"
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
    case
        when s.place <= p.reviews then f.observed
        when s.place <= 2 * p.reviews then f.baseline
    end as window_mean,
    r.issue,
    f.baseline as earlier_mean,
    f.observed,
    p.reviews
from findings as f
inner join agent_scores as s on f.pipeline = s.pipeline and f.subject = s.agent
inner join feedback as r on s.row_no = r.row_no
cross join params.score_regression as p
where f.detector = 'score_regression' and s.feedback_date is not null and s.place <= 2 * p.reviews + 100
order by f.finding_no asc, s.place desc
