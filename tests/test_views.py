"""What pages add to a report: sums, changes, groups, the headline; and SQL with its parts marked."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_reader import read_page
from report_factory import empty_report, sample_report

from reportgen.glossary import HINTS, LOW_BUT_DATED, hint_words
from reportgen.model import InputFile, InputKind
from reportgen.render import inputviews, views
from reportgen.render.highlight import sql_html
from reportgen.render.site import render_site


@pytest.mark.parametrize(
    ("before", "after", "lower_is_better", "verdict", "share"),
    [
        ("2", "3", True, "worse", "0.5"),
        ("2", "3", False, "better", "0.5"),
        ("4", "3", True, "better", "-0.25"),
        (80.0, 79.0, False, "worse", "-0.0125"),
        ("2", "2", True, "steady", "0"),
        # One percent is a change, less is none.
        ("1000", "1010", True, "worse", "0.01"),
        ("1000", "1009.9", True, "steady", "0.0099"),
        ("1000", "990.1", True, "steady", "-0.0099"),
        (None, "3", True, "unknown", None),
        ("2", None, True, "unknown", None),
        # From nothing there is a direction, and no share.
        ("0", "3", True, "worse", None),
        ("0", "0", True, "steady", None),
    ],
)
def test_a_change_has_a_verdict(
    before: str | float | None, after: str | float | None, lower_is_better: bool, verdict: str, share: str | None
) -> None:
    told = views.change(before, after, lower_is_better=lower_is_better)
    assert (told.verdict, told.share) == (verdict, share)


def test_costs_of_one_measure_are_added_exactly_and_the_unknown_is_counted() -> None:
    report = sample_report()
    first = report.pipelines[0]
    more = [
        replace(first, pipeline="b", cost="0.000000000001", cost_basis="priced"),
        replace(first, pipeline="c", cost=None),
    ]
    money, tokens, events = views.measure_totals(replace(report, pipelines=[*report.pipelines, *more]))
    assert (money.measure, money.total, money.unknown, money.basis) == ("usd", "412.873104000001", 1, "priced")
    assert (tokens.measure, tokens.total) == ("tokens", "48210944")
    assert (events.measure, events.total, events.cost.verdict) == ("events", "2210", "unknown")
    # 219.939408 - 192.63431 of 192.63431, and 2.114802 against 1.751221 a run.
    assert (money.cost.difference, money.cost.verdict) == ("27.305098", "worse")
    assert (money.run_cost.before, money.run_cost.after) == ("1.751221", "2.114802")
    (unknown,) = views.measure_totals(replace(report, pipelines=[replace(first, cost=None)]))
    assert (unknown.total, unknown.basis) == (None, "unknown")


def test_what_a_group_could_save_is_the_sum_of_its_members() -> None:
    report = sample_report()
    outliers = next(view for view in views.group_views(report) if view.group.detector == "cost_outlier")
    # 16.270687 + 7.170687 + 4.050687, and the shares 0.039409 + 0.017368 + 0.009811.
    assert (outliers.saving, outliers.saving_share) == ("27.492061", "0.066588")
    assert [found.rank for found in outliers.members] == [4, 6, 9]
    mixed = [replace(found, cost_measure="tokens") if found.rank == 9 else found for found in report.recommendations]
    apart = next(
        v for v in views.group_views(replace(report, recommendations=mixed)) if v.group.detector == "cost_outlier"
    )
    assert (apart.saving, apart.saving_share) == (None, None)
    unknown = next(view for view in views.group_views(report) if view.first.subject == "archivist")
    assert (unknown.saving, unknown.saving_basis) == (None, "unknown")


def test_the_headline_says_what_to_do() -> None:
    report = sample_report()
    groups = views.group_views(report)

    def said(kept: list[views.GroupView], detectors: slice = slice(None)) -> str:
        return views.headline(replace(report, detectors=report.detectors[detectors]), kept)

    assert said(groups) == "Two things are worth doing now"
    assert said(groups[:1]) == "One thing is worth doing now"
    assert said(groups[2:]) == "Nothing is urgent; four things are worth doing later"
    assert said(groups[-1:]) == "Nothing here is worth the effort now"
    # A budget that will be passed is not to be ignored, whatever its score.
    last = groups[-1]
    dated = replace(last, members=[replace(one, labels=["act before 2026-11-22"]) for one in last.members])
    assert said([dated]) == "Nothing scores high, but a limit has a date"
    assert views.hint_title("reject", [dated]) == "Low scores, but with a date"
    assert views.hint_title("reject", [last]) == "Not worth the effort now"
    assert (views.dated([dated, last]), views.dated([last])) == (1, 0)
    assert hint_words("reject", ["already over"]) == LOW_BUT_DATED
    assert hint_words("reject", ["new"]) == HINTS["reject"]
    assert hint_words("defer", ["already over"]) == HINTS["defer"]
    assert said([]) == "Nothing found, but a detector failed"
    assert said([], slice(0, 4)) == "Nothing stands out"
    # No cost event at all is no good news about cost.
    no_events = replace(report, pipelines=[replace(one, events=0) for one in report.pipelines])
    assert "no cost events" in views.headline(replace(no_events, detectors=report.detectors[:4]), [])
    assert views.headline(empty_report(), []) == "There is nothing to look at yet"


def test_what_comes_first_stands_under_the_hint_that_it_has() -> None:
    groups = views.group_views(sample_report())
    assert [g.group.decision for g in groups] == ["implement", "implement", *["defer"] * 4, *["reject"] * 2]

    def first(some: list[views.GroupView]) -> list[tuple[str, list[int]]]:
        return [(hint, [view.group.rank for view in part]) for hint, part in views.first_things(some)]

    assert first(groups) == [("implement", [1, 2]), ("defer", [3])]
    assert first(groups[2:]) == [("defer", [3, 4, 5])]
    # What is not worth the effort is no third thing to do first, and is named where there is nothing else.
    assert first([groups[0], groups[-1]]) == [("implement", [1])]
    assert first(groups[-1:]) == [("reject", [8])]
    assert first([]) == []


def test_what_has_no_name_is_counted_as_no_agent_and_no_pipeline() -> None:
    report = sample_report()
    named = views.named(report)
    assert (named.agents, named.pipelines, named.nowhere) == (
        len({a.slug for a in report.agents if a.agent != "(unattributed)"}),
        3,
        False,
    )
    assert named.nobody == any(a.agent == "(unattributed)" for a in report.agents)
    assert views.looked_at(report).endswith(" of 3 pipelines")
    nowhere = replace(report.pipelines[0], pipeline="(unassigned)")
    more = replace(report, pipelines=[*report.pipelines, nowhere])
    assert (views.named(more).pipelines, views.named(more).nowhere) == (3, True)
    assert views.looked_at(more).endswith(" of 3 pipelines, with events of no pipeline")
    assert views.looked_at(replace(report, pipelines=[nowhere])).endswith(" of no pipeline")
    total = views.measure_totals(more)[0]
    assert len(total.pipelines) - total.named == 1


def test_a_finding_has_the_place_of_its_recommendation() -> None:
    groups = views.group_views(sample_report())
    places = views.places(groups)
    outliers = next(view for view in groups if view.group.detector == "cost_outlier")
    assert [(places[r.id].number, places[r.id].within) for r in outliers.members] == [(4, 1), (4, 2), (4, 3)]
    assert {place.of for place in places.values()} == {8}


def test_findings_about_one_thing_name_each_other_and_those_of_their_pipeline() -> None:
    report = sample_report()
    also = views.see_also(report)
    by_id = {one.id: one for one in report.recommendations}
    assert set(also) == set(by_id)
    for name, others in also.items():
        one = by_id[name]
        assert len(others) <= views.SEE_ALSO
        assert name not in {other.id for other in others}
        for other in others:
            assert other.pipeline == one.pipeline
            assert "pipeline" in (one.subject_kind, other.subject_kind) or other.subject == one.subject
    # Both about the writer of one pipeline: each leads to the other.
    writer = [one for one in report.recommendations if (one.pipeline, one.subject) == ("doc-pipeline", "agent-writer")]
    assert len(writer) >= 2
    assert all({other.id for other in writer} - {one.id} <= {x.id for x in also[one.id]} for one in writer)


def test_the_costliest_agents_come_first_and_the_others_are_summed_up() -> None:
    report = sample_report()
    agents = views.agents_by_cost(report)
    assert [a.agent for a in agents[:2]] == ["agent-writer", "agent-planner"]
    # Money before tokens, and what is not known last.
    assert [a.pipeline for a in agents[6:11]] == ["review-pipeline"] * 5
    assert [a.agent for a in agents[11:]] == ["triage", "archivist"]
    usd, tokens, events = views.sums(report, agents[4:])
    # 5 and 4.914904 of doc-pipeline; all of review-pipeline; the two of intake have no known cost.
    assert (usd.total, usd.unknown, usd.basis) == ("9.914904", 0, "measured")
    assert (tokens.total, tokens.basis) == ("48210944", "estimated")
    assert (events.total, events.unknown) == (None, 2)


def test_lines_of_all_files_are_added_up() -> None:
    total = inputviews.account_total(sample_report().inputs)
    assert (total["lines"], total["used"], total["rejected"]) == (51811, 51755, 7)
    assert all(inputviews.fates(row) == row.lines for row in sample_report().inputs)


def test_comments_of_sql_are_marked_and_texts_are_no_comments() -> None:
    sql = "select 'it''s -- no' as a -- why\nfrom t /* from */"
    shown = read_page(f"<body>{sql_html(sql)}</body>")
    assert [(e.tag, e.text) for e in shown.elements if e.tag != "body"] == [("i", "-- why"), ("i", "/* from */")]


@given(st.text(alphabet="'\"-/*<>&\n selctfrom;\\", max_size=60))
def test_sql_keeps_every_character(sql: str) -> None:
    page = read_page(f"<body>{sql_html(sql)}</body>")
    assert page.faults == []
    assert page.text() == sql.strip("\n")


def account(number: int, *, rejected: int = 0, kind: InputKind = "events") -> InputFile:
    return InputFile(
        file=f"logs/{number:03d}.jsonl", kind=kind, lines=10 + rejected, used=7, superseded=1, duplicates=1, not_cost=1,
        rejected=rejected, blank=0, events=9, broken_parts=0,
    )  # fmt: skip


def test_of_many_input_files_those_with_faults_are_shown_and_the_rest_is_summed() -> None:
    rows = [account(number, rejected=number == 37) for number in range(40)]
    rows.append(replace(account(40), kind="feedback", file="FEEDBACK.md"))
    assert inputviews.shown_inputs(rows, 41) == rows
    shown = inputviews.shown_inputs(rows, 3)
    assert [row.file for row in shown] == [
        "logs/000.jsonl", "logs/001.jsonl", "logs/037.jsonl", "37 more files of cost events", "1 more file of feedback",
    ]  # fmt: skip
    # … or only those, and the only one of its kind.
    assert [row.file for row in inputviews.shown_inputs(rows, 3, faulty=True)] == [
        "logs/037.jsonl", "FEEDBACK.md", "39 more files of cost events",
    ]  # fmt: skip
    # Nothing is lost: the rows add up to all lines, and each to its own.
    assert inputviews.account_total(shown) == inputviews.account_total(rows)
    assert all(inputviews.fates(row) == row.lines for row in shown)


def test_a_sum_that_an_unknown_cost_is_in_is_marked() -> None:
    report = sample_report()
    first, *others = report.pipelines
    part = replace(report, pipelines=[replace(first, incomplete=True), *others])
    assert [one.incomplete for one in views.measure_totals(report)] == [False, False, False]
    assert [one.incomplete for one in views.measure_totals(part)] == [True, False, False]
    assert [one.incomplete for one in views.sums(part, part.pipelines)] == [True, False, False]
    page = read_page(render_site(part)["pipelines.html"])
    costs = [one.text for one in page.all("td") if one.text.startswith("≥ ")]
    # The cost, and the cost of a run.
    assert costs == ["≥ $412.87", "≥ $1.93"]
