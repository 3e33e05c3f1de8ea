"""One file of `sql/formats/`: how lines that are no flat cost events are recognised, and the SELECT that reads them.

The front matter says, in TOML, what is in such a line (never what its file is called), what of it the SELECT needs, and
which rows are one event. `sql/README.md` explains it with an example.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from reportgen.errors import ReportgenError
from reportgen.quickclass import dataclass
from reportgen.resources import resource_dir
from reportgen.sqlfile import SqlFile, find_sql_files, key_problems, near, raise_first

FOLDER = "formats"

#: What is handed to a format's SELECT, as the table `lines`.
LINES: dict[str, str] = {
    "file_no": "integer",
    "line_no": "bigint",
    "part": "integer",
    "folders": "varchar[]",
    "file": "varchar",
    "record": "json",
}
#: What a SELECT may give for an event, all of it optional; `note` says why a row is none.
EVENT: tuple[str, ...] = (
    "event_time", "agent", "pipeline", "run_id", "tool_name", "model", "input_tokens", "output_tokens",
    "cache_read_tokens", "cache_write_tokens", "cache_write_1h_tokens", "total_tokens", "estimated_tokens",
    "cost_usd", "estimated_cost_usd", "duration_ms",
)  # fmt: skip
PLACE = ("file_no", "line_no", "part")
NOTE = "note"

_FRONT: dict[str, type | tuple[type, ...]] = {
    "title": str, "doc": str, "time": str, "keys": list, "recognised": list, "once": list, "notes": dict,
}  # fmt: skip
_ONCE: dict[str, type | tuple[type, ...]] = {"key": (str, list), "keep": list, "others": str, "doc": str}
_NOTES: dict[str, type | tuple[type, ...]] = {"one": str, "many": str, "severity": str}
_KINDS: dict[str, type | tuple[type, ...]] = {"object": dict, "array": list, "text": str}
_DIRECTIONS = ("asc", "desc")

Path_ = tuple[str, ...]
#: What stands at a path: something, nothing, one of these texts, or a value of this kind.
Wanted = bool | frozenset[str] | type


@dataclass(frozen=True, slots=True)
class Once:
    """Rows of one key are one event: the first by `keep` counts. `others`: the fate of the rest."""

    key: tuple[str, ...]
    keep: tuple[str, ...]
    others: Literal["duplicate", "superseded"]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the rule needs."""
        return (*self.key, *(order.split()[0] for order in self.keep))


@dataclass(frozen=True, slots=True)
class Format:
    """A format as its file declares it."""

    file: SqlFile
    title: str
    doc: str
    #: Where a line's own time stands; empty: it has none.
    time: Path_
    #: What of a record is kept, as a tree of keys; an empty branch is kept whole.
    keys: Mapping[str, Any]
    #: A record is of the format if all conditions of one of these hold.
    recognised: tuple[tuple[tuple[Path_, Wanted], ...], ...]
    once: tuple[Once, ...]
    #: By code: what is said of one and of many, and whether it is a warning.
    notes: Mapping[str, tuple[str, str, str]]

    def may_be(self, keys: Collection[str]) -> bool:
        """Say whether a record of these keys may be of the format."""
        return any(
            all(wanted is False or path[0] in keys for path, wanted in conditions) for conditions in self.recognised
        )

    def matches(self, record: Mapping[str, Any], unsure: type | None = None) -> bool:
        """Say whether a record is of the format; a value of the type `unsure` may be anything but nothing."""
        for conditions in self.recognised:
            for path, wanted in conditions:
                if not _holds(at(record, path), wanted, unsure):
                    break
            else:
                return True
        return False


def at(record: Mapping[str, Any], path: Path_) -> object:
    """Return what stands at a path in objects, None where there is nothing."""
    value: Any = record
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def _holds(value: object, wanted: Wanted, unsure: type | None) -> bool:
    if unsure is None:
        if wanted is True:
            return value is not None
        if type(wanted) is frozenset:
            return type(value) is str and value in wanted
    value = getattr(value, "value", value) if unsure is not None and not isinstance(value, unsure) else value
    if isinstance(wanted, bool):
        return (value is not None) is wanted
    if unsure is not None and isinstance(value, unsure):
        return True
    if isinstance(wanted, frozenset):
        return isinstance(value, str) and value in wanted
    return isinstance(value, wanted)


def find_formats(project: Path | None) -> list[Format]:
    """Return the formats, a project's before the built-in ones. Raises ReportgenError where a file is wrong."""
    own = project / "sql" if project is not None else None
    files = find_sql_files(FOLDER, resource_dir("sql"), own)
    return [read_format(file) for file in sorted(files, key=lambda file: file.origin != "project")]


