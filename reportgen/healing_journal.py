"""The healing log as a file: locked, read in bounded memory, appended to and synced (SPEC 7). Knows no policy."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager

from reportgen import linelog
from reportgen.errors import ReportgenError
from reportgen.healing_policy import CANNOT_LOG

# Said so, not imported: typing would be a tenth of the time in which a hook starts.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Bytes read at a time. A line longer than `_LINE_LIMIT` was not written by `heal`; it is passed over.
#: A piece is small enough for the processor's cache: a search through 100 MB takes half the time.
_PIECE, _LINE_LIMIT = 1 << 17, 1 << 24
#: Starts of an object that are tried on one line: a torn record with the next one glued on has two.
_TRIES = 64
_DECODER = json.JSONDecoder()
_NEXT = "An attempt that can't be logged is not allowed, so do not retry. Mend the log, or name another with --log."


def cannot_log(path: str, what: str) -> ReportgenError:
    """Return the error of a log that can't be used: exit code 74, never 0."""
    return ReportgenError(path, what, _NEXT, CANNOT_LOG)


@contextmanager
def locked(path: str, timeout: float) -> Iterator[int]:
    """Open the log (made if missing) under an exclusive lock and give its descriptor; unlock at the end.

    Raises ReportgenError (74) where it is no plain text file, can't be opened for reading and appending, or stays
    locked for `timeout` seconds.
    """
    try:
        log = linelog.take(path, timeout)
    except linelog.CannotAppendError as error:
        raise cannot_log(path, f"the healing log {error}") from error
    try:
        yield log
    except OSError as error:
        raise cannot_log(path, f"the healing log can't be written ({error.strerror or error})") from error
    finally:
        os.close(log)  # gives the lock back


def lines(log: int, needle: bytes | None = None) -> Iterator[bytes]:
    """Yield the lines of the log, in order, without their ends; with `needle`, only those that contain it.

    The file is searched piece by piece, so that a long log costs a search and not a parse. Memory stays under a few
    times 16 MiB whatever the file holds.
    """
    rest, offset, passing_over = b"", 0, False
    while piece := os.pread(log, _PIECE, offset):
        offset += len(piece)
        end = piece.rfind(b"\n") + 1
        if not end:
            rest = b"" if passing_over else rest + piece
        else:
            whole = piece[piece.find(b"\n") + 1 : end] if passing_over else rest + piece[:end]
            rest, passing_over = piece[end:], False
            if needle is None or needle in whole:
                yield from (line for line in whole.split(b"\n") if line and (needle is None or needle in line))
        if len(rest) > _LINE_LIMIT:
            rest, passing_over = b"", True
    if rest and (needle is None or needle in rest):
        yield rest


def records(line: bytes) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects on a line: one as a rule; more, or one behind rubbish, where a writer was cut off."""
    text = line.decode("utf-8", "replace")
    start = text.find("{")
    tries = 0
    while start >= 0 and tries < _TRIES:
        try:
            record, end = _DECODER.raw_decode(text, start)
            yield record
        except (ValueError, RecursionError):
            tries += 1
            end = start + 1
        start = text.find("{", end)


def append(log: int, path: str, text: str) -> None:
    """Append one line and have it on the disk before returning. A torn last line is closed first: nothing is glued."""
    if not os.fstat(log).st_size:
        # Before the first line, under the lock: whoever finds a line here can trust that the file itself is kept.
        linelog.sync_folder(path)
    linelog.append(log, text)
    linelog.sync(log)
