"""Small wrongs in a detector's SQL, one at a time: what its own tests must notice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from reportgen.sqlfile import SqlFile

#: Each comparison gives up its boundary, and turns round.
COMPARISONS = {
    ">=": (">", "<"), ">": (">=", "<="), "<=": ("<", ">"), "<": ("<=", ">="), "=": ("<>",), "<>": ("=",), "!=": ("=",),
}  # fmt: skip

_TOKEN = re.compile(
    r"(?P<skip>--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\"[^\"]*\"|->>|->|=>|:=|==)"
    r"|(?P<op><>|!=|<=|>=|=|<|>)"
    r"|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<mark>[(),\[\]{}])",
    re.DOTALL,
)
#: What ends the keys of an `order by`, at its own depth.
_ENDS = {"rows", "range", "groups", "limit", "offset", "union", "qualify", "window"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One changed detector: where, the line as it was, and what was done to it."""

    line: int
    text: str
    change: str
    file: SqlFile


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    start: int
    end: int
    depth: int


def tokens(text: str) -> list[Token]:
    """The words, operators and brackets of a SQL text, without comments (front matter) and strings."""
    found: list[Token] = []
    depth = 0
    for match in _TOKEN.finditer(text):
        kind, word = match.lastgroup or "", match.group().lower()
        if kind == "skip":
            continue
        if word in (")", "]", "}"):
            depth -= 1
        found.append(Token(kind, word, match.start(), match.end(), depth))
        if word in ("(", "[", "{"):
            depth += 1
    return found


def mutants(file: SqlFile) -> Iterator[Mutant]:
    """Every mutant of a file: comparisons, null tests, `and` and `or`, sort directions, defaults of parameters."""
    for start, end, new in _edits(file.text, tokens(file.text)):
        old = file.text[start:end]
        line = file.text.count("\n", 0, start)
        # The words on both sides tell two changes of one line apart.
        before = file.text[:start].split()[-1]
        after = file.text[end:].split()[0] if new in ("and", "or") or old.strip() in COMPARISONS else ""
        change = " ".join(f"{before} {old.strip() or '(asc)'} {after.strip('(),')} -> {new.strip()}".split())
        body = file.text[:start] + new + file.text[end:]
        yield Mutant(line + 1, file.text.splitlines()[line].strip(), change, replace(file, text=body))
    for name, entry in file.front.get("params", {}).items():
        for value in _near(entry["default"]):
            params = {**file.front["params"], name: {**entry, "default": value}}
            front: Mapping[str, Any] = {**file.front, "params": params}
            change = f"default of {name}: {entry['default']} -> {value}"
            yield Mutant(_line_of(file.text, name), f"[params.{name}]", change, replace(file, front=front))


def _near(default: Any) -> tuple[Any, ...]:
    """The values next to a default: one step of its last digit up and down."""
    if isinstance(default, bool):
        return (not default,)
    if isinstance(default, str):
        return (f"{default}x",)
    step = 1 if isinstance(default, int) else Decimal(1).scaleb(int(default.as_tuple().exponent))
    return tuple(value for value in (default + step, default - step) if value >= 0)


def _line_of(text: str, name: str) -> int:
    return text[: text.index(f"[params.{name}]")].count("\n") + 1


def _edits(text: str, found: list[Token]) -> Iterator[tuple[int, int, str]]:
    """(start, end, new text) of each change of the SQL."""
    betweens: set[int] = set()
    for place, token in enumerate(found):
        after = found[place + 1].text if place + 1 < len(found) else ""
        if token.kind == "op":
            for new in COMPARISONS[token.text]:
                yield token.start, token.end, new
        elif token.text == "between":
            betweens.add(token.depth)
            if found[place - 1].text not in ("rows", "range", "groups"):
                yield token.start, token.end, "not between"
        elif token.text == "and" and token.depth in betweens:
            betweens.discard(token.depth)
        elif token.text in ("and", "or"):
            yield token.start, token.end, "or" if token.text == "and" else "and"
        elif token.text == "is" and after == "null":
            yield token.start, found[place + 1].end, "is not null"
        elif token.text == "is" and after == "not" and found[place + 2].text == "null":
            yield token.start, found[place + 2].end, "is null"
        elif token.text == "not" and after == "exists":
            yield token.start, found[place + 1].end, "exists"
        elif token.text == "order" and after == "by":
            yield from _directions(text, found, place + 2, token.depth)


def _directions(text: str, found: list[Token], place: int, depth: int) -> Iterator[tuple[int, int, str]]:
    """Turn the direction of each key of one `order by` round."""
    begin = found[place - 1].end
    key: list[Token] = []
    for token in [*found[place:], Token("end", "", len(text), len(text), depth)]:
        ends = token.depth < depth or (token.depth == depth and token.text in _ENDS) or token.kind == "end"
        if not ends and not (token.text == "," and token.depth == depth):
            key.append(token)
            continue
        said = next((t for t in key if t.depth == depth and t.text in ("asc", "desc")), None)
        nulls = next((t for t in key if t.depth == depth and t.text == "nulls"), None)
        if said is not None:
            yield said.start, said.end, "asc" if said.text == "desc" else "desc"
        elif text[begin : token.start].strip():
            stop = nulls.start if nulls else token.start
            stop -= len(text[begin:stop]) - len(text[begin:stop].rstrip())
            yield stop, stop, " desc"
        if ends:
            return
        begin, key = token.end, []
