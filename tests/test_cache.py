"""A build after a build: what did not change is not done again, and the bytes are those of a build from nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from project import event, write_project

from reportgen import build
from reportgen.building import BuildResult
from reportgen.marks import Mark, mark
from reportgen.stages import Stage, Stages, profile_lines

CHART = """/*---
title = "Events by agent"
page = "overview"
kind = "rows"
x = "events"
y = "agent"
---*/
select agent, events from agents order by agent
"""


def make_project(folder: Path) -> Path:
    events = [event(f"2026-11-0{day}T0{hour}:00:00Z", f"agent-{hour}", run_id=f"r{day}", cost_usd=hour * day)
              for day in (1, 2, 3) for hour in (1, 2, 3)]  # fmt: skip
    feedback = [(f"2026-11-0{day}", "docs", "agent-1", f"{40 + day}/100", "loop-excess") for day in (1, 2, 3)]
    return write_project(folder, events, feedback, settings="[outputs]\nsingle_file = 'all.html'\n")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that was built. Tests edit it one after another, and each leaves it built."""
    project = make_project(tmp_path_factory.mktemp("one") / "project")
    build(project)
    return project


def outputs(project: Path) -> dict[str, bytes]:
    files = [project / "RECOMMENDATIONS.md", project / "all.html", *(project / "site").rglob("*")]
    return {path.relative_to(project).as_posix(): path.read_bytes() for path in files if path.is_file()}


def stamps(project: Path) -> dict[str, tuple[int, int]]:
    return {name: ((project / name).stat().st_mtime_ns, (project / name).stat().st_ino) for name in outputs(project)}


def from_nothing(project: Path, **flags: Any) -> dict[str, bytes]:
    """What a build gives that knows of no earlier one but the outputs that stand there."""
    other = project.parent / "from-nothing" / project.name
    shutil.rmtree(other.parent, ignore_errors=True)
    shutil.copytree(project, other, ignore=shutil.ignore_patterns(".reportgen"))
    build(other, **flags)
    return outputs(other)


def did(result: BuildResult) -> set[str]:
    return {stage.name for stage in result.stages}


def test_nothing_changed_nothing_is_done(project: Path) -> None:
    before = stamps(project)
    first = build(project)
    assert stamps(project) == before
    assert (first.written, first.removed) == (0, 0)
    assert first.unchanged == len(before) - 1, "the manifest is not counted"
    assert did(first) == {"find the inputs", "look for changes", "all"}


def test_the_report_of_such_a_build_is_the_same(project: Path) -> None:
    with_cache = build(project)
    (project / ".reportgen" / "build.kept").unlink()
    without = build(project)
    assert did(without) > did(with_cache)
    assert without.report.charts
    assert with_cache.report == without.report
    for name in ("exit_code", "rejected_errors", "notices", "recommendations", "site", "single_file", "unchanged"):
        assert getattr(with_cache, name) == getattr(without, name)


def test_such_a_build_loads_no_engine(project: Path) -> None:
    text = (
        "import sys, reportgen; reportgen.build(sys.argv[1]);"
        "print([name for name in ('duckdb', 'jinja2', 'markdown_it') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", text, str(project)], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def replace_in(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def own(project: Path, kind: str, name: str, text: str | None = None) -> Path:
    """Put a file of the project's own there, a copy of the built-in one where no text is given."""
    from reportgen.resources import resource_dir

    path = project / kind / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text or (resource_dir(kind) / name).read_text(encoding="utf-8"), encoding="utf-8")
    return path


