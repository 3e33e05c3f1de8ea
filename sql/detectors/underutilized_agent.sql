/*---
title = "Agents that hardly any run uses"
issue = "Underutilized agent"
doc = """
Counts the runs of a pipeline in which an agent has at least one event (in a pipeline without events: a review).
Agents below the share are reported. One that was never seen is reported only if the roster names it, or if none of the
events without a name, a pipeline or a run could be its own. `new` is an agent that is in enough of the runs since it
was first seen; `retired` one that the last half of the runs did not see; `only reviewed` one that reviewers know and no
event names: more likely its events are not logged than that it does nothing.
"""
finding = "{subject} worked in {observed:n} of the {baseline} of {pipeline}: {share} of them."
action = "Remove the agent, or combine it with another."
effort = "S"
burden = 4
occurrences = ["run without the agent", "runs without the agent"]
saving = "All that the agent cost; work that another would have to take over is not counted against it."
subject_kind = "agent"

[actions]
"new, retired" = "Wait, and ask: it has seen few runs, and none of late. Is it still meant to be used?"
"only reviewed" = "Ask first whether its events are logged: reviewers know its work, and no event names it."
new = "Wait: the agent is new. Look again when it has seen more runs."

[minimum]
runs = 1

[params.max_share]
default = 0.10
unit = "share of the pipeline's runs"
doc = "An agent in less than this share of the runs is reported."

[columns.observed]
label = "Runs with the agent"
unit = "runs"

[columns.baseline]
label = "Runs of the pipeline"
unit = "runs"

[columns.threshold]
label = "Reported below"
unit = "runs"

[columns.share]
label = "Share of the runs"
unit = "share"

[columns.first_seen]
label = "First seen"
unit = "time"

[columns.last_seen]
label = "Last seen"
unit = "time"

[columns.runs_since]
label = "Runs since first seen"
unit = "runs"

[columns.agent_cost]
label = "Cost of the agent"
unit = "cost"

[columns.in_roster]
label = "In the roster"
---*/
with param as (
    select * from params.underutilized_agent
),

strays as (
    select coalesce(sum(unattributed_events), 0) as events
    from pipelines
    where pipeline = '(unassigned)'
),

candidates as (
    select
        a.*,
        pl.runs as pipeline_runs,
        pl.events as pipeline_events,
        pl.cost as pipeline_cost,
        pl.cost_basis as pipeline_basis,
        a.runs > 0
        or a.in_roster
        or (
            pl.events > 0
            and a.elsewhere_events = 0
            and pl.unattributed_events = 0
            and s.events = 0
        ) as may_be_judged
    from agents as a
    inner join pipelines as pl on a.pipeline = pl.pipeline
    cross join strays as s
    where a.attributed and pl.runs > 0
),

since as (
    select
        c.pipeline,
        c.agent,
        count(r.run_key) as runs_since
    from candidates as c
    inner join runs as r on c.pipeline = r.pipeline and c.first_run_started <= r.started
    group by c.pipeline, c.agent
),

flagged as (
    select
        c.*,
        s.runs_since,
        coalesce(c.runs >= p.max_share * s.runs_since, false) as is_new,
        c.runs = 0 and c.pipeline_events > 0 and coalesce(c.feedback_rows, 0) > 0 as only_reviewed,
        coalesce(c.last_run_rank * 2 <= c.pipeline_runs, false) as is_retired
    from candidates as c
    left join since as s on c.pipeline = s.pipeline and c.agent = s.agent
    cross join param as p
    where c.may_be_judged and c.runs < p.max_share * c.pipeline_runs
)

select
    f.pipeline,
    f.agent as subject,
    f.runs as observed,
    f.pipeline_runs as baseline,
    f.pipeline_runs * p.max_share as threshold,
    f.pipeline_runs - f.runs as occurrences,
    f.pipeline_runs - f.runs as affected_runs,
    f.pipeline_runs as total_runs,
    -- An agent without events costs nothing; what one costs whose costs, or whose events, are not known nobody knows.
    case when f.events = 0 and not f.only_reviewed and f.pipeline_events > 0 then 0 else f.cost end as saving,
    f.pipeline_cost as saving_of,
    case
        when f.events = 0 and not f.only_reviewed and f.pipeline_events > 0 then f.pipeline_basis
        else f.cost_basis
    end as saving_basis,
    list_filter([
        case when f.is_new then 'new' end,
        case when f.is_retired then 'retired' end,
        case
            when f.only_reviewed then 'only reviewed'
            when f.runs = 0 then 'never seen'
        end
    ], lambda l: l is not null) as labels,
    -- A new agent may yet be used: it counts neither as frequent nor as a saving.
    f.is_new as wait,
    prorate(1, f.runs, f.pipeline_runs) as share,
    coalesce(f.first_seen, cast(f.first_reviewed as timestamp)) as first_seen,
    coalesce(f.last_seen, cast(f.last_reviewed as timestamp)) as last_seen,
    f.runs_since,
    saving as agent_cost,
    f.in_roster
from flagged as f
cross join param as p
order by f.pipeline, f.runs, f.agent
