"""RECOMMENDATIONS.md: whole, readable raw and rendered, linked by its own headings."""

from __future__ import annotations

import difflib
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_reading import (
    HOST,
    REPORTS,
    anchors,
    headings,
    host_anchor,
    made,
    parsed,
    rendered,
    run_outliers,
    section,
    table_with,
    tables,
)
from project import built, event, write_project
from report_factory import sample_report

from reportgen.glossary import EFFORTS, HINTS, PARTS
from reportgen.model import Evidence, Notice, RejectedLine
from reportgen.render import BUILD_HASH
from reportgen.render.markdown import WIDTH, render_markdown

# ── the file ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", REPORTS)
def test_the_file_is_tidy(name: str) -> None:
    text = made(name)
    first, *_ = text.split("\n")
    assert first.startswith("<!-- reportgen: written by reportgen build")
    assert first.endswith(f"build {BUILD_HASH} -->")
    assert text.count(BUILD_HASH) == 1
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert "\n\n\n" not in text
    assert "\r" not in text
    assert not re.search(r"[ \t]$", text, re.MULTILINE)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", text)
    text.encode("utf-8")
    assert "Nothing is applied automatically" in rendered(text)


@pytest.mark.parametrize("name", REPORTS)
def test_lines_are_short_where_they_can_be(name: str) -> None:
    fenced = False
    for line in made(name).split("\n"):
        fenced ^= line.startswith("```")
        if not fenced and not line.startswith(("|", "#", "<", "[")):
            # Longer only where a single word is.
            assert len(line) <= WIDTH or len(line.split()) <= 2, line


def test_the_same_report_gives_the_same_bytes() -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from report_factory import sample_report\nfrom reportgen.render.markdown import render_markdown\n"
        "sys.stdout.buffer.write(render_markdown(sample_report()).encode())\n"
        "assert not {'plotly', 'duckdb', 'click'} & set(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(Path(__file__).parent)],
        env={"PYTHONHASHSEED": "7", "LC_ALL": "C", "TZ": "Asia/Tokyo"},
        capture_output=True,
        check=True,
    )
    assert done.stdout == made("sample").encode()


# ── a full report ────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_sections_come_in_the_order_in_which_they_are_read() -> None:
    assert [title for tag, title in headings(made("sample")) if tag == "h2"] == [
        "What was analysed",
        "Ranked",
        "Trend",
        "Recommendations",
        "Detectors",
        "Agents",
        "Recurring patterns",
        "Healing",
        "Budget",
        "No longer found",
        "Scores",
        "Data quality",
    ]


def test_it_says_what_was_analysed() -> None:
    text = section(made("sample"), "What was analysed")
    # That times are UTC is said once.
    assert "2026-09-17 06:02 to 2026-10-31 22:41, 44.7 days; all times are UTC" in text
    assert made("sample").count("UTC") == 1
    assert "budget/cost-events.jsonl: 51,604 lines, 51,570 records, 5 rejected" in text
    assert tables(text)[0] == [
        ["Pipeline", "Runs", "Events", "Cost", "Cost known for", "Cost per run", "Mean score"],
        ["doc-pipeline", "214", "31,240", "$412.87", "98%", "$1.93", "71.4"],
        ["review-pipeline", "180", "18,120", "≈ 48.2 M tokens", "71%", "≈ 267,839 tokens", "82.3"],
        ["intake", "96", "2,210", "2,210 events", "0%", "23 events", "–"],
    ]
    told = rendered(section(made("sample"), "Trend"))
    # (2.114802 - 1.751221) / 1.751221 is 20.8%; of the whole cost, (219.939408 - 192.63431) / 192.63431 is 14.2%.
    assert "doc-pipeline: cost per run $1.75 to $2.11 (+21%), mean score 73.6 to 68.9" in told
    assert "Cost: $412.87; $192.63 to $219.94 (+14%); per run $1.75 to $2.11 (+21%)" in told
    assert "Cost in tokens: ≈ 48.2 M tokens; ≈ 26.5 M tokens to ≈ 21.7 M tokens (-18%)" in told
    assert "Cost in events: 2,210 events; its change is unknown" in told


