"""The account of a file of cost events: what became of each of its lines."""

from __future__ import annotations

from dataclasses import dataclass

from reportgen.model import InputFile, Notice, RejectedLine
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

    def closed(self, name: str) -> InputFile:
        """Return the account under the file's name; every line must have its fate."""
        fates = self.used + self.superseded + self.duplicates + self.not_cost + self.rejected + self.blank
        assert fates == self.lines, f"{name}: {self.lines} lines, but {fates} fates"
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


def snippet(line: bytes, *, redact: bool = True) -> str:
    """Return the beginning of a line as it may be shown: one line of printable text, redacted, not too long."""
    text = " ".join(line[: 16 * _SNIPPET].decode("utf-8", "replace").split())
    if redact:
        text = redact_text(text)
    text = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    return text if len(text) <= _SNIPPET else text[:_SNIPPET] + "…"
