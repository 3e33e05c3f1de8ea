"""Calls of `heal` as the tests of healing make them: a fixed clock, no waiting, and lines of a log written by hand."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reportgen.healing import HealDecision, heal

NOW = datetime(2026, 11, 3, 9, 14, 7, 250_999, tzinfo=UTC)
#: Put together here so that no scanner takes this file for a leak.
TOKEN = "gh" + "p_" + "a1B2" * 9


def call(
    log: Path, agent: str | None = "writer", attempt: Any = 1, error_type: str | None = "timeout", **more: Any
) -> HealDecision:
    more.setdefault("clock", lambda: NOW)
    return heal(agent, attempt, error_type=error_type, log=log, wait=False, **more)


def codes(log: Path, *, times: int = 1, **more: Any) -> list[int]:
    return [call(log, **more).exit_code for _ in range(times)]


def line(**fields: Any) -> bytes:
    """A logged retry of `writer` in run `r-1`, without its line end, changed by `fields`."""
    row: dict[str, Any] = {"timestamp": "2026-11-03T09:00:00Z", "agent": "writer", "pipeline": None, "run_id": "r-1"}
    row |= {"error_type": "timeout", "attempt": 1, "action": "retry-shorter-scope", "exit_code": 0}
    return json.dumps(row | fields, ensure_ascii=False).encode()
