/*---
title = "Work that goes round in revision loops"
issue = "Revision loops"
doc = """
Counts reviews tagged `loop-excess` at the narrowest scope that reaches the minimum: an agent of a pipeline; else
the pipeline, where none of its agents does; else the whole project, where no pipeline does.
"""
finding = """
{observed:n} of {feedback_rows:n} reviews of {subject} in {pipeline} are tagged `loop-excess`, on {affected_runs} of \
the {total_runs} dates with reviews. {lately}."""
action = "Tighten the acceptance criteria, and add a max-iterations guard."
effort = "M"
burden = 13
occurrences = ["review tagged loop-excess", "reviews tagged loop-excess"]
affected = "dates with reviews"
saving = """
As much of the cost as of the reviews is tagged: {observed:n} of {feedback_rows:n}. It rests on these \
{feedback_rows:n} reviews alone."""
subject_kind = "agent"
needs = ["feedback"]

[minimum]
feedback_rows = 1

[params.min_rows]
default = 3
unit = "reviews"
doc = "A scope with at least this many such reviews is reported."

[columns.observed]
label = "Reviews tagged loop-excess"
unit = "reviews"

[columns.threshold]
label = "Reported from"
unit = "reviews"

[columns.feedback_rows]
label = "Reviews"
unit = "reviews"

[columns.affected_runs]
label = "Dates with such a review"

[columns.total_runs]
label = "Dates with reviews"

[columns.first_loop]
label = "First such review"
unit = "date"

[columns.last_loop]
label = "Latest such review"
unit = "date"

[columns.lately]
label = ""
---*/
with param as (
    select * from params.revision_loops
),

middle as (
    select max(middle_time) as middle_time
    from pipeline_halves
),

rows_marked as (
    select
        f.row_no,
        f.pipeline,
        f.agent,
        f.attributed,
        f.feedback_date,
        list_contains(f.tags, 'loop-excess') as is_loop,
        is_later(f.feedback_date, m.middle_time) as is_later
    from feedback as f
    cross join middle as m
),

by_agent as (
    select
        pipeline,
        agent,
        count(*) filter (where is_loop) as loop_rows,
        count(*) as feedback_rows,
        count(distinct feedback_date) filter (where is_loop) as loop_dates,
        count(distinct feedback_date) as dates,
        min(feedback_date) filter (where is_loop) as first_loop,
        max(feedback_date) filter (where is_loop) as last_loop,
        count(*) filter (where is_later) as later_rows
    from rows_marked
    where attributed
    group by pipeline, agent
),

savings as (
    -- c(a) x loop rows / feedback rows of a; null where the cost of an agent with a loop row is unknown.
    select
        b.pipeline,
        b.agent,
        b.loop_rows,
        a.cost_basis,
        case when a.cost is not null then prorate(a.cost, b.loop_rows, b.feedback_rows) end as saving
    from by_agent as b
    inner join agents as a on b.pipeline = a.pipeline and b.agent = a.agent
    where b.loop_rows > 0
),

agent_scope as (
    select
        'agent' as subject_kind,
        -- How often it happens is told by the dates on which anybody reviewed the pipeline.
        b.* replace (pl.feedback_dates as dates),
        s.saving,
        pl.cost as saving_of,
        s.cost_basis as saving_basis
    from by_agent as b
    inner join savings as s on b.pipeline = s.pipeline and b.agent = s.agent
    inner join pipelines as pl on b.pipeline = pl.pipeline
    cross join param as p
    where b.loop_rows >= p.min_rows
),

by_pipeline as (
    select
        pipeline,
        count(*) filter (where is_loop) as loop_rows,
        count(*) as feedback_rows,
        count(distinct feedback_date) filter (where is_loop) as loop_dates,
        count(distinct feedback_date) as dates,
        min(feedback_date) filter (where is_loop) as first_loop,
        max(feedback_date) filter (where is_loop) as last_loop,
        count(*) filter (where is_later) as later_rows
    from rows_marked
    group by pipeline
),

pipeline_savings as (
    select
        pipeline,
        cast(sum(saving) as decimal(38, 12)) as saving,
        case
            when count(saving) = 0 then 'unknown'
            when bool_or(cost_basis = 'estimated') then 'estimated'
            when bool_or(cost_basis = 'priced') then 'priced'
            else 'measured'
        end as saving_basis
    from savings
    group by pipeline
),

pipeline_scope as (
    select
        'pipeline' as subject_kind,
        b.pipeline,
        b.pipeline as agent,
        b.* exclude (pipeline),
        s.saving,
        pl.cost as saving_of,
        coalesce(s.saving_basis, 'unknown') as saving_basis
    from by_pipeline as b
    inner join pipelines as pl on b.pipeline = pl.pipeline
    left join pipeline_savings as s on b.pipeline = s.pipeline
    cross join param as p
    where
        b.loop_rows >= p.min_rows
        and not exists (
            select 1 from agent_scope as a
            where a.pipeline = b.pipeline
        )
),

project_totals as (
    select
        count(*) filter (where is_loop) as loop_rows,
        count(*) as feedback_rows,
        count(distinct feedback_date) filter (where is_loop) as loop_dates,
        count(distinct feedback_date) as dates,
        min(feedback_date) filter (where is_loop) as first_loop,
        max(feedback_date) filter (where is_loop) as last_loop,
        count(*) filter (where is_later) as later_rows
    from rows_marked
),

project_savings as (
    -- Amounts of different measures can't be added: then the saving is unknown.
    select
        case when count(distinct pl.cost_measure) = 1 then cast(sum(s.saving) as decimal(38, 12)) end as saving,
        case when count(distinct pl.cost_measure) = 1 then cast(sum(pl.cost) as decimal(38, 12)) end as saving_of,
        case
            when count(s.saving) = 0 or count(distinct pl.cost_measure) > 1 then 'unknown'
            when bool_or(s.saving_basis = 'estimated') then 'estimated'
            when bool_or(s.saving_basis = 'priced') then 'priced'
            else 'measured'
        end as saving_basis
    from by_pipeline as b
    inner join pipelines as pl on b.pipeline = pl.pipeline
    left join pipeline_savings as s on b.pipeline = s.pipeline
    where b.loop_rows > 0 and pl.events > 0
),

project_scope as (
    select
        'project' as subject_kind,
        '(all pipelines)' as pipeline,
        '(all pipelines)' as agent,
        t.*,
        s.saving,
        s.saving_of,
        s.saving_basis
    from project_totals as t
    cross join project_savings as s
    cross join param as p
    where
        t.loop_rows >= p.min_rows
        and not exists (
            select 1 from by_pipeline as b
            where b.loop_rows >= p.min_rows
        )
),

scopes as (
    select * from agent_scope
    union all by name
    select * from pipeline_scope
    union all by name
    select * from project_scope
)

select
    s.pipeline,
    s.agent as subject,
    s.subject_kind,
    s.loop_rows as observed,
    null as baseline,
    p.min_rows as threshold,
    s.loop_rows as occurrences,
    s.loop_dates as affected_runs,
    s.dates as total_runs,
    s.saving,
    s.saving_of,
    s.saving_basis,
    s.feedback_rows,
    s.first_loop,
    s.last_loop,
    lately(s.last_loop, m.middle_time, s.later_rows, 'review') as lately
from scopes as s
cross join middle as m
cross join param as p
order by s.pipeline asc, s.loop_rows desc, s.agent asc
