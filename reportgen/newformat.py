"""`reportgen new format ID [FILE]`: a format and its test to start from, drafted from the lines of a file."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from reportgen.checkrules import STUB_FORMAT
from reportgen.errors import ExitCode, ReportgenError
from reportgen.formatdraft import Draft, draft, simple
from reportgen.formatfile import EVENT, FOLDER, find_formats
from reportgen.formattest import cells_of
from reportgen.inputs.formats import pruner
from reportgen.inputs.lines import LineFile
from reportgen.inputs.records import LineReader, Record
from reportgen.newfile import filled, refuse_name, refuse_there, write_new
from reportgen.quickclass import dataclass
from reportgen.resources import resource_dir
from reportgen.testfile import read_test_file

#: So many lines are looked at, and so many of them make a case.
_LINES, _SAMPLES = 5000, 3
#: Of what nothing reads so much is listed.
_OTHERS = 20
Path_ = tuple[str, ...]

_EXAMPLE_SQL = """\
/*---
title = "@title"
doc = "@doc As it stands, a step is one event: its first line names the worker, its last line tells what it used."
time = "at"
keys = ["ev", "step", "at", "worker", "model", "use.in", "use.out"]

[[recognised]]
ev = ["begin", "end"]
step = true

[[once]]
key = "step"
keep = ["line_no desc"]
others = "duplicate"
doc = "A harness that is restarted writes the end of a step again."
---*/
with begun as (
    select
        record ->> '$.step' as step,
        min(record ->> '$.worker') as worker
    from lines
    where record ->> '$.ev' = 'begin'
    group by record ->> '$.step'
)

select
    l.file_no,
    l.line_no,
    l.part,
    l.record ->> '$.step' as step,
    l.record ->> '$.at' as event_time,
    b.worker as agent,
    l.record ->> '$.model' as model,
    l.record ->> '$.use.in' as input_tokens,
    l.record ->> '$.use.out' as output_tokens
from lines as l
left join begun as b on l.record ->> '$.step' = b.step
where l.record ->> '$.ev' = 'end'
"""

_EXAMPLE_TEST = """\
# Tests of `@id`

`reportgen test @id` runs them: lines are given, and the events expected that come of them.

## A step counts once, at its end, for the worker that began it

Given `log.jsonl`:

```jsonl
{"ev": "begin", "step": "s1", "worker": "planner", "at": "2026-11-02T09:00:00Z"}
{"ev": "end", "step": "s1", "model": "acme-1", "use": {"in": 1200, "out": 340}, "at": "2026-11-02T09:00:04Z"}
{"ev": "end", "step": "s1", "model": "acme-1", "use": {"in": 1200, "out": 340}, "at": "2026-11-02T09:00:04Z"}
```

Expect:

| line | event_time | agent | model | input_tokens | output_tokens |
|---|---|---|---|---|---|
| 3 | 2026-11-02 09:00:04 | planner | acme-1 | 1200 | 340 |
"""

_TEST = """\
# Tests of `@id`

`reportgen test @id` runs them: lines are given, and the events expected that come of them.

## What the first lines say

Drafted from lines of a log, without what the format does not read. See that each number is what it should be, and add
the cases that matter: a line written twice, one without a number, a session that goes on in another file.

Given `log.jsonl`:

```jsonl
@lines
```

Expect:

