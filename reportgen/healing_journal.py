"""The healing log as a file: locked, read in bounded memory, appended to and synced (SPEC 7). Knows no policy.

The lock is on the log file itself, never on a file beside it: two names of one log (a symlink, a hard link) share it,
and no second file is written. A log that is moved away while a call waits is noticed, and the new one is used.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from reportgen.errors import ReportgenError
from reportgen.healing_policy import CANNOT_LOG

#: Bytes read at a time. A line longer than `_LINE_LIMIT` was not written by `heal`; it is passed over.
_PIECE, _LINE_LIMIT = 1 << 22, 1 << 24
#: Starts of an object that are tried on one line: a torn record with the next one glued on has two.
_TRIES = 64
_DECODER = json.JSONDecoder()
_NEXT = "An attempt that can't be logged is not allowed, so do not retry. Mend the log, or name another with --log."
#: First bytes of files that text must not be appended to, because nothing in them could be counted.
_FOREIGN = {
    b"\x1f\x8b": "is compressed (gzip)",
    b"\x28\xb5": "is compressed (zstd)",
    b"\xff\xfe": "is UTF-16",
    b"\xfe\xff": "is UTF-16",
}


def cannot_log(path: str, what: str) -> ReportgenError:
    """Return the error of a log that can't be used: exit code 74, never 0."""
    return ReportgenError(path, what, _NEXT, CANNOT_LOG)


@contextmanager
def locked(path: str, timeout: float) -> Iterator[int]:
    """Open the log (made if missing) under an exclusive lock and give its descriptor; unlock at the end.

    Raises ReportgenError (74) where it is no plain text file, can't be opened for reading and appending, or stays
    locked for `timeout` seconds.
    """
    log = _lock(path, timeout)
    try:
        yield log
    except OSError as error:
        raise cannot_log(path, f"the healing log can't be written ({error.strerror or error})") from error
    finally:
        os.close(log)  # gives the lock back


def _lock(path: str, timeout: float) -> int:
    deadline = time.monotonic() + timeout
    pause = 0.002
    while True:
        try:
            log = _open(path)
        except OSError as error:
            what = f"the healing log can't be opened for reading and appending ({error.strerror or error})"
            raise cannot_log(path, what) from error
        try:
            if _take(log) and _is_still_at(log, path):
                return log
        except OSError as error:
            os.close(log)
            raise cannot_log(path, f"the healing log can't be locked ({error.strerror or error})") from error
        except BaseException:
            os.close(log)
            raise
        os.close(log)
        if time.monotonic() >= deadline:
            raise cannot_log(path, f"another process holds the healing log: no lock within {timeout:g} seconds")
        time.sleep(pause)
        pause = min(pause * 2, 0.05)


def _open(path: str) -> int:
    # Not blocking: a named pipe or a terminal must be refused, not waited for.
    log = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY, 0o666)
    if not stat.S_ISREG(os.fstat(log).st_mode):
        os.close(log)
        raise OSError(errno.EINVAL, "not a regular file")
    if what := _FOREIGN.get(os.pread(log, 2, 0)):
        os.close(log)
        raise OSError(errno.EINVAL, f"it {what}")
    return log


def _take(log: int) -> bool:
    try:
        fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_still_at(log: int, path: str) -> bool:
    """Say whether the locked file is the one that `path` names: it may have been moved away before the lock."""
    try:
        named = os.stat(path)  # noqa: PTH116 - pathlib costs start-up time
    except FileNotFoundError:
        return False
    held = os.fstat(log)
    return (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)


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
    size = os.fstat(log).st_size
    if not size:
        # Before the first line, under the lock: whoever finds a line here can trust that the file itself is kept.
        _sync_folder(path)
    data = text.encode("ascii") + b"\n"
    if size and os.pread(log, 1, size - 1) != b"\n":
        data = b"\n" + data
    while data:
        data = data[os.write(log, data) :]
    os.fsync(log)


def _sync_folder(path: str) -> None:
    try:
        folder = os.open(os.path.dirname(os.path.realpath(path)), os.O_RDONLY | os.O_CLOEXEC)  # noqa: PTH120
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        # Some file systems can't sync a folder, and some folders can't be read; the line itself is synced all the same.
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
