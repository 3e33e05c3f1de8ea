"""Formats that SQL reads: recognised line by line, read together, accounted for; transcripts with the truth known."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar

import pytest
from event_world import Seen, jsonl, read, read_files
from hypothesis import given
from hypothesis import strategies as st
from project import built

from reportgen.checking import check
from reportgen.errors import ReportgenError
from reportgen.formatcheck import format_problems
from reportgen.formatfile import find_formats
from reportgen.formattest import run_all
from reportgen.inputs.events import read_events
from reportgen.inputs.formats import LONGEST_TEXT, Formats, pruner
from reportgen.inputs.records import NumberText
from reportgen.inputs.sources import Source
from reportgen.names import Names
from reportgen.resources import resource_dir
from reportgen.warehouse import Limits

DOCS = (Path(__file__).parent.parent / "docs" / "sources.md").read_text(encoding="utf-8")
_SAVED = re.compile(r"Save this as `([^`]+)`:\n\n(`{3,4})\w+\n(.*?)^\2$", re.MULTILINE | re.DOTALL)


def message(session: str, ident: str | None, output: int, at: str = "09:00:00", **more: Any) -> dict[str, Any]:
    inner = {"model": "m", "usage": {"input_tokens": 1, "output_tokens": output}, **({"id": ident} if ident else {})}
    return {
        "type": "assistant", "uuid": f"{session}{ident}{output}", "sessionId": session, "isSidechain": False,
        "cwd": "/srv/secret/docs", "timestamp": f"2026-05-02T{at}Z", "message": inner, **more,
    }  # fmt: skip


def test_the_built_in_formats_pass_their_tests_and_the_check(tmp_path: Path) -> None:
    run = run_all(tmp_path, ["claude_code", "codex", "opencode", "otlp_genai"])
    assert run.passed, [result.message for result in run.results]
    assert len(run.results) >= 9
    assert not [problem for problem in check(None) if "formats" in problem.path]


def test_the_format_of_the_docs_works(tmp_path: Path) -> None:
    saved = {name: text for name, _, text in _SAVED.findall(DOCS)}
    assert set(saved) == {"sql/formats/steps.sql", "sql/formats/steps.test.md"}
    for name, text in saved.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    run = run_all(tmp_path, ["steps"])
    assert (run.count("passed"), run.passed) == (1, True), run
    assert not check(tmp_path)
    (tmp_path / "cost-events.jsonl").write_bytes(
        jsonl(
            {"ev": "begin", "step": "s1", "worker": "planner", "at": "2026-11-02T09:00:00Z"},
            {"agent": "writer", "total_tokens": 5},
            {"ev": "end", "step": "s1", "model": "acme-1", "use": {"in": 12, "out": 3}, "at": "2026-11-02T09:00:04Z"},
        )
    )
    report = built(tmp_path)
    # It is shown with the SQL that the report stands on; a built-in one is where its tool was asked for.
    assert [one["file"] for one in report["sql"] if one["kind"] == "formats"] == ["sql/formats/steps.sql"]
    assert "id=steps>" in (tmp_path / "site" / "sql" / "formats.html").read_text("utf-8")
    assert {(a["agent"], a["events"]) for a in report["agents"]} == {("planner", 1), ("writer", 1)}
    assert {key: report["inputs"][0][key] for key in ("lines", "used", "not_cost", "events")} == {
        "lines": 3, "used": 2, "not_cost": 1, "events": 2
    }  # fmt: skip


# What a line is, each for itself


def test_a_file_may_mix_formats(tmp_path: Path) -> None:
    seen = read(
        tmp_path,
        {"agent": "flat", "cost_usd": 1},
        message("S", "m1", 5),
        {"type": "user", "uuid": "u", "sessionId": "S", "message": {"role": "user", "content": "hi"}},
        {"agent": "flat", "cost_usd": 2},
        message("S", "m1", 4),
    )
    assert sorted((row["line_no"], row["agent"]) for row in seen.rows) == [("1", "flat"), ("2", "main"), ("4", "flat")]
    assert seen.fates() == {"used": 3, "not_cost": 1, "duplicates": 1}


def test_two_formats_on_one_line_share_its_fate(tmp_path: Path) -> None:
    line = json.dumps({"event_id": "e", "agent": "flat", "cost_usd": 1}) + json.dumps(message("S", "m1", 5))
    torn = json.dumps(message("S", "m2", 7))[:60] + json.dumps(message("S", "m3", 8))
    seen = read_files(tmp_path, f"{line}\n{torn}\n{json.dumps(message('S', 'm1', 3))}\n".encode())
    assert [(row["line_no"], row["agent"], row["output_tokens"]) for row in seen.rows] == [
        ("1", "flat", ""), ("1", "main", "5"), ("2", "main", "8"),
    ]  # fmt: skip
    assert (seen.fates(), seen.file.events, seen.file.broken_parts) == ({"used": 2, "duplicates": 1}, 3, 1)


def test_odd_usage_is_unknown_with_a_remark(tmp_path: Path) -> None:
    odd = {
        "model": 7,
        "id": "m1",
        "usage": {"input_tokens": "x", "output_tokens": 2.5, "cache_read_input_tokens": True},
    }
    seen = read(tmp_path, message("S", "m", 1) | {"message": odd})
    assert (seen.row["input_tokens"], seen.row["output_tokens"], seen.row["model"]) == ("", "", "7")
    assert seen.codes == {"tokens-unusable": 3}


def test_nothing_later_than_as_of_is_seen(tmp_path: Path) -> None:
    lines = [message("S", "m1", 5), message("S", "m1", 9, "11:00:00"), message("S", "m2", 7, "12:00:00")]
    seen = read(tmp_path, *lines, as_of=datetime(2026, 5, 2, 10, tzinfo=UTC))
    assert [row["output_tokens"] for row in seen.rows] == ["5"]
    assert (seen.fates(), seen.file.outside_period) == ({"used": 3}, 2)


def test_errors_of_the_api_are_counted_apart(tmp_path: Path) -> None:
    lines = [
        message("S", "m1", 5, isApiErrorMessage=True, error="rate_limit"),
        message("S", "m2", 5, isApiErrorMessage=True, error="server_error"),
        *({"type": "system", "subtype": "api_error", "uuid": "u", "sessionId": "S", "error": error} for error in (
            {"status": 429},
            {"error": {"error": {"type": "rate_limit_error", "message": "x"}}},
            # Overloaded, and tried again: no limit of anybody's.
            {"status": 529, "error": {"error": {"type": "overloaded_error"}}},
            # What is no status is no status.
            {"status": 500, "requestID": "req_011CV429abc", "error": {"message": "of 429 no word"}},
        )),
    ]  # fmt: skip
    seen = read(tmp_path, *lines)
    assert seen.fates() == {"not_cost": 6}
    assert {code: count for code, count in seen.codes.items() if code.startswith("api-")} == {
        "api-errors": 1, "api-rate-limits": 3, "api-retries": 2,
    }  # fmt: skip


def test_only_what_a_format_names_is_kept_and_long_texts_are_cut() -> None:
    record = {"a": {"b": ["x" * 5000, {"c": NumberText("1.50"), "d": "secret"}], "e": None}, "f": True, "g": 'q"\n'}
    kept = json.loads(pruner({"a": {"b": {"c": {}}}, "f": {}, "g": {}})(record), parse_float=str)
    assert kept == {"a": {"b": ["x" * LONGEST_TEXT, {"c": "1.50"}]}, "f": True, "g": 'q"\n'}
    assert json.loads(pruner({"a": {}})(record))["a"]["b"][1]["d"] == "secret"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.sampled_from("abcd"), below, max_size=4),
    max_leaves=12,
)
_TREE: Any = st.recursive(
    st.just({}), lambda below: st.dictionaries(st.sampled_from("abc"), below, max_size=3), max_leaves=8
)


def kept_of(value: Any, keys: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [kept_of(one, keys) for one in value]
    if isinstance(value, dict):
        return {key: kept_of(one, keys.get(key, {})) for key, one in value.items() if not keys or key in keys}
    return value


@given(keys=_TREE, records=st.lists(_JSON, max_size=4))
def test_a_pruner_remembers_nothing_but_how_keys_are_chosen(keys: dict[str, Any], records: list[Any]) -> None:
    prune = pruner(keys)
    # The same one for many records, each of which may have the keys of another.
    assert [json.loads(prune(record)) for record in records] == [kept_of(record, keys) for record in records]


ODD: tuple[object, ...] = (
    None, True, 0, -1, 10**30, "", "x", [], {}, [1, "a", None, {}], {"a": {"b": 1}}, "2026-05-02T09:00:00Z", "\x00", "a\\b/",
    "9" * 40, 1.5, [[]], {"type": "tool_use"},
)  # fmt: skip


def hurt(value: Any, chance: random.Random) -> Any:
    if chance.random() < 0.06:
        return chance.choice(ODD)
    if isinstance(value, dict):
        return {(key if chance.random() > 0.03 else f"{key}x"): hurt(one, chance) for key, one in value.items()}
    return [hurt(one, chance) for one in value] if isinstance(value, list) else value


def test_no_record_stops_a_reading(tmp_path: Path) -> None:
    """Lines of the formats' own tests, with values and keys at random in place of theirs: each has its fate."""
    chance = random.Random(3)
    texts = [path.read_text(encoding="utf-8") for path in resource_dir("sql").glob("formats/*.test.md")]
    blocks = [block for text in texts for block in re.findall(r"```jsonl\n(.*?)```", text, re.DOTALL)]
    records = [json.loads(line) for block in blocks for line in block.splitlines()]
    lines = [[hurt(chance.choice(records), chance) for _ in range(200)] for _ in range(3)]
    seen = read_files(tmp_path, *(jsonl(*some) for some in lines))
    for file, some in zip(seen.result.files, lines, strict=True):
        assert file.lines == len(some)
        assert file.rejected == sum(not isinstance(one, dict) for one in some)
        assert file.used


