"""What a file of SQLite looks like from outside, without SQLite."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

#: How such a file begins.
SQLITE = b"SQLite format 3\x00"
#: Why one gave fewer lines than it may have messages (`LineFile.damage`).
STRANGE = "a SQLite database that is not opencode's: it has no table of messages"
UNREADABLE = "the database can't be read from here on"


def write_ahead(path: Path) -> Path:
    """Return the file in which SQLite keeps what was written last, until it goes into the database.

    It is beside the database itself, whatever link leads there.
    """
    real = Path(os.path.realpath(path))
    return real.with_name(f"{real.name}-wal")


def is_beside_database(path: Path) -> bool:
    """Say whether SQLite put a file beside a database of its own: no input by itself."""
    for ending in ("-wal", "-shm", "-journal"):
        if path.name.endswith(ending):
            with suppress(OSError), path.with_name(path.name.removesuffix(ending)).open("rb") as file:
                return file.read(len(SQLITE)) == SQLITE
    return False
