"""What a build costs before there is any work: `python tests/bench/fixed_cost.py [--rounds 9]`.

Each round runs all commands in turn, each in a process of its own, so that a busy moment of the machine falls on all of
them alike. Printed are medians, and the median of each round's ratio, as a Markdown table.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EVENTS = [
    {"timestamp": "2026-11-01T09:00:00Z", "tool_name": "Read", "agent": "agent-writer", "pipeline": "doc", "run_id": "r1",
     "cost_usd": 0.01},
    {"timestamp": "2026-11-01T09:01:00Z", "tool_name": "Edit", "agent": "agent-editor", "pipeline": "doc", "run_id": "r1",
     "cost_usd": 0.02},
]  # fmt: skip


@dataclass
class Case:
    """One command; `ready` makes it ready, not measured. `against`: the case that it is a ratio to, and the target."""

    name: str
    command: list[str]
    ready: Callable[[], object] = lambda: None
    against: str = ""
    target: float = 0.0
    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


def run(case: Case) -> None:
    """Run a case once, and note what it took: on the clock, and of all cores."""
    case.ready()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    # With its bytecode, as an installed program is.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    quiet = subprocess.DEVNULL
    subprocess.run(case.command, check=True, stdout=quiet, stderr=quiet, env=env)
    case.seconds.append(time.perf_counter() - begun)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    case.cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def cases(folder: Path) -> list[Case]:
    """Return the cases, on a project of two cost events in the folder."""
    project = folder / "project"
    (project / "budget").mkdir(parents=True)
    text = "".join(json.dumps(event) + "\n" for event in EVENTS)
    (project / "budget" / "cost-events.jsonl").write_text(text, encoding="utf-8")
    python = sys.executable
    script = Path(python).with_name("reportgen")
    program = [str(script)] if script.exists() else [python, "-m", "reportgen"]
    build = [*program, "build", str(project), "--quiet"]
    imports = "import duckdb, jinja2, markdown_it; duckdb.connect()"

    def clean() -> None:
        for name in ("site", ".reportgen"):
            shutil.rmtree(project / name, ignore_errors=True)
        (project / "RECOMMENDATIONS.md").unlink(missing_ok=True)

    edits = iter(range(1_000_000))

    def edit(kind: str, name: str, mark: str) -> Callable[[], None]:
        def ready() -> None:
            path = project / kind / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(
                (ROOT / kind / name).read_text(encoding="utf-8") + mark.format(next(edits)), encoding="utf-8"
            )

        return ready

    heal = [*program, "heal", "--agent", "a", "--error-type", "timeout", "--attempt", "1",
            "--log", str(folder / "healing-log.jsonl")]  # fmt: skip

    def new_log() -> None:
        (folder / "healing-log.jsonl").unlink(missing_ok=True)

    return [
        Case("import duckdb, jinja2, markdown-it-py, and connect", [python, "-c", imports]),
        Case("smallest project, from nothing", build, clean, "import duckdb, jinja2, markdown-it-py, and connect", 1.6),
        Case("again, nothing changed", build, lambda: None, "smallest project, from nothing", 0.5),
        Case("again, a detector edited", build, edit("sql", "detectors/cost_outlier.sql", "\n-- {}\n"),
             "smallest project, from nothing", 1.3),
        Case("again, a template edited", build, edit("templates", "how-to-read.html", "<!-- {} -->"),
             "smallest project, from nothing", 1.3),
        Case("import argparse, json", [python, "-c", "import argparse, json"]),
        Case("reportgen heal", heal, new_log, "import argparse, json", 2.0),
    ]  # fmt: skip


def table(found: list[Case]) -> str:
    """Return the medians and ratios as a Markdown table."""
    by_name = {case.name: case for case in found}
    rows = ["| what | seconds | CPU seconds | ratio | at most |", "|---|---:|---:|---:|---:|"]
    for case in found:
        ratio = target = ""
        if case.against:
            pairs = zip(case.seconds, by_name[case.against].seconds, strict=True)
            ratio, target = f"{statistics.median(mine / other for mine, other in pairs):.2f}", f"{case.target:g}"
        rows.append(
            f"| {case.name} | {statistics.median(case.seconds):.3f} | {statistics.median(case.cpu):.3f}"
            f" | {ratio} | {target} |"
        )
    return "\n".join(rows)


def main() -> None:
    """Run the cases in turn and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="how often each command is run")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        found = cases(Path(folder))
        for number in range(rounds + 1):
            for case in found:
                run(case)
            if number == 0:
                # The first round compiles what is kept from then on.
                for case in found:
                    case.seconds.clear()
                    case.cpu.clear()
        print(f"{rounds} rounds, {os.cpu_count()} cores, Python {sys.version.split()[0]}\n")
        print(table(found))


if __name__ == "__main__":
    main()
