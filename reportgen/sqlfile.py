"""One .sql file: TOML front matter in a leading block comment, and a body that is one SELECT.

    /*---
    title = "Runs that cost three times the usual"
    [params.min_ratio]
    default = 3.0
    ---*/
    select …

The comment is part of the text that DuckDB gets, so its error lines are the file's lines.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal

from reportgen.compiled import Notes
from reportgen.errors import ReportgenError
from reportgen.quickclass import dataclass
from reportgen.resources import resource_dir
from reportgen.tomlfile import key_lines

Origin = Literal["built-in", "project"]

_OPEN = "/*---"
_CLOSE = "---*/"
_ID = re.compile(r"[a-z][a-z0-9_]*\Z")
#: The front matter of built-in files as JSON; `{"": "1.5"}` is a decimal number.
_FRONT = Notes(resource_dir("sql") / "front-matter", "front matter")
_TOML_LINE = re.compile(r"line (\d+)")


@dataclass(frozen=True, slots=True)
class SqlFile:
    """One file: its id (the name without `.sql`), where it comes from, its front matter and its whole text."""

    id: str
    path: Path
    #: How the file is named to people: `sql/detectors/cost_outlier.sql`.
    name: str
    origin: Origin
    front: Mapping[str, Any]
    text: str
    #: Why the file can't be used, where its front matter or its name is broken.
    broken: ReportgenError | None = None
    #: The built-in file that a project's file of the same name stands in for.
    replaces: SqlFile | None = None

    def where(self, key: str | Sequence[str] = ()) -> str:
        """Return `path:line` of a key of the front matter (`("columns", "ratio", "unit")`), else the path alone."""
        line = self.line_of((key,) if isinstance(key, str) else tuple(key))
        return f"{self.name}:{line}" if line else self.name

    def line_of(self, key: tuple[str, ...]) -> int | None:
        """Return the line on which a key of the front matter stands, or the nearest table around it."""
        start, end = self.text.find(_OPEN), self.text.find(_CLOSE)
        if not key or not 0 <= start < end:
            return None
        lines = key_lines(self.text[start + len(_OPEN) : end])
        found = next((lines[key[:n]] for n in range(len(key), 0, -1) if key[:n] in lines), None)
        return None if found is None else self.text.count("\n", 0, start) + found

    def slots(
        self, key: tuple[str, ...], slot: re.Pattern[str], *texts: str
    ) -> Iterator[tuple[re.Match[str], Callable[[], str]]]:
        """Yield what `slot` finds in the texts of a key of the front matter, each with what tells `path:line:column`.

        Where it is written otherwise than it reads (with TOML's escapes), that is the place of the key.
        """
        found = [one for text in texts for one in slot.finditer(text)]
        places: list[str] = []

        def where(number: int) -> str:
            # Nobody asks where a slot stands that nothing is wrong with, and finding out takes a while.
            if not places:
                places.extend(self._places(key, [one.group() for one in found]))
            return places[number]

        for number, one in enumerate(found):
            yield one, partial(where, number)

    def _places(self, key: tuple[str, ...], wanted: Sequence[str]) -> Iterator[str]:
        """Yield `path:line:column` of texts that stand one after the other in the value of a key."""
        line = self.line_of(key)
        rows = self.text.split("\n")
        at = 0 if line is None else sum(len(row) + 1 for row in rows[: line - 1])
        for text in wanted:
            place = -1 if line is None else self.text.find(text, at, self.text.find(_CLOSE))
            if place < 0:
                yield self.where(key)
            else:
                at = place + len(text)
                before = self.text[:place]
                yield f"{self.name}:{before.count(chr(10)) + 1}:{place - before.rfind(chr(10))}"

    def problem(self, what: str, next_step: str = "", key: str | Sequence[str] = ()) -> ReportgenError:
        """Make an error about this file, placed at the line of `key` where it is named."""
        return ReportgenError(self.where(key), what, next_step)


def read_sql_file(path: Path, *, name: str, origin: Origin) -> SqlFile:
    """Read one file. Raises ReportgenError with `path:line` for a bad name, broken front matter or a bare body."""
    if not _ID.match(path.stem):
        raise ReportgenError(name, "a SQL file's name is its id: small letters, digits and _", "Rename it.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReportgenError(name, f"not UTF-8 at byte {error.start}", "Save it as UTF-8.") from None
    except OSError as error:
        raise ReportgenError(name, f"can't be read ({error.strerror})", "Check its permissions.") from None
    text = text.replace("\r\n", "\n")
    if not text.strip():
        raise ReportgenError(name, "the file is empty", "Fill it, or delete it to have the built-in one back.")
    front: dict[str, Any] = {}
    if text.lstrip().startswith(_OPEN):
        start = text.index(_OPEN)
        end = text.find(_CLOSE, start)
        if end < 0:
            raise ReportgenError(f"{name}:1", f"front matter is opened with {_OPEN} and never closed", f"Add {_CLOSE}.")
        head = text[start + len(_OPEN) : end]
        if "/*" in head or "*/" in head:
            line = 1 + text[: start + len(_OPEN)].count("\n") + _line_of(head, ("/*", "*/"))
            raise ReportgenError(f"{name}:{line}", "front matter can't hold /* or */: SQL comments nest", "Reword it.")
        try:
            front = _front_matter(head, origin == "built-in")
        except tomllib.TOMLDecodeError as error:
            found = _TOML_LINE.search(str(error))
            line = text[:start].count("\n") + (int(found.group(1)) if found else 1)
            what = re.sub(r"\s*\(at .*\)", "", str(error))
            raise ReportgenError(f"{name}:{line}", f"front matter is not TOML: {what}", "Mend this line.") from None
    return SqlFile(path.stem, path, name, origin, front, text)


@lru_cache(maxsize=512)
def _front_matter(text: str, built_in: bool) -> dict[str, Any]:
    """Parse front matter, once for each text: a live preview reads all files at each change of one.

    What comes with reportgen is parsed once for all processes.
    """
    known = _FRONT.get(text) if built_in else None
    if known is None:
        front = tomllib.loads(text, parse_float=Decimal)
        if built_in:
            _FRONT.put(text, _plain(front))
        return front
    found: dict[str, Any] = json.loads(known, object_hook=_decimals)
    return found


def _plain(front: Mapping[str, Any]) -> str:
    return json.dumps(front, default=lambda value: {"": str(value)})


def _decimals(value: dict[str, Any]) -> object:
    return Decimal(value[""]) if value.keys() == {""} else value


def _line_of(text: str, needles: Sequence[str]) -> int:
    return text[: min(text.index(n) for n in needles if n in text)].count("\n")


def find_sql_files(folder: str, built_in: Path, project: Path | None) -> list[SqlFile]:
    """Return the files of `sql/<folder>`, by id: a project's file of the same name replaces the built-in one.

    A file that can't be used is returned with its error in `broken`, for the caller to make an outcome of.
    """
    files: dict[str, SqlFile] = {}
    places: list[tuple[Path, Origin]] = [(built_in, "built-in")]
    if project is not None:
        places.append((project, "project"))
    for root, origin in places:
        for path in sorted((root / folder).glob("*.sql")):
            if path.name.startswith("."):
                continue
            name = f"sql/{folder}/{_shown(path.name)}"
            try:
                file = (
                    _built_in(path, name, _stamp(path))
                    if root is built_in
                    else read_sql_file(path, name=name, origin=origin)
                )
            except ReportgenError as error:
                file = SqlFile(_usable(path.stem), path, name, origin, {}, _text(path), error)
            files[file.id] = replace(file, replaces=files.get(file.id)) if origin == "project" else file
    _FRONT.save()
    return [files[key] for key in sorted(files)]


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        told = path.stat()
    except OSError:
        # Whoever reads it says why it can't be read.
        return ()
    return told.st_ino, told.st_size, told.st_mtime_ns, told.st_ctime_ns


@lru_cache(maxsize=512)
def _built_in(path: Path, name: str, _stamp: tuple[int, ...]) -> SqlFile:
    """Read a file that comes with reportgen: several steps of a build ask for the same ones."""
    return read_sql_file(path, name=name, origin="built-in")


def _shown(name: str) -> str:
    """Return a file's name with what can't be printed, or is no UTF-8, written out."""
    return "".join(c if c.isprintable() and c != "\\" else c.encode("unicode_escape").decode() for c in name)


def _usable(stem: str) -> str:
    """Return an id for a file whose name is none: its outcome has a page and an anchor like any other."""
    if _ID.match(stem):
        return stem
    digest = hashlib.sha256(stem.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{re.sub(r'[^a-z0-9]+', '_', stem.lower()).strip('_')[:40] or 'file'}_{digest}"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def near(word: str, words: Sequence[str]) -> str:
    """Return `; did you mean 'x'?` where a known word is near, else an empty text."""
    found = difflib.get_close_matches(word, list(words), n=1, cutoff=0.6)
    return f"; did you mean '{found[0]}'?" if found else ""


def key_problems(
    file: SqlFile, table: object, known: Mapping[str, type | tuple[type, ...]], at: tuple[str, ...] = ()
) -> Iterator[ReportgenError]:
    """Yield what is wrong with a table of the front matter: a key that is not known, a value of another type."""
    if not isinstance(table, Mapping):
        yield file.problem(f"'{'.'.join(at)}' must be a table", f"Write [{'.'.join(at)}] on a line of its own.", at)
        return
    place = f" in [{'.'.join(at)}]" if at else ""
    for key, value in table.items():
        if key not in known:
            yield file.problem(f"unknown key '{key}'{place}{near(key, list(known))}", "", (*at, key))
            continue
        if not _is_one(value, known[key]):
            words = " or ".join(_TYPE_WORDS[t] for t in _types(known[key]))
            yield file.problem(f"'{key}'{place} must be {words}", "", (*at, key))


def of_their_types(table: object, known: Mapping[str, type | tuple[type, ...]]) -> dict[str, Any]:
    """Return the keys of a table that `key_problems` has nothing to say about, with their values."""
    items = table.items() if isinstance(table, Mapping) else ()
    return {str(key): value for key, value in items if key in known and _is_one(value, known[key])}


def _is_one(value: object, wanted: type | tuple[type, ...]) -> bool:
    return isinstance(value, wanted) and (not isinstance(value, bool) or bool in _types(wanted))


def _types(wanted: type | tuple[type, ...]) -> tuple[type, ...]:
    return wanted if isinstance(wanted, tuple) else (wanted,)


def raise_first(problems: Iterable[ReportgenError]) -> None:
    """Raise the first problem, if there is one."""
    for problem in problems:
        raise problem


_TYPE_WORDS: dict[type, str] = {
    str: "text in quotes",
    int: "a whole number",
    Decimal: "a decimal number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}
