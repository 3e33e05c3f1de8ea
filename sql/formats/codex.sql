/*---
title = "Codex sessions"
doc = """
The rollout files below `~/.codex/sessions`. One event per response: what `token_count` says it used last, with the
model of the turn and the first tool it called. The running totals beside it only tell repeats apart. The pipeline is
the folder of the session, the run is the session; a subagent's run is that of the session that started it.
"""
time = "timestamp"
keys = [
    "type", "timestamp", "payload.type", "payload.id", "payload.session_id", "payload.cwd", "payload.model",
    "payload.name", "payload.forked_from_id", "payload.agent_role", "payload.source", "payload.info.total_token_usage",
    "payload.info.last_token_usage",
]

[[recognised]]
type = ["session_meta", "turn_context", "event_msg", "response_item", "compacted"]
timestamp = true
payload = { is = "object" }

[[once]]
key = ["origin", "answer_no", "total"]
keep = ["is_copy", "file_no", "line_no"]
others = "duplicate"
doc = """
The same count is written again when nothing was used since, and a forked session begins with a copy of its parent's
counts: what equals the parent's, from the first count on, is the parent's.
"""
---*/
with recursive told as (
    select
        file_no,
        line_no,
        part,
        file,
        record,
        record ->> '$.type' as kind,
        record ->> '$.payload.type' as payload_kind,
        json_extract(record, '$.payload.info.last_token_usage') as last_usage,
        json_extract(record, '$.payload.info.total_token_usage') as total_usage
    from lines
),

files as (
    -- The first description in a file is its own; a fork has its parent's behind it.
    select
        file_no,
        coalesce(
            arg_min(coalesce(record ->> '$.payload.id', record ->> '$.payload.session_id'), (line_no, part)) filter (
                where kind = 'session_meta'
            ),
            min(file)
        ) as session,
        arg_min(coalesce(record ->> '$.payload.forked_from_id', ''), (line_no, part)) filter (
            where kind = 'session_meta'
        ) as forked_from,
        arg_min(coalesce(record ->> '$.payload.cwd', ''), (line_no, part)) filter (
            where kind in ('session_meta', 'turn_context')
        ) as cwd,
        arg_min(
            case
                when record ->> '$.payload.source.subagent' is null then 'main'
                else
                    coalesce(
                        record ->> '$.payload.agent_role',
                        case
                            when json_type(record, '$.payload.source.subagent') = 'VARCHAR'
                                then record ->> '$.payload.source.subagent'
                        end,
                        'subagent'
                    )
            end,
            (line_no, part)
        ) filter (where kind = 'session_meta') as agent,
        arg_min(
            coalesce(record ->> '$.payload.source.subagent.thread_spawn.parent_thread_id', ''), (line_no, part)
        ) filter (where kind = 'session_meta') as parent_thread
    from told
    group by file_no
),

steps as (
    -- What stands before a count, after the one before, belongs to its response.
    select
        *,
        count(*) filter (where payload_kind = 'token_count' and last_usage is not null) over (
            partition by file_no order by line_no, part rows between unbounded preceding and 1 preceding
        ) as step,
        last_value(case when kind = 'turn_context' then record ->> '$.payload.model' end ignore nulls) over (
            partition by file_no order by line_no, part
        ) as model
    from told
),

tools as (
    select
        file_no,
        step,
        arg_min(record ->> '$.payload.name', (line_no, part)) as tool_name
    from steps
    where kind = 'response_item' and payload_kind in ('function_call', 'custom_tool_call')
    group by file_no, step
),

counts as (
    select
        *,
        concat_ws(' ', cast(total_usage as varchar), cast(last_usage as varchar)) as usage_text,
        coalesce(cast(total_usage as varchar), '') <> coalesce(
            lag(cast(total_usage as varchar)) over (partition by file_no order by line_no, part), 'none before'
        ) as is_new
    from steps
    where kind = 'event_msg' and payload_kind = 'token_count' and json_type(last_usage) = 'OBJECT'
),

answers as (
    select
        c.*,
        f.session,
        f.forked_from,
        -- A count that is written again has the number of the one before.
        count(*) filter (where c.is_new) over (partition by c.file_no order by c.line_no, c.part) as answer_no
    from counts as c
    inner join files as f on c.file_no = f.file_no
),

firsts as (
    select
        session,
        answer_no,
        min(usage_text) as usage_text
    from answers
    where is_new
    group by session, answer_no
),

parents as (
    -- Where the parent's file is not there, the first of its forks stands in for it.
    select
        f.session,
        coalesce(max(p.session), min(s.session)) as parent
    from files as f
    left join files as p on f.forked_from = p.session and f.session <> p.session
    left join files as s on f.forked_from = s.forked_from and f.session > s.session
    where f.forked_from <> ''
    group by f.session
),

matches as (
    select
        a.session,
        p.parent,
        a.answer_no,
        bool_and(coalesce(a.usage_text = b.usage_text, false)) over (
            partition by a.session order by a.answer_no
        ) as is_copied
    from firsts as a
    inner join parents as p on a.session = p.session
    left join firsts as b on p.parent = b.session and a.answer_no = b.answer_no
),

copied as (
    select
        session,
        parent,
        count(*) as answers
    from matches
    where is_copied
    group by session, parent
),

ancestors as (
    select
        session,
        parent as ancestor,
        answers,
        1 as distance
    from copied
    union all
    select
        a.session,
        c.parent as ancestor,
        least(a.answers, c.answers) as answers,
        a.distance + 1 as distance
    from ancestors as a
    inner join copied as c on a.ancestor = c.session
    where a.distance < 32
),

origins as (
    select
        a.session,
        n.answer_no,
        arg_max(a.ancestor, a.distance) as origin
    from ancestors as a
    inner join firsts as n on a.session = n.session and a.answers >= n.answer_no
    group by a.session, n.answer_no
)

select
    a.file_no,
    a.line_no,
    a.part,
    coalesce(o.origin, a.session) as origin,
    a.answer_no,
    -- A session that goes on in another file counts on there.
    coalesce(cast(a.total_usage as varchar), '') as total,
    o.origin is not null as is_copy,
    a.record ->> '$.timestamp' as event_time,
    f.agent,
    nullif(regexp_extract(replace(f.cwd, chr(92), '/'), '([^/]+)/*$', 1), '') as pipeline,
    coalesce(nullif(f.parent_thread, ''), a.session) as run_id,
    t.tool_name,
    a.model,
    a.last_usage ->> '$.input_tokens' as input_tokens,
    a.last_usage ->> '$.output_tokens' as output_tokens,
    a.last_usage ->> '$.cached_input_tokens' as cache_read_tokens,
    -- The input holds what was read from the cache, the output what was thought.
    case
        when try_cast(a.last_usage ->> '$.input_tokens' as hugeint) >= 0
            then cast(
                try_cast(a.last_usage ->> '$.input_tokens' as hugeint)
                + coalesce(try_cast(a.last_usage ->> '$.output_tokens' as hugeint), 0) as varchar
            )
    end as total_tokens
from answers as a
inner join files as f on a.file_no = f.file_no
left join origins as o on a.session = o.session and a.answer_no = o.answer_no
left join tools as t on a.file_no = t.file_no and a.step = t.step
