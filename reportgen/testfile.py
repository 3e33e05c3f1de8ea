"""A detector's tests, `<id>.test.md`: Markdown that reads as documentation, to cases. Cells stay text here.

    ## A run at exactly three times the mean is reported

    Given `runs`:

    | pipeline | run_key | cost |
    |---|---|---|
    | docs | id:r1 | 9 |

    Expect:

    | subject | observed |
    |---|---|
    | r1 | 9 |

A level-2 heading opens a case. A paragraph or heading that starts with Given, Parameters or Expect says what the table
right after it is; `Expect: nothing` needs none. Tables before the first case hold for every case that does not give the
same mart. All else is prose: text, lists, quotes, code, comments. A format's test gives files in place of marts, each
as a fenced block right after Given `name.jsonl`:.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block import table as find_table
from markdown_it.rules_block.table import escapedSplit
from markdown_it.token import Token

from reportgen.errors import ReportgenError
from reportgen.quickclass import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a table: where it stands (lines count from 1), and its cells as a reader sees them."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table as it is written; every row has a cell for every column."""

    line: int
    columns: tuple[str, ...]
    rows: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One case. `expected` None is `Expect: nothing`; `problem` says why the case can't be run."""

    name: str
    line: int
    given: Mapping[str, Table] = field(default_factory=dict)
    parameters: Table | None = None
    expected: Table | None = None
    problem: ReportgenError | None = None
    #: Files that are given as they are, by name.
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CaseFile:
    """A test file that was read: how it is named to people, and its cases in order."""

    name: str
    cases: tuple[Case, ...]


HOW_GIVEN = "Write a line of its own right before it: Given `mart`: or Parameters: or Expect:"


