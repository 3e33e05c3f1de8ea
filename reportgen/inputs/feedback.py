"""Reviewers' feedback: from Markdown tables to rows (SPEC 2, "Feedback"). The one input room that knows markdown-it-py.

markdown-it-py says what each line is: table, fence, comment, prose. Its table rule is replaced by one that finds the
same tables and hands on whole lines, because the original fills rows up with empty cells and stops, silently, after
65,536 of them. Cells are rendered as Markdown only where they hold markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Literal

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block import table as find_table
from markdown_it.token import Token

from reportgen.inputs.feedback_file import Block, FileReader, Line
from reportgen.inputs.feedback_rows import FeedbackRow, RowReader
from reportgen.inputs.sources import Source, shown_name
from reportgen.inputs.textlines import read_text
from reportgen.model import InputFile, Notice, RejectedLine
from reportgen.names import Names, squeeze
from reportgen.quickclass import dataclass

__all__ = ["FeedbackRead", "FeedbackRow", "read_feedback"]


@dataclass(frozen=True, slots=True)
class FeedbackRead:
    """Every feedback file: its account, its rows in reading order, lines that could not be read, and remarks."""

    files: tuple[InputFile, ...]
    rows: tuple[FeedbackRow, ...]
    rejected: tuple[RejectedLine, ...]
    notices: tuple[Notice, ...]


def read_feedback(sources: Sequence[Source], names: Names, *, redact: bool) -> FeedbackRead:
    """Read the tables of all feedback files; a `file_no` is an index into `sources`.

    Tables without the columns Agent, Score and Pattern are named in a notice. A line is rejected where it looks like a
    feedback row and can't be read as one: not UTF-8, outside every table with another number of cells, indented into
    code right below a table, or under a header that makes no table.
    Raises ReportgenError (exit 3) where a file can't be read.
    """
    files: list[InputFile] = []
    rows: list[FeedbackRow] = []
    rejected: list[RejectedLine] = []
    notices: list[Notice] = []
    for file_no, source in enumerate(sources):
        shown = shown_name(source, redacted=redact)
        text = read_text(source.path, shown)
        found, render = parse(text.lines)
        reader = RowReader(file_no, shown, text, names, render=render, redacted=redact, first_row_no=len(rows))
        FileReader(reader).read(found)
        files.append(reader.account())
        rows += reader.rows
        rejected += reader.rejected()
        notices += reader.notes.notices()
    scores = [row.score for row in rows if row.score is not None]
    if scores and max(scores) <= 1:
        message = (
            f"all {len(scores)} scores are at most 1 of 100; if they are shares, write them as 67% or 67/100"
            if len(scores) > 1
            else "the only score is at most 1 of 100; if it is a share, write it as 67% or 67/100"
        )
        notices.append(Notice(code="feedback-scores-at-most-one", message=message, count=len(scores)))
    return FeedbackRead(tuple(files), tuple(rows), tuple(rejected), tuple(notices))


# --- what each line is ----------------------------------------------------------------------------------------------


def _table_lines(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Stand in for markdown-it's `table` rule: the same tables, each as one token that holds its lines."""
    if not find_table(state, start, end, True):
        return False
    if silent:
        return True
    parent, state.parentType = state.parentType, "table"
    enders = state.md.block.ruler.getRules("blockquote")
    line = start + 2
    while line < end and state.sCount[line] >= state.blkIndent and not state.is_code_block(line):
        if any(rule(state, line, end, True) for rule in enders) or not _line_text(state, line).strip():
            break
        line += 1
    token = state.push("table_lines", "", 0)
    token.map = [start, line]
    token.meta = {"lines": [(number, _line_text(state, number)) for number in range(start, line)]}
    state.parentType = parent
    state.line = line
    return True


