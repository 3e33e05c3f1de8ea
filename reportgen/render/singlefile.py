"""The whole report as one page, to send by mail: the site's own pages one after the other, and nothing beside it.

The pages are made as for the site, and only moved: what stands in their `main` follows one another, every id gets the
page's name in front, links between pages become anchors, and what the site keeps in files of its own (style sheet,
scripts, the index of the search) stands in the page, once. Links to what only the site has (CSV files, pages of SQL)
become plain text. The policy allows exactly the scripts and the style that stand there, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import posixpath
import re
from collections.abc import Container, Iterator, Mapping
from html import escape
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

from reportgen.model import Report
from reportgen.render import BUILD_HASH, searchindex
from reportgen.render.pages import json_for_script
from reportgen.render.site import EMPTY_STYLE

#: How the file begins; publishing looks for it before it replaces a file.
MARKER = "<!doctype html>\n<!-- reportgen:"
#: How many pages of a kind are told in full; the tables name all.
MOST_RECOMMENDATIONS = 100
MOST_OTHERS = 30

_VOID = frozenset({"meta", "link", "br", "hr", "img", "input", "source", "wbr", "col"})
#: Elements whose end may be left out, so that none of them counts.
_UNENDED = frozenset({"td", "th", "tr", "thead", "tbody", "li", "dt", "dd", "p"})
#: Attributes that name an id, or several with blanks between.
_REFERENCES = frozenset({"for", "aria-labelledby", "aria-describedby", "aria-controls", "aria-owns", "headers"})
_POLICY = "@@reportgen-policy@@"

Attributes = list[tuple[str, str | None]]


def render_single(report: Report, site: Mapping[str, bytes]) -> bytes:
    """Return the report as one page that needs no other file and makes no request.

    `site` is what `render_site` gave for the same report.
    """
    parts, left_out = _choose(report, site)
    pages = {path: site[path].decode() for path in parts}
    # Any of them has the same frame; one with charts also names what they need.
    frame = next((path for path in parts if "<figure" in pages[path]), "index.html")
    one = _Whole(frame, pages, site, left_out)
    one.feed(pages[frame])
    one.close()
    text = "".join(one.out).lstrip()
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
        f"script-src {' '.join(one.scripts)}; style-src {' '.join([*one.styles, EMPTY_STYLE])}"
    )
    marker = f"{MARKER} the report as one page, which reportgen build replaces; build {BUILD_HASH} -->\n"
    return (marker + text.replace(_POLICY, escape(policy, quote=False), 1)).encode()


def _choose(report: Report, site: Container[str]) -> tuple[list[str], dict[str, int]]:
    """Return the pages that become parts, in order, and how many of a kind are left out, by the page that has all."""
    agents = list(dict.fromkeys(f"agents/{agent.slug}.html" for agent in report.agents))
    found = [f"recommendations/{one.id}.html" for one in report.recommendations]
    kinds: list[tuple[str, list[str], int]] = [
        ("index.html", [], 0),
        ("recommendations.html", found, MOST_RECOMMENDATIONS),
        ("pipelines.html", [f"pipelines/{one.slug}.html" for one in report.pipelines], MOST_OTHERS),
        ("agents.html", agents, MOST_OTHERS),
        ("healing.html", [], 0),
        ("budget.html", [], 0),
        ("data-quality.html", [], 0),
        ("detectors.html", [], 0),
        ("how-to-read.html", [], 0),
    ]
    parts: list[str] = []
    left_out: dict[str, int] = {}
    for name, below, most in kinds:
        parts += [path for path in (name, *below[:most]) if path in site]
        if len(below) > most:
            left_out[name] = len(below) - most
    return parts, left_out


class _Mover(HTMLParser):
    """Reads a page of the site and writes it again, with ids and links as one page needs them."""

    def __init__(self, path: str, parts: Mapping[str, str]) -> None:
        super().__init__(convert_charrefs=False)
        self.out: list[str] = []
        self.path = path
        self.parts = parts
        self._links: list[bool] = []
        #: Above zero: inside something that is left out.
        self._skipped = 0

    # --- what is written ----------------------------------------------------------------------------------------------

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        """Write a tag, or leave out what it begins."""
        if self._skipped:
            self._skipped += tag not in _VOID and tag not in _UNENDED
            return
        if self.leaves_out(tag, dict(attrs)):
            self._skipped = int(tag not in _VOID)
            return
        self.write_start(tag, attrs)

    def handle_startendtag(self, tag: str, attrs: Attributes) -> None:
        """Write a tag that closes itself: a shape of a drawing, which has no id and no link."""
        if not self._skipped:
            self.out.append(self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        """Write the end of an element."""
        if self._skipped:
            self._skipped -= tag not in _UNENDED
            return
        self.write_end(tag)

    def handle_data(self, data: str) -> None:
        """Write text as it stands: it was escaped when the page was made."""
        if not self._skipped:
            self.out.append(data)

    def handle_entityref(self, name: str) -> None:
        """Write a reference as it stands."""
        self.handle_data(f"&{name};")

    def handle_charref(self, name: str) -> None:
        """Write a reference as it stands."""
        self.handle_data(f"&#{name};")

    def write_start(self, tag: str, attrs: Attributes) -> None:
        """Write a start tag with its ids and links moved."""
        given = dict(attrs)
        if tag == "a":
            leads = self.leads_to(given.get("href") or "")
            self._links.append(leads is not None)
            if leads is None:
                self.out.append("<span>")
                return
        moved = [(name, self.moved(name, value)) for name, value in attrs]
        self.out.append((self.get_starttag_text() or "") if moved == attrs else written(tag, moved))

    def write_end(self, tag: str) -> None:
        """Write an end tag."""
        self.out.append("</span>" if tag == "a" and not self._links.pop() else f"</{tag}>")

    def leaves_out(self, tag: str, given: Mapping[str, str | None]) -> bool:
        """Say whether an element is of no use in one page: breadcrumbs, neighbours, links to the site's data."""
        return tag == "nav" or "behind" in (given.get("class") or "").split() or given.get("aria-labelledby") == "data"

    # --- where things are ---------------------------------------------------------------------------------------------

    def moved(self, name: str, value: str | None) -> str | None:
        """Return an attribute's value as one page needs it."""
        if value is None:
            return None
        if name == "id":
            return f"{_stem(self.path)}--{value}"
        if name in _REFERENCES:
            return " ".join(f"{_stem(self.path)}--{one}" for one in value.split())
        if name in ("href", "data-page"):
            return self.leads_to(value) or value
        return value

    def leads_to(self, link: str) -> str | None:
        """Return where a link leads in this page, the link itself where it leads outside, None where only the site
        has what it leads to.
        """
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            return link
        goal = posixpath.normpath(posixpath.join(posixpath.dirname(self.path), parts.path)) if parts.path else self.path
        return anchor_of(goal, unquote(parts.fragment), self.parts)


