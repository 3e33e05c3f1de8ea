"""What a SQL file of each folder has to keep to: the contract of a detector, of a chart and of a table, as rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from reportgen.chartfiles import SLOT as CHART_SLOT
from reportgen.chartfiles import chart_problems, chart_roles, headlines
from reportgen.detectorfile import SLOT, fits, front_problems, is_number
from reportgen.detectors import NOT_EXACT
from reportgen.errors import ReportgenError
from reportgen.quickclass import dataclass
from reportgen.sqlfile import SqlFile, key_problems, near
from reportgen.sqltree import Tree, ties
from reportgen.tables import table_problems

_TABLE_FRONT: dict[str, type | tuple[type, ...]] = {"title": str, "doc": str, "columns": dict, "view": bool}
_EXACT = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DECIMAL\(\d+,\s?\d+\)|\"NULL\")$")
_WHOLE = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DECIMAL\(\d+,\s?0\))$")
_TEXT = re.compile(r"(VARCHAR|\"NULL\"|ENUM\(.*\))$")
_REQUIRED_TEXT = re.compile(r"(VARCHAR|ENUM\(.*\))$")
_CONTRACT: dict[str, tuple[re.Pattern[str], str]] = {
    "pipeline": (_REQUIRED_TEXT, "text"),
    "subject": (_REQUIRED_TEXT, "text"),
    "observed": (_EXACT, "an exact number"),
    "baseline": (_EXACT, "an exact number"),
    "threshold": (_EXACT, "an exact number"),
    "occurrences": (_WHOLE, "a whole number"),
    "affected_runs": (_WHOLE, "a whole number"),
    "total_runs": (_WHOLE, "a whole number"),
}
_OPTIONAL: dict[str, tuple[re.Pattern[str], str]] = {
    "saving": (_EXACT, "an exact number"),
    "saving_of": (_EXACT, "an exact number"),
    "saving_basis": (_TEXT, "text"),
    "subject_kind": (_TEXT, "text"),
    "subject_key": (_TEXT, "text"),
    "labels": (re.compile(r"(VARCHAR\[\]|\"NULL\")$"), "a list of texts"),
    "wait": (re.compile(r"(BOOLEAN|\"NULL\")$"), "true or false"),
}
#: Something in braces that is no slot, but was surely meant as one.
_BRACES = re.compile(r"\{([^{}\n]{1,40})\}")
_TITLE_SLOT = re.compile(r"\{(\w+)\}")
#: What `reportgen new detector` writes where its author is to say something.
STUB_DOC = "Say what it looks for, and why that is worth a person's time."
STUB_ACTION = "Say what a person should do about it."
#: The same of `reportgen new format`.
STUB_FORMAT = "Say what these lines are, and what one event is."
#: Words that DuckDB keeps for itself: a table can't be named so without quotes.
RESERVED = frozenset({
    "all", "analyse", "analyze", "and", "any", "array", "as", "asc", "asymmetric", "both", "case", "cast", "check",
    "collate", "column", "constraint", "create", "default", "deferrable", "desc", "describe", "distinct", "do",
    "else", "end", "except", "false", "fetch", "for", "foreign", "from", "group", "having", "in", "initially",
    "intersect", "into", "lambda", "lateral", "leading", "limit", "not", "null", "offset", "on", "only", "or",
    "order", "pivot", "pivot_longer", "pivot_wider", "placing", "primary", "qualify", "references", "returning",
    "select", "show", "some", "summarize", "symmetric", "table", "then", "to", "trailing", "true", "union", "unique",
    "unpivot", "using", "variadic", "when", "where", "window", "with",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Remark:
    """Something wrong with the outer SELECT, or with one column of it."""

    what: str
    next_step: str = ""
    column: str = ""


def front(folder: str, file: SqlFile) -> Iterator[ReportgenError]:
    """Yield what is wrong with a file's front matter."""
    if folder == "detectors":
        yield from front_problems(file)
    elif folder == "charts":
        yield from chart_problems(file)
    elif folder == "tables":
        yield from table_problems(file)
    else:
        yield from key_problems(file, file.front, _TABLE_FRONT)
        columns = file.front.get("columns", {})
        for name, text in columns.items() if isinstance(columns, Mapping) else ():
            if not isinstance(text, str):
                yield file.problem(f"'{name}' in [columns] must be text in quotes", key=("columns", name))


def table_columns(file: SqlFile, columns: Sequence[str]) -> Iterator[ReportgenError]:
    """Yield the documented columns that a source, mart or scoring file does not give."""
    yield from _described(file, columns)
    yield from _doubled(file, columns)


def defaults(file: SqlFile) -> Mapping[str, Decimal | int | str | bool]:
    """Return the parameters' defaults that can be had of a file whose front matter is wrong."""
    declared = file.front.get("params", {})
    found: dict[str, Decimal | int | str | bool] = {}
    for name, entry in declared.items() if isinstance(declared, Mapping) else ():
        value = entry.get("default", 0) if isinstance(entry, Mapping) else 0
        if re.fullmatch(r"[a-z_][a-z0-9_]*", name) and isinstance(value, Decimal | int | str | bool):
            found[name] = value if not is_number(value) or fits(Decimal(value)) else 0
    return found


