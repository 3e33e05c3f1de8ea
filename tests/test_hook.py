"""hook.py: what a tool call of Claude Code becomes, where it goes, and that nothing here ever fails the caller."""

from __future__ import annotations

import fcntl
import gzip
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from feedback_help import HEAD
from hypothesis import given, settings
from hypothesis import strategies as st
from project import built

from reportgen import hook
from reportgen.__main__ import main as reportgen
from reportgen.redact import redact

HOOK = (sys.executable, "-B", "-m", "reportgen", "hook", "post-tool-use")
DOCS = Path(__file__).parent.parent / "docs" / "hooks.md"
NOW = 1_793_697_247.25  # 2026-11-03T09:14:07.250Z
#: Put together here so that no scanner takes this file for a leak.
TOKEN = "gh" + "p_" + "a1B2" * 9

#: As the public reference of Claude Code's hooks shows them.
TOLD: dict[str, Any] = {
    "session_id": "00893aaf-19fa-41d2-8238-13269b9b3ca0",
    "transcript_path": "/somewhere/00893aaf.jsonl",
    "permission_mode": "default",
    "hook_event_name": "PostToolUse",
    "tool_name": "Write",
    "tool_input": {"file_path": "notes.md", "content": "secret plans"},
    "tool_response": {"filePath": "notes.md", "type": "create"},
    "tool_use_id": "toolu_01ABC123",
    "duration_ms": 12,
}
FAILED = TOLD | {
    "hook_event_name": "PostToolUseFailure",
    "tool_name": "Bash",
    "tool_use_id": "toolu_02",
    "error": "Exit code 1\nError: Cannot find module 'express'",
    "is_interrupt": False,
    "duration_ms": 4187,
}
EVENT = {
    "timestamp": "2026-11-03T09:14:07.250Z",
    "event_id": "toolu_01ABC123",
    "agent": "main",
    "pipeline": "shop",
    "run_id": "00893aaf-19fa-41d2-8238-13269b9b3ca0",
    "tool_name": "Write",
    "duration_ms": 12,
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / "budget").mkdir(parents=True)
    (folder / "budget" / "cost-events.jsonl").touch()
    return folder


def event(told: Mapping[str, object] = TOLD, /, **changed: object) -> dict[str, object]:
    return hook.event_of({**told, **changed}, NOW, "shop")


def call(told: object, *args: str, environ: Mapping[str, str] | None = None, log: Path | None = None) -> int:
    """One call within this process, its input in a pipe."""
    data = told if isinstance(told, bytes) else json.dumps(told).encode()
    more = ("--log", str(log)) if log else ()
    with tempfile.TemporaryFile() as stdin:
        stdin.write(data)
        stdin.seek(0)
        return hook.main(
            ["post-tool-use", *args, *more], stdin=stdin.fileno(), clock=lambda: NOW, environ=environ or {}
        )


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("ascii").splitlines()]


# --- the event ------------------------------------------------------------------------------------------------------


def test_a_tool_call_is_an_event_with_what_is_known_and_nothing_else() -> None:
    assert event() == EVENT


def test_a_failed_call_keeps_the_first_line_of_its_error() -> None:
    assert event(FAILED) == EVENT | {
        "event_id": "toolu_02",
        "tool_name": "Bash",
        "duration_ms": 4187,
        "error": "Exit code 1",
    }
    assert event(FAILED, error="  \n")["error"] == "failed"
    assert event(FAILED, error=None)["error"] == "failed"
    assert "error" not in event()


@pytest.mark.parametrize(
    ("told", "agent"),
    [
        ({}, "main"),
        ({"agent_id": "a4e4a1bc", "agent_type": "Explore"}, "Explore"),
        ({"agent_type": "security-reviewer"}, "security-reviewer"),  # a session with --agent
        ({"agent_id": "a4e4a1bc"}, "a4e4a1bc"),
        ({"agent_id": "a4e4a1bc", "agent_type": ""}, "a4e4a1bc"),
        ({"agent_type": 7}, "main"),
    ],
)
def test_the_agent_is_the_subagents_type_else_its_id_else_main(told: dict[str, object], agent: str) -> None:
    assert event(**told)["agent"] == agent


