/*---
title = "The tool that was used last before each healing incident"
doc = """
One row per incident whose run and time are known, and whose agent had used a named tool in that run by then. It is
where to look first, not a proof that the tool failed.
"""

[columns]
pipeline = "Shown name"
run_id = "The incident's run"
agent = "Shown name, or (unattributed)"
error_type = "What the incident was about"
incident_no = "Number of the incident, among those of one run, agent and error type"
tool = "Tool of the agent's last event in the run that was not later than the incident"
---*/
select
    i.pipeline,
    i.run_id,
    i.agent,
    i.error_type,
    i.incident_no,
    -- Of events at one instant the name decides, not the order of the file.
    arg_max(e.tool_name, { 'at_time': e.event_time, 'tool': e.tool_name }) as tool
from healing_incidents as i
inner join events as e
    on
        i.pipeline = e.pipeline
        and 'id:' || i.run_id = e.run_key
        and i.agent = e.agent
        and i.first_time >= e.event_time
where e.tool_name is not null
group by i.pipeline, i.run_id, i.agent, i.error_type, i.incident_no
order by i.pipeline, i.agent, i.run_id, i.error_type, i.incident_no
