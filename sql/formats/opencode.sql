/*---
title = "opencode sessions"
doc = """
The messages in opencode's database, `opencode.db`; a line is a row of it. One event per message of a model: the
session's own agent, called build there, is main, any other has its name. The pipeline is the folder of the session,
with as much of its path as tells it from another of that name; the run is the session, for an agent that was called
the one that called it. What opencode says a message cost counts where it is above 0: with a subscription, and for a
model whose price it does not know, it says 0, and the message is priced.
"""
time = "created"
keys = [
    "opencode", "id", "session", "root", "folder", "tool", "role", "agent", "mode", "model", "cwd", "created",
    "completed", "cost", "tokens", "error", "status",
]

[[recognised]]
opencode = ["message", "session_message"]
session = true

[[once]]
key = "message_id"
keep = ["output_size desc", "line_no desc"]
others = "duplicate"
doc = "A newer opencode keeps a message in another table, too."

[[once]]
key = "call"
keep = ["message_id", "line_no"]
others = "duplicate"
doc = """
A session that is forked begins with copies, which have later ids: what began and ended in the same milliseconds with
the same usage is one call.
"""

[notes.opencode-rate-limits]
one = "One call of opencode met a rate or usage limit; it is no spend."
many = "{n} calls of opencode met a rate or usage limit; they are no spend."

[notes.opencode-errors]
one = "One call of opencode ended with an error of the API; it is no spend."
many = "{n} calls of opencode ended with an error of the API; they are no spend."
---*/
with told as (
    select
        file_no,
        line_no,
        part,
        record,
        record ->> '$.session' as session,
        coalesce(record ->> '$.root', record ->> '$.session') as root,
        rtrim(
            replace(coalesce(nullif(record ->> '$.folder', ''), record ->> '$.cwd', ''), chr(92), '/'), '/'
        ) as folder_path,
        coalesce(try_cast(record ->> '$.tokens.input' as hugeint), 0) as input_tokens,
        coalesce(try_cast(record ->> '$.tokens.output' as hugeint), 0) as output_tokens,
        coalesce(try_cast(record ->> '$.tokens.reasoning' as hugeint), 0) as reasoning_tokens,
        coalesce(try_cast(record ->> '$.tokens.cache.read' as hugeint), 0) as read_tokens,
        coalesce(try_cast(record ->> '$.tokens.cache.write' as hugeint), 0) as write_tokens,
        coalesce(try_cast(record ->> '$.cost' as decimal(38, 12)), 0) > 0 as has_cost,
        concat_ws(' ', record ->> '$.error', record ->> '$.status') as error,
        coalesce(nullif(record ->> '$.agent', ''), nullif(record ->> '$.mode', ''), 'build') as agent
    from lines
    where record ->> '$.role' = 'assistant'
),

noted as (
    select
        *,
        case
            when
                has_cost
                or input_tokens <> 0 or output_tokens <> 0 or reasoning_tokens <> 0
                or read_tokens <> 0 or write_tokens <> 0
                then null
            -- Who stops a call has no error of the API.
            when error = '' or regexp_matches(error, 'abort', 'i') then 'nothing'
            when regexp_matches(error, 'rate.?limit|usage.?limit|\b429\b', 'i') then 'opencode-rate-limits'
            else 'opencode-errors'
        end as note
    from told
),

roots as (
    -- A run works for the folder that it began in.
    select
        root,
        arg_min(folder_path, (session <> root, file_no, line_no)) filter (where folder_path <> '') as folder_path
    from told
    group by root
),

folders as (
    -- In what leads to a folder the user's home is ~: whose home it is, is told nowhere.
    select distinct
        folder_path,
        regexp_extract(folder_path, '([^/]+)$', 1) as folder,
        string_split(ltrim(regexp_replace(folder_path, '^([A-Za-z]:)?/(home|Users)/[^/]+', '~'), '/'), '/') as parts
    from roots
    where folder_path <> ''
),

ends as (
    select
        folder_path,
        folder,
        unnest(generate_series(2, len(parts))) as depth,
        array_to_string(parts[-depth:], '/') as path_end
    from folders
),

apart as (
    select
        folder_path,
        arg_min(path_end, depth) as path_end
    from (
        select
            folder_path,
            depth,
            path_end,
            count(*) over (partition by depth, lower(path_end)) as owners
        from ends
    )
    where owners = 1
    group by folder_path
),

pipelines as (
    -- Two folders of one name are two projects: as much of their paths as tells them apart, else a digest.
    select
        f.folder_path,
        case
            when count(*) over (partition by lower(f.folder)) = 1 then f.folder
            else coalesce(a.path_end, f.folder || ' #' || left(sha256(f.folder_path), 6))
        end as pipeline
    from folders as f
    left join apart as a on f.folder_path = a.folder_path
)

select
    n.file_no,
    n.line_no,
    n.part,
    n.record ->> '$.id' as message_id,
    n.output_tokens as output_size,
    case
        when n.record ->> '$.completed' is not null
            then concat_ws(
                ' ', n.record ->> '$.created', n.record ->> '$.completed', n.record ->> '$.model', n.input_tokens,
                n.output_tokens, n.reasoning_tokens, n.read_tokens, n.write_tokens
            )
    end as call,
    n.record ->> '$.created' as event_time,
    case when n.agent = 'build' and n.session = n.root then 'main' else n.agent end as agent,
    nullif(p.pipeline, '') as pipeline,
    n.root as run_id,
    n.record ->> '$.tool' as tool_name,
    n.record ->> '$.model' as model,
    n.record ->> '$.tokens.input' as input_tokens,
    -- What was thought is charged like what was said, and stands beside it.
    case
        when n.reasoning_tokens > 0 then cast(n.output_tokens + n.reasoning_tokens as varchar)
        else n.record ->> '$.tokens.output'
    end as output_tokens,
    n.record ->> '$.tokens.cache.read' as cache_read_tokens,
    n.record ->> '$.tokens.cache.write' as cache_write_tokens,
    case when n.has_cost then n.record ->> '$.cost' end as cost_usd,
    n.note
from noted as n
left join roots as r on n.root = r.root
left join pipelines as p on r.folder_path = p.folder_path
where n.note is null or n.note <> 'nothing'
