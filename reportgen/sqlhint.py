"""What to do about SQL that can't be parsed: DuckDB points at the first word that it did not expect, no further."""

from __future__ import annotations

import difflib
import re

#: What follows nothing that a comma would end.
_CLAUSES = (
    "from", "where", "group", "having", "order", "limit", "qualify", "union", "intersect", "except", "join", "inner",
    "left", "right", "cross", "with", "select", "window", "offset", "using", "then", "else", "when", "end",
)  # fmt: skip
#: A line that ends with one of these goes on.
_OPEN_WORDS = frozenset({
    *_CLAUSES, "and", "or", "not", "on", "by", "as", "case", "in", "is", "between", "like", "ilike", "distinct", "all",
    "over", "partition", "filter", "interval", "recursive", "materialized", "lambda", "exclude", "replace",
}) - {"end"}  # fmt: skip
_NOTE = re.compile(r"--.*$")
_LAST_WORD = re.compile(r"(\w+)\s*$")
_FIRST_WORD = re.compile(r"\w+")


def syntax_step(text: str, at: int | None, message: str) -> str:
    """Return the next step for a parser's message about a text, in which it points at the byte `at` (None: nowhere)."""
    if "unterminated" in message:
        return "Close the quote or the comment."
    if "end of input" in message or at is None:
        return "Is a bracket, a quote or a case left open?"
    if not message.removeprefix("Parser Error: ").startswith("syntax error"):
        return "Mend the SQL."
    before = text.encode()[:at].decode("utf-8", "replace")
    after = text[len(before) :]
    lines = before.split("\n")
    found = _FIRST_WORD.match(after)
    word = found.group() if found else after[:1]
    previous = _LAST_WORD.search(lines[-1])
    for candidate in (word, previous.group(1) if previous else ""):
        if meant := _clause_near(candidate):
            return f"Is '{candidate}' meant to be '{meant}'?"
    if after[:1] == ".":
        # The name before the dot was taken for an alias.
        lines[-1] = lines[-1][: previous.start()] if previous else lines[-1]
    elif not (found or after[:1] in "'\"") or word.lower() in _CLAUSES:
        return "Look at it, and at what stands right before it."
    if lines[-1].strip():
        where = f"before it, on line {len(lines)}" if _is_ended(lines[-1]) else ""
    else:
        number = next((n for n in range(len(lines) - 1, 0, -1) if _bare(lines[n - 1])), 0)
        where = f"at the end of line {number}" if number and _is_ended(lines[number - 1]) else ""
    return f"Is a comma missing {where}?" if where else "Look at it, and at what stands right before it."


def _clause_near(word: str) -> str:
    """Return the keyword that a word is one letter from; empty where it is one, or is far from all."""
    lower = word.lower()
    if len(lower) < 3 or lower in _OPEN_WORDS or lower == "end":
        return ""
    found = difflib.get_close_matches(lower, [c for c in _CLAUSES if len(c) > 3], n=1, cutoff=0.75)
    return found[0] if found and abs(len(found[0]) - len(lower)) <= 1 else ""


def _bare(line: str) -> str:
    """Return a line without a note at its end; a quote before the dashes leaves it as it is."""
    found = _NOTE.search(line)
    return line.strip() if found is None or line[: found.start()].count("'") % 2 else line[: found.start()].strip()


def _is_ended(line: str) -> bool:
    """Say whether a line ends with a whole expression: with no comma, operator or word that something follows."""
    bare = _bare(line)
    word = _LAST_WORD.search(bare)
    return bare.endswith((")", "]", "'", '"')) if word is None else word.group(1).lower() not in _OPEN_WORDS
