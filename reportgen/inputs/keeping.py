"""Staged tables that outlive the build: each in a Parquet file, beside an index of what they hold."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from reportgen.errors import ReportgenError
from reportgen.inputs.lines import LineFile
from reportgen.inputs.parts import MOST_PARTS, Part, Parts, Stamp, lines_in, samples_of, stamp_of, whole_of
from reportgen.inputs.staged import Staged, table_of
from reportgen.redact import holding_secrets
from reportgen.sqlerror import SqlError
from reportgen.warehouse import Warehouse


class Keeper:
    """Opens kept parts, and keeps new ones. `parts` None: nothing is kept, and `folder` holds the files meanwhile."""

    def __init__(self, store: Warehouse, folder: Path, parts: Parts | None) -> None:
        self._store = store
        self._folder = folder
        self._parts = parts
        self._made: list[Path] = []
        #: By the name of what was staged: where its file is, whose it is, and the part that it is going to be.
        self._new: dict[str, tuple[Path, Path, Part]] = {}
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
                # No such file any more: what stood in it is read from its source.
                found = []
                break
        if not found:
            self._parts.forget(path)
        return found

    def _opened(self, file_no: int, path: Path, part: Part, first: int) -> Staged:
        assert self._parts is not None
        name, table = self.next_name(), table_of(self._parts.folder / part.name)
        if self._store.query(f"select count(*) from {table}").rows[0][0] != part.lines:
            raise SqlError("the part holds other lines", None)
        numbers = [number for number, _, _ in part.suspects]
        if part.is_plain:
            suspects = lines_in(path, {number: (place, length) for number, place, length in part.suspects})
        else:
            suspects = LineFile(path).at(numbers)
        return Staged(
            file_no=file_no, table=table, name=name, first=first, lines=part.lines, unterminated=False,
            texts=part.texts, has_ids=part.has_ids,
            suspects=tuple((first + number, line) for number, line in suspects),
        )  # fmt: skip

    def next_name(self) -> str:
        """Return a name for a table that no other has."""
        self._number += 1
        return f"staged_{self._number}"

    def new_file(self, name: str) -> Path:
        """Return where what is staged is to be written: beside the parts, where they can be."""
        path = self._folder / f"{name}.lines"
        if self._parts is not None:
            with contextlib.suppress(OSError):
                self._parts.folder.mkdir(parents=True, exist_ok=True)
                path = self._parts.folder / f"{self._parts.new_name()}.new"
        self._made.append(path)
        return path

    def note(
        self,
        path: Path,
        start: int,
        staged: Staged,
        made: Path,
        places: Sequence[tuple[int, int, int]],
        was: Stamp,
    ) -> None:
        """Remember to keep the file `made`, of what was staged from byte `start` to the end of a file.

        Not where a later build could not go on there. `places`: of the lines that need a closer look; `was`: the file's
        stamp before it was read. Raises OSError.
        """
        if self._parts is None or made.parent != self._parts.folder or staged.unterminated:
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
                texts=staged.texts, has_ids=staged.has_ids, suspects=tuple(places),
            )  # fmt: skip
        if not self._holds_secrets(staged):
            self._new[staged.name] = (made, path, part)

    def _holds_secrets(self, staged: Staged) -> bool:
        """Say whether a name in the table is one that is not to be stored as it is."""
        texts = [f"select distinct {column} as text from {staged.table}" for column in staged.text_columns()]
        if not texts:
            return False
        found = self._store.query(f"select text from ({' union all '.join(texts)}) where text is not null").rows
        return bool(holding_secrets([text for (text,) in found]))

    def finish(self, paths: Sequence[Path]) -> None:
        """Keep what was noted: no table is read from now on. `paths`: the files that there are."""
        if self._parts is not None:
            for made, path, part in self._new.values():
                # What can't be kept is read again.
                with contextlib.suppress(OSError):
                    with made.open("rb") as file:
                        os.fsync(file.fileno())
                    place = self._parts.folder / part.name
                    made.replace(place)
                    self._parts.add(path, replace(part, made=stamp_of(place)))
            self._parts.save(paths)
        for made in self._made:
            made.unlink(missing_ok=True)