@pytest.mark.parametrize("value", [True, -1, float("nan"), float("inf"), "12", None, 1e12, [1]])
def test_what_is_no_duration_is_left_out(value: object) -> None:
    assert "duration_ms" not in event(duration_ms=value)


@pytest.mark.parametrize("value", [0, 12, 0.5])
def test_a_duration_is_kept_as_it_is(value: float) -> None:
    assert event(duration_ms=value)["duration_ms"] == value


@pytest.mark.parametrize("value", [None, "", 7, "a b", "x" * 201, f"id-{TOKEN}"])
def test_an_id_that_could_be_two_calls_is_left_out(value: object) -> None:
    assert "event_id" not in event(tool_use_id=value)


@pytest.mark.parametrize("value", [None, "", " \n", 7, ["Bash"], "\x00"])
def test_without_a_tool_there_is_no_event(shop: Path, value: object, capfd: pytest.CaptureFixture[str]) -> None:
    assert call(TOLD | {"cwd": str(shop), "tool_name": value}) == 0
    assert lines(shop / "budget" / "cost-events.jsonl") == []
    assert "no tool" in capfd.readouterr().err


def test_secrets_and_addresses_never_reach_the_file(shop: Path) -> None:
    told = FAILED | {
        "cwd": str(shop),
        "agent_type": "joe@example.org",
        "tool_name": f"mcp__x__{TOKEN}",
        "error": f"Exit code 1: curl https://joe:hunter22@example.org/ > /home/joe/x\n{TOKEN}",
    }
    call(told)
    text = (shop / "budget" / "cost-events.jsonl").read_text("ascii")
    for secret in (TOKEN, "joe@", "hunter22", "/home/joe", "secret plans", "transcript", "notes.md"):
        assert secret not in text
    (row,) = lines(shop / "budget" / "cost-events.jsonl")
    assert row["agent"].startswith("[e-mail ")
    assert event(agent_type="joe@example.org")["agent"] != event(agent_type="ann@example.org")["agent"]


def test_names_are_one_line_of_bounded_text() -> None:
    row = event(tool_name=" a\n\tb\x00\ud83d ", agent_type="x" * 10_000_000)
    assert row["tool_name"] == "a b\ufffd"
    assert row["agent"] == "x" * 200


VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.text(), max_size=2))


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from([*TOLD, "agent_id", "agent_type", "error", "model", "cwd"]), VALUES))
def test_any_json_gives_one_whole_line_or_none(changed: dict[str, object]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.jsonl"
        told = json.dumps(TOLD | {"agent_type": "Explore"} | changed)
        assert call(told.encode(), "--events", str(path)) == 0
        rows = lines(path) if path.exists() else []
        name, tool = changed.get("hook_event_name", "PostToolUse"), changed.get("tool_name", "Write")
        named = isinstance(tool, str) and bool(tool.replace("\x00", "").split())
        assert len(rows) == int(named and name in ("PostToolUse", "PostToolUseFailure", None))
        for row in rows:
            assert {"timestamp", "agent", "tool_name"} <= set(row)
            assert not {"cost_usd", "cost", "tokens", "total_tokens", "tool_input", "tool_response"} & set(row)
            assert all(value == redact(value) for value in row.values() if isinstance(value, str))


# --- as the reader sees it ------------------------------------------------------------------------------------------


def test_a_report_counts_the_calls_and_knows_that_their_cost_is_unknown(shop: Path) -> None:
    for number in range(3):
        call(TOLD | {"cwd": str(shop), "tool_use_id": f"toolu_{number}"})
    call(TOLD | {"cwd": str(shop), "tool_use_id": "toolu_0"})  # a hook in two settings files: told twice
    call(FAILED | {"cwd": str(shop), "agent_type": "Explore", "agent_id": "a1"})
    # The pipeline is the folder's name, so a review that names it is of the same pipeline.
    (shop / "FEEDBACK.md").write_text(HEAD + "| 2026-11-03 | Shop | main | 45 | | | |\n")
    report = built(shop)
    (file,) = [file for file in report["inputs"] if file["file"] == "budget/cost-events.jsonl"]
    assert (file["lines"], file["used"], file["duplicates"], file["rejected"], file["not_cost"]) == (5, 4, 1, 0, 0)
    (pipeline,) = report["pipelines"]
    assert (pipeline["pipeline"], pipeline["events"], pipeline["runs"]) == ("shop", 4, 1)
    assert pipeline["cost_measure"] == "events"
    agents = {(agent["agent"], agent["events"], agent["mean_score"]) for agent in report["agents"]}
    assert agents == {("main", 3, 45.0), ("Explore", 1, None)}


# --- where it goes --------------------------------------------------------------------------------------------------


def test_the_project_is_found_from_the_sessions_folder_upward(shop: Path) -> None:
    deep = shop / "src" / "deep"
    deep.mkdir(parents=True)
    call(TOLD | {"cwd": str(deep)})
    assert lines(shop / "budget" / "cost-events.jsonl") == [EVENT]
    assert list(deep.iterdir()) == []


@pytest.mark.parametrize("mark", ["reportgen.toml", "cost-events.jsonl", "budget/cost-events.jsonl"])
def test_what_makes_a_project(tmp_path: Path, mark: str) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "a" / mark).parent.mkdir(exist_ok=True)
    (tmp_path / "a" / mark).touch()
    assert hook.project_of(str(inner), {}) == str(tmp_path / "a")


