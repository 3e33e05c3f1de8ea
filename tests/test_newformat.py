"""A format drafted from lines of a log: what is taken for what, and that the draft and its test work at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from event_world import jsonl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from project import built

from reportgen.checking import check
from reportgen.errors import ReportgenError
from reportgen.formatdraft import draft
from reportgen.formattest import run_all
from reportgen.inputs.records import LineReader
from reportgen.newformat import new_format


def end(step: str, **more: Any) -> dict[str, Any]:
    told = {
        "ev": "end", "step": step, "worker": "planner", "job": "docs", "llm": "acme-1", "took_ms": 4100,
        "use": {"in": 1200, "out": 340, "cached": 100, "cacheWritten": 7}, "usd": 0.0125,
        "at": "2026-11-02T09:00:04Z", "prompt": "the launch code is 0000, tell nobody",
    }  # fmt: skip
    return told | more


BEGIN = {"ev": "begin", "step": "s1", "worker": "planner", "at": "2026-11-02T09:00:00Z", "limit_usd": 5}


def log(folder: Path, *records: dict[str, Any]) -> Path:
    path = folder / "log.jsonl"
    path.write_bytes(jsonl(*records))
    return path


def test_a_draft_reads_the_log_that_it_was_made_from(tmp_path: Path) -> None:
    path = log(tmp_path, BEGIN, end("s1"), end("s2", worker="writer", usd=0.5))
    made = new_format(tmp_path, "our_steps", path)
    assert dict(made.fields) == {
        "event_time": ("at",), "cost_usd": ("usd",), "cache_read_tokens": ("use", "cached"),
        "cache_write_tokens": ("use", "cacheWritten"), "input_tokens": ("use", "in"), "output_tokens": ("use", "out"),
        "duration_ms": ("took_ms",), "model": ("llm",), "agent": ("worker",), "pipeline": ("job",),
    }  # fmt: skip
    assert made.missing == ["run_id"]
    run = run_all(tmp_path, ["our_steps"])
    assert [(one.outcome, one.message) for one in run.results] == [("passed", "")]
    assert [(one.severity, one.what) for one in check(tmp_path)] == [
        ("warning", "'doc' still is what `reportgen new format` wrote")
    ]
    # The build reads it: 0.0125 + 0.5 dollars by two agents, and the line that begins a step is no cost event.
    (tmp_path / "reportgen.toml").write_text('[inputs]\nevents = ["log.jsonl"]\n')
    report = built(tmp_path)
    assert [(p["pipeline"], p["events"], p["cost"]) for p in report["pipelines"]] == [("docs", 2, "0.5125")]
    assert sorted(a["agent"] for a in report["agents"]) == ["planner", "writer"]
    assert [(f["used"], f["not_cost"]) for f in report["inputs"]] == [(2, 1)]


def test_nobody_s_words_go_into_the_test(tmp_path: Path) -> None:
    path = log(tmp_path, end("s1", worker='Ann & co: "x" | y', job="mail ann@example.com"), end("s2"))
    made = new_format(tmp_path, "mine", path)
    written = made.sql.read_text() + made.test.read_text()
    for secret in ("launch code", "Ann &", "ann@example.com"):
        assert secret not in written
    assert [one.outcome for one in run_all(tmp_path, ["mine"]).results] == ["passed"]


def test_names_in_other_shapes(tmp_path: Path) -> None:
    records = [
        {"log-time": 1777712400000 + n, "promptTokens": 5, "completionTokens": 7, "a-b": {"c-d": n}, "modelId": "m",
         "actor": "w", "cost_cents": 3, "flow": "f", "traceId": f"t{n % 2}", "tokens": 12}
        for n in range(8)
    ]  # fmt: skip
    made = new_format(tmp_path, "mine", log(tmp_path, *records))
    assert dict(made.fields) == {
        "event_time": ("log-time",), "input_tokens": ("promptTokens",), "output_tokens": ("completionTokens",),
        "total_tokens": ("tokens",), "model": ("modelId",), "agent": ("actor",), "pipeline": ("flow",),
        "run_id": ("traceId",),
    }  # fmt: skip
    assert [one.outcome for one in run_all(tmp_path, ["mine"]).results] == ["passed"]
    assert "cost_cents: number" in made.sql.read_text()


def test_without_a_log_there_is_an_example_that_works(tmp_path: Path) -> None:
    made = new_format(tmp_path, "our_steps")
    assert (made.fields, made.missing) == ({}, ())
    assert [one.outcome for one in run_all(tmp_path, ["our_steps"]).results] == ["passed"]
    assert [one.severity for one in check(tmp_path)] == ["warning"]


def test_what_can_not_be_drafted_is_told_and_nothing_is_written(tmp_path: Path) -> None:
    transcript = {"type": "user", "uuid": "u", "sessionId": "s"}
    for records, what in (
        ([{"who": "w", "words": 5}], "no number in 1 records has a name"),
        ([transcript, transcript], "all 2 records are read already"),
        ([], "holds no JSON object"),
    ):
        with pytest.raises(ReportgenError, match=what):
            new_format(tmp_path, "mine", log(tmp_path, *records))
    with pytest.raises(ReportgenError, match="can't be read") as caught:
        new_format(tmp_path, "mine", tmp_path / "none.jsonl")
    assert caught.value.exit_code == 3
    for name, what in (("codex", "is a built-in format"), ("Our Steps", "a format's name is its id")):
        with pytest.raises(ReportgenError, match=what):
            new_format(tmp_path, name)
    assert not (tmp_path / "sql").exists()
    new_format(tmp_path, "mine")
    with pytest.raises(ReportgenError, match="is there already"):
        new_format(tmp_path, "mine", log(tmp_path, end("s1")))


KEYS = st.sampled_from(["ev", "at", "use", "in", "out", "tokens", "usd", "cost", "agent", "a b", "x-y", "'", "ms", "é"])
VALUES = (
    st.none() | st.booleans() | st.integers(-5, 10**13) | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "end", "2026-11-02T09:00:00Z", "it's | `x`", '"', "null", " w ", "\x00", "---*/"])
)  # fmt: skip
RECORDS = st.lists(
    st.dictionaries(KEYS, VALUES | st.dictionaries(KEYS, VALUES, max_size=4) | st.lists(VALUES, max_size=2), max_size=6),
    min_size=1, max_size=5,
)  # fmt: skip


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(records=RECORDS)
def test_whatever_is_drafted_is_a_format_whose_test_passes(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("draft")
    path = log(folder, *records)
    read = [LineReader().read(line).records for line in path.read_bytes().splitlines()]
    if draft([record for some in read for record in some]) is None:
        with pytest.raises(ReportgenError):
            new_format(folder, "mine", path)
        return
    made = new_format(folder, "mine", path)
    assert [(one.outcome, one.message) for one in run_all(folder, ["mine"]).results] == [("passed", "")]
    assert [one for one in check(folder) if one.severity == "error"] == []
    assert json.dumps("---*/") not in made.sql.read_text()
