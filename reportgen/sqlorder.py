"""In which order SQL files become tables: each after those that it reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reportgen.errors import ReportgenError
from reportgen.sqlfacts import Facts
from reportgen.sqlfile import SqlFile


def in_order(files: Sequence[SqlFile], facts: Mapping[str, Facts]) -> list[SqlFile]:
    """Return the files in the order of their references, by id where that leaves a choice. `facts`: by their text.

    Raises ReportgenError where some need each other; a circle is named.
    """
    by_id = {file.id: file for file in files}
    needs: dict[str, set[str]] = {}
    # What the built-in file would read comes first too: only then can its columns be compared.
    wished: dict[str, set[str]] = {}
    for file in files:
        others = set(by_id) - {file.id}
        needs[file.id] = _named(file, facts) & others
        wished[file.id] = _named(file.replaces, facts) & others if file.replaces else set()
    done: list[SqlFile] = []
    placed: set[str] = set()
    while len(done) < len(files):
        waiting = [key for key in sorted(by_id) if key not in placed]
        ready = [key for key in waiting if needs[key] | wished[key] <= placed]
        ready = ready or [key for key in waiting if needs[key] <= placed][:1]
        if not ready:
            cycle = " and ".join(f"sql/…/{key}.sql" for key in sorted(set(by_id) - placed))
            raise ReportgenError(cycle, "these views need each other", "Break the circle.")
        done.extend(by_id[key] for key in ready)
        placed.update(ready)
    return done


def _named(file: SqlFile, facts: Mapping[str, Facts]) -> set[str]:
    named = facts[file.text].named if file.broken is None else frozenset[str]()
    if named is None:
        raise ReportgenError(file.name, "is nested too deeply to be read", "Take it apart.")
    return set(named)
