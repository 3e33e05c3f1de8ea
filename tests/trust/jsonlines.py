"""Files of JSON lines, hurt in the ways of INPUTS 2 at random places, with the truth about every line."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from random import Random
from typing import Any

import zstandard

#: What a reader must make of one record, in the reader's own columns.
Truth = tuple[Any, ...]


class Bare(str):
    """Text that goes into the JSON as it is: a number's exact digits, or `NaN`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Record:
    """A valid record: its JSON object, and what it means. `key`: its identity, where it has one."""

    value: dict[str, Any]
    truth: Truth
    key: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its LF, and its truth. `reason`: words that the reason of a rejected line must hold."""

    raw: bytes
    fate: str = "used"
    truths: tuple[Truth, ...] = ()
    reason: str = ""
    broken: int = 0
    record: Record | None = None
    fault: str = ""


@dataclass(slots=True)
class File:
    """The bytes of a file, and its lines as they must be read. `cut`: the first line that a cut archive hurts."""

    data: bytes
    lines: list[Line]
    faults: list[str] = field(default_factory=list)
    cut: int | None = None

    @property
    def twice(self) -> set[int]:
        """The numbers of the lines of which only one counts: which of two equal ones is nobody's business."""
        seen: dict[str, list[int]] = {}
        for number, line in enumerate(self.lines, 1):
            if line.record and line.record.key:
                seen.setdefault(line.record.key, []).append(number)
        return {number for numbers in seen.values() if len(numbers) > 1 for number in numbers}


def dumps(value: Any, gap: str = "") -> str:
    """Write JSON with every number exact, and nothing escaped that need not be."""
    if isinstance(value, dict):
        inner = ("," + gap).join(f"{dumps(str(key))}:{gap}{dumps(one, gap)}" for key, one in value.items())
        return "{" + inner + "}"
    if isinstance(value, list):
        return "[" + ("," + gap).join(dumps(one, gap) for one in value) + "]"
    if isinstance(value, Bare):
        return str(value)
    if isinstance(value, str):
        return '"' + "".join(_ESCAPES.get(c) or (f"\\u{ord(c):04x}" if c < " " else c) for c in value) + '"'
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_ESCAPES |= {chr(code): f"\\u{code:04x}" for code in range(0xD800, 0xE000)}


