"""childprocess.py, as `heal exec` uses it: the command's streams, descriptors and signals are the caller's own."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from reportgen.childprocess import Ended, Runner
from reportgen.healing_exec_cli import run

EXEC = (sys.executable, "-B", "-m", "reportgen", "heal", "exec", "--agent", "writer")


def logged(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "healing-log.jsonl").read_text().splitlines()]


# --- the command itself ---------------------------------------------------------------------------------------------


def step(tmp_path: Path, code: str) -> list[str]:
    path = tmp_path / "step.py"
    path.write_text(code)
    return [sys.executable, "-B", str(path)]


def call(folder: Path, *args: str, **more: Any) -> subprocess.CompletedProcess[bytes]:
    given: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 60}
    done: subprocess.CompletedProcess[bytes] = subprocess.run([*EXEC, *args], cwd=folder, check=False, **(given | more))
    return done


def test_both_streams_and_the_exit_code_are_the_commands_own(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "os.write(1, bytes(range(256)) * 999)\n"
        "for n in range(300): os.write(2, bytes(range(256)) * 9)\n"
        "sys.exit(int(sys.stdin.read()))"
    )
    done = call(tmp_path, "--quiet", "--", *step(tmp_path, code), input=b"42")
    assert done.returncode == 42
    assert done.stdout == bytes(range(256)) * 999
    assert done.stderr == bytes(range(256)) * 9 * 300
    assert logged(tmp_path)[0]["action"] == "abort"


def test_it_heals(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REPORTGEN_HEAL_ACTION", "left over")
    code = (
        "import os, sys\n"
        "print(os.environ.get('REPORTGEN_HEAL_ACTION'), os.environ.get('REPORTGEN_HEAL_ATTEMPT'), flush=True)\n"
        "if os.environ.get('REPORTGEN_HEAL_ATTEMPT') != '2': sys.exit('Error: 529 overloaded')"
    )
    slept: list[float] = []
    assert run(["--agent", "writer", *step(tmp_path, code)], "heal exec", sleep=slept.append) == 0
    output, errors = capfdbinary.readouterr()
    assert output == b"None None\nretry-backoff 1\nretry-backoff 2\n"
    assert slept == [2, 4]
    assert errors.decode().splitlines() == [
        "Error: 529 overloaded",
        "heal exec: retry-backoff for writer: api-error, attempt 1 of 3: wait 2 s, then try again",
        "Error: 529 overloaded",
        "heal exec: retry-backoff for writer: api-error, attempt 2 of 3: wait 4 s, then try again",
    ]


def test_stderr_comes_as_it_is_written(tmp_path: Path) -> None:
    code = "import sys, time\nprint('first', file=sys.stderr, flush=True)\ninput()"
    command = [*EXEC, "--", *step(tmp_path, code)]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"first\n"  # while the command still waits for its input
        process.communicate(b"\n", timeout=30)
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("command", "code", "kind", "says"),
    [
        (["no-such-command-here"], 127, "tool-not-found", "no-such-command-here: command not found"),
        (["./plain.txt"], 126, "permission-denied", "./plain.txt: Permission denied"),
        (["."], 126, "permission-denied", "Permission denied"),
        (["plain.txt/x"], 127, "tool-not-found", "command not found"),
        (["sh", "-c", "no-such-command-here"], 127, "tool-not-found", "not found"),
    ],
)
def test_a_command_that_cannot_be_run(tmp_path: Path, command: list[str], code: int, kind: str, says: str) -> None:
    (tmp_path / "plain.txt").write_text("x")
    done = call(tmp_path, "--", *command)
    assert done.returncode == code
    assert says in done.stderr.decode()
    (row,) = logged(tmp_path)
    assert row["error_type"] == kind


def test_the_log_that_cannot_be_written_is_said_and_the_exit_code_stays(tmp_path: Path) -> None:
    done = call(tmp_path, "--log", "/dev/full", "--", "sh", "-c", "echo x; echo timed out >&2; exit 5")
    assert (done.returncode, done.stdout) == (5, b"x\n")
    assert b"do not retry" in done.stderr


def test_a_process_left_in_the_background_does_not_hold_the_caller(tmp_path: Path) -> None:
    start = time.monotonic()
    done = call(tmp_path, "--", "sh", "-c", "sleep 30 & echo $! > pid; echo bye >&2", stdout=subprocess.DEVNULL)
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    assert time.monotonic() - start < 15
    assert (done.returncode, done.stderr) == (0, b"bye\n")


def test_descriptors_of_the_caller_reach_the_command(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    call(tmp_path, "--", "bash", "-c", f"echo here >&{writer}", pass_fds=(writer,))
    os.close(writer)
    assert os.read(reader, 100) == b"here\n"
    os.close(reader)


@pytest.mark.parametrize("redirect", [">&-", "2>&-", "2>/dev/full", "<&- >&- 2>&-", "2>&1 | true"])
def test_the_exit_code_holds_where_nobody_listens(tmp_path: Path, redirect: str) -> None:
    shell = f'set -o pipefail; "$@" {redirect}'
    command = ["bash", "-c", shell, "sh", *EXEC, "--", "sh", "-c", "echo error >&2; exit 7"]
    assert subprocess.run(command, cwd=tmp_path, timeout=60, stderr=subprocess.DEVNULL, check=False).returncode == 7
    assert len(logged(tmp_path)) == 1


# --- signals --------------------------------------------------------------------------------------------------------

WAITER = """
import os, signal, sys, time
def caught(number, frame):
    print(signal.Signals(number).name, flush=True)
    if number != signal.SIGUSR1:
        print("timed out", file=sys.stderr, flush=True)
        os._exit(9)
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
    signal.signal(number, caught)
