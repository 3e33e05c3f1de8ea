"""What earlier builds have read of large files of cost events: a file that only grows is read from where they stopped.

    .reportgen/parts/index         which part of which file is kept where, and how the file looked then
    .reportgen/parts/<name>.lines  the lines of one part as they were read: a Parquet file

All of it may be deleted at any time. A part holds what its bytes say, whatever else there is: names, repeats, runs and
sums are found out anew in each build. A file that was rewritten, cut or moved away is read again; the one thing that is
not noticed is an edit that keeps the length, in a place that is not sampled, of a file that has grown since: `full`
hashes everything.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path

from reportgen import packed
from reportgen.quickclass import dataclass

#: More parts of one file are read again as one.
MOST_PARTS = 8
_MAGIC = b"reportgen parts 1\n"
_DIGEST = hashlib.sha256().digest_size
_ENDS = 64 << 10
_SAMPLES = 16
_SAMPLE = 4 << 10
#: Of a file: device, inode, size, time of the last change of its content and of its inode (ns).
Stamp = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The lines from byte `start` to byte `end` of a file, in the file `name`."""

    name: str
    start: int
    end: int
    lines: int
    #: False: packed, or no UTF-8. Such a file is read again whenever it has changed.
    is_plain: bool
    #: The file, and the file of the part, when the part was read.
    stamp: Stamp
    made: Stamp
    #: SHA-256 of samples of the bytes, and of all of them where that was asked for.
    samples: bytes
    whole: bytes
    #: As in `Staged`.
    texts: dict[str, tuple[tuple[str, ...], ...]]
    has_ids: bool
    #: Lines that need a closer look: number in the part (from 1), and in a plain file, first byte and length.
    suspects: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Index:
    key: str
    parts: dict[str, tuple[Part, ...]]


class Parts:
    """The parts in a folder. Hold the lock of the work folder. `key`: over all else that a reading depends on."""

    def __init__(self, folder: Path, key: str, *, full: bool = False) -> None:
        self.folder = folder
        self.full = full
        self._key = key
        found = _read(folder / "index")
        self._parts: dict[str, tuple[Part, ...]] = found.parts if found is not None and found.key == key else {}
        self._kept = {part.name for parts in self._parts.values() for part in parts}
        self._clear(self._kept)

    def known(self, path: Path) -> Sequence[Part]:
        """Return the parts of a file that are still what stands in it, from its beginning on. Raises OSError."""
        parts = self._parts.get(str(path), ())
        return parts if parts and self._hold(path, parts) else ()

    def forget(self, path: Path) -> None:
        """Keep no part of this file any more."""
        self._parts.pop(str(path), None)

    def new_name(self) -> str:
        """Return a name that no part has."""
        number = 0
        while f"{number}.lines" in self._kept:
            number += 1
        self._kept.add(f"{number}.lines")
        return f"{number}.lines"

    def add(self, path: Path, part: Part) -> None:
        """Keep another part of a file, behind those that are known of it."""
        self._parts[str(path)] = (*self._parts.get(str(path), ()), part)

    def save(self, paths: Collection[Path]) -> None:
        """Write the index of the parts of these files, and remove all other parts."""
        wanted = {str(path) for path in paths}
        self._parts = {path: parts for path, parts in self._parts.items() if path in wanted}
        body = packed.write(_Index(key=self._key, parts=self._parts))
        fresh = self.folder / "index.new"
        with contextlib.suppress(OSError):
            if not self._parts and not self.folder.is_dir():
                return
            self.folder.mkdir(parents=True, exist_ok=True)
            fresh.write_bytes(_MAGIC + hashlib.sha256(body).digest() + body)
            os.replace(fresh, self.folder / "index")  # noqa: PTH105
        self._clear({part.name for parts in self._parts.values() for part in parts})

    def _clear(self, kept: Collection[str]) -> None:
        with contextlib.suppress(OSError):
            for entry in list(self.folder.iterdir()):
                if entry.name not in kept and entry.name != "index":
                    entry.unlink(missing_ok=True)

    def _hold(self, path: Path, parts: Sequence[Part]) -> bool:
        with path.open("rb") as file:
            now = stamp_of(file.fileno())
            last = parts[-1]
            if now != last.stamp and not (last.is_plain and now[:2] == last.stamp[:2] and now[2] > last.end):
                return False
            for part in parts:
                with contextlib.suppress(OSError):
                    if stamp_of(self.folder / part.name) == part.made and self._is_as(file.fileno(), part):
                        continue
                return False
        return True

    def _is_as(self, file: int, part: Part) -> bool:
        if self.full:
            return part.whole != b"" and part.whole == whole_of(file, part.start, part.end)
        return part.samples == samples_of(file, part.start, part.end)


def stamp_of(file: int | Path) -> Stamp:
    """Return the stamp of a file. Raises OSError."""
    status = os.stat(file)  # noqa: PTH116 - of an open one, too
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def samples_of(file: int, start: int, end: int) -> bytes:
    """Return a hash of the first and last bytes of a part of an open file, and of samples between. Raises OSError."""
    step = max(0, end - start - _SAMPLE) // _SAMPLES
    places = [(start, _ENDS), *((start + step * number, _SAMPLE) for number in range(1, _SAMPLES))]
    digest = hashlib.sha256(f"{start} {end}".encode())
    for place, length in (*places, (max(start, end - _ENDS), _ENDS)):
        digest.update(os.pread(file, min(length, end - place), place))
    return digest.digest()


def whole_of(file: int, start: int, end: int) -> bytes:
    """Return a hash of a part of an open file. Raises OSError."""
    digest = hashlib.sha256()
    while start < end and (piece := os.pread(file, min(1 << 20, end - start), start)):
        digest.update(piece)
        start += len(piece)
    return digest.digest()


def places_of(path: Path, start: int, numbers: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield for each of these lines (numbers from 1, ascending, counted from byte `start`) where it is: number, first
    byte, length without its LF. Raises OSError."""
    wanted = iter(numbers)
    number, passed = next(wanted, 0), 0
    with path.open("rb") as file:
        file.seek(start)
        begin, held = start, b""
        while number and (piece := file.read(1 << 20)):
            lines = (held + piece).split(b"\n")
            held = lines.pop()
            lengths = list(map(len, lines))
            before = list(accumulate(lengths, initial=0))
            while number and number <= passed + len(lines):
                at = number - passed - 1
                # Each line before it has an LF, too.
                yield number, begin + before[at] + at, lengths[at]
                number = next(wanted, 0)
            passed += len(lines)
            begin += before[-1] + len(lines)


def lines_in(path: Path, places: Mapping[int, tuple[int, int]]) -> Iterator[tuple[int, bytes]]:
    """Yield lines by their number; `places`: first byte and length of each. Raises OSError."""
    with path.open("rb") as file:
        for number, (place, length) in places.items():
            file.seek(place)
            yield number, file.read(length)


def _read(path: Path) -> _Index | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    body = data[len(_MAGIC) + _DIGEST :]
    if not data.startswith(_MAGIC) or hashlib.sha256(body).digest() != data[len(_MAGIC) : len(_MAGIC) + _DIGEST]:
        return None
    return packed.read(body, _Index)
