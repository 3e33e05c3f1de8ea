"""What findings say together, what a saving rests on, the trend of all, and that nobody's spending is not zero."""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path

import pytest
from project import built, event, write_project

from reportgen.errors import ReportgenError
from reportgen.glossary import why_skipped
from reportgen.settings import load_settings
from reportgen.wording import shared_action

LOOK = "Look why {tool} takes {who} so long; cache what it gives, or give it a time limit."


@pytest.mark.parametrize(
    ("template", "shared"),
    [
        ("Add a per-run budget cap.", "Add a per-run budget cap."),
        ("Mend the tool, or go on. Look first at {who}.", "Mend the tool, or go on."),
        ("Look at {who}. Mend {tool}, e.g. by a limit. Then {who}.", "Mend Bash, e.g. by a limit."),
        # A part of a sentence is none: it stands whole, for the first of them.
        (LOOK, "Look why Bash takes a. so long; cache what it gives, or give it a time limit. (and 1 more)"),
        ("Wait; ask {who}; then decide", "Wait; ask a.; then decide (and 1 more)"),
        ("{who} is slow. Ask {who}", "a. is slow. Ask a. (and 1 more)"),
    ],
)
def test_what_findings_share_of_an_action(template: str, shared: str) -> None:
    # The names hold a full stop: what a sentence is goes by the action's own text.
    fills = [partial(_filled, who=who) for who in ("a.", "b")]
    assert shared_action(template, fills) == shared


def _filled(text: str, who: str) -> str:
    return text.replace("{who}", who).replace("{tool}", "Bash")


def test_a_skipped_detector_says_why_in_words() -> None:
    assert why_skipped("not_enough_data: 4 of at least 10 runs") == "not enough data: 4 of at least 10 runs"
    assert why_skipped("missing input: it needs BUDGET.md") == "missing input: it needs BUDGET.md"
    assert why_skipped(None) == "an input that it needs is missing"


DETECTOR = """/*---
title = "Every agent"
finding = "{subject} was there."
action = "Look at it. Ask {subject}."
occurrences = ["visit", "visits"]
affected = "days"
saving = '''
Half of what it cost,
{saving}.'''
---*/
select pipeline, agent as subject, 1 as observed, null as baseline, null as threshold, events as occurrences,
    1 as affected_runs, 4 as total_runs, cast(1.5 as decimal(38, 12)) as saving,
    cast(3 as decimal(38, 12)) as saving_of, 'measured' as saving_basis
from agents where attributed order by pipeline, agent
"""


def two_agents(folder: Path, detector: str = DETECTOR) -> Path:
    events = [
        event("2026-11-01T00:00:00Z", "writer", cost_usd=1),
        *[event("2026-11-03T00:00:00Z", "editor", cost_usd=1)] * 2,
    ]
    return write_project(folder, events, files={"sql/detectors/every.sql": detector})


def test_a_detector_names_what_it_counts_and_what_its_saving_rests_on(tmp_path: Path) -> None:
    report = built(two_agents(tmp_path))
    one = {r["subject"]: r for r in report["recommendations"] if r["detector"] == "every"}
    assert one["writer"]["vfm_evidence"]["frequency"].startswith("1 visit in 2 days, 0.5 a day: between ")
    assert one["editor"]["vfm_evidence"]["frequency"].startswith("2 visits in 2 days, 1 a day: daily (15) → 15. ")
    assert "1 of 4 days, 25%: counts from nine of ten (21) on → 0" in one["editor"]["vfm_evidence"]["frequency"]
    assert one["editor"]["vfm_evidence"]["cost_savings"] == "50% of the pipeline's cost (measured): 50% (20) → 20"
    assert one["writer"]["saving_words"] == "Half of what it cost, 1.5."


def test_a_group_says_only_what_holds_for_each_of_its_findings(tmp_path: Path) -> None:
    # The two actions differ in the name, so each is a recommendation of its own kind, and the group shares the rest.
    report = built(two_agents(tmp_path))
    (group,) = [g for g in report["groups"] if g["detector"] == "every"]
    assert (len(group["ids"]), group["action"]) == (2, "Look at it.")
    assert {r["action"] for r in report["recommendations"] if r["detector"] == "every"} == {
        "Look at it. Ask writer.",
        "Look at it. Ask editor.",
    }


