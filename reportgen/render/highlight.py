"""SQL as HTML with its comments, texts and keywords marked; every character of it is kept."""

from __future__ import annotations

import re
from functools import lru_cache

from reportgen.render.pages import Markup, escape
from reportgen.render.prose import visible

_KEYWORDS = (
    "all and as asc between by case cross desc distinct else end except exists false filter from full group having in "
    "inner is join lateral left like limit materialized not null on or order outer over partition qualify recursive "
    "right select then true union unnest using values when where window with"
)
_WORD = "|".join(_KEYWORDS.split())
#: Short elements: a report shows sixty files.
_ELEMENTS = {"c": Markup("<i>{}</i>"), "s": Markup("<u>{}</u>"), "k": Markup("<b>{}</b>")}
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
        out.append(escape(text[done : found.start()]))
        out.append(_ELEMENTS[found.lastgroup or "c"].format(found.group()))
        done = found.end()
    out.append(escape(text[done:]))
    return Markup("").join(out)
