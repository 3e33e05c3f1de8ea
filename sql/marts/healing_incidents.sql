/*---
title = "Healing incidents"
doc = """
One row per incident: consecutive attempts of one run, agent and error type whose number rises. Its outcome is
escalated, blocked (skip, alert or abort: a person had to look), or presumed recovered (the last was a retry and nothing
followed).
"""

[columns]
pipeline = "Shown name, or (unassigned)"
run_id = "The run's shown id; null where none was given"
agent = "Shown name, or (unattributed)"
attributed = "False for the bucket (unattributed)"
error_type = "What had failed"
incident_no = "Number among those of one run, agent and error type"
attempts = "Recovery attempts"
first_time = "Time of the first attempt"
last_time = "Time of the last attempt"
last_action = "What heal answered last"
last_reason = "Why"
outcome = "escalated, blocked or presumed recovered"
by_person = "True where a person had to handle it: escalated or blocked"
---*/
with steps as (
    select
        *,
        row_number() over series as place,
        coalesce(attempt <= lag(attempt) over series, true) as starts_incident
    from healing_attempts
    window series as (partition by pipeline, run_id, agent, error_type order by row_no)
),

numbered as (
    select
        *,
        count(*) filter (where starts_incident) over (
            partition by pipeline, run_id, agent, error_type
            order by row_no
        ) as incident_no
    from steps
)

select
    pipeline,
    run_id,
    agent,
    bool_or(attributed) as attributed,
    error_type,
    incident_no,
    count(*) as attempts,
    min(log_time) as first_time,
    max(log_time) as last_time,
    arg_max(action, row_no) as last_action,
    arg_max(reason, row_no) as last_reason,
    case
        when arg_max(action, row_no) = 'escalate' then 'escalated'
        when starts_with(arg_max(action, row_no), 'retry') then 'presumed recovered'
        else 'blocked'
    end as outcome,
    not starts_with(arg_max(action, row_no), 'retry') as by_person
from numbered
group by pipeline, run_id, agent, error_type, incident_no
order by first_time nulls last, pipeline, agent, run_id, error_type, incident_no