def test_the_list_the_csv_and_the_chart_have_one_order_and_say_what_they_number(tmp_path: Path) -> None:
    # Of two findings with one score and one effort, the larger part of the cost is first: here that of the later name.
    apart = DETECTOR.replace("events as occurrences", "1270 as occurrences").replace(
        "cast(1.5 as decimal(38, 12)) as saving,",
        "cast(case agent when 'writer' then 1.51 else 1.5 end as decimal(38, 12)) as saving,",
    )
    report = built(two_agents(tmp_path, apart))
    first, second = [r for r in report["recommendations"] if r["detector"] == "every"]
    assert (first["subject"], first["vfm"]["total"]) == ("writer", second["vfm"]["total"])
    rows = list(csv.DictReader((tmp_path / "site" / "data" / "recommendations.csv").open(encoding="utf-8")))
    (group,) = [g for g in report["groups"] if g["detector"] == "every"]
    mine = [(row["subject"], int(row["rank"]), int(row["place"])) for row in rows if row["detector"] == "every"]
    assert mine == [("writer", first["rank"], group["rank"]), ("editor", second["rank"], group["rank"])]
    assert first["vfm_evidence"]["frequency"].startswith("1,270 visits in 2 days, 635 a day: ")
    chart = list(csv.DictReader((tmp_path / "site" / "data" / "chart-recommendation-times.csv").open(encoding="utf-8")))
    assert [row["recommendation_id"] for row in chart] == [row["id"] for row in rows]
    (drawn,) = [c for c in report["charts"] if c["id"] == "recommendation-times"]
    assert drawn["title"] == f"{len(rows)} of {len(rows)} findings rest on something of the last 7 days"
    # The saving of all stands beside the score of one, on the card and in the text.
    for name in ("site/recommendations.html", "RECOMMENDATIONS.md"):
        said = " ".join((tmp_path / name).read_text("utf-8").split()).lower()
        assert "scored on its best-scored finding, 50% of the cost" in said


def test_a_group_whose_actions_differ_throughout_says_the_first_whole(tmp_path: Path) -> None:
    action = "Look why {subject} takes so long; cache what it gives."
    report = built(two_agents(tmp_path, DETECTOR.replace("Look at it. Ask {subject}.", action)))
    (group,) = [g for g in report["groups"] if g["detector"] == "every"]
    first = next(r["subject"] for r in report["recommendations"] if r["id"] == group["ids"][0])
    assert group["action"] == f"Look why {first} takes so long; cache what it gives. (and 1 more)"


@pytest.mark.parametrize("given", ['["one"]', '["one", 2]', '["one", " "]'])
def test_occurrences_are_named_twice(tmp_path: Path, given: str) -> None:
    report = built(two_agents(tmp_path, DETECTOR.replace('["visit", "visits"]', given)))
    (failed,) = [d for d in report["detectors"] if d["status"] == "error"]
    message, example = failed["message"].split(". For example ")
    assert message == "occurrences must name one and several of what is counted"
    assert example.startswith("[")
    assert len(json.loads(example.rstrip("."))) == 2
    assert failed["where"] == "sql/detectors/every.sql:5"


def test_the_trend_is_the_later_half_beside_the_earlier(tmp_path: Path) -> None:
    def spent(day: str, pipeline: str, run: str, cost: str) -> dict[str, object]:
        return event(f"2026-11-{day}T00:00:00Z", "writer", pipeline=pipeline, run_id=run, cost_usd=float(cost))

    # The middle of 2026-11-01 to 11-05 is 11-03: what starts then is of the later half, wherever it goes on.
    events = [
        spent("01", "a", "r1", "1.10"), spent("04", "a", "r1", "0.20"), spent("03", "a", "r2", "0.30"),
        spent("02", "b", "r3", "0.05"), spent("05", "b", "r4", "2.00"), spent("05", "b", "r5", "1.00"),
    ]  # fmt: skip
    (trend,) = built(write_project(tmp_path, events))["trends"]
    assert trend["middle"] == "2026-11-03T00:00:00Z"
    assert (trend["earlier_runs"], trend["earlier_cost"], trend["earlier_run_cost"]) == (2, "1.35", "0.675")
    assert (trend["recent_runs"], trend["recent_cost"], trend["recent_run_cost"]) == (3, "3.3", "1.1")
    (shown,) = built(tmp_path, pipeline="a")["trends"]
    assert (shown["earlier_cost"], shown["recent_cost"], shown["middle"]) == ("1.3", "0.3", trend["middle"])