def read_format(file: SqlFile) -> Format:
    """Check a file's front matter. Raises ReportgenError with `path:line`."""
    if file.broken is not None:
        raise file.broken
    raise_first(problems(file))
    front = file.front
    return Format(
        file=file,
        title=str(front["title"]),
        doc=str(front.get("doc", "")),
        time=_path(front.get("time", "")),
        keys=_tree(front["keys"]),
        recognised=tuple(
            tuple((_path(key), _wanted(value)) for key, value in conditions.items())
            for conditions in front["recognised"]
        ),
        once=tuple(_once(rule) for rule in front.get("once", ())),
        notes={
            code: (note.get("severity", "info"), note["one"], note.get("many", note["one"]))
            for code, note in front.get("notes", {}).items()
        },
    )


def problems(file: SqlFile) -> Iterator[ReportgenError]:
    """Yield what is wrong with a format's front matter."""
    found = list(key_problems(file, file.front, _FRONT))
    yield from found
    if found:
        return
    for key in ("title", "keys", "recognised"):
        if not file.front.get(key):
            yield file.problem(f"a format needs '{key}'", "sql/README.md shows a format with all it needs.")
    for key in file.front.get("keys", ()):
        if not isinstance(key, str) or not all(key.split(".")):
            yield file.problem(f"'keys' holds {key!r}, which is no path", 'Write "message.id".', "keys")
    for conditions in file.front.get("recognised", ()):
        if not isinstance(conditions, Mapping) or not conditions:
            yield file.problem("a [[recognised]] holds no condition", "Name a key and what it is.", "recognised")
            continue
        for key, value in conditions.items():
            if not _is_condition(value):
                what = f"'{key}' in [[recognised]] is no condition"
                step = 'Write true, false, a text, a list of texts, or { is = "object" } (array, text).'
                yield file.problem(what, step, "recognised")
        if all(value is False for value in conditions.values()):
            yield file.problem("a [[recognised]] names nothing that must be there", "Add a key = true.", "recognised")
    for rule in file.front.get("once", ()):
        yield from _once_problems(file, rule)
    for code, note in file.front.get("notes", {}).items():
        yield from key_problems(file, note, _NOTES, ("notes", code))
        if isinstance(note, Mapping) and "one" not in note:
            yield file.problem(f"[notes.{code}] does not say what one is", 'Add one = "…".', ("notes", code))
        if isinstance(note, Mapping) and note.get("severity", "info") not in ("info", "warning"):
            yield file.problem(f"[notes.{code}] severity must be info or warning", "", ("notes", code))


def _is_condition(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(one, str) for one in value)
    if isinstance(value, Mapping):
        return value.keys() == {"is"} and value["is"] in _KINDS
    return isinstance(value, bool | str)


def _once_problems(file: SqlFile, rule: object) -> Iterator[ReportgenError]:
    found = list(key_problems(file, rule, _ONCE, ("once",)))
    yield from found
    if found or not isinstance(rule, Mapping):
        return
    if not rule.get("key"):
        yield file.problem("[[once]] needs 'key'", 'Name the column, or a list of them: key = "event_id"', "once")
    if rule.get("others", "duplicate") not in ("duplicate", "superseded"):
        yield file.problem(f"[[once]] others must be duplicate or superseded, not {rule['others']!r}", "", "once")
    for order in rule.get("keep", ()):
        words = order.split() if isinstance(order, str) else []
        if not 1 <= len(words) <= 2 or words[1:] not in ([], ["asc"], ["desc"]) or not words[0].isidentifier():
            hint = near(words[1], _DIRECTIONS) if len(words) > 1 else ""
            yield file.problem(f"[[once]] keep holds {order!r}, no column with asc or desc{hint}", "", "once")


def _path(text: str) -> Path_:
    return tuple(text.split(".")) if text else ()


def _wanted(value: Any) -> Wanted:  # noqa: ANN401 - as TOML gives it, checked before
    if isinstance(value, bool):
        return value
    if isinstance(value, Mapping):
        kind = _KINDS[value["is"]]
        assert isinstance(kind, type)  # of all that stand in the table
        return kind
    return frozenset([value] if isinstance(value, str) else value)


def _tree(paths: Sequence[str]) -> dict[str, Any]:
    whole = {_path(path) for path in paths}
    tree: dict[str, Any] = {}
    for path in sorted(whole):
        if any(path[:length] in whole for length in range(1, len(path))):
            continue
        branch = tree
        for key in path:
            branch = branch.setdefault(key, {})
    return tree


def _once(rule: Mapping[str, Any]) -> Once:
    key = rule["key"]
    return Once(
        (key,) if isinstance(key, str) else tuple(key), tuple(rule.get("keep", ())), rule.get("others", "duplicate")
    )
