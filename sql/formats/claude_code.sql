/*---
title = "Claude Code transcripts"
doc = """
The session files below `~/.claude/projects`, those of subagents among them, and what `claude -p` prints as
stream-json. One event per message: the session's own agent is main, a subagent has the type by which it was called,
else its id. The pipeline is the folder in which the session began, with as much of its path as tells it from another of
that name; the run is the session. Only what is named in `keys` is looked at: no prompt, no file's content and no
command leaves its file.
"""
time = "timestamp"
keys = [
    "type", "subtype", "timestamp", "sessionId", "session_id", "cwd", "isSidechain", "agentId", "isApiErrorMessage",
    "error", "costUSD", "parent_tool_use_id", "parentToolUseID", "data.agentId", "toolUseResult.agentId",
    "forkedFrom.sessionId", "message.id", "message.model", "message.usage.input_tokens", "message.usage.output_tokens",
    "message.usage.cache_read_input_tokens", "message.usage.cache_creation_input_tokens",
    "message.usage.cache_creation.ephemeral_1h_input_tokens", "message.usage.speed", "message.content.type",
    "message.content.id", "message.content.name", "message.content.tool_use_id", "message.content.input.subagent_type",
]

[[recognised]]
type = true
isSidechain = true

[[recognised]]
type = "assistant"
sessionId = true
"message.usage" = { is = "object" }

[[recognised]]
type = "assistant"
session_id = true
"message.usage" = { is = "object" }

[[recognised]]
type = ["result", "progress", "system", "user"]
session_id = true
uuid = true

[[recognised]]
type = ["result", "progress"]
session_id = true
subtype = true

[[recognised]]
type = ["result", "progress"]
sessionId = true
subtype = true

[[recognised]]
type = true
leafUuid = true

[[recognised]]
type = true
uuid = true
sessionId = true

[[recognised]]
type = [
    "agent-color", "agent-name", "agent-setting", "ai-title", "attribution-snapshot", "content-replacement",
    "cost-state", "custom-title", "last-prompt", "mode", "permission-mode", "pr-link", "queue-operation", "summary",
    "tag", "task-summary", "worktree-state",
]
sessionId = true

[[recognised]]
type = "cost-state"
session_id = true

[[recognised]]
type = "file-history-snapshot"
snapshot = true

[[once]]
key = "message_id"
keep = ["output_size desc", "is_copy", "line_no desc"]
others = "duplicate"
doc = """
One response stands on several lines with growing usage, and is copied into other files by resume, fork and compact.
The line with the most output counts, the last on a tie, of the session that had it first.
"""

[notes.transcript-repeats]
one = "One transcript line repeats spend that other lines hold; it was not counted again."
many = "{n} transcript lines repeat spend that other lines hold; they were not counted again."

[notes.api-rate-limits]
one = "One call in the transcripts met a rate or usage limit; it is no spend."
many = "{n} calls in the transcripts met a rate or usage limit; they are no spend."

[notes.api-retries]
one = "One call in the transcripts was tried again, as the API was overloaded or failed; it is no spend."
many = "{n} calls in the transcripts were tried again, as the API was overloaded or failed; they are no spend."

[notes.api-errors]
one = "One call in the transcripts ended with an error of the API; it is no spend."
many = "{n} calls in the transcripts ended with an error of the API; they are no spend."
---*/
with parsed as (
    -- A record is taken apart once: each look into its text would read all of it again.
    select
        file_no,
        line_no,
        part,
        file,
        json_type(record, '$.message.usage') as usage_type,
        json_transform(record, '{
            "type": "VARCHAR",
            "subtype": "VARCHAR",
            "timestamp": "VARCHAR",
            "sessionId": "VARCHAR",
            "session_id": "VARCHAR",
            "cwd": "VARCHAR",
            "isSidechain": "VARCHAR",
            "agentId": "VARCHAR",
            "isApiErrorMessage": "VARCHAR",
            "error": "JSON",
            "costUSD": "VARCHAR",
            "parent_tool_use_id": "VARCHAR",
            "parentToolUseID": "VARCHAR",
            "data": {"agentId": "VARCHAR"},
            "toolUseResult": {"agentId": "VARCHAR"},
            "forkedFrom": {"sessionId": "VARCHAR"},
            "message": {
                "id": "VARCHAR",
                "model": "VARCHAR",
                "content": "JSON",
                "usage": {
                    "input_tokens": "VARCHAR",
                    "output_tokens": "VARCHAR",
                    "cache_read_input_tokens": "VARCHAR",
                    "cache_creation_input_tokens": "VARCHAR",
                    "cache_creation": {"ephemeral_1h_input_tokens": "VARCHAR"},
                    "speed": "VARCHAR"
                }
            }
        }') as r
    from lines
),

