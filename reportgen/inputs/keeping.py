"""Staged tables that outlive the build: each in a DuckDB file of its own, beside an index of what they hold."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from reportgen.errors import ReportgenError
from reportgen.inputs.lines import LineFile
from reportgen.inputs.parts import MOST_PARTS, Part, Parts, Stamp, lines_in, samples_of, stamp_of, whole_of
from reportgen.inputs.staged import Staged, lines_at
from reportgen.redact import holding_secrets
from reportgen.sqlerror import SqlError
from reportgen.sqltext import quoted
from reportgen.warehouse import Warehouse


class Keeper:
    """Opens kept parts in a warehouse, and keeps new ones. `parts` None: nothing is kept, and tables are temporary."""

    def __init__(self, store: Warehouse, parts: Parts | None) -> None:
        self._store = store
        self._parts = parts
        #: By the name of each open database, where the file of a new one is; None: an earlier build made it.
        self._open: dict[str, Path | None] = {}
        self._new: dict[str, tuple[Path, Part]] = {}
        self._number = 0

    def known(self, file_no: int, path: Path, smallest: int) -> list[tuple[Part, Staged]]:
        """Return the parts of a file that earlier builds have read, from its beginning. Raises OSError.

        None where so much was added to so many of them that they are read again as one; `smallest`: how much that is.
        """
        if self._parts is None:
            return []
        parts = self._parts.known(path)
        if len(parts) >= MOST_PARTS and path.stat().st_size - parts[-1].end >= smallest:
            parts = ()
        found: list[tuple[Part, Staged]] = []
        for part in parts:
            first = sum(staged.lines for _, staged in found)
            try:
                found.append((part, self._opened(file_no, path, part, first)))
            except (SqlError, ReportgenError):
                # No DuckDB file any more: what stood in it is read from its source.
                found = []
                break
        if not found:
            self._parts.forget(path)
        return found

    def _opened(self, file_no: int, path: Path, part: Part, first: int) -> Staged:
        assert self._parts is not None
        name = self.next_name()
        self._store.query(f"attach {quoted(str(self._parts.folder / part.name))} as {name} (read_only)")
        self._open[name] = None
        if self._store.query(f"select count(*) from {name}.lines").rows[0][0] != part.lines:
            raise SqlError("the part holds other lines", None)
        numbers = [number for number, _, _ in part.suspects]
        if part.is_plain:
            suspects = lines_in(path, {number: (place, length) for number, place, length in part.suspects})
        else:
            suspects = lines_at(path, numbers)
        return Staged(
            file_no=file_no, table=f"{name}.lines", name=name, first=first, lines=part.lines, unterminated=False,
            texts=part.texts, kinds=part.kinds, has_ids=part.has_ids,
            suspects=tuple((first + number, line) for number, line in suspects),
        )  # fmt: skip

    def next_name(self) -> str:
        """Return a name for a table that no other has."""
        self._number += 1
        return f"staged_{self._number}"

    def new_table(self, name: str) -> str:
        """Return what the table that is to be made is called in SQL: of a part that is kept, where that is wanted."""
        if self._parts is not None:
            with contextlib.suppress(OSError, SqlError, ReportgenError):
                self._parts.folder.mkdir(parents=True, exist_ok=True)
                path = self._parts.folder / f"{self._parts.new_name()}.new"
                path.unlink(missing_ok=True)
                self._store.query(f"attach {quoted(str(path))} as {name}")
                self._open[name] = path
                return f"{name}.lines"
        return f"temp.{name}"

    def note(self, path: Path, start: int, staged: Staged, places: Sequence[tuple[int, int, int]], was: Stamp) -> None:
        """Remember to keep what was staged from byte `start` to the end of a file, where a later build can go on there.

        `places`: of the lines that need a closer look; `was`: the file's stamp before it was read. Raises OSError.
        """
        made = self._open.get(staged.name)
        if self._parts is None or made is None or staged.unterminated:
            return
        end = was[2]
        with path.open("rb") as file:
            # Whoever wrote to the file meanwhile may have changed what was read.
            if stamp_of(file.fileno()) != was:
                return
            part = Part(
                name=made.name.removesuffix(".new"), start=start, end=end, lines=staged.lines,
                is_plain=start > 0 or LineFile(path).is_plain, stamp=was, made=was,
                samples=samples_of(file.fileno(), start, end),
                whole=whole_of(file.fileno(), start, end) if self._parts.full else b"",
                texts=staged.texts, kinds=staged.kinds, has_ids=staged.has_ids, suspects=tuple(places),
            )  # fmt: skip
        if not self._holds_secrets(staged):
            self._new[staged.name] = (path, part)

    def _holds_secrets(self, staged: Staged) -> bool:
        """Say whether a name in the table is one that is not to be stored as it is."""
        texts = [f"select distinct cast({column} as varchar) as text from {staged.table}" for column in staged.kinds]
        if not texts:
            return False
        found = self._store.query(f"select text from ({' union all '.join(texts)}) where text is not null").rows
        return bool(holding_secrets([text for (text,) in found]))

    def finish(self, paths: Sequence[Path]) -> None:
        """Keep what was noted, and close all parts: none is read afterwards. `paths`: the files that there are."""
        if self._parts is None:
            return
        for name, made in self._open.items():
            # What can't be kept is read again.
            with contextlib.suppress(SqlError, ReportgenError, OSError):
                if made is None or name not in self._new:
                    self._store.query(f"detach {name}")
                    continue
                self._store.query(f"alter table {name}.lines drop column if exists proof")
                self._store.query(f"checkpoint {name}")
                self._store.query(f"detach {name}")
                with made.open("rb") as file:
                    os.fsync(file.fileno())
                path, part = self._new[name]
                place = self._parts.folder / part.name
                made.replace(place)
                self._parts.add(path, replace(part, made=stamp_of(place)))
        self._open.clear()
        self._parts.save(paths)
