"""What the site of a large project weighs: `python tests/bench/many_pages.py [FOLDER] [--findings 300]`.

A made-up project of 200 agents, 50 pipelines, 20,000 runs and about so many recommendations is built, and the half of
it: printed are the bytes of each site, its largest pages, and how much the whole grew over the half. No clock: the same
project gives the same bytes. Plotly's script is left out, as it is one file of a third party.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from reportgen import build

SEED = 20260101
START = datetime(2026, 3, 2, tzinfo=UTC)
DAYS = 180
AGENTS_A_PIPELINE = 4
RUNS_A_PIPELINE = 400
TOOLS = ("Read", "Grep", "Edit", "Bash", "WebFetch", "Query")
#: What the whole may weigh, and each of its pages: megabytes of a million bytes.
MOST_SITE, MOST_PAGE = 25.0, 1.0


@dataclass(frozen=True)
class Size:
    """How large a project is; `findings` is about how many recommendations it is to have."""

    pipelines: int
    findings: int

    @property
    def name(self) -> str:
        """What it is called in the table."""
        agents, runs = self.pipelines * AGENTS_A_PIPELINE, self.pipelines * RUNS_A_PIPELINE
        return f"{agents} agents, {self.pipelines} pipelines, {runs:,} runs"


def _events(size: Size, random: Random) -> Iterator[str]:
    """Yield the cost events: of each pipeline's runs so many cost far more than others that its findings add up."""
    # In every pipeline one agent is in nearly all of its events, and one in nearly no run: two findings.
    outliers = max(size.findings // size.pipelines - 3, 0)
    for number in range(size.pipelines):
        pipeline = f"pipeline-{number:02d}"
        dear = set(random.sample(range(RUNS_A_PIPELINE), outliers))
        for run in range(RUNS_A_PIPELINE):
            at = START + timedelta(minutes=int((run + random.random()) * DAYS * 1440 / RUNS_A_PIPELINE))
            agents = [0, 0, 0, 1, 2] if run % 20 else [0, 0, 0, 1, 2, 3]
            for step, agent in enumerate(agents):
                cost = int((2000 + 2000 * random.random()) * (6 if run in dear else 1))
                event = {
                    "timestamp": f"{at + timedelta(seconds=40 * step):%Y-%m-%dT%H:%M:%SZ}",
                    "pipeline": pipeline,
                    "agent": f"agent-{number * AGENTS_A_PIPELINE + agent:03d}",
                    "run_id": f"run-{number:02d}-{run:04d}",
                    "tool_name": random.choice(TOOLS),
                    "input_tokens": cost,
                    "cost_usd": f"0.{cost:06d}",
                }
                yield json.dumps(event)


def _reviews(size: Size, random: Random) -> Iterator[str]:
    """Yield a row of feedback for every twentieth run; one agent of a pipeline goes round in circles."""
    yield "| Date | Pipeline | Agent | Score | Issue | Resolution | Pattern |"
    yield "|---|---|---|---|---|---|---|"
    for number in range(size.pipelines):
        for review in range(RUNS_A_PIPELINE // 20):
            day = START + timedelta(days=review * DAYS * 20 // RUNS_A_PIPELINE)
            agent = f"agent-{number * AGENTS_A_PIPELINE + review % 3:03d}"
            circles = review % 3 == 1 and review < 12
            score = int((40 if circles else 75) + 20 * random.random())
            told = "too many rounds | capped by hand | loop-excess" if circles else "none | none | none"
            yield f"| {day:%Y-%m-%d} | pipeline-{number:02d} | {agent} | {score}/100 | {told} |"


def make_project(folder: Path, size: Size) -> None:
    """Write a project of that size into the folder."""
    random = Random(SEED)
    (folder / "budget").mkdir(parents=True, exist_ok=True)
    text = "".join(f"{line}\n" for line in _events(size, random))
    (folder / "budget" / "cost-events.jsonl").write_text(text, encoding="utf-8")
    (folder / "FEEDBACK.md").write_text("".join(f"{line}\n" for line in _reviews(size, random)), encoding="utf-8")


def weights(site: Path) -> dict[str, int]:
    """Return the bytes of each file of a site but Plotly's script, the largest first."""
    paths = [path for path in site.rglob("*") if path.is_file() and path.name != "plotly.min.js"]
    sizes = {path.relative_to(site).as_posix(): path.stat().st_size for path in paths}
    return dict(sorted(sizes.items(), key=lambda one: (-one[1], one[0])))


def main() -> None:
    """Build both projects and print what their sites weigh."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="where the projects are made and kept")
    parser.add_argument("--findings", type=int, default=300, help="about how many recommendations the whole has")
    given = parser.parse_args()
    sizes = (Size(25, given.findings // 2), Size(50, given.findings))
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        told: list[tuple[Size, int, dict[str, int]]] = []
        for size in sizes:
            project = folder / f"of-{size.pipelines}-pipelines"
            make_project(project, size)
            result = build(project)
            assert result.report is not None
            told.append((size, len(result.report.recommendations), weights(result.site)))
    print("| project | findings | files | site, MB | largest page, MB |\n|---|---:|---:|---:|---:|")
    for size, findings, made in told:
        page = max(weight for path, weight in made.items() if path.endswith(".html"))
        print(f"| {size.name} | {findings} | {len(made):,} | {sum(made.values()) / 1e6:.2f} | {page / 1e6:.2f} |")
    (_, _, half), (_, _, whole) = told
    growth = sum(whole.values()) / sum(half.values())
    print(
        f"\nTwice the project: {growth:.2f} times the site (at most {MOST_SITE:g} MB; no page over {MOST_PAGE:g} MB)."
    )
    print("\n| largest files | bytes | times the half's |\n|---|---:|---:|")
    for path, weight in list(whole.items())[:12]:
        print(f"| {path} | {weight:,} | {f'{weight / half[path]:.2f}' if path in half else ''} |")
    folders: Counter[str] = Counter()
    for path, weight in whole.items():
        folders[path.rpartition("/")[0].split("/")[0] or "(top)"] += weight
    print("\n| folder | MB |\n|---|---:|")
    for name, weight in folders.most_common():
        print(f"| {name} | {weight / 1e6:.2f} |")


if __name__ == "__main__":
    main()
