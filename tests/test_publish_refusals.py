"""What publishing refuses to do, whoever asks: overwrite what is not its own, follow links, believe a manifest."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from publish_world import NEW, OLD, Build, World, digest, in_child, refused, snapshot

from reportgen.errors import ReportgenError
from reportgen.publish import MANIFEST, Manifest, read_manifest, recover, refuse_overlap
from reportgen.publish.files import read_plain

OUTSIDE = b"outside the site\n"


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path / "project")
    made.root.mkdir()
    return made


@pytest.mark.parametrize("path", ["index.html", "assets/style.css", MANIFEST])
def test_a_foreign_file_in_the_way_is_refused_unless_adopted(world: World, path: str) -> None:
    target = world.site / path
    target.parent.mkdir(parents=True)
    target.write_bytes(b"mine")
    error = refused(world)
    assert error.where == str(target)
    assert "--adopt" in error.next_step
    world.publish(NEW, adopt=True)
    assert target.read_bytes() != b"mine"
    assert world.publish(OLD).written > 0, "adopted once, its own from then on"


def test_recommendations_without_the_marker_are_refused_unless_adopted(world: World) -> None:
    for text in (b"# My own\n", b"", b"\n<!-- reportgen: build 1 -->\n"):
        world.recommendations.write_bytes(text)
        error = refused(world)
        assert error.where == str(world.recommendations)
        assert "--adopt" in error.next_step
    world.publish(NEW, adopt=True)
    assert world.recommendations.read_bytes() == NEW.markdown


def test_a_refusal_names_the_files_and_counts_the_rest(world: World) -> None:
    world.publish(NEW)
    (world.site / MANIFEST).write_text("<<<<<<< HEAD\n{}\n")
    error = refused(world, Build("other", dict.fromkeys(NEW.files, b"other"), {}))
    assert error.where == str(world.site / "404.html")
    assert "agents/a.html, agents/b.html, assets/style.css, fresh/one/two.html and 4 more" in error.what
    assert "reportgen-manifest.json, can't be read" in error.what


def _link(path: Path) -> None:
    path.symlink_to(path.parent / "elsewhere")


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _full_folder(path: Path) -> None:
    path.mkdir()
    (path / "mine.txt").write_bytes(b"mine")


@pytest.mark.parametrize("put", [_link, _pipe, _full_folder, Path.mkdir])
@pytest.mark.parametrize("path", ["index.html", MANIFEST, "../RECOMMENDATIONS.md"])
def test_what_is_no_file_is_never_overwritten(world: World, path: str, put: Any) -> None:
    world.site.mkdir()
    put(world.site / path)
    error = refused(world, adopt=True)
    assert Path(error.where) == Path(os.path.normpath(world.site / path))
    assert "Move it away" in error.next_step


@pytest.mark.parametrize("put", [_link, _pipe, Path.touch])
@pytest.mark.parametrize("path", ["agents", "fresh/one", ".reportgen-staging"])
def test_what_is_no_folder_is_never_gone_through(world: World, path: str, put: Any) -> None:
    target = world.site / path
    target.parent.mkdir(parents=True)
    put(target)
    error = refused(world, adopt=True)
    assert error.where == str(target)


@pytest.mark.parametrize("put", [lambda path: path.symlink_to(path), _pipe, Path.touch], ids=["loop", "pipe", "file"])
def test_a_site_that_is_no_folder_is_refused(world: World, put: Any) -> None:
    put(world.site)
    error = refused(world, adopt=True)
    assert error.where == str(world.site)
    assert "not a folder" in error.what


def test_a_read_only_folder_is_named_before_anything_is_written() -> None:
    base = Path(tempfile.mkdtemp())
    base.chmod(0o755)
    world = World(base / "project")
    world.root.mkdir()
    world.publish(OLD)
    for path in [base, *base.rglob("*")]:
        os.chown(path, 65534 if os.geteuid() == 0 else -1, -1)
    locked = world.site / "agents"
    locked.chmod(0o555)
    before = snapshot(world.root)

    def as_an_ordinary_user() -> None:
        if os.geteuid() == 0:
            os.setuid(65534)
        error = refused(world)
        assert error.where == str(locked)
        assert "read-only" in error.what
        assert "Make it writable" in error.next_step

    try:
        assert in_child(as_an_ordinary_user) == 0
        assert snapshot(world.root) == before
        locked.chmod(0o755)
        world.publish(NEW)
    finally:
        shutil.rmtree(base)


HOSTILE_PATHS = [
    "../outside.txt",
    "/abs",
    "a/../../outside.txt",
    "link/outside.txt",
    "./x",
    "a//b",
    "a\\..\\b",
    "",
    ".",
]


def test_a_hostile_manifest_leads_nowhere(world: World, tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_bytes(OUTSIDE)
    (world.root / "outside.txt").write_bytes(OUTSIDE)
    world.site.mkdir()
    (world.site / "link").symlink_to(tmp_path)
    (world.site / "leaf").symlink_to(tmp_path / "outside.txt")
    absolute = str(tmp_path / "outside.txt")
    claims = {path: digest(OUTSIDE) for path in [*HOSTILE_PATHS, "leaf", absolute, "\ud800", "a\x1b[2J", "nul\x00"]}
    claims |= {"no-digest": "x", "upper": "A" * 64}
    (world.site / MANIFEST).write_text(json.dumps({"files": claims, "ids": {"a": 1, "b": "ok"}, "build_hash": ["x"]}))
    manifest = read_manifest(world.site)
    assert set(manifest.files) == {"link/outside.txt", "leaf"}
    assert manifest.ids == {"b": "ok"}
    world.publish(NEW)
    assert (tmp_path / "outside.txt").read_bytes() == OUTSIDE
    assert (world.root / "outside.txt").read_bytes() == OUTSIDE
    assert (world.site / "link").is_symlink()
    assert (world.site / "leaf").is_symlink()


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"null", b'{"files": []}', b"\xff\xfe\x00", b"[" * 100_000, b'{"files": {"a": ' + b"9" * 9999],
    ids=["empty", "torn", "list", "null", "no files", "bytes", "deep", "long"],
)
def test_a_damaged_manifest_is_nobody_s(world: World, data: bytes) -> None:
    world.site.mkdir()
    (world.site / MANIFEST).write_bytes(data)
    manifest = read_manifest(world.site)
    assert manifest.files == {}
    assert manifest.problem
    assert MANIFEST in refused(world).where
    world.publish(NEW, adopt=True)
    assert read_manifest(world.site).problem == ""


def journal_of(world: World, **more: Any) -> dict[str, Any]:
    manifest = Manifest(files={"id_rsa": digest(OUTSIDE)}, build_hash="abc")
    staging = world.site / ".reportgen-staging"
    staging.mkdir(parents=True)
    value = {
        "manifest": manifest.as_object(),
        "stale": {},
        "recommendations": None,
        "recommendations_sha256": "",
        **more,
    }
    (staging / "journal.json").write_text(json.dumps(value))
    return value


def test_a_hostile_journal_moves_nothing_in_from_outside(world: World, tmp_path: Path) -> None:
    secret = tmp_path / "secrets"
    secret.mkdir()
    (secret / "id_rsa").write_bytes(OUTSIDE)
    (secret / MANIFEST).write_bytes(b"{}")
    journal_of(world, stale={"link/id_rsa": digest(OUTSIDE), "../secrets/id_rsa": digest(OUTSIDE)})
    (world.site / ".reportgen-staging" / "files").symlink_to(secret)
    (world.site / "link").symlink_to(secret)
    assert "given up" in str(recover(**world.places))
    assert (secret / "id_rsa").read_bytes() == OUTSIDE
    assert not (world.site / "id_rsa").exists()
    assert not (world.site / ".reportgen-staging").exists()


def test_a_hostile_journal_whose_files_are_all_in_place_still_moves_nothing_in(world: World, tmp_path: Path) -> None:
    secret = tmp_path / "secrets"
    secret.mkdir()
    (secret / "id_rsa").write_bytes(b"a real key")
    value = journal_of(world)
    (world.site / "id_rsa").write_bytes(OUTSIDE)
    (world.site / MANIFEST).write_bytes(Manifest(files=value["manifest"]["files"], build_hash="abc").to_bytes())
    (world.site / ".reportgen-staging" / "files").symlink_to(secret)
    assert "finished" in str(recover(**world.places))
    assert (secret / "id_rsa").read_bytes() == b"a real key"
    assert (world.site / "id_rsa").read_bytes() == OUTSIDE


def test_a_file_that_turns_into_a_link_is_not_read_through(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe"):
        with pytest.raises(OSError, match=name):
            read_plain(tmp_path / name)
    assert read_plain(tmp_path / "none") is None


def test_a_journal_that_is_a_link_or_nonsense_is_none(world: World, tmp_path: Path) -> None:
    staging = world.site / ".reportgen-staging"
    for text in ("", "{", "[1]", '{"manifest": 3}', "[" * 100_000):
        staging.mkdir(parents=True)
        (staging / "journal.json").write_text(text)
        assert "undone" in str(recover(**world.places))
        assert not staging.exists()
    journal_of(world)
    (staging / "journal.json").rename(tmp_path / "real.json")
    (staging / "journal.json").symlink_to(tmp_path / "real.json")
    assert "undone" in str(recover(**world.places))
    assert (tmp_path / "real.json").exists()


@pytest.mark.parametrize("text", ["", "[]", '{"site": 3}', '{"site": "\\u0000", "recommendations": "/x"}'])
def test_a_note_in_the_work_folder_that_makes_no_sense_is_ignored(world: World, text: str) -> None:
    world.work.mkdir()
    (world.work / "publish.json").write_text(text)
    assert recover(**world.places) is None


@pytest.mark.parametrize("path", ["../x", "/x", "a/./b", "", "a\\b", MANIFEST, ".reportgen-staging/x", "a\x1bb", "a/"])
def test_a_path_that_no_site_can_have_is_a_mistake_of_the_caller(world: World, path: str) -> None:
    with pytest.raises(ValueError, match="not a path"):
        world.publish(NEW, site_files={path: b"x"})
    with pytest.raises(ValueError, match="not a path"):
        world.publish(NEW, site_files={"a": b"x", "a/b": b"x"})
    with pytest.raises(ValueError, match="must begin with"):
        world.publish(NEW, markdown=b"# no marker")
    assert list(world.root.iterdir()) == []


def overlap(world: World, *inputs: Path, **more: Any) -> ReportgenError:
    places: dict[str, Any] = {**world.places, **more}
    with pytest.raises(ReportgenError) as caught:
        refuse_overlap(inputs, **places)
    assert caught.value.exit_code == 2
    return caught.value


def test_an_input_is_never_written_over(world: World) -> None:
    feedback = world.root / "FEEDBACK.md"
    feedback.write_bytes(b"| Agent |\n")
    assert str(feedback) in overlap(world, feedback, recommendations=world.root / "x" / ".." / "FEEDBACK.md").where
    (world.root / "link.md").symlink_to(feedback)
    assert "link.md" in overlap(world, world.root / "link.md", recommendations=feedback).where
    os.link(feedback, world.recommendations)
    assert "is an input" in overlap(world, feedback).what
    world.recommendations.unlink()

    world.publish(OLD)
    page = world.site / "agents" / "a.html"
    assert str(page) in overlap(world, page).where
    os.link(page, world.root / "same.html")
    assert "is an input" in overlap(world, world.root / "same.html").what
    mine = world.site / "events.jsonl"
    mine.write_bytes(b"{}\n")
    refuse_overlap([mine, feedback], world.site, world.recommendations, world.work)
    assert "is an input" in overlap(world, mine, written=["events.jsonl"]).what
    with pytest.raises(ReportgenError, match="is an input"):
        world.publish(NEW, site_files={"events.jsonl": b"x"}, inputs=[mine], adopt=True)
    assert mine.read_bytes() == b"{}\n"
    assert "may be deleted" in overlap(world, world.work / "events.jsonl").what


def test_places_that_would_mix_are_refused(world: World) -> None:
    assert "holds the project" in overlap(world, site=world.root).what
    assert "holds the project" in overlap(world, site=world.root.parent).what
    assert "work folder" in overlap(world, site=world.work / "site").what
    assert "work folder" in overlap(world, site=world.work).what
    assert "work folder" in overlap(world, recommendations=world.work / "R.md").what
    assert "not a file" in overlap(world, recommendations=world.site).what
    assert "not a file" in overlap(world, recommendations=world.root).what
    assert "a file of the site" in overlap(world, recommendations=world.site / MANIFEST).what
    assert "a file of the site" in overlap(world, recommendations=world.site / "i.html", written=["i.html"]).what
    assert "NUL" in overlap(world, site=world.root / "a\x00b").what
    refused(world, site=world.root)
