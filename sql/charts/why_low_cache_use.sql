/*---
title = "Cache reads of the pipeline's agents, as a share of their input"
headline = "{subject} reads {observed:share} of its input from the cache"
page = "recommendation"
detectors = ["low_cache_use"]
kind = "rows"
x = "share"
y = "agent"
mark = "this_one"
link = "agent"
line = "line_at"
line_label = "reported below"
note = "The agent, and the twenty with the largest input. Over 100% where cache reads are counted beside the input."

[columns.agent]
label = "Agent"

[columns.share]
label = "Cache reads"
unit = "share"

[columns.input_tokens]
label = "Input"
unit = "tokens"

[columns.this_one]
label = "This recommendation"
---*/
with agents_of as (
    select
        pipeline,
        agent,
        cast(sum(input_tokens) as bigint) as input_tokens,
        cast(sum(cache_read_tokens) as bigint) as cache_read_tokens
    from agent_run_tokens
    where attributed
    group by pipeline, agent
)

select
    f.detector,
    f.pipeline,
    f.subject_key,
    a.agent,
    prorate(1, a.cache_read_tokens, a.input_tokens) as share,
    a.input_tokens,
    a.agent = f.subject as this_one,
    f.threshold as line_at,
    f.subject,
    f.observed
from findings as f
inner join agents_of as a on f.pipeline = a.pipeline
where f.detector = 'low_cache_use' and a.input_tokens > 0
qualify
    row_number() over (
        partition by f.finding_no
        order by a.agent = f.subject desc, a.input_tokens desc, a.agent asc
    ) <= 21
order by f.finding_no asc, share desc, a.agent asc
