"""The tables of the schema `raw`: what the input rooms hand over to the warehouse, column by column."""

from __future__ import annotations

from pathlib import Path

from reportgen.sqltext import NO_HIVE, quoted

#: What the input rooms hand over; see the readers for what each column means. Money is DECIMAL, times are UTC.
RAW_TABLES: dict[str, str] = {
    "names": "spelling_no integer, key_no integer, kind varchar, spelling varchar, name_key varchar, key_hash varchar,"
    " code_point_rank integer",
    "feedback": "row_no integer, file_no integer, line_no bigint, feedback_date date, pipeline_no integer,"
    " agent_no integer, score decimal(18, 12), score_text varchar, issue varchar, resolution varchar, tags varchar[]",
    "healing": "row_no integer, line_no bigint, log_time timestamp, pipeline_no integer, agent_no integer,"
    " run_no integer, error_type varchar, attempt bigint, max_attempts bigint, action varchar, exit_code integer,"
    " delay_seconds decimal(18, 3), reason varchar, context varchar",
    "budget": "row_no integer, agent_no integer, window_name varchar, limit_usd decimal(38, 12),"
    " warn_percent decimal(9, 3), hard_stop boolean",
    # Dollars a token. One row holds from a time on (null: always) and before another, from a time of day on and before
    # another, for calls of more than above_tokens tokens of input and no more than up_to_tokens.
    "prices": "model varchar, since_time timestamp, until_time timestamp, day_from time, day_until time,"
    " above_tokens bigint, up_to_tokens bigint, input_usd decimal(18, 15), output_usd decimal(18, 15),"
    " cache_read_usd decimal(18, 15), cache_write_usd decimal(18, 15), cache_write_1h_usd decimal(18, 15),"
    " is_own boolean",
    "roster": "pipeline_no integer, agent_no integer",
    "settings": "since_time timestamp, until_time timestamp, as_of timestamp, window_seconds bigint,"
    " run_gap_seconds decimal(18, 6), score_flag decimal(18, 6)",
}

EVENT_COLUMNS: dict[str, str] = {
    "event_no": "bigint",
    "file_no": "integer",
    "line_no": "bigint",
    "event_time": "timestamp",
    "agent_no": "integer",
    "pipeline_no": "integer",
    "run_no": "integer",
    "tool_name": "varchar",
    "model": "varchar",
    "input_tokens": "bigint",
    "output_tokens": "bigint",
    "cache_read_tokens": "bigint",
    "cache_write_tokens": "bigint",
    "total_tokens": "bigint",
    "tokens_estimated": "boolean",
    "cost_usd": "decimal(38, 12)",
    "cost_basis": "varchar",
    "duration_ms": "decimal(18, 3)",
    # Of cache_write_tokens, those that are kept for an hour and cost more: where a format tells them apart.
    "cache_write_1h_tokens": "bigint",
}


def csv_of_events(path: Path) -> str:
    """Return the table function that reads a CSV of cost events, header and all of EVENT_COLUMNS."""
    types = ", ".join(f"'{name}': '{kind}'" for name, kind in EVENT_COLUMNS.items())
    return (
        f"read_csv({quoted(str(path))}, {NO_HIVE}, header = true, auto_detect = false, delim = ',', quote = '\"',"
        f" escape = '\"', nullstr = '', new_line = '\\n', max_line_size = 16777216, columns = {{{types}}})"
    )
