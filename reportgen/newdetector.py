"""`reportgen new detector ID`: a working detector and its test, to change into what one is after."""

from __future__ import annotations

import re
from pathlib import Path

from reportgen.checkrules import RESERVED, STUB_ACTION, STUB_DOC
from reportgen.errors import ReportgenError
from reportgen.resources import resource_dir

_ID = re.compile(r"[a-z][a-z0-9_]{0,59}")

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
    if not _ID.fullmatch(name) or name in RESERVED or name == "report":
        suggested = re.sub(r"[^a-z0-9]+", "_", name.removesuffix(".sql").lower()).strip("_0123456789")[:60]
        hint = f"Call it {suggested}." if _ID.fullmatch(suggested) and suggested != name else "slow_handoffs is one."
        what = "a detector's name is its id: small letters, digits and _, and no word of SQL"
        raise ReportgenError(f"new detector {name}", what, hint)
    if (resource_dir("sql") / "detectors" / f"{name}.sql").is_file():
        own = f"sql/detectors/{name}.sql"
        raise ReportgenError(
            f"new detector {name}",
            "is a built-in detector",
            "Take another name; to replace the built-in one:"
            f" reportgen detectors show {name} --sql > {name}.new && mv {name}.new {own}",
        )
    if not project.is_dir():
        raise ReportgenError(str(project), "no such directory", "Make it first, or name another one.")
    folder = project / "sql" / "detectors"
    files = {folder / f"{name}.sql": _SQL, folder / f"{name}.test.md": _TEST}
    for path in files:
        if path.exists() or path.is_symlink():
            what = "is there already, and is left as it is"
            raise ReportgenError(str(path), what, "Take another name, or move it away and run this again.")
    title = name.replace("_", " ").capitalize()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            # "x" makes the file or fails, whatever has come in between.
            with path.open("x", encoding="utf-8", newline="\n") as file:
                file.write(_filled(text, id=name, title=title, doc=STUB_DOC, action=STUB_ACTION))
    except OSError as error:
        raise ReportgenError(str(folder), f"can't be written ({error.strerror})", "Check the directory.") from None
    sql, test = files
    return sql, test


def _filled(text: str, **slots: str) -> str:
    for key, value in slots.items():
        text = text.replace(f"@{key}", value)
    return text
