"""`reportgen heal` and `self-healing` as a shell sees them: real processes, many at once, killed and interrupted."""

from __future__ import annotations

import fcntl
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from healing_calls import line

from reportgen.healing import main

HEAL = (sys.executable, "-m", "reportgen", "heal")
SELF_HEALING = (
    sys.executable,
    "-c",
    "import sys; from reportgen.__main__ import self_healing; sys.exit(self_healing())",
)
DOCS = Path(__file__).parent.parent / "docs" / "healing.md"


def run(folder: Path, *args: str, command: tuple[str, ...] = HEAL, **more: Any) -> subprocess.CompletedProcess[str]:
    more = {"capture_output": True, "timeout": 60} | more
    return subprocess.run([*command, *args], cwd=folder, text=True, check=False, **more)


def logged(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(text) for text in (folder / "healing-log.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module", autouse=True)
def locked_out(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[subprocess.Popen[str], float, Path]]:
    """Start one call that finds the log locked; it gives up after ten seconds, while the other tests run."""
    folder = tmp_path_factory.mktemp("locked")
    (folder / "healing-log.jsonl").write_bytes(b"")
    with (folder / "healing-log.jsonl").open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        start = time.monotonic()
        command = [*HEAL, "--agent", "a", "--attempt", "1", "--error-type", "timeout"]
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        yield process, start, folder
        process.kill()


# --- starting quickly -----------------------------------------------------------------------------------------------

HEAVY = {"duckdb", "plotly", "jinja2", "markupsafe", "click", "msgspec", "zstandard", "markdown_it", "sqlite3"}
HEAVY |= {"importlib.metadata", "asyncio", "multiprocessing", "concurrent", "urllib", "pathlib", "tempfile", "decimal"}


@pytest.mark.parametrize(
    "call",
    ["main(['heal', '--agent', 'a', *rest])", "self_healing(['--agent', 'a', *rest])"],
    ids=["heal", "self-healing"],
)
def test_nothing_heavy_is_imported(tmp_path: Path, call: str) -> None:
    code = (
        "import sys; before = set(sys.modules); from reportgen.__main__ import main, self_healing\n"
        "rest = ['--attempt', '1', '--error-type', 'timeout', '--context', 'x@example.org']\n"
        f"assert {call} == 0\n"
        "print(' '.join(set(sys.modules) - before), file=sys.stderr)"
    )
    done = run(tmp_path, command=(sys.executable, "-I", "-c", code))
    assert done.returncode == 0, done.stderr
    modules = set(done.stderr.splitlines()[-1].split())
    assert "reportgen.healing" in modules
    assert not modules & HEAVY
    outside = {name for name in modules if name.partition(".")[0] not in sys.stdlib_module_names | {"reportgen"}}
    assert not outside


# --- exit codes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [HEAL, SELF_HEALING], ids=["heal", "self-healing"])
@pytest.mark.parametrize(
    ("kind", "attempt", "code", "action"),
    [
        ("timeout", "5", 0, "retry-shorter-scope"),
        ("api-error", "3", 0, "retry-backoff"),
        ("content-quality", "2", 0, "retry-stricter-prompt"),
        ("permission-denied", "1", 1, "skip"),
        ("tool-not-found", "1", 1, "alert-operator"),
        ("whatever", "1", 1, "abort"),
        ("content-quality", "3", 2, "escalate"),
        ("whatever", "6", 2, "escalate"),
    ],
)
def test_the_answer_is_printed_logged_and_returned(
    tmp_path: Path, command: tuple[str, ...], kind: str, attempt: str, code: int, action: str
) -> None:
    args = ("--error-type", kind, "--agent", "writer", "--attempt", attempt, "--context", "it broke", "--no-wait")
    done = run(tmp_path, *args, command=command)
    assert done.returncode == code
    assert done.stdout == (tmp_path / "healing-log.jsonl").read_text()
    assert json.loads(done.stdout)["action"] == action
    assert action in done.stderr
    assert ("ALERT" in done.stderr) == (action in ("alert-operator", "escalate"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["healing-log.jsonl"]


GOOD = ("--agent", "a", "--attempt", "1", "--error-type", "timeout")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ((), "--agent, --attempt"),
        (("--agent", "a"), "--attempt"),
        (("--agent", "a", "--attempt", "0"), "not a whole number from 1"),
        (("--agent", "a", "--attempt", "-1"), "not a whole number from 1"),
        (("--agent", "a", "--attempt", "1.5"), "not a whole number from 1"),
        (("--agent", "a", "--attempt", "1_0"), "not a whole number from 1"),
        (("--agent", "a", "--attempt", ""), "not a whole number from 1"),
        (("--agent", "a", "--attempt"), "--attempt needs a value"),
        (("--agent", "--attempt", "1"), "--agent needs a value"),
        ((*GOOD, "--contxt", "x"), "did you mean --context?"),
        ((*GOOD, "--error_type=x"), "did you mean --error-type?"),
        ((*GOOD, "--run", "x"), "did you mean --run-id?"),
        ((*GOOD, "--cap", "99"), "unknown flag"),
        ((*GOOD, "--max-attempts=9"), "unknown flag"),
        ((*GOOD, "--no-wait=yes"), "--no-wait"),
        ((*GOOD, "--context", "two", "words"), "'words': unexpected word; put quotes"),
        ((*GOOD, "-x"), "unknown flag"),
        ((*GOOD, "--"), "unknown flag"),
    ],
)
def test_bad_usage_is_64_says_what_to_do_and_logs_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    args: tuple[str, ...],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(args) == 64
    output, errors = capsys.readouterr()
    assert says in errors
    assert "reportgen heal --help" in errors
    assert output == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [HEAL, SELF_HEALING], ids=["heal", "self-healing"])
