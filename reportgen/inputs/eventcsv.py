"""The file in which cost events go to the warehouse: one row an event, written in one pass, then cleared of repeats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from itertools import groupby
from pathlib import Path

from reportgen.inputs.repeats import Why
from reportgen.quickclass import dataclass

COLUMNS = (
    "event_no",
    "file_no",
    "line_no",
    "event_time",
    "agent_no",
    "pipeline_no",
    "run_no",
    "tool_name",
    "model",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "total_tokens",
    "tokens_estimated",
    "cost_usd",
    "cost_basis",
    "duration_ms",
    "cache_write_1h_tokens",
)
_ROWS_HELD = 5000


@dataclass(slots=True)
class Cleared:
    """A line of which rows were taken out: why each, and how many of its rows stay."""

    file_no: int
    line_no: int
    whys: list[Why] = field(default_factory=list)
    kept: int = 0


class EventCsv:
    """Writes rows, UTF-8, comma, minimal quoting, empty for NULL. Use as a context manager while adding."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("w", encoding="utf-8", newline="")
        self._file.write(",".join(COLUMNS) + "\n")
        self._held: list[str] = []
        #: Number of the next row.
        self.rows = 0

    def add(self, row: str) -> None:
        """Add one row, which begins with the number `rows` and ends with its one line break."""
        self._held.append(row)
        self.rows += 1
        if len(self._held) >= _ROWS_HELD:
            self._flush()

    def _flush(self) -> None:
        self._file.write("".join(self._held))
        self._held.clear()

    def close(self) -> None:
        """Write what is held; the file is whole from here on."""
        if not self._file.closed:
            self._flush()
            self._file.close()

    def take_out(self, dropped: Mapping[int, Why]) -> Iterator[Cleared]:
        """Write the file again without these rows, numbered anew; yield each line that lost one, in order.

        The iterator must be run to its end. Rows of one line stand together.
        """
        self.close()
        fresh = self._path.with_name(self._path.name + ".fresh")
        number = 0
        with self._path.open(encoding="utf-8", newline="") as old, fresh.open("w", encoding="utf-8", newline="") as new:
            new.write(next(old))
            for (file_no, line_no), rows in groupby(enumerate(old), key=lambda entry: _place(entry[1])):
                cleared = Cleared(file_no, line_no)
                for old_number, text in rows:
                    why = dropped.get(old_number)
                    if why:
                        cleared.whys.append(why)
                        continue
                    new.write(f"{number},{text.partition(',')[2]}")
                    number += 1
                    cleared.kept += 1
                if cleared.whys:
                    yield cleared
        fresh.replace(self._path)
        self.rows = number


def _place(text: str) -> tuple[int, int]:
    _, file_no, line_no, _ = text.split(",", 3)
    return int(file_no), int(line_no)


def cell(text: str) -> str:
    """Return a text (without line breaks) as a CSV cell."""
    if "," in text or '"' in text:
        return '"' + text.replace('"', '""') + '"'
    return text
