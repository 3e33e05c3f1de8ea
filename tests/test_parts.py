"""inputs/parts.py, inputs/keeping.py: a file that grows is read from where the last build stopped, and nothing shows it.

Whatever way a file came to be what it is, in how many builds it was read on the way, and whatever happened to what
those kept: events, accounts, rejected lines and notices are those of one reading of the whole file.
"""

from __future__ import annotations

import errno
import gzip
import json
import os
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from project import write_project
from test_event_ways import SHAPES, Rows, made_file, rows_of

from reportgen import build, loading
from reportgen.errors import ReportgenError
from reportgen.inputs import parts as parts_room
from reportgen.inputs import staging
from reportgen.inputs.events import EventsRead, load_events
from reportgen.inputs.lines import LineFile
from reportgen.inputs.parts import Part, Parts, places_of, stamp_of
from reportgen.inputs.sources import Source
from reportgen.marks import reading_key
from reportgen.names import Names
from reportgen.settings import load_settings
from reportgen.warehouse import Warehouse

Told = tuple[EventsRead, Rows]


class Reads:
    """Which bytes of which files were read, rather than opened as a part."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bytes = 0
        unpacked = LineFile.chunks

        def chunks(file: LineFile) -> Any:
            for piece in unpacked(file):
                self.bytes += len(piece)
                yield piece

        monkeypatch.setattr(LineFile, "chunks", chunks)


def told(paths: Sequence[Path], work: Path, *, kept: bool, full: bool = False, smallest: int = 0) -> Told:
    """Load these files; `kept`: with what earlier loads kept in the folder."""
    sources = [Source(path=path, name=path.name, kind="events") for path in paths]
    names = Names()
    parts = Parts(work / "parts", "key", full=full) if kept else None
    between = work / "between"
    between.mkdir(exist_ok=True)
    with Warehouse(work / "warehouse.duckdb") as store:
        read = load_events(sources, store, between, names, smallest=smallest, parts=parts)
        assert list(between.iterdir()) == []
        return read, rows_of(store, names)


def known(path: Path, work: Path, *, full: bool = False, key: str = "key") -> list[tuple[int, int]]:
    """Return from where to where each part goes that is kept of a file."""
    return [(part.start, part.end) for part in Parts(work / "parts", key, full=full).known(path)]


def lines(first: int, last: int, agent: str = "writer") -> bytes:
    """Return lines of events from one number to before another."""
    made = [
        {
            "event_id": f"e-{number}", "timestamp": f"2026-05-{number % 28 + 1:02d}T09:14:07Z", "pipeline": "docs",
            "run_id": f"run-{number // 9}", "agent": agent, "cost_usd": number / 8, "total_tokens": number,
        }
        for number in range(first, last)
    ]  # fmt: skip
    return b"".join(json.dumps(record).encode() + b"\n" for record in made)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of a hundred events, read once, and kept."""
    path = tmp_path / "events.jsonl"
    path.write_bytes(lines(0, 100))
    told([path], tmp_path, kept=True)
    assert known(path, tmp_path) == [(0, path.stat().st_size)]
    return path


# --- any way to the same file -----------------------------------------------------------------------------------------


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6), st.data())
def test_any_appends_read_as_one_file_does(
    tmp_path_factory: pytest.TempPathFactory, seed: int, data: st.DataObject
) -> None:
    rng = Random(seed)
    work = tmp_path_factory.mktemp("work")
    shapes = tuple(rng.sample(SHAPES, rng.randint(1, 3)))
    # Some are hurt, some are named twice; a cut may go through a line, or through a character of it.
    content = made_file(rng, shapes, lines=90, odd=rng.choice((0, 4, 12))).replace(b"@example.org", b"")
    cuts = sorted(data.draw(st.lists(st.integers(1, len(content)), min_size=1, max_size=3)))
    path, other = work / "a.jsonl", work / "b.jsonl"
    other.write_bytes(made_file(rng, shapes, lines=30, odd=0))
    path.write_bytes(b"")
    smallest = rng.choice((0, 2_000))
    for start, end in zip([0, *cuts], [*cuts, len(content)], strict=True):
        with path.open("ab") as writer:
            writer.write(content[start:end])
        read = told([path, other], work, kept=True, smallest=smallest)
    assert read == told([path, other], work, kept=False, smallest=smallest)