def test_without_two_halves_there_is_no_trend(tmp_path: Path) -> None:
    (trend,) = built(write_project(tmp_path, [event("2026-11-01T00:00:00Z", "writer", cost_usd=1)]))["trends"]
    assert (trend["earlier_runs"], trend["earlier_cost"], trend["recent_runs"]) == (0, None, 1)
    assert trend["recent_cost"] == "1"


def test_a_limit_on_an_agent_that_no_event_names_is_unknown(tmp_path: Path) -> None:
    budget = "# Budget\n\n- limit: 500 cents\n- window: daily\n- writer: 200 cents/daily\n- nobody: 200 cents/daily\n"
    events = [event("2026-11-01T00:00:00Z", "writer", cost_usd=1), event("2026-11-02T00:00:00Z", "editor", cost_usd=1)]
    report = built(write_project(tmp_path, events, files={"BUDGET.md": budget}))
    # The writer is known and spent nothing today: that zero is measured.
    assert {b["subject"]: (b["state"], b["spent_usd"]) for b in report["budget"]} == {
        "(all agents)": ("ok", "1"),
        "writer": ("ok", "0"),
        "nobody": ("unknown", None),
    }
    assert [n["message"] for n in report["notices"] if n["code"] == "budget-unknown"] == [
        "BUDGET.md limits 'nobody', an agent that no event names"
    ]
    page = (tmp_path / "RECOMMENDATIONS.md").read_text("utf-8")
    row = next(line for line in page.split("\n") if line.startswith("| nobody"))
    assert row.count("unknown") == 4


def test_a_project_has_the_title_that_its_settings_give(tmp_path: Path) -> None:
    events = [event("2026-11-01T00:00:00Z", "writer", cost_usd=1)]
    folder = write_project(tmp_path, events, settings='[report]\ntitle = "Docs  <team>"\n')
    assert built(folder)["build"]["project"] == "Docs <team>"
    assert "# Recommendations for Docs \\<team>\n" in (folder / "RECOMMENDATIONS.md").read_text("utf-8")
    assert "<title>Overview · Docs &lt;team&gt; · reportgen</title>" in (folder / "site/index.html").read_text("utf-8")
    for wrong in ('""', "7", f'"{"x" * 81}"'):
        write_project(tmp_path, None, settings=f"[report]\ntitle = {wrong}\n")
        with pytest.raises(ReportgenError, match=r"reportgen\.toml:2.*text of 1 to 80 characters"):
            load_settings(folder)


def test_what_an_unknown_cost_is_in_is_at_least_what_is_told(tmp_path: Path) -> None:
    """20 of 21 events tell a cost: the pipeline is in US dollars. What the editor's other event cost nobody knows."""
    known = [event(f"2026-11-01T00:00:{second:02d}Z", "writer", run_id="r", cost_usd=1) for second in range(19)]
    time, more = "2026-11-01T00:01:00Z", {"run_id": "r"}
    others = [event(time, "editor", cost_usd=1, **more), event(time, "editor", tokens=5, **more)]
    report = built(write_project(tmp_path, [*known, *others]))
    assert [(p["cost"], p["incomplete"]) for p in report["pipelines"]] == [("20", True)]
    assert {a["agent"]: (a["cost"], a["incomplete"]) for a in report["agents"]} == {
        "writer": ("19", False),
        "editor": ("1", True),
    }
    assert "| ≥ $20.00 |" in " ".join((tmp_path / "RECOMMENDATIONS.md").read_text("utf-8").split())
