"""SQL as HTML with its comments marked; every character of it is kept.

Comments are what a reader without a script needs to tell apart. Keywords and texts are coloured by `assets/use.js`,
which needs no element around each: they would be a fifth of the pages of SQL.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

from reportgen.render.pages import Markup
from reportgen.render.prose import visible

#: A text may hold what looks like a comment.
_TOKEN = re.compile(r"(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))|'(?:[^']|'')*(?:'|\Z)", re.DOTALL)


@lru_cache(maxsize=256)
def sql_html(sql: str) -> Markup:
    """Return the SQL as HTML for a `<pre>`: `i` holds a comment."""
    text = visible(sql.strip("\n"))
    out = []
    done = 0
    for found in _TOKEN.finditer(text):
        if found.lastgroup:
            out += [_text(text[done : found.start()]), f"<i>{_text(found.group())}</i>"]
            done = found.end()
    out.append(_text(text[done:]))
    return Markup("".join(out))


def _text(sql: str) -> str:
    # Between two tags a quote is only a quote, and SQL is full of them.
    return escape(sql, quote=False)
