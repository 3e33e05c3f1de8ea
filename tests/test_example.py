"""The example project is what the README promises: real work, the same on every machine, with something of everything."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from oracle import Answer, solve
from oracle_compare import disagreements
from oracle_reading import FeedbackCells, HealingEntry, Project
from random_projects import MadeProject

from reportgen import BuildResult, build
from reportgen.summary import summary

SCRIPT = Path(__file__).parents[1] / "examples" / "make_example.py"
README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
FILES = ("budget/cost-events.jsonl", "FEEDBACK.md", "healing-log.jsonl", "BUDGET.md", "reportgen.toml")


def run_script(folder: Path, **environment: str) -> str:
    command = [sys.executable, str(SCRIPT), str(folder)]
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **environment}).stdout


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("example")
    assert str(folder) in run_script(folder, PYTHONHASHSEED="1", TZ="Asia/Tokyo")
    return folder


@pytest.fixture(scope="module")
def account(example: Path) -> tuple[list[dict[str, Any]], Counter[str]]:
    """Return the events and the fates of the log's lines, by a reading as plain as can be."""
    events: list[dict[str, Any]] = []
    fates: Counter[str] = Counter()
    seen: set[bytes] = set()
    for line in (example / FILES[0]).read_bytes().split(b"\n"):
        # Glued to a torn record, the second record is whole.
        whole = b'{"event_id"' + line.rsplit(b'{"event_id"', 1)[-1] if line.count(b'{"event_id"') > 1 else line
        try:
            value = json.loads(whole.decode(), parse_float=Decimal, parse_constant=lambda _: None) if whole else None
        except ValueError:
            fates["rejected"] += 1
            continue
        if not line:
            fates["blank"] += 1
        elif not isinstance(value, dict):
            fates["rejected"] += 1
        elif "tool_name" not in value:
            fates["not_cost"] += 1
        elif whole in seen:
            fates["duplicate"] += 1
        else:
            fates["used"] += 1
            fates["broken_parts"] += whole is not line
            seen.add(whole)
            events.append(value)
    return events, fates


@pytest.fixture(scope="module")
def answer(example: Path, account: tuple[list[dict[str, Any]], Counter[str]]) -> Answer:
    feedback = []
    for line in re.findall(r"^\| 2026.*\|$", (example / "FEEDBACK.md").read_text("utf-8"), re.MULTILINE):
        date, pipeline, agent, score, _, _, pattern = (cell.strip() for cell in line.strip("|").split("|"))
        feedback.append(FeedbackCells(date, pipeline, agent, score, pattern))
    entries = [json.loads(line) for line in (example / "healing-log.jsonl").read_text("utf-8").splitlines()]
    fields = ("agent", "pipeline", "run_id", "error_type", "attempt", "action")
    healing = [HealingEntry(**{name: entry[name] for name in fields}) for entry in entries]
    roster = tomllib.loads((example / "reportgen.toml").read_text("utf-8"))["roster"]
    return solve(Project(account[0], feedback, healing, roster))


def test_same_bytes_twice(example: Path, tmp_path: Path) -> None:
    run_script(tmp_path, PYTHONHASHSEED="7", TZ="America/Lima", LC_ALL="C")
    assert sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()) == sorted(FILES)
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (example / name).read_bytes(), name


def test_45_days_and_60000_events(account: tuple[list[dict[str, Any]], Counter[str]]) -> None:
    events, fates = account
    days = Counter(event["timestamp"][:10] for event in events)
    assert (min(days), max(days), len(days)) == ("2026-09-28", "2026-11-11", 45)
    assert 59_000 <= len(events) <= 61_000
    # Weekdays are busier than any weekend.
    assert min(count for day, count in days.items() if day in ("2026-10-20", "2026-11-11")) > 2 * days["2026-10-24"]
    assert fates == {
        "used": len(events),
        "rejected": 12,
        "duplicate": 6,
        "blank": 2,
        "not_cost": 2,
        "broken_parts": 1,
    }
    assert len({event["event_id"] for event in events}) == len(events)


def test_fields_and_oddities(account: tuple[list[dict[str, Any]], Counter[str]]) -> None:
    events, _ = account
    names = Counter(event.get("agent") for event in events)
    assert names["agent-reviewer"] > names["Agent-Reviewer"] > 100
    assert sum(names[nobody] for nobody in (None, "assistant")) > 300
    assert len({event["model"] for event in events}) == 3
    assert len({event["tool_name"] for event in events}) == 7
    for field in ("input_tokens", "output_tokens", "cache_read_tokens", "duration_ms"):
        assert all(isinstance(event[field], int) for event in events)
    unpriced = sum(event.get("cost_usd") is None for event in events)
    assert 100 < unpriced < 0.02 * len(events)
    assert any("pipeline" not in event and event.get("agent") == "planner" for event in events)
    assert any("pipeline" not in event and "agent" not in event and "run_id" not in event for event in events)