def _line_text(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


@lru_cache(maxsize=1)
def _block_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    parser.block.ruler.at("table", _table_lines, {"alt": ["paragraph", "reference"]})
    return parser


def parse(lines: Sequence[str]) -> tuple[list[Block], Callable[[str], str]]:
    """Return the blocks that can hold rows, or swallow them, and what turns the Markdown of a cell into its text.

    Blocks are tables, paragraphs, code and HTML; their lines count from 0.
    """
    parser = _block_parser()
    tokens: list[Token] = []
    env: dict[str, Any] = {}
    parser.block.parse("\n".join(lines) + "\n", parser, env, tokens)
    references = env.get("references")
    return _blocks(tokens, lines), partial(_cell_text_with, references) if references else cell_text


def _blocks(tokens: Iterable[Token], lines: Sequence[str]) -> list[Block]:
    found: list[Block] = []
    previous = ""
    for token in tokens:
        first, end = token.map or (0, 0)
        if token.type == "table_lines":
            found.append(Block("table", first, end, token.meta["lines"]))
        elif token.type == "inline" and previous in ("paragraph_open", "heading_open="):
            found.append(Block("text", first, end, _text_lines(token.content, first, end, lines)))
        elif token.type in ("fence", "code_block", "html_block"):
            inner = [(number, lines[number]) for number in range(first, min(end, len(lines)))]
            kind: Literal["html", "code"] = "html" if token.type == "html_block" else "code"
            found.append(Block(kind, first, end, inner, open_end=_is_open(token, inner)))
        # An underlined heading is a paragraph with a line of dashes below it: rows may stand in it.
        underlined = token.type == "heading_open" and token.markup in ("=", "-")
        previous = "heading_open=" if underlined else token.type
    return found


def _text_lines(content: str, first: int, end: int, lines: Sequence[str]) -> list[Line]:
    """Return a paragraph's lines without the marks of the quote or list that it stands in."""
    parts = content.split("\n")
    numbers = range(first, first + len(parts))
    return list(zip(numbers, parts, strict=True)) if first + len(parts) <= end else [(n, lines[n]) for n in numbers]


def _is_open(token: Token, inner: Sequence[Line]) -> bool:
    """Say whether a fence or a comment is never closed, and so takes in all that follows."""
    if token.type == "html_block":
        return token.content.lstrip().startswith("<!--") and "-->" not in token.content
    if token.type != "fence":
        return False
    last = inner[-1][1].strip(" \t>") if inner else ""
    return len(inner) < 2 or not (last.startswith(token.markup) and not last.strip(token.markup[0]))


# --- from a cell's Markdown to its text -----------------------------------------------------------------------------

#: What may be markup. An underscore inside a word never is; nor is a lone tilde.
_MARKUP = re.compile(r"[\\`*\[<&]|~~|(?<![^\W_])_|_(?![^\W_])")
#: The common kinds of markup, where they can mean one thing only: `code`, **strong**, *emphasis*, [a](link).
_WORDS = r"[^\W_](?:[^\\`*\[\]<&~_]*[^\W_])?"
_PIECE = re.compile(
    r"(?P<plain>(?:[^\\`*\[<&~_]|(?<=[^\W_])_(?=[^\W_])|(?<!~)~(?!~))++)"
    r"|(?<!`)`(?P<code>[^`\s](?:[^`]*[^`\s])?)`(?!`)"
    rf"|(?<!\*)\*\*(?P<strong>{_WORDS})\*\*(?![\w*])"
    rf"|(?<!\*)\*(?P<emphasis>{_WORDS})\*(?![\w*])"
    rf"|(?<!!)\[(?P<link>{_WORDS})\]\((?:https?://)?[A-Za-z0-9._/#?=+-]+\)"
)
#: A longer cell is taken as it is written: rendering may cost more than its length.
_LONGEST_RENDERED = 4000


@lru_cache(maxsize=1)
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": True}).enable("strikethrough")


@lru_cache(maxsize=8192)
def cell_text(cell: str) -> str:
    """Return what a reader sees of a cell: `**Writer**` gives `Writer`, `a <br> b` gives `a b`, a link its text."""
    if len(cell) > _LONGEST_RENDERED or not _MARKUP.search(cell):
        return squeeze(cell)
    text = _simple_text(cell)
    return squeeze(rendered_text(cell) if text is None else text)


def _simple_text(cell: str) -> str | None:
    """Return what `rendered_text` would, for cells of simple pieces only; None for all others. Twenty times as fast."""
    parts = []
    position = 0
    while position < len(cell):
        match = _PIECE.match(cell, position)
        if not match:
            return None
        parts.append(match[match.lastgroup or 0])
        position = match.end()
    return "".join(parts)


def rendered_text(cell: str, references: Mapping[str, object] | None = None) -> str:
    """Return the text of a cell as markdown-it-py renders it; `references` are the file's `[name]: link` lines."""
    env = {"references": references} if references else {}
    return "".join(_visible(token) for token in _inline_parser().parseInline(cell, env)[0].children or ())


def _cell_text_with(references: Mapping[str, object], cell: str) -> str:
    """Like `cell_text`, in a file with link definitions: there `[Writer][w]` is a link."""
    if "[" not in cell or len(cell) > _LONGEST_RENDERED:
        return cell_text(cell)
    return squeeze(rendered_text(cell, references))


def _visible(token: Token) -> str:
    if token.type in ("text", "text_special", "code_inline"):
        return token.content
    if token.type == "image":
        return "".join(_visible(child) for child in token.children or ())
    if token.type in ("softbreak", "hardbreak"):
        return " "
    return " " if token.type == "html_inline" and token.content[:3].lower() == "<br" else ""
