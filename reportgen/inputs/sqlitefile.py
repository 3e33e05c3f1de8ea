"""What a file of SQLite looks like from outside, without SQLite."""

from __future__ import annotations

from pathlib import Path

#: How such a file begins.
SQLITE = b"SQLite format 3\x00"
#: Why one gave fewer lines than it may have messages (`LineFile.damage`).
STRANGE = "a SQLite database that is not opencode's: it has no table of messages"
UNREADABLE = "the database can't be read from here on"


def write_ahead(path: Path) -> Path:
    """Return the file in which SQLite keeps what was written last, until it goes into the database."""
    return path.with_name(f"{path.name}-wal")
