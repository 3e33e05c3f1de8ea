"""Which files a build reads (SPEC 1), and the errors of those that it can't."""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path
from typing import Any

import pytest
import zstandard

from reportgen.errors import ReportgenError
from reportgen.inputs.sources import Inputs, find_inputs, shown_name
from reportgen.settings import Settings

EVENT = b'{"agent":"a"}\n'


def put(folder: Path, *names: str, content: bytes = EVENT) -> None:
    for number, name in enumerate(names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content + b"\n" * number)


def find(project: Path, **options: Any) -> Inputs:
    return find_inputs(
        Settings(project=project, recommendations=project / "RECOMMENDATIONS.md", site=project / "site", **options)
    )


def names(inputs: Inputs) -> list[str]:
    return [source.name for source in inputs.events]


def codes(inputs: Inputs) -> list[tuple[str, str | None]]:
    return [(notice.code, notice.file) for notice in inputs.notices]


def refused(project: Path, **options: Any) -> ReportgenError:
    with pytest.raises(ReportgenError) as caught:
        find(project, **options)
    assert caught.value.exit_code == 3
    assert caught.value.next_step
    return caught.value


# Default places

PLACES = ["budget/cost-events.jsonl", "cost-events.jsonl"]


def test_the_first_default_place_wins(tmp_path: Path) -> None:
    candidates = [place + packed for place in PLACES for packed in ("", ".gz", ".zst")]
    for first in range(len(candidates)):
        project = tmp_path / str(first)
        put(project, *candidates[first:])
        inputs = find(project)
        assert names(inputs) == [candidates[first]]
        assert inputs.events[0].path == project / candidates[first]
        assert codes(inputs) == ([("input-not-read", candidates[first])] if first < len(candidates) - 1 else [])


def test_every_kind_has_its_place(tmp_path: Path) -> None:
    put(tmp_path, "budget/cost-events.jsonl", "feedback/FEEDBACK.md", "healing-log.jsonl", "BUDGET.md")
    inputs = find(tmp_path)
    assert names(inputs) == ["budget/cost-events.jsonl"]
    assert [source.name for source in inputs.feedback] == ["feedback/FEEDBACK.md"]
    assert (inputs.healing and inputs.healing.name, inputs.budget and inputs.budget.name) == (
        "healing-log.jsonl",
        "BUDGET.md",
    )
    assert [source.kind for source in (*inputs.events, *inputs.feedback)] == ["events", "feedback"]


@pytest.mark.parametrize("name", ["cost-events.jsonl.gz", "FEEDBACK.md"])
def test_one_of_the_two_is_enough(tmp_path: Path, name: str) -> None:
    put(tmp_path, name)
    inputs = find(tmp_path)
    assert len(inputs.events) + len(inputs.feedback) == 1
    assert (inputs.healing, inputs.budget, inputs.notices) == (None, None, ())


def test_no_input_says_how_to_make_one(tmp_path: Path) -> None:
    put(tmp_path, "healing-log.jsonl", "BUDGET.md", "notes.md")
    error = refused(tmp_path)
    assert "neither cost events nor feedback" in error.what
    for word in ("budget/cost-events.jsonl", "FEEDBACK.md", '"tool_name"', "Pattern", "--events"):
        assert word in error.next_step
    assert error.where == str(tmp_path)


def test_an_empty_file_is_an_input(tmp_path: Path) -> None:
    put(tmp_path, "cost-events.jsonl", content=b"")
    assert names(find(tmp_path)) == ["cost-events.jsonl"]


# Files that can't be read


@pytest.mark.parametrize("name", ["budget/cost-events.jsonl", "FEEDBACK.md", "healing-log.jsonl", "BUDGET.md"])
def test_a_directory_in_a_default_place(tmp_path: Path, name: str) -> None:
    put(tmp_path, "cost-events.jsonl", "feedback/FEEDBACK.md")
    (tmp_path / name).mkdir(parents=True)
    error = refused(tmp_path)
    assert (error.where, "directory" in error.what) == (name, True)


def test_a_link_to_nothing(tmp_path: Path) -> None:
    (tmp_path / "FEEDBACK.md").symlink_to("gone.md")
    assert "link to nothing" in refused(tmp_path).what


