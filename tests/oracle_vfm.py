"""The reference for SPEC 4: the four VFM parts, by straight lines between the points, in exact fractions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

Points = Sequence[tuple[Fraction, int]]


def _points(*pairs: tuple[str, int]) -> Points:
    return [(Fraction(x), y) for x, y in pairs]


RATE = _points(("0", 0), ("1/30", 3), ("1/7", 6), ("2/7", 10), ("5/7", 11), ("1", 15), ("2", 16), ("8", 20))
RUN_SHARE = _points(("9/10", 21), ("1", 25))
SAVING_SHARE = _points(("0", 0), ("1/100", 5), ("1/10", 10), ("1/4", 15), ("1/2", 20), ("1", 25))
BURDEN = {"bottleneck_agent": 8, "revision_loops": 13, "underutilized_agent": 4, "cost_outlier": 8}


@dataclass(frozen=True)
class Vfm:
    """The pre-score: four whole parts of 0 to 25."""

    frequency: int
    failure_reduction: int
    burden_reduction: int
    cost_savings: int

    @property
    def total(self) -> int:
        return self.frequency + self.failure_reduction + self.burden_reduction + self.cost_savings

    @property
    def decision(self) -> str:
        return "implement" if self.total > 50 else "defer" if self.total > 25 else "reject"


def on_line(points: Points, x: Fraction) -> Fraction:
    """Return the value at `x`: 0 before the first point, the last value after the last point."""
    if x < points[0][0]:
        return Fraction(0)
    for (x0, y0), (x1, y1) in pairwise(points):
        if x <= x1:
            return y0 + (x - x0) * (y1 - y0) / (x1 - x0)
    return Fraction(points[-1][1])


def frequency(occurrences: int, days: Fraction, affected: int, of: int) -> int:
    """Return the larger of the points for the rate per day of the span and for the share of runs affected."""
    by_rate = on_line(RATE, occurrences / max(days, Fraction(1)))
    if occurrences == 1:
        by_rate = min(by_rate, Fraction(5))
    by_share = on_line(RUN_SHARE, Fraction(affected, of)) if of else Fraction(0)
    return int(max(by_rate, by_share))


def failure_reduction(low_rows: int, errors_needing_a_person: int, pipeline_failures: int) -> int:
    """Return the highest band reached; within it 1 to 5 counts go from its bottom to its top."""
    for count, below in ((pipeline_failures, 15), (errors_needing_a_person, 10), (low_rows, 5)):
        if count:
            return below + min(count, 5)
    return 0


def burden_reduction(detector: str, handled_by_a_person: int) -> int:
    return BURDEN[detector] + min(handled_by_a_person, 5)


def cost_savings(share: Fraction | None) -> int:
    return 0 if share is None else int(on_line(SAVING_SHARE, share))


def half_up_12(amount: Fraction) -> Fraction:
    """Return the amount rounded half up at 12 decimal places."""
    return Fraction((amount * 10**12 + Fraction(1, 2)).__floor__(), 10**12)
