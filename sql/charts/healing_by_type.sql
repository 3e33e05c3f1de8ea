/*---
title = "Incidents by error type and outcome"
headline = [
    "{top_type} comes most often, {top} of {incidents_in_all}; {escalated} escalated",
    "{top_type} comes most often, {top} of {incidents_in_all}; none escalated",
]
page = "healing"
kind = "bars"
x = "error_type"
y = "incidents"
series = "outcome"

[colours]
"presumed recovered" = "good"
"blocked" = "warn"
"escalated" = "bad"

[columns.error_type]
label = "Error type"

[columns.outcome]
label = "Outcome"

[columns.incidents]
label = "Incidents"
---*/
with counts as (
    select
        i.error_type,
        i.outcome,
        count(*) as incidents
    from healing_incidents as i
    cross join params.report as rp
    where rp.pipeline in ('', i.pipeline) and i.error_type is not null
    group by i.error_type, i.outcome
),

types as (
    select
        error_type,
        cast(sum(incidents) as bigint) as incidents,
        row_number() over (order by sum(incidents) desc, error_type asc) as place
    from counts
    group by error_type
)

select
    c.error_type,
    c.outcome,
    c.incidents,
    t.error_type as top_type,
    t.incidents as top,
    counted(cast(sum(c.incidents) over () as bigint), 'incident') as incidents_in_all,
    cast(sum(c.incidents) filter (where c.outcome = 'escalated') over () as bigint) as escalated
from counts as c
inner join types as o on c.error_type = o.error_type
inner join types as t on t.place = 1
order by o.place, c.outcome
