/*---
title = "Agents"
doc = """
One row per agent and pipeline: those in the pipeline's events or feedback, those in its roster, and the bucket
(unattributed), which has attributed = false.
"""

[columns]
pipeline = "Shown name"
agent = "Shown name, or (unattributed)"
attributed = "False for the bucket (unattributed)"
in_roster = "True where the settings name it in the roster of the pipeline"
events = "Its events in the pipeline"
runs = "Runs in which the agent has at least one event (in a pipeline without events: a review)"
cost = "Known cost in the pipeline's measure; null where none of its events has a known cost"
cost_sum = "The same, with 0 for unknown"
cost_basis = "measured, priced, estimated or unknown: what its cost rests on"
runless_events = "Its events that belong to no run"
elsewhere_events = "Its events in (unassigned) and, in this pipeline, without a run: they could be its runs"
first_run_rank = "Rank of its first run (see runs)"
last_run_rank = "Rank of its last run"
first_run_started = "Start of its first run"
first_seen = "Its first dated event"
last_seen = "Its last dated event"
feedback_rows = "Feedback rows about it"
scores = "Feedback rows with a score"
score_sum = "Sum of these scores; null without any"
low_scores = "Rows with a score below the score flag of the settings"
loop_rows = "Rows tagged loop-excess"
tagged_failures = "Rows tagged timeout, tool-fail or hallucination"
trend = "Mean of the last 10 scores less the mean of the 10 before; null with fewer than 20"
first_reviewed = "Date of its first feedback row"
last_reviewed = "Date of its last feedback row"
---*/
with members as (
    select distinct
        pipeline,
        agent,
        attributed
    from agent_runs
    where attributed or events > 0
    union
    -- A review that names no agent counts for its pipeline, never as an agent.
    select distinct
        pipeline,
        agent,
        attributed
    from feedback
    where attributed
    union
    select
        p.shown as pipeline,
        a.shown as agent,
        true as attributed
    from raw.roster as r
    inner join spellings as p on r.pipeline_no = p.spelling_no
    inner join spellings as a on r.agent_no = a.spelling_no
    where p.shown in (select pl.pipeline from pipelines as pl)
),

rostered as (
    select distinct
        p.shown as pipeline,
        a.shown as agent
    from raw.roster as r
    inner join spellings as p on r.pipeline_no = p.spelling_no
    inner join spellings as a on r.agent_no = a.spelling_no
),

work as (
    select
        pipeline,
        agent,
        cast(sum(events) as bigint) as events,
        count(distinct run_key) as runs,
        cast(sum(cost) as decimal(38, 12)) as cost,
        cast(sum(known_costs) as bigint) as known_costs,
        cast(sum(unknown_costs) as bigint) as unknown_costs,
        cast(sum(estimated_costs) as bigint) as estimated_costs,
        cast(sum(priced_costs) as bigint) as priced_costs,
        cast(coalesce(sum(events) filter (where run_key is null), 0) as bigint) as runless_events,
        min(first_time) as first_seen,
        max(last_time) as last_seen
    from agent_runs
    group by pipeline, agent
),

places as (
    select
        w.pipeline,
        w.agent,
        min(r.run_rank) as first_run_rank,
        max(r.run_rank) as last_run_rank,
        min(r.started) as first_run_started
    from agent_runs as w
    inner join runs as r on w.pipeline = r.pipeline and w.run_key = r.run_key
    group by w.pipeline, w.agent
),

unassigned as (
    select
        agent,
        cast(sum(events) as bigint) as events
    from agent_runs
    where pipeline = '(unassigned)' and attributed
    group by agent
),

trends as (
    select
        pipeline,
        agent,
        cast(avg(score) filter (where place <= 10) - avg(score) filter (where place > 10) as decimal(18, 6)) as trend
    from agent_scores
    where place <= 20
    group by pipeline, agent
    having count(*) = 20
),

reviews as (
    select
        f.pipeline,
        f.agent,
        count(*) as feedback_rows,
        count(f.score) as scores,
        sum(f.score) as score_sum,
        count(*) filter (where f.score < w.score_flag) as low_scores,
        count(*) filter (where list_contains(f.tags, 'loop-excess')) as loop_rows,
        count(*) filter (where list_has_any(f.tags, ['timeout', 'tool-fail', 'hallucination'])) as tagged_failures,
        min(f.feedback_date) as first_reviewed,
        max(f.feedback_date) as last_reviewed
    from feedback as f
    cross join window_bounds as w
    where f.attributed
    group by f.pipeline, f.agent
)

select
    m.pipeline,
    m.agent,
    m.attributed,
    rs.agent is not null as in_roster,
    coalesce(w.events, 0) as events,
    coalesce(w.runs, 0) as runs,
    case when w.known_costs > 0 then w.cost end as cost,
    coalesce(w.cost, 0) as cost_sum,
    case
        when coalesce(w.known_costs, 0) = 0 then 'unknown'
        when w.estimated_costs > 0 then 'estimated'
        when w.priced_costs > 0 then 'priced'
        else 'measured'
    end as cost_basis,
    coalesce(w.runless_events, 0) as runless_events,
    coalesce(u.events, 0) + coalesce(w.runless_events, 0) as elsewhere_events,
    p.first_run_rank,
    p.last_run_rank,
    p.first_run_started,
    w.first_seen,
    w.last_seen,
    coalesce(v.feedback_rows, 0) as feedback_rows,
    coalesce(v.scores, 0) as scores,
    v.score_sum,
    coalesce(v.low_scores, 0) as low_scores,
    coalesce(v.loop_rows, 0) as loop_rows,
    coalesce(v.tagged_failures, 0) as tagged_failures,
    t.trend,
    v.first_reviewed,
    v.last_reviewed
from members as m
left join rostered as rs on m.pipeline = rs.pipeline and m.agent = rs.agent
left join work as w on m.pipeline = w.pipeline and m.agent = w.agent
left join places as p on m.pipeline = p.pipeline and m.agent = p.agent
left join unassigned as u on m.agent = u.agent
left join reviews as v on m.pipeline = v.pipeline and m.agent = v.agent
left join trends as t on m.pipeline = t.pipeline and m.agent = t.agent
order by m.pipeline, m.agent
