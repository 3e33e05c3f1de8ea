"""docs/marts.md: the tables that detectors and charts read, from the comments in their SQL files.

`python -m reportgen.martspage > docs/marts.md` writes it; a test keeps it current.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill

from reportgen.macros import make_macros
from reportgen.querying import TableInfo, tables
from reportgen.resources import resource_dir
from reportgen.sqlfile import SqlFile, find_sql_files
from reportgen.warehouse import Warehouse

#: Steps on the way to the events: nobody needs them to write a detector.
INNER = frozenset(
    {"clock_faults", "dated_events", "event_places", "gap_runs", "seen_events", "seen_feedback", "seen_healing"}
    | {"spellings"}
)

_HEAD = """\
# Marts: the tables that detectors read

<!-- Written by `python -m reportgen.martspage > docs/marts.md`; a test keeps it current. -->

Every build leaves these tables in `.reportgen/warehouse.duckdb`, with the comments that stand here. Each is one SELECT
in a file of its name. Detectors, charts and your own marts read them by name; so does `reportgen query`, and
`reportgen query --schema runs` shows one of them. How to write a detector: [sql/README.md](../sql/README.md).

Amounts of money are DECIMAL and exact. `cost` is in the pipeline's measure (`cost_measure` in
[pipelines](#pipelines)): US dollars, tokens, or events. Times are UTC, without a zone. Names are as they are shown;
`(unattributed)` is no agent, and `attributed` tells it apart.

Detectors also read their own parameters, one row in `params.<id>`. Charts read two tables more: `findings`, a row for
each finding with the columns of the contract, and `vfm`, how each scores ([score.md](score.md)).
"""

_GROUPS: tuple[tuple[str, str, str], ...] = (
    ("marts", "Marts", "Small sums, from which detectors and charts are made."),
    ("sources", "Sources", "The inputs themselves, one row for each event, review or recovery attempt looked at."),
)


def marts_page() -> str:
    """Return the page. The built-in tables are in it; those of a project are in its own warehouse."""
    built_in = resource_dir("sql")
    files = {folder: find_sql_files(folder, built_in, None) for folder, _, _ in _GROUPS}
    with Warehouse() as store:
        store.load_raw({}, None)
        store.lock()
        make_macros(store, None)
        store.create_tables(files["sources"])
        store.create_tables(files["marts"])
        infos = {info.name: info for info in tables(store)}
    parts = [_HEAD, _contents(files)]
    for folder, title, about in _GROUPS:
        parts.append(f"## {title}\n\n{about}\n")
        parts += [_table(file, infos[file.id]) for file in _shown(files[folder])]
    return "\n".join(parts)


def _shown(files: Iterable[SqlFile]) -> list[SqlFile]:
    return [file for file in files if file.id not in INNER]


def _contents(files: Mapping[str, Sequence[SqlFile]]) -> str:
    rows = ["| table | what |", "|---|---|"]
    for folder, _, _ in _GROUPS:
        rows += [f"| [{file.id}](#{file.id}) | {_title(file)} |" for file in _shown(files[folder])]
    return "\n".join(rows) + "\n"


def _title(file: SqlFile) -> str:
    return _cell(str(file.front.get("title", file.id)))


def _cell(text: str) -> str:
    """Return a comment as Markdown: back-ticks mean code there, too; a bar or an angle bracket means nothing."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "\\<")


def _table(file: SqlFile, info: TableInfo) -> str:
    doc = _cell(info.comment)
    about = f"{_title(file)}. {doc}" if doc != _title(file) else f"{doc}."
    about = fill(about, 120, break_long_words=False, break_on_hyphens=False)
    lines = [f"### {info.name}", "", about, "", f"[{file.name}](../{file.name})", ""]
    lines += ["| column | type | what |", "|---|---|---|"]
    lines += [f"| `{name}` | {kind} | {_cell(comment)} |" for name, kind, comment in info.columns]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    import sys

    sys.stdout.write(marts_page())