def test_the_projects_own_file_is_used_where_it_is_in_the_other_place(tmp_path: Path) -> None:
    (tmp_path / "cost-events.jsonl").write_text('{"agent": "x"}\n')
    call(TOLD | {"cwd": str(tmp_path)})
    assert len(lines(tmp_path / "cost-events.jsonl")) == 2
    assert not (tmp_path / "budget").exists()


def test_without_a_mark_the_harnesss_project_then_the_sessions_folder(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    root.mkdir()
    elsewhere.mkdir()
    assert hook.project_of(str(elsewhere), {"CLAUDE_PROJECT_DIR": f"{root}/"}) == str(root)
    assert hook.project_of(str(elsewhere), {"CLAUDE_PROJECT_DIR": "no/such"}) == str(elsewhere)
    assert hook.project_of(str(elsewhere), {}) == str(elsewhere)
    (tmp_path / "reportgen.toml").touch()
    assert hook.project_of(str(elsewhere), {"CLAUDE_PROJECT_DIR": str(root)}) == str(tmp_path)


@pytest.mark.parametrize("cwd", [None, "", 7, "relative", "/no/such/folder", "C:\\x", "/\x00", "/\ud83d"])
def test_a_folder_that_is_not_there_is_the_current_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cwd: object
) -> None:
    monkeypatch.chdir(tmp_path)
    assert hook.project_of(cwd, {}) == str(tmp_path)


def test_a_named_file_starts_at_the_project_and_a_named_pipeline_is_kept(shop: Path, tmp_path: Path) -> None:
    call(TOLD | {"cwd": str(shop)}, "--events", "logs/new/calls.jsonl", "--pipeline=docs")
    call(TOLD | {"cwd": str(shop)}, f"--events={tmp_path}/other.jsonl")
    assert lines(shop / "logs" / "new" / "calls.jsonl") == [EVENT | {"pipeline": "docs"}]
    assert lines(tmp_path / "other.jsonl") == [EVENT]
    assert (shop / "budget" / "cost-events.jsonl").read_bytes() == b""


# --- the file -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("torn", [b'{"agent": "x"', b'{"agent": "x"}', b"\xff\x00"])
def test_a_torn_last_line_is_closed_first(shop: Path, torn: bytes) -> None:
    path = shop / "budget" / "cost-events.jsonl"
    path.write_bytes(b'{"agent": "a"}\n' + torn)
    call(TOLD | {"cwd": str(shop)})
    assert path.read_bytes() == b'{"agent": "a"}\n' + torn + b"\n" + json.dumps(EVENT).encode() + b"\n"