def anchor_of(goal: str, fragment: str, parts: Mapping[str, str]) -> str | None:
    """Return the anchor of a page of the site, or of a place on it; None where it is no part of this page."""
    if goal in parts:
        inside = fragment and re.search(rf'\bid="?{re.escape(escape(fragment))}[" >]', parts[goal])
        return f"#{_stem(goal)}--{fragment}" if inside else f"#{_stem(goal)}"
    folder = posixpath.dirname(goal)
    if folder == "detectors" and "how-to-read.html" in parts:
        # A detector's own page is its SQL; what it looks for is explained on the page about reading.
        return anchor_of("how-to-read.html", f"detector-{_stem(posixpath.basename(goal))}", parts)
    # The pages of a pipeline's runs are in the site only: what is known of them here is the pipeline.
    return anchor_of(f"{folder}.html", "", parts) if folder not in ("", "sql", "data") else None


class _Part(_Mover):
    """Writes only what stands in the `main` of a page."""

    def __init__(self, path: str, parts: Mapping[str, str]) -> None:
        super().__init__(path, parts)
        self._inside = False

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        """Begin with what follows `main`."""
        if self._inside:
            super().handle_starttag(tag, attrs)
        elif tag == "main":
            self._inside = True

    def write_start(self, tag: str, attrs: Attributes) -> None:
        """Take the names from sections: each page may have its "What to do", one page no two landmarks alike."""
        if tag != "section":
            super().write_start(tag, attrs)
            return
        kept = [(name, self.moved(name, value)) for name, value in attrs if not name.startswith("aria-label")]
        self.out.append(written(tag, kept))

    def handle_startendtag(self, tag: str, attrs: Attributes) -> None:
        """Write what is inside."""
        if self._inside:
            super().handle_startendtag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        """End with `main`."""
        if tag == "main":
            self._inside = False
        elif self._inside:
            super().handle_endtag(tag)

    def handle_data(self, data: str) -> None:
        """Write what is inside."""
        if self._inside:
            super().handle_data(data)


