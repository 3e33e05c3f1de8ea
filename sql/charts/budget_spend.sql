/*---
title = "Spent by {subject}, {window_name}"
headline = [
    "{who}: {times_over} of {windows} went over the limit of {limit_usd:usd}",
    "{who}: {never} of {windows} went over the limit of {limit_usd:usd}",
    "{who}: {spent:usd} of {limit_usd:usd} are spent",
]
page = "budget"
kind = "bars"
x = "window_start"
y = "spent"
series = "side"
facet = "row_no"
line = "limit_usd"
line_label = "limit"

[colours]
"within the limit" = "base"
"over the limit" = "bad"

[columns.window_start]
label = "Window from"
unit = "date"

[columns.spent]
label = "Spent"
unit = "usd"

[columns.side]
label = "Limit kept"

[columns.limit_usd]
label = "Limit"
unit = "usd"
---*/
with known as (
    select
        *,
        count(*) over (partition by row_no) as windows,
        count(*) filter (where spent_usd > limit_usd) over (partition by row_no) as windows_over
    from budget_windows
    where spent_usd is not null
)

select
    row_no,
    subject,
    window_name,
    window_start,
    spent_usd as spent,
    case when spent_usd > limit_usd then 'over the limit' else 'within the limit' end as side,
    limit_usd,
    case when subject = '(all agents)' then 'All agents' else subject end as who,
    case when windows_over > 0 then windows_over end as times_over,
    case when windows_over = 0 then 'none' end as never,
    case window_name
        when 'daily' then counted(windows, 'day')
        when 'weekly' then counted(windows, 'week')
        when 'monthly' then counted(windows, 'month')
    end as windows
from known
order by row_no, window_start
