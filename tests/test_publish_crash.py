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
    fail_at,
    faults,
    hashes_in,
    in_child,
    kill_at,
    outputs_of,
)

from reportgen.errors import ReportgenError
from reportgen.publish import lock, recover

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


def test_killed_at_every_other_step_the_next_publish_alone_heals(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    third = Build("third", {"index.html": b"third @hash@", "agents/b.html": b"b @hash@"}, {})
    for step in range(1, len(steps_of_a_publish(stage, monkeypatch)) + 1, 2):
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


@pytest.mark.parametrize(("code", "stride"), [(errno.EIO, 1), (errno.ENOSPC, 3), (errno.EACCES, 3)])
def test_an_error_at_any_step_leaves_the_old_outputs_or_heals(
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
    assert stopped["before"] > 10
    assert stopped["after"] > 10


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
    world = World(stage.base / "first" / "project")
    with pytest.raises(ReportgenError), faults(disk_full_from(3), monkeypatch):
        world.publish(OLD)
    assert list(world.root.iterdir()) == [world.work]


def test_killed_at_random_times(stage: Stage) -> None:
    rng = random.Random(7)
    world = stage.fresh()
    target = stage.old
    for _ in range(40):
        build, whole = (NEW, stage.new) if target is stage.old else (OLD, stage.old)
        child = os.fork()
        if child == 0:
            try:
                world.publish(build)
            finally:
                os._exit(0)
        time.sleep(rng.random() * 0.012)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
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

    children = []
    for pair in ((OLD, NEW), (NEW, OLD), (NEW, NEW)):
        child = os.fork()
        if child == 0:
            code = 70
            try:
                keep_publishing(*pair)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    reads = 0
    waiting = set(children)
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


def test_a_second_build_waits_and_says_so(stage: Stage) -> None:
    work = stage.base / "locked"
    ready, hold_on = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        with lock(work):
            os.write(ready[1], b"x")
            os.read(hold_on[0], 1)
        os._exit(0)
    os.read(ready[0], 1)
    said: list[str] = []
    naps: list[float] = []

    def nap(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 3:
            os.write(hold_on[1], b"x")
            os.waitpid(child, 0)

    with lock(work, on_wait=said.append, sleep=nap):
        assert len(naps) == 3
    assert len(said) == 1
    assert str(work) in said[0]
    assert "waiting" in said[0]


def test_a_lock_that_is_never_free_is_an_error_and_a_killed_holder_frees_it(stage: Stage) -> None:
    work = stage.base / "locked"
    ready = os.pipe()
    child = os.fork()
    if child == 0:
        with lock(work):
            os.write(ready[1], b"x")
            time.sleep(60)
        os._exit(0)
    os.read(ready[0], 1)
    ticks = iter(range(1000))
    with (
        pytest.raises(ReportgenError, match="more than 5 seconds") as caught,
        lock(work, wait_seconds=5, sleep=lambda _: None, clock=lambda: float(next(ticks))),
    ):
        pytest.fail("two builds at once")
    assert caught.value.exit_code == 2
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with lock(work, wait_seconds=0):
        pass


def test_a_work_folder_deleted_while_waiting_is_no_lock_any_more(stage: Stage) -> None:
    work = stage.base / "locked"
    with lock(work):
        naps = []

        def delete(seconds: float) -> None:
            naps.append(seconds)
            shutil.rmtree(work)
            os.close(os.open(stage.base / "other", os.O_CREAT))

        # The waiter holds on to a file that is gone; once it is freed, it must take the lock of the new one.
        child = os.fork()
        if child == 0:
            code = 70
            try:
                with lock(work, sleep=delete, wait_seconds=0):
                    pass
            except ReportgenError:
                code = 3
            os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    with lock(work, wait_seconds=0):
        assert (work / "lock").exists()
