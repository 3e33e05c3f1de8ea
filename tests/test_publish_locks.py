"""Two builds of one project follow each other."""

from __future__ import annotations

import errno
import os
import shutil
import signal
from pathlib import Path

import pytest
from publish_world import OLD, World, ended, spawn

from reportgen.errors import ReportgenError
from reportgen.publish import lock


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path / "project")
    made.root.mkdir()
    return made


class Holder:
    """Another process that holds the lock until it is let go."""

    def __init__(self, work: Path) -> None:
        self._work = work
        self._ready, self._let_go = os.pipe(), os.pipe()
        self.child = spawn(self._hold)
        os.read(self._ready[0], 1)

    def _hold(self) -> None:
        with lock(self._work):
            os.write(self._ready[1], b"x")
            os.read(self._let_go[0], 1)

    def let_go(self) -> None:
        os.write(self._let_go[1], b"x")
        assert ended(self.child) == 0


def test_a_second_build_waits_and_says_so(world: World) -> None:
    holder = Holder(world.work)
    said: list[str] = []
    naps: list[float] = []

    def nap(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 3:
            holder.let_go()

    with lock(world.work, on_wait=said.append, sleep=nap):
        assert len(naps) == 3
    assert len(said) == 1
    assert str(world.work) in said[0]
    assert "waiting" in said[0]


def test_a_lock_that_is_never_free_is_an_error_and_a_killed_holder_frees_it(world: World) -> None:
    holder = Holder(world.work)
    ticks = iter(range(1000))
    with (
        pytest.raises(ReportgenError, match="more than 5 seconds") as caught,
        lock(world.work, wait_seconds=5, sleep=lambda _: None, clock=lambda: float(next(ticks))),
    ):
        pytest.fail("two builds at once")
    assert caught.value.exit_code == 2
    os.kill(holder.child, signal.SIGKILL)
    assert ended(holder.child) == -signal.SIGKILL
    with lock(world.work, wait_seconds=0):
        pass


def test_a_work_folder_deleted_while_waiting_does_not_leave_an_empty_lock(world: World) -> None:
    holder = Holder(world.work)

    def nap(_seconds: float) -> None:
        shutil.rmtree(world.work)
        holder.let_go()

    # What was waited for is a file that no other build would find: the lock of the new folder is what counts.
    with lock(world.work, sleep=nap):
        assert (world.work / "lock").exists()
        with pytest.raises(ReportgenError), lock(world.work, wait_seconds=0):
            pytest.fail("two builds at once")


def test_a_lock_needs_a_folder_that_can_be_made(world: World) -> None:
    (world.root / "file").write_bytes(b"")
    with pytest.raises(ReportgenError) as caught, lock(world.root / "file" / "work"):
        pytest.fail("no folder, no lock")
    assert str(world.root / "file") in caught.value.where


def test_a_disk_without_locks_does_not_stop_a_build(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(_descriptor: int, _how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    with lock(world.work):
        world.publish(OLD)
    assert world.recommendations.read_bytes() == OLD.markdown