# A project's own


def own(project: Path, front: str, select: str) -> Path:
    path = project / "sql" / "formats" / "mine.sql"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"/*---\ntitle = 'Mine'\n{front}---*/\n{select}\n")
    return path


GIVES = "select file_no, line_no, part, record ->> '$.who' as agent from lines"
MINE = 'keys = ["who"]\n[[recognised]]\nmine = true\n'


@pytest.mark.parametrize(
    ("front", "select", "what"),
    [
        ("kees = []\n", GIVES, "did you mean 'keys'"),
        ('keys = ["a"]\n', GIVES, "needs 'recognised'"),
        ('keys = ["a"]\n[[recognised]]\nmine = 3\n', GIVES, "is no condition"),
        ('keys = ["a"]\n[[recognised]]\nmine = false\n', GIVES, "names nothing that must be there"),
        ('keys = ["a..b"]\n[[recognised]]\nmine = true\n', GIVES, "no path"),
        (MINE + '[[once]]\nkey = "id"\n', GIVES, "gives no column 'id'"),
        (MINE + '[[once]]\nkey = "agent"\nkeep = ["agent dsc"]\n', GIVES, "did you mean 'desc'"),
        (MINE + '[[once]]\nkey = "agent"\nothers = "gone"\n', GIVES, "duplicate or superseded"),
        (MINE + "[notes.x]\nmany = 'n'\n", GIVES, "does not say what one is"),
        (MINE, GIVES.replace("as agent", "as agnet"), "did you mean 'agent'"),
        (MINE, "select file_no, line_no, part from read_csv('/etc/passwd')", ""),
        (MINE, "select 1; select 2", "exactly one SELECT"),
        (MINE, GIVES.replace("select ", "select 1 as agent, ", 1), "gives two columns 'agent'"),
    ],
)
def test_what_is_wrong_with_a_format_is_said(tmp_path: Path, front: str, select: str, what: str) -> None:
    own(tmp_path, front, select)
    found = [problem for problem, is_error in format_problems(tmp_path) if is_error]
    assert found
    assert all(problem.where.startswith("sql/formats/mine.sql") for problem in found)
    assert what in " ".join(problem.what for problem in found)
    path = tmp_path / "e.jsonl"
    path.write_bytes(jsonl({"mine": 1, "who": "w"}))
    with pytest.raises(ReportgenError) as caught:
        read_events([Source(path, "e.jsonl", "events")], tmp_path / "out.csv", Names(), project=tmp_path)
    assert caught.value.where.startswith("sql/formats/mine.sql")


