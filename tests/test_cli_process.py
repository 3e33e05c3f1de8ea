"""The commands as processes: what they import, and how they behave on terminals, pipes, full disks and signals."""

from __future__ import annotations

import io
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from reportgen.cli import Progress

HERE = Path(__file__).parent
FAKE = [sys.executable, str(HERE / "fake_building.py")]
HEAVY = {"click", "duckdb", "jinja2", "plotly", "msgspec", "markdown_it", "zstandard"}


def environment(**more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS")}
    return kept | {"TERM": "xterm-256color"} | more


def process(args: Sequence[str], cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*FAKE, *args], cwd=cwd, env=environment(**env), capture_output=True, text=True, encoding="utf-8", timeout=60
    )


def on_terminal(args: Sequence[str], cwd: Path, **env: str) -> tuple[int, str]:
    """Run with stdout and stderr on one terminal; return the exit code and what the terminal got."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen([*FAKE, *args], cwd=cwd, env=environment(**env), stdout=theirs, stderr=theirs)
    os.close(theirs)
    seen = b""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if select.select([ours], [], [], 0.2)[0]:
            try:
                seen += os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
    os.close(ours)
    return child.wait(timeout=10), seen.decode("utf-8")


# --- which modules --------------------------------------------------------------------------------------------------


def imported_by(code: str, cwd: Path) -> set[str]:
    """Return the top packages that are loaded after `code` has run in a fresh Python."""
    program = f"{code}\nimport json\nprint('\\n' + json.dumps(sorted({{name.split('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", program], cwd=cwd, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("entry", ["main(['heal', *args])", "self_healing(args)"])
def test_heal_imports_nothing_heavy(entry: str, tmp_path: Path) -> None:
    code = (
        "import sys\nfrom reportgen.__main__ import main, self_healing\n"
        "args = ['--agent', 'a', '--attempt', '1', '--error-type', 'timeout', '--run-id', 'r']\n"
        f"assert {entry} == 0\n"
    )
    assert imported_by(code, tmp_path) & HEAVY == set()
    assert (tmp_path / "healing-log.jsonl").read_text(encoding="utf-8").count("\n") == 1


def test_help_of_build_imports_only_the_command_line(tmp_path: Path) -> None:
    code = "import sys\nfrom reportgen.__main__ import main\nassert main(['build', '--help']) == 0\n"
    assert imported_by(code, tmp_path) & HEAVY == {"click"}


def test_the_three_shell_commands_are_declared() -> None:
    ours = {e.name: e.value for e in entry_points(group="console_scripts") if e.value.startswith("reportgen.")}
    assert ours == {
        "reportgen": "reportgen.__main__:main",
        "pipeline-optimizer": "reportgen.__main__:pipeline_optimizer",
        "self-healing": "reportgen.__main__:self_healing",
    }


def test_python_dash_m_is_the_command(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "reportgen", "init"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "reportgen.toml").is_file()


@pytest.mark.parametrize("args", [["build"], ["heal", "--agent", "a", "--attempt", "1", "--error-type", "timeout"]])
def test_the_exit_code_leaves_the_process(args: list[str], tmp_path: Path) -> None:
    codes = {"build": process(args, tmp_path, FAKE_BUILD="fake.exit_code = 4"), "heal": process(args, tmp_path)}
    assert codes[args[0]].returncode == {"build": 4, "heal": 0}[args[0]]


# --- colours and the bar --------------------------------------------------------------------------------------------


def test_colours_only_on_a_terminal(tmp_path: Path) -> None:
    code, seen = on_terminal(["build"], tmp_path)
    assert code == 0
    assert "\x1b[32m   64  " in seen
    assert "\x1b" not in process(["build"], tmp_path).stdout


@pytest.mark.parametrize(
    ("args", "env"), [([], {"NO_COLOR": "1"}), (["--no-color"], {}), ([], {"TERM": "dumb"})], ids=str
)
def test_colours_can_be_had_without(args: list[str], env: dict[str, str], tmp_path: Path) -> None:
    code, seen = on_terminal(
        ["build", *args],
        tmp_path,
        FAKE_BUILD="fake.report = __import__('fake_building').sample_report(); fake.exit_code = 1",
        **env,
    )
    assert code == 1
    assert "Worth doing now" in seen
    assert "error: sql/detectors/" in seen
    assert "\x1b" not in seen


SLOW = """
import time
def steps(progress):
    for stage in ("read events", "detect"):
        for done in range(0, 101, 20):
            progress(stage, done, 100)
            time.sleep(0.12)