def test_a_named_file_that_is_missing(tmp_path: Path) -> None:
    put(tmp_path, "cost-events.jsonl")
    for option, value in (("events", ("x.jsonl",)), ("feedback", ("x.md",)), ("healing_log", "h"), ("budget", "b")):
        error = refused(tmp_path, **{option: value})
        assert error.where == (value if isinstance(value, str) else value[0])
        assert "no such file" in error.what


def test_a_named_directory(tmp_path: Path) -> None:
    put(tmp_path, "logs/b.jsonl.gz", "logs/deep/a.jsonl", "logs/deep/notes.md")
    assert names(find(tmp_path, events=("logs",))) == ["logs/b.jsonl.gz", "logs/deep/a.jsonl"]
    (tmp_path / "empty").mkdir()
    assert "directory" in refused(tmp_path, events=("empty",)).what
    assert "directory" in refused(tmp_path, feedback=("logs",)).what


def sessions(home: Path, *names: str) -> None:
    put(home / "projects", *names)


def test_sessions_are_named_without_the_path_of_their_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "home"))
    sessions(tmp_path / "home", "-home-joe-secret/s1.jsonl", "-home-joe-secret/s1/subagents/agent-a1.jsonl",
             "-home-joe-other/s1.jsonl", "-home-joe-other/s2.jsonl", "-home-joe-other/notes.md")  # fmt: skip
    found = find(tmp_path, source=("claude-code",))
    assert names(found) == [
        "claude-code/s1.jsonl", "claude-code/s1.jsonl (2)", "claude-code/s1/subagents/agent-a1.jsonl",
        "claude-code/s2.jsonl",
    ]  # fmt: skip
    put(tmp_path, "cost-events.jsonl", content=b'{"agent":"b"}\n')
    # The default file is not read beside them, a file that is named is.
    assert "cost-events.jsonl" not in names(find(tmp_path, source=("claude-code",)))
    assert len(find(tmp_path, source=("claude-code",), events=("cost-events.jsonl",)).events) == 5


def test_sessions_of_codex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    put(tmp_path / "codex", "sessions/2026/05/02/rollout-1.jsonl", "archived_sessions/rollout-0.jsonl", "history.jsonl")
    assert names(find(tmp_path, source=("codex",))) == ["codex/2026/05/02/rollout-1.jsonl", "codex/rollout-0.jsonl"]


def test_databases_of_opencode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "share", "opencode/opencode.db", "opencode/opencode-dev.db", "opencode/opencode.db-wal", "opencode/x.db",
        "opencode/storage/opencode.db")  # fmt: skip
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    found = ["opencode/opencode-dev.db", "opencode/opencode.db"]
    (tmp_path / "share" / "opencode" / "opencode.db").write_bytes(b"{}")
    assert names(find(tmp_path, source=("opencode",))) == found
    put(tmp_path / "mine", "opencode.db")
    monkeypatch.setenv("OPENCODE_DATA_DIR", str(tmp_path / "mine"))
    assert names(find(tmp_path, source=("opencode",))) == ["opencode/opencode.db"]
    monkeypatch.setenv("OPENCODE_DATA_DIR", str(tmp_path / "none"))
    error = refused(tmp_path, source=("opencode",))
    assert (error.where, "no session of opencode found" in error.what) == ("--source", True)
    assert "OPENCODE_DATA_DIR" in error.next_step
    (tmp_path / "none" / "storage").mkdir(parents=True)
    assert "Start a current opencode once" in refused(tmp_path, source=("opencode",)).next_step


def test_no_session_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "nowhere"))
    error = refused(tmp_path, source=("claude-code",))
    assert (error.where, "nowhere" in error.what) == ("--source", True)


