"""What an open warehouse knows of its tables without asking: which have no rows, and the columns that a SELECT gives.

The columns of the built-in files depend on nothing but their texts, so they are kept between processes; then a table
that is sure to be empty is made without planning the query that would fill it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from reportgen.compiled import Notes
from reportgen.quickclass import dataclass
from reportgen.resources import resource_dir
from reportgen.sqlfacts import Facts


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns of a SELECT, and their DuckDB types."""

    columns: tuple[str, ...]
    types: tuple[str, ...]

    def as_columns(self) -> str:
        """Return them as `create table` takes them."""
        names = [name.replace('"', '""') for name in self.columns]
        return ", ".join(f'"{name}" {kind}' for name, kind in zip(names, self.types, strict=True))


class Shapes:
    """Tables by name, `runs` or `raw.events`; those that nobody told of may hold anything."""

    def __init__(self, version: str) -> None:
        self._notes = Notes(resource_dir("sql") / "shapes", "shapes", version)
        self._empty: set[str] = set()
        self._sources: dict[str, str] = {}

    def made(self, table: str, rows: int | None, source: str | None) -> None:
        """Remember that a table was made: how many rows it has (None: not known), and what tells its columns (None:
        nothing does).
        """
        name = table.lower()
        self._empty.discard(name)
        self._sources.pop(name, None)
        if rows == 0:
            self._empty.add(name)
        if source is not None:
            self._sources[name] = source

    def gone(self, table: str) -> None:
        """Forget a table."""
        self.made(table, None, None)

    def source(self, text: str, facts: Facts) -> str | None:
        """Return what tells the columns of a SELECT: its text, and the same of all that it reads; None: nothing."""
        parts = [self._sources.get(name.lower()) for name in facts.tables]
        if None in parts:
            return None
        return hashlib.sha256("\0".join([text, *map(str, parts)]).encode("utf-8", "surrogatepass")).hexdigest()

    def is_empty(self, facts: Facts) -> bool:
        """Say whether a SELECT is sure to have no rows."""
        return any(one <= self._empty for one in facts.empty_if)

    def get(self, source: str | None) -> Shape | None:
        """Return the columns of a SELECT where they are known."""
        note = None if source is None else self._notes.get(source)
        if note is None:
            return None
        columns, types = json.loads(note)
        return Shape(tuple(columns), tuple(types))

    def put(self, source: str | None, columns: Iterable[str], types: Iterable[str]) -> None:
        """Remember the columns of a SELECT."""
        if source is not None:
            self._notes.put(source, json.dumps([list(columns), list(types)]))

    def save(self) -> None:
        """Keep what is known of columns for the next process."""
        self._notes.save()
