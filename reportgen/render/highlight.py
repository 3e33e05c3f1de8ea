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
_TOKEN = re.compile(
    r"(?P<c>--[^\n]*|/\*.*?(?:\*/|\Z))"
    r"|(?P<s>'(?:[^']|'')*(?:'|\Z))"
    rf"|(?P<k>\b(?:{'|'.join(_KEYWORDS.split())})\b)",
    re.IGNORECASE | re.DOTALL,
)


@lru_cache(maxsize=256)
def sql_html(sql: str) -> Markup:
    """Return the SQL as HTML for a `<pre>`; spans of class `c`, `s` and `k` mark comments, texts and keywords."""
    text = visible(sql.strip("\n"))
    out = []
    done = 0
    for found in _TOKEN.finditer(text):
        out.append(escape(text[done : found.start()]))
        out.append(Markup('<span class="{}">{}</span>').format(found.lastgroup, found.group()))
        done = found.end()
    out.append(escape(text[done:]))
    return Markup("").join(out)
