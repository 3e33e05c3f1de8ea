"""The index of the search box: what can be found, and where it stands, as a script that holds data only.

A page opened from a file can't fetch, but it can load a script: `assets/search-index.js` sets one variable to one JSON
value, and is loaded when the box is first used. Titles are data there, never HTML.

Its size is bounded, whatever the project holds: each kind has a most number of entries (the best come first, as the
report orders them; of runs those with a recommendation, then the costliest), each text a most length, and what is left
out is counted, so that the box can say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html.parser import HTMLParser

from reportgen.model import Report
from reportgen.quickclass import dataclass
from reportgen.render.pages import json_for_script
from reportgen.render.prose import plain
from reportgen.render.runpages import costliest

PATH = "assets/search-index.js"
#: How many entries a kind may have, and how long a text of an entry may be.
MOST_ENTRIES = 500
MOST_TEXT = 96

#: Kinds by the folder of a page, in the order in which results are shown.
KINDS: dict[str, str] = {
    "": "Pages",
    "recommendations": "Recommendations",
    "pipelines": "Pipelines",
    "agents": "Agents",
    "runs": "Runs",
    "detectors": "Detectors",
    "sql": "SQL",
    "charts": "Charts",
    "words": "How to read this",
}
#: What else a page is looked for by.
_ALSO = {
    "index.html": "home start summary total cost trend",
    "recommendations.html": "findings ranked score saving",
    "agents.html": "mean score error rate cost a run",
    "pipelines.html": "runs cost measure",
    "healing.html": "incidents attempts retry escalated blocked recovered",
    "budget.html": "limits spent windows over",
    "data-quality.html": "rejected lines warnings coverage account inputs files versions",
    "detectors.html": "outcomes found clear skipped error off parameters thresholds",
    "how-to-read.html": "help glossary legend estimate unknown score words",
    "sql.html": "queries marts charts scoring sources",
}
_HEADINGS = frozenset({"h2", "h3", "dt"})
#: How the anchors of runs begin.
_RUN = "run-"


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that can be found: its title, where it is (from the top of the site), and words beyond the title."""

    kind: str
    title: str
    path: str
    also: str = ""


def search_index(
    report: Report,
    pages: Iterable[tuple[str, str]],
    *,
    help_html: str = "",
    sql: Iterable[tuple[str, str]] = (),
    runs: Mapping[tuple[str, str], str] | None = None,
) -> bytes:
    """Return the script: `var reportgenIndex={…};`, ASCII, the same bytes for the same report.

    `pages` are the path and title of each page of the site; `help_html` is the page how-to-read.html, whose headings
    and words that have an id are found too; `sql` are the path with anchor and the title of each SQL file; `runs` are
    the places of the runs' rows, by pipeline and shown name.
    """
    entries = [
        *_pages(report, pages),
        *_runs(report, runs or {}),
        *(Entry("sql", title, path) for path, title in sql),
        *_charts(report),
        *(Entry("words", text, f"how-to-read.html#{anchor}") for anchor, text in _headings(help_html)),
    ]
    return script_of(entries)


def script_of(entries: Sequence[Entry]) -> bytes:
    """Return the script of these entries, grouped by kind; within a kind they keep their order."""
    groups: list[dict[str, object]] = []
    for kind in dict.fromkeys([*KINDS, *(entry.kind for entry in entries)]):
        mine = [entry for entry in entries if entry.kind == kind]
        groups += _groups(KINDS.get(kind, kind), mine)
    return f"var reportgenIndex={json_for_script(groups)};\n".encode("ascii")


def _groups(title: str, entries: Sequence[Entry]) -> Iterator[dict[str, object]]:
    """Yield a kind as the script has it; runs in a piece for each page that they stand on."""
    pieces: dict[str, list[Entry]] = {}
    for entry in entries[:MOST_ENTRIES]:
        pieces.setdefault(entry.path.partition("#")[0] if entry.kind == "runs" else "", []).append(entry)
    left = max(len(entries) - MOST_ENTRIES, 0)
    for piece in pieces.values():
        yield {"kind": title, **_piece(piece), "left": left}
        left = 0


