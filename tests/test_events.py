"""Cost events: the fate of every line, what counts once, and what is said (SPEC 2, INPUTS 1 to 3)."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import zstandard
from event_world import Seen, jsonl, load, read, read_files

from reportgen.errors import ReportgenError
from reportgen.inputs.events import read_events
from reportgen.inputs.records import STILL_BEING_WRITTEN
from reportgen.inputs.sources import Source
from reportgen.names import Names

CASES = Path(__file__).parent / "cases"


def event(second: int = 0, **fields: Any) -> dict[str, Any]:
    return {"ts": f"2026-05-02T09:{second // 60:02d}:{second % 60:02d}Z", **fields}


A = jsonl(event(agent="a", cost_usd=0.5))
B = jsonl(event(agent="b", cost_usd=0.25))


# The fate of every line


def test_the_columns_in_their_order(tmp_path: Path) -> None:
    record = {
        "event_id": "e-1",
        "timestamp": "2026-05-02T09:14:07Z",
        "agent": "w",
        "pipeline": "docs",
        "run_id": "r-7",
        "tool_name": "Edit",
        "model": "m",
        "input_tokens": 1200,
        "output_tokens": 340,
        "cache_read_tokens": 800,
        "cache_write_tokens": 5,
        "cost_usd": 0.0091,
        "duration_ms": 4120,
    }
    read(tmp_path, record)
    assert (tmp_path / "events.csv").read_text() == (
        "event_no,file_no,line_no,event_time,agent_no,pipeline_no,run_no,tool_name,model,input_tokens,output_tokens,"
        "cache_read_tokens,cache_write_tokens,total_tokens,tokens_estimated,cost_usd,cost_basis,duration_ms,"
        "cache_write_1h_tokens\n"
        "0,0,1,2026-05-02 09:14:07.000000,0,1,2,Edit,m,1200,340,800,5,2345,false,0.0091,reported,4120,\n"
    )


def test_shapes_from_the_wild(tmp_path: Path) -> None:
    content = b"""\
{"timestamp":"2026-05-02T09:14:07Z","agent":"planner","tool_name":"Bash","estimated_tokens":420}
{"ts":"2026-05-02T09:14:08Z","session_id":"unknown","tool":"Read","est_tokens":0}
{"ts":1777713247.557,"role":"proposer","model":"m","tokens_in":1500,"tokens_out":800,"cost":0.02}
{"createdAt":1777713247000,"agentId":"a1","runId":null,"costCents":12,"tokenCount":4100,"model":null}
{"ts":"2026-05-02T09:14:07+02:00","agent":"notetaker","cost_usd":0.0989,"usage":{"input_tokens":20836,\
"output_tokens":1968,"cache_read_input_tokens":0}}
{"timestamp":"2026-05-02T09:14:07Z","event":"skill_invoke","plugin":"x"}
"""
    seen = read_files(tmp_path, content)
    assert seen.fates() == {"used": 5, "not_cost": 1}
    wanted = ("event_time", "agent", "run", "tool_name", "total_tokens", "tokens_estimated", "cost_usd")
    assert [tuple(row[name] for name in wanted) for row in seen.rows] == [
        ("2026-05-02 09:14:07.000000", "planner", "", "Bash", "420", "true", ""),
        ("2026-05-02 09:14:08.000000", "", "", "Read", "0", "true", ""),
        ("2026-05-02 09:14:07.557000", "proposer", "", "", "2300", "false", "0.02"),
        ("2026-05-02 09:14:07.000000", "a1", "", "", "4100", "false", "0.12"),
        ("2026-05-02 07:14:07.000000", "notetaker", "", "", "22804", "false", "0.0989"),
    ]


BROKEN = b"".join(
    [
        A,  # 1 used
        b"\r\n",  # 2 blank
        A.rstrip() + b"\r\n",  # 3 used
        b"\xef\xbb\xbf" + A,  # 4 used
        A.rstrip() + B,  # 5 used, two events
        A[:30] + B,  # 6 used, one broken part
        A.rstrip() + b",\n",  # 7 rejected
        b'{"agent":"a\x00"}\n',  # 8 rejected
        b'{"agent":"\xff"}\n',  # 9 rejected
        b'{"agent":"\\ud83d"}\n',  # 10 used
        b'[{"agent":"a"}]\n',  # 11 rejected
        b'{"agent":"a","agent":"b"}\n',  # 12 used
        b'{"agent":"a","cost":NaN}\n',  # 13 used
        b'{"note":"x"}\n',  # 14 not_cost
        b"{}\n",  # 15 not_cost
        b"null\n",  # 16 rejected
        b'{"agent":"' + b"x" * 3_000_000 + b'"}\n',  # 17 used
        b'{"agent":' + b"[" * 100_000 + b"\n",  # 18 rejected
        b'{"agent":"z","ts":' + b"1" * 5000 + b"}\n",  # 19 used
        A.rstrip() + b'{"note":"x"}\n',  # 20 used, one event
        A[:25],  # 21 rejected, still being written
    ]
)
BROKEN_FATES = {"used": 11, "blank": 1, "not_cost": 2, "rejected": 7}


def test_broken_lines_of_every_kind(tmp_path: Path) -> None:
    seen = read_files(tmp_path, BROKEN)
    assert seen.file.lines == 21
    assert seen.fates() == BROKEN_FATES
    assert (seen.file.events, seen.file.broken_parts, seen.result.events) == (12, 1, 12)
    assert seen.reasons == {
        7: "not JSON: a comma after the object",
        8: "raw NUL bytes",
        9: "not valid UTF-8",
        11: "not an object but an array",
        16: "not an object but null",
        18: "nested deeper than 200 levels",
        21: STILL_BEING_WRITTEN,
    }
    assert seen.column("line_no") == ["1", "3", "4", "5", "5", "6", "10", "12", "13", "17", "19", "20"]
    assert seen.column("agent")[:9] == ["a", "a", "a", "a", "b", "b", "\ufffd", "b", "a"]
    codes = seen.codes
    assert {code: codes[code] for code in ("torn-records", "lone-surrogate", "bare-nan", "json-array")} == {
        "torn-records": 1,
        "lone-surrogate": 1,
        "bare-nan": 1,
        "json-array": 1,
    }


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_packing_changes_no_fate(tmp_path: Path, pack: Any) -> None:
    plain, packed = read_files(tmp_path, BROKEN), read_files(tmp_path, pack(BROKEN))
    assert packed.result == plain.result
    assert packed.rows == plain.rows


def test_a_line_has_its_fate_alone_too(tmp_path: Path) -> None:
    lines = BROKEN.split(b"\n")[:-1]
    together = read_files(tmp_path, BROKEN)
    sums: dict[str, int] = {}
    for line in lines:
        for name, count in read_files(tmp_path, line + b"\n").fates().items():
            sums[name] = sums.get(name, 0) + count
    # The torn end is the one line whose fate the end of the file decides.
    assert {**sums, "rejected": sums["rejected"] + 1} == together.fates()


@pytest.mark.parametrize("end", [A[:25], b'{"agent":"a\xc3', A.rstrip() + b",", b'{"agent":"a"} x', b"{\x00"])
def test_an_end_that_does_not_parse_is_still_being_written(tmp_path: Path, end: bytes) -> None:
    seen = read_files(tmp_path, A + end)
    assert seen.reasons == {2: STILL_BEING_WRITTEN}
    assert seen.fates() == {"used": 1, "rejected": 1}
    assert STILL_BEING_WRITTEN not in read_files(tmp_path, A + end + b"\n").reasons.values()


def test_an_end_that_parses_has_the_fate_of_any_line(tmp_path: Path) -> None:
    assert read_files(tmp_path, A + B.rstrip()).fates() == {"used": 2}
    assert read_files(tmp_path, A + b"[1]").reasons == {2: "not an object but an array"}
    assert read_files(tmp_path, A + b"  ").fates() == {"used": 1, "blank": 1}


def test_files_without_lines(tmp_path: Path) -> None:
    seen = read_files(tmp_path, b"", b"\n\n", jsonl({"format": "cost events", "version": 1}))
    assert [seen.fates(number) for number in range(3)] == [{}, {"blank": 2}, {"not_cost": 1}]
    assert (seen.rows, seen.result.events) == ([], 0)
    assert [(notice.code, notice.file, notice.severity) for notice in seen.result.notices] == [
        ("file-empty", "events-0.jsonl", "info")
    ]
    assert (tmp_path / "events.csv").read_text().count("\n") == 1


def test_no_source_is_no_event(tmp_path: Path) -> None:
    seen = read_files(tmp_path)
    assert (seen.result.files, seen.result.events, seen.rows) == ((), 0, [])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_utf_16_files_read_as_utf_8_ones(tmp_path: Path, encoding: str) -> None:
    text = (A + B + b"\n[1]\n").decode()
    seen = read_files(tmp_path, text.encode(encoding))
    assert seen.fates() == {"used": 2, "blank": 1, "rejected": 1}
    assert seen.column("agent") == ["a", "b"]


def test_a_json_array_is_refused_line_by_line_and_explained(tmp_path: Path) -> None:
    pretty = json.dumps([{"agent": "a", "cost": 1}, {"agent": "b", "cost": 2}], indent=1).encode() + b"\n"
    seen = read_files(tmp_path, pretty)
    assert seen.fates() == {"rejected": pretty.count(b"\n")}
    assert seen.codes == {"json-array": 1}
    assert "jq -c '.[]'" in seen.result.notices[0].message


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_a_cut_archive_gives_its_events_and_one_rejected_entry(tmp_path: Path, pack: Any) -> None:
    records = [event(n % 3600, agent=f"agent-{n % 7}", cost_usd=n / 7) for n in range(30_000)]
    packed = pack(jsonl(*records))
    seen = read_files(tmp_path, packed[: len(packed) // 2])
    file = seen.file
    assert 5_000 < file.used < 30_000
    assert (file.lines, file.rejected) == (file.used + 1, 1)
    assert seen.reasons == {file.lines: "the compressed file is cut short here"}
    assert seen.codes["file-damaged"] == 1


def test_an_archive_cut_between_lines_has_its_entry_on_the_next(tmp_path: Path) -> None:
    seen = read_files(tmp_path, gzip.compress(A + B)[:-4])
    assert seen.fates() == {"used": 2, "rejected": 1}
    assert seen.reasons == {3: "the compressed file is cut short here"}
    seen = read_files(tmp_path, gzip.compress(A + B.rstrip())[:-4])
    assert seen.fates() == {"used": 2, "rejected": 1}


def test_rejected_snippets_are_short_redacted_and_printable(tmp_path: Path) -> None:
    line = b"not json \x1b[31m\xe2\x80\xae joe@example.com sk-ant-" + b"a1B2" * 10 + b" " + b"x" * 500 + b"\n"
    (rejected,) = read_files(tmp_path, line).result.rejected
    assert rejected.snippet.startswith("not json \ufffd[31m\ufffd [e-mail] [key] xxx")
    assert len(rejected.snippet) <= 121
    assert "joe@example.com" in read_files(tmp_path, line, redact=False).result.rejected[0].snippet


def test_file_names_are_redacted_where_they_are_shown(tmp_path: Path) -> None:
    seen = read_files(tmp_path, b"x\n", names=("/home/joe/events.jsonl",))
    assert seen.file.file == "[home]/events.jsonl"
    assert seen.result.rejected[0].file == "[home]/events.jsonl"


def test_notices_are_one_for_each_kind_and_file(tmp_path: Path) -> None:
    records = [event(agent="a", cost_usd=-1) for _ in range(1000)]
    seen = read_files(tmp_path, jsonl(event(agent="a"), *records), jsonl(records[0]))
    assert [(n.code, n.file, n.line, n.count) for n in seen.result.notices] == [
        ("cost-unusable", "events-0.jsonl", 2, 1000),
        ("cost-unusable", "events-1.jsonl", 1, 1),
    ]
    assert seen.result.notices[0].message.startswith("1,000 costs are not numbers")
    assert seen.result.notices[1].message.startswith("One cost is not a number")


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReportgenError) as caught:
        read_events([Source(tmp_path / "no", "no.jsonl", "events")], tmp_path / "e.csv", Names())
    assert (caught.value.exit_code, caught.value.where) == (3, "no.jsonl")


def test_progress_reaches_the_whole(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(A * 10_000)
    (tmp_path / "b").write_bytes(gzip.compress(B))
    sources = [Source(tmp_path / name, name, "events") for name in "ab"]
    told: list[tuple[int, int]] = []
    read_events(sources, tmp_path / "e.csv", Names(), on_progress=lambda done, of: told.append((done, of)))
    size = sum(source.path.stat().st_size for source in sources)
    assert told[-1] == (size, size)
    assert [done for done, _ in told] == sorted({done for done, _ in told})


@pytest.mark.parametrize("case", sorted(path.parent.parent.name for path in CASES.glob("*/budget/*.jsonl")))
def test_the_worked_cases_have_their_events(tmp_path: Path, case: str) -> None:
    source = Source(CASES / case / "budget" / "cost-events.jsonl", "cost-events.jsonl", "events")
    registry = Names()
    result = read_events([source], tmp_path / "e.csv", registry)
    expected = json.loads((CASES / case / "expected.json").read_text())
    assert result.events == sum(pipeline["events"] for pipeline in expected["pipelines"].values())
    assert result.events == len(load(tmp_path / "e.csv", registry))
    assert result.files[0].rejected == 0
    assert [notice.code for notice in result.notices] == (["cost-all-zero"] if case == "zero_cost" else [])


# One event id counts once


def winner(tmp_path: Path, *records: dict[str, Any]) -> str:
    """The agent of the one event that counts, which must not depend on the order or on the file."""
    found = set()
    for order in (records, records[::-1]):
        for contents in ([jsonl(*order)], [jsonl(record) for record in order]):
            seen = read_files(tmp_path, *contents)
            found.add(seen.row["agent"])
            fates = [seen.fates(number) for number in range(len(contents))]
            assert sum(fate.get("used", 0) for fate in fates) == 1
            assert sum(fate.get("duplicates", 0) for fate in fates) == len(records) - 1
            assert seen.result.events == sum(file.events for file in seen.result.files) == 1
    assert len(found) == 1
    return found.pop()


def test_of_one_id_the_latest_counts(tmp_path: Path) -> None:
    early = event(1, event_id="e", agent="early", total_tokens=9, cost=9)
    assert winner(tmp_path, early, event(2, event_id="e", agent="late")) == "late"
    assert winner(tmp_path, {"event_id": "e", "agent": "undated", "cost": 99}, early) == "early"


def test_then_the_most_tokens_then_the_highest_cost(tmp_path: Path) -> None:
    few = event(event_id="e", agent="few", total_tokens=1, cost=9)
    assert winner(tmp_path, few, event(event_id="e", agent="many", total_tokens=2)) == "many"
    assert winner(tmp_path, event(event_id="e", agent="none", cost=10), few) == "few"
    assert winner(tmp_path, event(event_id="e", agent="dear", total_tokens=1, cost=9.5), few) == "dear"
    assert winner(tmp_path, event(event_id="e", agent="free"), event(event_id="e", agent="zero", cost=0)) == "zero"


def test_then_the_greatest_canonical_json(tmp_path: Path) -> None:
    records = [event(event_id="e", agent=name) for name in ("b", "c", "a")]
    assert winner(tmp_path, *records) == "c"
    # The order of keys and the white space say nothing.
    seen = read_files(tmp_path, b'{"event_id":"e","agent":"x", "z":1}\n{"z":1,"agent":"x","event_id":"e"}\n')
    assert seen.fates() == {"used": 1, "duplicates": 1}


def test_equal_lines_with_an_id_count_once_in_packed_files_too(tmp_path: Path) -> None:
    line = jsonl(event(event_id="e", agent="a"))
    other = jsonl(event(event_id="e", agent="b"))
    seen = read_files(tmp_path, gzip.compress(line * 3 + other), line)
    assert seen.row["agent"] == "b"
    assert [seen.fates(0), seen.fates(1)] == [{"used": 1, "duplicates": 3}, {"duplicates": 1}]


def test_without_an_id_nothing_is_a_duplicate(tmp_path: Path) -> None:
    for ids in ({}, {"event_id": ""}, {"event_id": None}, {"event_id": "unknown"}, {"request_id": "r"}, {"id": "x"}):
        assert read(tmp_path, *[event(agent="a", **ids)] * 3).fates() == {"used": 3}


def test_an_id_may_be_a_number(tmp_path: Path) -> None:
    seen = read(tmp_path, event(event_id=7, agent="a"), event(event_id="7", agent="a"))
    assert seen.fates() == {"used": 1, "duplicates": 1}
    assert seen.codes == {"integer-name": 1}


def test_a_line_is_used_while_one_of_its_events_counts(tmp_path: Path) -> None:
    one, two = (json.dumps(event(event_id=name, agent=name)).encode() for name in "12")
    three = json.dumps(event(agent="3")).encode()
    seen = read_files(tmp_path, one + three + b"\n" + two + b"\n" + two + one + b"\n" + one + b"\n")
    assert seen.fates() == {"used": 2, "duplicates": 2}
    assert (seen.file.events, sorted(seen.column("agent"))) == (3, ["1", "2", "3"])
    seen = read_files(tmp_path, one + b"\n" + one + two + b"\n")
    assert seen.fates() == {"used": 1, "duplicates": 1}
    assert (seen.file.events, seen.column("event_no")) == (2, ["0", "1"])
    same = read_files(tmp_path, json.dumps(event(event_id="1", agent="a")).encode() + one + b"\n")
    assert (same.row["agent"], same.fates()) == ("a", {"used": 1})


def test_which_copy_of_an_event_counts_does_not_depend_on_the_order_of_the_lines(tmp_path: Path) -> None:
    shared = json.dumps(event(3, event_id="3", agent="x")).encode()
    opener = json.dumps(event(1, session_id="s", tool="Bash", phase="pre")).encode()
    closer = jsonl(event(2, session_id="s", tool="Bash", phase="post"))
    other = json.dumps(event(4, agent="y")).encode()
    lines = [opener + shared + b"\n", shared + other + b"\n", closer]
    fates = [read_files(tmp_path, b"".join(order)).fates() for order in (lines, lines[::-1], lines[1:] + lines[:1])]
    assert fates[0] == fates[1] == fates[2]


# Nothing later than as_of is seen


def test_later_events_are_not_seen(tmp_path: Path) -> None:
    seen = read(
        tmp_path,
        event(1, event_id="e", agent="now"),
        event(3, event_id="e", agent="later", cost=-1, run_id="later-run"),
        event(2, agent="edge"),
        {"agent": "undated"},
        event(4, note="no event"),
        as_of=datetime(2026, 5, 2, 9, 0, 2, tzinfo=UTC),
    )
    assert seen.column("agent") == ["now", "edge", "undated"]
    assert seen.fates() == {"used": 4, "not_cost": 1}
    assert (seen.file.events, seen.file.outside_period) == (3, 1)
    assert seen.codes == {"time-missing": 1}


# What repeats spend


def superseded(seen: Seen) -> list[str]:
    return [f"{notice.code} {notice.count}" for notice in seen.result.notices if notice.code.startswith("superseded")]


@pytest.mark.parametrize("opening", ["pre", "start", "dispatch", "BEGIN"])
def test_an_opener_with_a_closer_does_not_count(tmp_path: Path, opening: str) -> None:
    pair = [
        event(1, session_id="s", tool="Bash", phase=opening, est_tokens=5),
        event(2, session_id="s", tool="Bash", phase="post", est_tokens=50),
    ]
    for records in (pair, pair[::-1]):
        seen = read(tmp_path, *records)
        assert seen.row["total_tokens"] == "50"
        assert seen.fates() == {"used": 1, "superseded": 1}
        assert superseded(seen) == ["superseded-openers 1"]


@pytest.mark.parametrize(
    "closer",
    [
        event(2, session_id="t", tool="Bash", phase="post"),
        event(2, session_id="s", tool="Edit", phase="post"),
        event(0, session_id="s", tool="Bash", phase="post"),
        event(2, session_id="s", tool="Bash"),
        event(2, session_id="s", tool="Bash", phase="pre"),
        event(2, session_id="s", tool="Bash", phase="middle"),
    ],
)
def test_an_opener_without_its_closer_counts(tmp_path: Path, closer: dict[str, Any]) -> None:
    assert read(tmp_path, event(1, session_id="s", tool="Bash", phase="pre"), closer).fates() == {"used": 2}


def test_each_closer_closes_one_opener(tmp_path: Path) -> None:
    opener = {"session_id": "s", "tool": "Bash", "phase": "pre"}
    seen = read(tmp_path, event(1, **opener), event(2, **opener), event(3, **{**opener, "phase": "post"}))
    assert seen.fates() == {"used": 2, "superseded": 1}
    assert [row["event_time"][-9:-7] for row in seen.rows] == ["01", "03"]


def test_openings_without_a_session_are_told_apart_by_agent(tmp_path: Path) -> None:
    seen = read(
        tmp_path,
        event(1, agent="a", tool="Bash", phase="start", session_id="unknown"),
        event(2, agent="b", tool="Bash", phase="end", session_id="unknown"),
        event(3, agent="a", tool="Bash", phase="end", session_id="unknown"),
    )
    assert seen.column("agent") == ["b", "a"]


def test_an_estimate_followed_by_the_actual_does_not_count(tmp_path: Path) -> None:
    records = [
        event(1, session_id="s", cost=1, is_estimate=True),
        event(2, session_id="s", cost=2, is_estimate="true"),
        event(3, session_id="s", cost=3, is_estimate=False),
        event(4, session_id="s", cost=4, is_estimate=True),
        event(1, session_id="t", cost=5, is_estimate=True),
        event(1, cost=6, is_estimate=True),
        event(2, cost=7, is_estimate=False),
    ]
    for order in (records, records[::-1]):
        seen = read(tmp_path, *order)
        assert sorted(seen.column("cost_usd")) == ["3", "4", "5", "6", "7"]
        assert seen.fates() == {"used": 5, "superseded": 2}
        assert superseded(seen) == ["superseded-estimates 2"]
        assert sorted(row["cost_basis"] for row in seen.rows) == ["estimated"] * 3 + ["reported"] * 2


def stops(session: str = "s", **more: Any) -> list[dict[str, Any]]:
    """A session's running totals."""
    return [
        event(second, session_id=session, input_tokens=second * 100, output_tokens=second * 7, cost=second, **more)
        for second in (1, 2, 3, 4)
    ]


