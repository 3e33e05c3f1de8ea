"""Make a large file of cost events, the same one each time: `python tests/bench/make_events.py FILE ROWS [BROKEN]`.

Runs of fifty events each: one pipeline, four agents, a tool and a model a call. BROKEN is how many lines of a thousand
are hurt in one of the ways that logs are.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

AGENTS = ("planner", "writer", "reviewer", "coder", "tester", "researcher", "editor", "deployer")
MODELS = ("claude-sonnet-4-6", "claude-opus-4-1", "gpt-5-mini")
TOOLS = ("Bash", "Read", "Edit", "Grep", "WebFetch", "Task")
EVENTS_A_RUN = 50

Hurt = Callable[[str, str], bytes]


def _value(name: str, text: str) -> Hurt:
    return lambda line, _: line.replace(f'"{name}":', f'"{name}":{text},"was_{name}":', 1).encode()


def _added(text: str) -> Hurt:
    return lambda line, _: (line[:-1] + text + "}").encode()


#: Ways to hurt a line, given the line and the one before it.
HURTS: tuple[Hurt, ...] = (
    lambda line, _: line[: len(line) // 2].encode(),
    lambda line, _: line[:40].encode(),
    lambda line, before: (line[: len(line) // 2] + before).encode(),
    lambda line, before: (line + before).encode(),
    lambda line, before: (line + " " + before).encode(),
    lambda line, _: b"",
    lambda line, _: b"   ",
    lambda line, _: b"\xef\xbb\xbf" + line.encode(),
    lambda line, _: line.encode() + b"\r",
    lambda line, _: line.encode()[:30] + b"\x00" + line.encode()[30:],
    lambda line, _: line.encode()[:30] + b"\xff" + line.encode()[30:],
    lambda line, _: line.encode().replace(b"agent-", b"agent\x01"),
    lambda line, _: line.replace("agent-", "agent\\ud83d").encode(),
    lambda line, _: line.replace("agent-", "agent\\u0000").encode(),
    lambda line, _: line.replace("agent-", "agent\\u002d").encode(),
    lambda line, _: (line[:-1] + ",}").encode(),
    lambda line, _: (line + ",").encode(),
    lambda line, _: f"[{line}]".encode(),
    lambda line, _: b"null",
    lambda line, _: b'"text"',
    lambda line, _: b"42",
    lambda line, _: line.replace('"', "'").encode(),
    lambda line, _: line.replace(":", ": ").encode(),
    lambda line, _: f" {line}".encode(),
    lambda line, _: line.replace('"agent":', '"Agent":').encode(),
    lambda line, _: line.replace("Z", "+02:00").encode(),
    lambda line, _: line.replace("2026-", "1970-").encode(),
    lambda line, _: line.replace("2026-", "0001-").encode(),
    lambda line, _: line.replace("T", " ").encode(),
    lambda line, before: before.encode(),
    lambda line, _: b'{"timestamp":"2026-05-02T09:14:07Z","event":"skill_invoke","plugin":"x"}',
    lambda line, _: b'{"type":"summary","total_cost_usd":12.5,"total_input_tokens":5}',
    *(_value("cost_usd", text) for text in ("NaN", "Infinity", "1e400", "-1.5", "true", '"0.5"', '""', "null", "[]", "{}", "1e9")),
    *(_value("input_tokens", text) for text in ("1.5", "-1", '"12"', "true", "1e12", "null", '"x"')),
    *(_value("timestamp", text) for text in ('""', "null", '"soon"', "1777713247", '"1777713247000"', "true", '"20260502T091407Z"')),
    *(_value("agent", text) for text in ("7", "null", '"unknown"', '{"name":"a"}', "[]", "false")),
    _added(',"agent":"twice"'), _added(',"extra":1'), _added(',"note":"a\\"b"'), _added(',"x":NaN'), _added(',"event_id":"same"'),
    _added(',"deep":' + "[" * 250 + "]" * 250),
)  # fmt: skip


def lines(rows: int, broken: int) -> Iterator[bytes]:
    """Yield the lines, without their ends."""
    rng = Random(1)
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    before = ""
    pipeline, team = "", list(AGENTS)
    for number in range(rows):
        if number % EVENTS_A_RUN == 0:
            pipeline, team = f"pipeline-{rng.randrange(6)}", rng.sample(AGENTS, 4)
        moment += timedelta(milliseconds=rng.randrange(1, 16_000))
        agent = rng.choice(team)
        model = rng.choice(MODELS) if rng.randrange(10) == 0 else MODELS[AGENTS.index(agent) % len(MODELS)]
        record = {
            "event_id": f"e-{number:09d}",
            "timestamp": f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z",
            "pipeline": pipeline,
            "run_id": f"run-{number // EVENTS_A_RUN:06d}",
            "agent": f"agent-{agent}",
            "tool_name": rng.choice(TOOLS),
            "model": model,
            "input_tokens": rng.randrange(100, 9000),
            "output_tokens": rng.randrange(10, 2000),
            "cost_usd": round(rng.random() / 5 + 0.0002, 6),
            "duration_ms": rng.randrange(100, 20_000),
        }
        line = json.dumps(record, separators=(",", ":"))
        if broken and rng.randrange(1000) < broken:
            yield rng.choice(HURTS)(line, before or line)
        else:
            yield line.encode()
        before = line


def make(path: Path, rows: int, broken: int = 0) -> Path:
    """Write the file where it is not there yet; return its path."""
    if not path.is_file():
        fresh = path.with_name(path.name + ".new")
        with fresh.open("wb") as file:
            for line in lines(rows, broken):
                file.write(line + b"\n")
        fresh.replace(path)
    return path


if __name__ == "__main__":
    make(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0)
