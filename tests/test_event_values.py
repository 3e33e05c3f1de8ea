"""What the fields of a cost event mean: names, times, tokens, costs, durations (SPEC 2, INPUTS 1)."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from event_world import jsonl, read, read_files

from reportgen.inputs.fields import fold_key
from reportgen.inputs.times import OUT_OF_RANGE, UNREADABLE, bound_text, utc_text

TIME = "2026-05-02T09:14:07Z"
#: INPUTS 1, word for word: canonical column, names in order of precedence.
TABLE = {
    "event_time": "occurred_at, timestamp, ts, time, t, at, datetime, created_at, started_at, start_time, window_start,"
    " timeUnixNano, startTimeUnixNano",
    "agent": "agent, agent.name, agent_name, agent_id, agent_type, role, bot, assistant, subagent_type,"
    " gen_ai.agent.name",
    "pipeline": "pipeline, pipeline_name, pipeline_id, workflow, workflow_name, workflow_id",
    "run": "run_id, trace_id, execution_id, task_id, session_id, session.id, conversation_id, gen_ai.conversation.id",
    "tool_name": "tool_name, tool, gen_ai.tool.name",
    "model": "resolved_model, model, model_id, model_used, model_name, gen_ai.response.model, gen_ai.request.model",
    "input_tokens": "input_tokens, tokens_in, in_tok, prompt_tokens, tokens_prompt, prompt_token_count,"
    " usage.input_tokens, usage.prompt_tokens, tokens.input, gen_ai.usage.input_tokens",
    "output_tokens": "output_tokens, tokens_out, out_tok, completion_tokens, tokens_completion,"
    " candidates_token_count, usage.output_tokens, usage.completion_tokens, tokens.output,"
    " gen_ai.usage.output_tokens",
    "cache_read_tokens": "cache_read_input_tokens, cache_read_tokens, cache_read, cached_tokens, cached_input_tokens,"
    " usage.cache_read_input_tokens, tokens.cache.read",
    "cache_write_tokens": "cache_creation_input_tokens, cache_write_tokens, cache_write,"
    " usage.cache_creation_input_tokens, tokens.cache.write",
    "total_tokens": "total_tokens, tokens, token_count, tokens.total, usage.total_tokens, estimated_tokens,"
    " est_tokens, tokens_estimated",
    "cost_usd": "cost_usd, usd, total_cost_usd, actual_cost_usd, cost, total_cost, usage.cost, response_cost,"
    " cost.usd, cost.total, estimated_cost_usd, approx_cost_usd, estimated_cost, cost_cents, cost_micros,"
    " cost_microusd, cost_microdollars, cost_nano_usd",
    "duration_ms": "duration_ms, latency_ms, elapsed_ms, wall_ms, duration_s, duration_seconds, elapsed_seconds,"
    " wall_ns",
}
ALIASES = [(column, name) for column, names in TABLE.items() for name in names.split(", ")]
UNITS: dict[str, Any] = {
    "cost_cents": 100,
    "cost_micros": 10**6,
    "cost_microusd": 10**6,
    "cost_microdollars": 10**6,
    "cost_nano_usd": 10**9,
    "duration_s": Decimal("0.001"),
    "duration_seconds": Decimal("0.001"),
    "elapsed_seconds": Decimal("0.001"),
    "wall_ns": 10**6,
}


def value_of(column: str, name: str) -> tuple[Any, str]:
    """A value to give, and how the row must show it."""
    if column == "event_time":
        return TIME, "2026-05-02 09:14:07.000000"
    if column == "cost_usd":
        return int(3 * UNITS.get(name, 1)), "3"
    if column == "duration_ms":
        return (int(7000 * UNITS.get(name, 1)), "7000")
    if column.endswith("_tokens"):
        return 41, "41"
    return f"the {column}", f"the {column}"


def nested(name: str, value: Any) -> dict[str, Any]:
    first, _, rest = name.partition(".")
    return {first: nested(rest, value) if rest else value}


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)


@pytest.mark.parametrize(("column", "name"), ALIASES, ids=lambda value: value)
def test_every_name_of_a_field(tmp_path: Path, column: str, name: str) -> None:
    value, shown = value_of(column, name)
    # A tool makes each of them a cost event, and keeps a lone total from being a summary.
    base = {} if column == "tool_name" else {"tool": "Edit"}
    spelled = [name, name.upper(), name.replace("_", "-"), camel(name)]
    records: list[dict[str, Any]] = [{**base, key: value} for key in spelled] + [{**base, **nested(name, value)}]
    seen = read(tmp_path, *records)
    assert [Decimal(v) if column in ("cost_usd", "duration_ms") else v for v in seen.column(column)] == [
        Decimal(shown) if column in ("cost_usd", "duration_ms") else shown
    ] * len(records)


@pytest.mark.parametrize("column", [c for c in TABLE if c not in ("total_tokens",)])
def test_the_first_name_that_is_present_wins(tmp_path: Path, column: str) -> None:
    names = [name for name in TABLE[column].split(", ") if "." not in name]
    values: dict[str, Any] = {}
    for place, name in enumerate(names):
        if column == "event_time":
            values[name] = f"2026-05-02T09:14:{place:02d}Z"
        elif column in ("agent", "pipeline", "run", "tool_name", "model"):
            values[name] = f"name {place}"
        else:
            values[name] = int((place + 1) * 1000 * UNITS.get(name, 1))
    base = {} if column == "tool_name" else {"tool": "Edit"}
    records = []
    for place in range(len(names)):
        for absent in (None, ""):
            gone = dict.fromkeys(names[:place], absent)
            records.append({**dict(reversed([*values.items()])), **base, **gone})
    seen = read(tmp_path, *records)
    expected = []
    for place in range(len(names)):
        if column == "event_time":
            expected += [f"2026-05-02 09:14:{place:02d}.000000"] * 2
        elif column in ("agent", "pipeline", "run", "tool_name", "model"):
            expected += [f"name {place}"] * 2
        else:
            expected += [str((place + 1) * 1000)] * 2
    plain = [v.split(".")[0] if column in ("cost_usd", "duration_ms") else v for v in seen.column(column)]
    assert plain == expected


@pytest.mark.parametrize(
    "name", ["similarity_cost", "max_cost_usd", "cost_per_token", "my_agent", "tokens_left", "agents"]
)
def test_names_never_match_in_part(tmp_path: Path, name: str) -> None:
    assert read(tmp_path, {"timestamp": TIME, name: 5}).fates() == {"not_cost": 1}


def test_keys_fold_case_and_separators() -> None:
    assert {fold_key(key) for key in ("costUsd", "cost_usd", "COST-USD", "CostUSD")} == {"costusd"}


def test_a_project_names_its_own_fields_first(tmp_path: Path) -> None:
    own = {"agent": ("worker", "who.name"), "cost_usd": ("spend",), "run_id": ("build.no",)}
    seen = read(
        tmp_path,
        {"worker": "w", "agent": "a", "spend": "0.5", "cost_usd": 9, "build": {"no": "b-1"}, "run_id": "r"},
        {"who": {"name": "n"}, "agent": "a"},
        {"agent": "a", "cost": 2},
        fields=own,
    )
    assert seen.column("agent") == ["w", "n", "a"]
    assert seen.column("cost_usd") == ["0.5", "", "2"]
    assert seen.column("run") == ["b-1", "", ""]


# Envelopes


@pytest.mark.parametrize("envelope", ["payload", "data", "event", "attributes", "message", "Payload"])
def test_one_envelope_is_opened(tmp_path: Path, envelope: str) -> None:
    inner = {"session_id": "s-01", "input_tokens": 310, "output_tokens": 5200, "actual_cost_usd": None}
    seen = read(tmp_path, {"source": "aggregate", "timestamp": TIME, envelope: inner})
    assert (seen.row["run"], seen.row["total_tokens"], seen.row["cost_usd"]) == ("s-01", "5510", "")
    assert seen.row["event_time"] == "2026-05-02 09:14:07.000000"


def test_what_is_in_the_envelope_goes_before_what_is_on_it(tmp_path: Path) -> None:
    seen = read(
        tmp_path, {"agent": "collector", "timestamp": "2026-05-03", "payload": {"agent": "w", "ts": TIME, "tool": "x"}}
    )
    assert (seen.row["agent"], seen.row["event_time"][:10]) == ("w", "2026-05-02")


def test_a_record_with_numbers_of_its_own_goes_before_what_it_carries(tmp_path: Path) -> None:
    seen = read(tmp_path, {"agent": "a", "cost_usd": 1, "data": {"cost": 50, "agent": "b", "model": "m"}})
    assert (seen.row["cost_usd"], seen.row["agent"], seen.row["model"]) == ("1", "a", "m")


def test_only_the_first_envelope_is_opened(tmp_path: Path) -> None:
    seen = read(tmp_path, {"message": {"cost": 5}, "payload": {"agent": "a", "data": {"cost": 7}}})
    assert (seen.row["agent"], seen.row["cost_usd"]) == ("a", "")


# Names


@pytest.mark.parametrize("word", ["unknown", "DEFAULT", " none ", "null", "n/a", "N/A", ""])
def test_a_word_for_none_lets_the_next_name_speak(tmp_path: Path, word: str) -> None:
    record = {"agent": word, "agent_name": "w", "pipeline": word, "workflow": "p", "run_id": word, "session_id": "s"}
    seen = read(tmp_path, record, {"agent": word, "tool": "x", "session_id": word})
    assert [seen.rows[0][kind] for kind in ("agent", "pipeline", "run")] == ["w", "p", "s"]
    assert [seen.rows[1][kind] for kind in ("agent", "pipeline", "run")] == ["", "", ""]


def test_a_chat_role_is_no_agent_but_its_row_is_an_event(tmp_path: Path) -> None:
    seen = read(tmp_path, {"role": "assistant"}, {"role": "proposer"})
    assert seen.column("agent") == ["", "proposer"]
    assert seen.fates() == {"used": 2}


def test_an_agent_may_be_an_object_with_a_name(tmp_path: Path) -> None:
    seen = read(tmp_path, {"agent": {"name": "w", "id": 3}}, {"agent": {"id": 3}, "tool": "x"})
    assert seen.column("agent") == ["w", ""]


def test_integer_names_are_text_with_a_warning(tmp_path: Path) -> None:
    seen = read(tmp_path, {"agent": 7, "run_id": 12, "pipeline": 1.5}, {"agent": True, "tool": ["x"], "bot": "b"})
    assert (seen.rows[0]["agent"], seen.rows[0]["run"], seen.rows[0]["pipeline"]) == ("7", "12", "1.5")
    assert (seen.rows[1]["agent"], seen.rows[1]["tool_name"]) == ("b", "")
    assert seen.codes == {"integer-name": 3, "unusable-name": 2, "time-missing": 2}


def test_tools_and_models_are_shown_safely(tmp_path: Path) -> None:
    record = {"tool": 'a,\n "b"  c', "model": "sk-ant-" + "a1B2" * 10}
    seen = read(tmp_path, record, {"tool": "x" * 5_000_000})
    assert seen.rows[0]["tool_name"] == 'a, "b" c'
    assert seen.rows[0]["model"] == "[key]"
    assert seen.rows[1]["tool_name"] == "x" * 200 + "…"
    assert read(tmp_path, record, redact=False).row["model"] == record["model"]


# Times


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("2026-05-02T09:14:07Z", "2026-05-02 09:14:07.000000"),
        ("2026-05-02T09:14:07.1Z", "2026-05-02 09:14:07.100000"),
        ("2026-05-02T09:14:07.123456789Z", "2026-05-02 09:14:07.123456"),
        ("2026-05-02T09:14:07,25Z", "2026-05-02 09:14:07.250000"),
        ("2026-05-02 09:14:07", "2026-05-02 09:14:07.000000"),
        ("2026-05-02t09:14:07z", "2026-05-02 09:14:07.000000"),
        ("2026-05-02T09:14:07+02:00", "2026-05-02 07:14:07.000000"),
        ("2026-05-02T09:14:07.5-05:30", "2026-05-02 14:44:07.500000"),
        ("2026-05-02T09:14:07+0200", "2026-05-02 07:14:07.000000"),
        ("2026-05-02T09:14:07+02", "2026-05-02 07:14:07.000000"),
        ("2026-05-02 09:14:07 +02:00", "2026-05-02 07:14:07.000000"),
        ("2026-05-02 09:14:07 UTC", "2026-05-02 09:14:07.000000"),
        ("2026-05-02T09:14:07+00:00", "2026-05-02 09:14:07.000000"),
        ("2026-05-02T09:14:07.25+00:00", "2026-05-02 09:14:07.250000"),
        ("2026-05-02T09:14Z", "2026-05-02 09:14:00.000000"),
        ("2026-05-02T09", "2026-05-02 09:00:00.000000"),
        ("2026-05-02", "2026-05-02 00:00:00.000000"),
        ("20260502T091407Z", "2026-05-02 09:14:07.000000"),
        ("20260502T091407.5+0200", "2026-05-02 07:14:07.500000"),
        ("20260502 091407", "2026-05-02 09:14:07.000000"),
        ("20260502", "2026-05-02 00:00:00.000000"),
        (" 2026-05-02T09:14:07Z ", "2026-05-02 09:14:07.000000"),
        ("2016-12-31T23:59:60Z", "2017-01-01 00:00:00.000000"),
        ("2000-01-01T00:00:00Z", "2000-01-01 00:00:00.000000"),
        ("2100-12-31T23:59:59.999999Z", "2100-12-31 23:59:59.999999"),
        (1777713247, "2026-05-02 09:14:07.000000"),
        (Decimal("1777713247.557"), "2026-05-02 09:14:07.557000"),
        (1777713247557, "2026-05-02 09:14:07.557000"),
        (1777713247557123, "2026-05-02 09:14:07.557123"),
        (1777713247557123456, "2026-05-02 09:14:07.557123"),
        ("1777713247", "2026-05-02 09:14:07.000000"),
        ("1777713247557123456", "2026-05-02 09:14:07.557123"),
        ("1777713247.5", "2026-05-02 09:14:07.500000"),
    ],
)
def test_times_of_every_form(value: Any, shown: str) -> None:
    given = str(value) if isinstance(value, Decimal) else value
    for _ in range(2):
        # The second time the minute is known.
        assert utc_text(given) == (shown, "")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("1999-12-31T23:59:59Z", OUT_OF_RANGE),
        ("2101-01-01T00:00:00Z", OUT_OF_RANGE),
        ("2000-01-01T00:30:00+01:00", OUT_OF_RANGE),
        ("0001-01-01T00:00:00Z", OUT_OF_RANGE),
        ("0001-01-01T00:00:00+05:00", OUT_OF_RANGE),
        ("0000-00-00T00:00:00Z", OUT_OF_RANGE),
        ("9999-12-31T23:59:59-05:00", OUT_OF_RANGE),
        ("1970-01-01T00:00:00Z", OUT_OF_RANGE),
        (0, OUT_OF_RANGE),
        (-1777713247, OUT_OF_RANGE),
        (20260502, OUT_OF_RANGE),
        (10**30, OUT_OF_RANGE),
        ("yesterday", UNREADABLE),
        ("2026-13-02T09:14:07Z", UNREADABLE),
        ("2026-02-30", UNREADABLE),
        ("2026-05-02x09:14:07Z", UNREADABLE),
        ("2026-05-02T25:14:07Z", UNREADABLE),
        ("2026-05-02T09:14:61Z", UNREADABLE),
        ("2026-05-02T09:14:07+99:00", UNREADABLE),
        ("2026-05-02T09:14:07ZZ", UNREADABLE),
        ("2026-05-02T09:14:07.Z", UNREADABLE),
        ("２０２６-05-02T09:14:07Z", UNREADABLE),
        ("2026-W18-6", UNREADABLE),
        ("12", UNREADABLE),
        (True, UNREADABLE),
        ([], UNREADABLE),
        ({}, UNREADABLE),
        ("1" * 100_000, UNREADABLE),
    ],
)
def test_times_that_are_none(value: Any, why: str) -> None:
    assert utc_text(value) == ("", why)


def test_a_known_minute_does_not_make_a_bad_time_good() -> None:
    assert utc_text("2026-05-02T09:14:07Z")[0]
    for text in ("2026-05-02T09:14:7Z", "2026-05-02T09:14:0xZ", "2026-05-02T09:14:07.xZ", "2026-05-02T09:14:07+00:00Z"):
        assert utc_text(text) == ("", UNREADABLE)
    assert utc_text("2026-05-02T09:14:07-01:00")[0] == "2026-05-02 10:14:07.000000"


def test_undated_events_are_kept_and_said(tmp_path: Path) -> None:
    seen = read(
        tmp_path,
        {"ts": "soon", "tool": "a"},
        {"ts": 5, "tool": "a"},
        {"tool": "a"},
        {"ts": "1969-07-20", "tool": "a"},
        {"ts": None, "created_at": TIME, "tool": "a"},
    )
    assert [bool(time) for time in seen.column("event_time")] == [False, False, False, False, True]
    assert seen.codes == {"time-unreadable": 1, "time-out-of-range": 2, "time-missing": 1}
    assert {notice.code: notice.line for notice in seen.result.notices}["time-out-of-range"] == 2


def test_the_bound_has_the_form_of_the_times() -> None:
    assert bound_text(datetime(2026, 5, 2, 9, 14, 7, tzinfo=UTC)) == utc_text("2026-05-02T09:14:07Z")[0]
    assert bound_text(datetime(2026, 5, 2, 9, 14, 7, 5)) == "2026-05-02 09:14:07.000005"  # noqa: DTZ001


# Tokens


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (7, "7"), ("7", "7"), (" 12 ", "12"), (10**12 - 1, str(10**12 - 1)), ("12.0", "12"), ("1e3", "1000")],
)
def test_token_counts(tmp_path: Path, value: Any, shown: str) -> None:
    seen = read(tmp_path, {"input_tokens": value, "ts": TIME})
    assert (seen.row["input_tokens"], seen.codes) == (shown, {})


@pytest.mark.parametrize(
    "value",
    ["-1", "1.5", "true", "1000000000000", '"many"', "[1]", '"1_000"', '"٣"', "1e400", '" "', "9" * 5000, '"NaN"'],
)
def test_what_is_no_token_count_is_unknown_and_said(tmp_path: Path, value: str) -> None:
    seen = read_files(tmp_path, f'{{"ts":"{TIME}","input_tokens":{value},"output_tokens":3}}\n'.encode())
    assert (seen.row["input_tokens"], seen.row["total_tokens"]) == ("", "3")
    assert seen.codes == {"tokens-unusable": 1}


@pytest.mark.parametrize(
    ("record", "total", "estimated"),
    [
        ({"total_tokens": 100, "input_tokens": 7, "output_tokens": 1}, "100", "false"),
        ({"input_tokens": 1200, "output_tokens": 340, "cache_read_tokens": 800}, "2340", "false"),
        (
            {"input_tokens": 2, "output_tokens": 1, "cache_creation_input_tokens": 8, "cache_read_input_tokens": 15},
            "26",
            "false",
        ),
        ({"output_tokens": 9}, "9", "false"),
        ({"prompt_tokens": 1200, "completion_tokens": 340, "cached_tokens": 800}, "1540", "false"),
        ({"input_tokens": 1200, "output_tokens": 340, "cached_input_tokens": 800}, "1540", "false"),
        # What is more than the input can't be inside it.
        ({"input_tokens": 12, "output_tokens": 340, "cached_input_tokens": 800}, "1152", "false"),
        ({"estimated_tokens": 420}, "420", "true"),
        ({"estimated_tokens": 420, "input_tokens": 7}, "7", "false"),
        ({"estimated_tokens": 420, "total_tokens": 0}, "0", "false"),
        ({"tokens_estimated": 420}, "420", "true"),
        ({"tokens_estimated": True, "tokens": 5}, "5", "true"),
        ({"tokens_estimated": False, "tokens": 5}, "5", "false"),
        ({"tokens_estimated": True, "est_tokens": 6}, "6", "true"),
        ({"tokens": {"input": 5, "output": 6, "cache": {"read": 1, "write": 2}}}, "14", "false"),
        ({"tokens": {"input": 5, "total": 50}}, "50", "false"),
        ({"total_tokens": -5, "input_tokens": 7}, "7", "false"),
        ({"cost_usd": 1}, "", "false"),
    ],
)
def test_the_total_is_given_or_summed_or_estimated(
    tmp_path: Path, record: dict[str, Any], total: str, estimated: str
) -> None:
    row = read(tmp_path, record).row
    assert (row["total_tokens"], row["tokens_estimated"]) == (total, estimated)


# Costs


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("0.1", "0.1"),
        ("0", "0"),
        ("-0.0", "0"),
        ("12", "12"),
        ("1E-7", "0.0000001"),
        ("1.50", "1.5"),
        ("123456789.123456789012", "123456789.123456789012"),
        ('"0.5"', "0.5"),
        ('" 0.5 "', "0.5"),
        ('"1e-3"', "0.001"),
        ("999999999.999999999999", "999999999.999999999999"),
        ("0.0000000000005", "0"),
        ("0.0000000000015", "0.000000000002"),
        ("0.0000000000025", "0.000000000002"),
        ("0.00000000000250000001", "0.000000000003"),
        ("1e-400", "0"),
        ("1e-99999999", "0"),
        ("0e99999", "0"),
    ],
)
def test_costs_are_exact(tmp_path: Path, value: str, shown: str) -> None:
    row = read_files(tmp_path, f'{{"cost_usd":{value}}}\n'.encode()).row
    assert row["cost_basis"] == "reported"
    assert Decimal(row["cost_usd"]) == Decimal(shown)
    assert "E" not in row["cost_usd"]
    assert len(row["cost_usd"].partition(".")[2]) <= 12


NO_COSTS = """
-1.5 true false 1000000000 1e9 1e400 1e99999999999 -1e-99999 "NaN" "Infinity" "free" "$1" "1_0" "-0.1" [1]
"""


@pytest.mark.parametrize("value", [*NO_COSTS.split(), "9" * 5000])
def test_what_is_no_cost_is_unknown_and_said(tmp_path: Path, value: str) -> None:
    seen = read_files(tmp_path, f'{{"ts":"{TIME}","cost_usd":{value}}}\n'.encode())
    assert (seen.row["cost_usd"], seen.row["cost_basis"]) == ("", "")
    assert seen.codes == {"cost-unusable": 1}


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
def test_a_bare_nan_is_null(tmp_path: Path, value: str) -> None:
    seen = read_files(
        tmp_path, f'{{"ts":"{TIME}","tool":"x","cost_usd":{value},"cost":2}}\n{{"cost":{value}}}\n'.encode()
    )
    assert seen.row["cost_usd"] == "2"
    assert seen.codes == {"bare-nan": 2}
    assert seen.fates() == {"used": 1, "not_cost": 1}


def test_an_empty_text_is_no_cost(tmp_path: Path) -> None:
    seen = read(tmp_path, {"ts": TIME, "cost_usd": "", "tool": "x"}, {"ts": TIME, "cost_usd": ""})
    assert (seen.row["cost_usd"], seen.codes, seen.fates()) == ("", {}, {"used": 1, "not_cost": 1})


@pytest.mark.parametrize(
    ("record", "cost", "basis"),
    [
        ({"cost_cents": 12}, "0.12", "reported"),
        ({"costCents": "12.5"}, "0.125", "reported"),
        ({"cost_micros": 1}, "0.000001", "reported"),
        ({"cost_nano_usd": 1}, "0.000000001", "reported"),
        ({"estimated_cost_usd": 0.5}, "0.5", "estimated"),
        ({"approx_cost_usd": 0.5, "cost_cents": 1}, "0.5", "estimated"),
        ({"estimated_cost": 0.5, "cost": 0.25}, "0.25", "reported"),
        ({"cost_usd": 0.5, "is_estimate": True}, "0.5", "estimated"),
        ({"cost": {"usd": 0.5, "total": 7}}, "0.5", "reported"),
        ({"usage": {"cost": 0.5}}, "0.5", "reported"),
        ({"cost_micros": 999999999999999}, "999999999.999999", "reported"),
    ],
)
def test_units_and_bases(tmp_path: Path, record: dict[str, Any], cost: str, basis: str) -> None:
    row = read(tmp_path, record).row
    assert (Decimal(row["cost_usd"]), row["cost_basis"]) == (Decimal(cost), basis)


def test_rounding_is_said(tmp_path: Path) -> None:
    seen = read_files(
        tmp_path, f'{{"ts":"{TIME}","cost":0.1234567890123}}\n{{"ts":"{TIME}","cost":0.10000000000000}}\n'.encode()
    )
    assert [Decimal(cost) for cost in seen.column("cost_usd")] == [Decimal("0.123456789012"), Decimal("0.1")]
    assert seen.codes == {"cost-rounded": 1}


def test_a_file_of_zero_costs_is_said(tmp_path: Path) -> None:
    zeros = [{"ts": TIME, "cost": 0, "tool": "x"}, {"ts": TIME, "cost": 0.0, "tool": "x"}, {"ts": TIME, "tool": "x"}]
    seen = read_files(tmp_path, jsonl(*zeros), jsonl(zeros[0], {"ts": TIME, "cost": 0.01}), jsonl(zeros[2]))
    assert [(notice.code, notice.file, notice.count) for notice in seen.result.notices] == [
        ("cost-all-zero", "events-0.jsonl", 2)
    ]


# Durations


@pytest.mark.parametrize(
    ("record", "shown"),
    [
        ({"duration_ms": 4120}, "4120"),
        ({"latency_ms": 12.3456}, "12.346"),
        ({"latency_ms": 0.0005}, "0"),
        ({"duration_s": 1.5}, "1500"),
        ({"wall_ns": 1500000}, "1.5"),
        ({"elapsed_seconds": "2"}, "2000"),
    ],
)
def test_durations_are_milliseconds(tmp_path: Path, record: dict[str, Any], shown: str) -> None:
    assert Decimal(read(tmp_path, {**record, "tool": "x"}).row["duration_ms"]) == Decimal(shown)


@pytest.mark.parametrize("value", [-1, True, "long", 10**12, [1]])
def test_what_is_no_duration_is_unknown_and_said(tmp_path: Path, value: Any) -> None:
    seen = read(tmp_path, {"ts": TIME, "tool": "x", "duration_ms": value})
    assert (seen.row["duration_ms"], seen.codes) == ("", {"duration-unusable": 1})
