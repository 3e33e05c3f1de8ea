"""A settings file in TOML: read strictly, with the line of every key, so that a message can say where."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from reportgen.errors import ReportgenError

#: tomllib says where only in words: `… (at line 3, column 7)`, or `(at end of document)`.
_AT = re.compile(r"\s*\(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)\.?$")
#: A statement of more lines than this is passed over when lines are looked up: it is a list, not a group of keys.
_LONGEST_STATEMENT = 200

Key = tuple[str, ...]


def read_text(path: Path, shown: str) -> str:
    """Return the text of `path`, without a byte order mark and with `\\n` line ends.

    Raises ReportgenError (where: `shown`) for what is not a readable UTF-8 file.
    """
    try:
        if not path.is_file():
            what = "is a directory, not a file" if path.is_dir() else "no such file"
            raise ReportgenError(shown, what, "Name a settings file; `reportgen init` writes one.")
        raw = path.read_bytes()
    except OSError as error:
        raise ReportgenError(shown, f"can't be read ({error.strerror})", "Check its permissions.") from None
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        head = raw[: error.start]
        line = head.count(b"\n") + 1
        column = len(head) - (head.rfind(b"\n") + 1) + 1
        raise ReportgenError(f"{shown}:{line}:{column}", "not UTF-8", "Save the file as UTF-8.") from None


def parse(text: str, shown: str) -> dict[str, Any]:
    """Return the document, its decimal numbers as Decimal. Raises ReportgenError with `file:line:column`."""
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        place = _AT.search(message)
        if place and place["line"]:
            line, column = int(place["line"]), int(place["column"])
        else:
            line = text.count("\n") + 1
            column = len(text) - (text.rfind("\n") + 1) + 1
        what = _AT.sub("", message)
        what = what[:1].lower() + what[1:]
        raise ReportgenError(f"{shown}:{line}:{column}", f"not TOML: {what}", "Mend this line.") from None
    except (ValueError, RecursionError) as error:
        what = "nested too deeply" if isinstance(error, RecursionError) else "a number is too long"
        raise ReportgenError(shown, f"not TOML: {what}", "Make the file simpler.") from None


def key_lines(text: str) -> dict[Key, int]:
    """Return the line on which each key and table header of a valid document begins: `("outputs", "site"): 4`.

    Only called when there is something to say about a key. tomllib keeps no positions, so each statement is parsed by
    itself: no grammar of our own, and right for dotted and quoted keys and values over several lines.
    """
    lines: dict[Key, int] = {}
    table: Key = ()
    for number, statement in _statements(text):
        document = tomllib.loads(statement, parse_float=Decimal)
        if statement.lstrip().startswith("["):
            table = _deepest(document)
            for end in range(1, len(table) + 1):
                lines.setdefault(table[:end], number)
        else:
            for key in _keys(document):
                lines.setdefault(table + key, number)
    return lines


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield `(first line, text)` of each header or assignment: the shortest run of lines that parses by itself."""
    start = 0
    waiting: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not waiting:
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            start = number
        waiting.append(line)
        try:
            tomllib.loads("\n".join(waiting), parse_float=Decimal)
        except ValueError:
            if len(waiting) > _LONGEST_STATEMENT:
                return
            continue
        yield start, "\n".join(waiting)
        waiting = []


def _deepest(document: dict[str, Any]) -> Key:
    path: list[str] = []
    value: Any = document
    while value:
        if isinstance(value, list):
            value = value[0]
            continue
        key, value = next(iter(value.items()))
        path.append(key)
    return tuple(path)


def _keys(document: dict[str, Any]) -> Iterator[Key]:
    for key, value in document.items():
        yield (key,)
        if isinstance(value, dict):
            for rest in _keys(value):
                yield (key, *rest)
