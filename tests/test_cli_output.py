"""What a build prints: the summary for a person, the object for a machine, and nothing that steers a terminal."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from fake_building import FakeBuilding, well
from report_factory import empty_report, hostile_report

import reportgen
from reportgen.__main__ import main
from reportgen.errors import ReportgenError
from reportgen.model import Notice


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeBuilding:
    building = FakeBuilding()
    monkeypatch.setitem(sys.modules, "reportgen.building", building)
    monkeypatch.setattr(reportgen, "building", building, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    return building


def visible(text: str) -> bool:
    """Say whether nothing in the text could steer a terminal."""
    return all(char == "\n" or (char.isprintable() or char == " ") for char in text)


# --- the summary ----------------------------------------------------------------------------------------------------


def test_the_summary_answers_first(fake: FakeBuilding, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    lines = out.splitlines()
    report = fake.report
    dollars = max((p for p in report.pipelines if p.cost_measure == "usd"), key=lambda p: Decimal(p.cost or 0))
    assert lines[0].startswith(f"{dollars.pipeline} costs most: ${Decimal(dollars.cost or 0):,.2f}")
    start = lines.index("Worth doing now  (nothing is applied automatically)")
    later = lines.index("Worth doing later")
    # Two are to be done now; the third stands under what it is: worth doing later.
    assert [g.decision for g in report.groups[:3]] == ["implement", "implement", "defer"]
    told = [*lines[start + 1 : later], lines[later + 1]]
    assert told == [f"  {g.total:>3}  {g.title}" for g in report.groups[:3]]
    little = sum(g.decision == "reject" for g in report.groups[3:])
    assert (
        lines[later + 2].strip() == f"and {len(report.groups) - 3 - little} more, and {little} not worth the effort now"
    )
    assert "Period     2026-09-17 to 2026-10-31, 44.7 days" in lines
    assert "Trend      $192.63 to $219.94 from its earlier half to its later, $1.75 to $2.11 a run" in lines
    found = sum(d.status == "found" for d in report.detectors)
    clear = sum(d.status == "clear" for d in report.detectors)
    skipped = sum(d.status == "skipped" for d in report.detectors)
    assert f"Detectors  {found} found, {clear} clear, {skipped} skipped, 0 error" in lines
    total, used, rejected = (sum(getattr(i, n) for i in report.inputs) for n in ("lines", "used", "rejected"))
    line = next(line for line in lines if line.startswith("Lines "))
    assert f"{total:,} read in {len(report.inputs)} files, {used:,} used, {rejected} rejected" in line
    assert lines[-1] == f"Open       {Path('site/index.html')}  (or RECOMMENDATIONS.md)"


def test_what_costs_most_is_dollars_before_tokens_before_events(
    fake: FakeBuilding, capsys: pytest.CaptureFixture[str]
) -> None:
    one = fake.report.pipelines[0]
    cheap = replace(one, pipeline="cheap", cost_measure="usd", cost="0.004", cost_share=1.0, runs=1)
    hungry = replace(one, pipeline="hungry", cost_measure="tokens", cost="12345678", cost_share=0.004)
    silent = replace(one, pipeline="silent", cost_measure="events", cost="7", cost_share=None)
    said = []
    for pipelines in ([silent, hungry, cheap], [silent, hungry], [silent]):
        fake.report = replace(well(), pipelines=pipelines)
        main(["build"])
        said.append(capsys.readouterr().out.splitlines()[0])
    assert said == [
        "cheap costs most: under $0.01, 100% of all cost in US dollars, 1 run",
        f"hungry costs most: 12,345,678 tokens, under 1% of all tokens, {hungry.runs} runs",
        f"silent has events only (its cost is unknown): 7 events, {silent.runs} runs",
    ]


def test_a_trend_of_costs_that_are_partly_unknown_says_at_least(
    fake: FakeBuilding, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.report = replace(well(), pipelines=[replace(one, incomplete=True) for one in well().pipelines])
    main(["build"])
    told = "Trend      ≥ $192.63 to ≥ $219.94 from its earlier half to its later, ≥ $1.75 to ≥ $2.11 a run"
    assert told in capsys.readouterr().out.splitlines()


def test_without_findings_it_says_what_was_checked(fake: FakeBuilding, capsys: pytest.CaptureFixture[str]) -> None:
    clear = next(d for d in fake.report.detectors if d.status == "clear")
    detectors = [replace(clear, detector="one"), replace(clear, detector="two", checked="9 feedback rows")]
    fake.report = replace(well(), groups=[], recommendations=[], detectors=detectors)
    assert main(["build"]) == 0
    assert f"Nothing to recommend. Checked: {clear.checked}; 9 feedback rows." in capsys.readouterr().out


def test_without_data_it_says_so_and_what_is_missing(fake: FakeBuilding, capsys: pytest.CaptureFixture[str]) -> None:
    fake.report = empty_report()
    assert main(["build"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("There is no cost to rank yet.\n")
    assert fake.report.notices[0].message in out
    assert "skipped bottleneck_agent, revision_loops, underutilized_agent, cost_outlier: " in out


def test_only_what_is_worth_doing_later_is_not_said_to_be_urgent(
    fake: FakeBuilding, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.report = replace(well(), groups=well().groups[2:])
    main(["build"])
    out = capsys.readouterr().out
    assert "Worth doing later  (nothing is applied automatically)" in out
    assert "Worth doing now" not in out


def test_files_that_somebody_has_changed_are_named(fake: FakeBuilding, capsys: pytest.CaptureFixture[str]) -> None:
    fake.kept = tuple(f"agents/{n}.html" for n in range(5))
    main(["build"])
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("Files"))
    assert line.endswith(", 5 kept, because changed by hand: agents/0.html, agents/1.html, agents/2.html and 2 more")


def test_a_gate_that_had_nothing_to_judge_says_so(fake: FakeBuilding, capsys: pytest.CaptureFixture[str]) -> None:
    fake.report = empty_report()
    assert main(["build", "--fail-on", "60", "--quiet"]) == 0
    said = "warning: --fail-on 60: nothing was scored, because no detector had data to look at\n"
    assert capsys.readouterr().err == said
    # Without the gate nobody was promised anything; and where a detector has looked, clear is an answer.
    assert main(["build", "--quiet"]) == 0
    fake.report = replace(well(), detectors=[replace(d, status="clear", findings=0) for d in well().detectors])
    assert main(["build", "--fail-on", "60", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_outputs_elsewhere_are_named_in_full(
    fake: FakeBuilding, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "here").mkdir()
    assert main(["build", str(tmp_path)]) == 0
    assert f"Open       {Path('site/index.html')}" in capsys.readouterr().out
    assert main(["build", str(tmp_path.parent)]) == 0
    assert f"Open       {tmp_path.parent / 'site' / 'index.html'}" in capsys.readouterr().out


def test_quiet_prints_nothing(fake: FakeBuilding, capsys: pytest.CaptureFixture[str]) -> None:
    fake.messages = ["another build is running, waiting for it"]
    assert main(["build", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["build"]) == 0
    assert capsys.readouterr().err == "another build is running, waiting for it\n"


def test_verbose_lists_every_notice_with_its_place(fake: FakeBuilding, capsys: pytest.CaptureFixture[str]) -> None:
    notices = [
        Notice(code="a", message="ten rows are odd", file="FEEDBACK.md", line=7),
        Notice(code="b", message="no budget", severity="info"),
    ]
    fake.report = replace(well(), notices=notices)
    assert main(["build", "--verbose"]) == 0
    assert capsys.readouterr().err == "warning: FEEDBACK.md:7: ten rows are odd\ninfo: no budget\n"


def test_text_from_inputs_can_not_steer_the_terminal(fake: FakeBuilding, capsys: pytest.CaptureFixture[str]) -> None:
    fake.report = hostile_report()
    fake.messages = ["waiting \x1b[2J\u202e for\r\nX"]
    assert main(["build", "--verbose"]) == 0
    out, err = capsys.readouterr()
    assert "<script>" in out
    assert visible(out)
    assert "waiting [2J for X\n" in err
    assert visible(err)
    fake.messages = []
    fake.error = ReportgenError("a\x1b]0;x\x07b", "what\u2066\x9b31m\nnext line", "do\x00 it")
    main(["build"])
    assert capsys.readouterr().err == "error: a ]0;x b: what 31m\n  next line\n  next: do it\n"


# --- --json ---------------------------------------------------------------------------------------------------------


def test_json_is_one_object_and_nothing_else(
    fake: FakeBuilding, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["build", "--json", "--quiet"]) == 0
    out, err = capsys.readouterr()
    value = json.loads(out)
    report = fake.report
    assert err == ""
    assert value["exit_code"] == 0
    assert value["outputs"] == {
        "recommendations": str(tmp_path / "RECOMMENDATIONS.md"),
        "site": str(tmp_path / "site"),
        "index": str(tmp_path / "site" / "index.html"),
        "report": str(tmp_path / "site" / "data" / "report.json"),
    }
    assert value["files"] == {"written": 31, "unchanged": 4, "removed": 1, "kept": 0}
    assert [(r["id"], r["total"], r["decision"]) for r in value["recommendations"]] == [
        (r.id, r.vfm.total, r.decision) for r in report.recommendations
    ]
    assert [(d["detector"], d["status"]) for d in value["detectors"]] == [
        (d.detector, d.status) for d in report.detectors
    ]
    assert [i["file"] for i in value["inputs"]] == [i.file for i in report.inputs]
    for row in value["inputs"]:
        fates = ("used", "superseded", "duplicates", "not_cost", "rejected", "blank")
        assert sum(row[fate] for fate in fates) == row["lines"]
    # An agent of two pipelines is one agent, and the bucket of the unattributed is none.
    assert value["counts"]["agents"] == len({a.agent for a in report.agents} - {"(unattributed)"})
    assert value["counts"]["runs"] == sum(p.runs for p in report.pipelines)
    assert value["healing"]["attempts"] == report.healing.attempts


def test_json_of_hostile_text_is_plain_ascii(fake: FakeBuilding, capsys: pytest.CaptureFixture[str]) -> None:
    report = hostile_report()
    rows = [replace(report.recommendations[0], subject="\x1b\x7f\u202e\x9b\ud83d")]
    fake.report = replace(report, recommendations=rows)
    assert main(["build", "--json"]) == 0
    out = capsys.readouterr().out
    assert out.isascii()
    assert visible(out)
    assert json.loads(out)["recommendations"][0]["subject"] == "\x1b\x7f\u202e\x9b\ud83d"


def test_json_of_an_error_is_an_object_too(fake: FakeBuilding, capsys: pytest.CaptureFixture[str]) -> None:
    fake.error = ReportgenError("logs/*.jsonl", "no such file", "Name one.", 3)
    assert main(["build", "--json"]) == 3
    out, err = capsys.readouterr()
    assert json.loads(out) == {
        "exit_code": 3,
        "error": {"where": "logs/*.jsonl", "what": "no such file", "next": "Name one."},
    }
    assert err == "error: logs/*.jsonl: no such file\n  next: Name one.\n"