class Corruptor:
    """Makes files of what `make` gives. `foreign`: a JSON object that is valid but none of these records.

    `foreign_fate`: what becomes of a line that holds nothing else.
    """

    def __init__(
        self,
        rng: Random,
        make: Callable[[Random, int], Record],
        foreign: Callable[[Random], dict[str, Any]],
        foreign_fate: str,
        *,
        aside: bool = False,
    ) -> None:
        self._rng = rng
        self._make = make
        self._foreign = foreign
        self._foreign_fate = foreign_fate
        self._number = 0
        self._gap = rng.choice(("", "", " "))
        #: A foreign object beside a record is a broken part of its line in a healing log.
        self._aside = aside

    def file(self, lines: int, faults: int) -> File:
        """Return a file of so many lines, of which so many are hurt, in an encoding and a wrapping of its own."""
        rng = self._rng
        found = [self._valid() for _ in range(lines)]
        places = rng.sample(range(lines), min(faults, lines))
        for place in places:
            hurt = rng.choice(_FAULTS)
            found[place] = replace(hurt(self, found[place]), fault=hurt.__name__.strip("_"))
        for place in rng.choices(range(lines), k=rng.choice((0, 0, 1, 2))):
            if found[place].fate == "used" and (one := found[place].record) and one.key:
                found.insert(rng.randint(0, len(found)), replace(found[place], fault="twice"))
        return self._written(found)

    # --- lines --------------------------------------------------------------------------------------------------------

    def _valid(self) -> Line:
        self._number += 1
        record = self._make(self._rng, self._number)
        return Line(self._raw(record.value), truths=(record.truth,), record=record)

    def _raw(self, value: Any) -> bytes:
        return dumps(value, self._gap).encode("utf-8", "surrogatepass")

    def _torn(self, line: Line) -> bytes:
        """Return the beginning of a line, cut anywhere, also within a character."""
        return line.raw[: self._rng.randint(1, len(line.raw) - 1)]

    def _torn_text(self, line: Line) -> bytes:
        return self._torn(line).decode("utf-8", "ignore").encode()

    def _torn_off(self, line: Line) -> Line:
        torn = self._torn_text(line)
        # What is cut at the very start of the line leaves a brace: no record, and never a blank line.
        return Line(torn, "rejected", reason="not JSON")

    def _cut_character(self, line: Line) -> Line:
        return Line(line.raw[: self._rng.randint(1, len(line.raw) - 1)] + b"\xc3", "rejected", reason="UTF-8")

    def _glued(self, line: Line) -> Line:
        """A writer was killed, and the next one wrote on: take the whole record."""
        whole = self._like(line)
        return replace(whole, raw=self._torn_text(line) + whole.raw, broken=1, record=None)

    def _like(self, line: Line) -> Line:
        """Return a valid line of the same producer: who goes on writing a file is as a rule who began it."""
        shape = list(line.record.value) if line.record else []
        for _ in range(40):
            if (found := self._valid()).record and list(found.record.value) == shape:
                return found
        return line

    def _head_lost(self, line: Line) -> Line:
        tail = line.raw[self._rng.randint(1, len(line.raw) - 1) :].decode("utf-8", "ignore").encode()
        whole = self._valid()
        if not tail.endswith(b"}") or tail.count(b"}") != 1 or b"{" in tail:
            return whole
        return replace(whole, raw=tail + whole.raw, broken=1, record=None)

    def _two_on_a_line(self, line: Line) -> Line:
        other = self._valid()
        between = self._rng.choice((b"", b" ", b"\t", b" \t "))
        return Line(line.raw + between + other.raw, truths=line.truths + other.truths)

    def _with_foreign(self, line: Line) -> Line:
        return replace(line, raw=line.raw + self._raw(self._foreign(self._rng)), broken=int(self._aside), record=None)

    def _whole_and_torn(self, line: Line) -> Line:
        torn = self._torn_text(self._valid())
        return replace(line, raw=line.raw + torn, broken=1, record=None)

    def _mark(self, line: Line) -> Line:
        return replace(line, raw=codecs.BOM_UTF8 + line.raw)

    def _white(self, line: Line) -> Line:
        before, after = (self._rng.choice((b"", b" ", b"\t", b"  \t")) for _ in range(2))
        return replace(line, raw=before + line.raw + after)

    def _empty(self, _: Line) -> Line:
        return Line(self._rng.choice((b"", b" ", b"\t  ", codecs.BOM_UTF8)), "blank")

    def _nul(self, line: Line) -> Line:
        at = self._rng.randint(0, len(line.raw))
        return Line(line.raw[:at] + b"\x00" * self._rng.randint(1, 9) + line.raw[at:], "rejected", reason="NUL")

    def _hole(self, line: Line) -> Line:
        """What a file system leaves of a page that was never written."""
        return Line(b"\x00" * self._rng.choice((1, len(line.raw), 4096)), "rejected", reason="NUL")

    def _bad_byte(self, line: Line) -> Line:
        at = self._rng.randint(0, len(line.raw))
        bad = self._rng.choice((b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\x80"))
        # Not within a character: that would be another fault.
        while at < len(line.raw) and 0x80 <= line.raw[at] < 0xC0:
            at += 1
        return Line(line.raw[:at] + bad + line.raw[at:], "rejected", reason="UTF-8")

    def _control(self, line: Line) -> Line:
        at = line.raw.index(b'"') + 1
        raw = line.raw[:at] + self._rng.choice((b"\x01", b"\x0b", b"\x1b")) + line.raw[at:]
        return Line(raw, "rejected", reason="not JSON")

    def _trailing_comma(self, line: Line) -> Line:
        return Line(line.raw[:-1] + b",}", "rejected", reason="trailing comma")

    def _array_row(self, line: Line) -> Line:
        return Line(line.raw + b",", "rejected", reason="comma after")

    def _array(self, line: Line) -> Line:
        return Line(b"[" + line.raw + b"]", "rejected", reason="an array")

    def _bracket(self, _: Line) -> Line:
        return Line(self._rng.choice((b"[", b"]")), "rejected", reason="not JSON")

    def _no_object(self, _: Line) -> Line:
        raw, what = self._rng.choice(((b"null", "null"), (b"42", "a number"), (b'"{}"', "a string"), (b"true", "true")))
        return Line(raw, "rejected", reason=f"not an object but {what}")

    def _prose(self, _: Line) -> Line:
        raw = self._rng.choice((b"Traceback (most recent call last):", b"# comment", b"---", b"None", b"'x'", b"\\"))
        return Line(raw, "rejected", reason="not JSON")

    def _single_quotes(self, line: Line) -> Line:
        return Line(line.raw.replace(b'"', b"'"), "rejected", reason="not JSON")

    def _deep(self, line: Line) -> Line:
        depth = self._rng.choice((201, 1000, 100_000))
        return Line(line.raw[:-1] + b',"x":' + b"[" * depth + b"]" * depth + b"}", "rejected", reason="nested deeper")

    def _foreign_line(self, _: Line) -> Line:
        return Line(self._raw(self._foreign(self._rng)), self._foreign_fate, reason="no entry")

    def _more(self, line: Line) -> Line:
        """Keys that nobody knows, with braces, quotes and line ends of other worlds in them."""
        rng = self._rng
        odd = rng.choice(
            ('}{"agent":"x"', '"', "\\", "\u2028\u2029\x85", "{" * 300, "]" * 9, "日本 é", "\ufeff", "\t\n\r")
        )
        more: Any = rng.choice((odd, [odd, {"a": [odd]}], {"deep": [[[odd]]]}, Bare("1e5"), Bare("-0.0"), Bare("NaN")))
        key = rng.choice(("zz_note", "Zz Note", odd, "0", "日本"))
        body = line.raw[:-1] + b"," + self._raw({key: more})[1:-1] + b"}"
        return replace(line, raw=body)

    def _large(self, line: Line) -> Line:
        size = self._rng.choice((5_000, 70_000, 300_000, 300_000, 3_000_000))
        return replace(line, raw=line.raw[:-1] + b',"zz_blob":"' + b"x" * size + b'"}')

    def _escaped(self, line: Line) -> Line:
        """The same text, spelled otherwise."""
        text = line.raw.decode("utf-8", "surrogatepass")
        if "\\" in text:
            return line
        spelled = "".join(c if c < "\x7f" else "".join(f"\\u{u:04x}" for u in _units(c)) for c in text)
        return replace(line, raw=spelled.replace("/", "\\/").encode())

    def _first_twice(self, line: Line) -> Line:
        """Of a key that stands twice the last counts."""
        if line.record is None:
            return line
        key = next(iter(line.record.value))
        return replace(line, raw=b"{" + self._raw({key: "first"})[1:-1] + b"," + line.raw[1:])

    # --- files --------------------------------------------------------------------------------------------------------

    def _written(self, lines: list[Line]) -> File:
        rng = self._rng
        faults = [line.fault for line in lines if line.fault]
        end = rng.choice((b"\n", b"\n", b"\n", b"\r\n"))
        if end != b"\n":
            faults.append("crlf")
        ended = rng.randrange(3) > 0
        if not ended:
            if not lines[-1].raw:
                # An empty last line without an LF is no line.
                lines[-1] = self._valid()
            if rng.randrange(2) and (whole := self._valid()):
                lines[-1] = replace(self._torn_off(whole), reason="still being written")
                faults.append("torn end")
            elif lines[-1].fate == "rejected" and not lines[-1].reason.startswith(("not an object", "an array", "no ")):
                lines[-1] = replace(lines[-1], reason="still being written")
        data = end.join(line.raw for line in lines) + (end if ended else b"")
        coding = rng.choice(("utf-8",) * 6 + ("mark", "utf-16-le", "utf-16-be", "utf-32-le"))
        if coding == "mark":
            data = codecs.BOM_UTF8 + data
            faults.append("byte order mark")
        elif coding != "utf-8" and (text := _text(data)) is not None:
            data = ("\ufeff" + text).encode(coding)
            faults.append(coding)
        return self._packed(File(data, lines, faults))

    def _packed(self, file: File) -> File:
        rng = self._rng
        kind = rng.choice(("plain",) * 5 + ("gzip", "zstd", "members"))
        plain = file.data
        if kind == "plain":
            return file
        file.faults.append(kind)
        if kind == "members":
            half = rng.randint(0, len(plain))
            file.data = gzip.compress(plain[:half], mtime=0) + gzip.compress(plain[half:], mtime=0)
            return file
        file.data = gzip.compress(plain, mtime=0) if kind == "gzip" else zstandard.compress(plain)
        if rng.randrange(2) and not any("utf-" in fault for fault in file.faults):
            file.faults.append("cut archive")
            file.data = file.data[: rng.randint(8, len(file.data) - 1)]
            file.cut = 1 + _unpacked(file.data, kind).count(b"\n")
        return file


_FAULTS: tuple[Callable[[Corruptor, Line], Line], ...] = (
    Corruptor._torn_off, Corruptor._torn_off, Corruptor._cut_character, Corruptor._glued, Corruptor._glued,
    Corruptor._head_lost, Corruptor._two_on_a_line, Corruptor._with_foreign, Corruptor._whole_and_torn,
    Corruptor._mark, Corruptor._white, Corruptor._empty, Corruptor._nul, Corruptor._hole, Corruptor._bad_byte,
    Corruptor._control, Corruptor._trailing_comma, Corruptor._array_row, Corruptor._array, Corruptor._bracket,
    Corruptor._no_object, Corruptor._prose, Corruptor._single_quotes, Corruptor._deep, Corruptor._foreign_line,
    Corruptor._more, Corruptor._more, Corruptor._large, Corruptor._escaped, Corruptor._first_twice,
)  # fmt: skip


def _units(char: str) -> list[int]:
    data = char.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2)]


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _unpacked(data: bytes, kind: str) -> bytes:
    """Return what can be unpacked of an archive that is cut short."""
    if kind == "gzip":
        return zlib.decompressobj(wbits=31).decompress(data)
    try:
        return zstandard.ZstdDecompressor().decompressobj().decompress(data)
    except zstandard.ZstdError:
        return b""
