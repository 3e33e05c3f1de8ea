/*---
title = "Agents that send the same large input again and again"
issue = "Low cache use"
doc = """
Looks at the runs in which an agent made several calls with a large input, and compares the tokens that these calls read
from the prompt cache with the input tokens that they paid in full. Only events that tell both are counted. Whether an
input could have been cached the numbers can't tell: look at one run before you change anything.
"""
enabled = false
sessions = true
finding = """
In {runs} of {pipeline}, {subject} made {calls} calls with a mean input of {mean_input}, and read only \
{cache_read_tokens} from the cache beside the {input_tokens} that it sent: {observed} of them."""
action = """
Put what stays the same from call to call (instructions, files, earlier turns) first in the prompt, and switch on \
prompt caching."""
effort = "S"
burden = 2
counts_failures = false
occurrences = ["run that repeats its input", "runs that repeat their input"]
subject_kind = "agent"
needs = ["events"]

[minimum]
cache_events = 25

[params.max_share]
default = 0.1
unit = "share of the input tokens"
doc = "An agent whose calls read less than this share from the cache is reported."

[params.min_calls]
default = 5
unit = "calls in a run"
doc = "A run counts as one that repeats its input from so many calls of the agent on."

[params.min_input]
default = 2000
unit = "tokens a call"
doc = "The mean input of these calls must be at least this: short prompts can't be cached."

[params.min_runs]
default = 5
unit = "runs"
doc = "An agent with fewer such runs is not judged."

[columns.observed]
label = "Cache reads, as a share of the input"
unit = "share"

[columns.threshold]
label = "Reported below"
unit = "share"

[columns.runs]
label = "Runs that repeat a large input"
unit = "runs"

[columns.calls]
label = "Calls in these runs"

[columns.input_tokens]
label = "Input of these calls"
unit = "tokens"

[columns.cache_read_tokens]
label = "Read from the cache"
unit = "tokens"

[columns.mean_input]
label = "Mean input of a call"
unit = "tokens"

[columns.repeated_tokens]
label = "Input beyond the largest call of each run"
unit = "tokens"
---*/
with param as (
    select * from params.low_cache_use
),

repeating as (
    select t.*
    from agent_run_tokens as t
    cross join param as p
    where
        t.attributed
        and t.run_key is not null
        and t.cache_events >= p.min_calls
        and t.input_tokens >= p.min_input * t.cache_events
),

agents_of as (
    select
        pipeline,
        agent,
        count(*) as runs,
        cast(sum(cache_events) as bigint) as calls,
        cast(sum(input_tokens) as bigint) as input_tokens,
        cast(sum(cache_read_tokens) as bigint) as cache_read_tokens,
        cast(sum(input_tokens - largest_input) as bigint) as repeated_tokens
    from repeating
    group by pipeline, agent
),

flagged as (
    -- Some producers count cache reads within the input, some beside it. Of the input alone the share is exact for the
    -- first and too high for the second, so that nobody is reported for how the producer counts.
    select a.*
    from agents_of as a
    cross join param as p
    where a.runs >= p.min_runs and a.cache_read_tokens < p.max_share * a.input_tokens
)

select
    f.pipeline,
    f.agent as subject,
    prorate(1, f.cache_read_tokens, f.input_tokens) as observed,
    null as baseline,
    p.max_share as threshold,
    f.runs as occurrences,
    f.runs as affected_runs,
    pl.runs as total_runs,
    f.runs,
    f.calls,
    f.input_tokens,
    f.cache_read_tokens,
    f.input_tokens // f.calls as mean_input,
    f.repeated_tokens
from flagged as f
inner join pipelines as pl on f.pipeline = pl.pipeline
cross join param as p
order by f.pipeline asc, f.repeated_tokens desc, f.agent asc
