"""Many processes that heal on one log at once, some of them killed: every answer is on the disk, and the cap holds."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from reportgen.healing_policy import CAP
from trust.tally import Count

#: Heals without a pause, and prints each answer once it is given; four processes share an agent and its runs.
_WORKER = """
import sys
from reportgen import heal
from reportgen.errors import ReportgenError
number, calls, log = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
for call in range(calls):
    try:
        answer = heal(f"agent-{number % 16}", 1, error_type="timeout", run_id=f"r{call // 4}", log=log, wait=False,
                      context=f"{number} {call} " * 40)
        print(answer.to_json(), flush=True)
    except ReportgenError as error:
        print(error.exit_code, flush=True)
"""
#: What other writers have left: a torn line, rubbish, a torn line at the end.
_LEFT = (
    b'{"timestamp": "2026-11-03T09:00:00Z", "agent": "agent-1", "run_id": "r0", "exi\n\x00\x00\xff\n[]\n{"agent": "ag'
)


def run(processes: int, calls: int, *, size: int = 0, kill: float = 0.3, seed: int = 1) -> list[Count]:
    """Let so many processes make so many calls each on a log of `size` bytes; of them `kill` (a share) are killed."""
    what = f"parallel healing calls on a log of {size / 1e6:g} MB" if size else "parallel healing calls"
    count = Count(what, processes * calls)
    rng = random.Random(seed)
    with TemporaryDirectory(prefix="reportgen-trust-") as name:
        log = Path(name) / "healing-log.jsonl"
        filler = json.dumps({"agent": "other", "run_id": "x", "exit_code": 0, "context": "y" * 900}).encode() + b"\n"
        log.write_bytes(filler * (size // len(filler)) + _LEFT)
        # A file each: a pipe that is not read would hold its writer up.
        acks = [Path(name) / f"answers-{number}" for number in range(processes)]
        start = time.monotonic()
        running = []
        for number, path in enumerate(acks):
            with path.open("wb") as out:
                command = [sys.executable, "-c", _WORKER, str(number), str(calls), str(log)]
                running.append(subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT))
        victims = rng.sample(running, int(kill * processes))
        killed = _kill(rng, victims, acks, calls * processes)
        for process in running:
            process.wait()
        seconds = time.monotonic() - start
        count.losses = list(_losses(log, size // len(filler), acks))
        answers = sum(path.read_bytes().count(b"\n") for path in acks)
    count.note = f"{answers:,} answered, {killed} processes killed, {seconds:.0f} s"
    return [count]


def _kill(rng: random.Random, victims: list[subprocess.Popen[bytes]], acks: list[Path], most: int) -> int:
    """Kill these processes one by one, spread over the whole run; return how many were still alive."""
    killed = 0
    for number, victim in enumerate(victims, 1):
        goal = most * number * 0.7 / (len(victims) + 1)
        deadline = time.monotonic() + 600
        while sum(path.stat().st_size for path in acks) < goal * 700 and time.monotonic() < deadline:
            if victim.poll() is not None:
                break
            time.sleep(0.02)
        time.sleep(rng.random() * 0.05)
        if victim.poll() is None:
            os.kill(victim.pid, signal.SIGKILL)
            killed += 1
    return killed


def _losses(log: Path, before: int, acks: list[Path]) -> list[str]:
    lines = log.read_bytes().split(b"\n")[before:]
    found: list[str] = []
    if lines[:3] != _LEFT.split(b"\n")[:3] or lines[3] != _LEFT.split(b"\n")[3]:
        found.append("what stood in the log has changed")
    logged = Counter(lines[4:])
    answered: Counter[bytes] = Counter()
    for path in acks:
        # The last line of a process that was killed may be cut.
        answered.update(path.read_bytes().rpartition(b"\n")[0].splitlines())
    for text in answered:
        if text.isdigit():
            if text == b"0":
                found.append("an attempt that was not logged was allowed")
        elif not text.startswith(b"{"):
            found.append(f"not an answer: {text[:200]!r}")
        elif logged[text] < answered[text]:
            found.append(f"answered and not in the log: {text[:120]!r}")
    allowed: Counter[tuple[str, str]] = Counter()
    for text in logged:
        if not text:
            continue
        try:
            entry = json.loads(text)
        except ValueError:
            found.append(f"torn or mixed: {text[:120]!r}")
            continue
        if entry["exit_code"] == 0:
            allowed[entry["agent"], entry["run_id"]] += logged[text]
    found += [f"{times} retries of {who}" for who, times in allowed.items() if times > CAP]
    return found
