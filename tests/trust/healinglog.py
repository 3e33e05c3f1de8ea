"""The healing log as the report reads it, hurt at random places: which line is which attempt is known before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from reportgen.inputs.healing_log import HealingRead, read_healing
from reportgen.inputs.sources import Source
from reportgen.names import Names
from trust.jsonlines import Bare, Corruptor, File, Record, Truth
from trust.tally import Count, time_limit

_SECONDS = 20.0
_ACTIONS = (("retry-shorter-scope", 0), ("retry-backoff", 0), ("skip", 1), ("abort", 1), ("escalate", 2))

Seen = Counter[tuple[int, Truth]]


def make_attempt(rng: Random, number: int) -> Record:
    """Return one attempt as `heal` logs it, now and then as a script of somebody's own would."""
    moment = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=number)
    action, code = rng.choice(_ACTIONS)
    agent = rng.choice(("writer", "Code Reader", "дом", 'a "b"', None))
    run: Any = rng.choice(("r-1", "run 2", None, 77))
    delay = rng.choice((0, 2, 4, 8))
    context = rng.choice(("", "timed out", "日本 {x} [y]", "a\nb\tc", 'said "no"', "back\\slash"))
    odd_time = rng.randrange(20) == 0
    value = {
        "timestamp": rng.choice((None, "soon", "1969-01-01T00:00:00Z")) if odd_time else f"{moment:%Y-%m-%dT%H:%M:%SZ}",
        "agent": agent, "pipeline": rng.choice((None, "docs")), "run_id": run,
        "error_type": rng.choice(("timeout", "API_Error", "odd")), "attempt": rng.choice((1, 2, "3", Bare("4.0"))),
        "max_attempts": 5, "action": action, "exit_code": code, "delay_seconds": delay,
        "reason": "attempt 1 of 5", "context": context,
    }  # fmt: skip
    truth = (
        None if odd_time else moment.replace(tzinfo=None), value["pipeline"], agent, None if run is None else str(run),
        str(value["error_type"]).lower().replace("_", "-"), int(Decimal(str(value["attempt"]))), 5, action, code,
        Decimal(delay), "attempt 1 of 5", " ".join(context.split()),
    )  # fmt: skip
    return Record(value, truth)


def make_other(rng: Random) -> dict[str, Any]:
    """Return an object that is no attempt."""
    return rng.choice(
        ({}, {"level": "info"}, {"action": "", "error_type": "x"}, {"action": "skip"}, {"error_type": "x"})
    )


def corrupted(seed: int) -> File:
    """Return the file of this seed."""
    rng = Random(seed)
    lines = rng.choice((1, 2, 5, 20, 40))
    return Corruptor(rng, make_attempt, make_other, "rejected", aside=True).file(
        lines, rng.randint(0, max(1, lines // 3))
    )


def read(path: Path) -> tuple[HealingRead, Seen]:
    """Read a log; also its rows by their lines, with names in place of numbers."""
    names = Names()
    found = read_healing(Source(path=path, name=path.name, kind="healing"), names, redact=True)
    shown = {row.spelling_no: row.spelling for row in names.rows(redacted=False)}

    def name(number: int | None) -> str | None:
        return None if number is None else shown[number]

    rows: Seen = Counter(
        (r.line, (r.timestamp, name(r.pipeline_no), name(r.agent_no), name(r.run_no), r.error_type, r.attempt,
                  r.max_attempts, r.action, r.exit_code, r.delay_seconds, r.reason, r.context))
        for r in found.rows
    )  # fmt: skip
    return found, rows


def problems(file: File, found: HealingRead, rows: Seen) -> Iterator[str]:
    """Yield how a reading differs from the truth."""
    (account,) = found.files
    said = {line.line: line.reason for line in found.rejected}
    end = len(file.lines) if file.cut is None else file.cut - 1
    if file.cut is not None and not any(n > end and "cut short" in reason for n, reason in said.items()):
        yield "a cut archive is not named"
    wanted: Seen = Counter()
    for number, line in enumerate(file.lines[:end], 1):
        if line.fate == "used":
            wanted.update((number, truth) for truth in line.truths)
        if (line.fate == "rejected") != (number in said):
            yield f"line {number} ({line.fault or 'whole'}) is {'not ' * (number not in said)}rejected"
        elif line.fate == "rejected" and line.reason not in said[number]:
            yield f"line {number} ({line.fault}): '{said[number]}', and not '{line.reason}'"
    got = Counter({at: times for at, times in rows.items() if at[0] <= end})
    for number, truth in (wanted - got).elements():
        yield f"lost: line {number}: {truth}"
    for number, truth in (got - wanted).elements():
        yield f"made up: line {number}: {truth}"
    if account.used + account.rejected + account.blank != account.lines or account.rejected != len(found.rejected):
        yield f"the account does not add up: {account}"
    if file.cut is None and account.lines != len(file.lines):
        yield f"{account.lines} lines, and not {len(file.lines)}"
    if file.cut is None and account.broken_parts != sum(line.broken for line in file.lines):
        yield f"{account.broken_parts} broken parts, and not {sum(line.broken for line in file.lines)}"


def run(files: int, *, first: int = 0) -> list[Count]:
    """Read so many mutated healing logs."""
    count = Count("mutated healing logs")
    lines = faults = 0
    with TemporaryDirectory(prefix="reportgen-trust-") as folder:
        path = Path(folder) / "healing-log.jsonl"
        for seed in range(first, first + files):
            file = corrupted(seed)
            path.write_bytes(file.data)
            lines += len(file.lines)
            faults += len(file.faults)
            count.number += 1
            try:
                with time_limit(_SECONDS):
                    losses = list(problems(file, *read(path)))
            except Exception as error:
                losses = [f"{type(error).__name__}: {error}"]
            count.losses += [f"seed {seed}: {problem[:300]}" for problem in losses]
    count.note = f"{lines:,} lines, {faults:,} faults"
    return [count]
