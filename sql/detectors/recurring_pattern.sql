/*---
title = "Tags that reviewers keep giving"
issue = "Recurring pattern"
doc = """
Counts the reviews of a pipeline with each tag. A tag on at least so many reviews is reported: what happens again and
again has one cause. Revision loops have a detector of their own.
"""
enabled = false
finding = """
{observed:n} of {feedback_rows:n} reviews of {pipeline} are tagged {subject}, on {affected_runs} of the {total_runs} \
dates with reviews. {lately}."""
action = "Read the reviews with this tag side by side, and mend what they share."
effort = "M"
burden = 4
occurrences = ["review with the tag", "reviews with the tag"]
affected = "dates with reviews"
subject_kind = "tag"
needs = ["feedback"]

[actions]
timeout = "Give the step a smaller scope or more time, and find out what it waits for."
tool-fail = "Mend or replace the tool, and check before a run that it is there."
quality-low = "Say in the prompt what good is, and check it before the work is handed on."
cost-spike = "Cap what one run may spend, and keep out of it the inputs that it does not need."
scope-drift = "Say in the prompt what is out of scope, and stop a run that leaves it."
hallucination = "Ask for a source for every claim, and check the sources before the work is handed on."
loop-excess = "Tighten the acceptance criteria, and add a max-iterations guard."

[minimum]
tags = 3

[params.min_rows]
default = 3
unit = "reviews"
doc = "A tag on at least this many reviews of a pipeline is reported."

[params.left_out]
default = "loop-excess"
doc = "This tag is left to another detector (`revision_loops`); empty: none is."

[columns.observed]
label = "Reviews with the tag"
unit = "reviews"

[columns.threshold]
label = "Reported from"
unit = "reviews"

[columns.feedback_rows]
label = "Reviews"
unit = "reviews"

[columns.affected_runs]
label = "Dates with the tag"

[columns.total_runs]
label = "Dates with reviews"

[columns.top_agent]
label = "Agent with most of these reviews"

[columns.top_agent_rows]
label = "Reviews of that agent"
unit = "reviews"

[columns.first_row]
label = "First such review"
unit = "date"

[columns.last_row]
label = "Latest such review"
unit = "date"

[columns.lately]
label = ""
---*/
with param as (
    select * from params.recurring_pattern
),

tagged as (
    select
        t.pipeline,
        t.tag,
        count(*) as tagged_rows,
        count(distinct t.feedback_date) as dates,
        min(t.feedback_date) as first_row,
        max(t.feedback_date) as last_row
    from feedback_tags as t
    cross join param as p
    where t.tag <> p.left_out
    group by t.pipeline, t.tag
),

flagged as (
    select t.*
    from tagged as t
    cross join param as p
    where t.tagged_rows >= p.min_rows
),

middle as (
    select max(middle_time) as middle_time
    from pipeline_halves
),

later_reviews as (
    select
        f.pipeline,
        count(*) as later_rows
    from feedback as f
    inner join middle as m on is_later(f.feedback_date, m.middle_time)
    group by f.pipeline
),

top_agents as (
    select
        pipeline,
        tag,
        agent,
        count(*) as tagged_rows
    from feedback_tags
    where attributed
    group by pipeline, tag, agent
    qualify row_number() over (partition by pipeline, tag order by count(*) desc, agent asc) = 1
)

select
    f.pipeline,
    f.tag as subject,
    f.tagged_rows as observed,
    null as baseline,
    p.min_rows as threshold,
    f.tagged_rows as occurrences,
    f.dates as affected_runs,
    pl.feedback_dates as total_runs,
    [f.tag] as labels,
    pl.feedback_rows,
    a.agent as top_agent,
    a.tagged_rows as top_agent_rows,
    f.first_row,
    f.last_row,
    lately(f.last_row, m.middle_time, l.later_rows, 'review') as lately
from flagged as f
inner join pipelines as pl on f.pipeline = pl.pipeline
left join top_agents as a on f.pipeline = a.pipeline and f.tag = a.tag
left join later_reviews as l on f.pipeline = l.pipeline
cross join middle as m
cross join param as p
order by f.pipeline asc, f.tagged_rows desc, f.tag asc
