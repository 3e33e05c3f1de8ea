"""Pages and assets without what is there for their authors only: smaller by a tenth, and the same to their readers."""

from __future__ import annotations

import re

#: What stands in `pre` is shown as it is, and data of a script is no HTML.
_AS_IT_IS = re.compile(r"(<pre\b.*?</pre>|<script type=.*?</script>)", re.DOTALL)
#: Text is escaped, so that these stand for elements wherever they are found. Cells, rows and
#: items end by themselves where the next one begins, or what they stand in ends.
_ENDS = re.compile(
    r"</t[dh]>\s*(?=<t[dh]\b|</tr>)|</tr>\s*(?=<tr\b|</t(?:head|body|able)>)"
    r"|</li>\s*(?=<li\b|</[uo]l>)|</d[td]>(?=\s*<d[td]\b)|</dd>(?=\s*</d(?:l|iv)>)"
)
_GAPS = re.compile(r"\n\s*\n")
_TAG = re.compile(r"<[a-z][^<>]*>")
#: Not the last one of a tag that closes itself, to which its slash would belong.
_PLAIN_VALUE = re.compile(r'(?<= )([A-Za-z-]+)="([\w.#:/-]+)"(?=[ >])')
#: A note that has its lines for itself, and what a line is indented by; no text of ours goes over several lines.
_NOTES = re.compile(rb"^[ \t]*/\*.*?\*/[ \t]*\n", re.DOTALL | re.MULTILINE)
_INDENT = re.compile(rb"^\s+", re.MULTILINE)


def lean(html: str) -> str:
    """Return the page without the ends of cells, rows and items, quotes around plain values, and empty lines."""
    parts = _AS_IT_IS.split(html)
    parts[::2] = [_GAPS.sub("\n", _TAG.sub(_unquoted, _ENDS.sub("", part))) for part in parts[::2]]
    return "".join(parts)


def _unquoted(tag: re.Match[str]) -> str:
    return _PLAIN_VALUE.sub(r"\1=\2", tag[0])


def lean_asset(name: str, data: bytes) -> bytes:
    """Return a script or style sheet without its notes and indents; for assets of ours, whose lines are known."""
    return _INDENT.sub(b"", _NOTES.sub(b"", data)) if name.endswith((".js", ".css")) else data
