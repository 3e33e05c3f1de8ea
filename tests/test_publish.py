"""What publishing writes, leaves alone, removes and refuses."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import stat
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from publish_world import FOREIGN, NEW, OLD, Build, World, digest, outputs_of, refused, snapshot

from reportgen.publish import MANIFEST, Manifest, Published, read_manifest, recover, retire


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path / "project")
    made.root.mkdir()
    return made


def test_a_first_build_makes_what_it_needs_and_a_manifest_that_names_it(world: World) -> None:
    assert world.publish(OLD) == Published(written=len(OLD.files) + 1, unchanged=0, removed=0)
    assert world.recommendations.read_bytes() == OLD.markdown
    on_disk = {p.relative_to(world.site).as_posix(): p.read_bytes() for p in world.site.rglob("*") if p.is_file()}
    assert on_disk.pop(MANIFEST)
    assert on_disk == OLD.site_files
    assert read_manifest(world.site) == Manifest(
        files={path: digest(data) for path, data in sorted(OLD.site_files.items())},
        ids=dict(OLD.ids),
        retired={},
        build_hash=OLD.hash,
    )
    assert list(world.work.iterdir()) == []


def test_only_files_that_differ_are_written(world: World) -> None:
    world.publish(OLD)
    old_time = 1_700_000_000_000_000_000
    for path in [world.recommendations, *(p for p in world.site.rglob("*") if p.is_file())]:
        os.utime(path, ns=(old_time, old_time))
    before = snapshot(world.root)
    assert world.publish(OLD) == Published(written=0, unchanged=len(OLD.files) + 1, removed=0)
    assert snapshot(world.root) == before

    changed = Build("old", {**OLD.files, "index.html": b"another", "more.html": b"more"}, OLD.ids)
    assert world.publish(changed) == Published(written=2, unchanged=len(OLD.files), removed=0)
    new_times = {
        p.relative_to(world.site).as_posix() for p in world.site.rglob("*.*") if p.stat().st_mtime_ns > old_time
    }
    assert new_times == {"index.html", "more.html", MANIFEST}
    assert world.recommendations.stat().st_mtime_ns == old_time


def test_stale_files_and_their_empty_folders_go_and_foreign_files_stay(world: World) -> None:
    world.publish(OLD)
    world.add_foreign()
    (world.site / "runs" / "deep" / "photo.png").write_bytes(b"png")
    published = world.publish(NEW)
    assert published.removed == 4  # agents/gone.html, runs/deep/r1.html, shape, turn/inner.html
    assert published.kept == ()
    assert world.foreign() == FOREIGN
    assert (world.site / "runs" / "deep" / "photo.png").read_bytes() == b"png"
    assert world.folders() == {"agents", "assets", "fresh", "fresh/one", "notes", "runs", "runs/deep", "shape"}
    assert (world.site / "turn").read_bytes() == NEW.site_files["turn"]


def test_a_stale_file_that_somebody_changed_is_left_and_named(world: World) -> None:
    world.publish(OLD)
    (world.site / "agents" / "gone.html").write_bytes(b"my own words now")
    published = world.publish(NEW)
    assert published.kept == ("agents/gone.html",)
    assert published.removed == 3
    assert (world.site / "agents" / "gone.html").read_bytes() == b"my own words now"
    assert "agents/gone.html" not in read_manifest(world.site).files
    assert "agents/gone.html" in refused(world, OLD).where, "from now on it is theirs"


def test_an_edited_file_of_its_own_is_written_again(world: World) -> None:
    world.publish(OLD)
    (world.site / "index.html").write_bytes(b"edited")
    world.recommendations.write_bytes(b"<!-- reportgen: build 0 -->\nedited\n")
    assert world.publish(OLD).written == 2
    assert (world.site / "index.html").read_bytes() == OLD.site_files["index.html"]
    assert world.recommendations.read_bytes() == OLD.markdown


def test_the_same_bytes_are_never_refused(world: World) -> None:
    world.publish(NEW)
    (world.site / MANIFEST).unlink()
    assert world.publish(NEW).written == 0
    assert set(read_manifest(world.site).files) == set(NEW.files)


def test_a_site_that_is_a_link_to_a_folder_is_written_there(world: World, tmp_path: Path) -> None:
    hosted = tmp_path / "hosted"
    hosted.mkdir()
    world.site.symlink_to(hosted)
    world.publish(OLD)
    world.publish(NEW)
    assert world.site.is_symlink()
    assert (hosted / "index.html").read_bytes() == NEW.site_files["index.html"]


def test_a_disk_that_takes_a_few_bytes_at_a_time_gets_all(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda descriptor, data: write(descriptor, bytes(data)[:7]))
        world.publish(OLD)
    assert world.publish(OLD).written == 0


def test_modes_honour_the_umask(world: World) -> None:
    before = os.umask(0o027)
    try:
        world.publish(OLD)
    finally:
        os.umask(before)
    modes = {stat.S_IMODE(p.stat().st_mode) for p in [*world.site.rglob("*.*"), world.recommendations] if p.is_file()}
    assert modes == {0o640}
    assert stat.S_IMODE((world.site / "agents").stat().st_mode) == 0o750


def test_the_site_and_the_recommendations_may_be_on_two_disks(world: World) -> None:
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK) or memory.stat().st_dev == world.root.stat().st_dev:
        pytest.skip("needs a second file system, /dev/shm")
    other = Path(tempfile.mkdtemp(dir=memory))
    try:
        for build in (OLD, NEW):
            world.publish(build, site=other / "site")
        assert (other / "site" / "index.html").read_bytes() == NEW.site_files["index.html"]
        assert world.recommendations.read_bytes() == NEW.markdown
        assert {p.name for p in world.root.iterdir()} == {"RECOMMENDATIONS.md", ".reportgen"}
    finally:
        shutil.rmtree(other)


def test_the_manifest_is_the_same_bytes_wherever_and_in_whatever_order(tmp_path: Path) -> None:
    rng = random.Random(3)
    seen = set()
    for number in range(4):
        world = World(tmp_path / (f"{number}" * (number + 1)) / "project")
        world.root.mkdir(parents=True)
        files, ids = list(NEW.files.items()), list(NEW.ids.items())
        rng.shuffle(files)
        rng.shuffle(ids)
        if number % 2:
            world.publish(OLD)
        world.publish(Build("new", dict(files), dict(ids)), retired={"z": "last", "a": "first"})
        seen.add((world.site / MANIFEST).read_bytes())
    assert len(seen) == 1
    text = seen.pop().decode()
    assert str(tmp_path) not in text
    assert not re.search(r"\d\d:\d\d", text)
    assert json.loads(text)["retired"] == {"a": "first", "z": "last"}


def test_both_outputs_of_one_build_carry_its_hash_whatever_was_there(world: World, tmp_path: Path) -> None:
    world.publish(OLD)
    world.publish(NEW)
    assert world.outputs() == outputs_of(NEW, tmp_path / "alone")


def test_no_manifest_is_an_empty_one(world: World) -> None:
    assert read_manifest(world.site) == Manifest()
    world.site.write_bytes(b"a file")
    assert read_manifest(world.site).files == {}


def test_recover_writes_nothing_where_nothing_was_cut_short(world: World) -> None:
    world.publish(OLD)
    before = snapshot(world.root)
    assert recover(**world.places) is None
    assert recover(site=world.root / "none", recommendations=world.root / "no" / "R.md", work=world.root / "w") is None
    assert snapshot(world.root) == before


def test_recommendations_may_lie_in_the_site(world: World) -> None:
    inside = world.site / "reports" / "RECOMMENDATIONS.md"
    for build in (OLD, NEW, OLD):
        world.publish(build, recommendations=inside)
        assert inside.read_bytes() == build.markdown
    assert "reports/RECOMMENDATIONS.md" not in read_manifest(world.site).files


def test_retired_ids_are_those_shown_before_and_not_now() -> None:
    manifest = Manifest(ids={"b": "B", "a": "A", "new": "N"}, retired={"old": "O", "back": "X", "b": "older title"})
    assert list(retire(manifest, {"new": "N", "back": "X"}).items()) == [("a", "A"), ("b", "B"), ("old", "O")]
    assert retire(Manifest(), {"x": "X"}) == {}


def test_retired_ids_are_bounded_and_the_newest_stay() -> None:
    manifest = Manifest(
        ids={f"m{n:03}": "shown last" for n in range(300)}, retired={f"a{n:03}": "long ago" for n in range(400)}
    )
    kept = retire(manifest, {})
    assert len(kept) == 500
    assert list(kept) == sorted(kept)
    assert set(manifest.ids) <= set(kept)
    assert len(retire(manifest, {}, limit=10)) == 10


def test_retired_ids_survive_many_builds(world: World) -> None:
    retired: dict[str, str] = {}
    for number in range(4):
        build = Build("new", NEW.files, {f"id-{number}": f"title {number}"})
        retired = retire(read_manifest(world.site), build.ids)
        world.publish(build, retired=retired)
    assert retired == {"id-0": "title 0", "id-1": "title 1", "id-2": "title 2"}


_NAMES = st.sampled_from(["a", "b", "a/a", "a/b", "b/a", "a/a/a", "a/b/c", "c/d/e"])
_TREES = st.dictionaries(_NAMES, st.sampled_from([b"1", b"2", b"33"]), max_size=5).filter(
    lambda tree: not any(one.startswith(f"{other}/") for one in tree for other in tree)
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(trees=st.lists(_TREES, min_size=2, max_size=4))
def test_whatever_the_builds_the_site_is_the_last_one_and_what_is_foreign(
    trees: list[dict[str, bytes]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    memory = Path("/dev/shm")
    base = Path(tempfile.mkdtemp(dir=memory if os.access(memory, os.W_OK) else tmp_path_factory.getbasetemp()))
    try:
        world = World(base)
        (world.site / "c").mkdir(parents=True)
        (world.site / "c" / "mine").write_bytes(b"mine")
        before: dict[str, bytes] = {}
        for number, tree in enumerate(trees):
            published = world.publish(Build(f"{number}", tree, {}))
            same = [path for path, data in tree.items() if before.get(path) == data]
            gone = set(before) - set(tree)
            assert published == Published(len(tree) + 1 - len(same), len(same), len(gone))
            files = {p.relative_to(world.site).as_posix(): p.read_bytes() for p in world.site.rglob("*") if p.is_file()}
            assert files.pop(MANIFEST)
            assert files == {**tree, "c/mine": b"mine"}
            folders = {"/".join(path.split("/")[:n]) for path in files for n in range(1, path.count("/") + 1)}
            assert world.folders() == folders
            before = tree
    finally:
        shutil.rmtree(base)