def test_parallel_calls_lose_and_mix_nothing(shop: Path) -> None:
    def caller(number: int) -> None:
        for turn in range(25):
            told = TOLD | {"cwd": str(shop), "tool_use_id": f"t-{number}-{turn}", "tool_name": "x" * 200}
            hook.record(json.dumps(told).encode(), NOW, environ={})

    threads = [threading.Thread(target=caller, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = lines(shop / "budget" / "cost-events.jsonl")
    assert {row["event_id"] for row in rows} == {f"t-{number}-{turn}" for number in range(8) for turn in range(25)}
    assert len(rows) == 200


def test_parallel_processes_lose_nothing(shop: Path) -> None:
    told = json.dumps(TOLD | {"cwd": str(shop)}).encode()
    running = [subprocess.Popen(HOOK, stdin=subprocess.PIPE, cwd=shop) for _ in range(8)]
    for process in running:
        process.communicate(told, timeout=60)
    assert [process.returncode for process in running] == [0] * 8
    assert len(lines(shop / "budget" / "cost-events.jsonl")) == 8


def test_a_file_that_stays_locked_costs_the_event_and_not_the_call(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    path = shop / "budget" / "cost-events.jsonl"
    with path.open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(Exception, match=r"no lock within 0\.1 seconds"):
            hook.record(json.dumps(TOLD | {"cwd": str(shop)}).encode(), NOW, environ={}, lock_timeout=0.1)
    assert path.read_bytes() == b""
    assert hook.LOCK_TIMEOUT <= 2


# --- nothing here fails the caller ----------------------------------------------------------------------------------

DEEP = b'{"tool_name":' + b"[" * 200_000


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "nothing on standard input"),
        (b"  \n", "nothing on standard input"),
        (b"{", "not JSON"),
        (b"\x00\xff", "not JSON"),
        (b"[]", "not a JSON object"),
        (b'"x"', "not a JSON object"),
        (DEEP, "not JSON"),
        (json.dumps(TOLD | {"hook_event_name": "PreToolUse"}).encode(), "PreToolUse is not recorded"),
        (json.dumps({"hook_event_name": "Stop"}).encode(), "Stop is not recorded"),
        (json.dumps({"session_id": "s"}).encode(), "no tool"),
    ],
)
def test_any_input_is_exit_0_with_a_word_on_stderr_and_nothing_on_stdout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], data: bytes, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call(data, log=tmp_path / "trouble.log") == 0
    output, errors = capfd.readouterr()
    assert output == ""
    assert says in errors
    assert len(errors.splitlines()) == 1
    assert (tmp_path / "trouble.log").read_text() == f"2026-11-03T09:14:07.250Z {errors}"
    assert [path.name for path in tmp_path.iterdir()] == ["trouble.log"]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda path: path.mkdir(), "Is a directory"),
        (lambda path: os.mkfifo(path), "not a regular file"),
        (lambda path: path.write_bytes(gzip.compress(b"{}")), "compressed (gzip)"),
        (lambda path: path.write_bytes("{}".encode("utf-16")), "UTF-16"),
        (lambda path: path.symlink_to("/dev/full"), "not a regular file"),
    ],
)
def test_a_file_that_cannot_be_appended_to_is_said(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], make: Any, says: str
) -> None:
    path = tmp_path / "e.jsonl"
    make(path)
    assert call(TOLD | {"cwd": str(tmp_path)}, "--events", str(path)) == 0
    errors = capfd.readouterr().err
    assert says in errors
    assert str(path) in errors


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "budget").write_text("a file")
    assert call(TOLD | {"cwd": str(tmp_path)}, environ={"CLAUDE_PROJECT_DIR": str(tmp_path)}) == 0
    assert "can't be written" in capfd.readouterr().err


def test_a_full_disk_is_said_and_the_next_call_mends_the_line(shop: Path) -> None:
    import resource

    path = shop / "budget" / "cost-events.jsonl"
    path.write_bytes(b'{"agent": "a"}\n')
    told = json.dumps(TOLD | {"cwd": str(shop)}).encode()
    done = subprocess.run(
        HOOK,
        input=told,
        cwd=shop,
        capture_output=True,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40, 40)),
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"can't be written" in done.stderr
    call(TOLD | {"cwd": str(shop)})
    first, torn, whole = path.read_bytes().splitlines()
    assert (json.loads(first), len(torn), json.loads(whole)) == ({"agent": "a"}, 25, EVENT)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--event", "x"), "unknown argument --event;"),
        (("--events",), "--events needs a value"),
        (("more",), "unknown argument more"),
    ],
)
def test_a_slip_in_the_settings_loses_no_event(
    shop: Path, capfd: pytest.CaptureFixture[str], args: tuple[str, ...], says: str
) -> None:
    assert call(TOLD | {"cwd": str(shop)}, *args) == 0
    assert says in capfd.readouterr().err
    assert lines(shop / "budget" / "cost-events.jsonl") == [EVENT]


