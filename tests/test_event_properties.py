"""Cost events: what must hold for any input. Order and files decide nothing; every line has one fate."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from event_world import Seen, read_files
from hypothesis import given, settings
from hypothesis import strategies as st

FATES = ("used", "superseded", "duplicates", "not_cost", "rejected", "blank")

times = st.sampled_from(
    [None, "", "2026-05-02T09:00:00Z", "2026-05-02T09:00:01Z", "2026-05-02T11:00:01+02:00", 1777713247, "x"]
)
small = st.sampled_from([None, 0, 1, 2, 3, 2.5, -1, "2", True, "x"])
words = st.sampled_from([None, "", "a", "A ", "b", "unknown", 7])
records = st.fixed_dictionaries(
    {},
    optional={
        "ts": times,
        "timestamp": times,
        "agent": words,
        "role": words,
        "tool": st.sampled_from(["Bash", "Edit"]),
        "pipeline": words,
        "run_id": words,
        "session_id": st.sampled_from(["s", "t"]),
        "event_id": st.sampled_from(["1", "2", "3", "4", 1, "", None]),
        "input_tokens": small,
        "output_tokens": small,
        "est_tokens": small,
        "cost_usd": small,
        "estimated_cost": small,
        "phase": st.sampled_from(["pre", "post"]),
        "is_estimate": st.booleans(),
        "transcript_path": st.just("/t"),
        "cumulative": st.booleans(),
        "type": st.sampled_from(["x", "summary"]),
        "payload": st.fixed_dictionaries({}, optional={"agent": words, "cost": small}),
    },
)
whole_lines = st.lists(records, min_size=1, max_size=2).map(
    lambda found: b"".join(json.dumps(r).encode() for r in found)
)
odd_objects = st.sampled_from([b"{}", b'{"agent":"\\ud800"}', b'{"agent":NaN,"tool":"x"}', b'{"x":1,"te{"agent":"a"}'])
other_lines = odd_objects | st.sampled_from(
    [b"", b" \r", b"\xef\xbb\xbf", b"{", b"[1]", b"null", b'{"a":1},', b"\x00", b"\xff"]
)
files = st.lists(st.one_of(whole_lines, whole_lines, whole_lines, other_lines), max_size=14)


def read_lines(*contents: list[bytes]) -> Seen:
    with TemporaryDirectory() as folder:
        return read_files(Path(folder), *(b"".join(line + b"\n" for line in lines) for lines in contents))


def events(seen: Seen) -> Counter[tuple[tuple[str, str], ...]]:
    """The events that count, without where they stood."""
    where = ("event_no", "file_no", "line_no", "agent_no", "pipeline_no", "run_no")
    return Counter(tuple((name, value) for name, value in row.items() if name not in where) for row in seen.rows)


def totals(seen: Seen) -> dict[str, int]:
    names = (*FATES, "lines", "events", "broken_parts")
    return {name: sum(getattr(file, name) for file in seen.result.files) for name in names}


@settings(max_examples=80, deadline=None)
@given(files, st.randoms(use_true_random=False), st.integers(0, 14))
def test_neither_the_order_nor_the_file_of_a_line_matters(lines: list[bytes], chance: random.Random, cut: int) -> None:
    as_written = read_lines(lines)
    shuffled = list(lines)
    several = any(b"}{" in line for line in lines)

    def told(sums: dict[str, int]) -> dict[str, int]:
        # Of two equal records either may be the one that is kept. Where a line holds several, that decides whether
        # another line has any left, and so which of these it is; the records that count are the same.
        kept = sum(sums.pop(name) for name in ("used", "superseded", "duplicates")) if several else 0
        return {**sums, "kept or repeated": kept}

    chance.shuffle(shuffled)
    for other in (
        read_lines(shuffled),
        read_lines(lines[:cut], lines[cut:]),
        read_lines(shuffled[cut:], shuffled[:cut]),
    ):
        assert events(other) == events(as_written)
        assert told(totals(other)) == told(totals(as_written))
        assert Counter(r.reason for r in other.result.rejected) == Counter(r.reason for r in as_written.result.rejected)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"")) | whole_lines, max_size=8))
def test_every_line_has_exactly_one_fate(lines: list[bytes]) -> None:
    # Not the first bytes of a packed or UTF-16 file, which is no line.
    seen = read_lines([b" ", b"    ", *lines])
    file = seen.file
    assert file.lines == len(lines) + 2
    assert sum(getattr(file, fate) for fate in FATES) == file.lines
    assert [rejected.line for rejected in seen.result.rejected] == sorted({r.line for r in seen.result.rejected})
    assert len(seen.result.rejected) == file.rejected
    assert file.events == len(seen.rows) == seen.result.events
    assert seen.column("event_no") == [str(number) for number in range(len(seen.rows))]
    used = {row["line_no"] for row in seen.rows}
    assert len(used) == file.used


@settings(max_examples=40, deadline=None)
@given(st.lists(whole_lines, max_size=8), records)
def test_one_more_event_without_an_id_takes_none_away(lines: list[bytes], record: dict[str, Any]) -> None:
    for tie in ("event_id", "phase", "is_estimate", "transcript_path", "cumulative"):
        record.pop(tie, None)
    before, after = read_lines(lines), read_lines([*lines, json.dumps(record).encode()])
    assert events(before) - events(after) == Counter()
