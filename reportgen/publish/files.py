"""Small steps on files that every part of publishing shares: read, write and move plain files, and wait for locks.

Nothing here follows a symbolic link inside a folder it was given, and nothing leaves half a file under a final name.
POSIX only (`flock`).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from reportgen.errors import ReportgenError

Sleep = Callable[[float], None]
Clock = Callable[[], float]

_POLL_SECONDS = 0.05
#: How many files the disk is asked for at once.
_SYNCS = 6
#: What `flock` answers on a file system, or for a kind of file, that has no such locks.
_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EBADF, errno.EINVAL})
#: What `fsync` of a folder answers where folders can't be synced, or can't be opened to read.
_NO_FOLDER_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EBADF, errno.EACCES})


def sha256(data: bytes) -> str:
    """Return the SHA-256 of the bytes as 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def read_plain(path: Path) -> bytes | None:
    """Return the bytes of a plain file, None where nothing is; OSError for a link, a folder, a pipe or a device."""
    try:
        # Not blocking: a named pipe in the place of a file must not hang the build.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Not a plain file", str(path))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def first_obstacle(root: Path, path: str) -> tuple[str, os.stat_result] | None:
    """Return what stands at `root/path`, or the first thing on the way to it that is no folder; None where nothing is.

    The first part says where (relative to `root`); links are looked at, never followed.
    """
    parts = path.split("/")
    for depth in range(1, len(parts) + 1):
        prefix = "/".join(parts[:depth])
        try:
            status = (root / prefix).lstat()
        except FileNotFoundError:
            return None
        if depth == len(parts) or not stat.S_ISDIR(status.st_mode):
            return prefix, status
    return None


def plain_bytes(root: Path, path: str) -> bytes | None:
    """Return the bytes of `root/path` where it is a plain file that is reached without a link, else None.

    OSError where there is one that can't be read: that is never taken for "not there".
    """
    found = first_obstacle(root, path)
    if found is None or found[0] != path or not stat.S_ISREG(found[1].st_mode):
        return None
    return read_plain(root / path)


def is_plain(path: Path) -> bool:
    """Say whether a plain file is there (not a link to one)."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def write_new(path: Path, data: bytes, *, sync: bool = True) -> None:
    """Write a new file and wait until it is on the disk; its mode honours the umask. OSError names the path.

    Without `sync` nothing is waited for: `sync_all` comes later.
    """
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o666)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            if sync:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def sync_all(files: Sequence[Path], folders: Sequence[Path] = ()) -> None:
    """Wait until files that were written, and the names in folders, are on the disk. OSError names the path.

    The disk is asked for several at once: it writes them together, in a third of the time.
    """
    waits: list[Callable[[], None]] = [*(partial(_sync_file, path) for path in files)]
    waits += [partial(sync_folder, path) for path in folders]
    threads = min(_SYNCS, len(waits))
    errors: dict[int, BaseException] = {}

    def work(first: int) -> None:
        for number in range(first, len(waits), threads):
            try:
                waits[number]()
            except BaseException as error:
                errors[number] = error
                return

    others = [threading.Thread(target=work, args=(first,), name="reportgen-sync") for first in range(1, threads)]
    for thread in others:
        thread.start()
    if waits:
        work(0)
    for thread in others:
        thread.join()
    if errors:
        raise errors[min(errors)]


def _sync_file(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where the file system can promise that."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except PermissionError:
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise OSError(error.errno, error.strerror, str(folder)) from error
    finally:
        os.close(descriptor)


def make_folders(folder: Path, made: list[Path] | None = None) -> None:
    """Make a folder and its parents; those that were missing are added to `made`, the outermost first."""
    missing: list[Path] = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        if made is not None:
            made.append(path)
        sync_folder(path.parent)


def remove_empty(folders: Iterable[Path]) -> None:
    """Remove those folders that are empty, in the order given; others are left alone."""
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()


def remove_file(path: Path) -> bool:
    """Remove a file (of a link, the link) and say whether there was one."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


def cannot(error: OSError, doing: str, place: Path, next_step: str = "") -> ReportgenError:
    """Turn an OSError met while `doing` into words: the path, the reason, and what to do about it."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        advice = "Free some space there"
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        advice = "Make it writable, or choose another place for the outputs"
    else:
        advice = "See to it"
    where = error.filename2 or error.filename or place
    reason = (error.strerror or str(error) or type(error).__name__).lower()
    return ReportgenError(os.fsdecode(where), f"{doing}: {reason}", f"{advice}{next_step or ', then run it again'}.")


def _flock(
    descriptor: int, path: Path, wait_seconds: float, on_wait: Callable[[str], None] | None, sleep: Sleep, clock: Clock
) -> None:
    """Take an exclusive lock, waiting for at most `wait_seconds`; where a disk has no locks, go on without one."""
    until = clock() + wait_seconds
    said = False
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            pass
        except OSError as error:
            if error.errno in _NO_LOCKS:
                return
            raise
        if on_wait is not None and not said:
            on_wait(f"{path}: another reportgen is at work here; waiting for it to end")
            said = True
        if clock() >= until:
            raise ReportgenError(
                str(path),
                f"another reportgen has been at work here for more than {wait_seconds:g} seconds",
                "Let it end, or end it, then run this again.",
            )
        sleep(_POLL_SECONDS)


@contextmanager
def lock(
    work: Path,
    *,
    wait_seconds: float = 600.0,
    on_wait: Callable[[str], None] | None = None,
    sleep: Sleep = time.sleep,
    clock: Clock = time.monotonic,
) -> Iterator[None]:
    """Hold the work folder (made where missing), so that two builds of one project follow each other.

    A second one waits, and says so once through `on_wait`; after `wait_seconds` it gives up with a ReportgenError.
    The lock ends with its process, however that ends. On a disk without locks builds are not kept apart; the outputs
    still are whole files.
    """
    path = work / "lock"
    try:
        while True:
            make_folders(work)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
            try:
                _flock(descriptor, work, wait_seconds, on_wait, sleep, clock)
                held = _is_at(descriptor, path)
            except BaseException:
                os.close(descriptor)
                raise
            if held:
                break
            # The folder was deleted while we waited: what we hold is nobody's lock any more.
            os.close(descriptor)
    except OSError as error:
        raise cannot(error, "can't use the work folder", path) from error
    try:
        yield
    finally:
        _release(descriptor)


@contextmanager
def hold(
    folders: Iterable[Path], *, wait_seconds: float = 600.0, sleep: Sleep = time.sleep, clock: Clock = time.monotonic
) -> Iterator[None]:
    """Hold the folders that exist, so that no two processes swap files in one of them; nothing is written for it.

    This keeps apart what the work folder's lock can't: two projects with one site, a reader's command that mends.
    """
    found: dict[tuple[int, int], Path] = {}
    for folder in folders:
        with contextlib.suppress(OSError):
            status = folder.stat()
            found.setdefault((status.st_dev, status.st_ino), folder)
    held: list[int] = []
    try:
        # One order for all, so that two processes never wait for each other.
        for key in sorted(found):
            with contextlib.suppress(PermissionError, FileNotFoundError, NotADirectoryError):
                held.append(os.open(found[key], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
                _flock(held[-1], found[key], wait_seconds, None, sleep, clock)
        yield
    finally:
        for descriptor in held:
            _release(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    """Say whether the open file is the one now at `path`."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def _release(descriptor: int) -> None:
    # Unlocked by name, not only closed: a child process may still hold a copy of the descriptor.
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)