def test_a_hook_that_does_not_exist_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    assert reportgen(["hook", "pre-tool-use\x1b[2J\u202e"]) == 0
    output, errors = capfd.readouterr()
    assert output == ""
    assert "there is post-tool-use" in errors
    assert not set(errors) & set("\x1b\u202e")


@pytest.mark.parametrize("redirect", [">&-", "2>&-", "2>/dev/full", ">&- 2>&-", "<&- 2>/dev/null", "--log /dev/full"])
def test_exit_0_where_nobody_listens(shop: Path, redirect: str) -> None:
    told = json.dumps(TOLD | {"cwd": str(shop)})
    shell = f'printf %s "$0" | "$@" {redirect}'
    done = subprocess.run(["bash", "-c", shell, told, *HOOK], cwd=shop, timeout=60, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"")
    assert len(lines(shop / "budget" / "cost-events.jsonl")) == int("<&-" not in redirect)


def test_typed_by_a_person_it_says_what_it_is_for(capfd: pytest.CaptureFixture[str]) -> None:
    leader, follower = os.openpty()
    try:
        assert hook.main(["post-tool-use"], stdin=follower, environ={}) == 0
    finally:
        os.close(leader)
        os.close(follower)
    assert "this is for Claude Code's hooks" in capfd.readouterr().err


# --- starting quickly, and the words around it ----------------------------------------------------------------------


def test_it_imports_next_to_nothing(shop: Path) -> None:
    code = (
        "import sys; before = set(sys.modules); from reportgen.__main__ import main\n"
        "assert main(['hook', 'post-tool-use']) == 0\n"
        "print(' '.join(set(sys.modules) - before), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code],
        input=json.dumps(TOLD | {"cwd": str(shop)}),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    modules = set(done.stderr.split())
    assert "reportgen.hook" in modules
    slow = {"argparse", "dataclasses", "inspect", "typing", "datetime", "hashlib", "pathlib", "subprocess", "click"}
    assert not modules & (slow | {"contextlib", "logging", "reportgen.healing", "reportgen.names"})
    assert len(lines(shop / "budget" / "cost-events.jsonl")) == 1


def test_the_settings_are_printed_and_stand_in_the_page(capfd: pytest.CaptureFixture[str]) -> None:
    assert reportgen(["hook", "--print-settings"]) == 0
    printed = capfd.readouterr().out
    assert f"```json\n{printed}```" in DOCS.read_text("utf-8")
    hooks = json.loads(printed)["hooks"]
    assert set(hooks) == {"PostToolUse", "PostToolUseFailure"}
    for (entry,) in hooks.values():
        assert entry["matcher"] == "*"
        assert entry["hooks"] == [{"type": "command", "command": "reportgen hook post-tool-use", "timeout": 10}]


@pytest.mark.parametrize("args", [["hook"], ["hook", "--help"], ["hook", "post-tool-use", "-h"]])
def test_the_help_names_every_flag(capfd: pytest.CaptureFixture[str], args: list[str]) -> None:
    assert reportgen(args) == 0
    page = capfd.readouterr().out
    for word in ("--events", "--pipeline", "--log", "--print-settings", "exit 0", "reportgen hook post-tool-use"):
        assert word in page
    assert max(map(len, page.splitlines())) <= 100


def test_the_page_gives_the_event_that_its_example_becomes() -> None:
    told, made = DOCS.read_text("utf-8").split("```json\n")[1:3]
    parsed = json.loads(told.split("```")[0])
    assert hook.event_of(parsed, NOW, "shop") == json.loads(made.split("```")[0])