@pytest.mark.parametrize(
    "place",
    ["null as file_no, line_no, part", "file_no, null as line_no, part", "9 as file_no, line_no, part",
     "'x' as file_no, line_no, part", "file_no, line_no + 1000 as line_no, part", "file_no, line_no, part + 1 as part",
     "file_no, line_no + range as line_no, part"],
)  # fmt: skip
def test_a_format_gives_events_of_its_own_lines_only(tmp_path: Path, place: str) -> None:
    own(tmp_path, MINE, f"select {place}, 'w' as agent from lines, range(2)")
    path = tmp_path / "e.jsonl"
    path.write_bytes(jsonl({"mine": 1}, {"agent": "other", "total_tokens": 1}))
    with pytest.raises(ReportgenError, match="none of its lines is there") as caught:
        read_events([Source(path, "e.jsonl", "events")], tmp_path / "out.csv", Names(), project=tmp_path)
    assert (caught.value.where, caught.value.exit_code) == ("sql/formats/mine.sql", 2)


def test_a_format_of_ones_own_that_never_ends_is_stopped(tmp_path: Path) -> None:
    own(tmp_path, MINE, "select *, (select sum(a.range * b.range) from range(100000) a, range(1000000) b) as cost_usd"
        " from (select file_no, line_no, part from lines)")  # fmt: skip
    folder = tmp_path / "between"
    folder.mkdir()
    formats = Formats(find_formats(tmp_path), folder, limits=Limits(seconds=1))
    formats.begin(tmp_path / "e.jsonl")
    (mine,) = [one for one in formats.formats if one.file.id == "mine"]
    formats.add(mine, {"mine": 1}, 0, 1, 0)
    with pytest.raises(ReportgenError, match=r"stopped after 1 s .*detector_seconds") as caught:
        formats.read()
    assert caught.value.where.startswith("sql/formats/mine.sql")


