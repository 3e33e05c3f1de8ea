/*---
title = "The bands of failure reduction, and the decision hints"
doc = """
One row per band. `failure`: the highest band that has a count decides; its score runs from `low` at one count to `high`
at five or more. `decision`: the hint for a total from `low` to `high`. `limit`: the most that a rule may give.
"""
---*/
select *
from (
    values
    ('failure', 'low_scores', 6, 10, 'reviews below the score flag'),
    ('failure', 'failures', 11, 15, 'reviews tagged timeout, tool-fail or hallucination, and blocked incidents'),
    ('failure', 'escalated', 16, 20, 'escalated incidents'),
    ('decision', 'implement', 51, 100, 'worth doing now'),
    ('decision', 'defer', 26, 50, 'worth doing later'),
    ('decision', 'reject', 0, 25, 'not worth the effort now'),
    ('limit', 'single_occurrence', 0, 5, 'the most that one occurrence in all can score for its rate'),
    ('limit', 'person_incidents', 0, 5, 'the most that incidents which a person handled can add to burden reduction')
) as b (kind, name, low, high, meaning)
order by kind, low, name