def add_event(project: Path) -> None:
    with (project / "budget" / "cost-events.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(event("2026-11-04T01:00:00Z", "agent-4", run_id="r4", cost_usd=99)) + "\n")


def edit_event(project: Path) -> None:
    """An edit of equal length that leaves the time of the last change as it was."""
    path = project / "budget" / "cost-events.jsonl"
    status = path.stat()
    replace_in(path, '"cost_usd": 1}', '"cost_usd": 7}')
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def edit_detector(project: Path) -> None:
    replace_in(own(project, "sql", "detectors/revision_loops.sql"), 'title = "', 'title = "Edited: ')


def edit_mart(project: Path) -> None:
    replace_in(own(project, "sql", "marts/agent_tools.sql"), "select", "select\n")
    own(project, "sql", "marts/extra.sql", "select agent, count(*) as n from events group by agent order by agent\n")


def edit_page(project: Path) -> None:
    replace_in(own(project, "templates", "how-to-read.html"), "</h", " edited</h")


def edit_output(project: Path) -> None:
    replace_in(project / "site" / "index.html", "<title>", "<title>Mine: ")


EDITS: dict[str, Callable[[Path], object]] = {
    "event added": add_event,
    "event edited": edit_event,
    "feedback": lambda p: replace_in(p / "FEEDBACK.md", "41/100", "91/100"),
    "healing log comes": lambda p: (p / "healing-log.jsonl").write_text("{}\n", encoding="utf-8"),
    "budget comes": lambda p: (p / "BUDGET.md").write_text("| Agent | Daily |\n|---|---|\n| agent-1 | $1 |\n", "utf-8"),
    "setting": lambda p: replace_in(p / "reportgen.toml", "[outputs]", "[report]\ntitle = 'T'\n\n[outputs]"),
    "detector": edit_detector,
    "chart": lambda p: own(p, "sql", "charts/by_agent.sql", CHART),
    "mart": edit_mart,
    "macro": lambda p: own(p, "sql", "macros.sql", "create or replace macro twice(a) as a * 2;\n"),
    "page": edit_page,
    "hidden asset folder": lambda p: own(p, "templates", "assets/.x/own.css", "p { color: red }"),
    "output edited": edit_output,
    "output gone": lambda p: (p / "site" / "agents.html").unlink(),
    "recommendations edited": lambda p: replace_in(p / "RECOMMENDATIONS.md", "reportgen", "somebody"),
    "one page gone": lambda p: (p / "all.html").unlink(),
    "warehouse gone": lambda p: (p / ".reportgen" / "warehouse.duckdb").unlink(),
    "work folder gone": lambda p: shutil.rmtree(p / ".reportgen"),
    "nothing": lambda p: None,
}
#: Edits after which the marts would be the same.
MARTS_STAY = {"setting", "detector", "chart", "page", "hidden asset folder", "output edited", "output gone",
              "one page gone", "recommendations edited"}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_after_any_edit_the_outputs_are_those_of_a_build_from_nothing(project: Path, name: str) -> None:
    if name == "recommendations edited":
        # It keeps its first line, so that it is still known for ours.
        path = project / "RECOMMENDATIONS.md"
        path.write_text(path.read_text(encoding="utf-8") + "Mine.\n", encoding="utf-8")
    else:
        EDITS[name](project)
    expected = from_nothing(project)
    result = build(project)
    assert outputs(project) == expected
    if name in MARTS_STAY:
        assert "open the marts again" in did(result)
        assert "read the cost events" not in did(result)
    elif name != "nothing":
        assert "read the cost events" in did(result)
    again = build(project)
    assert (again.written, did(again)) == (0, {"find the inputs", "look for changes", "all"})


@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.lists(st.sampled_from(["event added", "budget comes", "chart", "mart", "macro", "page"]), max_size=3),
    flags=st.sampled_from([{}, {"pipeline": "docs"}, {"until": "2026-11-02"}, {"strict": True}, {"redact": False}]),
)
def test_any_edits_one_after_another(tmp_path: Path, names: list[str], flags: dict[str, Any]) -> None:
    shutil.rmtree(tmp_path / "many", ignore_errors=True)
    project = make_project(tmp_path / "many" / "project")
    build(project)
    for name in names:
        EDITS[name](project)
        build(project)
    expected = from_nothing(project, **flags)
    build(project, **flags)
    assert outputs(project) == expected


def test_an_edit_taken_back_is_noticed(project: Path) -> None:
    before = outputs(project)
    path = project / "FEEDBACK.md"
    text = path.read_text(encoding="utf-8")
    replace_in(path, "42/100", "92/100")
    assert build(project).written
    path.write_text(text, encoding="utf-8")
    build(project)
    assert outputs(project) == before