def _piece(entries: Sequence[Entry]) -> dict[str, object]:
    """Return entries with what all their paths have in front and at their end, and words that all share, said once."""
    paths = [entry.path for entry in entries]
    at = paths[0][: paths[0].rfind("/") + 1]
    page = f"{paths[0].partition('#')[0]}#{_RUN}"
    at = next((front for front in (page, at) if all(path.startswith(front) for path in paths)), "")
    end = ".html" if all(path.endswith(".html") for path in paths) else ""
    shared = entries[0].also if len({entry.also for entry in entries}) == 1 else ""
    rows: list[object] = []
    for entry in entries:
        row = [_cut(entry.title), entry.path[len(at) : len(entry.path) - len(end)]]
        also = "" if shared else _cut(entry.also)
        rows.append([*row, also] if also else row[0] if row[0] == row[1] else row)
    piece: dict[str, object] = {"at": at, "end": end, "rows": rows}
    return {**piece, "also": _cut(shared)} if shared else piece


def _cut(text: str) -> str:
    line = plain(text)
    return line if len(line) <= MOST_TEXT else f"{line[: MOST_TEXT - 1].rstrip()}…"


def _pages(report: Report, pages: Iterable[tuple[str, str]]) -> Iterator[Entry]:
    also = _also(report)
    for path, title in pages:
        folder = path.rpartition("/")[0]
        # Pages of SQL and of runs are found by what stands on them.
        if folder in KINDS and folder != "sql":
            yield Entry(folder, title, path, also.get(path, ""))


def _runs(report: Report, places: Mapping[tuple[str, str], str]) -> Iterator[Entry]:
    known = [run for run in costliest(report.runs, len(report.runs)) if (run.pipeline, run.run) in places]
    for run in sorted(known, key=lambda one: not one.recommendations):
        yield Entry("runs", run.run, places[run.pipeline, run.run], f"{run.pipeline} {(run.started or '')[:7]}".strip())


def _also(report: Report) -> Mapping[str, str]:
    words = dict(_ALSO)
    for found in report.recommendations:
        names = [name for name in (found.issue, found.subject, found.pipeline) if name not in found.title]
        words[f"recommendations/{found.id}.html"] = " ".join(names)
    for detector in report.detectors:
        words[f"detectors/{detector.detector}.html"] = f"{detector.detector} {detector.issue} SQL"
    for agent in report.agents:
        path = f"agents/{agent.slug}.html"
        if len(words.get(path, "")) < MOST_TEXT:
            words[path] = f"{words.get(path, '')} {agent.pipeline}"
    return words


def _charts(report: Report) -> Iterator[Entry]:
    """Yield the charts of pages that there is one of; an agent's or a pipeline's are found by its page."""
    at = {"overview": "index.html", "healing": "healing.html", "budget": "budget.html"}
    for chart in report.charts:
        if not chart.key and chart.page in at:
            yield Entry("charts", chart.title, f"{at[chart.page]}#chart-{chart.id}")


class _Headings(HTMLParser):
    """Collects the headings and defined words that have an id, with their text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, str]] = []
        self._in = ""
        self._id = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a heading."""
        anchor = dict(attrs).get("id")
        if tag in ("dt", "dd") and self._in == "dt":
            # A word ends where its meaning begins; its own end may be left out.
            self._in = ""
        if tag in _HEADINGS and anchor and not self._in:
            self._in, self._id = tag, anchor
            self.found.append((anchor, ""))

    def handle_endtag(self, tag: str) -> None:
        """End it."""
        if tag == self._in:
            self._in = ""

    def handle_data(self, data: str) -> None:
        """Take its text."""
        if self._in:
            anchor, text = self.found[-1]
            self.found[-1] = (anchor, text + data)


def _headings(html: str) -> list[tuple[str, str]]:
    reader = _Headings()
    reader.feed(html)
    reader.close()
    return [(anchor, text) for anchor, text in reader.found if text.strip()]
