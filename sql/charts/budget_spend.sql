/*---
title = "Spent by {subject}, {window_name}"
page = "budget"
kind = "bars"
x = "window_start"
y = "spent"
facet = "row_no"
line = "limit_usd"
line_label = "limit"

[columns.window_start]
label = "Window from"
unit = "date"

[columns.spent]
label = "Spent"
unit = "usd"

[columns.limit_usd]
label = "Limit"
unit = "usd"
---*/
select
    row_no,
    subject,
    window_name,
    window_start,
    spent_usd as spent,
    limit_usd
from budget_windows
where spent_usd is not null
order by row_no, window_start
