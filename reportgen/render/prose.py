"""Markdown and plain text: authors' Markdown to safe HTML, and hostile values to text that stays text.

A value from an input goes through `escape_markdown` before it stands in Markdown; rendering then gives back exactly
`plain(value)`, in a paragraph, a heading or a table cell, on GitHub as by CommonMark. (GitHub still links a bare e-mail
address, which no escape prevents; addresses are redacted unless a build was told not to.)
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:")
_BLANKS = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029]+")
#: Never seen by a reader, but able to hide or reorder what is: shown by their code point. The two joiners stay,
#: because Persian and emoji need them.
_JOINERS = "\u200c\u200d"
_HIDDEN = re.compile(r"[^\t\n\x20-\x7e]")
_BLANK_LETTERS = "\u034f\u115f\u1160\u2800\u3164\uffa0"
#: Characters that can start or end inline markup anywhere. `_` inside a word, `$` before a digit, and `&` that
#: begins no entity can't, and stay readable in a terminal.
_INLINE = re.compile(
    r"[\\`*\[\]<|~#]"
    r"|(?<![^\W_])_|_(?![^\W_])"
    r"|\$(?!\d)"
    r"|&(?=#?\w+;)"
    # GitHub makes links of bare addresses.
    r"|:(?=//)|(?<=www)\."
    # `{{` and `{%` are commands to what some hosts run over a file before they read its Markdown.
    r"|(?<=\{)[{%]",
    re.IGNORECASE,
)
#: What code hosts make a call to a person or a mark on an issue, whatever escape stands before it: `@name`, `#12`. They
#: leave it alone in code only. First what is code or the goal of a link already.
_CALLS = re.compile(
    r"(?P<kept>(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)|\]\([^)]*\)|\\[^#])"
    r"|(?<![\w@])@[A-Za-z0-9][\w/-]*|\\?#\d+|(?<![\w!])!\d+|(?<!\w)GH-\d+"
)
#: What would start a list, a quote, an underline of a heading or a table's rule at the start of a line.
_AT_START = re.compile(r"[=>]|[-+:](?=[-+:\s]|$)")
_ORDINAL = re.compile(r"\d{1,9}(?=[.)](?:\s|$))")
_PROSE = frozenset(
    {"text", "text_special", "code_inline", "link_open", "link_close"}
    | {f"{mark}_{end}" for mark in ("em", "strong", "s") for end in ("open", "close")}
)


def plain(text: object) -> str:
    """Return one line without control characters: white space squeezed, what is invisible shown as `<U+202E>`."""
    return " ".join(visible(str(text)).split())


def visible(text: str) -> str:
    """Return the text with control characters gone and invisible ones shown by code point; line ends and tabs stay."""
    if text.isascii() and (text.isprintable() or _HIDDEN.search(text) is None):
        return text
    return "".join(_visible_character(character) for character in text)


@lru_cache(maxsize=4096)
def _visible_character(character: str) -> str:
    category = unicodedata.category(character)
    if character in "\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029":
        return " "
    if category == "Cc":
        # NUL, escape, bell and the like say nothing to a reader.
        return character if character in "\n\t" else ""
    # Arabic number signs are format characters that do have a glyph.
    hidden = category == "Cf" and unicodedata.bidirectional(character) != "AN" and character not in _JOINERS
    if hidden or character in _BLANK_LETTERS:
        return f"<U+{ord(character):04X}>"
    return "\ufffd" if category == "Cs" or ord(character) & 0xFFFE == 0xFFFE else character


def escape_markdown(text: object) -> str:
    """Return Markdown, on one line, that reads back as exactly `plain(text)`: no character of it acts as markup."""
    line = plain(text)
    head = ""
    if number := _ORDINAL.match(line):
        head, line = f"{number.group()}\\", line[number.end() :]
    elif line and _AT_START.match(line):
        head = "\\"
    # An exclamation mark at the end would make an image of a link that follows.
    tail = "\\!" if line.endswith("!") else ""
    body = _INLINE.sub(r"\\\g<0>", line[: len(line) - 1] if tail else line)
    return head + body + tail


def calls_nobody(markdown: str) -> str:
    """Return the line of Markdown with what would call a person or mark an issue of a code host as code."""

    def quiet(found: re.Match[str]) -> str:
        return found.group() if found["kept"] else f"`{found.group().removeprefix(chr(92))}`"

    return _CALLS.sub(quiet, markdown)


def one_line(markdown: str) -> bool:
    """Say whether this Markdown is a single paragraph of plain prose: words, emphasis, code, links that are allowed."""
    # A reader of Markdown takes raw HTML for what it is, while `to_html` shows it as text: so ask with HTML allowed.
    tokens = _with_html().parse(markdown)
    if "\n" in markdown or [token.type for token in tokens] != ["paragraph_open", "inline", "paragraph_close"]:
        return False
    return all(token.type in _PROSE for token in tokens[1].children or [])


@lru_cache(maxsize=1024)
def to_html(markdown: str) -> str:
    """Return safe HTML for an author's Markdown (a finding, a detector's doc).

    Raw HTML is shown as text, links go to http(s) or inside the site only, images are not made, headings start at h3,
    and alignment is a class (`align-right`), so that a page needs no inline style.
    """
    return str(_markdown().render(visible(markdown)))


@lru_cache(maxsize=1)
def _with_html() -> MarkdownIt:
    made = MarkdownIt("js-default", {"html": True})
    made.validateLink = _link_allowed  # type: ignore[method-assign]
    return made


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    made = MarkdownIt("js-default").disable("image")
    made.validateLink = _link_allowed  # type: ignore[method-assign]
    made.core.ruler.push("reportgen", lambda state: _adapt(state.tokens))
    return made


def _link_allowed(url: str) -> bool:
    """Allow http, https, a relative path, a query, a fragment; no other scheme, no other host, no host's root."""
    bare = _BLANKS.sub("", url).lower().replace("\\", "/")
    if scheme := _SCHEME.match(bare):
        return scheme.group() in {"http:", "https:"}
    return not bare.startswith("/")


def _adapt(tokens: list[Token]) -> None:
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(int(token.tag[1]) + 2, 6)}"
        if style := token.attrs.pop("style", None):
            token.attrSet("class", f"align-{str(style).removeprefix('text-align:').strip()}")
        for inner in token.children or ():
            if inner.type == "link_open" and str(inner.attrs.get("href", "")).lower().startswith("http"):
                inner.attrSet("rel", "noopener noreferrer nofollow")
