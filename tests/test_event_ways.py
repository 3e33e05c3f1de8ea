"""Two ways to read cost events, one result: a line's fate never depends on which of them its file takes.

Files are made of lines of a few shapes, then damaged in every way that the readers know; each is read line by line
and by the warehouse, and events, accounts, rejected lines and notices must be the same.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from reportgen.inputs import staging
from reportgen.inputs.events import EventsRead, load_events, read_events
from reportgen.inputs.sources import Source
from reportgen.names import Names
from reportgen.rawtables import EVENT_COLUMNS, csv_of_events
from reportgen.warehouse import Warehouse

Row = tuple[Any, ...]
Rows = Counter[Row]


def read_both_ways(
    *contents: bytes, as_of: datetime | None = None, fields: dict[str, tuple[str, ...]] | None = None
) -> tuple[tuple[EventsRead, Rows], tuple[EventsRead, Rows], list[int]]:
    """Read files line by line, and by the warehouse; also the numbers of the files that were staged there."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        sources = []
        for number, content in enumerate(contents):
            path = folder / f"events-{number}.jsonl"
            path.write_bytes(content)
            sources.append(Source(path=path, name=path.name, kind="events"))
        names = Names()
        sink = folder / "events.csv"
        exact = read_events(sources, sink, names, as_of=as_of, fields=fields)
        with Warehouse() as store:
            store.query("create schema raw")
            store.query(f"create table raw.events as select * from {csv_of_events(sink)}")
            exact_rows = rows_of(store, names)
        names = Names()
        staged: list[int] = []
        with Warehouse() as store:
            found = load_events(
                sources, store, folder, names, as_of=as_of, fields=fields, smallest=0, on_staged=staged.append
            )
            rows = rows_of(store, names)
            numbers = [row[0] for row in store.query("select event_no from raw.events").rows]
            assert len(numbers) == len(set(numbers))
    return (exact, exact_rows), (found, rows), staged


def rows_of(store: Warehouse, names: Names) -> Rows:
    """Every event with names in place of numbers, without its own number."""
    shown = {row.spelling_no: (row.kind, row.spelling) for row in names.rows(redacted=False)}
    columns = [name for name in EVENT_COLUMNS if name != "event_no"]
    places = [columns.index(name) for name in ("agent_no", "pipeline_no", "run_no")]
    rows: Rows = Counter()
    for row in store.query(f"select {', '.join(columns)} from raw.events").rows:
        cells = list(row)
        for place in places:
            cells[place] = None if row[place] is None else shown[row[place]]
        rows[tuple(cells)] += 1
    return rows


def assert_same(*contents: bytes, **options: Any) -> list[int]:
    (exact, exact_rows), (found, rows), staged = read_both_ways(*contents, **options)
    assert rows == exact_rows
    assert found.files == exact.files
    assert found.rejected == exact.rejected
    assert found.notices == exact.notices
    assert found.events == exact.events == sum(rows.values())
    return staged


# --- lines ------------------------------------------------------------------------------------------------------------


def plain(rng: Random, number: int) -> dict[str, Any]:
    """One event as most producers write it."""
    return {
        "event_id": f"e-{number}",
        "timestamp": f"2026-05-{rng.randint(1, 28):02d}T09:{rng.randint(0, 59):02d}:07.{rng.randint(0, 999):03d}Z",
        "pipeline": rng.choice(("docs", "Docs", "release  notes", "unknown")),
        "run_id": f"run-{rng.randint(0, 5)}",
        "agent": rng.choice(("writer", "**Writer**", "Straße", "joe@example.org", "default")),
        "tool_name": rng.choice(("Bash", "Edit", "")),
        "model": rng.choice(("m-1", "claude", "")),
        "input_tokens": rng.randint(0, 9000),
        "output_tokens": rng.randint(0, 900),
        "cost_usd": round(rng.random() / 10, rng.choice((3, 6, 12))),
        "duration_ms": rng.randint(1, 9000),
    }


