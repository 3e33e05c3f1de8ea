"""All or nothing: publishing is cut short at every step it takes, by errors and by SIGKILL, and heals."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from publish_world import (
    FOREIGN,
    NEW,
    NO_FAULT,
    OLD,
    Build,
    World,
    broken_files,
    copy,
    disk_full_from,
    ended,
    fail_at,
    faults,
    hashes_in,
    in_child,
    kill_at,
    outputs_of,
    spawn,
)

from reportgen.errors import ReportgenError
from reportgen.publish import MANIFEST, recover

_MEMORY = Path("/dev/shm")


@dataclass
class Stage:
    """A project with the old build in it to copy from, and what it holds after each build."""

    base: Path
    start: World
    old: dict[str, bytes]
    new: dict[str, bytes]
    copies: int = 0

    def fresh(self) -> World:
        self.copies += 1
        return copy(self.start, self.base / f"copy-{self.copies}")

    def check_new(self, world: World, when: str) -> None:
        assert world.outputs() == self.new, when
        assert world.foreign() == FOREIGN, when
        assert world.folders() == {"agents", "assets", "fresh", "fresh/one", "notes", "shape"}, when

    def check_whole(self, world: World, when: str) -> None:
        assert broken_files(world.outputs(), self.old, self.new) == [], when
        assert world.foreign() == FOREIGN, when


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    # In memory where that is possible: these tests wait for the disk thousands of times.
    base = Path(tempfile.mkdtemp(dir=_MEMORY if os.access(_MEMORY, os.W_OK) else tmp_path))
    try:
        old, new = outputs_of(OLD, base / "only-old"), outputs_of(NEW, base / "only-new")
        start = World(base / "start")
        start.root.mkdir()
        start.publish(OLD)
        start.add_foreign()
        yield Stage(base, start, old, new)
    finally:
        shutil.rmtree(base)


def steps_of_a_publish(stage: Stage, patch: pytest.MonkeyPatch) -> list[str]:
    world = stage.fresh()
    with faults(NO_FAULT, patch) as taken:
        world.publish(NEW)
    stage.check_new(world, "undisturbed")
    assert {"open", "write", "fsync", "replace", "unlink", "mkdir", "rmdir"} <= set(taken)
    return taken


def killed_at(world: World, step: int, patch: pytest.MonkeyPatch) -> None:
    def run() -> None:
        with faults(kill_at(step), patch):
            world.publish(NEW)

    assert in_child(run) == -signal.SIGKILL


def test_killed_at_every_step_the_next_command_finishes_or_undoes(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = {"undone": 0, "finished": 0, "nothing": 0, "mixed": 0}
    for step in range(1, len(steps_of_a_publish(stage, monkeypatch)) + 1):
        world = stage.fresh()
        killed_at(world, step, monkeypatch)
        stage.check_whole(world, f"step {step}")
        cut = world.outputs()
        if hashes_in(cut) == {OLD.name, NEW.name}:
            seen["mixed"] += 1
            assert any("journal.json" in path for path in cut), f"step {step}: a mix that nothing would heal"
        if step % 2:
            shutil.rmtree(world.work, ignore_errors=True)  # "may be deleted at any time"
        said = recover(**world.places)
        if said is None:
            seen["nothing"] += 1
            assert world.outputs() in (stage.old, stage.new), f"step {step}"
        elif "undone" in said:
            seen["undone"] += 1
            assert world.outputs() == stage.old, f"step {step}"
        else:
            assert "finished" in said
            assert NEW.hash[:12] in said
            seen["finished"] += 1
            stage.check_new(world, f"step {step}")
        assert recover(**world.places) is None
        world.publish(NEW)
        stage.check_new(world, f"after step {step}")
        assert not (world.work / "publish.json").exists()
    # The kills fell into every stage: getting ready, swapping, clearing up.
    assert seen["undone"] > 10
    assert seen["finished"] > 10
    assert seen["mixed"] > 5
    assert seen["nothing"] >= 1


def test_killed_at_every_third_step_the_next_publish_alone_heals(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    third = Build("third", {"index.html": b"third @hash@", "agents/b.html": b"b @hash@"}, {})
    for step in range(1, len(steps_of_a_publish(stage, monkeypatch)) + 1, 3):
        world = stage.fresh()
        killed_at(world, step, monkeypatch)
        world.publish(third)
        left = world.outputs()
        assert {path: data for path, data in left.items() if not path.endswith("manifest.json")} == {
            "RECOMMENDATIONS.md": third.markdown,
            **{f"site/{path}": data for path, data in third.site_files.items()},
        }, f"step {step}"
        assert world.foreign() == FOREIGN


def test_killed_while_it_heals_it_heals_later(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = steps_of_a_publish(stage, monkeypatch)
    swaps = [number for number, name in enumerate(taken, 1) if name == "replace"]
    # Before the commit, just after it, half-way, and just before the manifest.
    for first in (swaps[1], swaps[1] + 3, swaps[len(swaps) // 2], swaps[-1]):
        cut = stage.fresh()
        killed_at(cut, first, monkeypatch)
        step, code = 0, -signal.SIGKILL
        while code == -signal.SIGKILL:
            step += 1
            world = copy(cut, stage.base / f"heal-{first}-{step}")

            def heal(world: World = world, step: int = step) -> None:
                with faults(kill_at(step), monkeypatch):
                    recover(**world.places)

            code = in_child(heal)
            stage.check_whole(world, f"killed at {first}, then at {step}")
            recover(**world.places)
            assert world.outputs() in (stage.old, stage.new)
            world.publish(NEW)
            stage.check_new(world, f"killed at {first}, then at {step}")
        assert code == 0
        assert step > 5


@pytest.mark.parametrize(("code", "stride"), [(errno.EIO, 2), (errno.ENOSPC, 5), (errno.EACCES, 5)])
def test_an_error_at_many_steps_leaves_the_old_outputs_or_heals(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, code: int, stride: int
) -> None:
    stopped = {"before": 0, "after": 0, "tolerated": 0}
    for step in range(1, len(steps_of_a_publish(stage, monkeypatch)) + 1, stride):
        world = stage.fresh()
        before = {path: path.stat().st_mtime_ns for path in world.site.rglob("*") if path.is_file()}
        error: ReportgenError | None = None
        try:
            with faults(fail_at(step, code), monkeypatch):
                world.publish(NEW)
        except ReportgenError as raised:
            error = raised
        stage.check_whole(world, f"step {step}")
        if error is None:
            # Such as a lock or a folder's sync that a disk does not have: the outputs are right all the same.
            stopped["tolerated"] += 1
            assert {p: d for p, d in world.outputs().items() if "staging" not in p} == stage.new, f"step {step}"
            continue
        assert error.exit_code == 2
        assert all((error.where, error.what, error.next_step))
        if "the next command finishes" in error.next_step:
            stopped["after"] += 1
            assert "finished" in str(recover(**world.places))
            stage.check_new(world, f"step {step}")
        else:
            stopped["before"] += 1
            assert world.outputs() == stage.old, f"step {step}: {error}"
            after = {path: path.stat().st_mtime_ns for path in world.site.rglob("*") if path.is_file()}
            assert after == before
        world.publish(NEW)
        stage.check_new(world, f"after step {step}")
    assert stopped["before"] > 5
    assert stopped["after"] > 5


def test_a_full_disk_says_so_and_leaves_the_old_outputs(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = steps_of_a_publish(stage, monkeypatch)
    commit = [number for number, name in enumerate(taken, 1) if name == "replace"][1]
    last_write = max(number for number, name in enumerate(taken[:commit], 1) if name == "write")
    for step in [*range(1, last_write, 4), last_write]:
        world = stage.fresh()
        with pytest.raises(ReportgenError, match="no space left") as caught, faults(disk_full_from(step), monkeypatch):
            world.publish(NEW)
        assert "Free some space" in caught.value.next_step
        assert str(world.root) in caught.value.where
        assert world.outputs() == stage.old


def test_a_first_build_that_fails_leaves_no_folder_behind(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    for step in range(1, 40, 3):
        world = World(stage.base / f"first-{step}" / "project")
        with pytest.raises(ReportgenError, match="no space left"), faults(disk_full_from(step), monkeypatch):
            world.publish(OLD)
        left = {path.relative_to(world.root.parent).as_posix() for path in world.root.parent.rglob("*")}
        assert left <= {"project", "project/.reportgen"}
        assert world.root.parent.exists() == world.work.exists()


def test_all_that_is_new_is_on_the_disk_before_the_swap_and_the_swap_before_it_is_called_done(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut can't be made here; the order of the calls that survive one can be watched."""
    world = stage.fresh()
    paths: dict[int, str] = {}
    unsynced: set[str] = set()
    log: list[str] = []
    real_open, real_fsync, real_replace, real_unlink = os.open, os.fsync, os.replace, os.unlink

    def watched_open(path: Any, flags: int, *args: Any, **more: Any) -> int:
        descriptor = real_open(path, flags, *args, **more)
        paths[descriptor] = os.fspath(path)
        if flags & os.O_EXCL:
            unsynced.update((os.fspath(path), str(Path(path).parent)))
        return descriptor

    def watched_fsync(descriptor: int) -> None:
        real_fsync(descriptor)
        unsynced.discard(paths[descriptor])

    def watched_replace(source: Any, target: Any) -> None:
        if Path(target).name == "journal.json":
            log.append("commit")
            assert unsynced <= {str(Path(target).parent), str(world.work)}
        if Path(target).name == MANIFEST:
            log.append("manifest")
            assert unsynced == set()
        real_replace(source, target)
        unsynced.add(str(Path(target).parent))

    def watched_unlink(path: Any, **more: Any) -> None:
        if Path(path).name == "journal.json":
            log.append("done")
            assert str(world.site) not in unsynced
        real_unlink(path, **more)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", watched_open)
        patch.setattr(os, "fsync", watched_fsync)
        patch.setattr(os, "replace", watched_replace)
        patch.setattr(os, "unlink", watched_unlink)
        world.publish(NEW)
    assert log == ["commit", "manifest", "done"]
    stage.check_new(world, "watched")