@pytest.mark.parametrize(
    "proof",
    [
        {"transcript_path": "/t/s.jsonl"},
        {"cumulative": True},
        {"type": "cumulative_usage"},
        {"aggregation": "running total"},
        {"temporality": "CUMULATIVE", "tool": "Stop"},
    ],
)
def test_of_proven_running_totals_the_last_counts(tmp_path: Path, proof: dict[str, Any]) -> None:
    records = [*stops("s", **proof), *stops("t", **proof)]
    for order in (records, records[::-1], records[::2] + records[1::2]):
        seen = read(tmp_path, *order)
        assert seen.column("cost_usd") == ["4", "4"]
        assert seen.fates() == {"used": 2, "superseded": 6}
        assert superseded(seen) == ["superseded-snapshots 6"]
        assert "looks-cumulative" not in seen.codes


def test_running_totals_that_fall_are_none(tmp_path: Path) -> None:
    records = stops("s", transcript_path="/t")
    records[3]["output_tokens"] = 1
    assert read(tmp_path, *records).fates() == {"used": 4}


def test_calls_of_tools_that_share_a_transcript_are_no_running_totals(tmp_path: Path) -> None:
    assert read(tmp_path, *stops("s", transcript_path="/t", tool="Bash")).fates() == {"used": 4}