def by_session(rng: Random, number: int) -> dict[str, Any]:
    """A model call with a session, an epoch time and usage inside."""
    return {
        "ts": rng.choice((1777713247, 1777713247.557, 1777713247000)) + number,
        "session_id": f"s-{rng.randint(0, 3)}",
        "role": rng.choice(("proposer", "user")),
        "usage": {"prompt_tokens": 100 * number, "completion_tokens": number, "cached": {"x": 1}},
        "cached_tokens": rng.choice((0, 50, 10**6)),
        "cost": round(0.01 * number, 4) if rng.randrange(3) else 1.5e-05 * number,
        "ok": True,
        "tags": ["a", "b"],
        "latency": rng.random(),
    }


def zoned(rng: Random, number: int) -> dict[str, Any]:
    """Times with offsets, cents and seconds, an envelope, a kind that says nothing."""
    return {
        "type": rng.choice(("cost", "call")),
        "ts": f"2026-05-02T0{rng.randint(0, 9)}:14:07{rng.choice(('+02:00', '-05:30'))}",
        "data": {
            "agentName": rng.choice(("a", "b")),
            "workflow": "w",
            "session_id": rng.choice(("s", "unknown")),
            "cost_cents": rng.choice((0, 12, 3.25)),
            "duration_s": rng.choice((4.12, 7)),
            "totalTokens": rng.randint(0, 5),
        },
        "note": None,
    }


def timeless(rng: Random, number: int) -> dict[str, Any]:
    """The four fields of the beginning, without the time; estimates."""
    return {"tool_name": "Read", "agent": rng.choice(("a", "b")), "estimated_tokens": rng.randint(0, 500)}


def not_cost(rng: Random, number: int) -> dict[str, Any]:
    return {"timestamp": "2026-05-02T09:14:07Z", "event": "skill_invoke", "plugin": f"p{rng.randint(0, 3)}"}


SHAPES = (plain, by_session, zoned, timeless, not_cost)

#: What may stand in place of a value.
ODD_VALUES: tuple[Any, ...] = (
    None, "", " ", "x", "5", "0.5", "1e3", True, False, -1, 0, 5.0, 5.5, -0.0, 1e-05, 1.5e-12, 0.1 + 0.2, 1e16, 10**12, 10**9,
    1e22, 10**30, float("nan"), float("inf"), [], ["x", 1.50, None], {}, {"name": "n"}, "unknown", "NULL", "a\tb", "a\\b", 'q"q',
    "é", "\u00a0", "e\u0301", "\x00", "\ud83d", "2026-05-02", "20260502T091407Z", "2026-13-02T00:00:00Z", "1777713247",
    "2026-05-02T24:00:00Z", "2026-05-02T09:14:60Z", "2026-02-30T09:14:07Z", "1970-01-01T00:00:00Z", "2101-01-01T00:00:00Z",
    "2026-05-02 09:14:07", "2026-05-02T09:14:07.1234567Z", "2026-05-02T09:14:07,5Z", 0.0000000000005, 0.1234567890125,
    0.12345678901250001, 4120.5, 4120.00049999, 1.0005, 123456789.123456789, "sk-ant-abcdef0123456789", "me@example.org", 7, 99999999,
    100000000, 4102444800, 99999999999, 10**17 + 1, "summary", "total", "cumulative", "running total", "pre", "**x**", "@x", "user",
)  # fmt: skip
ODD_KEYS = (
    "total_cost", "total_input_tokens", "phase", "is_estimate", "transcript_path", "cumulative", "kind", "model", "Agent", "agentName",
    "tokens", "tokens_estimated", "payload", "message", "isSidechain", "uuid", "resourceSpans", "extra", "created_at", "event_id",
)  # fmt: skip