def test_only_what_is_new_is_read(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = file.stat().st_size
    with file.open("ab") as writer:
        writer.write(lines(100, 130))
    reads = Reads(monkeypatch)
    read, rows = told([file], tmp_path, kept=True)
    assert reads.bytes == 0
    assert sum(rows.values()) == read.events == 130
    assert known(file, tmp_path) == [(0, size), (size, file.stat().st_size)]


def test_a_little_more_is_no_part_of_its_own(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = file.stat().st_size
    with file.open("ab") as writer:
        writer.write(lines(100, 103))
    reads = Reads(monkeypatch)
    for _ in range(2):
        assert told([file], tmp_path, kept=True, smallest=5_000)[0].events == 103
        assert known(file, tmp_path) == [(0, size)]
    assert reads.bytes == 2 * (file.stat().st_size - size)


def test_many_parts_become_one(file: Path, tmp_path: Path) -> None:
    for number in range(100, 100 + 10 * parts_room.MOST_PARTS, 10):
        assert len(known(file, tmp_path)) <= parts_room.MOST_PARTS
        with file.open("ab") as writer:
            writer.write(lines(number, number + 10))
        assert told([file], tmp_path, kept=True)[0].events == number + 10
    assert known(file, tmp_path) == [(0, file.stat().st_size)]
    assert len(list((tmp_path / "parts").glob("*.lines"))) == 1


def test_a_repeat_of_what_an_older_part_holds_counts_once(file: Path, tmp_path: Path) -> None:
    with file.open("ab") as writer:
        writer.write(lines(50, 60) + lines(100, 110))
    read, _ = told([file], tmp_path, kept=True)
    assert (read.files[0].duplicates, read.events) == (10, 110)


def test_a_report_after_appends_has_the_bytes_of_one_from_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "load_events", partial(load_events, smallest=0))
    project = write_project(tmp_path / "project", [], [("2026-05-03", "docs", "writer", "61", "loop-excess")] * 3)
    path = project / "budget" / "cost-events.jsonl"
    content = made_file(Random(5), SHAPES[:2], lines=150, odd=5).replace(b"@example.org", b"").splitlines(keepends=True)
    for some in (content[:70], content[70:]):
        with path.open("ab") as writer:
            writer.write(b"".join(some).rstrip() + b"\n")
        build(project)
    key = reading_key(load_settings(project, file=None, flags={}))
    assert len(known(path, project / ".reportgen", key=key)) == 2
    after_appends = outputs(project)
    for made in (project / ".reportgen", project / "site"):
        shutil.rmtree(made)
    build(project)
    assert outputs(project) == after_appends


def test_what_the_folders_above_are_called_is_no_data(tmp_path: Path) -> None:
    # DuckDB takes `key=value` in a path for a column, of what it is told to read.
    content = lines(0, 9_000)
    assert len(content) > 1_000_000
    made = []
    for name in ("plain", "cost_usd=5/agent=zz/env=prod"):
        project = tmp_path / name / "p"
        (project / "budget").mkdir(parents=True)
        (project / "budget" / "cost-events.jsonl").write_bytes(content)
        for more in (b"", lines(9_000, 9_010), lines(9_010, 18_500)):
            with (project / "budget" / "cost-events.jsonl").open("ab") as writer:
                writer.write(more)
            build(project)
        made.append(outputs(project))
    assert made[0] == made[1]


def outputs(project: Path) -> dict[str, bytes]:
    found = [project / "RECOMMENDATIONS.md", *(project / "site").rglob("*")]
    return {str(path.relative_to(project)): path.read_bytes() for path in found if path.is_file()}


# --- what happens to files --------------------------------------------------------------------------------------------


def test_a_file_that_was_changed_is_read_again(file: Path, tmp_path: Path) -> None:
    before = file.read_bytes()
    changes: dict[str, bytes] = {
        "rewritten": lines(0, 120, "editor"),
        "cut": before[: len(before) // 2],
        "one digit": before.replace(b'"e-77"', b'"e-78"'),
        "one digit, and more": before.replace(b'"e-77"', b'"e-78"') + lines(200, 210),
    }
    for content in changes.values():
        file.write_bytes(content)
        assert told([file], tmp_path, kept=True) == told([file], tmp_path, kept=False)


def test_another_file_in_its_place_is_read_again(file: Path, tmp_path: Path) -> None:
    fresh = tmp_path / "fresh"
    fresh.write_bytes(file.read_bytes() + lines(100, 110))
    os.replace(fresh, file)  # noqa: PTH105
    assert known(file, tmp_path) == []


def test_an_edit_where_nothing_looks_is_noticed_by_hashing_everything(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(lines(0, 4000))
    told([path], tmp_path, kept=True, full=True)
    content = bytearray(path.read_bytes() + lines(4000, 4010))
    place = content.index(b"writer", 100_000)
    content[place : place + 6] = b"editor"
    with path.open("r+b") as writer:
        writer.write(content)
    # The one exception, as it is documented: of equal length, in a place that is not sampled, and the file has grown.
    assert known(path, tmp_path) != []
    assert known(path, tmp_path, full=True) == []
    _, rows = told([path], tmp_path, kept=True, full=True)
    assert sum(rows.values()) == 4010
    assert rows == told([path], tmp_path, kept=False)[1]


def test_a_packed_file_is_kept_as_long_as_it_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl.gz"
    path.write_bytes(gzip.compress(lines(0, 100)))
    first = told([path], tmp_path, kept=True)
    assert len(known(path, tmp_path)) == 1
    assert told([path], tmp_path, kept=True) == first
    with path.open("ab") as writer:
        writer.write(gzip.compress(lines(100, 110)))
    assert known(path, tmp_path) == []
    assert told([path], tmp_path, kept=True)[0].events == 110


def test_a_line_that_is_still_being_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    content = lines(0, 60)
    for end in (len(content) - 30, len(content)):
        path.write_bytes(content[:end])
        assert told([path], tmp_path, kept=True) == told([path], tmp_path, kept=False)
        assert bool(known(path, tmp_path)) == (end == len(content))


@pytest.mark.parametrize("end", [b"", b" ", b"\r"])
def test_a_line_without_its_end_is_none_that_is_finished_whatever_else_is_left_out(tmp_path: Path, end: bytes) -> None:
    # A blank line is left out as well, so that the file has as many ends of lines as records.
    path = tmp_path / "events.jsonl"
    path.write_bytes(lines(0, 30) + b"\n" + lines(30, 60)[:-1] + end)
    assert told([path], tmp_path, kept=True) == told([path], tmp_path, kept=False)
    assert known(path, tmp_path) == []


@pytest.mark.parametrize("first", [0, 40])
def test_lines_that_come_while_a_file_is_read_are_not_lost(
    first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "events.jsonl"
    if first:
        path.write_bytes(lines(0, first))
        told([path], tmp_path, kept=True)
    with path.open("ab") as writer:
        writer.write(lines(first, 60))
    room, name = (shutil, "copyfileobj") if first else (staging, "common_shapes")
    real = getattr(room, name)

    def late(*given: Any) -> Any:
        # After the new lines were copied, where they are a tail; before the file is read, where it is new.
        found = real(*given)
        with path.open("ab") as writer:
            writer.write(lines(60, 70))
        return found

    with monkeypatch.context() as patched:
        patched.setattr(room, name, late)
        told([path], tmp_path, kept=True)
    assert path.read_bytes() == lines(0, 70)
    assert told([path], tmp_path, kept=True) == told([path], tmp_path, kept=False)


# --- what happens to what is kept -------------------------------------------------------------------------------------


@pytest.mark.parametrize("hurt", ["index gone", "index cut", "part gone", "part cut", "part other", "part text"])
def test_what_was_kept_and_is_not_whole_is_made_anew(file: Path, tmp_path: Path, hurt: str) -> None:
    folder = tmp_path / "parts"
    (part,) = folder.glob("*.lines")
    index = folder / "index"
    match hurt:
        case "index gone":
            index.unlink()
        case "index cut":
            index.write_bytes(index.read_bytes()[:-9])
        case "part gone":
            part.unlink()
        case "part cut":
            part.write_bytes(part.read_bytes()[:5000])
        case "part other":
            part.write_bytes(part.read_bytes()[:-1] + b"\x00")
        case _:
            part.write_text("no part")
    with file.open("ab") as writer:
        writer.write(lines(100, 110))
    assert told([file], tmp_path, kept=True)[0].events == 110
    assert known(file, tmp_path)[-1][1] == file.stat().st_size


def test_a_part_that_looks_whole_and_is_no_database_is_made_anew(file: Path, tmp_path: Path) -> None:
    (part,) = (tmp_path / "parts").glob("*.lines")
    part.write_text("no part")
    parts = Parts(tmp_path / "parts", "key")
    # As if the disk had lost what the index tells of.
    lost = [_with(one, made=stamp_of(part)) for one in parts._parts[str(file)]]
    parts._parts[str(file)] = tuple(lost)
    parts.save([file])
    assert known(file, tmp_path) != []
    assert told([file], tmp_path, kept=True) == told([file], tmp_path, kept=False)


def test_a_build_that_was_killed_leaves_nothing_that_counts(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    (folder / "7.lines").write_text("made, and not in the index")
    (folder / "8.lines.new").write_text("half made")
    (folder / "8.lines.new.wal").write_text("half made")
    assert known(file, tmp_path) == [(0, file.stat().st_size)]
    assert sorted(path.name for path in folder.iterdir()) == ["0.lines", "index"]


def test_another_key_knows_nothing(file: Path, tmp_path: Path) -> None:
    assert Parts(tmp_path / "parts", "other").known(file) == ()


def test_parts_of_files_that_are_gone_are_removed(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_bytes(lines(0, 20))
    told([other], tmp_path, kept=True)
    assert known(file, tmp_path) == []
    assert len(list((tmp_path / "parts").glob("*.lines"))) == 1


def test_names_with_a_secret_in_them_are_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(lines(0, 100, "ann@example.org"))
    for _ in range(2):
        assert told([path], tmp_path, kept=True)[0].events == 100
    assert known(path, tmp_path) == []
    assert not any(b"ann@example" in part.read_bytes() for part in (tmp_path / "parts").iterdir())


def test_a_full_disk_is_not_told_as_an_input_that_can_not_be_read(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with file.open("ab") as writer:
        writer.write(lines(100, 160))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", full)
    with pytest.raises(ReportgenError) as raised:
        told([file], tmp_path, kept=True)
    assert raised.value.exit_code == 2
    assert "space" in raised.value.next_step
    assert file.name not in raised.value.where


def test_a_folder_that_can_not_be_written_to_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "parts").write_text("no folder")
    path = tmp_path / "events.jsonl"
    path.write_bytes(lines(0, 100))
    assert told([path], tmp_path, kept=True) == told([path], tmp_path, kept=False)


# --- small parts ------------------------------------------------------------------------------------------------------


@given(st.lists(st.binary(max_size=9).filter(lambda line: b"\n" not in line)), st.data())
def test_places_of_lines(tmp_path_factory: pytest.TempPathFactory, texts: list[bytes], data: st.DataObject) -> None:
    path = tmp_path_factory.getbasetemp() / "places"
    before = data.draw(st.binary(max_size=5))
    path.write_bytes(before + b"".join(text + b"\n" for text in texts))
    numbers = sorted(data.draw(st.sets(st.integers(1, len(texts))))) if texts else []
    content = path.read_bytes()
    found = [(number, content[at : at + length]) for number, at, length in places_of(path, len(before), numbers)]
    assert found == [(number, texts[number - 1]) for number in numbers]


def _with(part: Part, **changed: Any) -> Part:
    values = {name: getattr(part, name) for name in Part.__annotations__}
    return Part(**{**values, **changed})