def test_killed_at_random_times(stage: Stage) -> None:
    rng = random.Random(7)
    world = stage.fresh()
    target = stage.old
    for _ in range(40):
        build, whole = (NEW, stage.new) if target is stage.old else (OLD, stage.old)
        child = spawn(lambda build=build: world.publish(build))  # type: ignore[misc]
        time.sleep(rng.random() * 0.012)
        os.kill(child, signal.SIGKILL)
        ended(child)
        stage.check_whole(world, "after a random kill")
        recover(**world.places)
        assert world.outputs() in (stage.old, stage.new)
        world.publish(build)
        assert world.outputs() == whole
        target = whole
    assert world.foreign() == FOREIGN


def test_a_swap_cut_short_elsewhere_is_found_from_the_work_folder(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = steps_of_a_publish(stage, monkeypatch)
    half = [number for number, name in enumerate(taken, 1) if name == "replace"][5]
    world = stage.fresh()
    killed_at(world, half, monkeypatch)
    elsewhere = {"site": world.root / "other", "recommendations": world.root / "OTHER.md", "work": world.work}
    said = recover(**elsewhere)
    assert said is not None
    assert f"{world.site}: " in said
    stage.check_new(world, "told another place")


def test_a_swap_undone_for_another_recommendations_file_leaves_nothing_hidden(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = steps_of_a_publish(stage, monkeypatch)
    commit = [number for number, name in enumerate(taken, 1) if name == "replace"][1]
    world = stage.fresh()
    killed_at(world, commit, monkeypatch)
    shutil.rmtree(world.work)
    assert any("RECOMMENDATIONS.md.reportgen-staging" in path for path in world.outputs())
    recover(site=world.site, recommendations=world.root / "docs" / "OTHER.md", work=world.work)
    assert world.outputs() == stage.old


def test_a_project_moved_after_a_kill_heals_where_it_is_now(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = steps_of_a_publish(stage, monkeypatch)
    half = [number for number, name in enumerate(taken, 1) if name == "replace"][4]
    world = stage.fresh()
    killed_at(world, half, monkeypatch)
    world = World(world.root.rename(stage.base / "moved"))
    assert "finished" in str(recover(**world.places))
    stage.check_new(world, "moved")


def test_lost_staged_files_are_said_and_the_next_build_mends(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = steps_of_a_publish(stage, monkeypatch)
    half = [number for number, name in enumerate(taken, 1) if name == "replace"][5]
    world = stage.fresh()
    killed_at(world, half, monkeypatch)
    shutil.rmtree(world.site / ".reportgen-staging" / "files")
    said = recover(**world.places)
    assert said is not None
    assert "given up" in said
    assert "build again" in said
    assert hashes_in(world.outputs()) == {OLD.name, NEW.name}, "a mix, and the hashes show it"
    # Not refused as somebody else's, although these bytes differ from what the cut build left.
    world.publish(Build("fourth", {**NEW.files, "agents/b.html": b"another b @hash@"}, {}))
    assert hashes_in(world.outputs()) == set()
    assert recover(**world.places) is None


def test_parallel_builds_end_with_one_of_them_and_readers_see_whole_files(stage: Stage) -> None:
    world = stage.fresh()

    def keep_publishing(first: Build, second: Build) -> None:
        for _ in range(6):
            world.publish(first)
            world.publish(second)

    waiting = {
        spawn(lambda: keep_publishing(OLD, NEW)),
        spawn(lambda: keep_publishing(NEW, OLD)),
        spawn(lambda: keep_publishing(NEW, NEW)),
    }
    reads = 0
    while waiting:
        for path in ("index.html", "agents/a.html", "404.html"):
            assert (world.site / path).read_bytes() in (OLD.site_files[path], NEW.site_files[path])
            reads += 1
        for child in sorted(waiting):
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                assert os.waitstatus_to_exitcode(status) == 0
                waiting.discard(child)
    assert reads > 10
    assert world.outputs() in (stage.old, stage.new)
    assert world.foreign() == FOREIGN
