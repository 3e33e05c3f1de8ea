"""Which colour and which sign a series gets. What the colours are, in light and dark, stands in `assets/charts.js`.

A series is told from the others by its colour, from the seventh on by a hatch, a dash or an open mark as well. Names
that mean the same in every project (outcomes, decisions) have fixed colours, which their chart file gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from reportgen.model import Cell, Chart
from reportgen.quickclass import dataclass

#: Hues; the next six series take them again with a second sign.
HUES = 6
#: Series drawn by name; with more, the largest 11 and the others as one.
MAX_SERIES = 12
#: What a chart file may call a colour, and the name that it has in `charts.js`.
NAMED: dict[str, str] = {
    "good": "series2",
    "warn": "series4",
    "bad": "series1",
    "grey": "others",
    "base": "base",
    "accent": "accent",
    **{str(number + 1): f"series{number}" for number in range(HUES)},
}
#: What SQL calls the sum of all that it does not name.
OTHERS = "(others)"


@dataclass(frozen=True, slots=True)
class Known:
    """What a site knows beside one chart.

    `pipelines`: their names in the order of the report, so that a pipeline has one colour in all charts. `pages`: for
    `agents`, `pipelines` and `recommendations` the names (or ids) that have a page, with the stem of its file. `runs`:
    by the key of a chart (a pipeline's slug, a recommendation's id) where the runs of its pipeline have their rows.
    """

    pipelines: Sequence[str] = ()
    pages: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    runs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def page(self, folder: str | None, name: str | None) -> str | None:
        """Return the page of a name, `agents/writer`, or None where it has none."""
        stem = self.pages.get(folder or "", {}).get(name or "")
        return f"{folder}/{stem}" if stem else None

    def run(self, chart: Chart, name: Cell) -> str | None:
        """Return where a run has its row, `pipelines/docs/runs-2026-10#run-7`; None in a chart that is not of runs."""
        return self.runs.get(chart.key, {}).get(str(name)) if chart.label == "run" else None


@dataclass(frozen=True, slots=True)
class Sign:
    """How one series looks: the name of its colour, and 1 where it needs a second sign beside it."""

    colour: str
    variant: int = 0


def signs(chart: Chart, names: Sequence[str], known: Known) -> dict[str, Sign]:
    """Return the sign of each name, in the order in which they are drawn; `names` come with the heaviest first."""
    if chart.colours:
        fixed = [name for name in chart.colours if name in names]
        out = {name: Sign(NAMED[chart.colours[name]]) for name in fixed}
        free = [number for number in range(HUES) if f"series{number}" not in {sign.colour for sign in out.values()}]
        for place, name in enumerate(name for name in names if name not in out):
            number = free[place % len(free)] if free else place % HUES
            out[name] = Sign(f"series{number}", int(place >= len(free)))
        return out
    wanted = {}
    if chart.series == "pipeline":
        wanted = {name: place for place, name in enumerate(known.pipelines) if place < MAX_SERIES}
    taken = {wanted[name] for name in names if name in wanted}
    free = [number for number in range(MAX_SERIES) if number not in taken]
    out = {}
    for name in sorted(names, key=lambda one: (one == OTHERS, wanted.get(one, MAX_SERIES))):
        if name == OTHERS:
            out[name] = Sign("others")
            continue
        number = wanted[name] if name in wanted else free.pop(0)
        out[name] = Sign(f"series{number % HUES}", number // HUES)
    return out
