"""Reads a page as a strict reader: every element closed, every id once; and keeps what tests ask about."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit

_CELLS = ("td", "th")
#: What a start and an end tag end by themselves, as HTML allows.
_ITEMS = {"li": ("li",), "dt": ("dt", "dd"), "dd": ("dt", "dd")}
_ENDING = {"ul": ("li",), "ol": ("li",), "dl": ("dd",), "div": ("dd",)}
#: What ends a paragraph, where it starts and where it ends.
_BLOCKS = {"div", "section", "p", "ul", "ol", "dl", "pre", "table", "figure", "details", "article", "main", "footer", "nav",
           *(f"h{level}" for level in range(1, 7))}  # fmt: skip
_VOID = {"meta", "link", "br", "hr", "img", "input", "source", "wbr"}


@dataclass
class Element:
    """One element with its attributes and all the text inside it."""

    tag: str
    attributes: dict[str, str]
    # Not told where a test fails: every element would tell of all around it, and all their text.
    inside: list[Element] = field(repr=False)
    text: str = field(default="", repr=False)

    def has_class(self, name: str) -> bool:
        return name in self.attributes.get("class", "").split()


@dataclass
class Page:
    """A parsed page: its elements in order of appearance, and what is wrong with its markup."""

    elements: list[Element] = field(default_factory=list, repr=False)
    faults: list[str] = field(default_factory=list)

    def all(self, tag: str, css: str | None = None, **attributes: str) -> list[Element]:
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        return [
            one
            for one in self.elements
            if one.tag == tag
            and (css is None or one.has_class(css))
            and all(one.attributes.get(name) == value for name, value in wanted.items())
        ]

    def text(self) -> str:
        return self.all("body")[0].text

    @property
    def ids(self) -> list[str]:
        return [one.attributes["id"] for one in self.elements if "id" in one.attributes]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self.open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        if len(set(names)) < len(names):
            self.page.faults.append(f"an attribute twice: {tag} {names}")
        rows = (*_CELLS, "tr")
        ends = {"td": _CELLS, "th": _CELLS, "tr": rows, "tbody": (*rows, "thead", "tbody"), **_ITEMS}
        if tag in _BLOCKS:
            self.end_implied(("p",))
        self.end_implied(ends.get(tag, ()))
        element = Element(tag, {name: value or "" for name, value in attrs}, list(self.open))
        self.page.elements.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.open.pop()

    def end_implied(self, tags: tuple[str, ...]) -> None:
        """Cells and rows end where the next begins, as HTML allows."""
        while self.open and self.open[-1].tag in tags:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS - {"p"}:
            self.end_implied(("p",))
        self.end_implied(
            {
                "tr": _CELLS,
                "thead": (*_CELLS, "tr"),
                "tbody": (*_CELLS, "tr"),
                "table": (*_CELLS, "tr", "thead", "tbody"),
                **_ENDING,
            }.get(tag, ())
        )
        if not self.open or self.open[-1].tag != tag:
            around = self.open[-1].tag if self.open else "nothing"
            self.page.faults.append(f"</{tag}> inside {around} at {self.getpos()}")
            return
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data

    def handle_comment(self, data: str) -> None:
        self.page.faults.append(f"a comment: {data[:40]}")

    def unknown_decl(self, data: str) -> None:
        self.page.faults.append(f"a declaration: {data[:40]}")


def read_page(html: bytes | str) -> Page:
    """Parse a page; `faults` says what a browser would have had to mend."""
    text = html if isinstance(html, str) else html.decode("utf-8")
    reader = _Reader()
    reader.feed(text)
    reader.close()
    page = reader.page
    page.faults += [f"<{element.tag}> is never closed" for element in reader.open]
    page.faults += [f"id twice: {name}" for name in {one for one in page.ids if page.ids.count(one) > 1}]
    if "\x00" in text:
        page.faults.append("a NUL character")
    return page


def goal_of(path: str, link: str) -> str:
    """Return the path, from the top of the site, that a relative link on the page at `path` leads to."""
    place = unquote(urlsplit(link).path)
    return normpath(join(dirname(path), place)) if place else path