def read_test_file(path: Path, *, name: str) -> CaseFile:
    """Read a test file. Raises ReportgenError where it can't be read or holds no case; the rest is a case's problem."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReportgenError(name, f"not UTF-8 at byte {error.start}", "Save it as UTF-8.") from None
    except OSError as error:
        raise ReportgenError(name, f"can't be read ({error.strerror})", "Check its permissions.") from None
    cases = parse_cases(text, name)
    if not cases:
        raise ReportgenError(name, "holds no case", "Every case stands under a heading of level 2: ## What it shows")
    return CaseFile(name, cases)


def parse_cases(text: str, name: str) -> tuple[Case, ...]:
    """Return the cases of a text. A problem before the first case is raised: it would be one of every case."""
    tokens = _parse(text)
    starts = [i for i, token in enumerate(tokens) if _is_heading(token, "h2")]
    common = _read_part(tokens[: starts[0] if starts else len(tokens)], name)
    if common.problem is not None:
        raise common.problem
    if common.expects is not None:
        raise ReportgenError(f"{name}:{common.expects}", "Expect: stands before the first case", "Add a ## heading.")
    cases: list[Case] = []
    for start, end in zip(starts, [*starts, len(tokens)][1:], strict=True):
        line = _line(tokens[start])
        title = cell_text(tokens[start + 1].content)
        part = _read_part(tokens[start + 3 : end], name)
        problem = part.problem
        if problem is None and not title:
            problem = ReportgenError(f"{name}:{line}", "a case without a name", "Say in the heading what it shows.")
        if problem is None and any(title == other.name for other in cases):
            problem = ReportgenError(f"{name}:{line}", f"a second case named '{title}'", "Name them apart.")
        if problem is None and part.expects is None:
            problem = ReportgenError(
                f"{name}:{line}",
                f"the case '{title}' has no Expect:",
                "Add a table of rows, or the line: Expect: nothing",
            )
        given = {**common.given, **part.given}
        files = {**common.files, **part.files}
        cases.append(Case(title, line, given, part.parameters or common.parameters, part.expected, problem, files))
    return tuple(cases)


# --- one part: what stands under one heading ------------------------------------------------------------------------


@dataclass(slots=True)
class _Part:
    given: dict[str, Table] = field(default_factory=dict)
    parameters: Table | None = None
    expected: Table | None = None
    #: The line of its Expect.
    expects: int | None = None
    problem: ReportgenError | None = None
    files: dict[str, str] = field(default_factory=dict)


_NOTHING = re.compile(r"Expect:?\s+nothing\b", re.IGNORECASE)
_LABEL = re.compile(r"(Given|Parameters|Expect)\b(?=.*:|\s*$)", re.IGNORECASE)
_NAMED = re.compile(r"Given\s+(`+)\s*(?P<code>[^`]+?)\s*\1|Given\s+(?P<word>\w+)\s*:\s*$", re.IGNORECASE)
_PAIR = re.compile(r"`?(?P<name>\w+)`?\s*=\s*(?P<value>\"[^\"]*\"|`[^`]*`|[^\s,;]*[^\s,;.]|)")


def _read_part(tokens: Sequence[Token], name: str) -> _Part:
    part = _Part()
    try:
        _fill(part, tokens, name)
    except ReportgenError as error:
        part.problem = error
    return part


def _fill(part: _Part, tokens: Sequence[Token], name: str) -> None:
    """Walk the blocks of a part: each label takes the table that follows it at once."""

    def wrong(line: int, what: str, next_step: str) -> ReportgenError:
        return ReportgenError(f"{name}:{line}", what, next_step)

    position = 0
    while position < len(tokens):
        token = tokens[position]
        if token.level or token.type not in ("paragraph_open", "heading_open", "table"):
            position += 1
            continue
        line = _line(token)
        if token.type == "table":
            raise wrong(line, "a table that nothing says the meaning of", HOW_GIVEN)
        text = tokens[position + 1].content
        position += 3
        if _NOTHING.match(text):
            _once(part.expects, line, "Expect:", wrong)
            part.expects = line
            continue
        if text.startswith("|"):
            raise wrong(line, "looks like a row, but belongs to no table", "Remove the blank line above it, if any.")
        label = _LABEL.match(text)
        follows = position < len(tokens) and tokens[position].type == "table" and not tokens[position].level
        if not label:
            continue
        word = label.group(1).capitalize()
        if word == "Parameters" and not follows:
            _once(part.parameters.line if part.parameters else None, line, "Parameters:", wrong)
            part.parameters = _pairs(text, line, wrong)
            continue
        named = _NAMED.match(text)
        fenced = position < len(tokens) and tokens[position].type == "fence" and not tokens[position].level
        if word == "Given" and named and fenced:
            part.files[named.group("code") or named.group("word")] = tokens[position].content
            position += 1
            continue
        if word == "Given" and not follows and not named:
            continue  # Prose that happens to start so.
        if not follows:
            raise wrong(line, f"no table follows this {word}", "The table comes right after the line that says so.")
        table = _read_table(tokens[position], wrong)
        position += 1
        if word == "Given":
            if named is None:
                raise wrong(line, "Given what?", "Name the mart in back-ticks: Given `runs`:")
            mart = named.group("code") or named.group("word")
            _once(part.given[mart].line if mart in part.given else None, line, f"Given `{mart}`", wrong)
            part.given[mart] = table
        elif word == "Parameters":
            _once(part.parameters.line if part.parameters else None, line, "Parameters:", wrong)
            part.parameters = table
        else:
            _once(part.expects, line, "Expect:", wrong)
            part.expects, part.expected = line, table


def _once(before: int | None, line: int, what: str, wrong: Callable[[int, str, str], ReportgenError]) -> None:
    if before is not None:
        raise wrong(line, f"a second {what} in one case (the first is in line {before})", "Make one of the two.")


def _pairs(text: str, line: int, wrong: Callable[[int, str, str], ReportgenError]) -> Table:
    """Read `Parameters: `min_ratio` = 2.5, `max_rank` = 1` as a table of one row."""
    said = text.partition(":")[2]
    pairs = {m.group("name"): m.group("value").strip("`") for m in _PAIR.finditer(said)}
    # What is not understood must not be taken for a default.
    if not pairs or _PAIR.sub("", said).replace("and", "").strip(" \n,;."):
        raise wrong(line, "can't be read as parameters", "Write Parameters: `min_ratio` = 2.5, `max_rank` = 1")
    return Table(line, tuple(pairs), (Line(line, tuple(pairs.values())),))


def _read_table(token: Token, wrong: Callable[[int, str, str], ReportgenError]) -> Table:
    start = _line(token)
    rows = [
        Line(start + place, tuple(map(cell_text, _split(text))))
        for place, text in enumerate(token.meta["lines"])
        if place != 1  # The line of dashes.
    ]
    head, body = rows[0], rows[1:]
    for row in body:
        # A Markdown reader cuts what is too much and fills up what is missing: in a test both would hide a mistake.
        if len(row.cells) != len(head.cells):
            what = f"{len(row.cells)} cells under {len(head.cells)} columns"
            raise wrong(row.line, what, "An empty cell is null; a | in text is written \\|")
    for place, column in enumerate(head.cells):
        if not column or column in head.cells[:place]:
            raise wrong(head.line, f"a second column '{column}'" if column else "a column without a name", "Name it.")
    return Table(head.line, head.cells, tuple(body))


def _split(line: str) -> list[str]:
    cells = escapedSplit(line.strip())
    return cells[cells[:1] == [""] : len(cells) - (cells[-1:] == [""])]


# --- the Markdown parser --------------------------------------------------------------------------------------------


def _whole_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Stand in for markdown-it's `table` rule: the same tables, each as one token that holds its lines."""
    if not find_table(state, start, end, True):
        return False
    if silent:
        return True
    parent, state.parentType = state.parentType, "table"
    enders = state.md.block.ruler.getRules("blockquote")
    line = start + 2
    while line < end and state.sCount[line] >= state.blkIndent and not state.is_code_block(line):
        if state.isEmpty(line) or any(rule(state, line, end, True) for rule in enders):
            break
        line += 1
    token = state.push("table", "", 0)
    token.map = [start, line]
    token.meta = {"lines": [state.src[state.bMarks[n] + state.tShift[n] : state.eMarks[n]] for n in range(start, line)]}
    state.parentType = parent
    state.line = line
    return True


@lru_cache(maxsize=1)
def _blocks() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    parser.block.ruler.at("table", _whole_table, {"alt": ["paragraph", "reference"]})
    return parser


@lru_cache(maxsize=1)
def _inline() -> MarkdownIt:
    # HTML in a cell is a value like any other: detectors are tested with hostile text.
    return MarkdownIt("commonmark", {"html": False})


def _parse(text: str) -> list[Token]:
    text = re.sub(r"\r\n?", "\n", text).replace("\x00", "\ufffd")
    tokens: list[Token] = []
    parser = _blocks()
    parser.block.parse(text, parser, {}, tokens)
    return tokens


def _is_heading(token: Token, tag: str) -> bool:
    return token.type == "heading_open" and token.tag == tag and not token.level


def _line(token: Token) -> int:
    return (token.map or [0])[0] + 1


_MARKUP = re.compile(r"[\\`*_\[<&]")


@lru_cache(maxsize=4096)
def cell_text(markdown: str) -> str:
    """Return what a reader sees: `**docs**` and `` `docs` `` are docs."""
    if not _MARKUP.search(markdown):
        return markdown.strip()
    children = _inline().parseInline(markdown, {})[0].children or ()
    return "".join(" " if child.type in ("softbreak", "hardbreak") else child.content for child in children).strip()
