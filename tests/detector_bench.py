"""A small detector of a project, its test, and ways to run it."""

from __future__ import annotations

from pathlib import Path

from project import write_project

from reportgen import detectortest

#: A detector of one's own, small enough to foresee: agents with more events than a limit.
BUSY = """/*---
title = "Busy agents"
finding = "{subject} is busy."
action = "Look."
burden = 3
[params.more_than]
default = 5
---*/
select
    pipeline,
    agent as subject,
    events as observed,
    null as baseline,
    p.more_than as threshold,
    runs as occurrences,
    runs as affected_runs,
    10 as total_runs,
    cost as saving,
    cast(100 as decimal(38, 12)) as saving_of,
    first_seen,
    in_roster
from agents
cross join params.busy as p
where events > p.more_than
order by pipeline asc, events desc, agent asc
"""

GIVEN = """Given `agents`:

| pipeline | agent | events | runs | cost |
|---|---|---|---|---|
| docs | ann | 6 | 2 | 1.5 |
| docs | bob | 5 | 2 | 2 |
| docs | cid | 9 | 2 | 50 |
"""
HIT = f"""# Busy

## Six are reported

{GIVEN}
Expect:

| subject | observed |
|---|---|
| cid | 9 |
| ann | 6 |
"""


def project_with(folder: Path, test: str | None, detector: str = BUSY, **more: str) -> Path:
    """A project whose only detector of its own is `busy`, with this test file."""
    files = {"sql/detectors/busy.sql": detector, **{f"sql/detectors/{k}": v for k, v in more.items()}}
    if test is not None:
        files["sql/detectors/busy.test.md"] = test
    return write_project(folder / "project", events=None, files=files)


def run(bench: detectortest.Bench, folder: Path, test: str) -> detectortest.TestRun:
    """Run one test file of `busy` on the bench that the tests of this file share."""
    path = folder / "busy.test.md"
    path.write_text(test, encoding="utf-8")
    return detectortest.TestRun(tuple(bench.run_file(bench.detectors["busy"], path)), ())


def run_project(folder: Path, test: str | None, detector: str = BUSY) -> detectortest.TestRun:
    """Run the tests of a project with this detector as a user does."""
    return detectortest.run_tests(project_with(folder, test, detector), ["busy"])


def only(found: detectortest.TestRun) -> detectortest.CaseResult:
    (result,) = found.results
    return result