told as (
    select
        file_no,
        line_no,
        part,
        file,
        r,
        concat_ws(' ', file_no, line_no, part) as place,
        r.type as kind,
        nullif(r.message.id, '') as message_id,
        coalesce(r.sessionid, r.session_id) as session,
        coalesce(try_cast(r.timestamp as timestamptz), timestamptz '9999-01-01') as line_time,
        r.cwd,
        case
            when r.agentid <> '' then r.agentid
            when starts_with(file, 'agent-') then regexp_replace(file, '^agent-|[.].*$', '', 'g')
        end as agent_id,
        nullif(r.parent_tool_use_id, '') as parent_tool,
        coalesce(r.issidechain = 'true', false) as is_sidechain,
        coalesce(r.isapierrormessage = 'true', false) as is_error,
        coalesce(r.subtype = 'api_error', false) as is_retry,
        -- A word, or an object with the status and the name that the API gave; its other texts say anything.
        concat_ws(
            ' ',
            case when json_type(r.error) = 'VARCHAR' then r.error ->> '$' end,
            r.error ->> '$.status',
            r.error ->> '$.type',
            r.error ->> '$.error.type',
            r.error ->> '$.error.error.type'
        ) as error,
        coalesce(usage_type = 'OBJECT', false) and coalesce(r.message.model, '') <> '<synthetic>' as has_usage
    from parsed
),

noted as (
    select
        *,
        case
            when (is_error or is_retry) and regexp_matches(error, 'rate.?limit|usage.?limit|\b429\b', 'i')
                then 'api-rate-limits'
            when is_retry then 'api-retries'
            when is_error then 'api-errors'
            when kind in ('result', 'progress', 'cost-state') then 'transcript-repeats'
        end as note
    from told
),

sessions as (
    -- A session works for the folder it began in, whatever folder a command went to. It ends with its last line.
    select
        session,
        arg_min(rtrim(replace(cwd, chr(92), '/'), '/'), (line_time, file_no, line_no)) filter (where cwd <> '') as cwd,
        max(line_time) filter (where line_time < timestamptz '9999-01-01') as last_time
    from told
    group by session
),

folders as (
    -- In what leads to a folder the user's home is ~: whose home it is, is told nowhere.
    select distinct
        cwd,
        regexp_extract(cwd, '([^/]+)$', 1) as folder,
        string_split(ltrim(regexp_replace(cwd, '^([A-Za-z]:)?/(home|Users)/[^/]+', '~'), '/'), '/') as parts
    from sessions
    where cwd <> ''
),

ends as (
    select
        cwd,
        folder,
        unnest(generate_series(2, len(parts))) as depth,
        array_to_string(parts[-depth:], '/') as path_end
    from folders
),

apart as (
    select
        cwd,
        arg_min(path_end, depth) as path_end
    from (
        select
            cwd,
            depth,
            path_end,
            count(*) over (partition by depth, lower(path_end)) as owners
        from ends
    )
    where owners = 1
    group by cwd
),

pipelines as (
    -- Two folders of one name are two projects: as much of their paths as tells them apart, else a digest.
    select
        f.cwd,
        case
            when count(*) over (partition by lower(f.folder)) = 1 then f.folder
            else coalesce(a.path_end, f.folder || ' #' || left(sha256(f.cwd), 6))
        end as pipeline
    from folders as f
    left join apart as a on f.cwd = a.cwd
),