def test_folders_behind_links_are_looked_into_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, elsewhere = tmp_path / "claude", tmp_path / "elsewhere"
    put(elsewhere, "-c/3.jsonl", "-b/2.jsonl")
    put(home / "projects", "-a/1.jsonl")
    (home / "projects" / "-b").symlink_to(elsewhere / "-b")
    (home / "projects" / "-z").symlink_to(elsewhere / "-b")
    (home / "projects" / "-a" / "round").symlink_to(home / "projects")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home))
    project = tmp_path / "project"
    assert names(find(project, source=("claude-code",))) == ["claude-code/1.jsonl", "claude-code/2.jsonl"]
    found = find(project, events=(str(home / "projects"),))
    assert [(source.path.name, codes(found)) for source in found.events] == [("1.jsonl", []), ("2.jsonl", [])]


def test_a_folder_that_may_not_be_looked_into_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "claude"
    put(home / "projects", "-a/1.jsonl", "-b/2.jsonl")
    scandir = os.scandir

    def closed(path: Any) -> Any:
        if str(path).endswith("-b"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", closed)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home))
    for options in ({"source": ("claude-code",)}, {"events": (str(home / "projects"),)}):
        error = refused(tmp_path / "project", **options)
        assert (error.where.endswith("-b"), "can't be looked into: Permission denied" in error.what) == (True, True)


def test_a_home_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "claude" / "projects", "-a/1.jsonl")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", f"{tmp_path}/claude, {tmp_path}/desk")
    inputs = find(tmp_path / "project", source=("claude-code",))
    assert (names(inputs), codes(inputs)) == (["claude-code/1.jsonl"], [("sessions-missing", None)])
    assert "desk, which is not there" in inputs.notices[0].message


def test_a_folder_of_databases(tmp_path: Path) -> None:
    put(tmp_path / "data", "opencode.db", "opencode-beta.db", "log.jsonl", "other.db")
    assert names(find(tmp_path, events=("data",))) == ["data/log.jsonl", "data/opencode-beta.db", "data/opencode.db"]


def test_names_that_are_no_text_are_shown_and_kept_apart(tmp_path: Path) -> None:
    for name, agent in (("x\udcff.jsonl", "a"), ("x\udcfe.jsonl", "b")):
        put(tmp_path, name, content=f'{{"agent":"{agent}"}}\n'.encode())
    found = find(tmp_path, events=("*.jsonl",))
    assert names(found) == ["x\\udcfe.jsonl", "x\\udcff.jsonl"]


def test_the_folder_of_a_project_shows_no_path(tmp_path: Path) -> None:
    sessions(tmp_path, "-home-joe-secret/s1.jsonl")
    (source,) = find(tmp_path, events=("projects",)).events
    assert source.name == "projects/-home-joe-secret/s1.jsonl"
    assert re.fullmatch(r"projects/project-[0-9a-f]{6}/s1[.]jsonl", shown_name(source))


def test_what_is_no_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "regular file" in refused(tmp_path, events=("pipe",)).what


def test_a_file_without_leave_to_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "cost-events.jsonl")
    # A superuser may read everything, so the refusal of the system is played.
    opened = Path.open

    def deny(self: Path, *args: Any, **options: Any) -> Any:
        if self.name == "cost-events.jsonl":
            raise PermissionError(13, "Permission denied")
        return opened(self, *args, **options)

    monkeypatch.setattr(Path, "open", deny)
    error = refused(tmp_path)
    assert (error.where, error.what) == ("cost-events.jsonl", "can't be read: Permission denied")


# Named files and globs


def test_named_files_are_all_read_in_order_of_name(tmp_path: Path) -> None:
    put(tmp_path, "b.jsonl", "a.jsonl.gz", "logs/c.jsonl", "cost-events.jsonl")
    inputs = find(tmp_path, events=("logs/c.jsonl", "b.jsonl", "./a.jsonl.gz"))
    assert names(inputs) == ["a.jsonl.gz", "b.jsonl", "logs/c.jsonl"]


def test_globs(tmp_path: Path) -> None:
    put(tmp_path, "logs/1.jsonl", "logs/2.jsonl", "logs/deep/3.jsonl", "logs/note.txt", "logs/4.jsonl.zst")
    (tmp_path / "logs" / "dir.jsonl").mkdir()
    assert names(find(tmp_path, events=("logs/*.jsonl",))) == ["logs/1.jsonl", "logs/2.jsonl"]
    assert names(find(tmp_path, events=("logs/**/*.jsonl*",))) == [
        "logs/1.jsonl",
        "logs/2.jsonl",
        "logs/4.jsonl.zst",
        "logs/deep/3.jsonl",
    ]
    assert names(find(tmp_path, events=(str(tmp_path / "logs" / "[12].jsonl"),))) == ["logs/1.jsonl", "logs/2.jsonl"]
    assert "matches no file" in refused(tmp_path, events=("logs/*.json",)).what