@table
"""


@dataclass(frozen=True, slots=True)
class NewFormat:
    """What was written, and how the lines of the file were understood (empty without one)."""

    sql: Path
    test: Path
    fields: Mapping[str, Path_]
    missing: Sequence[str]


def new_format(project: Path, name: str, source: Path | None = None) -> NewFormat:
    """Write `sql/formats/<name>.sql` and its test into a project.

    Raises ReportgenError for a name that can't be an id, for that of a built-in format, where a file of either name is
    there (nothing is ever overwritten), and where nothing in the lines of `source` looks like tokens or a cost.
    """
    refuse_name("format", name, "our_steps")
    if (resource_dir("sql") / FOLDER / f"{name}.sql").is_file():
        step = f"Take another name; to replace the built-in one, write sql/{FOLDER}/{name}.sql by hand."
        raise ReportgenError(f"new format {name}", "is a built-in format", step)
    folder = project / "sql" / FOLDER
    sql, test = folder / f"{name}.sql", folder / f"{name}.test.md"
    refuse_there(project, (sql, test))
    slots = {"id": name, "title": name.replace("_", " ").capitalize(), "doc": STUB_FORMAT}
    if source is None:
        write_new(project, {sql: filled(_EXAMPLE_SQL, **slots), test: filled(_EXAMPLE_TEST, **slots)})
        return NewFormat(sql, test, {}, ())
    made = _drafted(project, name, source)
    sql_text = _sql_of(made, slots["title"])
    write_new(project, {sql: sql_text, test: _test_of(made, name, sql_text)})
    wanted = ("event_time", "agent", "pipeline", "run_id", "model", "input_tokens", "output_tokens", "cost_usd")
    return NewFormat(sql, test, made.fields, [one for one in wanted if one not in made.fields])


def _drafted(project: Path, name: str, source: Path) -> Draft:
    formats = find_formats(project)
    reader = LineReader()
    records: list[Record] = []
    known = 0
    try:
        for line in islice(LineFile(source), _LINES):
            for record in reader.read(line).records:
                if any(one.matches(record) for one in formats):
                    known += 1
                else:
                    records.append(record)
    except OSError as error:
        what = f"can't be read: {error.strerror or error}"
        raise ReportgenError(
            str(source), what, "Give a file of lines, each a JSON object.", ExitCode.NO_INPUT
        ) from error
    if not records:
        what = f"all {known:,} records are read already" if known else "holds no JSON object on a line of its own"
        raise ReportgenError(str(source), what, "`reportgen inspect FILE` says how a file is understood.")
    made = draft(records)
    if made is None:
        what = f"no number in {len(records):,} records has a name that speaks of tokens or a cost"
        raise ReportgenError(str(source), what, f"`reportgen new format {name}` writes an example to change by hand.")
    return made


def _sql_of(made: Draft, title: str) -> str:
    paths = list(made.fields.values())
    lines = ["/*---", f'title = "{title}"', f'doc = "{STUB_FORMAT}"']
    if "event_time" in made.fields:
        lines.append(f"time = {_dotted(made.fields['event_time'])}")
    lines += ["keys = [", *(f"    {_dotted(path)}," for path in sorted(paths)), "]", "", "[[recognised]]"]
    for path, values in made.conditions.items():
        key = path[0] if len(path) == 1 else _dotted(path)
        lines.append(f"{key} = {json.dumps(list(values)) if values else 'true'}")
    lines += ["---*/", "select", "    file_no,", "    line_no,", "    part,"]
    columns = [f"    record ->> '{_json_path(made.fields[field])}' as {field}" for field in _in_order(made)]
    lines += [*(f"{column}," for column in columns[:-1]), columns[-1], "from lines"]
    if made.others:
        told = [f"-- {'.'.join(path)}: {kind}" for path, kind in islice(made.others.items(), _OTHERS)]
        lines += ["-- Also in these lines, and there for the SELECT once `keys` names it:", *told]
    return "\n".join(lines) + "\n"


def _in_order(made: Draft) -> list[str]:
    return [field for field in EVENT if field in made.fields]


def _dotted(path: Path_) -> str:
    return json.dumps(".".join(path))


def _json_path(path: Path_) -> str:
    return "$." + ".".join(key if key.isidentifier() else f'"{key}"' for key in path)


def _test_of(made: Draft, name: str, sql: str) -> str:
    """Return the test: the first events, and what comes of them."""
    tree: dict[str, Any] = {}
    for path in (*made.fields.values(), *made.conditions):
        branch = tree
        for key in path:
            branch = branch.setdefault(key, {})
    prune = pruner(tree)
    lines = "\n".join(prune(_simplified(record)) for record in made.events[:_SAMPLES])
    columns = ["line", *_in_order(made)]
    rule = f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}"
    with tempfile.TemporaryDirectory(prefix="reportgen-draft-") as place:
        home = Path(place)
        test = home / "sql" / FOLDER / f"{name}.test.md"
        write_new(home, {test.with_name(f"{name}.sql"): sql, test: filled(_TEST, id=name, lines=lines, table=rule)})
        (case,) = read_test_file(test, name=f"sql/{FOLDER}/{name}.test.md").cases
        rows = cells_of(case, columns, test.name, home)
    table = "\n".join([rule, *(f"| {' | '.join(row)} |" for row in rows)])
    return filled(_TEST, id=name, lines=lines, table=table)


def _simplified(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        return {key: _simplified(one) for key, one in value.items()}
    return simple(value)
