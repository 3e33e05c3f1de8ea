"""Physical lines of a file, whatever it is wrapped in: plain, gzip or zstd, UTF-8, UTF-16 or UTF-32, a database.

Content decides, never the file's name. A line is what stands between two LF bytes, without the LF; a CR before it
stays, as JSON takes it for white space. Nothing is held in memory but a piece of the file and the line at hand.
This room alone knows zstandard.
"""

from __future__ import annotations

import codecs
import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Literal, Protocol

import zstandard

from reportgen.inputs.sqlitefile import SQLITE, STRANGE, UNREADABLE, write_ahead

#: The longest line that is held; a longer one is given as `TooLong`. Lines of several MB are ordinary.
MAX_LINE_BYTES = 64 * 1024 * 1024

#: Why a compressed file gave less than was packed (`LineFile.damage`; of a database: `sqlitefile`).
CUT_SHORT = "the compressed file is cut short here"
DAMAGED = "the compressed file is damaged here"

_READ = 256 * 1024
#: Bytes that tell how a file is packed.
_HEAD = len(SQLITE)
#: A few packed bytes can hold very much: the packed piece bounds what is unpacked at once (64 MiB, 128 MiB).
_GZIP_PIECE = 64 * 1024
_ZSTD_PIECE = 4 * 1024
_SHOWN_OF_TOO_LONG = 4096

# The longer marks first: a UTF-32 mark begins with a UTF-16 mark.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: Bytes of a file with the mark of UTF-32 that are looked at.
_LOOKED_AT = 64 * 1024
#: From here on Unicode has no letters and signs, but for tags and private ones.
_FIRST_EMPTY_PLANE = 4
#: What may follow the brace that opens an object.
_AFTER_BRACE = (b'"', b" ", b"\t", b"\r", b"\n", b"}")


class TooLong(bytes):
    """The beginning of a line longer than `MAX_LINE_BYTES`, with a NUL before it so that it can never be read."""