def test_a_trend_of_costs_that_are_partly_unknown_is_one_of_what_is_known() -> None:
    report = sample_report()
    pipelines = [replace(one, incomplete=one.cost_measure == "usd") for one in report.pipelines]
    assert "of what is known" not in section(made("sample"), "Trend")
    told = rendered(section(render_markdown(replace(report, pipelines=pipelines)), "Trend"))
    assert "doc-pipeline: cost per run ≥ $1.75 to ≥ $2.11 (+21%), mean score 73.6 to 68.9" in told
    assert "Cost: ≥ $412.87; ≥ $192.63 to ≥ $219.94 (+14%); per run ≥ $1.75 to ≥ $2.11" in told
    assert "From the earlier half of the period to the later; where ≥ stands, of what is known:" in told


def test_the_ranked_table_leads_to_a_heading_of_each() -> None:
    report, text = sample_report(), made("sample")
    rows = table_with(text, "Score")
    assert [row[-1] for row in rows] == [group.title for group in report.groups]
    assert rows[0][:4] == ["64", "implement", "medium", "$153.64 (37%)"]
    # Three runs could save 16.27, 7.17 and 4.05 together.
    assert rows[3][:4] == ["38", "defer", "small", "$27.49 (6.7%)"]
    assert rows[2][3] == "≈ 18.7 M tokens (39%)"
    assert rows[5][3] == "unknown"
    goals = anchors(text)
    links = [
        str(part.attrs["href"]) for token in parsed(text) for part in token.children or [] if part.type == "link_open"
    ]
    assert links.pop() == "#scores"
    for link, group in zip(links, report.groups, strict=True):
        # The heading is the title; the anchor above it says what it is about, and ends with what never changes.
        assert goals[link[1:]] == group.title
        if len(group.ids) == 1:
            told = f"{group.title} {group.ids[0].rsplit('-', 1)[1]}"
        else:
            told = f"{group.issue} in {group.pipeline} {'-'.join(group.group.split('-')[-2:])}"
        assert link == f"#{host_anchor(told)}"


def test_the_place_in_the_list_is_written_nowhere_so_that_it_can_not_change() -> None:
    report = sample_report()
    one = next(r for r in report.recommendations if r.subject == "archivist")
    best = replace(one, rank=0, vfm=replace(one.vfm, total=99, burden_reduction=25), decision="implement")
    first = replace(report.groups[5], rank=0, total=99, decision="implement")
    moved = [best if r.id == best.id else r for r in report.recommendations]
    groups = [first, *(g for g in report.groups if g.group != first.group)]
    before = made("sample").split("\n")
    after = render_markdown(replace(report, recommendations=moved, groups=groups)).split("\n")
    # Nothing is left but that it stands elsewhere: its own lines, the headline, its score and part of it, told twice.
    gone = set(before) - set(after)
    assert len(gone) <= 8, gone


def test_each_recommendation_is_told_whole() -> None:
    report, text = sample_report(), made("sample")
    scores = rendered(section(text, "Scores"))
    for one in report.recommendations:
        part = re.search(rf"^#{{3,4}} {re.escape(one.title)}\n(.*?)(?=^#|\Z)", text, re.DOTALL | re.MULTILINE)
        assert part, one.id
        told = rendered(part.group(1))
        assert re.sub(r"[*`]", "", one.finding) in told
        assert f"Action: {one.action} Effort: {EFFORTS[one.effort]}." in told
        points = " + ".join(f"{label.lower()} {getattr(one.vfm, key)}" for key, label, _ in PARTS)
        assert f"Score: {one.vfm.total} of 100, {one.decision} ({HINTS[one.decision]}): {points}" in told
        for row in one.evidence:
            assert f" {row.label}: " in told
        words = [f"{label} {getattr(one.vfm, key)} of 25: {one.vfm_evidence[key]}." for key, label, _ in PARTS]
        assert f"{one.title}: {one.vfm.total} of 100. {' '.join(words)} Id: {one.id}" in scores
    first = rendered(text[text.index(f"### {report.recommendations[0].title}") :])
    assert "Saving: $153.64, 37% of the pipeline's cost, measured" in first
    assert "What could be saved: $153.64" in first
    assert "Labels: new" in text
    assert "Saving: unknown" in text


