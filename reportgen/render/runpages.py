"""Which page each run stands on: one a pipeline and month, so that a link to a run holds from build to build."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator

from reportgen.model import Report, Run
from reportgen.quickclass import dataclass
from reportgen.render.format import duration, exact, show, to_decimal
from reportgen.render.prose import plain

#: What the rows of one page may take, in bytes: with the rest of the page it stays well under a megabyte.
MOST_BYTES = 800_000
#: The markup and the numbers of a row, without its run's name.
_ROW_BYTES = 185
COSTLIEST = 10
UNDATED = "undated"
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RunPage:
    """One page of runs, in the order of their start; `left_out` more of its month are in the CSV only."""

    #: `runs-2026-10`, or `runs-undated`.
    name: str
    #: `October 2026`
    title: str
    runs: list[Run]
    left_out: int


#: Anchor, name, ids of its recommendations, start (empty: unknown), duration, events, agents, cost (empty: unknown),
#: and the exact cost (empty: as shown).
Row = tuple[str, str, list[str], str, str, str, int, str, str]


def run_rows(runs: Iterable[Run], measure: str) -> Iterator[Row]:
    """Yield what the row of each run says: of tens of thousands, nothing is left for a template to work out."""
    unit = "cost" if measure == "usd" else None
    for run in runs:
        shown = cost = show(run.cost, unit, measure)
        whole = exact(run.cost, unit, measure)
        if run.cost is None:
            cost = ""
        elif run.incomplete:
            cost = f"≥ {shown}"
        started = run.started[5:16].replace("T", " ") if run.started else ""
        lasted = duration(run.started, run.ended)
        yield (
            run.anchor, plain(run.run), run.recommendations, started, lasted, show(run.events, None), run.agents, cost,
            whole if whole != shown else "",
        )  # fmt: skip


def page_name(run: Run) -> str:
    """Return the name of the page that the run belongs on, by the UTC month of its start."""
    return f"runs-{run.started[:7] if run.started else UNDATED}"


def run_pages(runs: Iterable[Run]) -> list[RunPage]:
    """Return the pages of one pipeline's runs, the latest month first, the undated last."""
    pages: dict[str, list[Run]] = {}
    for run in runs:
        pages.setdefault(page_name(run), []).append(run)
    names = sorted((name for name in pages if not name.endswith(UNDATED)), reverse=True)
    names += [name for name in pages if name.endswith(UNDATED)]
    made = []
    for name in names:
        kept = _that_fit(pages[name])
        made.append(RunPage(name, _title(name), kept, len(pages[name]) - len(kept)))
    return made


def costliest(runs: Iterable[Run], most: int = COSTLIEST) -> list[Run]:
    """Return the runs that cost most, those with a recommendation before others of the same cost."""
    return sorted(runs, key=_by_cost)[:most]


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs as the site shows them: by a pipeline's slug its pages and its costliest runs."""

    pages: dict[str, list[RunPage]]
    costliest: dict[str, list[Run]]
    #: Where a run's row is, from the top of the site, by pipeline and shown name; a shared name leads to the first.
    links: dict[tuple[str, str], str]


def runs_of(report: Report) -> Runs:
    """Return the pages of all runs."""
    by_pipeline: dict[str, list[Run]] = {}
    for run in report.runs:
        by_pipeline.setdefault(run.pipeline, []).append(run)
    pages = {p.slug: run_pages(by_pipeline.get(p.pipeline, [])) for p in report.pipelines}
    links: dict[tuple[str, str], str] = {}
    for slug, some in pages.items():
        for page in some:
            for run in page.runs:
                links.setdefault((run.pipeline, run.run), f"pipelines/{slug}/{page.name}.html#{run.anchor}")
    costs = {p.slug: costliest(by_pipeline.get(p.pipeline, [])) for p in report.pipelines}
    return Runs(pages, costs, links)


def _by_cost(run: Run) -> tuple[bool, object, bool, str, str]:
    cost = to_decimal(run.cost)
    return (cost is None, -(cost or 0), not run.recommendations, run.started or "~", run.anchor)


def _that_fit(runs: list[Run]) -> list[Run]:
    """Return all runs, or those with a recommendation and the costliest others that a page has room for."""
    sizes = {run.anchor: _ROW_BYTES + len(run.anchor) + len(html.escape(plain(run.run)).encode()) for run in runs}
    room = MOST_BYTES
    if sum(sizes[run.anchor] for run in runs) <= room:
        return runs
    kept = set()
    for run in sorted(runs, key=lambda one: (not one.recommendations, *_by_cost(one))):
        room -= sizes[run.anchor]
        if room < 0:
            break
        kept.add(run.anchor)
    return [run for run in runs if run.anchor in kept]


def _title(name: str) -> str:
    if name.endswith(UNDATED):
        return "Without a time"
    return f"{_MONTHS[int(name[-2:]) - 1]} {name[5:9]}"
