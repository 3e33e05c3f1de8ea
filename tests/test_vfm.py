"""The pre-score: one score by hand, the edges of every line, and that more of a thing never lowers a part."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from project import built, event, write_project

from reportgen.detectors import FINDINGS
from reportgen.resources import resource_dir
from reportgen.sqlfile import find_sql_files
from reportgen.warehouse import Warehouse

DAY = 86_400_000_000
SQL = resource_dir("sql")


def score(
    *,
    occurrences: int = 2,
    affected: int = 0,
    total: int = 10,
    saving: str | None = None,
    saving_of: str = "100",
    span: int = DAY,
    burden: int = 0,
    failure: int = 0,
    wait: bool = False,
    counts: dict[str, int] | None = None,
) -> dict[str, Any]:
    """Score one finding with the built-in SQL, on tables that hold just what scoring reads."""
    counts = {"low_scores": 0, "tagged": 0, "blocked": 0, "escalated": 0, **(counts or {})}
    counts["failures"] = counts["tagged"] + counts["blocked"]
    counts["by_person"] = counts["blocked"] + counts["escalated"]
    row: tuple[Any, ...] = (0, "d", "p", "s", "agent", "s", 1, 1, 1, occurrences, affected, total,
           None if saving is None else Decimal(saving), Decimal(saving_of), "measured", [], wait, "S", burden, failure, True,
           "things" if occurrences != 1 else "thing", "runs")  # fmt: skip
    with Warehouse() as store:
        store.run_script((SQL / "macros.sql").read_text("utf-8"))
        store.fill("findings", FINDINGS, [row])
        store.fill(
            "pipelines",
            "pipeline varchar, span_microseconds bigint, first_time timestamp, last_time timestamp",
            [("p", span, None, None)],
        )
        columns = ("low_scores", "tagged", "blocked", "failures", "escalated", "by_person")
        store.fill(
            "subject_counts",
            "finding_no integer, " + ", ".join(f"{c} bigint" for c in columns),
            [(0, *(counts[c] for c in columns))],
        )
        files = [f for f in find_sql_files("scoring", SQL, None) if f.id != "subject_counts"]
        store.create_tables(files)
        return store.query("select * from vfm").dicts()[0]


@pytest.mark.parametrize(
    ("occurrences", "days", "points"),
    [
        # The points of the table themselves, as exact fractions of a day …
        (2, 60, 3), (2, 14, 6), (4, 14, 10), (10, 14, 11), (2, 2, 15), (2, 1, 16), (8, 1, 20), (80, 1, 20),
        # … and between them, on straight lines, rounded down: 3/7 a day lies a third of the way from 2/7 to 5/7.
        (3, 7, 10), (3, 2, 15), (5, 1, 18), (2, 120, 1),
        # One occurrence in all never scores more than 5, however short the span.
        (1, 1, 5), (1, 45, 2),
    ],
)  # fmt: skip
def test_frequency_by_rate(occurrences: int, days: int, points: int) -> None:
    assert score(occurrences=occurrences, span=days * DAY)["frequency"] == points


@pytest.mark.parametrize(
    ("affected", "total", "points"),
    [(9, 10, 21), (10, 10, 25), (95, 100, 23), (899, 1000, 1), (99, 100, 24), (0, 0, 1)],
)
def test_frequency_by_share_of_runs(affected: int, total: int, points: int) -> None:
    # The rate alone gives 1 here (2 in 120 days = 1/60 a day, half of the way to 3, is 1.5): the larger counts.
    assert score(occurrences=2, span=120 * DAY, affected=affected, total=total)["frequency"] == points


@pytest.mark.parametrize(
    ("saving", "points"),
    [
        ("0", 0), ("0.2", 1), ("0.999999999999", 4), ("1", 5), ("2.8", 6), ("10", 10), ("9.999999999999", 9),
        ("25", 15), ("50", 20), ("75", 22), ("99.999999999999", 24), ("100", 25), (None, 0),
    ],
)  # fmt: skip
def test_cost_savings(saving: str | None, points: int) -> None:
    assert score(saving=saving)["cost_savings"] == points


def test_the_evidence_names_the_points_between_which_a_value_lies() -> None:
    # 3 in 7 days is 3/7 a day, between 2/7 (10) and 5/7 (11).
    words = score(occurrences=3, span=7 * DAY, affected=3, total=10, saving="2.8")
    assert words["frequency_evidence"] == (
        "3 things in 7 days, 0.43 a day: between twice a week (10) and every weekday (11) → 10. 3 of 10 runs, 30%:"
        " counts from nine of ten (21) on → 0. The larger counts"
    )
    assert words["cost_evidence"] == "2.8% of the pipeline's cost (measured): between 1% (5) and 10% (10) → 6"
    # Once a day would be 15; a single occurrence is held at 5.
    capped = score(occurrences=1, total=0)["frequency_evidence"]
    assert capped == "1 thing in 1 day, 1 a day: daily (15) would be 15, but one in all counts at most 5 → 5"
    over = score(occurrences=9, span=DAY, total=0)["frequency_evidence"]
    assert over == "9 things in 1 day, 9 a day: over eight times a day (20) → 20"
    person = score(burden=8, counts={"escalated": 3, "blocked": 4})["burden_evidence"]
    assert person == "8 declared by the detector, plus 5 for 7 incidents that a person handled (at most 5) → 13"


def test_a_cost_that_is_not_known_scores_nothing_and_says_so() -> None:
    found = score(saving=None)
    assert (found["cost_savings"], found["cost_evidence"][:7]) == (0, "unknown")
    assert score(saving="1", saving_of="0")["cost_savings"] == 0


@pytest.mark.parametrize(
    ("counts", "points"),
    [
        ({}, 0),
        ({"low_scores": 1}, 6), ({"low_scores": 4}, 9), ({"low_scores": 5}, 10), ({"low_scores": 50}, 10),
        ({"tagged": 1}, 11), ({"blocked": 1}, 11), ({"tagged": 2, "blocked": 3}, 15), ({"tagged": 9}, 15),
        ({"escalated": 1}, 16), ({"escalated": 5}, 20), ({"escalated": 6}, 20),
        # The highest band that has a count decides, not the fullest.
        ({"low_scores": 50, "tagged": 1}, 11), ({"tagged": 9, "escalated": 1}, 16),
    ],
)  # fmt: skip
def test_failure_reduction(counts: dict[str, int], points: int) -> None:
    assert score(counts=counts)["failure_reduction"] == points


def test_a_detector_may_declare_the_top_band() -> None:
    assert score(failure=23, counts={"escalated": 5})["failure_reduction"] == 23


@pytest.mark.parametrize(
    ("burden", "counts", "points"),
    [(8, {}, 8), (8, {"escalated": 1}, 9), (8, {"escalated": 3, "blocked": 4}, 13), (24, {"escalated": 4}, 25)],
)
def test_burden_reduction(burden: int, counts: dict[str, int], points: int) -> None:
    assert score(burden=burden, counts=counts)["burden_reduction"] == points


def test_what_has_to_wait_counts_neither_as_frequent_nor_as_a_saving() -> None:
    found = score(wait=True, occurrences=9, affected=9, total=9, saving="100", burden=4)
    assert (found["frequency"], found["cost_savings"], found["total"]) == (0, 0, 4)


@pytest.mark.parametrize(
    ("burden", "saving", "total", "decision"),
    [
        # One occurrence in one day scores 5; half the cost 20, 60% of it 21.
        (20, None, 25, "reject"),
        (21, None, 26, "defer"),
        (25, "50", 50, "defer"),
        (25, "60", 51, "implement"),
    ],
)
def test_the_decision_hint(burden: int, saving: str | None, total: int, decision: str) -> None:
    found = score(occurrences=1, burden=burden, saving=saving)
    assert (found["total"], found["decision"]) == (total, decision)


@settings(max_examples=8, deadline=None)
@given(
    occurrences=st.integers(1, 500),
    affected=st.integers(0, 99),
    saving=st.integers(0, 99),
    escalated=st.integers(0, 6),
    low=st.integers(0, 6),
    days=st.integers(1, 400),
)
def test_more_never_lowers_a_part(
    occurrences: int, affected: int, saving: int, escalated: int, low: int, days: int
) -> None:
    parts = ("frequency", "failure_reduction", "burden_reduction", "cost_savings")

    def of(o: int, a: int, s: int, e: int, lows: int) -> list[int]:
        counts = {"escalated": e, "low_scores": lows}
        found = score(occurrences=o, affected=a, total=100, saving=str(s), span=days * DAY, burden=4, counts=counts)
        assert all(0 <= found[p] <= 25 for p in parts)
        assert found["total"] == sum(found[p] for p in parts)
        return [found[p] for p in parts]

    base = of(occurrences, affected, saving, escalated, low)
    for more in (
        of(occurrences + 1, affected, saving, escalated, low),
        of(occurrences, affected + 1, saving, escalated, low),
        of(occurrences, affected, saving + 1, escalated, low),
        of(occurrences, affected, saving, escalated + 1, low),
        of(occurrences, affected, saving, escalated, low + 1),
    ):
        assert all(after >= before for before, after in zip(base, more, strict=True))


def test_one_score_by_hand(tmp_path: Path) -> None:
    """The worked example of docs/score.md.

    Pipeline `docs`, ten days from 2026-11-01 to 2026-11-11, ten runs of $1.00 each: in every run `writer` has three
    events of $0.25 and `editor` one of $0.25. So n(writer) = 30, N = 40, A = 2, N / A = 20: 30 >= 1.5 x 20 is a
    bottleneck, at the boundary.
    - frequency: 10 runs with it in 10 days = 1 a day: 15. It is in 10 of 10 runs: 25. The larger: 25.
    - failure reduction: two of its reviews are below 60 (band 6-10); one is tagged `timeout`, and one incident was
      blocked (band 11-15). The highest band with a count is 11-15, with two counts: 12.
    - burden reduction: 8 declared, and one incident of it was blocked: 9.
    - cost savings: c(a) x (1 - 20 / 30) = 7.50 / 3 = $2.50 of $10.00 = 25%: 15.
    Total 25 + 12 + 9 + 15 = 61: implement.
    """
    events = []
    for day in range(1, 11):
        run = f"r{day}"
        # The last run ends exactly ten days after the first began.
        start = f"2026-11-{day:02d}T00:00:00Z" if day < 10 else "2026-11-11T00:00:00Z"
        events += [event(start, "writer", run_id=run, cost_usd=0.25)] * 3
        events += [event(start, "editor", run_id=run, cost_usd=0.25)]
    feedback = [
        ("2026-11-03", "docs", "writer", "40/100", "timeout"),
        ("2026-11-04", "docs", "writer", "55/100", "-"),
        ("2026-11-05", "docs", "writer", "90/100", "-"),
    ]
    healing = [
        {"timestamp": "2026-11-05T00:00:00Z", "agent": "writer", "pipeline": "docs", "run_id": "r5",
         "error_type": "permission-denied", "attempt": 1, "max_attempts": 0, "action": "skip", "exit_code": 1,
         "delay_seconds": 0, "reason": "not retried", "context": ""}
    ]  # fmt: skip
    report = built(write_project(tmp_path, events, feedback, healing))
    (found,) = [r for r in report["recommendations"] if r["detector"] == "bottleneck_agent"]
    assert (found["observed"], found["baseline"], found["threshold"]) == ("30", "20", "30")
    assert found["vfm"] == {
        "total": 61,
        "frequency": 25,
        "failure_reduction": 12,
        "burden_reduction": 9,
        "cost_savings": 15,
    }
    assert (found["decision"], found["saving"], found["saving_basis"]) == ("implement", "2.5", "measured")
    words = found["vfm_evidence"]
    assert (
        words["frequency"]
        == "10 runs with the agent in 10 days, 1 a day: daily (15) → 15. 10 of 10 runs, 100%: all of them (25) → 25."
        " The larger counts"
    )
    assert words["failure_reduction"] == (
        "1 review tagged timeout, tool-fail or hallucination, and 1 blocked incident: 11 for the first, one more for"
        " each other, at most 15 → 12"
    )
    assert words["cost_savings"] == "25% of the pipeline's cost (measured): 25% (15) → 15"
    assert found["saving_words"] == (
        "The cost of its events above the mean: $7.50 x (1 - 20 / 30), as far as one event costs like another."
    )


def test_an_analyst_edits_the_points(tmp_path: Path) -> None:
    """A project's sql/scoring/points.sql replaces the built-in table, without any Python."""
    events = [
        event(f"2026-11-{d:02d}T00:00:00Z", "writer", run_id=f"r{d}", cost_usd=1 if d < 9 else 90) for d in range(1, 10)
    ]
    folder = write_project(tmp_path, events)
    before = built(folder)["recommendations"][0]["vfm"]["cost_savings"]
    own = (
        (SQL / "scoring" / "points.sql")
        .read_text("utf-8")
        .replace("('cost_share', 1, 1, 25,", "('cost_share', 1, 1, 21,")
    )
    write_project(tmp_path, None, files={"sql/scoring/points.sql": own})
    after = built(folder)["recommendations"][0]["vfm"]["cost_savings"]
    # c(r) - C/R = 90 - 98/9 = 79.1; of 98 it is 80.7%: 20 + 5 x 0.614 = 23.07 with 25 at the top, 20.6 with 21.
    assert (before, after) == (23, 20)
