"""SQL as HTML with its comments, texts and keywords marked; every character of it is kept."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

from reportgen.render.pages import Markup
from reportgen.render.prose import visible

_KEYWORDS = (
    "all and as asc between by case cross desc distinct else end except exists false filter from full group having in "
    "inner is join lateral left like limit materialized not null on or order outer over partition qualify recursive "
    "right select then true union unnest using values when where window with"
)
_WORD = "|".join(_KEYWORDS.split())
#: Short elements: a report shows sixty files.
_ELEMENTS = {"c": "i", "s": "u", "k": "b"}
_TOKEN = re.compile(
    r"(?P<c>--[^\n]*|/\*.*?(?:\*/|\Z))"
    r"|(?P<s>'(?:[^']|'')*(?:'|\Z))"
    rf"|(?P<k>\b(?:{_WORD})\b(?: (?:{_WORD})\b)*)",
    re.IGNORECASE | re.DOTALL,
)


@lru_cache(maxsize=256)
def sql_html(sql: str) -> Markup:
    """Return the SQL as HTML for a `<pre>`: `i` holds a comment, `u` a text, `b` keywords."""
    text = visible(sql.strip("\n"))
    out = []
    done = 0
    for found in _TOKEN.finditer(text):
        element = _ELEMENTS[found.lastgroup or "c"]
        out += [_text(text[done : found.start()]), f"<{element}>{_text(found.group())}</{element}>"]
        done = found.end()
    out.append(_text(text[done:]))
    return Markup("".join(out))


def _text(sql: str) -> str:
    # Between two tags a quote is only a quote, and SQL is full of them.
    return escape(sql, quote=False)