fake.steps = steps
"""


def test_a_bar_shows_on_a_terminal_when_a_build_takes_long(tmp_path: Path) -> None:
    code, seen = on_terminal(["build"], tmp_path, FAKE_BUILD=SLOW)
    assert code == 0
    bar = seen[: seen.index("costs most")]
    assert "read events" not in bar  # over before it was worth a bar
    assert "detect" in bar
    assert "100%" in bar
    assert bar.count("\n") == 1  # one line in all
    assert bar.rindex("\x1b[?25h") > bar.rindex("\x1b[?25l")  # the cursor is back


def test_no_bar_when_quiet(tmp_path: Path) -> None:
    assert on_terminal(["build", "--quiet"], tmp_path, FAKE_BUILD=SLOW) == (0, "")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("term", "drawn"), [("xterm", True), ("dumb", False)])
def test_no_bar_on_a_terminal_that_can_not_draw_one(term: str, drawn: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", term)
    stream = Terminal()
    now = iter([0.0, 0.5, 1.0, 1.5, 2.0])
    with Progress(stream, after=0.7, clock=lambda: next(now)) as progress:
        progress("early", 1, 2)
        progress("read\x1b[2J", 5, 0)  # nobody knows how much there is
        progress("load", 1, 4)
        progress("load", 9, 4)
    text = stream.getvalue()
    assert "early" not in text
    assert ("read [2J" in text, "load" in text, " 25%" in text, "100%" in text) == (drawn,) * 4


def test_no_bar_without_a_terminal(tmp_path: Path) -> None:
    done = process(["build"], tmp_path, FAKE_BUILD=SLOW)
    assert (done.returncode, done.stderr) == (0, "")


# --- pipes, disks, signals, alphabets -------------------------------------------------------------------------------


@pytest.mark.parametrize("args", [["build"], ["build", "--json"], ["build", "--help"], ["completion", "bash"]])
def test_a_reader_that_has_gone_is_no_noise(args: list[str], tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*FAKE, *args], cwd=tmp_path, env=environment(), stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60
    )
    os.close(writer)
    assert done.stderr == ""
    if args[0] == "build" and args[-1] != "--help":
        # The outputs are there, whoever listens.
        assert done.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
def test_a_result_that_can_not_be_printed_is_told(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*FAKE, "build"],
            cwd=tmp_path,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert done.returncode == 74
    assert done.stderr.splitlines() == [
        "error: stdout: can't be written (No space left on device)",
        "  next: The outputs themselves are done.",
    ]


def test_an_interrupt_ends_with_130_and_no_traceback(tmp_path: Path) -> None:
    waiting = "import time, pathlib\nfake.steps = lambda progress: (pathlib.Path('on').touch(), time.sleep(60))"
    child = subprocess.Popen(
        [*FAKE, "build"],
        cwd=tmp_path,
        env=environment(FAKE_BUILD=waiting),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 30
    while not (tmp_path / "on").exists() and time.monotonic() < end:
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=30)
    assert child.returncode == 130
    assert out == ""
    assert "error: interrupted" in err
    assert "Traceback" not in err


def test_a_terminal_without_unicode_gets_escapes_not_a_crash(tmp_path: Path) -> None:
    rename = (
        "from dataclasses import replace\n"
        "groups = [replace(g, title='Schr\\u00f6der \\u4e2d') for g in fake.report.groups]\n"
        "fake.report = replace(fake.report, groups=groups)"
    )
    env = environment(FAKE_BUILD=rename, PYTHONIOENCODING="iso-8859-1", PYTHONUTF8="0")
    done = subprocess.run([*FAKE, "build"], cwd=tmp_path, env=env, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"Schr\xf6der \\u4e2d\n" in done.stdout


def test_a_closed_stdout_is_no_crash(tmp_path: Path) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", '"$0" "$1" build >&-', *FAKE],
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_directory_that_is_no_unicode_is_named_all_the_same(tmp_path: Path) -> None:
    # The real build: the directory does not exist, so nothing is read.
    done = subprocess.run(
        [sys.executable, "-m", "reportgen", "init", b"nowhere\xff\x1b[2J"],
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: nowhere\ufffd [2J: no such directory\n".encode())