def test_all_seven_tags_and_private_text(example: Path) -> None:
    rows = re.findall(r"^\| 2026.*$", (example / "FEEDBACK.md").read_text("utf-8"), re.MULTILINE)
    tags = {tag for row in rows for tag in re.findall(r"`([a-z-]+)`", row)}
    assert tags == {"quality-low", "loop-excess", "timeout", "tool-fail", "cost-spike", "scope-drift", "hallucination"}
    assert sum("@example.org" in row for row in rows) == 1
    reviewed = Counter(row.split("|")[3].strip(" *") for row in rows)
    assert [agent for agent, count in reviewed.items() if count >= 20] == ["agent-writer", "security-checker"]


def test_all_four_detections_and_agents_that_are_fine(answer: Answer) -> None:
    found = {(f.detector, f.pipeline, f.subject) for f in answer.findings}
    assert found == {
        ("bottleneck_agent", "doc-pipeline", "agent-writer"),
        ("revision_loops", "doc-pipeline", "agent-writer"),
        ("underutilized_agent", "doc-pipeline", "agent-translator"),
        ("underutilized_agent", "doc-pipeline", "agent-fact-checker"),
        ("underutilized_agent", "code-review", "legacy-linter"),
        ("underutilized_agent", "nightly-reports", "archivist"),
        ("cost_outlier", "doc-pipeline", "doc-1007-03"),
        ("cost_outlier", "code-review", "rev-1029-05"),
        ("cost_outlier", "code-review", "rev-1105-02"),
        ("cost_outlier", "nightly-reports", "night-1018-01"),
    }
    assert {f.vfm.decision for f in answer.findings} == {"implement", "defer", "reject"}
    subjects = {f.subject for f in answer.findings}
    fine = {a.agent for a in answer.agents if not a.flagged and a.agent not in subjects and a.agent != "(unattributed)"}
    assert fine == {
        "agent-researcher",
        "agent-reviewer",
        "planner",
        "code-reader",
        "style-critic",
        "data-collector",
        "chart-maker",
        "report-editor",
    }
    assert [a.agent for a in answer.agents if a.flagged] == ["security-checker"]
    # Two agents have the 20 scores that a trend needs: one got better, one worse.
    means = {a.agent: a.mean_score for a in answer.agents if a.mean_score is not None}
    assert means["agent-writer"] > 65
    assert 55 < means["security-checker"] < 60
    assert {p.pipeline: p.cost_measure for p in answer.pipelines} == dict.fromkeys(
        ("doc-pipeline", "code-review", "nightly-reports", "(unassigned)"), "usd"
    )


def test_healing_escalates_blocks_and_recovers(answer: Answer) -> None:
    assert Counter(i.outcome for i in answer.incidents) == {"presumed recovered": 14, "escalated": 4, "blocked": 3}
    runs = {run for incident in answer.incidents if (run := incident.run_id)}
    assert len(runs) > 15


def test_healing_lines_follow_the_policy(example: Path) -> None:
    """SPEC 7: attempts allowed, the exit code, the wait, and never more than five retries of one agent in one run."""
    allowed = {"timeout": 5, "api-error": 3, "content-quality": 2, "permission-denied": 0, "tool-not-found": 0}
    retries: Counter[tuple[str, str]] = Counter()
    times = []
    for line in (example / "healing-log.jsonl").read_text("utf-8").splitlines():
        entry = json.loads(line)
        over = entry["attempt"] > 5 or 0 < allowed[entry["error_type"]] < entry["attempt"]
        assert entry["max_attempts"] == allowed[entry["error_type"]]
        assert entry["exit_code"] == (2 if over else 0 if allowed[entry["error_type"]] else 1)
        assert (entry["action"] == "escalate") == over
        waits = entry["action"] == "retry-backoff"
        assert entry["delay_seconds"] == (2 ** entry["attempt"] if waits else 0)
        retries[(entry["run_id"], entry["agent"])] += entry["exit_code"] == 0
        times.append(entry["timestamp"])
    assert max(retries.values()) == 5
    assert times == sorted(times)


@pytest.fixture(scope="module")
def result(example: Path) -> BuildResult:
    """Return the build of the example, without its pages: that they are made is for other tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reportgen.render.site.render_site", lambda report, *, template_dirs: {})
        return build(example)


def test_the_readme_shows_what_its_build_prints(result: BuildResult, example: Path) -> None:
    (shown,) = re.findall(r"^What the example's build prints.*?^```text\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    printed = ["".join(text for text, _ in line) for line in summary(result, example)]
    assert len(shown.splitlines()) > 5
    assert shown.splitlines() == printed[: len(shown.splitlines())]


def test_a_build_of_it_agrees_with_the_rules(
    example: Path, account: tuple[list[dict[str, Any]], Counter[str]], answer: Answer, result: BuildResult
) -> None:
    fates = account[1]
    lines = sum(fates[fate] for fate in ("used", "rejected", "duplicate", "blank"))
    # The reference's account has no line for "not about cost"; the events themselves are compared all the same.
    made = MadeProject(0, lines=lines, blank=fates["blank"], rejected=fates["rejected"], duplicates=fates["duplicate"])
    report = json.loads((result.site / "data" / "report.json").read_text("utf-8"))
    (row,) = [row for row in report["inputs"] if row["kind"] == "events"]
    assert (row["not_cost"], row["broken_parts"]) == (fates["not_cost"], fates["broken_parts"])
    row["lines"] -= row["not_cost"]
    assert disagreements(report, answer, made) == []