class _Whole(_Mover):
    """Writes the frame of a page, with all parts in the place of its own `main`, and with the site's files in it."""

    def __init__(
        self,
        path: str,
        pages: Mapping[str, str],
        site: Mapping[str, bytes],
        left_out: Mapping[str, int],
    ) -> None:
        super().__init__(path, pages)
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self._site = site
        self._left_out = left_out
        self._deferred: list[str] = []
        #: In the title before its first separator, which ends the name of a page.
        self._before_name = False
        #: A script was put in the place of an element that is still to end.
        self._replaced = False
        #: Where in the output the list item began that leads nowhere so far.
        self._item: int | None = None

    def leaves_out(self, tag: str, given: Mapping[str, str | None]) -> bool:
        """Keep the frame's own navigation."""
        return False

    def moved(self, name: str, value: str | None) -> str | None:
        """Keep the frame's ids: there is one frame, and Plotly knows some of them."""
        return value if name == "id" else super().moved(name, value)

    def write_start(self, tag: str, attrs: Attributes) -> None:
        """Put the site's files in the place of the links to them."""
        given = dict(attrs)
        if tag == "meta" and given.get("http-equiv") == "Content-Security-Policy":
            self.out.append(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">')
        elif tag == "link" and given.get("rel") == "stylesheet":
            style = self._text(given["href"]).replace("</", "<\\/")
            self.styles.append(_hash(style))
            self.out.append(f"<style>{style}</style>")
        elif tag == "link":
            self.out.append('<link rel="icon" href="data:,">')
        elif tag == "script" and given.get("src"):
            self._script(given["src"] or "", deferred="defer" in given)
        elif tag == "main":
            # The skip link leads here.
            self.out.append('<main id="main" tabindex="-1">\n')
            self.out += self._parts()
            self._skipped = 1
        elif tag == "a" and given.get("href") == "#main":
            self.out.append(self.get_starttag_text() or "")
            self._links.append(True)
        else:
            self._before_name = tag == "title"
            if tag == "li":
                self._take_back()
                self._item = len(self.out)
            super().write_start(tag, [(name, value) for name, value in attrs if name != "aria-current"])
            if tag == "a" and self._links[-1]:
                self._item = None

    def write_end(self, tag: str) -> None:
        """End an element; an item of the navigation that leads nowhere here is taken back."""
        if tag == "ul":
            self._take_back()
        super().write_end(tag)

    def _take_back(self) -> None:
        if self._item is not None:
            del self.out[self._item :]
        self._item = None

    def handle_data(self, data: str) -> None:
        """Leave the page's own name out of the title."""
        if self._before_name and not self._skipped:
            _, separator, data = data.partition(" · ")
            self._before_name = not separator
        super().handle_data(data)

    def handle_endtag(self, tag: str) -> None:
        """End `main` where its own content ends, and put the scripts at the end of the body."""
        if tag == "script" and self._replaced:
            self._replaced = False
            return
        if tag == "main":
            self._skipped = 0
        elif tag == "body":
            self.out += self._deferred
        super().handle_endtag(tag)

    def _parts(self) -> Iterator[str]:
        for path, html in self.parts.items():
            part = _Part(path, self.parts)
            part.feed(html)
            part.close()
            yield f'<div class="part" id="{escape(_stem(path))}">'
            yield from part.out
            if count := self._left_out.get(path):
                yield f'<p class="hint more">{count:,} more of these have a page in the site only.</p>\n'
            yield "</div>\n"

    def _script(self, source: str, *, deferred: bool) -> None:
        self._replaced = True
        text = self._text(source)
        if source.endswith("/use.js"):
            index = _moved_index(self._site[searchindex.PATH].decode(), self.parts)
            self._inline(index, deferred=deferred)
        self._inline(text, deferred=deferred)

    def _inline(self, text: str, *, deferred: bool) -> None:
        # What could end the element, or begin a comment in it, stands in texts of the script only.
        text = text.replace("</script", "<\\/script").replace("<!--", "<\\!--")
        self.scripts.append(_hash(text))
        (self._deferred if deferred else self.out).append(f"<script>{text}</script>")

    def _text(self, link: str | None) -> str:
        """Return an asset's text as a browser reads it."""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(self.path), link or ""))
        return self._site[path].decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


def _moved_index(script: str, parts: Mapping[str, str]) -> str:
    """Return the index of the search with places of this page; what only the site has is not in it."""
    groups = json.loads(script.partition("=")[2].rstrip().rstrip(";"))
    out = []
    for group in groups:
        rows = []
        for row in group["rows"]:
            title, path, *also = (row, row) if isinstance(row, str) else row
            goal, _, fragment = f"{group['at']}{path}{group['end']}".partition("#")
            place = anchor_of(goal, fragment, parts)
            if place is not None:
                rows.append([title, place[1:], *also])
        if rows:
            out.append({**group, "at": "#", "end": "", "rows": rows})
    return f"var reportgenIndex={json_for_script(out)};"


def written(tag: str, attrs: Attributes) -> str:
    """Return a start tag."""
    parts = [name if value is None else f'{name}="{escape(value)}"' for name, value in attrs]
    return f"<{' '.join([tag, *parts])}>"


def _stem(path: str) -> str:
    return path.removesuffix(".html")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