def damaged(rng: Random, line: bytes, other: bytes) -> bytes:
    """Return the line, hurt in one of the ways of broken logs."""
    at = rng.randint(0, len(line))
    return rng.choice(
        (
            line[:at], line[:at] + other, line + other, line + b" " + other, b"\xef\xbb\xbf" + line, line + b"\r", b"", b"  ", b"\r",
            line[:at] + b"\x00" + line[at:], line[:at] + b"\xff" + line[at:], line[:at] + b"\x01" + line[at:], line[:-1] + b",}",
            line + b",", b" " + line, line + b" ", line[:at] + b" " + line[at:], b"[" + line + b"]", b"null", b"42", b'"x"',
            line.replace(b":", b" : "), line.replace(b'"', b"'"), line[:-1] + b',"extra":1}', line[:-1] + b',"agent":"twice"}',
            line[:-1] + b',"x":NaN}', line[:-1] + b',"x":"\\u0000"}', line[:-1] + b',"x":"\\ud83d"}', line[:-1] + b',"agent":"\xed\xa0\x80"}',
            line.replace(b"a", b"\\u0061"), line[:-1] + b',"deep":' + b"[" * 250 + b"]" * 250 + b"}", b"\x0b" + line, line.replace(b"0", b"00"),
            line[:-1] + b',"x":1.50}', line[:-1] + b',"x":[1.50,{"a":"\\u0000"}]}', line[:-1] + b',"x":[NaN]}',
        )
    )  # fmt: skip


def mutated(rng: Random, record: dict[str, Any]) -> dict[str, Any]:
    """Return the record with a value, a key or the order of the keys changed."""
    record = json.loads(json.dumps(record))
    inner = rng.choice([record, *(value for value in record.values() if isinstance(value, dict))])
    key = rng.choice(list(inner)) if inner else "x"
    change = rng.randrange(5)
    if change == 0:
        inner.pop(key, None)
    elif change == 1:
        inner[rng.choice(ODD_KEYS)] = rng.choice(ODD_VALUES)
    elif change == 2:
        items = list(inner.items())
        rng.shuffle(items)
        inner.clear()
        inner.update(items)
    else:
        inner[key] = rng.choice(ODD_VALUES)
    return record


def made_file(
    rng: Random, shapes: tuple[Callable[[Random, int], dict[str, Any]], ...], *, lines: int, odd: int
) -> bytes:
    """Return a file of these shapes; of a hundred lines `odd` are changed or hurt."""
    spaced = rng.randrange(2)
    separators = (", ", ": ") if spaced else (",", ":")
    out: list[bytes] = []
    for number in range(lines):
        record = rng.choice(shapes)(rng, rng.randrange(10 * lines) if odd else number)
        hurt = rng.randrange(100) < odd
        if hurt and rng.randrange(2):
            record = mutated(rng, record)
        line = json.dumps(record, separators=separators, ensure_ascii=bool(rng.randrange(2)) and hurt).encode(
            "utf-8", "replace"
        )
        if hurt and rng.randrange(2):
            line = damaged(rng, line, rng.choice(out or [line]))
        if out and hurt and not rng.randrange(4):
            line = rng.choice(out)
        out.append(line)
    ending = b"\r\n" if not rng.randrange(5) else b"\n"
    return ending.join(out) + (ending if rng.randrange(3) else b"")


# --- the same, whatever is in the file --------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
def test_clean_files_are_staged_as_a_whole(shape: Callable[[Random, int], dict[str, Any]]) -> None:
    rng = Random(7)
    content = b"".join(json.dumps(shape(rng, n), ensure_ascii=False).encode() + b"\n" for n in range(300))
    assert assert_same(content) == [0]


@pytest.mark.parametrize("seed", range(24))
def test_damaged_files_read_alike(seed: int) -> None:
    rng = Random(seed)
    shapes = tuple(rng.sample(SHAPES, rng.randint(1, 3)))
    contents = [made_file(rng, shapes, lines=120, odd=rng.choice((2, 8, 30))) for _ in range(rng.randint(1, 2))]
    if rng.randrange(3) == 0:
        # The same lines once more, in another file.
        contents.append(b"\n".join(rng.sample(contents[0].split(b"\n"), 20)) + b"\n")
    as_of = datetime(2026, 5, rng.randint(2, 28), tzinfo=UTC).replace(tzinfo=None) if rng.randrange(3) == 0 else None
    assert_same(*contents, as_of=as_of)


