"""README's commands are run as they stand, in a project made of README's own lines."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from project import HEADER

ROOT = Path(__file__).parent.parent
#: One response in a session of Claude Code.
SESSION = (
    '{"type": "assistant", "uuid": "u1", "sessionId": "s1", "cwd": "/srv/shop", "timestamp": "2026-11-02T09:14:07Z",'
    ' "message": {"id": "msg_1", "model": "claude-haiku-4-5", "usage": {"input_tokens": 9, "output_tokens": 99}}}\n'
)
README = (ROOT / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    """Each single `reportgen …` line of a shell block, but the one that serves until it is stopped."""
    found = []
    for block in blocks("sh"):
        for line in block.splitlines():
            text = line.split("  #")[0].strip()
            if text.startswith("reportgen ") and not text.endswith("\\") and "serve" not in text:
                found.append(text)
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project in which README's examples mean something: its own events, several times, and its feedback row."""
    folder = tmp_path / "path" / "to" / "project"
    (folder / "budget").mkdir(parents=True)
    (folder / "logs").mkdir()
    lines = blocks("json")[0].splitlines()
    (folder / "budget" / "cost-events.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    shutil.copy(folder / "budget" / "cost-events.jsonl", folder / "logs" / "a.jsonl")
    subprocess.run(["gzip", str(folder / "logs" / "a.jsonl")], check=True)
    session = folder / ".claude" / "projects" / "-work-shop" / "s1.jsonl"
    session.parent.mkdir(parents=True)
    session.write_text(SESSION, encoding="utf-8")
    row = blocks("markdown")[0].splitlines()[-1]
    (folder / "FEEDBACK.md").write_text(HEADER + row + "\n", encoding="utf-8")
    for other in (folder / "shop", folder.parent / "lab"):
        other.mkdir()
        shutil.copy(folder / "FEEDBACK.md", other)
    return folder


def shell(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "CLAUDE_CONFIG_DIR": str(folder / ".claude")}
    return subprocess.run(
        ["bash", "-c", text], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_there_is_something_to_run() -> None:
    assert len(commands()) >= 9


def test_every_command_runs_as_it_stands(project: Path) -> None:
    assert shell("reportgen build --quiet", project).returncode == 0
    shutil.copytree(project / "site", project / "box" / "site")
    for command in commands():
        where = project.parent.parent.parent if "path/to/project" in command else project
        done = shell(command, where)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def test_the_healing_loop_gives_up_when_it_is_told_to(project: Path) -> None:
    (loop,) = [block for block in blocks("sh") if "until " in block]
    step = project / "run-step.sh"
    step.write_text("#!/bin/sh\necho x >> tries.txt\necho 'permission denied' >&2\nexit 1\n", encoding="utf-8")
    step.chmod(0o755)
    assert shell(loop, project).returncode == 1
    assert (project / "tries.txt").read_text("utf-8") == "x\n"
    step.write_text("#!/bin/sh\necho x >> tries.txt\n[ $(wc -l < tries.txt) -ge 3 ]\n", encoding="utf-8")
    (project / "tries.txt").unlink()
    log = project / "healing-log.jsonl"
    log.unlink()
    step.write_text(step.read_text("utf-8").replace("[ ", "echo 'timed out' >&2\n[ "), encoding="utf-8")
    assert shell(loop, project).returncode == 0
    assert len(log.read_text("utf-8").splitlines()) == 2


def test_the_python_example_runs(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = blocks("python")
    monkeypatch.chdir(project.parent.parent.parent)
    exec(compile(code, "README.md", "exec"), {})
    assert "retry-shorter-scope 0" in capsys.readouterr().out


def test_the_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", README):
        assert (ROOT / target).exists(), target
