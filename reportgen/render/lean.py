"""Pages without what HTML lets a writer leave out: smaller by a tenth, and the same to their readers."""

from __future__ import annotations

import re

#: What stands in `pre` is shown as it is, and data of a script is no HTML.
_AS_IT_IS = re.compile(r"(<pre\b.*?</pre>|<script type=.*?</script>)", re.DOTALL)
#: Text is escaped, so that these stand for elements wherever they are found. Where the next cell or the end of the row
#: follows, a cell ends by itself.
_ENDS = re.compile(r"</t[dh]>\s*(?=<t[dh]\b|</tr>)")
_GAPS = re.compile(r"\n\s*\n")
_TAG = re.compile(r"<[a-z][^<>]*[^<>/]>")
_PLAIN_VALUE = re.compile(r'(?<= )([a-z-]+)="([\w.#:/-]+)"(?=[ >])')


def lean(html: str) -> str:
    """Return the page without the ends of cells, quotes around plain values, and empty lines."""
    parts = _AS_IT_IS.split(html)
    parts[::2] = [_GAPS.sub("\n", _TAG.sub(_unquoted, _ENDS.sub("", part))) for part in parts[::2]]
    return "".join(parts)


def _unquoted(tag: re.Match[str]) -> str:
    return _PLAIN_VALUE.sub(r"\1=\2", tag[0])
