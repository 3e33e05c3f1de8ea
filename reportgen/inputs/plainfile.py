"""A file that DuckDB can read line by line: the input itself where it is plain, else a copy without what is in its way.

Every line keeps its number. A line with control characters or bytes that are not UTF-8 is blanked out in the copy, and
given aside as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import field
from pathlib import Path
from typing import BinaryIO

from reportgen.inputs.lines import LineFile
from reportgen.quickclass import dataclass

#: A longer line is for the exact reader, and with it the whole file.
LONGEST_LINE = 16 * 1024 * 1024
#: What stands in the copy for a line that is given aside: no object, so that nobody takes it for one.
_ASIDE = b"!"
#: Turns every byte that does not belong into a text into NUL, and every other into a letter: a search for one byte is
#: many times faster than one for a class of bytes.
_ODD = bytes(0 if byte < 32 and byte not in b"\t\n" else 97 for byte in range(256))
_BOM = b"\xef\xbb\xbf"


@dataclass(slots=True)
class PlainFile:
    """Lines for DuckDB at `path`; `aside`: number (from 1) and content of the lines that are blanked out there."""

    path: Path
    lines: int = 0
    unterminated: bool = False
    aside: list[tuple[int, bytes]] = field(default_factory=list)


def plain_file(path: Path, copy: Path, *, most_aside: int, on_bytes: Callable[[int], None]) -> PlainFile | None:
    """Look through the file; write a copy of it to `copy` where it can't be read as it is.

    None where more than `most_aside` lines had to be given aside, a line is too long, or the file is damaged. Raises
    OSError where it can't be read.
    """
    file = LineFile(path, on_bytes)
    out = PlainFile(path)
    is_plain = file.is_plain
    with ExitStack() as stack:
        writer: BinaryIO | None = None
        done = 0
        for block in _blocks(file):
            if len(block) > LONGEST_LINE and max(map(len, block.split(b"\n"))) > LONGEST_LINE:
                return None
            good = _cleared(block, out)
            if len(out.aside) > most_aside:
                return None
            if writer is None and (good != block or not is_plain):
                writer = stack.enter_context(copy.open("wb"))
                out.path = copy
                _copy_first(path, done, writer)
            if writer is not None:
                writer.write(good)
            done += len(block)
            out.lines += good.count(b"\n")
            if not good.endswith(b"\n"):
                out.lines += 1
                out.unterminated = True
    return None if file.damage else out


def _blocks(file: LineFile) -> Iterator[bytes]:
    """Yield the content in pieces that end with a line, the last one perhaps without its LF."""
    held: list[bytes] = []
    size = 0
    for chunk in file.chunks():
        end = chunk.rfind(b"\n") + 1
        if not end:
            held.append(chunk)
            size += len(chunk)
            if size > LONGEST_LINE:
                yield b"".join(held)
                return
            continue
        held.append(chunk[:end])
        yield b"".join(held)
        held = [chunk[end:]]
        size = len(chunk) - end
    if rest := b"".join(held):
        yield rest


def _copy_first(path: Path, size: int, writer: BinaryIO) -> None:
    with path.open("rb") as reader:
        while size and (piece := reader.read(min(size, 1 << 20))):
            writer.write(piece)
            size -= len(piece)


def _cleared(block: bytes, out: PlainFile) -> bytes:
    """Return the block with lines ended by LF alone and every odd line blanked out."""
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
    parts: list[bytes] = []
    start, counted, number = 0, 0, out.lines + 1
    odd = block.translate(_ODD)
    at = 0 if not out.lines and block.startswith(_BOM) else _next_odd(block, odd, 0)
    while at >= 0:
        begin = block.rfind(b"\n", start, at) + 1 or start
        end = block.find(b"\n", at)
        end = len(block) if end < 0 else end
        number += block.count(b"\n", counted, begin)
        counted = begin
        out.aside.append((number, block[begin:end]))
        parts += (block[start:begin], _ASIDE)
        start = end
        at = _next_odd(block, odd, end)
    return b"".join((*parts, block[start:])) if parts else block


def _next_odd(block: bytes, odd: bytes, start: int) -> int:
    """Return where the next byte stands that does not belong into a text, or -1; `odd`: the block by the table."""
    found = odd.find(b"\x00", start)
    try:
        rest = memoryview(block)[start : found if found >= 0 else None]
        if not block.isascii():
            str(rest, "utf-8")
    except UnicodeDecodeError as error:
        return start + error.start
    return found
