/*---
title = "OpenTelemetry GenAI spans"
doc = """
Exports in OTLP JSON, one a line, by the semantic conventions of generative AI. Spans that call a model are events;
those of agents and workflows around them repeat their usage, and only name who worked. Calls of tools are events
without a cost.
"""
keys = [
    "resourceSpans.resource.attributes", "resourceSpans.scopeSpans.spans.traceId",
    "resourceSpans.scopeSpans.spans.spanId", "resourceSpans.scopeSpans.spans.parentSpanId",
    "resourceSpans.scopeSpans.spans.startTimeUnixNano", "resourceSpans.scopeSpans.spans.endTimeUnixNano",
    "resourceSpans.scopeSpans.spans.attributes.key", "resourceSpans.scopeSpans.spans.attributes.value",
]

[[recognised]]
resourceSpans = { is = "array" }

[[once]]
key = ["trace_id", "span_id"]
keep = ["end_nanos desc"]
others = "duplicate"
doc = "A span that was exported again counts once, as it ended."

[notes.otel-parent-spans]
one = "One agent span repeats the usage of the model calls in it; only those calls are counted."
many = "{n} agent spans repeat the usage of the model calls in them; only those calls are counted."
---*/
with recursive resources as (
    select
        file_no,
        line_no,
        part,
        unnest(from_json(json_extract(record, '$.resourceSpans'), '["json"]')) as resource
    from lines
),

scopes as (
    select
        file_no,
        line_no,
        part,
        list_filter(
            from_json(coalesce(json_extract(resource, '$.resource.attributes'), json('[]')), '["json"]'),
            lambda a: a ->> '$.key' = 'service.name'
        )[1] ->> '$.value.stringValue' as service,
        unnest(from_json(coalesce(json_extract(resource, '$.scopeSpans'), json('[]')), '["json"]')) as scope
    from resources
),

spans as (
    select
        file_no,
        line_no,
        part,
        service,
        unnest(from_json(coalesce(json_extract(scope, '$.spans'), json('[]')), '["json"]')) as span
    from scopes
),

numbered as (
    select
        *,
        row_number() over (order by file_no, line_no, part, cast(span as varchar)) as span_no
    from spans
),

pairs as (
    select
        span_no,
        unnest(from_json(coalesce(json_extract(span, '$.attributes'), json('[]')), '["json"]')) as pair
    from numbered
),

texts as (
    -- A value is text, a number (an int is text in OTLP JSON), or true or false.
    select
        span_no,
        pair ->> '$.key' as name,
        coalesce(
            pair ->> '$.value.stringValue', pair ->> '$.value.intValue', pair ->> '$.value.doubleValue',
            pair ->> '$.value.boolValue'
        ) as value
    from pairs
    where starts_with(pair ->> '$.key', 'gen_ai.')
),

attributes as (
    select
        span_no,
        min(value) filter (where name = 'gen_ai.operation.name') as operation,
        min(value) filter (where name = 'gen_ai.agent.name') as agent_name,
        min(value) filter (where name = 'gen_ai.agent.id') as agent_id,
        min(value) filter (where name = 'gen_ai.workflow.name') as workflow,
        min(value) filter (where name = 'gen_ai.conversation.id') as conversation,
        min(value) filter (where name = 'gen_ai.tool.name') as tool_name,
        min(value) filter (where name = 'gen_ai.response.model') as response_model,
        min(value) filter (where name = 'gen_ai.request.model') as request_model,
        min(value) filter (
            where name in ('gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens')
        ) as input_tokens,
        min(value) filter (
            where name in ('gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens')
        ) as output_tokens,
        min(value) filter (where name = 'gen_ai.usage.cache_read.input_tokens') as cache_read_tokens,
        min(value) filter (where name = 'gen_ai.usage.cache_creation.input_tokens') as cache_write_tokens
    from texts
    group by span_no
),

told as (
    select
        n.file_no,
        n.line_no,
        n.part,
        n.service,
        nullif(n.span ->> '$.traceId', '') as trace_id,
        nullif(n.span ->> '$.spanId', '') as span_id,
        n.span ->> '$.startTimeUnixNano' as start_nanos,
        try_cast(n.span ->> '$.startTimeUnixNano' as hugeint) as started,
        try_cast(n.span ->> '$.endTimeUnixNano' as hugeint) as end_nanos,
        coalesce(a.operation in ('invoke_agent', 'create_agent', 'invoke_workflow'), false) as is_parent,
        a.* exclude (span_no)
    from numbered as n
    inner join attributes as a on n.span_no = a.span_no
),

links as (
    -- One parent each, whatever a file says: the ways up never branch.
    select
        span ->> '$.traceId' as trace_id,
        span ->> '$.spanId' as span_id,
        min(nullif(span ->> '$.parentSpanId', '')) as parent_id
    from numbered
    where span ->> '$.spanId' <> ''
    group by span ->> '$.traceId', span ->> '$.spanId'
),

ancestors as (
    -- A span stands in another one, which may stand in a further one: the nearest that names an agent has it.
    select
        trace_id,
        span_id,
        parent_id as ancestor_id,
        1 as distance
    from links
    where parent_id is not null
    union all
    select
        a.trace_id,
        a.span_id,
        l.parent_id as ancestor_id,
        a.distance + 1 as distance
    from ancestors as a
    inner join links as l on a.trace_id = l.trace_id and a.ancestor_id = l.span_id
    where l.parent_id is not null and a.distance < 32
),

parents as (
    select
        a.trace_id,
        a.span_id,
        arg_min(coalesce(t.agent_name, t.agent_id), (a.distance, t.file_no, t.line_no)) as agent,
        arg_min(t.workflow, (a.distance, t.file_no, t.line_no)) as workflow
    from ancestors as a
    inner join told as t on a.trace_id = t.trace_id and a.ancestor_id = t.span_id
    where t.is_parent
    group by a.trace_id, a.span_id
)

select
    t.file_no,
    t.line_no,
    t.part,
    t.trace_id,
    t.span_id,
    t.end_nanos,
    t.start_nanos as event_time,
    coalesce(t.agent_name, t.agent_id, p.agent) as agent,
    coalesce(t.workflow, p.workflow, t.service) as pipeline,
    coalesce(t.conversation, t.trace_id) as run_id,
    case when t.operation = 'execute_tool' then t.tool_name end as tool_name,
    coalesce(t.response_model, t.request_model) as model,
    t.input_tokens,
    t.output_tokens,
    t.cache_read_tokens,
    t.cache_write_tokens,
    -- By the conventions the input holds what was read from a cache and written to it.
    case
        when try_cast(t.input_tokens as hugeint) is not null or try_cast(t.output_tokens as hugeint) is not null
            then cast(
                coalesce(try_cast(t.input_tokens as hugeint), 0) + coalesce(try_cast(t.output_tokens as hugeint), 0)
                as varchar
            )
    end as total_tokens,
    cast(try_cast((t.end_nanos - t.started) / 1000000 as decimal(18, 3)) as varchar) as duration_ms,
    case when t.is_parent then 'otel-parent-spans' end as note
from told as t
left join parents as p on t.trace_id = p.trace_id and t.span_id = p.span_id