def test_moments_are_utc_wherever_the_machine_stands(tmp_path: Path) -> None:
    own(tmp_path, MINE, "select file_no, line_no, part, 'w' as agent, timestamptz '2026-05-02 09:00:00+02' as event_time"
        " from lines")  # fmt: skip
    (tmp_path / "e.jsonl").write_bytes(jsonl({"mine": 1}))
    code = "import sys; from pathlib import Path; from reportgen.inputs.events import read_events; from reportgen.names import Names; from reportgen.inputs.sources import Source; home = Path(sys.argv[1]); read_events([Source(home / 'e.jsonl', 'e.jsonl', 'events')], home / 'out.csv', Names(), project=home)"  # fmt: skip
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, env=os.environ | {"TZ": "America/New_York"})
    assert "2026-05-02 07:00:00" in (tmp_path / "out.csv").read_text()


def test_a_value_that_can_not_be_read_is_told_with_its_format(tmp_path: Path) -> None:
    file = own(tmp_path, MINE, GIVES.replace("as agent", "as agent, interval '10 years' * 1000000 as duration_ms"))
    path = tmp_path / "e.jsonl"
    path.write_bytes(jsonl({"mine": 1, "who": "w"}))
    with pytest.raises(ReportgenError, match="a value that can't be read") as caught:
        read_events([Source(path, "e.jsonl", "events")], tmp_path / "out.csv", Names(), project=tmp_path)
    assert caught.value.where == f"sql/formats/{file.name}"


def test_a_project_takes_the_place_of_a_built_in_format(tmp_path: Path) -> None:
    own(tmp_path, MINE, GIVES).rename(tmp_path / "sql" / "formats" / "claude_code.sql")
    formats = find_formats(tmp_path)
    assert [(one.file.id, one.title) for one in formats] == [
        ("claude_code", "Mine"), ("codex", "Codex sessions"), ("opencode", "opencode sessions"),
        ("otlp_genai", "OpenTelemetry GenAI spans"),
    ]  # fmt: skip


# Transcripts with the truth known


