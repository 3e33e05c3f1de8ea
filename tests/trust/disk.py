"""A warm process that forks builds, so that two hundred can be killed in minutes: at each disk step, or at any time.

In a process of its own (see `mishaps`): a fork of pytest would share its threads.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from project import event, write_project
from publish_world import STEPS, ended, spawn

import reportgen.analysing
import reportgen.making
import reportgen.render.markdown
import reportgen.render.singlefile
import reportgen.render.site  # noqa: F401 - a fork shares what is imported
from reportgen import build
from reportgen.warehouse import Warehouse

FOREIGN = {"site/CNAME": b"reports.example.org\n", "site/.nojekyll": b"", "site/agents/mine.txt": b"mine\n"}
#: Calls that change a disk, beside those of publishing: DuckDB's own are not seen, and are met at random times.
_MORE = ("rename", "truncate", "ftruncate", "link", "symlink", "chmod", "utime")


def make_inputs(project: Path, *, new: bool) -> None:
    """Write the old or the new inputs: in the new ones an agent has gone, another has come, and a run costs much."""
    rows = [
        event(f"2026-11-{day:02d}T09:{n:02d}:00Z", agent, run_id=f"r{day}", cost_usd=9 if day == 9 and new else 1)
        for day in range(1, 12 if new else 10)
        for n, agent in enumerate(("writer", "reader", "fresh" if new else "gone"))
    ]
    feedback = [("2026-11-02", "docs", "writer", "40/100", "loop-excess")] * (4 if new else 1)
    write_project(project, rows, feedback)


def outputs(project: Path) -> dict[str, bytes]:
    """Return every file that a reader of the project sees, by its path; not the work folder, nor what is foreign."""
    found = {}
    for path in [project / "RECOMMENDATIONS.md", *(project / "site").rglob("*")]:
        name = path.relative_to(project).as_posix()
        if path.is_file() and name not in FOREIGN and ".reportgen-staging" not in name:
            found[name] = path.read_bytes()
    return found


class Yard:
    """A project with the old build in it, to copy from, and what both builds give."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.start = base / "start"
        self.project = base / "project"
        make_inputs(self.start, new=False)
        build(self.start)
        for name, data in FOREIGN.items():
            (self.start / name).parent.mkdir(parents=True, exist_ok=True)
            (self.start / name).write_bytes(data)
        self.old = outputs(self.start)
        self.fresh()
        began = time.monotonic()
        build(self.project)
        #: How long a build takes here.
        self.seconds = time.monotonic() - began
        self.new = outputs(self.project)

    def fresh(self, *, new: bool = True) -> Path:
        """Return the project as it was after the old build, with the new inputs, or with the old ones."""
        shutil.rmtree(self.project, ignore_errors=True)
        self.fill()
        if new:
            self.renew()
        return self.project

    def fill(self) -> None:
        """Copy the project, as the old build left it, to where it is built; the times of files stay."""
        shutil.copytree(self.start, self.project, dirs_exist_ok=True)

    def renew(self) -> None:
        """Write the new inputs."""
        make_inputs(self.project, new=True)

    def problems(self, when: str, *, killed: bool = True) -> Iterator[str]:
        """Yield what is wrong after a kill, and after the build that follows."""
        project = self.project
        if killed:
            for name, data in outputs(project).items():
                if data not in (self.old.get(name), self.new.get(name)):
                    yield f"{when}: {name} is neither old nor new"
            store = project / ".reportgen" / "warehouse.duckdb"
            try:
                with Warehouse(store, read_only=True) as opened:
                    opened.query("select count(*) from runs")
            except Exception as error:
                yield f"{when}: the warehouse is not whole: {error}"
        if (code := ended(spawn(lambda: build(project)))) != 0:
            yield f"{when}: the next build ended with {code}"
        now = outputs(project)
        for name in sorted(now.keys() ^ self.new.keys()):
            yield f"{when}: {name} is {'left' if name in now else 'missing'} after the next build"
        for name in now.keys() & self.new.keys():
            if now[name] != self.new[name]:
                yield f"{when}: {name} has other bytes after the next build"
        for name, data in FOREIGN.items():
            if not (project / name).is_file() or (project / name).read_bytes() != data:
                yield f"{when}: {name}, which is somebody else's, is gone"
        left = sorted(path.name for path in (project / ".reportgen").iterdir())
        if left != ["build.kept", "lock", "marts.kept", "warehouse.duckdb"]:
            yield f"{when}: left in the work folder: {left}"
        if any("staging" in path.name for path in project.rglob(".*")):
            yield f"{when}: staged files are left"


@contextmanager
def steps(strike_at: int) -> Iterator[list[str]]:
    """Count the disk steps of this process; at number `strike_at` it is killed. A write is cut in half first."""
    taken: list[str] = []

    def counted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **kwargs: Any) -> Any:
            reads = name == "open" and len(args) > 1 and not args[1] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            if not reads:
                taken.append(name)
                if len(taken) == strike_at:
                    if name == "write":
                        real(args[0], bytes(args[1])[: len(args[1]) // 2])
                    os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **kwargs)

        return step

    names = (*STEPS, *_MORE)
    before = {name: getattr(os, name) for name in names}
    for name, real in before.items():
        setattr(os, name, counted(name, real))
    try:
        yield taken
    finally:
        for name, real in before.items():
            setattr(os, name, real)


def _killed_at(project: Path, stage: str) -> None:
    def told(now: str, done: int, total: int) -> None:
        if now == stage:
            os.kill(os.getpid(), signal.SIGKILL)

    build(project, progress=told)


def run_kills(yard: Yard, kills: int, seed: int) -> dict[str, Any]:
    """Kill so many builds: at each stage, at disk steps all over a build, at random times. Return figures and losses."""
    rng = random.Random(seed)
    yard.fresh()
    counter = yard.base / "steps"

    def count() -> None:
        with steps(0) as taken:
            build(yard.project)
        counter.write_text(str(len(taken)), encoding="utf-8")

    ended(spawn(count))
    all_steps = int(counter.read_text(encoding="utf-8"))
    stages = ["read events", "load", "detect", "render", "publish"]
    at_stage = min(len(stages), kills // 4)
    at_step = (kills - at_stage) // 2
    losses: list[str] = []
    died = 0
    for number in range(kills):
        project = yard.fresh()
        if number < at_stage:
            when = f"killed when it says '{stages[number]}'"
            child = spawn(lambda project=project, stage=stages[number]: _killed_at(project, stage))  # type: ignore[misc]
        elif number < at_stage + at_step:
            step = 1 + (number - at_stage) * all_steps // at_step
            when = f"killed at step {step} of {all_steps}"

            def cut(step: int = step, project: Path = project) -> None:
                with steps(step):
                    build(project)

            child = spawn(cut)
        else:
            moment = rng.random() * yard.seconds * 1.1
            when = f"killed after {moment:.3f} s of {yard.seconds:.3f}"
            child = spawn(lambda project=project: build(project))  # type: ignore[misc]
            time.sleep(moment)
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        died += ended(child) == -signal.SIGKILL
        losses += list(yard.problems(when))
    return {"kills": kills, "died": died, "steps": all_steps, "losses": losses}
