"""What is staged of a file of cost events, and the small things that staging needs of the file itself."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from reportgen.inputs.lines import LineFile
from reportgen.inputs.plainfile import LONGEST_LINE
from reportgen.inputs.shapes import Path as KeyPath
from reportgen.quickclass import dataclass
from reportgen.sqltext import NO_HIVE, quoted


class Sampling(NamedTuple):
    """At how many places of a file how many lines are looked at, of no more than so many bytes."""

    places: int
    lines: int
    size: int


#: Shapes are few, and finding one out takes a while; names are looked for at more places, where others may be.
SHAPES, TEXTS = Sampling(6, 50, 48 * 1024), Sampling(32, 60, 16 * 1024)


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """The table of lines of a file: `first` + file_row_number + 1 is a line's number.

    Rows with `sure = false` are for the exact reader.
    """

    file_no: int
    #: SQL for the table, and the name of what is made beside it.
    table: str
    name: str
    #: Lines of the file before those in the table.
    first: int
    lines: int
    unterminated: bool
    #: Field: for each shape (from 1) the staged text columns to look at, in order.
    texts: dict[str, tuple[tuple[str, ...], ...]]
    has_ids: bool
    #: Number (from 1) and content of the lines that need a closer look, in order.
    suspects: tuple[tuple[int, bytes], ...]

    def text_columns(self) -> list[str]:
        """Return the names of the text columns."""
        return sorted({name for shapes in self.texts.values() for names in shapes for name in names})


@dataclass(frozen=True, slots=True)
class StagedFile:
    """What was staged of one file, and the byte from which on the exact reader goes on; None: there is no more."""

    parts: tuple[Staged, ...]
    rest: int | None


@dataclass(frozen=True, slots=True)
class Counts:
    """What the sure rows of a file are: `used` lines, of which `later` than as_of, and those that are no cost event."""

    used: int
    later: int
    not_cost: int
    undated: int
    first_undated: int | None
    rounded: int
    first_rounded: int | None
    costs: int
    costs_above_zero: int


def table_of(path: Path) -> str:
    """Return SQL for the table in a file that was staged."""
    return f"read_parquet({quoted(str(path))}, file_row_number = true, {NO_HIVE})"


def columns_of(kinds: Sequence[tuple[str, KeyPath]]) -> str | None:
    """Return the columns of a typed read, nested ones as structs; None where two names differ only by case."""
    tree: dict[str, Any] = {}
    for kind, path in kinds:
        inner = tree
        for key in path[:-1]:
            inner = inner.setdefault(key, {})
        inner[path[-1]] = kind

    def written(branch: dict[str, Any]) -> str | None:
        if len({key.lower() for key in branch}) < len(branch):
            return None
        parts = []
        for key, below in branch.items():
            kind = written(below) if isinstance(below, dict) else below
            if kind is None:
                return None
            parts.append(f'"{key}" {kind}')
        return f"struct({', '.join(parts)})"

    if len({key.lower() for key in tree}) < len(tree):
        return None
    outer = {key: written(below) if isinstance(below, dict) else below for key, below in tree.items()}
    if None in outer.values():
        return None
    return "{" + ", ".join(f"{quoted(key)}: {quoted(str(kind))}" for key, kind in outer.items()) + "}"


def member(path: KeyPath) -> str:
    """Return SQL for what stands at a path."""
    return ".".join(f'"{key}"' for key in path)


def lines_of(path: Path) -> str:
    """A table function that gives every line as it is. An empty line comes as null."""
    return (
        f"read_csv({quoted(str(path))}, {NO_HIVE}, columns = {{'line': 'varchar'}}, auto_detect = false,"
        " header = false, delim = '\\x01', quote = '', escape = '', comment = '', new_line = '\\n',"
        f" max_line_size = {2 * LONGEST_LINE})"
    )


def sample_of(path: Path, how: Sampling) -> list[list[bytes]]:
    """Return whole lines from several places of a plain file, from the beginning of any other."""
    file = LineFile(path)
    if not file.is_plain:
        rest = iter(file)
        return [some for _ in range(how.places) if (some := list(islice(rest, how.lines)))]
    size = path.stat().st_size
    places: list[list[bytes]] = []
    with path.open("rb") as reader:
        for place in range(how.places):
            start = place * max(0, size - how.size) // (how.places - 1)
            reader.seek(start)
            lines = reader.read(how.size).split(b"\n")
            # The first piece may begin, and the last one end, in the middle of a line.
            whole = lines[start > 0 : -1][: how.lines]
            places.append([line.removesuffix(b"\r") for line in whole])
            if size <= how.size:
                break
    return places
