"""The accounts of the input lines as pages show them. Pure functions of a report's `inputs`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from reportgen.model import InputFile
from reportgen.render.format import show

#: What input files hold, by kind.
_HOLDS: dict[str, str] = {
    "events": "cost events",
    "feedback": "feedback",
    "healing": "the healing log",
    "budget": "budgets",
}


def account_total(rows: Iterable[InputFile]) -> dict[str, int]:
    """Return the sums of the account of the input lines, by column."""
    names = ("lines", "used", "superseded", "duplicates", "not_cost", "rejected", "blank", "events", "broken_parts")
    some = list(rows)
    return {name: sum(getattr(row, name) for row in some) for name in (*names, "outside_period")}


def shown_inputs(rows: Sequence[InputFile], most: int, *, faulty: bool = False) -> list[InputFile]:
    """Return the accounts to show, no more than about `most`: where there are more, those of files that something was
    wrong with come first, and what is not shown is one row a kind, so that the rows still add up to all lines.

    `faulty`: where there are more, only those, and files that are the only ones of their kind, stand by themselves.
    """
    if len(rows) <= most:
        return list(rows)
    kinds = Counter(row.kind for row in rows)
    wanted = [n for n, row in enumerate(rows) if not faulty or row.rejected or row.broken_parts or kinds[row.kind] == 1]
    kept = set(sorted(wanted, key=lambda n: (not rows[n].rejected, not rows[n].broken_parts, n))[:most])
    shown = [row for number, row in enumerate(rows) if number in kept]
    left = [row for number, row in enumerate(rows) if number not in kept]
    for kind in dict.fromkeys(row.kind for row in left):
        some = [row for row in left if row.kind == kind]
        name = f"{show(len(some), None)} more {'file' if len(some) == 1 else 'files'} of {_HOLDS[kind]}"
        shown.append(InputFile(file=name, kind=kind, **account_total(some)))
    return shown


def fates(row: InputFile) -> int:
    """Return how many lines of the file have a fate: it must be all of them."""
    return row.used + row.superseded + row.duplicates + row.not_cost + row.rejected + row.blank
