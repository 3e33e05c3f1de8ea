"""Measure what docs/measured.md says, and write it: `python tests/bench/measured.py [--rounds 3] [--ten-million]`.

Each thing is a process of its own; what is compared runs in turn, several times, in one run on one machine. Told are
medians, and the median of each round's ratio. Nothing here passes or fails: a target that is missed is written down as
missed. `--ten-million` needs 10 GB of disk and a quarter of an hour more.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import fixed_cost
import many_pages
from make_events import lines, make

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "measured.md"
#: As many rows as the target for feedback is about.
FEEDBACK_ROWS = 100_000
_GO = """
import resource, sys, time
{setup}
begun = time.perf_counter()
{work}
took = time.perf_counter() - begun
print(took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


@dataclass
class Ways:
    """Ways to do a thing, measured in turn; `ready` is run before each, and not measured."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    mebibytes: dict[str, float] = field(default_factory=dict)

    def take(self, name: str, setup: str, work: str, ready: Callable[[], object] = lambda: None) -> None:
        """Run some Python once, in a process of its own."""
        ready()
        done = subprocess.run(
            [sys.executable, "-c", _GO.format(setup=setup, work=work)],
            check=True, capture_output=True, text=True, cwd=HERE,
        )  # fmt: skip
        took, size = map(float, done.stdout.split()[-2:])
        self.add(name, took, size)

    def run(self, name: str, command: list[str], ready: Callable[[], object] = lambda: None) -> None:
        """Run a command once, from the start of its process to its end."""
        ready()
        code = (
            "import resource, subprocess, sys, time; begun = time.perf_counter();"
            " done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); took = time.perf_counter() - begun;"
            " print(took, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024); sys.exit(done.returncode)"
        )
        done = subprocess.run([sys.executable, "-S", "-c", code, *command], check=True, capture_output=True, text=True)
        took, size = map(float, done.stdout.split()[-2:])
        self.add(name, took, size)

    def add(self, name: str, seconds: float, mebibytes: float) -> None:
        """Note one measurement."""
        self.seconds.setdefault(name, []).append(seconds)
        self.mebibytes[name] = max(mebibytes, self.mebibytes.get(name, 0.0))

    def median(self, name: str) -> float:
        """Return the median of its seconds."""
        return statistics.median(self.seconds[name])

    def ratio(self, name: str, to: Callable[[int], float]) -> float:
        """Return the median over the rounds of its seconds by those that `to` gives for the round."""
        return statistics.median(mine / to(number) for number, mine in enumerate(self.seconds[name]))

    def of(self, name: str, other: str) -> float:
        """Return its median ratio to another way."""
        return self.ratio(name, lambda number: self.seconds[other][number])


class Page:
    """The table, a row at a time."""

    def __init__(self) -> None:
        self.rows: list[str] = []

    def row(self, what: str, seconds: str, ratio: str, target: str, met: bool | None, more: str = "") -> None:
        """Add a row, and show it."""
        said = "" if met is None else "met" if met else "missed"
        self.rows.append(f"| {what} | {seconds} | {ratio} | {target} | {said} | {more} |")
        print(self.rows[-1], flush=True)


def _program() -> list[str]:
    script = Path(sys.executable).with_name("reportgen")
    return [str(script)] if script.exists() else [sys.executable, "-m", "reportgen"]


def _build(project: Path) -> list[str]:
    return [*_program(), "build", str(project), "--quiet"]


def _clean(project: Path) -> None:
    for name in ("site", ".reportgen"):
        shutil.rmtree(project / name, ignore_errors=True)
    (project / "RECOMMENDATIONS.md").unlink(missing_ok=True)


def _of_one_file(folder: Path, log: Path, settings: str = "") -> Path:
    (folder / "budget").mkdir(parents=True)
    shutil.copyfile(log, folder / "budget" / "cost-events.jsonl")
    if settings:
        (folder / "reportgen.toml").write_text(settings, encoding="utf-8")
    return folder


_SCAN = (
    "duckdb.connect().execute(\"select count(*), sum(cost_usd) from read_ndjson('{path}',"
    " columns = {{'cost_usd': 'decimal(38, 12)'}})\").fetchall()"
)
_LOOP = "import json\nwith open('{path}', 'rb') as file:\n    print(sum(1 for line in file if json.loads(line)))"
_LOAD = "import duckdb, reportgen.loading, load\nfrom pathlib import Path"


def events(page: Page, folder: Path, rows: int, rounds: int) -> None:
    """Measure the load and the build of one large file, and of one with broken lines."""
    clean = make(folder / f"events-{rows}-0.jsonl", rows)
    broken = make(folder / f"events-{rows}-10.jsonl", rows, 10)
    large = _of_one_file(folder / "large", clean)
    log = large / "budget" / "cost-events.jsonl"
    small = folder / "small"
    (small / "budget").mkdir(parents=True)
    (small / "budget" / "cost-events.jsonl").write_bytes(b"".join(line + b"\n" for line in lines(2, 0)))
    more = b"".join(line.replace(b'"e-', b'"f-') + b"\n" for line in lines(rows // 100, 0))

    def appended() -> None:
        with log.open("ab") as file:
            file.write(more)

    ways = Ways()
    for _ in range(rounds):
        # What was appended in the round before is taken off again.
        os.truncate(log, clean.stat().st_size)
        ways.take("scan", "import duckdb", _SCAN.format(path=clean))
        ways.take("loop", "", _LOOP.format(path=clean))
        ways.take("load", _LOAD, f"load.load(Path('{clean}'))")
        ways.take("broken", _LOAD, f"load.load(Path('{broken}'))")
        ways.run("small", _build(small), lambda: _clean(small))
        ways.run("build", _build(large), lambda: _clean(large))
        ways.run("again", _build(large))
        ways.run("appended", _build(large), appended)
    scan, loop, small_one = ways.seconds["scan"], ways.seconds["loop"], ways.seconds["small"]

    def told(name: str) -> str:
        return f"{ways.median(name):.2f}"

    what = f"{rows:,} events"
    page.row(f"{what}: the bare scan", told("scan"), "", "", None)
    page.row(f"{what}: a Python loop that counts", told("loop"), "", "", None)
    ratio = ways.of("load", "scan")
    page.row(f"{what}: the load", told("load"), f"{ratio:.1f} × the scan", "4", ratio <= 4)
    ratio = ways.of("broken", "scan")
    page.row(f"{what}, 1% broken: the load", told("broken"), f"{ratio:.1f} × the scan", "12", ratio <= 12)
    above = statistics.median(
        (mine - least) / base for mine, least, base in zip(ways.seconds["build"], small_one, scan, strict=True)
    )
    page.row(f"{what}: the build, less the smallest one", told("build"), f"{above:.1f} × the scan", "5", above <= 5,
             f"{ways.mebibytes['build']:,.0f} MiB")  # fmt: skip
    faster = statistics.median(base / mine for mine, base in zip(ways.seconds["build"], loop, strict=True))
    page.row(f"{what}: the loop by the build", "", f"{faster:.1f}", "3", faster >= 3)
    ratio = ways.of("again", "small")
    page.row(f"{what}: nothing changed", told("again"), f"{ratio:.2f} × the smallest", "0.5", ratio <= 0.5)
    ratio = ways.of("appended", "build")
    page.row(f"{what}: 1% appended", told("appended"), f"{ratio:.2f} × the build", "0.25", ratio <= 0.25)


def ten_times(page: Page, folder: Path, rows: int) -> None:
    """Measure ten times as many events, once: time by that of a tenth, and the most memory."""
    ways = Ways()
    for count in (rows, rows * 10):
        project = _of_one_file(folder / f"of-{count}", make(folder / f"events-{count}-0.jsonl", count))
        ways.run(str(count), _build(project))
        shutil.rmtree(project / ".reportgen")
    ratio, size = ways.of(str(rows * 10), str(rows)), ways.mebibytes[str(rows * 10)]
    page.row(f"{rows * 10:,} events: the build", f"{ways.median(str(rows * 10)):.1f}",
             f"{ratio:.1f} × that of {rows:,}", "11", ratio <= 11, f"{size:,.0f} MiB (at most 1,500)")  # fmt: skip
    (project / "reportgen.toml").write_text('[limits]\nmemory = "512MB"\n', encoding="utf-8")
    try:
        ways.run("little", _build(project), lambda: _clean(project))
        page.row(f"{rows * 10:,} events with memory = 512MB", f"{ways.median('little'):.1f}", "", "completes", True,
                 f"{ways.mebibytes['little']:,.0f} MiB")  # fmt: skip
    except subprocess.CalledProcessError:
        page.row(f"{rows * 10:,} events with memory = 512MB", "", "", "completes", False)
    shutil.rmtree(project)


def feedback(page: Page, folder: Path, rounds: int) -> None:
    """Measure the reading of a long feedback file beside markdown-it-py's plain parse of it."""
    head = "| Date | Pipeline | Agent | Score | Issue | Resolution | Pattern |\n|---|---|---|---|---|---|---|\n"
    ways = Ways()
    for count in (FEEDBACK_ROWS // 2, FEEDBACK_ROWS):
        path = folder / f"FEEDBACK-{count}.md"
        with path.open("w", encoding="utf-8") as file:
            file.write(head)
            for number in range(count):
                issue = (
                    "Lost the thread after call",
                    "Uses `grep` where **Read** would do, call",
                    "Wrong file named in",
                )
                file.write(
                    f"| 2026-{number % 12 + 1:02d}-{number % 28 + 1:02d} | docs | agent-{number % 23} | {number % 71 + 30}/100"
                    f" | {issue[number % 3]} {number} | prompt changed | {('loop-excess', 'none')[number % 2]} |\n"
                )
    read = "from pathlib import Path\nfrom reportgen.inputs.feedback import read_feedback\n"
    read += "from reportgen.inputs.sources import Source\nfrom reportgen.names import Names"
    for _ in range(rounds):
        for count in (FEEDBACK_ROWS // 2, FEEDBACK_ROWS):
            path = folder / f"FEEDBACK-{count}.md"
            ways.take(f"parse {count}", "from markdown_it import MarkdownIt\nparser = MarkdownIt().enable('table')",
                      f"parser.parse(open('{path}', encoding='utf-8').read())")  # fmt: skip
            ways.take(f"read {count}", read,
                      f"read_feedback([Source(Path('{path}'), 'FEEDBACK.md', 'feedback')], Names(), redact=True)")  # fmt: skip
    half, whole = f"read {FEEDBACK_ROWS // 2}", f"read {FEEDBACK_ROWS}"
    ratio, size = ways.of(whole, f"parse {FEEDBACK_ROWS}"), ways.mebibytes[whole]
    page.row(f"FEEDBACK.md of {FEEDBACK_ROWS:,} rows", f"{ways.median(whole):.2f}",
             f"{ratio:.2f} × markdown-it-py's parse", "0.6", ratio <= 0.6 and size < 400,
             f"{size:,.0f} MiB (at most 400)")  # fmt: skip
    page.row("twice the rows", "", f"{ways.of(whole, half):.2f} × the time", "about 2", None)


def fixed(page: Page, folder: Path, rounds: int) -> None:
    """Measure what a build costs before there is any work, and `heal`."""
    cases = fixed_cost.cases(folder)
    for number in range(rounds + 1):
        for case in cases:
            fixed_cost.run(case)
        if not number:
            # The first round compiles what is kept from then on.
            for case in cases:
                case.seconds.clear()
    by_name = {case.name: case for case in cases}
    for case in cases:
        took = f"{statistics.median(case.seconds):.3f}"
        if not case.against:
            page.row(case.name, took, "", "", None)
            continue
        pairs = zip(case.seconds, by_name[case.against].seconds, strict=True)
        ratio = statistics.median(mine / other for mine, other in pairs)
        page.row(case.name, took, f"{ratio:.2f} × {case.against.split(',')[0]}", f"{case.target:g}",
                 ratio <= case.target)  # fmt: skip


def long_log(page: Page, folder: Path, rounds: int) -> None:
    """Measure `heal` on a log of 100 MB, where a run id is given."""
    entry = '{"timestamp":"2026-11-01T00:00:00Z","agent":"a","run_id":"old-%d","error_type":"timeout","attempt":1,'
    entry += '"max_attempts":5,"action":"retry-same","exit_code":0}\n'
    ways = Ways()
    for _ in range(rounds):
        for name, size in (("short", 1_000), ("long", 100_000_000)):
            log = folder / f"{name}.jsonl"
            heal = [*_program(), "heal", "--agent", "a", "--error-type", "timeout", "--attempt", "1", "--log", str(log)]

            def written(log: Path = log, size: int = size, heal: list[str] = heal) -> None:
                for path in folder.glob(f"{log.name}*"):
                    path.unlink()
                count = size // len(entry)
                log.write_text("".join(entry % number for number in range(count)), encoding="utf-8")
                # The first call on a log that others wrote takes note of it.
                subprocess.run([*heal, "--run-id", "first"], check=True, capture_output=True)

            ways.run(name, [*heal, "--run-id", "run-2026-11-30-0917"], written)
    page.row("reportgen heal, log of 100 MB", f"{ways.median('long'):.3f}",
             f"{ways.of('long', 'short'):.2f} × with a short log", "about 1", None)  # fmt: skip


def pages(page: Page, folder: Path) -> None:
    """Weigh the site of a large project, and of its half."""
    sites = []
    for size in (many_pages.Size(25, 150), many_pages.Size(50, 300)):
        project = folder / f"pages-{size.pipelines}"
        many_pages.make_project(project, size)
        subprocess.run(_build(project), check=True)
        sites.append(many_pages.weights(project / "site"))
    whole = sum(sites[1].values()) / 1e6
    largest = max(weight for path, weight in sites[1].items() if path.endswith(".html")) / 1e6
    page.row("200 agents, 50 pipelines, 20,000 runs, 300 recommendations", "",
             f"{whole / (sum(sites[0].values()) / 1e6):.2f} × the half's bytes", "about 2", None,
             f"site {whole:.1f} MB (at most 25), largest page {largest:.2f} MB (at most 1)")  # fmt: skip


def main() -> None:
    """Measure everything and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--ten-million", action="store_true", help="ten times the rows as well")
    parser.add_argument("--folder", type=Path, help="where large files are made and kept")
    parser.add_argument("--page", type=Path, default=PAGE)
    given = parser.parse_args()
    # Where bytecode is kept, as it is wherever something is installed, only the first start compiles.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    page = Page()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.folder:
            for made in given.folder.glob("events-*.jsonl"):
                (folder / made.name).symlink_to(made.resolve())
        for part in ("fixed", "log", "feedback", "pages", "events", "ten"):
            (folder / part).mkdir()
            for made in folder.glob("events-*.jsonl"):
                (folder / part / made.name).symlink_to(made.resolve())
        fixed(page, folder / "fixed", given.rounds * 3)
        long_log(page, folder / "log", given.rounds)
        feedback(page, folder / "feedback", given.rounds)
        pages(page, folder / "pages")
        events(page, folder / "events", given.rows, given.rounds)
        if given.ten_million:
            ten_times(page, folder / "ten", given.rows)
    command = f"python tests/bench/measured.py --rounds {given.rounds}"
    command += " --ten-million" if given.ten_million else ""
    given.page.write_text(
        "# Measured\n\n"
        f"`{command}` made this page, on {os.cpu_count()} cores with Python {sys.version.split()[0]} and DuckDB"
        f" {duckdb.__version__}. Seconds are medians; ratios are medians over the rounds of one run, and are what\n"
        "counts: another machine has other seconds.\n\n"
        "| what | seconds | ratio | target | | memory, bytes |\n|---|---:|---:|---:|---|---|\n"
        + "\n".join(page.rows)
        + "\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
