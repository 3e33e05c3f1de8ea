"""What is made of the package's own files and takes time to make: kept beside them, as Python keeps its bytecode.

Only for files that come with reportgen: what is kept may be code, and is trusted as the package itself is. Never for
files of a project, whose templates run in a sandbox. Everything here may be deleted at any time, and is made anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import marshal
import os
import sys
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path

_DIGEST = hashlib.sha256().digest_size


def key_of(*parts: bytes | str) -> bytes:
    """Return a key over everything that the made thing depends on; Python's own version is always part of it."""
    digest = hashlib.sha256(MAGIC_NUMBER + sys.version.encode())
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.digest()


def read(source: Path, key: bytes) -> bytes | None:
    """Return what was kept for this source file under this key; None where nothing whole is there."""
    try:
        data = _place(source).read_bytes()
    except (OSError, ValueError, NotImplementedError):
        return None
    made = data[2 * _DIGEST :]
    # Python's bytecode is trusted by its header alone; a file cut short by a full disk would crash us, so we look.
    if data[:_DIGEST] != key or data[_DIGEST : 2 * _DIGEST] != hashlib.sha256(made).digest():
        return None
    return made


def write(source: Path, key: bytes, made: bytes) -> None:
    """Keep what was made. Where that is not wanted (`sys.dont_write_bytecode`) or can't be done, nothing happens."""
    if sys.dont_write_bytecode:
        return
    with contextlib.suppress(OSError, ValueError, NotImplementedError):
        place = _place(source)
        place.parent.mkdir(exist_ok=True, parents=sys.pycache_prefix is not None)
        fresh = place.with_name(f"{place.name}.{os.getpid()}")
        mode = source.stat().st_mode & 0o666 if source.exists() else 0o666
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(key + hashlib.sha256(made).digest() + made)
            # Whole at every instant, for a process that reads it meanwhile.
            fresh.replace(place)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise


class Notes:
    """What was made of built-in texts, by the text: kept together beside `source`, for the next process.

    `about` is part of the key, with whatever else the notes depend on.
    """

    #: More texts than come with reportgen: some are of older versions of its files.
    _MOST = 1_000

    def __init__(self, source: Path, *about: bytes | str) -> None:
        self._source = source
        self._key = key_of(*about)
        self._notes: dict[str, str] | None = None
        self._new: dict[str, str] = {}

    def get(self, text: str) -> str | None:
        """Return the note about this text, None where there is none."""
        return self._load().get(_digest(text))

    def put(self, text: str, note: str) -> None:
        """Note something about this text."""
        if self._load().get(_digest(text)) != note:
            self._load()[_digest(text)] = self._new[_digest(text)] = note

    def save(self) -> None:
        """Keep the notes, where there is a new one."""
        if self._new:
            notes = self._load() if len(self._load()) <= self._MOST else self._new
            write(self._source, self._key, marshal.dumps(notes))
            self._new = {}

    def _load(self) -> dict[str, str]:
        if self._notes is None:
            data = read(self._source, self._key)
            self._notes = {} if data is None else marshal.loads(data)  # noqa: S302 - beside our own code, and whole
        return self._notes


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _place(source: Path) -> Path:
    """Return where it is kept: `templates/index.html` in `templates/__pycache__/index.html.cpython-311.pyc`."""
    return Path(cache_from_source(f"{source}.py"))