def test_what_only_looks_like_running_totals_is_said(tmp_path: Path) -> None:
    for order in (stops(), stops()[::-1]):
        seen = read(tmp_path, *order)
        assert seen.fates() == {"used": 4}
        assert seen.codes == {"looks-cumulative": 1}
    falling = [event(n, session_id="t", cost=cost) for n, cost in enumerate((3, 1))]
    more = [event(n, session_id="u", cost=cost) for n, cost in enumerate((3, 1))]
    assert read(tmp_path, *stops(), *falling, *more).codes == {}
    assert read(tmp_path, *stops()[:2]).codes == {}
    assert read(tmp_path, *[{**row, "session_id": None, "run_id": "r"} for row in stops()]).codes == {}
    assert read(tmp_path, *[event(n, session_id="s", cost=1) for n in range(9)]).codes == {}


def test_a_setting_decides_about_running_totals(tmp_path: Path) -> None:
    assert read(tmp_path, *stops(), cumulative="always").column("cost_usd") == ["4"]
    assert read(tmp_path, *stops("s", cumulative=True), cumulative="never").fates() == {"used": 4}
    assert read(tmp_path, *stops(), cumulative="never").codes == {}


@pytest.mark.parametrize(
    "record",
    [
        {"type": "session_summary", "session_id": "s", "cost_usd": 5},
        {"event": "RunTotal", "agent": "a", "cost_usd": 5},
        {"type": "daily-rollup", "cost": 5},
        {"type": "x", "payload": {"type": "summary", "cost": 5}},
        {"agent": "a", "total_input_tokens": 5, "total_output_tokens": 6, "total_cost_usd": 7},
        {"totalInputTokens": 5, "totalCostUsd": 7},
        {"session_id": "s", "total_tokens": 5, "total_cost_usd": 7},
    ],
)
def test_summaries_do_not_count(tmp_path: Path, record: dict[str, Any]) -> None:
    seen = read(tmp_path, event(**record))
    assert (seen.fates(), seen.codes) == ({"not_cost": 1}, {"summary-rows": 1})