class World:
    """Random sessions of Claude Code with subagents, repeats, resumed copies, forks and noise; and what they cost."""

    PRICES: ClassVar = {"claude-haiku-4-5": (1, "1.25", 2, "0.1", 5), "claude-opus-4-5": (5, "6.25", 10, "0.5", 25)}

    def __init__(self, seed: int, home: Path) -> None:
        self.random = random.Random(seed)
        self.truth: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
        self.agents: dict[str, int] = defaultdict(int)
        #: By model and day: tokens of input, written for 5 minutes and for an hour, read, and of output; messages.
        self.tokens: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * 6)
        self.home = home
        self.count = 0
        for number in range(4):
            self._session(f"s{number}", datetime(2026, 5, 1 + number, 23, 50, tzinfo=UTC))

    def _session(self, session: str, at: datetime) -> None:
        lines: list[dict[str, Any]] = [{"type": "summary", "summary": "x", "leafUuid": "l"}]
        for _ in range(self.random.randint(3, 6)):
            at += timedelta(minutes=4)
            lines += self._message(session, at, "main")
            lines.append({"type": "user", "uuid": f"q{self.count}", "sessionId": session, "cwd": "/home/joe/Shop",
                          "timestamp": f"{at:%Y-%m-%dT%H:%M:%S}.000Z", "message": {"role": "user", "content": "joe@example.com"}})  # fmt: skip
        kind = self.random.choice(["Explore", "Plan"])
        call = {"type": "tool_use", "id": f"t{session}", "name": "Task", "input": {"subagent_type": kind}}
        lines += self._message(session, at, "main", call)
        lines.append({"type": "user", "uuid": f"r{session}", "sessionId": session, "timestamp": f"{at:%Y-%m-%dT%H:%M:%S}.000Z",
                      "message": {"content": [{"type": "tool_result", "tool_use_id": f"t{session}"}]},
                      "toolUseResult": {"agentId": f"a{session}", "totalTokens": 10**9}})  # fmt: skip
        inner = [line for _ in range(3) for line in self._message(session, at, kind, isSidechain=True,
                                                                    agentId=f"a{session}")]  # fmt: skip
        self._put(f"{session}/subagents/agent-a{session}.jsonl", inner)
        self._put(f"{session}.jsonl", lines)
        # Resumed later, under another id: everything so far is copied, and one response is new.
        resumed = [line | ({"sessionId": f"{session}-again"} if "sessionId" in line else {}) for line in lines]
        later = self._message(f"{session}-again", at + timedelta(hours=1), "main")
        self._put(f"{session}-again.jsonl", resumed + later)

    def _message(self, session: str, at: datetime, agent: str, block: Any = None, **more: Any) -> list[dict[str, Any]]:
        self.count += 1
        model = self.random.choice(list(self.PRICES))
        numbers = [self.random.choice([0, 7, 999, 12_345]) for _ in range(4)]
        output = self.random.randint(2, 900)
        fresh, write, long, reads = numbers
        usage = {
            "input_tokens": fresh, "cache_creation_input_tokens": write + long, "cache_read_input_tokens": reads,
            "cache_creation": {"ephemeral_5m_input_tokens": write, "ephemeral_1h_input_tokens": long},
        }  # fmt: skip
        price = [Decimal(one) for one in self.PRICES[model]]
        cost = (
            sum((p * n for p, n in zip(price, (fresh, write, long, reads, output), strict=True)), Decimal(0))
            / 1_000_000
        )
        self.truth[model, f"{at:%Y-%m-%d}"] += cost
        sums = self.tokens[model, f"{at:%Y-%m-%d}"]
        sums[:] = [a + b for a, b in zip(sums, (fresh, write, long, reads, output, 1), strict=True)]
        self.agents[agent] += 1
        return [
            {
                "type": "assistant", "uuid": f"u{self.count}-{step}", "sessionId": session, "isSidechain": False,
                "cwd": "/home/joe/Shop", "timestamp": f"{at:%Y-%m-%dT%H:%M:%S}.000Z", "requestId": f"req{self.count}",
                "message": {"id": f"msg{self.count}", "model": model, "content": [block] if block else [],
                            "usage": {**usage, "output_tokens": shown}}, **more,
            }
            for step, shown in enumerate([1, output, output][: self.random.randint(2, 3)])
        ]  # fmt: skip

    def _put(self, name: str, lines: list[dict[str, Any]]) -> None:
        noise = [{"type": "assistant", "uuid": "z", "sessionId": "s", "timestamp": "2026-05-02T00:00:00Z",
                  "message": {"id": "zz", "model": "<synthetic>", "usage": {"output_tokens": 0}}}]  # fmt: skip
        path = self.home / "projects" / "-home-joe-Shop" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(jsonl(*lines, *noise))


