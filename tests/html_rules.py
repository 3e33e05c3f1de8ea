"""What HTML's standard asks of a page beyond being readable: parsed strictly, then held against its content rules.

The parser is a whole one of the standard, and none of its errors is let pass; the rules are those that a page of ours
could break: what may stand in what, which attributes there are, that every id stands once and is where it is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import html5lib

#: What may stand where words stand.
PHRASING = frozenset(
    [
        "a",
        "abbr",
        "b",
        "bdi",
        "bdo",
        "br",
        "button",
        "cite",
        "code",
        "data",
        "datalist",
        "del",
        "dfn",
        "em",
        "i",
        "img",
        "input",
        "ins",
        "kbd",
        "label",
        "map",
        "mark",
        "meter",
        "noscript",
        "output",
        "progress",
        "q",
        "ruby",
        "s",
        "samp",
        "script",
        "select",
        "small",
        "span",
        "strong",
        "sub",
        "sup",
        "svg",
        "template",
        "textarea",
        "time",
        "u",
        "var",
        "wbr",
    ]
)
FLOW = PHRASING | frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "details",
        "dialog",
        "div",
        "dl",
        "fieldset",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "search",
        "section",
        "table",
        "ul",
    ]
)
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
#: What may stand in an element; those not named may hold flow.
CONTENT: dict[str, frozenset[str]] = {
    **dict.fromkeys(("p", "pre", "span", "bdi", "code", "em", "strong", "small", "time", "s", *HEADINGS), PHRASING),
    "button": PHRASING,
    "label": PHRASING,
    "summary": PHRASING | HEADINGS,
    "dt": FLOW - HEADINGS - {"header", "footer", "section", "article", "nav", "aside"},
    "html": frozenset({"head", "body"}),
    "head": frozenset({"meta", "title", "link", "script", "style", "template", "base"}),
    "ul": frozenset({"li"}),
    "ol": frozenset({"li"}),
    "dl": frozenset({"dt", "dd", "div"}),
    "table": frozenset({"caption", "colgroup", "thead", "tbody", "tfoot"}),
    "thead": frozenset({"tr"}),
    "tbody": frozenset({"tr"}),
    "tfoot": frozenset({"tr"}),
    "tr": frozenset({"th", "td"}),
    "th": FLOW - HEADINGS - {"header", "footer", "section", "article", "nav", "aside"},
    "figure": FLOW | {"figcaption"},
    "details": FLOW | {"summary"},
    **dict.fromkeys(("title", "style", "script"), frozenset()),
}
INTERACTIVE = frozenset({"a", "button", "details", "input", "label", "select", "textarea"})
#: Elements that may hold nothing that is used by pointing at it.
POINTED_AT = frozenset({"a", "button"})
GLOBAL = frozenset({"class", "id", "title", "lang", "dir", "hidden", "tabindex", "role"})
OWN: dict[str, frozenset[str]] = {
    "a": frozenset({"href", "rel"}),
    "html": frozenset(),
    "link": frozenset({"rel", "href", "type"}),
    "meta": frozenset({"charset", "name", "content", "http-equiv"}),
    "script": frozenset({"src", "defer", "type"}),
    "ol": frozenset({"start"}),
    "td": frozenset({"colspan", "rowspan", "headers"}),
    "th": frozenset({"scope", "colspan", "rowspan"}),
    "time": frozenset({"datetime"}),
    "details": frozenset({"open", "name"}),
    "input": frozenset({"type", "id", "placeholder", "autocomplete"}),
    "label": frozenset({"for"}),
    "col": frozenset({"span"}),
    "colgroup": frozenset({"span"}),
}
REFERENCES = ("aria-labelledby", "aria-describedby", "aria-controls", "for", "headers")


def faults(html: bytes) -> list[str]:
    """Return what a validator would say of a page; empty for a valid one."""
    # The parser is older than this element, which may stand in the head as well.
    text = re.sub(r"<template id=\"[0-9a-f]{64}\"></template>", "", html.decode("utf-8"))
    parser = html5lib.HTMLParser(namespaceHTMLElements=False)
    root = parser.parse(text)
    found = [f"{code} at line {place[0]}: {about or ''}" for place, code, about in parser.errors]
    ids: list[str] = []
    asked: list[str] = []
    for node, path in [(root, ()), *_elements(root, (root,))]:
        found += _placed(node, path)
        found += _named(node)
        ids += [value for name, value in node.attrib.items() if name == "id"]
        asked += [one for name in REFERENCES for one in node.attrib.get(name, "").split()]
    found += [f"the id {one} stands {ids.count(one)} times" for one in sorted({i for i in ids if ids.count(i) > 1})]
    found += [f"no id {one}" for one in sorted(set(asked) - set(ids))]
    found += [f"an id with a blank or none: {one!r}" for one in ids if not one or any(c.isspace() for c in one)]
    return found


def _elements(node: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    for child in node:
        # A comment's tag is no text; a drawing has rules of its own.
        if isinstance(child.tag, str):
            yield child, path
            if not child.tag.startswith("{"):
                yield from _elements(child, (*path, child))


def _placed(node: Any, path: tuple[Any, ...]) -> Iterator[str]:
    if not path:
        return
    inside = path[-1]
    name = node.tag.rpartition("}")[2]
    # An element that is as transparent as `a` holds what its own place may hold.
    at = next(one for one in reversed(path) if one.tag not in ("a", "ins", "del", "noscript"))
    # A group of a description list is a `div` that holds what the list holds.
    grouped = at.tag == "div" and len(path) > 1 and path[-2].tag == "dl"
    allowed = CONTENT["dl"] if grouped else CONTENT.get(at.tag, FLOW)
    if name not in allowed:
        yield f"<{name}> in <{inside.tag}>"
    if name in INTERACTIVE or "tabindex" in node.attrib:
        around = [one.tag for one in path if one.tag in POINTED_AT]
        if around:
            yield f"<{name}> in <{around[-1]}>"
    if name == "main" and any(one.tag in ("article", "aside", "footer", "header", "nav") for one in path):
        yield "<main> inside another landmark"
    if inside.tag == "details" and inside[0].tag != "summary":
        yield "<details> without a summary at its start"
    if name == "figcaption" and inside[0] is not node and inside[-1] is not node:
        yield "<figcaption> in the middle of a figure"


def _named(node: Any) -> Iterator[str]:
    if node.tag.startswith("{"):
        return
    own = OWN.get(node.tag, frozenset())
    for name in node.attrib:
        if name not in GLOBAL and name not in own and not name.startswith(("data-", "aria-")):
            yield f"<{node.tag} {name}>"
