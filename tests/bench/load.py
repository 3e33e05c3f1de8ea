"""How long the load of cost events takes, beside the engine's own scan of the same file: `python tests/bench/load.py`.

Each is measured in a process of its own, in turn, several times; what counts are the ratios of one run. Prints a
Markdown table of medians. `load` is what a build does before its detectors: every line accounted for, all marts made.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from make_events import make

_COST = "{'cost_usd': 'decimal(38, 12)'}"


def scan(path: Path) -> None:
    import duckdb

    con = duckdb.connect()
    con.execute(f"select count(*), sum(cost_usd) from read_ndjson(?, columns = {_COST})", [str(path)]).fetchall()


def loop(path: Path) -> None:
    import json

    count, cost = 0, 0.0
    with path.open("rb") as file:
        for line in file:
            cost += json.loads(line)["cost_usd"]
            count += 1


def load(path: Path) -> None:
    from reportgen import loading
    from reportgen.inputs.sources import find_inputs
    from reportgen.settings import load_settings

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "cost-events.jsonl").symlink_to(path)
        settings = load_settings(folder, file=None, flags={})
        inputs = find_inputs(settings)
        with loading.open_warehouse(settings, inputs) as store:
            events = loading.read_cost_events(settings, inputs, store, folder, lambda *_: None)
            found = loading.load(store, settings, inputs, events, lambda *_: None)
            loading.make_marts(store, settings, found, lambda *_: None)


WAYS = {"scan": scan, "loop": loop, "load": load}


def measure(way: str, path: Path) -> tuple[float, float, float]:
    """Return seconds, seconds of the processors, and the most MiB held, of one way without starting the process."""
    told = subprocess.run(
        [sys.executable, __file__, "--one", way, str(path)], check=True, capture_output=True, text=True
    ).stdout.split()
    return float(told[0]), float(told[1]), float(told[2])


def one(way: str, path: Path) -> None:
    import duckdb  # noqa: F401 - its import is no part of what is measured

    import reportgen.loading  # noqa: F401

    started, worked = time.perf_counter(), time.process_time()
    WAYS[way](path)
    took, work = time.perf_counter() - started, time.process_time() - worked
    print(took, work, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--broken", type=int, default=0, help="of a thousand lines")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--ways", default="scan,load,loop")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one(given.one[0], Path(given.one[1]))
        return
    # The engine's scan and the loop stop at the first broken line: they are measured on the same lines, unhurt.
    clean = make(given.folder / f"events-{given.rows}-0.jsonl", given.rows)
    path = make(given.folder / f"events-{given.rows}-{given.broken}.jsonl", given.rows, given.broken)
    taken: dict[str, list[tuple[float, float, float]]] = {way: [] for way in given.ways.split(",")}
    for _ in range(given.times):
        for way, seen in taken.items():
            seen.append(measure(way, path if way == "load" else clean))
    base = statistics.median(seconds for seconds, _, _ in taken["scan"])
    base_work = statistics.median(work for _, work, _ in taken["scan"])
    print(f"{given.rows:,} events, {path.stat().st_size / 1e6:,.0f} MB, {given.broken / 10:g}% of lines hurt\n")
    print("| what | seconds | times the scan | processor seconds | times the scan | MiB |\n|---|--:|--:|--:|--:|--:|")
    for way, seen in taken.items():
        seconds, work, size = (statistics.median(row[place] for row in seen) for place in range(3))
        print(f"| {way} | {seconds:.2f} | {seconds / base:.1f} | {work:.2f} | {work / base_work:.1f} | {size:,.0f} |")


if __name__ == "__main__":
    main()
