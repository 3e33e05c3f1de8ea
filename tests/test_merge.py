"""Several projects' reports as one: nothing is lost, nothing counts twice, and every name leads somewhere."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_factory import empty_report, hostile_report, sample_report

from reportgen.model import Agent, Chart, Detector, Notice, Parameter, Recommendation, Report
from reportgen.names import ALL_PIPELINES
from reportgen.render.csvtext import csv_text, read_csv
from reportgen.render.markdown import render_markdown
from reportgen.render.site import render_site
from reportgen.report.merge import merge
from reportgen.report.renaming import Project

SAMPLE = sample_report()


def merged(*projects: tuple[str, Report]) -> Report:
    return merge([Project(name=name, report=report) for name, report in projects])[0]


def other() -> Report:
    """The sample with one pipeline less, other costs, a detector that did not run, and no healing log."""
    kept = SAMPLE.pipelines[0].pipeline
    found = [one for one in SAMPLE.recommendations if one.pipeline == kept]
    ids = {one.id for one in found}
    return replace(
        SAMPLE,
        pipelines=[replace(one, cost="12.5", recommendations=[name for name in one.recommendations if name in ids])
                   for one in SAMPLE.pipelines if one.pipeline == kept],
        agents=[replace(one, recommendations=[name for name in one.recommendations if name in ids])
                for one in SAMPLE.agents if one.pipeline == kept],
        recommendations=found,
        groups=[group for group in SAMPLE.groups if set(group.ids) <= ids],
        charts=[chart for chart in SAMPLE.charts if not chart.key],
        runs=[one for one in SAMPLE.runs if one.pipeline == kept],
        healing=empty_report().healing,
        budget=[],
    )  # fmt: skip


def key(one: Recommendation) -> tuple[object, ...]:
    """What a finding says, its names and its place in the list apart."""
    return (
        one.finding, one.action, one.observed, one.baseline, one.threshold, one.saving, one.saving_share,
        one.vfm, one.decision, one.effort, tuple(one.labels), tuple(one.evidence),
    )  # fmt: skip


def rows(charts: Sequence[Chart]) -> Counter[tuple[str, tuple[str, ...]]]:
    """Every row of the charts by the id of its chart, without the cells that names are in."""
    out: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for chart in charts:
        kept = [place for place, column in enumerate(chart.columns)
                if column.name not in ("pipeline", "agent", "recommendation", "recommendation_id")]  # fmt: skip
        for row in chart.rows:
            out[(chart.kind + chart.page, tuple(repr(row[place]) for place in kept))] += 1
    return out


def test_one_project_merged_is_its_own_report_under_other_names() -> None:
    one = merged(("shop", SAMPLE))
    assert [p.pipeline for p in one.pipelines] == [f"shop / {p.pipeline}" for p in SAMPLE.pipelines]
    assert [p.slug for p in one.pipelines] == [f"shop_{p.slug}" for p in SAMPLE.pipelines]
    assert [replace(new, pipeline=old.pipeline, slug=old.slug, recommendations=old.recommendations)
            for new, old in zip(one.pipelines, SAMPLE.pipelines, strict=True)] == SAMPLE.pipelines  # fmt: skip
    assert [r.id for r in one.recommendations] == [f"{r.id}_shop" for r in SAMPLE.recommendations]
    assert [r.rank for r in one.recommendations] == [r.rank for r in SAMPLE.recommendations]
    assert list(map(key, one.recommendations)) == list(map(key, SAMPLE.recommendations))
    assert [(g.rank, g.total, g.action, g.effort, g.decision) for g in one.groups] == [
        (g.rank, g.total, g.action, g.effort, g.decision) for g in SAMPLE.groups
    ]
    assert [(a.agent, a.slug, a.cost, a.runs) for a in one.agents] == [
        (a.agent, a.slug, a.cost, a.runs) for a in sorted(SAMPLE.agents, key=lambda a: a.pipeline)
    ]
    for name in ("patterns", "trends", "period", "rejected_total"):
        assert getattr(one, name) == getattr(SAMPLE, name), name
    by_id = sorted(SAMPLE.detectors, key=lambda d: d.detector)
    assert [(d.detector, d.status, d.findings, d.message, d.checked, d.parameters) for d in one.detectors] == [
        (d.detector, d.status, d.findings, d.message, d.checked, d.parameters) for d in by_id
    ]
    assert rows(one.charts) == rows(SAMPLE.charts)
    assert [chart.title for chart in one.charts] == [chart.title for chart in SAMPLE.charts]


def test_the_order_in_which_projects_are_named_changes_nothing() -> None:
    parts = [("shop", SAMPLE), ("Lab", other()), ("attic", empty_report())]
    whole = merged(*parts)
    assert all(merged(*some) == whole for some in itertools.permutations(parts))


def test_the_whole_is_the_sum_of_its_parts() -> None:
    parts = [SAMPLE, other(), empty_report()]
    whole = merged(*zip(("shop", "lab", "attic"), parts, strict=True))
    for name in ("events", "runs", "feedback_rows", "incomplete_runs"):
        assert sum(getattr(p, name) for p in whole.pipelines) == sum(
            getattr(p, name) for part in parts for p in part.pipelines
        )
    for measure in ("usd", "tokens", "events"):
        costs = [p.cost for part in parts for p in part.pipelines if p.cost_measure == measure]
        mine = [p for p in whole.pipelines if p.cost_measure == measure]
        assert Counter(p.cost for p in mine) == Counter(costs), "unknown costs stay unknown"
        total = sum(Decimal(cost) for cost in costs if cost is not None)
        shares = [p.cost_share for p in mine if p.cost_share is not None]
        assert not total or sum(shares) == pytest.approx(1)
        halves = [trend for part in parts for trend in part.trends if trend.measure == measure]
        for trend in (one for one in whole.trends if one.measure == measure):
            assert Decimal(trend.recent_cost or 0) == sum(Decimal(one.recent_cost or 0) for one in halves)
            assert trend.earlier_runs == sum(one.earlier_runs for one in halves)
    assert Counter(map(key, whole.recommendations)) == Counter(
        key(one) for part in parts for one in part.recommendations
    )
    for name in ("lines", "used", "rejected", "blank", "events"):
        assert sum(getattr(i, name) for i in whole.inputs) == sum(getattr(i, name) for p in parts for i in p.inputs)
    assert whole.rejected_total == sum(part.rejected_total for part in parts)
    for name in ("attempts", "incidents", "escalated", "blocked", "recovered"):
        assert getattr(whole.healing, name) == sum(getattr(part.healing, name) for part in parts)
    assert {tag.tag: tag.rows for tag in whole.patterns} == Counter(
        {tag.tag: 0 for tag in whole.patterns}
        | Counter(itertools.chain(*([tag.tag] * tag.rows for part in parts for tag in part.patterns)))
    )
    assert len(whole.runs) == sum(len(part.runs) for part in parts)
    assert len(whole.notices) == sum(len(part.notices) for part in parts)


def test_no_row_of_a_chart_is_lost() -> None:
    whole = merged(("shop", SAMPLE), ("lab", other()))
    assert rows(whole.charts) == rows(SAMPLE.charts) + rows(other().charts)
    assert len({(chart.page, chart.key, chart.id) for chart in whole.charts}) == len(whole.charts)
    assert len({chart.csv for chart in whole.charts}) == len(whole.charts)
    day, _, pipeline = range(3)
    together = [chart for chart in whole.charts if chart.page == "overview" and chart.measure == "usd"]
    assert [chart.id for chart in together] == ["cost_over_time_usd"], "drawn once, as its rows name their pipelines"
    (drawn,) = together
    assert {row[pipeline] for row in drawn.rows} == {"lab / doc-pipeline", "shop / doc-pipeline"}
    assert [row[day] for row in drawn.rows] == sorted(str(row[day]) for row in drawn.rows)
    # The limit is of one project's bars, not of these.
    assert drawn.line_at is None
    apart = [chart for chart in whole.charts if chart.page == "agents"]
    assert [chart.title.partition(":")[0] for chart in apart] == ["lab", "shop"], "nothing there tells whose row it is"
    # Findings stand in the order of the merged list.
    times = next(chart for chart in whole.charts if chart.page == "recommendations")
    ranks = {one.id: one.rank for one in whole.recommendations}
    found = [ranks[str(row[2])] for row in times.rows if row[2] in ranks]
    assert found == sorted(found)


def test_what_was_found_in_one_project_is_not_said_of_all() -> None:
    said = [replace(chart, title="docs costs most", about="Cost per day") for chart in SAMPLE.charts
            if chart.page == "overview"]  # fmt: skip
    whole = merged(("shop", replace(SAMPLE, charts=said)), ("lab", replace(SAMPLE, charts=said)))
    assert {(chart.title, chart.about) for chart in whole.charts} == {("Cost per day", "")}


def test_findings_are_ordered_as_in_one_report() -> None:
    whole = merged(("shop", SAMPLE), ("lab", other()))
    order = [(-r.vfm.total, "SML".index(r.effort)) for r in whole.recommendations]
    assert order == sorted(order)
    assert [r.rank for r in whole.recommendations] == list(range(1, len(order) + 1))
    first = list(dict.fromkeys(r.group for r in whole.recommendations))
    assert [g.group for g in whole.groups] == first
    assert [g.rank for g in whole.groups] == list(range(1, len(first) + 1))


def test_every_name_leads_somewhere() -> None:
    whole = merged(("shop", SAMPLE), ("lab", other()))
    pipelines = {p.pipeline for p in whole.pipelines}
    ids = {r.id for r in whole.recommendations}
    keys = {p.slug for p in whole.pipelines} | {a.slug for a in whole.agents} | ids | {""}
    assert len(ids) == len(whole.recommendations)
    assert {r.pipeline for r in whole.recommendations} <= pipelines | {ALL_PIPELINES}
    named = [p.recommendations for p in whole.pipelines] + [a.recommendations for a in whole.agents]
    named += [run.recommendations for run in whole.runs]
    assert set(itertools.chain(*named)) <= ids
    assert {chart.key for chart in whole.charts} <= keys
    assert {r.detector for r in whole.recommendations} <= {d.detector for d in whole.detectors}
    assert {run.pipeline for run in whole.runs} <= pipelines
    for one in whole.recommendations:
        assert one.pipeline in one.title or one.pipeline == ALL_PIPELINES
    whole = merged(("shop", other()), ("lab", other()))
    site = render_site(whole)
    assert {f"pipelines/{p.slug}.html" for p in whole.pipelines} <= set(site)
    assert "shop / " in render_markdown(whole)


def agent(name: str, slug: str, events: int = 5, pipeline: str = "docs") -> Agent:
    return replace(SAMPLE.agents[0], agent=name, slug=slug, events=events, pipeline=pipeline, recommendations=[])


def of(*agents: Agent) -> Report:
    return replace(empty_report(), agents=list(agents))


def test_an_agent_of_two_projects_is_one_with_a_row_for_each() -> None:
    whole = merged(("shop", of(agent("Writer", "writer", 9))), ("lab", of(agent("writer", "writer", 3))))
    assert [(a.agent, a.slug, a.pipeline) for a in whole.agents] == [
        ("Writer", "writer", "lab / docs"),
        ("Writer", "writer", "shop / docs"),
    ]


def test_two_people_who_look_alike_are_told_apart() -> None:
    whole = merged(("shop", of(agent("[e-mail 1]", "n-aaaa1111"))), ("lab", of(agent("[e-mail 1]", "n-bbbb2222"))))
    assert [(a.agent, a.slug) for a in whole.agents] == [
        ("[e-mail 1] (lab)", "n-bbbb2222"),
        ("[e-mail 1] (shop)", "n-aaaa1111"),
    ]


def test_one_person_with_two_numbers_is_one() -> None:
    whole = merged(("shop", of(agent("[e-mail 2]", "n-aaaa1111", 9))), ("lab", of(agent("[e-mail 1]", "n-aaaa1111"))))
    assert {(a.agent, a.slug) for a in whole.agents} == {("[e-mail 2]", "n-aaaa1111")}


def test_who_only_claims_the_page_of_another_gets_a_page_of_its_own() -> None:
    whole = merged(("shop", of(agent("writer", "writer"))), ("lab", of(agent("<b>boss</b>", "writer", 10**9))))
    assert {(a.agent, a.slug) for a in whole.agents} == {("writer", "writer_shop"), ("<b>boss</b>", "writer_lab")}


def detector(status: str, **values: object) -> Detector:
    base = next(one for one in SAMPLE.detectors if one.status == "found")
    return replace(base, status=status, findings=0, checked="", message=None, where=None, **values)  # type: ignore[arg-type]


def detectors_of(*ones: Detector) -> list[Detector]:
    names = ("attic", "lab", "shop")
    reports = [(name, replace(empty_report(), detectors=[one])) for name, one in zip(names, ones, strict=False)]
    return merged(*reports).detectors


def test_what_one_project_had_no_data_for_is_not_clear_in_silence() -> None:
    (one,) = detectors_of(
        replace(detector("clear"), checked="12 runs"), replace(detector("skipped"), message="not_enough_data: 2 of 20")
    )
    assert (one.status, one.message) == ("clear", None)
    assert one.checked == "attic: 12 runs; lab: not looked at, not enough data: 2 of 20"


def test_a_detector_that_failed_anywhere_has_failed() -> None:
    failed = replace(detector("error"), message="no such column", where="sql/detectors/x.sql:3")
    (one,) = detectors_of(replace(detector("found"), findings=2), failed)
    assert (one.status, one.findings, one.message, one.where) == (
        "error", 2, "no such column", "lab / sql/detectors/x.sql:3",
    )  # fmt: skip


def test_a_detector_that_is_skipped_everywhere_says_why() -> None:
    (one,) = detectors_of(replace(detector("skipped"), message="no events"), replace(detector("skipped"), message="x"))
    assert (one.status, one.message) == ("skipped", "attic: no events; lab: x")


def test_parameters_that_differ_are_told_with_their_owners() -> None:
    def with_value(value: str) -> Detector:
        return detector("clear", parameters=[Parameter(name="min", value=value, default="3", unit="", doc="")])

    (one,) = detectors_of(with_value("3"), with_value("4"), with_value("3"))
    assert one.parameters[0].value == "3 (attic, shop), 4 (lab)"


def test_a_detector_of_another_text_is_another_detector() -> None:
    own = detector("found", digest="b" * 16, origin="project")
    first, second = detectors_of(detector("clear", digest="a" * 16), own)
    assert first.detector == own.detector
    assert (second.detector, second.file) == (f"{own.detector}--lab", f"sql/detectors/{own.detector}--lab.sql")
    assert second.title.endswith("(lab)")
    found = replace(SAMPLE.recommendations[0], detector=own.detector)
    reports = [replace(SAMPLE, detectors=[detector("found", digest=text)], recommendations=[found],
                       groups=[replace(SAMPLE.groups[0], ids=[found.id])]) for text in ("a" * 16, "b" * 16)]  # fmt: skip
    whole = merged(("shop", reports[0]), ("tin", reports[1]))
    assert {(r.detector, r.id[-4:]) for r in whole.recommendations} == {
        (own.detector, "shop"),
        (f"{own.detector}--tin", "_tin"),
    }


def test_a_finding_of_all_pipelines_is_of_those_of_its_project() -> None:
    one = replace(
        SAMPLE.recommendations[0], pipeline=ALL_PIPELINES, subject=ALL_PIPELINES, subject_kind="project", issue="Loops"
    )
    whole = merged(("shop", replace(SAMPLE, recommendations=[one], groups=[replace(SAMPLE.groups[0], ids=[one.id])])))
    found = whole.recommendations[0]
    assert (found.title, found.pipeline) == ("Loops: all pipelines of shop", ALL_PIPELINES)


def test_settings_that_differ_are_told_with_their_project() -> None:
    strict = replace(
        SAMPLE.build,
        settings=[("run_gap", "30", "minutes"), ("score_flag", "50", "points")],
        since="2026-10-01T00:00:00Z",
        now="2026-11-02T00:00:00Z",
    )
    whole = merged(("shop", SAMPLE), ("lab", replace(SAMPLE, build=strict)))
    assert ("run_gap", "30", "minutes") in whole.build.settings
    assert ("lab: score_flag", "50", "points") in whole.build.settings
    assert ("score_flag", "50 or 60", "points") in whole.build.settings
    assert ("lab: since", "2026-10-01T00:00:00Z", "") in whole.build.settings
    assert ("shop: now", str(SAMPLE.build.now), "") in whole.build.settings
    assert (whole.build.since, whole.build.now) == (None, "2026-11-02T00:00:00Z")


def test_notices_and_files_say_whose_they_are() -> None:
    report = replace(
        empty_report(),
        notices=[Notice(code="a", message="odd"), Notice(code="b", message="torn", file="x.jsonl", line=3)],
    )
    whole = merge([Project(name="lab", report=report)], notices=[Notice(code="c", message="first")])[0]
    assert [(n.message, n.file) for n in whole.notices] == [
        ("first", None), ("lab: odd", None), ("torn", "lab / x.jsonl"),
    ]  # fmt: skip


def test_hostile_text_is_merged_and_shown_as_text() -> None:
    hostile = hostile_report()
    whole = merged(("<script>alert(1)</script>", hostile), ("lab", hostile))
    pages = render_site(whole)
    assert all(b"<script>alert(1)" not in page for name, page in pages.items() if name.endswith(".html"))
    assert len(whole.recommendations) == 2 * len(hostile.recommendations)


@pytest.mark.parametrize("names", [["shop", "Shop"], []])
def test_two_projects_of_one_name_are_no_projects_to_merge(names: list[str]) -> None:
    with pytest.raises(ValueError, match="a name of its own"):
        merged(*((name, SAMPLE) for name in names))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.text(st.characters(codec="ascii", exclude_categories=["Cc"])), min_size=2, max_size=2)))
def test_csv_is_read_back_as_it_was_written(cells: list[list[str]]) -> None:
    columns, found = read_csv(csv_text(["a", "b"], cells).encode())
    assert (columns, found) == (["a", "b"], cells)


@pytest.mark.parametrize("data", [b"", b"a,a\n1,2\n", b"a,b\n1\n", b'a,b\n"1,2\n', b"\xff,b\n", b"a,b\n1,2,3\n"])
def test_what_is_no_csv_of_ours_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_csv(data)