def test_bad_usage_never_looks_like_escalate(tmp_path: Path, command: tuple[str, ...]) -> None:
    for args in (("--agent", "a"), ("--agent", "a", "--attempt", "x"), ("--bad",)):
        done = run(tmp_path, *args, command=command)
        assert (done.returncode, done.stdout) == (64, "")


def test_values_may_look_like_anything(tmp_path: Path) -> None:
    done = run(
        tmp_path, *GOOD[:4], "--context", "--- timed out ---", "--run-id=-r", "--pipeline", "-p=1", "--attempt", "+2"
    )
    assert done.returncode == 0
    row = logged(tmp_path)[0]
    assert (row["context"], row["run_id"], row["pipeline"], row["attempt"], row["error_type"]) == (
        "--- timed out ---",
        "-r",
        "-p=1",
        2,
        "timeout",
    )


def test_the_help_teaches(tmp_path: Path) -> None:
    for command, name in ((HEAL, "reportgen heal"), (SELF_HEALING, "self-healing")):
        done = run(tmp_path, "--help", command=command)
        assert done.returncode == 0
        assert f'    {name} --agent writer --run-id "$run_id" --attempt "$attempt"' in done.stdout
        for word in ("retry-stricter-prompt", "--no-wait", "64", "74", "130", "exit $?"):
            assert word in done.stdout
        assert max(map(len, done.stdout.splitlines())) <= 100


@pytest.mark.parametrize("log", ["/dev/full", "/dev/null", ".", "no/such/folder/log.jsonl", ""])
def test_an_unwritable_log_is_74(tmp_path: Path, log: str) -> None:
    done = run(tmp_path, *GOOD, "--log", log)
    assert done.returncode == 74
    assert done.stdout == ""
    assert "do not retry" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_74_and_the_next_call_counts_right(tmp_path: Path) -> None:
    log = tmp_path / "healing-log.jsonl"
    log.write_bytes((line() + b"\n") * 3)
    size = log.stat().st_size
    args = ("--agent", "writer", "--attempt", "1", "--run-id", "r-1", "--error-type", "timeout")
    full = run(tmp_path, *args, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size + 60, size + 60)))
    assert full.returncode == 74
    assert log.stat().st_size == size + 60
    assert [run(tmp_path, *args).returncode for _ in range(3)] == [0, 0, 2]
    assert len(log.read_bytes().splitlines()) == 3 + 1 + 3


@pytest.mark.parametrize("redirect", [">&-", ">/dev/full", "2>&-", "2>/dev/full", ">&- 2>&-", "| true"])
def test_the_exit_code_holds_where_nobody_listens(tmp_path: Path, redirect: str) -> None:
    shell = f'set -o pipefail; "$@" {redirect}'
    for code, kind in ((0, "timeout"), (1, "skip")):
        done = run(
            tmp_path, *HEAL, "--agent", "a", "--attempt", "1", "--error-type", kind, command=("bash", "-c", shell, "sh")
        )
        assert done.returncode == code
    assert len(logged(tmp_path)) == 2
    if redirect.startswith("2"):
        assert len(done.stdout.splitlines()) == 1


def test_a_terminal_gets_no_escapes(tmp_path: Path) -> None:
    done = run(tmp_path, "--agent", "a\x1b[2J\u202e", "--attempt", "1", "--context", "\x1b]0;x\x07 unknown tool\nx")
    assert done.returncode == 1
    assert not set(done.stdout + done.stderr) & set("\x1b\x07\u202e")


# --- waiting --------------------------------------------------------------------------------------------------------


def test_a_backoff_waits_before_it_returns(tmp_path: Path) -> None:
    start = time.monotonic()
    assert run(tmp_path, "--agent", "a", "--attempt", "1", "--error-type", "api-error").returncode == 0
    assert time.monotonic() - start >= 2


