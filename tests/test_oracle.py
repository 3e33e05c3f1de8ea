"""The reference agrees with the worked cases and with figures worked out by hand; else it could prove nothing."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import oracle_vfm as vfm
import pytest
from oracle import Answer, Finding, solve
from oracle_reading import FeedbackCells, HealingEntry, Project, clean, read_events, score_of, tags_of, time_of
from random_projects import make_project

CASES = Path(__file__).parent / "cases"


def read_case(folder: Path) -> Project:
    """Read a worked case; their tables are simple enough for a split at the pipes."""
    events: list[dict[str, Any]] = []
    log = folder / "budget" / "cost-events.jsonl"
    if log.is_file():
        events = [json.loads(line, parse_float=Decimal) for line in log.read_text("utf-8").splitlines() if line.strip()]
    cells = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in (folder / "FEEDBACK.md").read_text("utf-8").splitlines()
        if line.startswith("| 2")
    ]
    feedback = [FeedbackCells(d, p, a, s, tags) for d, p, a, s, _, _, tags in cells]
    return Project(events, feedback)


@pytest.mark.parametrize("folder", sorted(CASES.iterdir()), ids=lambda folder: folder.name)
def test_worked_case(folder: Path) -> None:
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    answer = solve(read_case(folder))
    found = sorted((f.detector, f.pipeline, f.subject, f.observed) for f in answer.findings)
    assert found == sorted((d, p, s, Fraction(str(observed))) for d, p, s, observed in expected["findings"])
    assert {
        p.pipeline: {"runs": p.runs, "events": p.events, "cost_measure": p.cost_measure} for p in answer.pipelines
    } == expected["pipelines"]


def one(answer: Answer, detector: str) -> Finding:
    (finding,) = [f for f in answer.findings if f.detector == detector]
    return finding


def test_loop_score_of_the_basic_case_by_hand() -> None:
    """One whole pre-score with a pencil: revision loops of `agent-writer` in the case `basic`.

    Cost: the writer has 99 events of 0.02 and 9 of 0.20 = 3.78; the reviewer 24 of 0.01 = 0.24; the translator 0.01.
    All together 4.03. All 4 of the writer's 4 feedback rows are loop rows: saving 3.78 x 4/4 = 3.78, share 0.93797.
    Span: feedback of 2026-11-02T00:00:00 to the last event, 2026-11-05T03:00:31 = 3.12536 days.

    frequency          4 rows in 3.12536 days = 1.27985 a day; from (1, 15) to (2, 16): 15.28. Dates with a loop row:
                       2 of the 3 dates with feedback, under 0.9, so nothing. The larger, rounded down: 15
    failure_reduction  4 rows below 60, no tag of an error, no healing: band 6 to 10, 4 counts: 9
    burden_reduction   declared 13, no incidents: 13
    cost_savings       0.93797 lies between (50%, 20) and (100%, 25): 20 + 0.43797 / 0.5 x 5 = 24.38, so 24
    total              15 + 9 + 13 + 24 = 61, over 50: implement
    """
    finding = one(solve(read_case(CASES / "basic")), "revision_loops")
    assert finding.saving == Fraction("3.78")
    assert finding.share == Fraction("3.78") / Fraction("4.03")
    assert finding.vfm == vfm.Vfm(15, 9, 13, 24)
    assert (finding.vfm.total, finding.vfm.decision) == (61, "implement")


def test_other_scores_of_the_basic_case_by_hand() -> None:
    """The other three; the sums are those of the test above.

    bottleneck    writer 108 of 133 events, 3 agents, mean 44.3333; in 12 of 12 runs: 25. 4 low rows: 9. 8.
                  saving 3.78 x (1 - 44.3333 / 108) = 2.228333, share 0.55294: 20 + 0.05294 / 0.5 x 5 = 20.5: 20. Sum 62
    outlier       run-007 cost 9 x 0.20 + 2 x 0.01 = 1.82, mean 4.03 / 12 = 0.335833. Once: 5 at most; 1 / 3.125 a day
                  would be 10. saving 1.484167, share 0.36828: 15 + 0.11828 / 0.25 x 5 = 17.4: 17. 5 + 0 + 8 + 17 = 30
    underutilized translator in 1 of 12 runs, run-003, the fourth: 1 of the 9 runs since is over 10%: new, so frequency
                  and savings are 0. Not in the last half (runs 7 to 12): retired too. 0 + 0 + 4 + 0 = 4
    """
    answer = solve(read_case(CASES / "basic"))
    bottleneck, outlier = one(answer, "bottleneck_agent"), one(answer, "cost_outlier")
    assert (bottleneck.vfm, bottleneck.vfm.total) == (vfm.Vfm(25, 9, 8, 20), 62)
    assert bottleneck.saving == Fraction("2.228333333333")
    assert (outlier.vfm, outlier.vfm.decision) == (vfm.Vfm(5, 0, 8, 17), "defer")
    assert outlier.saving == Fraction("1.484166666667")
    idle = one(answer, "underutilized_agent")
    assert idle.labels == {"new", "retired"}
    assert (idle.vfm, idle.vfm.decision) == (vfm.Vfm(0, 0, 4, 0), "reject")


def test_agents_of_the_basic_case_by_hand() -> None:
    """Writer: scores 42, 43, 44, 45, mean 43.5, all low; 3.78 in 12 runs is 0.315 a run. Reviewer: one score of 88."""
    agents = {a.agent: a for a in solve(read_case(CASES / "basic")).agents}
    writer, reviewer = agents["agent-writer"], agents["agent-reviewer"]
    assert (writer.mean_score, writer.error_rate, writer.flagged) == (Fraction("43.5"), Fraction(1), True)
    assert (writer.cost, writer.cost_per_run, writer.runs) == (Fraction("3.78"), Fraction("0.315"), 12)
    assert (reviewer.mean_score, reviewer.error_rate, reviewer.flagged) == (Fraction(88), Fraction(0), False)
    assert agents["agent-translator"].mean_score is None


@pytest.mark.parametrize(
    ("occurrences", "days", "affected", "of", "points"),
    [
        (0, 30, 0, 10, 0),
        (1, 30, 1, 10, 3),  # 1/30 a day
        (1, 1, 1, 10, 5),  # once: at most 5, though one a day is 15
        (2, 14, 2, 20, 6),  # 1/7 a day
        (2, 7, 2, 20, 10),
        (5, 7, 5, 20, 11),
        (7, 7, 7, 20, 15),
        (16, 2, 16, 40, 20),
        (800, 2, 800, 4000, 20),  # rate alone never passes 20
        (9, 90, 9, 10, 21),  # 0.9 of the runs
        (19, 190, 19, 20, 23),  # 0.95
        (10, 100, 10, 10, 25),
        (89, 8900, 89, 100, 0),  # under 0.9 the share gives nothing; 1/100 a day is 0.9 points
    ],
)
def test_frequency_points(occurrences: int, days: int, affected: int, of: int, points: int) -> None:
    assert vfm.frequency(occurrences, Fraction(days), affected, of) == points


def test_a_span_counts_at_least_one_day() -> None:
    """Two within an hour are two a day, 16 points, not 48 a day."""
    assert vfm.frequency(2, Fraction(1, 24), 0, 10) == 16


@pytest.mark.parametrize(
    ("share", "points"),
    [("0", 0), ("0.0099", 4), ("0.01", 5), ("0.1", 10), ("0.25", 15), ("0.4999", 19), ("0.5", 20), ("1", 25)],
)
def test_saving_points(share: str, points: int) -> None:
    assert vfm.cost_savings(Fraction(share)) == points


def test_an_unknown_saving_scores_nothing() -> None:
    assert vfm.cost_savings(None) == 0


@pytest.mark.parametrize(
    ("low", "errors", "escalated", "points"),
    [
        (0, 0, 0, 0),
        (1, 0, 0, 6),
        (5, 0, 0, 10),
        (9, 0, 0, 10),
        (9, 1, 0, 11),
        (0, 7, 0, 15),
        (9, 9, 1, 16),
        (0, 0, 6, 20),
    ],
)
def test_failure_points(low: int, errors: int, escalated: int, points: int) -> None:
    assert vfm.failure_reduction(low, errors, escalated) == points


def test_decisions_change_at_26_and_51() -> None:
    totals = {25: "reject", 26: "defer", 50: "defer", 51: "implement"}
    assert {t: vfm.Vfm(t, 0, 0, 0).decision for t in totals} == totals


def event(time: str | None, **more: object) -> dict[str, object]:
    return {"timestamp": time, "agent": "a", "pipeline": "p", **more}


def test_event_id_latest_then_tokens_then_cost_then_text_wins() -> None:
    same = "2026-01-01T00:00:00Z"
    later = event("2026-01-01T00:00:01Z", event_id="x", total_tokens=1)
    richer = event(same, event_id="x", total_tokens=9)
    dearer = event(same, event_id="x", total_tokens=9, cost_usd=Decimal("0.5"))
    text = event(same, event_id="x", total_tokens=9, cost_usd=Decimal("0.5"), tool_name="z")
    assert [e.tokens for e in read_events([later, richer])] == [1]
    assert [e.cost for e in read_events([dearer, richer])] == [Fraction(1, 2)]
    assert len(read_events([text, dearer])) == 1
    assert len(read_events([event(same), event(same)])) == 2


def test_a_lonely_far_date_is_no_date() -> None:
    near, far = "2026-01-01T00:00:00Z", "2027-01-02T00:00:01Z"
    assert [e.time is None for e in read_events([event(near), event(near), event(far)])] == [False, False, True]
    # 366 days exactly is not "more than 366 days".
    assert all(e.time for e in read_events([event(near), event(near), event("2027-01-02T00:00:00Z")]))
    # Where every group is small, there is nothing to stand apart from.
    assert all(e.time for e in read_events([event(near), event("2029-01-01T00:00:00Z")]))


@pytest.mark.parametrize(("events", "undated"), [(199, 0), (200, 0), (201, 2)])
def test_a_far_group_of_under_one_percent_is_undated(events: int, undated: int) -> None:
    many = [event("2026-01-01T00:00:00Z")] * (events - 2) + [event("2020-01-01T00:00:00Z")] * 2
    assert sum(e.time is None for e in read_events(many)) == undated


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("2026-11-02T09:00:00Z", "2026-11-02 09:00:00"),
        ("2026-11-02T09:00:00+02:00", "2026-11-02 07:00:00"),
        ("2026-11-02 09:00:00", "2026-11-02 09:00:00"),
        ("20261102T090000Z", "2026-11-02 09:00:00"),
        (1793610000, "2026-11-02 09:00:00"),
        (1793610000000, "2026-11-02 09:00:00"),
        (Decimal("1793610000.5"), "2026-11-02 09:00:00.500000"),
        ("1999-12-31T23:59:59Z", None),
        ("soon", None),
        (True, None),
    ],
)
def test_times(value: object, text: str | None) -> None:
    time = time_of(value)
    assert (time and time.replace(tzinfo=None).isoformat(" ")) == text


def test_cells() -> None:
    assert score_of("**42/50** really") == 84
    assert score_of("8.1%") == Fraction("8.1")
    assert score_of("45") == 45
    assert [score_of(cell) for cell in ("120/100", "Critical / High", "TBD", "about 45", "1/0")] == [None] * 5
    assert tags_of("Loop_Excess; `timeout`,timeout") == {"loop-excess", "timeout"}
    assert tags_of("—") == frozenset()
    assert clean(" **@Writer**  ") == "Writer"


def test_incidents_rise_and_end() -> None:
    """Attempts 1, 2 then 1 again are two incidents; the pipeline comes from the run id; the last action decides."""
    events = [event("2026-01-01T00:00:00Z", run_id="r")]
    entries = [
        HealingEntry("a", None, "r", "timeout", 1, "retry-shorter-scope"),
        HealingEntry("a", None, "r", "timeout", 2, "retry-shorter-scope"),
        HealingEntry("A", "p", "r", "timeout", 1, "escalate"),
        HealingEntry("a", "P", "r", "permission-denied", 1, "skip"),
        HealingEntry("b", None, "other", "timeout", 1, "retry-shorter-scope"),
    ]
    incidents = solve(Project(events, healing=entries)).incidents
    assert [(i.pipeline, i.agent, i.outcome, i.attempts) for i in incidents] == [
        ("p", "a", "presumed recovered", 2),
        ("p", "a", "escalated", 1),
        ("p", "a", "blocked", 1),
        ("(unassigned)", "b", "presumed recovered", 1),
    ]


def test_a_seed_is_one_project_and_seeds_differ() -> None:
    assert make_project(7).files == make_project(7).files
    assert len({str(sorted(make_project(seed).files.items())) for seed in range(20)}) == 20


def test_random_projects_meet_every_rule() -> None:
    """Else agreement on them would say little: every detection, measure, label and outcome comes up in 60 of them."""
    answers = [solve(make_project(seed).project) for seed in range(60)]
    findings = [finding for answer in answers for finding in answer.findings]
    assert {f.detector for f in findings} == set(vfm.BURDEN)
    assert {label for f in findings for label in f.labels} == {"new", "retired"}
    assert any(f.subject == "(all pipelines)" for f in findings)
    assert any(f.detector == "revision_loops" and f.subject == f.pipeline for f in findings)
    assert any(f.observed == f.threshold for f in findings if f.detector == "bottleneck_agent")
    assert any(f.observed == f.threshold for f in findings if f.detector == "cost_outlier")
    assert {f.vfm.decision for f in findings} == {"implement", "defer", "reject"}
    assert {p.cost_measure for answer in answers for p in answer.pipelines} == {"usd", "tokens", "events"}
    outcomes = {i.outcome for answer in answers for i in answer.incidents}
    assert outcomes == {"escalated", "blocked", "presumed recovered"}
    assert any(not answer.findings for answer in answers)