def test_brackets_in_a_real_name_are_no_pattern(tmp_path: Path) -> None:
    project = tmp_path / "my[1]project"
    put(project, "e[1].jsonl", "e1.jsonl", "logs/a.jsonl")
    assert names(find(project, events=("e[1].jsonl",))) == ["e[1].jsonl"]
    assert names(find(project, events=("logs/*.jsonl",))) == ["logs/a.jsonl"]


def test_a_file_outside_the_project_keeps_the_name_it_was_given(tmp_path: Path) -> None:
    put(tmp_path, "shared/a.jsonl", "project/b.jsonl")
    project = tmp_path / "project"
    given = str(tmp_path / "shared" / "a.jsonl")
    assert names(find(project, events=(given, "../project/b.jsonl"))) == [given, "b.jsonl"]
    assert names(find(project, events=("../shared/*.jsonl",))) == ["../shared/a.jsonl"]


def test_a_glob_leaves_other_inputs_and_outputs_alone(tmp_path: Path) -> None:
    put(tmp_path, "a.jsonl", "healing-log.jsonl", "site/data/x.jsonl", ".reportgen/y.jsonl", "RECOMMENDATIONS.md")
    assert names(find(tmp_path, events=("*.jsonl", "**/*.jsonl", "*"))) == ["a.jsonl"]
    assert "matches no file" in refused(tmp_path, events=(".reportgen/*.jsonl",)).what
    # Who names it outright means it.
    assert names(find(tmp_path, events=("healing-log.jsonl",))) == ["healing-log.jsonl"]


# Once


def test_a_file_reached_twice_is_read_once(tmp_path: Path) -> None:
    put(tmp_path, "a.jsonl")
    (tmp_path / "link.jsonl").symlink_to("a.jsonl")
    (tmp_path / "hard.jsonl").hardlink_to(tmp_path / "a.jsonl")
    inputs = find(tmp_path, events=("*.jsonl", "a.jsonl", "./a.jsonl"))
    assert names(inputs) == ["a.jsonl"]
    assert codes(inputs) == [("input-named-twice", "hard.jsonl"), ("input-named-twice", "link.jsonl")]


def test_equal_content_is_read_once(tmp_path: Path) -> None:
    long = EVENT * 20_000
    put(tmp_path, "a.jsonl", content=long)
    put(tmp_path, "b.jsonl.gz", content=gzip.compress(long))
    put(tmp_path, "c.jsonl.zst", content=zstandard.compress(long))
    put(tmp_path, "d.jsonl", content=long + EVENT)
    put(tmp_path, "e.jsonl.gz", content=gzip.compress(long)[:-3])
    inputs = find(tmp_path, events=("*.jsonl*",))
    assert names(inputs) == ["a.jsonl", "d.jsonl", "e.jsonl.gz"]
    assert codes(inputs) == [("input-same-content", "b.jsonl.gz"), ("input-same-content", "c.jsonl.zst")]
    assert "a.jsonl" in inputs.notices[0].message


def test_feedback_files_are_compared_among_themselves(tmp_path: Path) -> None:
    put(tmp_path, "one.md", content=EVENT)
    put(tmp_path, "two.md", content=EVENT)
    put(tmp_path, "cost-events.jsonl", content=EVENT)
    inputs = find(tmp_path, feedback=("two.md", "one.md"))
    assert (names(inputs), [source.name for source in inputs.feedback]) == (["cost-events.jsonl"], ["one.md"])


def test_names_in_messages_are_redacted(tmp_path: Path) -> None:
    error = refused(tmp_path, events=("/home/joe/gone.jsonl",))
    assert error.where == "[home]/gone.jsonl"
    assert refused(tmp_path, events=("/home/joe/gone.jsonl",), redact=False).where == "/home/joe/gone.jsonl"