def test_ctrl_c_while_waiting_is_130_and_the_attempt_is_logged(tmp_path: Path) -> None:
    command = [*HEAL, "--agent", "a", "--attempt", "3", "--error-type", "api-error"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert logged(tmp_path) == [json.loads(first)]
    assert "the attempt is logged" in errors
    assert "Traceback" not in errors


# --- many at once ---------------------------------------------------------------------------------------------------


def test_twenty_four_calls_of_a_lying_caller_get_five(tmp_path: Path) -> None:
    args = ("--agent", "liar", "--attempt", "1", "--error-type", "timeout", "--run-id", "r-1", "--context", "c" * 1_500)
    with ThreadPoolExecutor(24) as pool:
        done = list(pool.map(lambda n: run(tmp_path, *args, "--pipeline", f"p{n}"), range(24)))
    assert sorted(one.returncode for one in done) == [0] * 5 + [2] * 19
    rows = logged(tmp_path)
    assert [row["exit_code"] for row in rows] == [0] * 5 + [2] * 19
    assert sorted(one.stdout for one in done) == sorted(json.dumps(row) + "\n" for row in rows)


WRITER = """
import sys
from reportgen import heal
for n in range(int(sys.argv[2])):
    decision = heal(sys.argv[1], 1, error_type="timeout", run_id=f"r{n}", context=f"{n} " * 600)
    print(decision.to_json(), flush=True)
"""


def writers(folder: Path, count: int, calls: int) -> list[subprocess.Popen[bytes]]:
    """Start processes that call without a pause and print each decision once it is theirs."""
    started = []
    for number in range(count):
        with (folder / f"acks-{number}").open("wb") as acks:
            command = [sys.executable, "-c", WRITER, f"agent-{number}", str(calls)]
            started.append(subprocess.Popen(command, cwd=folder, stdout=acks))
    return started


def acknowledged(folder: Path) -> list[str]:
    whole = [path.read_text().rpartition("\n")[0].splitlines() for path in folder.glob("acks-*")]
    return [ack for acks in whole for ack in acks]


def test_parallel_appends_neither_tear_nor_mix_nor_get_lost(tmp_path: Path) -> None:
    for process in writers(tmp_path, 6, 25):
        assert process.wait(60) == 0
    lines = (tmp_path / "healing-log.jsonl").read_text().splitlines()
    assert len(lines) == 150
    assert sorted(lines) == sorted(acknowledged(tmp_path))
    stamps = [json.loads(text)["timestamp"] for text in lines]
    assert stamps == sorted(stamps)


@pytest.mark.parametrize("milliseconds", [40, 140, 333])
def test_kill_9_leaves_whole_acknowledged_lines(tmp_path: Path, milliseconds: int) -> None:
    log = tmp_path / "healing-log.jsonl"
    running = writers(tmp_path, 4, 100_000)
    deadline = time.monotonic() + 20
    while len(acknowledged(tmp_path)) < 4 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(milliseconds / 1000)
    for process in running:
        os.kill(process.pid, signal.SIGKILL)
        process.wait(20)
    acks = acknowledged(tmp_path)
    lines = log.read_text().split("\n")
    assert len(acks) >= 4
    assert set(acks) <= set(lines)
    assert all(json.loads(text)["exit_code"] == 0 for text in lines if text)
    assert run(tmp_path, *GOOD).returncode == 0  # no lock is left behind


# --- the loop of the page -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failures", "words", "code", "answers"),
    [
        (0, "", 0, []),
        (2, "request timed out", 0, [0, 0]),
        (99, "request timed out", 2, [0, 0, 0, 0, 0, 2]),
        (99, "low score: 41/100", 2, [0, 0, 2]),
        (99, "pandoc: command not found", 1, [1]),
    ],
)
def test_the_loop_of_the_page_runs(tmp_path: Path, failures: int, words: str, code: int, answers: list[int]) -> None:
    page = re.search(r"```sh\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert page is not None
    (tmp_path / "run-step.sh").write_text(
        f'#!/bin/sh\necho x >> count\n[ "$(wc -l < count)" -gt {failures} ] || {{ echo "{words}" >&2; exit 1; }}\n'
    )
    (tmp_path / "run-step.sh").chmod(0o755)
    shell = f'reportgen() {{ "{sys.executable}" -m reportgen "$@"; }}\n{page[1]}'
    done = run(tmp_path, "-c", shell, command=("sh",))
    assert done.returncode == code, done.stderr
    assert [row["exit_code"] for row in logged(tmp_path)] == answers if answers else not done.stdout


def test_a_lock_not_had_in_ten_seconds_is_74(locked_out: tuple[subprocess.Popen[str], float, Path]) -> None:
    process, start, folder = locked_out
    output, errors = process.communicate(timeout=30)
    assert process.returncode == 74
    assert time.monotonic() - start >= 10
    assert output == ""
    assert "no lock within 10 seconds" in errors
    assert (folder / "healing-log.jsonl").read_bytes() == b""
