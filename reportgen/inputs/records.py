"""One physical line to the JSON objects on it, strictly, and what is to be said of the line (SPEC 2, line fates).

A line's fate is settled here from its bytes alone. Numbers with a fraction or an exponent come out as `NumberText`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import field
from typing import Any

from reportgen.quickclass import dataclass

Record = dict[str, Any]
#: Text and position to a value and the position after it; raises ValueError, StopIteration and more.
Scan = Callable[[str, int], tuple[Any, int]]

#: Deeper objects and arrays are refused: no cost event needs it, and the parser's own limit depends on its caller.
MAX_DEPTH = 200
#: More pieces than this on one line are no torn record with the next one glued on.
_MAX_BROKEN = 20
#: The fewest bytes of a valid line that is nested deeper than `MAX_DEPTH`.
SHORTEST_DEEP_LINE = 2 * MAX_DEPTH

#: Reasons for a rejected line that others ask for.
STILL_BEING_WRITTEN = "still being written"
NOT_UTF8 = "not valid UTF-8"
RAW_NUL = "raw NUL bytes"
TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"

#: What a line can hold that is used with a warning.
LONE_SURROGATE = "lone-surrogate"
ESCAPED_NUL = "escaped-nul"
BARE_NAN = "bare-nan"

_BLANK = " \t\r\n\ufeff"
#: Integers longer than this stay text: Python refuses to turn very long text into an int.
_MAX_INT_DIGITS = 4000
_ODD_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_SURROGATE = re.compile("[\ud800-\udfff]")
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_NOT_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")
#: A string left open by a torn record closes at the first quote of the record glued on: `"pla{"`.
_SWALLOWED_START = re.compile(r"\{\s*\"\s*\Z")
_HEAD_LOST = re.compile(r"\}\s*(?=\{)")
_FIRST_KEY = re.compile(r'\{\s*("[^"\\]*(?:\\.[^"\\]*)*")\s*:', re.DOTALL)
_LONGEST_FIRST_KEY = 200
_KINDS = {list: "an array", str: "a string", bool: "true or false", type(None): "null"}


@dataclass(slots=True)
class Line:
    """What stands on one line. Without records and without a reason it is blank."""

    records: list[Record] = field(default_factory=list)
    #: Torn records beside the whole ones.
    broken: int = 0
    #: Why nothing could be taken; None where something was, or the line is blank.
    reason: str | None = None
    #: True where the text was not JSON at all: at the end of a file it may still be being written.
    unparsed: bool = False
    #: `LONE_SURROGATE`, `ESCAPED_NUL`, `BARE_NAN`.
    oddities: tuple[str, ...] = ()


class NumberText(str):
    """A JSON number with a fraction or an exponent, as it was written: exact, and free until it is needed."""

    __slots__ = ()


def _patient_int(text: str) -> int | NumberText:
    return int(text) if len(text) <= _MAX_INT_DIGITS else NumberText(text)


def _scanner(**readers: Callable[[str], object]) -> Scan:
    scan: Scan = json.JSONDecoder(**readers).scan_once  # type: ignore[arg-type, attr-defined]
    return scan


class LineReader:
    """Reads lines; `scan` is for the common line: it takes text and a position, and is fast but raises a lot."""

    def __init__(self) -> None:
        #: Not empty once a bare NaN or Infinity was met; the caller empties it.
        self.nans: list[str] = []
        self.scan = _scanner(parse_float=NumberText, parse_constant=self._constant)
        self._patient_scan = _scanner(parse_float=NumberText, parse_int=_patient_int, parse_constant=self._constant)

    def _constant(self, text: str) -> None:
        self.nans.append(text)

    def read(self, line: bytes) -> Line:
        """Read one line of any kind; never raises on its content."""
        if b"\x00" in line:
            return Line(reason=RAW_NUL, unparsed=True)
        try:
            text = line.decode()
        except UnicodeDecodeError:
            return Line(reason=NOT_UTF8, unparsed=True)
        text = text.strip(_BLANK)
        if not text or text.isspace():
            return Line()
        if len(line) >= SHORTEST_DEEP_LINE and too_deep(line):
            return Line(reason=TOO_DEEP, unparsed=True)
        self.nans.clear()
        result = self._objects(text) if text[0] == "{" else self._other(text)
        if result.records:
            result.oddities = self.mend(text, result.records)
        return result

    def mend(self, text: str, records: list[Record]) -> tuple[str, ...]:
        """Replace lone surrogates and drop NULs in place; return the oddities of the line (see `Line`)."""
        found = {BARE_NAN} if self.nans else set()
        self.nans.clear()
        if _ODD_ESCAPE.search(text):
            records[:] = [_mended(record, found) for record in records]
        return tuple(sorted(found))

    def _value(self, text: str, start: int) -> tuple[Any, int]:
        """Parse one value; raises JSONDecodeError where it is not JSON."""
        try:
            value, end = self._patient_scan(text, start)
        except StopIteration as stop:
            raise json.JSONDecodeError("Expecting value", text, stop.value) from None
        except RecursionError:
            raise json.JSONDecodeError(TOO_DEEP, text, len(text)) from None
        return value, end

    def _objects(self, text: str) -> Line:
        """Read whole and torn objects until the end of the text."""
        result = Line()
        position = 0
        error: json.JSONDecodeError | None = None
        torn = 0
        while position < len(text):
            if text[position] != "{" or torn + result.broken > _MAX_BROKEN:
                return Line(reason=_trailing(text, position), unparsed=True)
            try:
                value, end = self._value(text, position)
            except json.JSONDecodeError as problem:
                error = error or problem
                torn += 1
                position = self._next_record(text, position, problem.pos)
                continue
            position = _skip_blank(text, end)
            # Nothing can be learned from an empty object after a torn record: a brace pair in a torn string is one.
            if value or not torn:
                result.records.append(value)
                result.broken += torn
                torn = 0
        if error and not result.records:
            return Line(reason=_why(text, error), unparsed=True)
        # Braces in the strings of a torn end are not more torn records.
        result.broken += min(torn, 1)
        return result

    def _next_record(self, text: str, start: int, error: int) -> int:
        """Return where the record glued to a torn one begins, or the end of the text where there is none.

        The torn one is illegal JSON at the glued brace, or just after it where it was torn inside a string. Where the
        text ends before anything was illegal, the last brace is as a rule a nested object: no record is made of it.
        """
        if error >= len(text):
            return self._glued_as_value(text, start)
        window = max(start + 1, error - 64)
        if swallowed := _SWALLOWED_START.search(text[window:error]):
            return window + swallowed.start()
        found = text.find("{", max(error, start + 1))
        return found if found >= 0 else len(text)

    def _glued_as_value(self, text: str, start: int) -> int:
        """Find a record glued on where the torn one expected a value, told from a nested object by its keys."""
        first = _FIRST_KEY.match(text, start)
        if not first or len(first[1]) > _LONGEST_FIRST_KEY:
            return len(text)
        again = re.compile(r"(?<=[:\[,\s])\{\s*" + re.escape(first[1]) + r"\s*:")
        at = start
        for _ in range(3):
            found = again.search(text, at + 1)
            if not found:
                break
            at = found.start()
            try:
                glued, _ = self._value(text, at)
            except json.JSONDecodeError:
                continue
            torn = self._closed(text[start:at])
            shared = len(torn.keys() & glued.keys())
            if shared >= 2 or shared == len(torn) == 1:
                return at
        return len(text)

    def _closed(self, fragment: str) -> Record:
        """Return a record that was torn where a value should follow, as if null had followed there."""
        open_ones: list[str] = []
        for bracket in _STRING.sub(b"", fragment.encode()).translate(None, _NOT_BRACKETS).decode():
            if bracket in "{[":
                open_ones.append("}" if bracket == "{" else "]")
            elif open_ones:
                open_ones.pop()
        try:
            value, _ = self._value(f"{fragment}null{''.join(reversed(open_ones))}", 0)
        except json.JSONDecodeError:
            return {}
        return value if isinstance(value, dict) else {}

    def _other(self, text: str) -> Line:
        """Read a line that does not begin with an object: another value, or the tail of a record and a whole one."""
        try:
            value, end = self._value(text, 0)
        except json.JSONDecodeError as problem:
            return self._behind_a_tail(text, 0) or Line(reason=_why(text, problem), unparsed=True)
        if _skip_blank(text, end) < len(text):
            # `420}{…}`: of a lost record the end may be a value by itself.
            trailing = Line(reason=_trailing(text, _skip_blank(text, end)), unparsed=True)
            # `":420}{"a…`: cut before a closing quote, it opens a string that reaches into the whole record.
            return self._behind_a_tail(text, end) or self._behind_a_tail(text, 0) or trailing
        return Line(reason=f"not an object but {_KINDS.get(type(value), 'a number')}")

    def _behind_a_tail(self, text: str, start: int) -> Line | None:
        """Read what stands behind the tail of a record whose head is lost; None where there is no whole record."""
        lost = _HEAD_LOST.search(text, start)
        result = self._objects(text[lost.end() :]) if lost else Line()
        result.broken += 1
        return result if result.records else None


def _skip_blank(text: str, position: int) -> int:
    while position < len(text) and text[position] in _BLANK:
        position += 1
    return position


def _trailing(text: str, position: int) -> str:
    if text[position] == ",":
        return "not JSON: a comma after the object"
    return f"not JSON: more text after the value, from character {position + 1}"


def _why(text: str, error: json.JSONDecodeError) -> str:
    if error.msg == TOO_DEEP:
        return TOO_DEEP
    if error.pos >= len(text) or error.msg.startswith("Unterminated"):
        return "not JSON: the record is cut short"
    before = text[: error.pos].rstrip()
    if text[error.pos] in "}]" and before.endswith(","):
        return "not JSON: a trailing comma"
    what = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
    return f"not JSON: {what}, at character {error.pos + 1}"


def _mended(value: Any, found: set[str]) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        if "\x00" in value:
            found.add(ESCAPED_NUL)
            value = value.replace("\x00", "")
        if _SURROGATE.search(value):
            found.add(LONE_SURROGATE)
            value = _SURROGATE.sub("\ufffd", value)
        return value
    if isinstance(value, list):
        return [_mended(item, found) for item in value]
    if isinstance(value, dict):
        return {_mended(key, found): _mended(item, found) for key, item in value.items()}
    return value


def too_deep(line: bytes) -> bool:
    """Say whether a line is nested deeper than `MAX_DEPTH`, brackets inside strings not counted."""
    if line.count(b"[") + line.count(b"{") <= MAX_DEPTH:
        return False
    brackets = _STRING.sub(b"", line).translate(None, _NOT_BRACKETS)
    if len(brackets) <= MAX_DEPTH:
        return False
    depth = 0
    for byte in brackets:
        depth += 1 if byte in b"[{" else -1
        if depth > MAX_DEPTH:
            return True
    return False


def canonical(record: Record) -> str:
    """Return the record as JSON in one fixed form, to order records that are alike in all that counts."""
    return json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