@pytest.mark.parametrize(
    "record",
    [
        {"type": "summarize", "cost": 5},
        {"event": "totally", "cost": 5},
        {"agent": "a", "total_tokens": 5},
        {"total_cost_usd": 5},
        {"agent": "a", "total_tokens": 5, "total_cost_usd": 7},
        {"agent": "a", "total_input_tokens": 5, "cost_usd": 7},
        {"agent": "a", "total_steps": 3, "total_tokens": 7},
    ],
)
def test_events_with_a_total_do_count(tmp_path: Path, record: dict[str, Any]) -> None:
    assert read(tmp_path, event(**record)).fates() == {"used": 1}


# Other formats among cost events


def transcript(uuid: str, second: int, output: int, message_id: str | None = "msg_1", **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 2, "cache_creation_input_tokens": 8655, "cache_read_input_tokens": 15030}
    message = {"model": "claude-x", "content": [{"type": "tool_use", "name": "Bash"}]}
    if message_id:
        message["id"] = message_id
    return {
        "type": "assistant",
        "uuid": uuid,
        "isSidechain": False,
        "sessionId": "S",
        "cwd": "/home/joe/docs",
        "timestamp": f"2026-05-02T09:14:{second:02d}.399Z",
        "message": {**message, "usage": {**usage, "output_tokens": output}},
        **more,
    }