@pytest.mark.parametrize(
    ("file", "harm"),
    [*(("build.kept", harm) for harm in ("empty", "cut", "changed", "folder", "other")),
     ("marts.kept", "cut"), ("marts.kept", "other")],
)  # fmt: skip
def test_a_broken_cache_is_no_cache(project: Path, file: str, harm: str) -> None:
    path, other = project / ".reportgen" / file, project / ".reportgen" / "marts.kept"
    data, before, result = path.read_bytes(), outputs(project), build(project)
    if file == "marts.kept":
        other = path.with_name("build.kept")
        harm_other = b"" if harm != "other" else other.read_bytes()
        path.with_name("build.kept").write_bytes(b"")
    else:
        harm_other = other.read_bytes()
    if harm == "folder":
        path.unlink()
        path.mkdir()
    elif harm == "other":
        path.write_bytes(harm_other)
    else:
        path.write_bytes({"empty": b"", "cut": data[: len(data) // 2], "changed": data[:-9] + b"?" + data[-8:]}[harm])
    again = build(project)
    assert again.report == result.report
    assert outputs(project) == before
    assert ("read the cost events" if file == "marts.kept" else "render") in did(again)
    if harm == "folder":
        path.rmdir()
        path.with_name("build.kept").unlink(missing_ok=True)
        build(project)


def test_what_changes_while_a_build_reads_is_no_cache(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from reportgen import making

    add_event(project)
    real = making.render

    def render(*given: object) -> object:
        add_event(project)
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(making, "render", render)
    build(project)
    monkeypatch.setattr(making, "render", real)
    expected = from_nothing(project)
    result = build(project)
    assert "read the cost events" in did(result)
    assert outputs(project) == expected


KILLED = """
import os, signal, sys
from pathlib import Path
import reportgen, reportgen.cache as cache

def cut_short(self, data):
    with self.open("wb") as file:
        file.write(data[: len(data) // 2])
        file.flush()
    if self.name == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
    return whole(self, data) if self.suffix == ".new" else None

whole = Path.write_bytes
Path.write_bytes = cut_short
reportgen.build(sys.argv[1])
"""


@pytest.mark.parametrize("file", ["marts.kept.new", "build.kept.new"])
def test_killed_while_it_writes_its_cache(project: Path, file: str) -> None:
    add_event(project)
    expected = from_nothing(project)
    done = subprocess.run([sys.executable, "-c", KILLED, str(project), file], capture_output=True)
    assert done.returncode == -signal.SIGKILL
    build(project)
    assert outputs(project) == expected
    assert build(project).written == 0


def test_two_builds_at_once(project: Path) -> None:
    add_event(project)
    expected = from_nothing(project)
    command = [sys.executable, "-m", "reportgen", "build", str(project), "--quiet"]
    both = [subprocess.Popen(command) for _ in range(2)]
    assert [one.wait() for one in both] == [0, 0]
    assert outputs(project) == expected
    assert did(build(project)) == {"find the inputs", "look for changes", "all"}


# --- files too large to hash each time ------------------------------------------------------------------------------


@pytest.fixture
def large(tmp_path: Path) -> Path:
    path = tmp_path / "large.jsonl"
    path.write_bytes(b"x" * (3 << 20))
    return path


def test_a_large_file_that_nobody_touched_is_the_same(large: Path) -> None:
    assert mark(large, "a").is_as(mark(large, "a"), full=False)
    assert not mark(large, "a").is_as(mark(large, "b"), full=False)


def harms() -> Iterator[tuple[str, Callable[[Path], object]]]:
    def write(place: int) -> Callable[[Path], object]:
        def at(path: Path) -> None:
            with path.open("r+b") as file:
                file.seek(place)
                file.write(b"y")

        return at

    yield "appended", lambda path: path.write_bytes(path.read_bytes() + b"x")
    yield "cut short", lambda path: os.truncate(path, (3 << 20) - 1)
    yield "edited in its middle", write((3 << 19) + 12345)
    yield (
        "put in its place",
        lambda path: (shutil.copy(path, path.with_name("other")), path.with_name("other").replace(path)),
    )


@pytest.mark.parametrize(("name", "harm"), list(harms()), ids=lambda one: one if isinstance(one, str) else "")
def test_whatever_is_done_to_a_large_file_shows(large: Path, name: str, harm: Callable[[Path], object]) -> None:
    before, status = mark(large, "a", full=True), large.stat()
    harm(large)
    os.utime(large, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert not mark(large, "a").is_as(before, full=False)
    assert mark(large, "a", full=True).is_as(before, full=True) == (name == "put in its place")


def test_only_a_hash_of_it_all_answers_for_it_all(large: Path) -> None:
    assert not mark(large, "a", full=True).is_as(mark(large, "a"), full=True), "the whole was never looked at"
    known = Mark("a", "quick", "full")
    assert Mark("a", "other", "full").is_as(known, full=True)
    assert not Mark("a", "quick", "other").is_as(known, full=True)


def test_verify_cache_hashes_it_all_and_then_trusts_it(tmp_path: Path) -> None:
    rows = [event(f"2026-11-01T{n // 3600:02}:{n // 60 % 60:02}:{n % 60:02}Z", note="x" * 400) for n in range(3000)]
    project = write_project(tmp_path / "p", rows)
    assert (project / "budget" / "cost-events.jsonl").stat().st_size > 1 << 20
    build(project)
    assert "read the cost events" not in did(build(project))
    assert "read the cost events" in did(build(project, verify_cache=True)), "its whole was never hashed"
    assert "read the cost events" not in did(build(project, verify_cache=True))
    assert "read the cost events" not in did(build(project))


# --- where the time went --------------------------------------------------------------------------------------------


def test_stages_are_timed_one_by_one() -> None:
    now = iter([0.0, 1.0, 3.5, 4.0, 4.25, 5.0])
    stages = Stages(clock=lambda: next(now))
    with stages.stage("read") as stage:
        stage.rows, stage.bytes = 1200, 5_000_000
    with stages.stage("keep", beside=True):
        pass
    assert stages.all() == (
        Stage("read", 2.5, 1200, 5_000_000), Stage("keep", 0.25, beside=True), Stage("all", 5.0),
    )  # fmt: skip


def test_a_profile_is_a_table() -> None:
    told = (Stage("read", 2.5, 1200, 5_000_000), Stage("keep", 0.25, beside=True))
    assert profile_lines(told) == [
        "stage              ms   rows      bytes",
        "read           2500.0  1,200  5,000,000",
        "keep (beside)   250.0",
    ]


def test_profile_is_told_beside_the_summary(project: Path) -> None:
    command = [sys.executable, "-m", "reportgen", "build", str(project), "--profile", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)
    assert done.stderr.splitlines()[0].split() == ["stage", "ms", "rows", "bytes"]
    assert done.stderr.splitlines()[-1].startswith("all ")
