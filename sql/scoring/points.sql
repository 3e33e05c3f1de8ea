/*---
title = "The points of the VFM pre-score"
doc = """
One row per point; between two points the score follows a straight line, below the first it is 0, above the last it
stays. `x_num / x_den` is the exact place on the axis: occurrences per day (`rate`), share of runs affected
(`runs_share`), share of the pipeline's cost (`cost_share`). Edit a number here and the next build scores with it.
"""

[columns]
part = "Which line the point is on"
x_num = "Numerator of the place on the axis"
x_den = "Denominator of the place on the axis"
points = "The score there, 0 to 25"
meaning = "What the place stands for, as the evidence names it"
---*/
select *
from (
    values
    ('rate', 0, 1, 0, 'never'),
    ('rate', 1, 30, 3, 'once in 30 days'),
    ('rate', 1, 7, 6, 'once a week'),
    ('rate', 2, 7, 10, 'twice a week'),
    ('rate', 5, 7, 11, 'every weekday'),
    ('rate', 1, 1, 15, 'daily'),
    ('rate', 2, 1, 16, 'twice a day'),
    ('rate', 8, 1, 20, 'eight times a day'),
    ('runs_share', 9, 10, 21, 'nine of ten'),
    ('runs_share', 1, 1, 25, 'all of them'),
    ('cost_share', 0, 1, 0, 'nothing'),
    ('cost_share', 1, 100, 5, '1%'),
    ('cost_share', 10, 100, 10, '10%'),
    ('cost_share', 25, 100, 15, '25%'),
    ('cost_share', 50, 100, 20, '50%'),
    ('cost_share', 1, 1, 25, 'all of it')
) as p (part, x_num, x_den, points, meaning)
order by part, points
