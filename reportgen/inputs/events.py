"""Cost events: from files of any shape to one table of canonical rows, with the account of every line (SPEC 2).

`read_events` reads line by line: one pass over the files writes all rows to a CSV; what must not count twice (see
`repeats`) is taken out afterwards. `load_events` leaves the lines of known shapes to DuckDB (see `staging`), reads only
the others so, and gives each line the same fate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from reportgen.formatfile import find_formats
from reportgen.inputs.accounts import EventsRead, snippet
from reportgen.inputs.eventcsv import COLUMNS, EventCsv
from reportgen.inputs.fields import Planner
from reportgen.inputs.formats import Formats
from reportgen.inputs.merging import make_events
from reportgen.inputs.parts import Parts
from reportgen.inputs.reading import Reading
from reportgen.inputs.sources import Source
from reportgen.inputs.staging import SMALLEST, Stage
from reportgen.inputs.taking import Cumulative
from reportgen.names import Names
from reportgen.warehouse import Limits, Warehouse

__all__ = ["COLUMNS", "EventsRead", "load_events", "read_events", "snippet"]

#: So many times as long as a detector may a format of the project's own take: it reads all its lines, not sums of them.
_FORMAT_TIMES = 10


def read_events(
    sources: Sequence[Source],
    sink: Path,
    names: Names,
    *,
    as_of: datetime | None = None,
    fields: Mapping[str, tuple[str, ...]] | None = None,
    redact: bool = True,
    cumulative: Cumulative = "auto",
    on_progress: Callable[[int, int], None] | None = None,
    project: Path | None = None,
) -> EventsRead:
    """Read every source and write one CSV row per event that counts to `sink` (columns: `COLUMNS`).

    `fields`: own names of canonical fields, tried before the built-in ones. `cumulative`: whether rows of a session
    are running totals: found out where the rows say or prove it, `always`, or `never`. `on_progress` is told how many
    bytes of how many are read. `project`: whose `sql/formats/` hold beside the built-in ones. Raises ReportgenError
    where a source can't be read (exit 3), or a format is wrong.
    """
    formats = Formats(find_formats(project), sink.parent, None if project is None else project / "sql", as_of=as_of)
    rows = EventCsv(sink)
    try:
        return Reading(sources, rows, names, as_of, fields or {}, redact, cumulative, on_progress, formats).run(sink)
    finally:
        formats.close()
        rows.close()


def load_events(
    sources: Sequence[Source],
    store: Warehouse,
    folder: Path,
    names: Names,
    *,
    as_of: datetime | None = None,
    fields: Mapping[str, tuple[str, ...]] | None = None,
    redact: bool = True,
    cumulative: Cumulative = "auto",
    on_progress: Callable[[int, int], None] | None = None,
    smallest: int = SMALLEST,
    on_staged: Callable[[int], None] | None = None,
    project: Path | None = None,
    parts: Parts | None = None,
) -> EventsRead:
    """Read every source into the table `raw.events` of the warehouse. `folder` is for files in between.

    `smallest`: a file of fewer bytes is read line by line. `on_staged` is told the number of each file that the
    warehouse reads. `parts`: what earlier builds have read, and where this one keeps what it reads. All else as in
    `read_events`.
    """
    sink = folder / "events.csv"
    limits = Limits(store.limits.seconds * _FORMAT_TIMES, store.limits.memory)
    formats = Formats(find_formats(project), folder, None if project is None else project / "sql", limits, as_of)
    rows = EventCsv(sink)
    try:
        reading = Reading(sources, rows, names, as_of, fields or {}, redact, cumulative, on_progress, formats)
        stage = Stage(
            store, folder, Planner(fields or {}, formats.formats), as_of=as_of, smallest=smallest, parts=parts
        )
        # Where rows are running totals, each belongs with others.
        reading.stage = None if cumulative == "always" else stage
        read = reading.run(sink)
        if on_staged:
            for staged in reading.staged:
                on_staged(staged.file_no)
        make_events(
            stage,
            reading.staged,
            sink,
            [file.lines for file in read.files],
            names,
            redacted=redact,
        )
        stage.finish([source.path for source in sources])
        return read
    finally:
        formats.close()
        rows.close()
        sink.unlink(missing_ok=True)