print("ready", flush=True)
time.sleep(30)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_reaches_the_command_and_nothing_is_repeated(tmp_path: Path, number: signal.Signals) -> None:
    command = [*EXEC, "--type", "timeout", "--", *step(tmp_path, WAITER)]

    def listen() -> None:
        # Tests that run under nohup would hand down that it is ignored.
        signal.signal(number, signal.SIG_DFL)

    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, start_new_session=True, preexec_fn=listen
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGUSR1)
        assert process.stdout.readline() == b"SIGUSR1\n"
        process.send_signal(number)
        output, _ = process.communicate(timeout=30)
    assert output == f"{number.name}\n".encode()
    assert process.returncode == 9
    assert not (tmp_path / "healing-log.jsonl").exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_it_dies_as_the_command_died(tmp_path: Path, number: signal.Signals) -> None:
    done = call(tmp_path, "--", "sh", "-c", f"kill -{number.value} $$")
    assert done.returncode == -number
    assert (tmp_path / "healing-log.jsonl").exists() == (number != signal.SIGTERM)


def test_a_signal_while_waiting_ends_it(tmp_path: Path) -> None:
    command = [*EXEC, "--", "sh", "-c", "echo overloaded >&2; exit 1"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, start_new_session=True) as process:
        assert process.stderr is not None
        while b"wait 2 s" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT
    assert b"interrupted by SIGINT" in errors
    assert b"Traceback" not in errors
    assert len(logged(tmp_path)) == 1


def test_what_is_ignored_stays_ignored(tmp_path: Path) -> None:
    code = "import signal\nprint(signal.getsignal(signal.SIGHUP).name, signal.getsignal(signal.SIGTERM).name)"
    done = call(tmp_path, "--", *step(tmp_path, code), preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    assert done.stdout == b"SIG_IGN SIG_DFL\n"


def test_ctrl_c_on_a_terminal_reaches_the_command_once_and_ends_both(tmp_path: Path) -> None:
    code = (
        "import signal, sys, time\n"
        "seen = []\n"
        "signal.signal(signal.SIGINT, lambda *_: seen.append(1))\n"
        "print('ready', flush=True)\n"
        "end = time.monotonic() + 20\n"
        "while not seen and time.monotonic() < end: time.sleep(0.01)\n"
        "time.sleep(0.4)\n"
        "print(f'seen {len(seen)}', flush=True)\n"
        "sys.exit(3)"
    )
    command = [*EXEC, "--type", "timeout", "--", *step(tmp_path, code)]
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.execv(command[0], command)
    shown = b""
    deadline = time.monotonic() + 40
    typed = False
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                piece = os.read(terminal, 1000)
            except OSError:
                break
            shown += piece
        if b"ready" in shown and not typed:
            os.write(terminal, b"\x03")
            typed = True
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
    assert shown.count(b"ready") == 1
    assert b"seen 1\r\n" in shown


def test_a_runner_gives_the_handlers_back() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with Runner(print) as runner:
        assert runner.run(["true"], os.environ) == Ended(0)
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] != before
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