def contract(tree: Tree, columns: Sequence[tuple[str, str]]) -> Iterator[Remark]:
    """Yield what a detector's columns lack of the contract: one that is missing, doubled or of another type."""
    kinds = dict(columns)
    names = [name for name, _ in columns]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Remark(f"the SELECT gives two columns '{name}'", "Name them apart.", name)
    for name in _CONTRACT:
        if name not in kinds:
            free = [other for other in names if other not in _CONTRACT]
            yield Remark(f"the SELECT gives no column '{name}'{near(name, free)}", "Every detector gives it.")
    for name, (wanted, words) in {**_CONTRACT, **_OPTIONAL}.items():
        kind = kinds.get(name)
        if kind is None or wanted.match(kind):
            continue
        what = f"column '{name}' is {kind}, and must be {words}"
        if kind in ("DOUBLE", "FLOAT"):
            yield Remark(what, NOT_EXACT, name)
        else:
            yield Remark(what, "Cast it.", name)


def detector_texts(file: SqlFile, columns: Sequence[str]) -> Iterator[ReportgenError]:
    """Yield slots of the sentences that name no column, and columns described that the SELECT does not give."""
    texts: dict[tuple[str, ...], object] = {
        ("finding",): file.front.get("finding"),
        ("saving",): file.front.get("saving"),
        ("action",): file.front.get("action"),
    }
    actions = file.front.get("actions", {})
    if isinstance(actions, Mapping):
        texts |= {("actions", label): text for label, text in actions.items()}
    for key, text in texts.items():
        if not isinstance(text, str):
            continue
        for found, where in file.slots(key, _BRACES, text):
            slot = SLOT.fullmatch(found.group())
            if slot is None:
                what = f"'{'.'.join(key)}' holds {found.group()}, which is not filled in"
                yield ReportgenError(where(), what, "A slot is {column}, or {column:n} without its unit.")
            elif slot.group(1) not in columns:
                what = f"'{'.'.join(key)}' names a column '{slot.group(1)}'{near(slot.group(1), columns)}"
                yield ReportgenError(where(), what, "The SELECT does not give it.")
    yield from _described(file, columns)


def chart_columns(file: SqlFile, columns: Sequence[str]) -> Iterator[ReportgenError]:
    """Yield the roles, keys and title slots of a chart that name no column, and columns described in vain."""
    for role, name in chart_roles(file):
        if name not in columns:
            yield _no_column(file, name, columns, (role,))
    said = {"title": (_TITLE_SLOT, [str(file.front.get("title", ""))]), "headline": (CHART_SLOT, headlines(file))}
    for key, (slot, texts) in said.items():
        for found, where in file.slots((key,), slot, *texts):
            name = found.group(1)
            if name not in columns:
                yield ReportgenError(where(), f"the SELECT gives no column '{name}'{near(name, columns)}")
    yield from _described(file, columns)
    yield from _doubled(file, columns)


def _described(file: SqlFile, columns: Sequence[str]) -> Iterator[ReportgenError]:
    described = file.front.get("columns", {})
    for name in described if isinstance(described, Mapping) else ():
        if name not in columns:
            yield _no_column(file, name, columns, ("columns", name))


def _no_column(file: SqlFile, name: str, columns: Sequence[str], key: tuple[str, ...]) -> ReportgenError:
    return file.problem(f"the SELECT gives no column '{name}'{near(name, columns)}", "", key)


def _doubled(file: SqlFile, columns: Sequence[str]) -> Iterator[ReportgenError]:
    folded = [name.lower() for name in columns]
    for name in sorted({name for name in folded if folded.count(name) > 1}):
        yield file.problem(f"the SELECT gives two columns '{name}'", "Name them apart.")


def order_of_detector(tree: Tree) -> Iterator[Remark]:
    """Yield what the outer ORDER BY lacks to put findings in one order: it must reach pipeline and subject."""
    if what := ties(tree):
        key = "subject_key" if "subject_key" in tree.items else "subject"
        yield Remark(what, f"End it with: order by …, pipeline, {key}")


def order_of_chart(tree: Tree) -> Iterator[Remark]:
    """Yield a remark where a chart's rows have no order."""
    if tree.order is None:
        yield Remark("the SELECT has no ORDER BY", "Say the order of the rows, ties broken.")


def tests(file: SqlFile, project: Path | None) -> Iterator[ReportgenError]:
    """Yield what the test beside a detector lacks: the file itself, a case with a hit, one with a near miss."""
    from reportgen.detectortest import case_kinds, find_test

    path = find_test(file, project)
    name = file.name.removesuffix(".sql") + ".test.md"
    if path is None:
        yield file.problem("has no test", f"Write {name} beside it: a hit, and a near miss.")
        return
    try:
        kinds = case_kinds(path, name=name)
    except ReportgenError as error:
        yield error
        return
    for count, what in ((kinds.hits, "a hit (a case that expects rows)"), (kinds.misses, "a near miss (nothing)")):
        if not count:
            yield ReportgenError(f"{name}:1", f"no case is {what}", "Add one: it should differ in a single fact.")


def stubs(file: SqlFile) -> Iterator[ReportgenError]:
    """Yield what a detector still says as `reportgen new detector` wrote it: a report would show that to people."""
    for key, stub in (("doc", STUB_DOC), ("action", STUB_ACTION)):
        if str(file.front.get(key, "")).strip().startswith(stub):
            yield file.problem(f"'{key}' still is what `reportgen new detector` wrote", stub, key)
