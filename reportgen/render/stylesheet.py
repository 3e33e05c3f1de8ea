"""The part of a style sheet that one page needs, for the page that has to bring its style along."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_NOTES = re.compile(r"/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", re.DOTALL)
_LINES = re.compile(r"\s*\n\s*")
_SIGNS = re.compile(r"[{};]")
#: Between selectors, not inside of `:is(a, b)`.
_COMMA = re.compile(r",(?![^(]*\))")
_GROUP = re.compile(r"@(media|supports)\b")
#: What of a selector can be missing from a page: classes, ids, elements. States and attributes count as there.
_NAME = re.compile(r"(?<![\w-])([.#]?)([a-zA-Z][\w-]*)")
_ASIDE = re.compile(r"\[[^\]]*\]|::?[\w-]+(\([^)]*\))?")


def needed(style: str, html: str) -> str:
    """Return the rules whose selectors can match something in the page; rules about no element are all kept."""
    there = {("", name.lower()) for name in re.findall(r"<([a-zA-Z][\w-]*)", html)}
    there |= {(".", name) for names in re.findall(r'\bclass="([^"]*)"', html) for name in names.split()}
    there |= {("#", name) for name in re.findall(r'\bid="([^"]*)"', html)}
    return _kept(_NOTES.sub("", style), there)


def _kept(style: str, there: set[tuple[str, str]]) -> str:
    out = []
    for head, body in _rules(style):
        if body is None:
            out.append(head)
        elif _GROUP.match(head):
            inner = _kept(body, there)
            out += [f"{head}{{\n{inner}}}"] if inner else []
        elif head.startswith("@"):
            out.append(f"{head}{{{body}}}")
        elif selectors := [one.strip() for one in _COMMA.split(head) if _can_match(_ASIDE.sub("", one), there)]:
            out.append(f"{', '.join(selectors)}{{{body}}}")
    return "".join(f"{one}\n" for one in out)


def _can_match(selector: str, there: set[tuple[str, str]]) -> bool:
    return all((mark, name if mark else name.lower()) in there for mark, name in _NAME.findall(selector))


@lru_cache(maxsize=128)
def _rules(style: str) -> tuple[tuple[str, str | None], ...]:
    """Return what stands before each block and what is in it; None for a statement without a block (`@import …;`)."""
    return tuple(_taken_apart(style))


def _taken_apart(style: str) -> Iterator[tuple[str, str | None]]:
    # Braces in texts open nothing.
    plain = _STRING.sub(lambda found: "_" * len(found.group()), style)
    start = depth = opened = 0
    for found in _SIGNS.finditer(plain):
        place, sign = found.start(), found.group()
        if sign == "{":
            opened = opened if depth else place
            depth += 1
        elif sign == "}" and depth:
            depth -= 1
            if not depth:
                yield _LINES.sub(" ", style[start:opened]).strip(), _LINES.sub(" ", style[opened + 1 : place]).strip()
                start = place + 1
        elif sign == ";" and not depth:
            yield style[start : place + 1].strip(), None
            start = place + 1
