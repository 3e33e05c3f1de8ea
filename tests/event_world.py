"""Small helpers for the tests of cost events: write files, read them, and look at the rows by name."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from reportgen.inputs.events import COLUMNS, EventsRead, read_events
from reportgen.inputs.sources import Source
from reportgen.model import InputFile
from reportgen.names import Names


@dataclass(frozen=True)
class Seen:
    """What came of a reading: the result, and the rows with names in place of numbers ("" is NULL)."""

    result: EventsRead
    rows: list[dict[str, str]]

    @property
    def file(self) -> InputFile:
        assert len(self.result.files) == 1
        return self.result.files[0]

    @property
    def row(self) -> dict[str, str]:
        assert len(self.rows) == 1, self.rows
        return self.rows[0]

    @property
    def codes(self) -> dict[str, int]:
        return {notice.code: notice.count for notice in self.result.notices}

    @property
    def reasons(self) -> dict[int, str]:
        return {rejected.line: rejected.reason for rejected in self.result.rejected}

    def fates(self, number: int = 0) -> dict[str, int]:
        """The fates that a line had, without the zeros."""
        file = self.result.files[number]
        names = ("used", "superseded", "duplicates", "not_cost", "rejected", "blank")
        return {name: getattr(file, name) for name in names if getattr(file, name)}

    def column(self, name: str) -> list[str]:
        return [row[name] for row in self.rows]


def jsonl(*records: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def read_files(
    folder: Path,
    *contents: bytes,
    names: tuple[str, ...] = (),
    as_of: datetime | None = None,
    fields: dict[str, tuple[str, ...]] | None = None,
    redact: bool = True,
    cumulative: Any = "auto",
) -> Seen:
    """Read these files' contents, in order."""
    sources = []
    for number, content in enumerate(contents):
        name = names[number] if names else f"events-{number}.jsonl"
        path = folder / f"f{number}"
        path.write_bytes(content)
        sources.append(Source(path=path, name=name, kind="events"))
    registry = Names()
    sink = folder / "events.csv"
    result = read_events(sources, sink, registry, as_of=as_of, fields=fields, redact=redact, cumulative=cumulative)
    return Seen(result, load(sink, registry))


def load(sink: Path, registry: Names) -> list[dict[str, str]]:
    shown = {str(row.spelling_no): row.spelling for row in registry.rows(redacted=False)}
    with sink.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0] if rows else dict.fromkeys(COLUMNS)) == list(COLUMNS)
    for row in rows:
        for kind in ("agent", "pipeline", "run"):
            row[kind] = shown[row[f"{kind}_no"]] if row[f"{kind}_no"] else ""
    return rows


def read(folder: Path, *records: Any, **options: Any) -> Seen:
    """Read one file of these records."""
    return read_files(folder, jsonl(*records), **options)
