"""What tells whether files are as they were: by content where that is cheap, else by what a change would show in.

A large file is the same while its place on the disk, its size, its times (that of the last change of its inode, too,
which no program can set) and samples of its content are the same. An edit that leaves all of that is not noticed;
`full=True` hashes everything.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

from reportgen.inputs.sources import Inputs
from reportgen.inputs.sqlitefile import SQLITE, write_ahead
from reportgen.quickclass import dataclass
from reportgen.resources import resource_dir
from reportgen.settings import Settings
from reportgen.versions import versions

#: Files up to this size are hashed whole, in bytes.
_SMALL = 1 << 20
_ENDS = 64 << 10
_SAMPLES = 16
_SAMPLE = 4 << 10
#: Settings that change nothing about how inputs are read and marts are built.
_AFTER_MARTS = frozenset({
    "file", "recommendations", "site", "single_file", "title", "detector_seconds", "detector_findings", "pages",
    "parameters", "disabled", "enabled", "strict", "adopt", "fail_on", "memory", "verify_cache",
})  # fmt: skip
#: Settings that change nothing about what is made.
_NO_MATTER = frozenset({"verify_cache"})

#: Of a file: device, inode, size, time of the last change of its content and of its inode (ns).
Stamp = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Mark:
    """One input file. `quick` changes whenever a change can be seen; `full`: the hash of it all, where it is known."""

    name: str
    quick: str
    full: str | None = None

    def is_as(self, before: Mark, *, full: bool) -> bool:
        """Say whether the file is as it was when `before` was taken; `full`: by its whole content only."""
        if self.name != before.name:
            return False
        return (self.full is not None and self.full == before.full) if full else self.quick == before.quick


@dataclass(frozen=True, slots=True)
class Marks:
    """All that a build is made from: each input file, what the marts are made of beside them, and the whole build."""

    files: tuple[Mark, ...]
    marts: str
    build: str

    def are_as(self, before: Marks, *, full: bool = False, marts_only: bool = False) -> bool:
        """Say whether everything is as it was when `before` was taken."""
        same = self.marts == before.marts if marts_only else self.build == before.build
        return (
            same
            and len(self.files) == len(before.files)
            and all(one.is_as(other, full=full) for one, other in zip(self.files, before.files, strict=True))
        )


def stamp_of(path: Path) -> Stamp:
    """Return the stamp of a file, of a link its own. Raises OSError."""
    status = path.lstat()
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def take_marks(settings: Settings, inputs: Inputs, *, full: bool = False) -> Marks:
    """Look at everything that a build is made from. Raises OSError where something can't be read."""
    single = [source for source in (inputs.healing, inputs.budget) if source is not None]
    files = tuple(
        mark(source.path, f"{source.kind} {source.name}", full=full)
        for source in (*inputs.events, *inputs.feedback, *single)
    )
    sql, own = resource_dir("sql"), settings.project / "sql"
    common = [
        sys.version, repr(sorted(versions().items())), repr(inputs.notices),
        *_stamps(Path(__file__).parent, ".py"), *_stamps(sql / "sources"), *_stamps(sql / "marts"),
        *_stamps(sql / "formats"), *_contents(own / "formats"),
        *_stamps(sql, deep=False), *_contents(own / "sources"), *_contents(own / "marts"),
        *_contents(own, deep=False),
    ]  # fmt: skip
    marts = _hash([*common, *_settings(settings, _AFTER_MARTS)])
    rest = [*_stamps(sql), *_stamps(resource_dir("templates")), *_contents(own)]
    rest += _contents(settings.project / "templates")
    return Marks(files, marts, _hash([marts, *rest, *_settings(settings, _NO_MATTER)]))


def reading_key(settings: Settings) -> str:
    """Return a hash over all that the reading of a line depends on, beside the line itself."""
    sql, own = resource_dir("sql"), settings.project / "sql"
    return _hash(
        [
            sys.version, repr(sorted(versions().items())), *_stamps(Path(__file__).parent, ".py"),
            *_stamps(sql / "formats"), *_contents(own / "formats"), _plain(settings.fields),
        ]
    )  # fmt: skip


def mark(path: Path, name: str, *, full: bool = False) -> Mark:
    """Look at one file, a link followed, and at what is part of it in a file beside it. Raises OSError."""
    one = _mark_of(path, name, full=full)
    with path.open("rb") as file:
        is_database = file.read(len(SQLITE)) == SQLITE
    waiting = write_ahead(path)
    if not (is_database and waiting.exists()):
        return one
    more = _mark_of(waiting, "", full=full)
    whole = None if one.full is None or more.full is None else _hash([one.full, more.full])
    return Mark(name, _hash([one.quick, more.quick]), whole)


def _mark_of(path: Path, name: str, *, full: bool) -> Mark:
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        size = status.st_size
        if size <= _SMALL:
            whole = hashlib.sha256(file.read()).hexdigest()
            return Mark(name, whole, whole)
        digest = hashlib.sha256()
        times = (status.st_dev, status.st_ino, size, status.st_mtime_ns, status.st_ctime_ns)
        digest.update(repr(times).encode())
        step = (size - _SAMPLE) // _SAMPLES
        places = [(0, _ENDS), *((step * number, _SAMPLE) for number in range(1, _SAMPLES)), (size - _ENDS, _ENDS)]
        for place, length in places:
            file.seek(place)
            digest.update(file.read(length))
        if not full:
            return Mark(name, digest.hexdigest())
        file.seek(0)
        return Mark(name, digest.hexdigest(), hashlib.file_digest(file, "sha256").hexdigest())


def _hash(parts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def _settings(settings: Settings, without: frozenset[str]) -> Iterator[str]:
    for field in fields(settings):
        if field.name not in without:
            yield f"{field.name}={_plain(getattr(settings, field.name))}"


def _plain(value: object) -> str:
    """Return a text that differs wherever values do, and is the same in every process."""
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(_plain, value)))}}}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_plain, value))})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_plain(key)}: {_plain(one)}' for key, one in value.items())}}}"
    if value is None or isinstance(value, bool | int | str | Decimal | datetime | timedelta | Path):
        return repr(value)
    raise TypeError(f"no text for a {type(value).__name__}")


def _files(folder: Path, *, deep: bool, seen: frozenset[tuple[int, int]] = frozenset()) -> Iterator[os.DirEntry[str]]:
    """Yield what stands in a folder and is no folder, sorted; links are followed, but never in a circle."""
    try:
        status = folder.stat()
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return
    here = (status.st_dev, status.st_ino)
    if here in seen:
        return
    for entry in entries:
        if not entry.is_dir():
            yield entry
        elif deep:
            yield from _files(Path(entry.path), deep=True, seen=seen | {here})


def _stamps(folder: Path, ending: str = "", *, deep: bool = True) -> Iterator[str]:
    """Yield where and when each file of the package was written: nobody edits those but whoever develops them."""
    for entry in _files(folder, deep=deep):
        if entry.name.endswith(ending) and "__pycache__" not in entry.path:
            status = entry.stat()
            yield repr((entry.path, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns))


def _contents(folder: Path, *, deep: bool = True) -> Iterator[str]:
    """Yield the content of each file that a project brings."""
    for entry in _files(folder, deep=deep):
        yield f"{entry.path} {mark(Path(entry.path), '').quick if entry.is_file() else 'no file'}"
