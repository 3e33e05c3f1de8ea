"""Builds that are killed, from a process of their own (see `disk`)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from trust.tally import Count

TESTS = Path(__file__).parents[1]
#: In memory where that is possible: these runs wait for the disk thousands of times.
MEMORY = Path("/dev/shm")


def in_tests(*command: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the tests' own modules to hand."""
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, *command], env={**os.environ, "PYTHONPATH": path}, text=True, capture_output=True
    )


def run(kills: int, *, seed: int = 1) -> list[Count]:
    """Kill so many builds."""
    count = Count("builds killed", kills)
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as folder:
        done = in_tests("-m", "trust.disk", folder, str(kills), str(seed))
    if done.returncode:
        count.losses.append(done.stderr[-2000:])
        return [count]
    found = json.loads(done.stdout.splitlines()[-1])
    count.losses = found["losses"]
    count.note = f"{found['died']} died of it; a build has {found['steps']} disk steps of Python"
    return [count]