def test_a_transcript_counts_each_message_once(tmp_path: Path) -> None:
    records = [
        transcript("u1", 1, 1),
        transcript("u2", 2, 211),
        transcript("u3", 3, 40),
        transcript("u4", 4, 7, "msg_2", isSidechain=True, agentId="a77"),
        transcript("u5", 5, 8, None, isSidechain=True),
        transcript("u6", 6, 9, "msg_6", sessionId="copy"),
    ]
    for order in (records, records[::-1]):
        seen = read_files(tmp_path, jsonl(*order), jsonl(transcript("u9", 2, 211, sessionId="copy")))
        rows = sorted((row["agent"], row["output_tokens"], row["tool_name"], row["pipeline"]) for row in seen.rows)
        assert rows == [
            ("a77", "7", "Bash", "docs"),
            ("main", "211", "Bash", "docs"),
            ("main", "9", "Bash", "docs"),
            ("subagent", "8", "Bash", "docs"),
        ]
        assert {row["total_tokens"] for row in seen.rows if row["output_tokens"] == "211"} == {
            str(2 + 211 + 8655 + 15030)
        }
        assert sum(fates.get("duplicates", 0) for fates in (seen.fates(0), seen.fates(1))) == 3


def test_other_lines_of_a_transcript_are_no_spend(tmp_path: Path) -> None:
    common = {"uuid": "u", "sessionId": "S", "isSidechain": False, "timestamp": "2026-05-02T09:14:07Z"}
    records = [
        {**common, "type": "user", "message": {"role": "user", "content": "hi"}, "toolUseResult": {"totalTokens": 9}},
        {**common, "type": "system", "subtype": "turn_duration", "durationMs": 5},
        {**common, "type": "progress", "data": {"agentId": "x", "message": {"usage": {"input_tokens": 9}}}},
        {"type": "summary", "summary": "text", "leafUuid": "u"},
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        {"type": "queue-operation", "operation": "enqueue", "sessionId": "S"},
        {"type": "cost-state", "sessionId": "S", "totalCostUSD": 5},
        {"type": "result", "subtype": "success", "session_id": "S", "total_cost_usd": 5, "usage": {"input_tokens": 4}},
        transcript("u1", 1, 0, message={"model": "<synthetic>", "usage": {"input_tokens": 0}}),
        transcript("u2", 1, 5, isApiErrorMessage=True),
    ]
    seen = read(tmp_path, *records)
    assert seen.fates() == {"not_cost": len(records)}
    assert seen.codes == {"transcript-repeats": 3, "api-errors": 1}


