"""A Markdown file as lines of text, each with the number of the physical line that it stands on."""

from __future__ import annotations

from pathlib import Path

from reportgen.errors import ExitCode, ReportgenError
from reportgen.inputs.lines import LineFile, TooLong
from reportgen.quickclass import dataclass
from reportgen.redact import redact

_SNIPPET = 120
#: Characters that are kept of a text which people have written; what nobody would read on a page is not on it.
_LONGEST_TEXT = 4000


@dataclass(frozen=True, slots=True)
class TextFile:
    """The lines of a file. `numbers[i]` is the physical line (from 1) of `lines[i]`.

    A lone CR ends a line for Markdown, but not a physical one.

    A byte order mark at the start of a line is dropped. `invalid` holds the physical lines that are not UTF-8 (their
    bad bytes are shown as U+FFFD), `nul` those that held NUL characters (dropped). `count` is of physical lines.
    """

    lines: list[str]
    numbers: list[int]
    invalid: frozenset[int]
    nul: frozenset[int]
    count: int
    unterminated: bool
    #: Why a compressed file gave less than was packed.
    damage: str | None


def read_text(path: Path, shown: str) -> TextFile:
    """Read a whole text file, plain or compressed, UTF-8 or UTF-16; `shown` is its name in messages.

    Raises ReportgenError (exit 3) where it can't be read.
    """
    lines: list[str] = []
    numbers: list[int] = []
    invalid: set[int] = set()
    nul: set[int] = set()
    count = 0
    file = LineFile(path)
    try:
        for raw in file:
            count += 1
            try:
                text = raw.decode("utf-8")
            except UnicodeDecodeError:
                invalid.add(count)
                text = raw.decode("utf-8", "replace")
            if isinstance(raw, TooLong):
                invalid.add(count)
            elif "\x00" in text:
                nul.add(count)
            parts = text.replace("\x00", "").removesuffix("\r").split("\r")
            lines += (part.removeprefix("\ufeff") for part in parts)
            numbers += [count] * len(parts)
    except OSError as error:
        what = f"can't be read: {error.strerror or error}"
        raise ReportgenError(shown, what, "Check that it is a file you may read.", ExitCode.NO_INPUT) from error
    return TextFile(lines, numbers, frozenset(invalid), frozenset(nul), count, file.unterminated, file.damage)


def shortened(text: str) -> str:
    """Return a text that is redacted already, cut where it is too long for a page."""
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"


def snippet(text: str, *, redacted: bool) -> str:
    """Return the beginning of a line for people: one line of printable text, redacted before it is cut."""
    text = " ".join(text[: 16 * _SNIPPET].split())
    if redacted:
        text = redact(text)
    text = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    return text if len(text) <= _SNIPPET else text[: _SNIPPET - 1] + "…"