blocks as (
    select
        file_no,
        line_no,
        part,
        kind,
        coalesce(message_id, place) as message,
        r.tooluseresult.agentid as result_agent,
        unnest(from_json(
            case when json_type(r.message.content) = 'ARRAY' then r.message.content else json('[]') end,
            '["json"]'
        )) as block
    from told
    where kind in ('assistant', 'user')
),

calls as (
    -- What a subagent was called as, by the call's id.
    select
        block ->> '$.id' as tool_id,
        min(block ->> '$.input.subagent_type') as agent_type
    from blocks
    where kind = 'assistant' and block ->> '$.type' = 'tool_use' and block ->> '$.input.subagent_type' <> ''
    group by block ->> '$.id'
),

started as (
    -- Which call started which subagent: its result says it, and so do the lines of its progress.
    select
        result_agent as agent_id,
        block ->> '$.tool_use_id' as tool_id
    from blocks
    where result_agent <> ''
    union distinct
    select
        r.data.agentid as agent_id,
        r.parenttooluseid as tool_id
    from told
    where kind = 'progress' and r.data.agentid <> ''
),

agent_types as (
    select
        s.agent_id,
        min(c.agent_type) as agent_type
    from started as s
    inner join calls as c on s.tool_id = c.tool_id
    group by s.agent_id
),

tools as (
    -- The blocks of one message stand on lines of their own; its event has the first tool.
    select
        message,
        arg_min(block ->> '$.name', (file_no, line_no, part)) as tool_name
    from blocks
    where kind = 'assistant' and block ->> '$.type' = 'tool_use' and block ->> '$.name' <> ''
    group by message
),

spending as (
    select
        n.*,
        coalesce(n.message_id, n.place) as message,
        s.cwd as session_cwd,
        s.last_time as session_end,
        case
            when not n.is_sidechain and n.parent_tool is null and not starts_with(n.file, 'agent-') then 'main'
            else coalesce(a.agent_type, c.agent_type, n.agent_id, 'subagent')
        end as agent
    from noted as n
    left join sessions as s on n.session = s.session
    left join agent_types as a on n.agent_id = a.agent_id
    left join calls as c on n.parent_tool = c.tool_id
    where n.note is not null or (n.kind = 'assistant' and n.has_usage)
),

ranked as (
    -- Whose a message is: a copy has the time of its original, but the session it was copied from ended before.
    select
        *,
        row_number() over (
            partition by message
            order by
                r.forkedfrom.sessionid is not null asc,
                line_time asc,
                session_end asc nulls last,
                file_no asc,
                line_no asc,
                part asc
        ) as rank
    from spending
    where note is null
),

origins as (
    select
        message,
        file_no,
        session,
        agent,
        session_cwd
    from ranked
    where rank = 1
)

select
    s.file_no,
    s.line_no,
    s.part,
    case when s.note is null then s.message_id end as message_id,
    s.r.timestamp as event_time,
    o.agent,
    nullif(p.pipeline, '') as pipeline,
    o.session as run_id,
    t.tool_name,
    -- The fast mode of a model is dearer, so that it has a price of its own, or none that is known.
    s.r.message.model || case when s.r.message.usage.speed = 'fast' then '-fast' else '' end as model,
    s.r.message.usage.input_tokens,
    s.r.message.usage.output_tokens,
    s.r.message.usage.cache_read_input_tokens as cache_read_tokens,
    s.r.message.usage.cache_creation_input_tokens as cache_write_tokens,
    s.r.message.usage.cache_creation.ephemeral_1h_input_tokens as cache_write_1h_tokens,
    s.r.costusd as cost_usd,
    try_cast(s.r.message.usage.output_tokens as bigint) as output_size,
    s.file_no <> o.file_no as is_copy,
    s.note
from spending as s
left join origins as o on s.message = o.message
left join pipelines as p on o.session_cwd = p.cwd
left join tools as t on s.message = t.message
