"""The account of a file: what became of each of its lines, and that no line is missing in it.

A broken account is never reported: the build stops, and says which file and by how much (`settle`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from reportgen.errors import ExitCode, ReportgenError
from reportgen.model import InputFile, Notice, RejectedLine
from reportgen.quickclass import dataclass
from reportgen.redact import redact as redact_text

_SNIPPET = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsRead:
    """What was read: the account of each file, every rejected line, what is to be said, and the rows in the sink."""

    files: tuple[InputFile, ...]
    rejected: tuple[RejectedLine, ...]
    notices: tuple[Notice, ...]
    events: int


@dataclass(slots=True)
class Account:
    """How many lines of one file had which fate, and the events in them."""

    lines: int = 0
    used: int = 0
    superseded: int = 0
    duplicates: int = 0
    not_cost: int = 0
    rejected: int = 0
    blank: int = 0
    events: int = 0
    broken_parts: int = 0
    later: int = 0
    #: Lines that were set aside for a format, and have no fate yet.
    aside: int = 0

    def closed(self, name: str) -> InputFile:
        """Return the account under the file's name; `settle` asks whether every line has its fate."""
        return InputFile(
            file=name,
            kind="events",
            lines=self.lines,
            used=self.used,
            superseded=self.superseded,
            duplicates=self.duplicates,
            not_cost=self.not_cost,
            rejected=self.rejected,
            blank=self.blank,
            events=self.events,
            broken_parts=self.broken_parts,
            outside_period=self.later,
        )


def settle(files: Sequence[InputFile], rejected: Sequence[RejectedLine], rows: Mapping[str, int]) -> None:
    """Raise ReportgenError (exit 70) unless every line of every file has one fate and all that was taken is there.

    `rejected`: every line that is listed as such; `rows`: by kind of input, the rows that were handed on.
    """
    listed = Counter(line.file for line in rejected)
    counted = Counter[str]()
    taken = Counter[str]()
    for file in files:
        fates = (file.used, file.superseded, file.duplicates, file.not_cost, file.rejected, file.blank)
        if sum(fates) != file.lines or min(fates) < 0:
            raise _broken(file.file, f"the file has {file.lines:,} lines, but {sum(fates):,} fates {fates}")
        counted[file.file] += file.rejected
        taken[file.kind] += file.events
    # Two files may be shown by one name, once home directories are hidden.
    for name in listed.keys() | counted.keys():
        if listed[name] != counted[name]:
            raise _broken(name, f"the file has {counted[name]:,} rejected lines, but {listed[name]:,} are listed")
    length = Counter[str]()
    for file in files:
        length[file.file] = max(length[file.file], file.lines)
    shown = Counter(file.file for file in files)
    for (name, number), times in Counter((line.file, line.line) for line in rejected).items():
        if not 1 <= number <= length[name] or times > shown[name]:
            raise _broken(name, f"the file has {length[name]:,} lines, and line {number:,} is listed {times} times")
    for kind, number in rows.items():
        if taken[kind] != number:
            raise _broken(kind, f"{taken[kind]:,} records were read, but {number:,} were handed on")


def _broken(where: str, what: str) -> ReportgenError:
    step = "Nothing was written: a report that loses a line is none. This is a fault of reportgen; please report it."
    return ReportgenError(where, f"the account does not add up: {what}", step, ExitCode.FAULT)


def snippet(line: bytes, *, redact: bool = True) -> str:
    """Return the beginning of a line as it may be shown: one line of printable text, redacted, not too long."""
    text = " ".join(line[: 16 * _SNIPPET].decode("utf-8", "replace").split())
    if redact:
        text = redact_text(text)
    if not text.isprintable():
        text = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    return text if len(text) <= _SNIPPET else text[:_SNIPPET] + "…"
