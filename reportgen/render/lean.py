"""Pages and assets without what is there for their authors only: smaller by a tenth, and the same to their readers."""

from __future__ import annotations

import re
from pathlib import Path

from reportgen import compiled
from reportgen.resources import resource_dir

#: What stands in `pre` is shown as it is, and data of a script is no HTML.
_AS_IT_IS = re.compile(r"(<pre\b.*?</pre>|<script type=.*?</script>)", re.DOTALL)
#: Text is escaped, so that these stand for elements wherever they are found. Cells, rows and
#: items end by themselves where the next one begins, or what they stand in ends.
_ENDS = re.compile(
    r"</t[dh]>\s*(?=<t[dh]\b|</tr>)|</tr>\s*(?=<tr\b|</t(?:head|body|able)>)"
    r"|</thead>\s*(?=<tbody\b)|</tbody>\s*(?=<tbody\b|</table>)"
    r"|</li>\s*(?=<li\b|</[uo]l>)|</d[td]>(?=\s*<d[td]\b)|</dd>(?=\s*</d(?:l|iv)>)"
    r"|</p>(?=\s*</?(?:div|section|p|h\d|[uod]l|pre|table|figure|details|article|main|footer|nav)\b)"
)
_GAPS = re.compile(r"\n\s*\n")
#: No line is begun for a block, nor for its end: what stands around it does not show.
_BLOCKS = (
    r"article|body|details|div|fig(?:caption|ure)|footer|h\d|head|header|li|link|main|meta|nav|p|script|section|svg"
    r"|table|thead|title|tr|[uod]l"
)
_NO_LINE = re.compile(rf"\n(?=</?(?:{_BLOCKS})\b)")
#: A tag with a quoted value.
_TAG = re.compile(r"<[a-z][^<>\"]*\"[^<>]*>")
#: A table to its end, and what begins a cell of it; how many columns the style sheet knows.
_TABLE = re.compile(r"(?P<start><table\b[^>]*>)(?P<rows>.*?)(?=</table>)", re.DOTALL)
_CELL = re.compile(r"<(t[dh])\b( class=n(?=[ >]))?")
_MOST_COLUMNS = 12
#: Not the last one of a tag that closes itself, to which its slash would belong.
_PLAIN_VALUE = re.compile(r'(?<= )([A-Za-z-]+)="([\w.#:/$,%+?;()-]+)"(?=[ >])')
#: A note that has its lines for itself, and what a line is indented by; no text of ours goes over several lines.
_NOTES = re.compile(rb"^[ \t]*/\*.*?\*/[ \t]*\n", re.DOTALL | re.MULTILINE)
_INDENT = re.compile(rb"^\s+", re.MULTILINE)
#: What stands around these in a style sheet is for its authors only; so is a blank after a property's colon.
_AROUND = re.compile(rb"(\"[^\"\n]*\")|\s*([{};,])\s*|(?<=[\w-])(:)\s+")


def lean(html: str) -> str:
    """Return the page without the ends of cells, rows and items, quotes around plain values, and empty lines."""
    parts = _AS_IT_IS.split(html)
    parts[::2] = [_GAPS.sub("\n", _TAG.sub(_unquoted, _ENDS.sub("", part))) for part in parts[::2]]
    parts[::2] = [_NO_LINE.sub("", _TABLE.sub(_told_once, part)) for part in parts[::2]]
    return "".join(parts)


def _told_once(table: re.Match[str]) -> str:
    """Return a table in which a column of numbers says once that it is one: `n3` on the table, none on its cells."""
    start = table["start"]
    if "span=" in table["rows"] or re.search(r" class=\"?[^>]*\bn\d", start):
        return table[0]
    rows = re.split(r"(?=<tr\b)", table["rows"])
    cells: dict[int, set[bool]] = {}
    for row in rows:
        for place, cell in enumerate(_CELL.findall(row), 1):
            if cell[0] == "td":
                cells.setdefault(place, set()).add(cell[1] == " class=n")
    numbers = [place for place, found in cells.items() if found == {True} and place <= _MOST_COLUMNS]
    if not numbers:
        return table[0]

    def bare(row: str) -> str:
        place = iter(range(1, 1000))
        return _CELL.sub(lambda cell: f"<{cell[1]}" if next(place) in numbers and cell[1] == "td" else cell[0], row)

    names = " ".join(f"n{place}" for place in numbers)
    css = re.search(r' class=(?:"([^"]*)"|([^ >]*))', start)
    rest = start if css is None else start.replace(css[0], "", 1)
    own = "" if css is None else f"{css[1] or css[2]} "
    return f'<table class="{own}{names}"{rest[len("<table") :]}{"".join(map(bare, rows))}'


def _unquoted(tag: re.Match[str]) -> str:
    return _PLAIN_VALUE.sub(_bare, tag[0])


def _bare(value: re.Match[str]) -> str:
    # A template of the same would be taken apart anew for each tag.
    return f"{value[1]}={value[2]}"


def lean_asset(name: str, data: bytes) -> bytes:
    """Return a script or style sheet without its notes and indents; for assets of ours, whose lines are known."""
    if not name.endswith((".js", ".css")):
        return data
    # What comes of it is kept for the next process: thousands of places of a style sheet are looked at.
    kept = resource_dir("templates") / f"lean-{name.rpartition('/')[2]}"
    key = compiled.key_of("lean", Path(__file__).read_bytes(), data)
    made = compiled.read(kept, key)
    if made is None:
        made = _without_notes(name, data)
        compiled.write(kept, key, made)
    return made


def _without_notes(name: str, data: bytes) -> bytes:
    bare = _INDENT.sub(b"", _NOTES.sub(b"", data))
    if name.endswith(".js"):
        return bare
    return _AROUND.sub(rb"\1\2\3", bare).replace(b";}", b"}").replace(b"}", b"}\n")