def test_a_new_user_has_a_report_whose_totals_are_the_truth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By model and day to the last digit; nothing of prompts, paths or addresses is in anything that is written."""
    from reportgen.building import build
    from reportgen.querying import run_query

    world = World(7, tmp_path / "claude")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    here = tmp_path / "here"
    here.mkdir()
    result = build(here, source=["claude-code"])
    assert result.site == here / "site"
    rows = run_query(
        here, "select model, cast(cast(event_time as date) as varchar), sum(cost_usd) from events group by all"
    ).rows
    assert {(model, day): cost for model, day, cost in rows} == dict(world.truth)
    (pipeline,) = result.report.pipelines
    assert (pipeline.pipeline, pipeline.cost_measure, pipeline.cost_coverage) == ("Shop", "usd", 1)
    assert {agent.agent: agent.events for agent in result.report.agents} == dict(world.agents)
    for path in here.rglob("*"):
        if path.is_file() and path.suffix in (".html", ".md", ".json", ".csv", ".duckdb"):
            data = path.read_bytes()
            assert not any(word in data for word in (b"joe", b"example.com", b"-home-")), path


def test_totals_agree_with_ccusage(tmp_path: Path) -> None:
    """The same files through ccusage: by day and model, every token is the truth's, but for what is told here.

    - Output: of the lines of one message, ccusage 18 counts the first that it reads (here always 1 token); the truth,
      and reportgen, count the fullest. Later versions may do so, too: then it is the truth's.
    - Cost: what is written into the cache for an hour costs twice the input. ccusage 18 takes the price of 5 minutes,
      1.25 times the input. With its output, and either price, its dollars are exactly ours.
    - A message of a resumed session may be told under another session: the sums over all, compared here, are the same.
    """
    # Of the version that the script brings: others explain their numbers otherwise.
    ccusage = Path(sys.prefix) / "node_modules" / ".bin" / "ccusage"
    if not ccusage.exists():
        pytest.skip("ccusage is not there: npm is absent, or could not bring it (tests/need_ccusage.sh)")
    world = World(7, tmp_path / "claude")
    environment = {**os.environ, "CLAUDE_CONFIG_DIR": str(tmp_path / "claude"), "TZ": "UTC"}
    told = subprocess.run(
        [ccusage, "daily", "--json", "--offline", "--timezone", "UTC"],
        env=environment, capture_output=True, check=True, text=True,
    ).stdout  # fmt: skip
    seen = {(one["modelName"], day["date"]): one for day in json.loads(told)["daily"] for one in day["modelBreakdowns"]}
    assert seen.keys() == world.tokens.keys() == world.truth.keys()
    for key, (fresh, write, long, reads, output, messages) in world.tokens.items():
        one = seen[key]
        names = ("inputTokens", "cacheCreationTokens", "cacheReadTokens")
        assert [one[name] for name in names] == [fresh, write + long, reads], key
        assert one["outputTokens"] in (messages, output), key
        price = [Decimal(part) for part in World.PRICES[key[0]]]
        missing = (output - one["outputTokens"]) * price[4]
        cheaper = long * (price[2] - price[1])
        theirs = Decimal(str(one["cost"])).quantize(Decimal("1e-12"))
        assert theirs in {world.truth[key] - (missing + less) / 1_000_000 for less in (cheaper, 0)}, key


def rows_of(seen: Seen) -> list[tuple[str, str]]:
    return sorted((row["run"], row["output_tokens"]) for row in seen.rows)


def test_whatever_order_files_come_in_a_message_stays_with_its_first_session(tmp_path: Path) -> None:
    first = jsonl(message("A", "m1", 5), message("A", "m2", 6, "09:01:00"))
    again = jsonl(message("B", "m1", 5), message("B", "m2", 6, "09:01:00"), message("B", "m3", 7, "10:00:00"))
    for files in ((first, again), (again, first)):
        assert rows_of(read_files(tmp_path, *files)) == [("A", "5"), ("A", "6"), ("B", "7")]
