"""A row and an anchor for every run, by the month of its start, on pages that stay small."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from page_reader import read_page
from project import built, event, write_project
from report_factory import LONG, sample_report

from reportgen.model import Run
from reportgen.render import runpages
from reportgen.render.format import duration
from reportgen.render.runpages import MOST_BYTES, costliest, run_pages, runs_of
from reportgen.render.site import plan_site, render_site


def run(name: str, started: str | None = "2026-10-03T09:14:07Z", cost: str | None = "1", **changed: object) -> Run:
    base = Run(
        pipeline="docs", run=name, anchor=f"run-{name}", started=started, ended=started, events=1, agents=1, cost=cost,
        incomplete=False, recommendations=[],
    )  # fmt: skip
    return replace(base, **changed)  # type: ignore[arg-type]


def test_a_run_is_on_the_page_of_the_month_in_which_it_started() -> None:
    # It ends in October: the start decides.
    over = run("a", "2026-09-30T23:59:59Z", ended="2026-10-01T00:20:00Z")
    pages = run_pages([over, run("b"), run("c", "2025-10-01T00:00:00Z"), run("d", None)])
    assert [(p.name, p.title, [r.run for r in p.runs]) for p in pages] == [
        ("runs-2026-10", "October 2026", ["b"]),
        ("runs-2026-09", "September 2026", ["a"]),
        ("runs-2025-10", "October 2025", ["c"]),
        ("runs-undated", "Without a time", ["d"]),
    ]


def test_a_page_has_room_for_what_matters_most() -> None:
    cheap = [run(f"{n:05d}", cost="0.5") for n in range(6000)]
    # One with a recommendation costs least of all; one costs most; of one the cost is not known.
    some = [run("odd", cost="0.1", recommendations=["x"]), run("dear", cost="9"), run("unknown", cost=None)]
    (page,) = run_pages([*cheap, *some])
    names = [r.run for r in page.runs]
    assert page.left_out == 6003 - len(names) > 0
    # They stand in the order of all runs, whatever was left out.
    assert names[-2:] == ["odd", "dear"]
    assert [r.run for r in costliest([*cheap, *some], 2)] == ["dear", "00000"]
    assert costliest(some)[-1].run == "unknown"


@pytest.mark.parametrize("name", [LONG, "<&\"'>" * 60, "文書" * 100, "\x00" * 500])
def test_no_page_comes_near_a_megabyte_whatever_runs_are_called(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a tenth of the size: what holds for the room that is given holds for all of it."""
    assert MOST_BYTES * 1.2 < 1_000_000
    monkeypatch.setattr(runpages, "MOST_BYTES", MOST_BYTES // 10)
    report = sample_report()
    runs = [run(f"{n}", pipeline="doc-pipeline") for n in range(900)]
    made = plan_site(replace(report, runs=[replace(r, run=name, anchor=f"run-{r.run}") for r in runs]))
    data = made["pipelines/doc-pipeline/runs-2026-10.html"]()
    assert MOST_BYTES / 40 < len(data) < MOST_BYTES * 0.12
    assert "more are in the CSV" in read_page(data).text()


def test_every_run_has_a_row_that_says_what_it_was_and_leads_to_what_was_found() -> None:
    report = sample_report()
    site = render_site(replace(report, charts=[]))
    links = runs_of(report).links
    assert len(links) == len(report.runs)
    for one in report.runs:
        path, _, anchor = links[(one.pipeline, one.run)].partition("#")
        page = read_page(site[path])
        assert page.faults == []
        row = next(e for e in page.all("tr") if e.attributes.get("id") == anchor == one.anchor)
        hrefs = [e.attributes["href"] for e in page.all("a") if row in e.inside]
        assert hrefs == [f"../../recommendations/{name}.html" for name in one.recommendations]
        cells = [e.text.strip() for e in page.elements if e.tag in ("th", "td") and row in e.inside]
        assert cells[0].startswith(one.run)
        assert cells[3:5] == [f"{one.events:,}", str(one.agents)]
    page = read_page(site["pipelines/doc-pipeline/runs-2026-10.html"])
    costs = {
        e.inside[-1].attributes["id"]: e.text.strip() for e in page.all("td") if e.text.strip().startswith(("≥", "$"))
    }
    # An event of unknown cost is in the one, so that it cost at least this; 2026-10-09 08:00 to 10-11 20:00 is 2.5 days.
    assert costs["run-run-000087"] == "≥ $5.98"
    assert costs["run-run-000123"] == "$18.20"
    assert "2.5 days" in page.text()
    undated = read_page(site["pipelines/doc-pipeline/runs-undated.html"]).all("td")
    assert [e.text.strip() for e in undated] == ["unknown", "unknown", "3", "1", "unknown"]


def test_the_pages_about_a_run_lead_to_its_row() -> None:
    report = sample_report()
    site = render_site(replace(report, charts=[]))
    found = next(r for r in report.recommendations if r.subject == "run-000123")
    goal = "pipelines/doc-pipeline/runs-2026-10.html#run-run-000123"
    for path, link in (
        (f"recommendations/{found.id}.html", f"../{goal}"),
        ("pipelines/doc-pipeline.html", f"../{goal}"),
    ):
        assert link in {e.attributes["href"] for e in read_page(site[path]).all("a")}, path
    months = {e.text for e in read_page(site["pipelines/doc-pipeline.html"]).all("a")}
    assert {"October 2026", "September 2026", "Without a time"} <= months


def test_an_anchor_stays_when_more_runs_come(tmp_path: Path) -> None:
    events = [
        event("2026-10-01T00:00:00Z", "writer", pipeline="docs", run_id="R 7/ä", cost_usd=1),
        event("2026-10-02T00:00:00Z", "writer", pipeline="docs", run_id="plain-8", cost_usd=1),
        event("2026-10-03T00:00:00Z", "writer", pipeline="docs", run_id=None, cost_usd=1),
    ]

    def anchors() -> list[str]:
        page = read_page((tmp_path / "site" / "pipelines" / "docs" / "runs-2026-10.html").read_bytes())
        return [e.attributes["id"] for e in page.all("tr") if e.attributes.get("id", "").startswith("run-")]

    report = built(write_project(tmp_path, events))
    before = anchors()
    assert before[1] == "run-plain-8"
    assert len(before) == 3
    # report.json names the CSV, not every run.
    assert "runs" not in report
    more = [event(f"2026-10-04T0{n}:00:00Z", "writer", pipeline="docs", run_id=f"x{n}", cost_usd=1) for n in range(5)]
    earlier = event("2026-09-01T00:00:00Z", "writer", pipeline="docs", run_id="first", cost_usd=1)
    built(write_project(tmp_path, [earlier, *events, *more]))
    assert anchors()[:3] == before


@pytest.mark.parametrize(
    ("started", "ended", "shown"),
    [
        ("2026-10-01T00:00:00Z", "2026-10-01T00:00:00Z", "0 s"),
        ("2026-10-01T00:00:00Z", "2026-10-01T00:01:59Z", "119 s"),
        ("2026-10-01T00:00:00Z", "2026-10-01T00:02:29Z", "2 min"),
        ("2026-10-01T00:00:00Z", "2026-10-01T01:59:59Z", "120 min"),
        ("2026-10-01T00:00:00Z", "2026-10-01T03:30:00Z", "3.5 h"),
        ("2026-10-01T00:00:00Z", "2026-10-03T12:00:00Z", "2.5 days"),
        (None, "2026-10-03T12:00:00Z", "unknown"),
        ("2026-10-01T00:00:00Z", None, "unknown"),
    ],
)
def test_a_duration_reads_well(started: str | None, ended: str | None, shown: str) -> None:
    assert duration(started, ended) == shown