class _Unpacker(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


_BROKEN = (zlib.error, zstandard.ZstdError)


class LineFile:
    """Iterate once for the lines, as UTF-8 bytes. `on_bytes` is told the size of each piece read from the disk.

    `start`: where in a plain file, of which the lines before are known, reading begins. Raises OSError where the file
    can't be read. A gzip or zstd file that is cut short or damaged gives what can be unpacked, and `damage` says so
    afterwards.
    """

    def __init__(self, path: Path, on_bytes: Callable[[int], None] | None = None, *, start: int = 0) -> None:
        self._path = path
        self._on_bytes = on_bytes
        self._start = start
        #: True from the moment a last line without an LF is given.
        self.unterminated = False
        #: Only the last line is given when `unterminated` is set, whatever its number.
        self.last_line = 0
        #: `CUT_SHORT`, `DAMAGED`, `STRANGE`, `UNREADABLE` or None; known when the lines are through.
        self.damage: str | None = None

    def __iter__(self) -> Iterator[bytes]:
        for lines in self._blocks():
            yield from lines

    def at(self, numbers: Iterable[int]) -> Iterator[tuple[int, bytes]]:
        """Yield these lines (numbers from 1, ascending) with their numbers, and read no further than the last."""
        wanted = iter(numbers)
        number, passed = next(wanted, 0), 0
        for lines in self._blocks() if number else ():
            while number <= passed + len(lines):
                yield number, lines[number - passed - 1]
                if not (number := next(wanted, 0)):
                    return
            passed += len(lines)

    def _blocks(self) -> Iterator[list[bytes]]:
        pending: list[bytes] = []
        held = 0
        for chunk in self.chunks():
            if b"\n" not in chunk:
                held += len(chunk)
                # Of a line that is too long only the beginning is kept.
                if held <= MAX_LINE_BYTES or not pending:
                    pending.append(chunk)
                continue
            lines = chunk.split(b"\n")
            rest = lines.pop()
            if pending:
                pending.append(lines[0])
                lines[0] = _joined(pending, held + len(lines[0]))
            yield lines
            pending = [rest] if rest else []
            held = len(rest)
        if pending:
            self.unterminated = True
            yield [_joined(pending, held)]

    def chunks(self) -> Iterator[bytes]:
        """Yield the content in pieces of any length, as UTF-8."""
        # In the middle of a file nothing tells how it is written: that it is plain was found out at its beginning.
        return self._pieces(_READ) if self._start else _as_utf8(self.unpacked())

    @property
    def is_plain(self) -> bool:
        """Say whether the bytes in the file are those of its lines: not packed, and no UTF-16."""
        with self._path.open("rb") as file:
            head = file.read(_HEAD)
        return _packed(head) is None and _encoding(head) is None

    @property
    def is_database(self) -> bool:
        """Say whether it is a file of SQLite."""
        with self._path.open("rb") as file:
            return file.read(_HEAD) == SQLITE

    def as_files(self) -> Iterator[bytes]:
        """Yield the bytes of a database, and of what is still beside it."""
        yield from self._pieces(_READ)
        with suppress(FileNotFoundError):
            yield from LineFile(write_ahead(self._path))._pieces(_READ)

    def unpacked(self) -> Iterator[bytes]:
        """Yield the content as it was before it was packed, in pieces, and note damage."""
        with self._path.open("rb") as file:
            packed = _packed(file.read(_HEAD))
        if packed == "sqlite":
            yield from self._of_database()
        elif packed == "gzip":
            yield from self._salvaged(_gzip_unpacker, _GZIP_PIECE)
        elif packed == "zstd":
            yield from self._salvaged(_zstd_unpacker, _ZSTD_PIECE)
        else:
            yield from self._pieces(_READ)

    def _of_database(self) -> Iterator[bytes]:
        # Hardly anybody has one, and SQLite takes a while to be loaded.
        import sqlite3

        from reportgen.inputs import database

        if self._on_bytes:
            self._on_bytes(self._path.stat().st_size)
        try:
            yield from database.lines(self._path)
        except database.StrangeError:
            self.damage = STRANGE
        except (sqlite3.Error, FileNotFoundError, UnicodeDecodeError):
            # Where a name in a damaged schema is no text, the message of the error that SQLite means to raise is none.
            self.damage = UNREADABLE

    def _pieces(self, size: int) -> Iterator[bytes]:
        with self._path.open("rb") as file:
            file.seek(self._start)
            while piece := file.read(size):
                if self._on_bytes:
                    self._on_bytes(len(piece))
                yield piece

    def _salvaged(self, new: Callable[[], _Unpacker], size: int) -> Iterator[bytes]:
        """Unpack; at a broken piece start again and feed that piece byte by byte, to lose nothing before the break."""
        given = fed = 0
        unpacking = _Unpacking(new)
        try:
            for piece in self._pieces(size):
                for out in unpacking.feed(piece):
                    given += len(out)
                    yield out
                fed += len(piece)
        except _BROKEN:
            self.damage = DAMAGED
        if self.damage:
            yield from self._again(new, size, fed, given)
        elif unpacking.inside:
            self.damage = CUT_SHORT

    def _again(self, new: Callable[[], _Unpacker], size: int, fed: int, given: int) -> Iterator[bytes]:
        self._on_bytes = None
        unpacking = _Unpacking(new)
        position = 0
        try:
            for piece in self._pieces(size):
                step = len(piece) if position < fed else 1
                for at in range(0, len(piece), step):
                    for out in unpacking.feed(piece[at : at + step]):
                        fresh = out[given:]
                        given = max(0, given - len(out))
                        if fresh:
                            yield fresh
                position += len(piece)
        except _BROKEN:
            return


def _packed(magic: bytes) -> Literal["gzip", "zstd", "sqlite"] | None:
    """Tell how a file is packed from its first bytes."""
    if magic == SQLITE:
        return "sqlite"
    if magic[:2] == b"\x1f\x8b":
        return "gzip"
    if magic[:4] == b"\x28\xb5\x2f\xfd" or (magic[1:4] == b"\x2a\x4d\x18" and 0x50 <= magic[0] <= 0x5F):
        return "zstd"
    return None


class _Unpacking:
    """One compressed file, fed in pieces: any number of gzip members or zstd frames, zero padding between them."""

    def __init__(self, new: Callable[[], _Unpacker]) -> None:
        self._new = new
        self._unpacker: _Unpacker | None = None

    @property
    def inside(self) -> bool:
        """Say whether the end of a member or frame is still to come."""
        return self._unpacker is not None

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._unpacker is None:
                data = data.lstrip(b"\x00")
                if not data:
                    return
                self._unpacker = self._new()
            out = self._unpacker.decompress(data)
            if out:
                yield out
            if not self._unpacker.eof:
                return
            data = self._unpacker.unused_data
            self._unpacker = None


def _gzip_unpacker() -> _Unpacker:
    return zlib.decompressobj(wbits=31)


def _zstd_unpacker() -> _Unpacker:
    return zstandard.ZstdDecompressor().decompressobj()


def _joined(parts: list[bytes], size: int) -> bytes:
    if size > MAX_LINE_BYTES:
        return TooLong(b"\x00" + parts[0][:_SHOWN_OF_TOO_LONG])
    return b"".join(parts)


def _as_utf8(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Turn UTF-16 and UTF-32 into UTF-8, told by the mark at the start or by where the NUL bytes stand."""
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= 8:
            break
    encoding = _encoding(head)
    if encoding is None:
        return chain((head,) if head else (), chunks)
    return _transcoded(chain((head,), chunks), encoding)


def _begins(first: bytes, second: bytes) -> bool:
    return (first == b"{" and second in _AFTER_BRACE) or (first in (b"#", b"|") and second in (b"#", b" ", b"|"))


def _encoding(head: bytes) -> str | None:
    for mark, name in _MARKS:
        if head.startswith(mark):
            return "utf-16-le" if name == "utf-32-le" and not _is_wide(head[4:_LOOKED_AT]) else name
    # Without a mark only the beginning of an object, of a heading or of a table is proof: other NUL bytes are broken
    # lines of a UTF-8 file.
    if head[1:2] == head[3:4] == b"\x00" and _begins(head[0:1], head[2:3]):
        return "utf-16-le"
    if head[0:1] == head[2:3] == b"\x00" and _begins(head[1:2], head[3:4]):
        return "utf-16-be"
    return None


def _is_wide(text: bytes) -> bool:
    """Say whether the bytes behind the mark of UTF-32 are such: a UTF-16 file that begins with a NUL has that mark."""
    whole = len(text) // 4 * 4
    if len(text) > whole and not any(text[:whole]):
        return False
    return not any(text[3::4]) and max(text[2::4], default=0) < _FIRST_EMPTY_PLANE


def _transcoded(chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    # A lone surrogate stays what it is: bytes that are not UTF-8, so that its line is refused like any such line.
    decoder = codecs.getincrementaldecoder(encoding)("surrogatepass")
    for chunk in chunks:
        try:
            text = decoder.decode(chunk)
        except UnicodeDecodeError:
            # UTF-32 knows numbers that are no characters; what follows in this piece is replaced, not lost.
            text = chunk.decode(encoding, "replace")
            decoder.reset()
        if text:
            yield text.encode("utf-8", "surrogatepass")
    if decoder.getstate()[0]:
        # Half a character at the end of the file.
        yield b"\xff"


def content_digest(path: Path, first: int | None = None) -> bytes:
    """Return a SHA-256 of the unpacked content, or of its first bytes; damage changes the digest. Raises OSError.

    A database is compared as it is, with what is still beside it: its messages have ids.
    """
    file = LineFile(path)
    digest = hashlib.sha256()
    left = first
    for piece in file.as_files() if file.is_database else file.unpacked():
        if left is None:
            digest.update(piece)
            continue
        digest.update(piece[:left])
        left -= len(piece)
        if left <= 0:
            return digest.digest()
    if first is None and file.damage:
        digest.update(file.damage.encode())
    return digest.digest()
