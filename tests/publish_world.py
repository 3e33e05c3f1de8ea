"""A small project to publish into: an old build, a new build, and files that are somebody else's.

Also the faults: a step (one call of the operating system) that fails, or at which the process is killed.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import signal
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reportgen.errors import ReportgenError
from reportgen.publish import Published, publish

#: Every call by which publishing changes a disk, or makes sure that it has been changed.
STEPS = ("open", "write", "fsync", "replace", "unlink", "mkdir", "rmdir")

FOREIGN = {"CNAME": b"reports.example.org\n", ".nojekyll": b"", "notes/mine.txt": b"my notes\n", "agents/x.txt": b"x"}


@dataclass(frozen=True)
class Build:
    """One build's outputs; each page carries the build's hash, the style sheet does not."""

    name: str
    files: Mapping[str, bytes]
    ids: Mapping[str, str]

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.name.encode()).hexdigest()

    @property
    def markdown(self) -> bytes:
        return f"<!-- reportgen: build {self.hash} -->\n\n# Recommendations of {self.name}\n".encode()

    @property
    def site_files(self) -> dict[str, bytes]:
        return {path: data.replace(b"@hash@", self.hash.encode()) for path, data in self.files.items()}


_SAME = {"assets/style.css": b"body { margin: 0 }\n", "404.html": b"<p>gone @hash@</p>"}
OLD = Build(
    "old",
    {
        **_SAME,
        "index.html": b"<h1>old @hash@</h1>" * 50,
        "agents/a.html": b"<p>a, old @hash@</p>",
        "agents/gone.html": b"<p>gone @hash@</p>",
        "runs/deep/r1.html": b"<p>r1 @hash@</p>",
        "shape": b"a file that becomes a folder @hash@",
        "turn/inner.html": b"a folder that becomes a file @hash@",
    },
    {"id-1": "Cap the runs", "id-2": "Batch the calls"},
)
NEW = Build(
    "new",
    {
        **_SAME,
        "index.html": b"<h1>new @hash@</h1>" * 70,
        "agents/a.html": b"<p>a, new @hash@</p>",
        "agents/b.html": b"<p>b @hash@</p>",
        "fresh/one/two.html": b"<p>two @hash@</p>",
        "shape/inside.html": b"now a folder @hash@",
        "turn": b"now a file @hash@",
    },
    {"id-1": "Cap the runs", "id-3": "Ask for less"},
)


@dataclass(frozen=True)
class World:
    """Where a project is, and what is in it."""

    root: Path

    @property
    def site(self) -> Path:
        return self.root / "site"

    @property
    def recommendations(self) -> Path:
        return self.root / "RECOMMENDATIONS.md"

    @property
    def work(self) -> Path:
        return self.root / ".reportgen"

    @property
    def places(self) -> dict[str, Path]:
        return {"site": self.site, "recommendations": self.recommendations, "work": self.work}

    def publish(self, build: Build, **more: Any) -> Published:
        options: dict[str, Any] = {
            **self.places,
            "site_files": build.site_files,
            "markdown": build.markdown,
            "ids": build.ids,
            "retired": {},
            "build_hash": build.hash,
        }
        return publish(**{**options, **more})

    def add_foreign(self) -> None:
        for path, data in FOREIGN.items():
            (self.site / path).parent.mkdir(parents=True, exist_ok=True)
            (self.site / path).write_bytes(data)

    def outputs(self) -> dict[str, bytes]:
        """Return every file of the project with its bytes, all hidden ones too; not the work folder, nor the foreign."""
        found = {}
        for folder, _, names in os.walk(self.root):
            for name in names:
                path = Path(folder) / name
                relative = path.relative_to(self.root).as_posix()
                if not relative.startswith(".reportgen/") and relative.removeprefix("site/") not in FOREIGN:
                    found[relative] = path.read_bytes()
        return found

    def folders(self) -> set[str]:
        return {p.relative_to(self.site).as_posix() for p in self.site.rglob("*") if p.is_dir()}

    def foreign(self) -> dict[str, bytes]:
        return {path: (self.site / path).read_bytes() for path in FOREIGN}


def outputs_of(build: Build, tmp: Path) -> dict[str, bytes]:
    """Return what a project holds after this build alone."""
    world = World(tmp)
    world.root.mkdir(parents=True)
    world.publish(build)
    return world.outputs()


def hashes_in(outputs: Mapping[str, bytes]) -> set[str]:
    """Return the builds that these outputs carry the hash of, the manifest's and RECOMMENDATIONS.md's among them."""
    settled = {p: d for p, d in outputs.items() if "reportgen-staging" not in p}
    return {build.name for build in (OLD, NEW) if any(build.hash.encode() in data for data in settled.values())}


def broken_files(outputs: Mapping[str, bytes], old: Mapping[str, bytes], new: Mapping[str, bytes]) -> list[str]:
    """Return the files that are neither as in the old nor as in the new build (staged ones are nobody's output)."""
    return [
        path
        for path, data in outputs.items()
        if "reportgen-staging" not in path and data not in (old.get(path), new.get(path))
    ]


@dataclass(frozen=True)
class Fault:
    """Which steps it hits (the call's name, and its number from 1), and what it does there."""

    hits: Callable[[str, int], bool]
    strike: Callable[[], None]


def kill_at(step: int) -> Fault:
    """Kill the process that takes this step, as the kernel or an operator would."""
    return Fault(lambda _, number: number == step, lambda: os.kill(os.getpid(), signal.SIGKILL))


def fail_at(step: int, code: int) -> Fault:
    return Fault(lambda _, number: number == step, lambda: _fail(code))


def disk_full_from(step: int) -> Fault:
    """Fail, from this step on, whatever needs room."""
    return Fault(lambda name, number: number >= step and name in ("write", "mkdir"), lambda: _fail(errno.ENOSPC))


NO_FAULT = Fault(lambda _name, _number: False, lambda: None)


def _fail(code: int) -> None:
    raise OSError(code, os.strerror(code))


@contextmanager
def faults(fault: Fault, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Let the fault strike in the steps it hits; yields the names of the steps taken. A write is cut in half first."""
    taken: list[str] = []
    with patch.context() as context:
        for name in STEPS:
            context.setattr(os, name, _counted(name, getattr(os, name), taken, fault))
        yield taken


def _counted(name: str, real: Callable[..., Any], taken: list[str], fault: Fault) -> Callable[..., Any]:
    def step(*args: Any, **kwargs: Any) -> Any:
        taken.append(name)
        if fault.hits(name, len(taken)):
            if name == "write":
                real(args[0], bytes(args[1])[: len(args[1]) // 2])
            fault.strike()
        return real(*args, **kwargs)

    return step


def spawn(what: Callable[[], object]) -> int:
    """Start this in a process of its own (it ends with 0, or 70 after an exception) and return its id."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            what()
            code = 0
        finally:
            os._exit(code)
    return child


def ended(child: int) -> int:
    """Wait for a process; return its exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def in_child(what: Callable[[], object]) -> int:
    """Run this in a process of its own and wait for it."""
    return ended(spawn(what))


def copy(source: World, target: Path) -> World:
    shutil.copytree(source.root, target, symlinks=True)
    return World(target)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def refused(world: World, build: Build = NEW, **more: Any) -> ReportgenError:
    """Publish, expecting a refusal that leaves every byte of the project alone."""
    before = snapshot(world.root)
    with pytest.raises(ReportgenError) as caught:
        world.publish(build, **more)
    assert caught.value.exit_code == 2
    assert snapshot(world.root) == before
    return caught.value


def snapshot(root: Path) -> dict[str, tuple[int, int, bytes]]:
    found = {}
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        data = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
        found[path.relative_to(root).as_posix()] = (status.st_ino, status.st_mtime_ns, data)
    return found