@pytest.mark.parametrize("place", range(0, len(ODD_VALUES), 8))
def test_an_odd_value_in_any_field_reads_alike(place: int) -> None:
    rng = Random(place)
    lines: list[dict[str, Any]] = []
    for value in ODD_VALUES[place : place + 8]:
        for shape in SHAPES:
            for key in shape(rng, 1):
                lines += [shape(rng, 10 * len(lines) + n) for n in range(12)]
                lines.append({**shape(rng, 10 * len(lines)), key: value})
    content = b"".join(json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n" for line in lines)
    assert_same(content)


@pytest.mark.parametrize("between", [b"", b"\n", b"\n\n", b" ", b"\r", b" \n\t"])
@pytest.mark.parametrize("end", [b"", b" ", b"\r", b"\n", b"\r\n", b"\n\n", b"\n ", b" \n", b"\n\n\t"])
def test_ends_of_files_and_blank_lines_read_alike(end: bytes, between: bytes) -> None:
    # A line too many and a line end too few are two things, not none.
    rng = Random(7)
    rows = [json.dumps(plain(rng, number)).encode() for number in range(120)]
    rows[40] += between
    assert_same(b"\n".join(rows) + end, b"\n".join(rows[:60]) + end)


@pytest.mark.parametrize("pack", [gzip.compress, lambda data: data.decode().encode("utf-16")])
def test_packed_files_are_staged_too(pack: Callable[[bytes], bytes]) -> None:
    rng = Random(3)
    content = b"".join(json.dumps(plain(rng, n), ensure_ascii=False).encode() + b"\n" for n in range(200))
    assert assert_same(pack(content)) == [0]


def test_names_of_a_packed_file_that_are_always_new_are_none_of_a_few() -> None:
    # The beginning of a packed file is all that is sampled: of its run ids, nearly all are still to come.
    rng = Random(3)
    lines = [{**plain(rng, n), "run_id": f"run-{n // 190}"} for n in range(6000)]
    content = b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)
    assert assert_same(gzip.compress(content)) == [0]


def test_what_stands_after_the_sample_is_not_missed() -> None:
    rng = Random(1)
    lines = [json.dumps(plain(rng, n), ensure_ascii=False) for n in range(6000)]
    lines[3000] = lines[3000][:-1] + ', "isSidechain": true, "uuid": "u", "sessionId": "s"}'
    lines[3001] = lines[3001].replace("agent", "Agent")
    lines[3002] = lines[3002][:-1] + ",}"
    assert assert_same("\n".join(lines).encode()) == [0]


def test_running_totals_are_found_in_either_way() -> None:
    def row(session: int, step: int, **more: Any) -> str:
        return json.dumps(
            {"ts": 1777713247 + step, "session_id": f"s{session}", "model": "m", "total_tokens": 10 * step, **more}
        )

    rising = [row(session, step) for session in range(40) for step in range(5)]
    for extra in (
        [],
        [row(3, 9, note="x")],
        [row(3, 9, total_tokens=1, note="\\")],
        [row(90, n, note="\\") for n in range(4)],
    ):
        staged = assert_same("\n".join(rising + extra).encode())
        assert staged == [0]


def test_a_repeated_id_far_apart_is_found() -> None:
    rng = Random(2)
    first = [plain(rng, n) for n in range(200)]
    again = dict(first[5], cost_usd=9.5)
    second = [*[plain(rng, 1000 + n) for n in range(200)], again, dict(first[6]), dict(first[7], note="\u2028\\")]
    contents = [
        b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)
        for records in (first, second)
    ]
    assert assert_same(*contents) == [0, 1]
    assert assert_same(*reversed(contents)) == [0, 1]


def test_a_file_of_many_broken_lines_goes_the_patient_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "_FEW_SUSPECTS", 10)
    rng = Random(4)
    lines = [json.dumps(plain(rng, n), ensure_ascii=False).encode() for n in range(200)]
    for place in range(100, 160):
        lines[place] = lines[place][:40]
    assert assert_same(b"\n".join(lines)) == []


def test_own_field_names_go_both_ways() -> None:
    lines = [
        json.dumps({"who": f"w{n % 3}", "when": "2026-05-02T09:14:07Z", "price": n / 8, "agent": "other"})
        for n in range(300)
    ]
    fields = {"agent": ("who",), "event_time": ("when",), "cost_usd": ("price",)}
    assert assert_same("\n".join(lines).encode(), fields=fields) == [0]