def test_of_a_long_group_ten_are_told_in_full_and_no_other_is_hidden() -> None:
    report = run_outliers(14)
    text = render_markdown(report)
    full = [title for tag, title in headings(text) if tag == "h4"]
    assert full == [f"Run {n}" for n in range(1, 11)]
    rest = table_with(section(text, "Recommendations"), "About")
    assert [row[0] for row in rest] == ["run-011", "run-012", "run-013", "run-014"]
    assert rest[0] == ["run-011", "38", "5+16+10+7", "defer", "$18.20", "$16.27", "cost-outlier-run-011-abcdef0011"]
    assert table_with(text, "Score")[0][-1] == report.groups[0].title
    assert "the other 4" in text
    assert "the other" not in render_markdown(run_outliers(10))


def test_a_group_that_grows_keeps_the_anchors_of_its_members() -> None:
    for count in (1, 2, 14):
        assert anchors(render_markdown(run_outliers(count)))["run-1-abcdef0001"] == "Run 1"
    # So does the group itself.
    two, many = (list(anchors(render_markdown(run_outliers(count)))) for count in (2, 14))
    assert two[0] == many[0]


def test_detectors_agents_patterns_healing_and_budget_are_told() -> None:
    text = made("sample")
    assert [row[1] for row in table_with(text, "Detector")] == [
        "2 found",
        "2 found",
        "3 found",
        "3 found",
        "error",
        "skipped",
        "clear",
    ]
    told = rendered(text)
    assert "score_drop: Skipped: not enough data: 7 scores, 20 needed." in told
    assert "score_drop: Agents whose scores fall." in told
    assert "min_scores = 20 scores (default 10)" in told
    assert "cost_outlier: Runs that cost three times the usual. In force: min_ratio = 3 times the mean run." in told
    agents = [row for rows in tables(text) if rows[0][0] == "Agent" for row in rows[1:]]
    assert len(agents) == len(sample_report().agents)
    assert ["agent-writer", "17,120", "209", "$240.12", "$1.15", "54.3", "55%", "-8.4", "below 60"] in agents
    assert ["agent-planner", "6,210", "214", "$81.44", "$0.38", "88.1", "0%", "+2.1", ""] in agents
    assert ["triage", "2,180", "96", "unknown", "unknown", "–", "–", "–", ""] in agents
    assert "loop-excess: 21 reviews" in section(text, "Recurring patterns")
    assert "Under 3 reviews: tone (2)." in section(text, "Recurring patterns")
    healing = rendered(section(text, "Healing"))
    assert "26 attempts in 21 incidents: 2 escalated, 2 blocked, 17 presumed recovered." in healing
    assert (
        "At most five retries are allowed; the call that asks for one more is an attempt that is escalated." in healing
    )
    assert {row[5] for row in table_with(text, "Last")} == {"escalated", "blocked"}
    budget = tables(section(text, "Budget"))[0]
    assert budget[2] == ["agent-writer", "monthly", "2026-10-01", "$120.00", "$168.20", "140%", "over", "0 of 1"]
    assert budget[3][4:6] == ["unknown", "unknown"]


