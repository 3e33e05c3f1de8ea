"""Appending whole lines to a file that several processes write to: locked, in one piece, a torn last line mended.

The lock is on the file itself, never on one beside it: two names of one file (a symlink, a hard link) share it, and no
second file is written. A file that is moved away while a call waits is noticed, and the new one is used. Standard
library only, and little of it: a hook starts this with every tool call.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time

#: First bytes of files that text must not be appended to, because nobody could read it there.
_PACKED = {b"\x1f\x8b": "is compressed (gzip)", b"\x28\xb5": "is compressed (zstd)"}
_WIDE = {b"\xff\xfe": "is UTF-16", b"\xfe\xff": "is UTF-16"}


class CannotAppendError(Exception):
    """Why a file can't be appended to, as words that follow its name: `is held by another process: …`."""


def take(path: str, timeout: float, *, any_text: bool = False) -> int:
    """Open the file (made if missing) under an exclusive lock and return its descriptor; closing it unlocks.

    Raises CannotAppendError where it is no plain text file, can't be opened for reading and appending, or stays locked
    for `timeout` seconds. With `any_text` UTF-16 is plain text too: the caller writes what fits.
    """
    deadline = time.monotonic() + timeout
    pause = 0.002
    while True:
        try:
            file = _open(path, _PACKED if any_text else _PACKED | _WIDE)
        except OSError as error:
            what = f"can't be opened for reading and appending ({error.strerror or error})"
            raise CannotAppendError(what) from error
        try:
            if _lock(file) and _is_still_at(file, path):
                return file
        except OSError as error:
            os.close(file)
            raise CannotAppendError(f"can't be locked ({error.strerror or error})") from error
        except BaseException:
            os.close(file)
            raise
        os.close(file)
        if time.monotonic() >= deadline:
            raise CannotAppendError(f"is held by another process: no lock within {timeout:g} seconds")
        time.sleep(pause)
        pause = min(pause * 2, 0.05)


def _open(path: str, refused: dict[bytes, str]) -> int:
    # Not blocking: a named pipe or a terminal must be refused, not waited for.
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY, 0o666)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "not a regular file")
    if what := refused.get(os.pread(file, 2, 0)):
        os.close(file)
        raise OSError(errno.EINVAL, f"it {what}")
    return file


def _lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_still_at(file: int, path: str) -> bool:
    """Say whether the locked file is the one that `path` names: it may have been moved away before the lock."""
    try:
        named = os.stat(path)  # noqa: PTH116 - pathlib costs start-up time
    except FileNotFoundError:
        return False
    held = os.fstat(file)
    return (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)


def append(file: int, line: str) -> None:
    """Append one ASCII line to a taken file, in one write. A torn last line is closed first: nothing is glued.

    Nothing is synced: the line outlives this process, but maybe not a power failure. Raises OSError.
    """
    size = os.fstat(file).st_size
    data = line.encode("ascii") + b"\n"
    if size and os.pread(file, 1, size - 1) != b"\n":
        data = b"\n" + data
    while data:
        data = data[os.write(file, data) :]


def sync(file: int) -> None:
    """Wait until what was appended is on the disk. Raises OSError."""
    os.fsync(file)


def sync_folder(path: str) -> None:
    """Wait until the name of the file at `path` is on the disk, where the file system can promise that."""
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
