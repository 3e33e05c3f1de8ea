"""Files hurt at random, of which every line is known: nothing lost, nothing made up, every bad line with its number."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from event_world import read_files

from trust import events, feedback, healinglog
from trust.tally import Amounts, Count

SMALL = Amounts()


@pytest.mark.parametrize(
    "counts",
    [
        lambda: events.run(SMALL.event_files, SMALL.event_files_by_warehouse),
        lambda: feedback.run(SMALL.feedback_files),
        lambda: healinglog.run(SMALL.healing_files),
    ],
    ids=["events", "feedback", "healing log"],
)
def test_nothing_is_lost_in_hurt_files(counts: object) -> None:
    found: list[Count] = counts()  # type: ignore[operator]
    assert [one.losses for one in found] == [[] for _ in found]
    assert all(one.number >= 12 for one in found)


def test_every_fault_is_applied() -> None:
    seen = Counter(fault for seed in range(400) for fault in events.corrupted(seed).faults)
    assert len(seen) >= 36
    assert min(seen.values()) >= 3
    assert len(Counter(fault for seed in range(300) for fault in feedback.corrupted(seed).faults)) >= 15


def test_a_reader_that_loses_a_line_would_be_found_out(tmp_path: Path) -> None:
    file = events.corrupted(1)
    path = tmp_path / "e.jsonl"
    path.write_bytes(file.data)
    read, rows = events.read_exactly(path)
    assert list(events.problems(file, read, rows)) == []
    for gone in list(rows)[:3]:
        fewer = rows.copy()
        del fewer[gone]
        assert any(problem.startswith("lost") for problem in events.problems(file, read, fewer))
    written = feedback.corrupted(1)
    path.write_bytes(written.data)
    found, given = feedback.read(path)
    assert list(feedback.problems(written, found, given)) == []
    del given[next(iter(given))]
    assert any(problem.startswith("lost") for problem in feedback.problems(written, found, given))


WHOLE = '{"ts":"2026-05-02T09:14:07Z","agent":"writer","cost":0.5}'


@pytest.mark.parametrize(
    "tail", ['420}', '"Bash"}', '":741082}', '":"x"}', "null}", '[1,2]}', 'e":5}  ']
)  # fmt: skip
def test_a_record_behind_the_tail_of_a_lost_one_is_taken(tmp_path: Path, tail: str) -> None:
    """Found by the corruptor: a tail that is JSON by itself hid the record glued to it."""
    seen = read_files(tmp_path, (tail + WHOLE + "\n").encode())
    assert seen.fates() == {"used": 1}
    assert (seen.row["agent"], seen.file.broken_parts) == ("writer", 1)


@pytest.mark.parametrize("text", ["420}", '"}{"', '"a}{b" c', "1 2", '{"a":1}}'])
def test_what_holds_no_record_is_still_rejected(tmp_path: Path, text: str) -> None:
    seen = read_files(tmp_path, (text + "\n").encode())
    assert seen.fates() == {"rejected": 1}


@pytest.mark.parametrize("first", ["\x00", "\x00\x00", "\x00" * 4096, "\x00\r", "\x00x"])
def test_a_utf_16_file_may_begin_with_nul(tmp_path: Path, first: str) -> None:
    """Found by the corruptor: its first four bytes are the mark of UTF-32, and every line was lost."""
    for mark, coding in (("\ufeff", "utf-16-le"), ("\ufeff", "utf-16-be")):
        seen = read_files(tmp_path, f"{mark}{first}\n{WHOLE}\n".encode(coding))
        assert seen.reasons == {1: "raw NUL bytes"}
        assert seen.row["agent"] == "writer"
    assert read_files(tmp_path, f"\ufeff{WHOLE}\n".encode("utf-32-le")).fates() == {"used": 1}
    assert read_files(tmp_path, f"\ufeff\x00\n{WHOLE}\n".encode("utf-32-le")).fates() == {"used": 1, "rejected": 1}
    only = read_files(tmp_path, "\ufeff\x00\n".encode("utf-16-le"))
    assert only.reasons == {1: "raw NUL bytes"}