def test_every_line_is_accounted_for() -> None:
    text = section(made("sample"), "Data quality")
    for row in table_with(text, "File"):
        lines, *fates = (int(cell.replace(",", "")) for cell in row[1:])
        assert sum(fates) == lines
    assert "7 lines rejected" in text
    assert ["budget/cost-events.jsonl:40110", "not an object", "[1, 2, 3]"] in table_with(text, "Line")
    told = rendered(text)
    assert "Warning: line not understood: `- ceiling: lots` (BUDGET.md:7)" in told
    assert "Note: agent-writer is also spelled Agent-Writer [31]" in told
    # A count that the message tells is not told twice.
    notices = [
        Notice(code="x", message=f"{told} events of 26,259 name no agent", count=249) for told in ("249", "1,249")
    ]
    other = rendered(render_markdown(replace(sample_report(), notices=notices)))
    assert "Warning: 249 events of 26,259 name no agent Warning: 1,249 events of 26,259 name no agent [249]" in other
    assert "duckdb 2.0.1" in told
    assert "run_gap = 30 minutes" in told
    assert "redacted" in told


def test_of_many_rejected_lines_twenty_are_listed_and_all_are_counted() -> None:
    lines = [RejectedLine(file="e.jsonl", line=n, reason="not JSON", snippet="x") for n in range(1, 101)]
    text = render_markdown(replace(sample_report(), rejected=lines, rejected_total=4321))
    assert [row[0] for row in table_with(text, "Line")] == [f"e.jsonl:{n}" for n in range(1, 21)]
    assert "4,321 lines rejected" in text
    assert "And 4,301 more (all are in data/rejected.csv of the site)." in text


def test_authors_markdown_stays_markdown() -> None:
    html = HOST.render(made("sample"))
    assert "<strong>17,120</strong>" in html
    assert "<code>doc-pipeline</code>" in html


# ── odd reports ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_failed_detector_stands_on_top() -> None:
    text = made("sample")
    top = rendered(text[: text.index("## What was analysed")])
    assert "1 of 7 detectors failed" in top
    assert 'night_work (sql/detectors/night_work.sql:12): Binder Error: Referenced column "hour" not found' in top
    assert "failed" not in made("clear")


def test_with_nothing_found_it_says_so_and_why_that_can_be_trusted() -> None:
    text = section(made("clear"), "Ranked")
    told = rendered(text)
    assert "No recommendation: nothing reached the threshold of any detector that ran." in told
    assert "Why this can be trusted" in told
    assert (
        "(bottleneck_agent): looked at 490 runs of 3 pipelines, 11 agents; min_ratio = 1.5 times the mean agent" in told
    )
    assert told.count("looked at") == 4
    assert "## Recommendations" not in made("clear")


def test_nothing_found_is_not_claimed_for_a_detector_that_failed() -> None:
    report = sample_report()
    detectors = [d if d.status == "error" else replace(d, status="clear", findings=0) for d in report.detectors]
    text = render_markdown(replace(report, recommendations=[], groups=[], detectors=detectors))
    assert "No recommendation from the 6 of 7 detectors that ran." in section(text, "Ranked")


def test_without_data_it_says_how_to_produce_some() -> None:
    text = made("empty")
    missing = section(text, "What is missing")
    event = json.loads(next(line for line in missing.split("\n") if line.startswith("{")))
    assert set(event) == {"timestamp", "tool_name", "agent", "estimated_tokens"}
    assert "`budget/cost-events.jsonl`" in missing
    assert "`FEEDBACK.md`" in missing
    fence = re.search(r"```markdown\n(.*?)```", missing, re.DOTALL)
    assert fence
    assert tables(fence.group(1))[0][0] == ["Date", "Pipeline", "Agent", "Score", "Issue", "Resolution", "Pattern"]
    assert "reportgen build" in missing
    assert "because no detector had data to look at" in section(text, "Ranked")
    assert "Why this can be trusted" not in text


def test_only_what_is_missing_is_asked_for() -> None:
    report = sample_report()
    no_events = replace(report, inputs=[file for file in report.inputs if file.kind != "events"])
    text = section(render_markdown(no_events), "What is missing")
    assert "There are no cost events, so cost is unknown" in text
    assert "FEEDBACK.md" not in text
    no_feedback = replace(report, inputs=[file for file in report.inputs if file.kind != "feedback"])
    text = section(render_markdown(no_feedback), "What is missing")
    assert "There is no feedback, so there are no scores" in text
    assert "cost-events" not in text
    assert "What is missing" not in made("sample")