def test_a_file_in_which_no_key_is_known_is_told_once(tmp_path: Path) -> None:
    strange = {"when": "2026-05-02T09:14:07Z", "who": "a", "toks": {"prompt": 3}, "price": 1}
    seen = read(tmp_path, strange, strange)
    assert (seen.fates(), seen.codes) == ({"not_cost": 2}, {"no-events": 2})
    # Where one line is an event, the others are what they are.
    assert read(tmp_path, strange, {"agent": "a", "cost_usd": 1}).codes.keys() == {"time-missing"}


@pytest.mark.parametrize("root", ["resourceLogs", "resourceMetrics"])
def test_an_otlp_line_is_named_and_not_read(tmp_path: Path, root: str) -> None:
    seen = read(tmp_path, {root: [{"scopeSpans": []}], "agent": "a"})
    assert (seen.fates(), seen.codes) == ({"not_cost": 1}, {"otlp-not-read": 1})
    assert "OpenTelemetry" in seen.result.notices[0].message


def test_flat_spans_count_without_their_parents(tmp_path: Path) -> None:
    def span(operation: str, tokens: int) -> dict[str, Any]:
        attributes = {"gen_ai.operation.name": operation, "gen_ai.usage.input_tokens": tokens, "gen_ai.agent.name": "w"}
        return {"name": operation, "startTimeUnixNano": "1777713247557123456", "attributes": attributes}

    seen = read(tmp_path, span("invoke_agent", 30), span("chat", 10), span("chat", 20))
    assert seen.column("input_tokens") == ["10", "20"]
    assert set(seen.column("event_time")) == {"2026-05-02 09:14:07.557123"}
    assert (seen.fates(), seen.codes) == ({"used": 2, "not_cost": 1}, {"otel-parent-spans": 1})
