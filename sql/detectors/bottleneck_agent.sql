/*---
title = "Agents that do much more than their share"
issue = "Bottleneck agent"
doc = """
Counts the events of each agent of a pipeline and compares them with the mean over its agents. Of the two busiest, those
at or above the ratio are reported: work piles up where they are. `the session itself` is the agent that coding tools
call main: it hands work out, and does what it does not hand out.
"""
finding = """
{subject} made {observed:n} of the {agent_events} that the {agents} agents of {pipeline} made: {ratio:n} times the \
mean of {baseline:n}. {remark}"""
action = "Batch tool calls, or narrow the task scope."
effort = "M"
burden = 8
occurrences = ["run with the agent", "runs with the agent"]
saving = """
The cost of its events above the mean: {agent_cost} x (1 - {baseline:n} / {observed:n}), as far as one event costs like
another."""
subject_kind = "agent"
needs = ["events"]

[actions]
"the session itself" = """
Look at its costliest sessions: a new session for each new task, and long searches handed to subagents, keep what it \
reads again small."""

[minimum]
events = 1

[params.min_ratio]
default = 1.5
unit = "times the mean events of an agent"
doc = "An agent at or above this multiple is reported."

[params.max_rank]
default = 2
unit = "agents a pipeline"
doc = "Only this many of the busiest agents can be reported."

[columns.observed]
label = "Events of the agent"
unit = "events"

[columns.baseline]
label = "Mean events of an agent"
unit = "events"

[columns.threshold]
label = "Reported from"
unit = "events"

[columns.ratio]
label = "Times the mean"
unit = "times"

[columns.agent_events]
label = "Events of all agents"
unit = "events"

[columns.agents]
label = "Agents in the pipeline"

[columns.agent_cost]
label = "Cost of the agent"
unit = "cost"

[columns.remark]
label = ""
---*/
with param as (
    select * from params.bottleneck_agent
),

ranked as (
    select
        *,
        sum(events) over (partition by pipeline) as agent_events,
        count(*) over (partition by pipeline) as agents,
        row_number() over (
            partition by pipeline
            order by events desc, cost_sum desc, agent_key asc
        ) as busy_rank
    from (
        select
            a.pipeline,
            a.agent,
            n.name_key as agent_key,
            a.events,
            a.runs,
            a.cost,
            a.cost_sum,
            a.cost_basis
        from agents as a
        inner join names as n on n.kind = 'agent' and a.agent = n.shown
        where a.attributed and a.events > 0
    )
),

flagged as (
    -- n(a) >= ratio x N / A, cross-multiplied.
    select
        r.*,
        r.agent_key = 'main' as is_session
    from ranked as r
    cross join param as p
    where r.busy_rank <= p.max_rank and r.events * r.agents >= p.min_ratio * r.agent_events
)

select
    f.pipeline,
    f.agent as subject,
    f.events as observed,
    prorate(1, f.agent_events, f.agents) as baseline,
    prorate(p.min_ratio, f.agent_events, f.agents) as threshold,
    f.runs as occurrences,
    f.runs as affected_runs,
    pl.runs as total_runs,
    -- What the events above the mean cost: c(a) x (1 - (N / A) / n(a)).
    case
        when f.cost is not null and not f.is_session
            -- With a ratio below 1 an agent below the mean is reported too; it saves nothing.
            then prorate(f.cost, greatest(f.events * f.agents - f.agent_events, 0), f.events * f.agents)
    end as saving,
    pl.cost as saving_of,
    f.cost_basis as saving_basis,
    about(f.events * f.agents, f.agent_events) as ratio,
    cast(f.agent_events as bigint) as agent_events,
    f.agents,
    f.cost as agent_cost,
    case when f.is_session then ['the session itself'] end as labels,
    -- That it does most of the work is its task, in whatever run: it does not count as frequent, and what is handed to
    -- others costs there.
    f.is_session as wait,
    -- Of so few, somebody has to do most of the work.
    case
        when f.is_session then 'It is the session itself: doing most of the work is its task.'
        when f.agents = 1 then 'It is the only agent: there is nothing to compare it with.'
        when f.agents = 2 then 'There is one other agent to compare it with: doing most of the work may be its task.'
        else ''
    end as remark
from flagged as f
inner join pipelines as pl on f.pipeline = pl.pipeline
cross join param as p
order by f.pipeline, f.busy_rank, f.agent