def test_a_filter_and_a_period_are_stated() -> None:
    report = sample_report()
    build = replace(report.build, pipeline_filter="doc-pipeline", since="2026-10-01T00:00:00Z", redacted=False)
    told = rendered(render_markdown(replace(report, build=build)))
    assert "Only the pipeline doc-pipeline is shown (--pipeline)." in told.replace("`", "")
    assert "Looked at only: from 2026-10-01 00:00" in told
    assert "not redacted (--no-redact)" in told
    other = rendered(made("sample"))
    assert "is shown" not in other
    assert "Looked at only" not in other


def test_a_project_without_a_name_has_a_title_all_the_same() -> None:
    report = sample_report()
    text = render_markdown(replace(report, build=replace(report.build, project="")))
    assert headings(text)[0] == ("h1", "Recommendations")


def test_a_small_change_is_a_small_diff() -> None:
    report = sample_report()
    agents = [replace(report.agents[0], events=17121, cost="240.12"), *report.agents[1:]]
    pipelines = [replace(report.pipelines[0], events=31241, cost="413.01"), *report.pipelines[1:]]
    before = made("sample").split("\n")
    after = render_markdown(replace(report, agents=agents, pipelines=pipelines)).split("\n")
    changed = [line for line in difflib.ndiff(before, after) if line.startswith(("+ ", "- "))]
    # The pipeline's row, the agent's row and the sum of the costs, before and after.
    assert len(changed) == 6


def test_one_event_more_changes_only_what_it_is_about(tmp_path: Path) -> None:
    """A whole project is built, one event added in the middle of a run, and built again."""
    events = [
        event(f"2026-11-{day:02d}T0{hour}:00:00Z", agent, pipeline=name, run_id=f"{name}-{day}", cost_usd=cost)
        for day in range(1, 11)
        for name, cost in (("docs", 0.25), ("tests", 0.5))
        for hour, agent in ((1, "writer"), (2, "writer"), (3, "writer"), (4, "writer"), (5, "editor"))
    ]
    events[17]["cost_usd"] = 9
    built(write_project(tmp_path, events))
    before = (tmp_path / "RECOMMENDATIONS.md").read_text("utf-8").split("\n")
    more = event("2026-11-05T02:30:00Z", "editor", pipeline="docs", run_id="docs-5", cost_usd=0.25)
    built(write_project(tmp_path, [*events, more]))
    after = (tmp_path / "RECOMMENDATIONS.md").read_text("utf-8").split("\n")
    changed = [line for line in difflib.ndiff(before, after) if line.startswith(("+ ", "- "))]
    assert len([line for line in after if line]) > 120
    # The build hash, the counts of what was read, the pipeline's own rows, and what it changes of its two findings.
    assert len(changed) < 50
    assert len([line for line in changed if line.startswith(("+ #", "- #", "+ - Action", "- - Action"))]) == 0
    assert not any("tests" in line for line in changed)


def test_a_mean_of_counted_things_has_two_places_and_a_name_keeps_its_digits() -> None:
    report = sample_report()
    one, *others = report.recommendations
    evidence = [
        Evidence(name="a", label="Mean events", value="156.166666666667", unit="events"),
        Evidence(name="b", label="Also", value="4611.2", unit="events"),
        Evidence(name="c", label="Version", value="1.12345678", unit="text"),
        Evidence(name="d", label="Bare", value="1.12345678", unit=None),
    ]
    told = rendered(render_markdown(replace(report, recommendations=[replace(one, evidence=evidence), *others])))
    assert "Mean events: 156.17 events; Also: 4,611.2 events; Version: 1.12345678; Bare: 1.12345678" in told
