"""`reportgen new detector ID`: a working detector and its test, to change into what one is after."""

from __future__ import annotations

from pathlib import Path

from reportgen.checkrules import STUB_ACTION, STUB_DOC
from reportgen.errors import ReportgenError
from reportgen.newfile import filled, refuse_name, write_new
from reportgen.resources import resource_dir

_SQL = """\
/*---
title = "@title"
issue = "@title"
doc = \"""
@doc As it stands, it reports runs with many events.
\"""
finding = "{subject} of {pipeline} has {observed}; from {threshold} on it is reported."
action = "@action"
effort = "S"
burden = 0
subject_kind = "run"
needs = ["events"]

[minimum]
runs = 5

[params.min_events]
default = 100
unit = "events"
doc = "A run with at least as many is reported."

[columns.observed]
label = "Events in the run"
unit = "events"

[columns.threshold]
label = "Reported from"
unit = "events"

[columns.started]
label = "Started"
unit = "time"
---*/
with param as (
    select * from params.@id
),

flagged as (
    select
        r.pipeline,
        r.run,
        r.run_key,
        r.events,
        r.started,
        pl.runs as total_runs,
        p.min_events
    from runs as r
    inner join pipelines as pl on r.pipeline = pl.pipeline
    cross join param as p
    where r.events >= p.min_events
)

select
    pipeline,
    run as subject,
    run_key as subject_key,
    events as observed,
    null as baseline,
    min_events as threshold,
    1 as occurrences,
    1 as affected_runs,
    total_runs,
    started
from flagged
order by pipeline asc, events desc, run_key asc
"""

_TEST = """\
# @title

What [@id.sql](@id.sql) finds, and what it leaves alone. `reportgen test @id` runs these cases.

Given `pipelines`:

| pipeline | runs |
|----------|------|
| docs     | 12   |

## A run with as many events as the limit is reported

Given `runs`:

| pipeline | run_key | run | events |
|----------|---------|-----|--------|
| docs     | id:r1   | r1  | 100    |

Expect:

| pipeline | subject | observed | threshold |
|----------|---------|----------|-----------|
| docs     | r1      | 100      | 100       |

## One event less is not

Given `runs`:

| pipeline | run_key | run | events |
|----------|---------|-----|--------|
| docs     | id:r1   | r1  | 99     |

Expect: nothing
"""


def new_detector(project: Path, name: str) -> tuple[Path, Path]:
    """Write `sql/detectors/<name>.sql` and its test into a project, and return their paths.

    Raises ReportgenError for a name that can't be an id, for that of a built-in detector, and where a file of either
    name is there: nothing is ever overwritten.
    """
    refuse_name("detector", name, "slow_handoffs")
    if (resource_dir("sql") / "detectors" / f"{name}.sql").is_file():
        own = f"sql/detectors/{name}.sql"
        raise ReportgenError(
            f"new detector {name}",
            "is a built-in detector",
            "Take another name; to replace the built-in one:"
            f" reportgen detectors show {name} --sql > {name}.new && mv {name}.new {own}",
        )
    folder = project / "sql" / "detectors"
    sql, test = folder / f"{name}.sql", folder / f"{name}.test.md"
    slots = {"id": name, "title": name.replace("_", " ").capitalize(), "doc": STUB_DOC, "action": STUB_ACTION}
    write_new(project, {sql: filled(_SQL, **slots), test: filled(_TEST, **slots)})
    return sql, test
