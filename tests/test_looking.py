"""`inspect` says how files are understood, `doctor` what a project lacks; neither writes anything."""

from __future__ import annotations

import gzip
import json
import os
import shlex
from pathlib import Path
from typing import Any

import pytest
from event_world import jsonl

from reportgen import build
from reportgen.cli import run
from reportgen.doctor import Finding, examine
from reportgen.errors import ReportgenError
from reportgen.inputs.sources import find_inputs
from reportgen.inspecting import as_object, inspect, text_lines
from reportgen.published import sources_of
from reportgen.settings import load_settings

SESSION: dict[str, Any] = {
    "type": "assistant", "uuid": "u1", "sessionId": "s1", "cwd": "/home/joe/shop", "timestamp": "2026-11-02T09:14:07Z",
    "message": {"id": "m1", "model": "claude-haiku-4-5", "usage": {"input_tokens": 1000, "output_tokens": 100}},
}  # fmt: skip
FLAT = {"ts": "2026-11-02T09:00:00Z", "agentName": "w", "tokens_in": 10, "nested": {"odd": 1}, "cost": 0.5}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, which one stands in; no sessions of Claude Code are on the machine."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    home = tmp_path / "project"
    home.mkdir()
    monkeypatch.chdir(home)
    return home


def put(path: Path, *records: Any, more: bytes = b"") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(jsonl(*records) + more)


def listing(home: Path) -> list[str]:
    return sorted(str(path.relative_to(home)) for path in home.rglob("*"))


def test_the_keys_of_a_file_that_nothing_is_known_of_are_listed(project: Path) -> None:
    put(project / "cost-events.jsonl", {"when": "2026-11-02T09:00:00Z", "who": "w", "price": 1}, {"who": "w"})
    found = inspect(["cost-events.jsonl"])
    assert found.strange == {"who": 2, "price": 1, "when": 1}
    said = "\n".join(text_lines(found))
    assert "no cost event: who (2), price (1), when (1)" in said
    assert "[events.fields]" in said
    (wrong,) = [one for one in examine(project) if one.kind == "wrong"]
    assert (wrong.code, "cost-events.jsonl" in wrong.next_command) == ("no-events", True)


def test_a_mixed_file_is_understood(project: Path) -> None:
    put(project / "log.jsonl", FLAT, FLAT | {"ts": None, "timestamp": "2026-11-03T09:00:00Z"}, SESSION, SESSION,
        {"event": "skill", "plugin": "x"}, more=b"{broken}\n\n")  # fmt: skip
    before = listing(project)
    found = inspect(["log.jsonl"])
    assert listing(project) == before
    (file,) = found.files
    assert (file.lines, file.used, file.duplicates, file.not_cost, file.rejected, file.blank) == (7, 3, 1, 1, 1, 1)
    assert found.formats == {
        "Claude Code transcripts": 2, "Cost events, one a line": 2, "Lines that can't be read": 1,
        "Lines without agent, tool, tokens or cost": 1,
    }  # fmt: skip
    assert found.fields == {
        "event_time": {"timestamp": 1, "ts": 1}, "agent": {"agentName": 2}, "input_tokens": {"tokens_in": 2},
        "cost_usd": {"cost": 2},
    }  # fmt: skip
    assert found.ignored == {"nested": 2}
    assert (found.first, found.last, found.undated) == ("2026-11-02T09:00:00Z", "2026-11-03T09:00:00Z", 0)
    assert (found.events, found.agents) == (3, {"w": 2, "main": 1})
    # 1000 x $1 + 100 x $5 for a million.
    assert found.costs == {"priced": {"events": 1, "usd": "0.0015"}, "reported": {"events": 2, "usd": "1"}}
    assert [one["line"] for one in found.examples] == [1, 2, 4]
    said = "\n".join(text_lines(found))
    assert "  agent              agentName (2)" in said
    assert "  read by nothing    nested" in said
    assert json.dumps(as_object(found))


def test_what_is_shown_of_a_file_is_redacted(project: Path) -> None:
    put(project / "log.jsonl", {"agent": "joe@example.com", "cost": 1, "mail-joe@example.com": 1})
    assert "joe@" not in "\n".join(text_lines(inspect(["log.jsonl"])))


def test_inspect_on_the_command_line(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "a.jsonl.gz").write_bytes(gzip.compress(jsonl(FLAT)))
    assert run(["inspect", "a.jsonl.gz", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["agents"] == {"w": 1}
    assert run(["inspect", "*.gz"]) == 0
    assert "Time       2026-11-02T09:00:00Z" in capsys.readouterr().out
    put(Path(os.environ["CLAUDE_CONFIG_DIR"]) / "projects" / "-home-joe-shop" / "s1.jsonl", SESSION)
    assert run(["inspect", "--source", "claude-code"]) == 0
    out = capsys.readouterr().out
    assert "claude-code/s1.jsonl: 1 lines: 1 used; 1 events" in out
    assert "joe" not in out
    assert run(["inspect", "nothing.jsonl"]) == 3
    assert run(["inspect"]) == 2


# doctor


def found(project: Path) -> dict[str, Finding]:
    before = listing(project)
    findings = examine(project)
    assert listing(project) == before
    assert [one.kind for one in findings] == sorted(
        (one.kind for one in findings), key=["wrong", "missing", "good"].index
    )
    assert all(one.next_command for one in findings if one.kind != "good")
    return {one.code: one for one in findings}


def test_inspect_is_about_cost_events(project: Path) -> None:
    (project / "FEEDBACK.md").write_text("# Feedback\n")
    with pytest.raises(ReportgenError, match="reportgen doctor"):
        inspect(["FEEDBACK.md"], project)


def test_an_empty_project_is_told_how_to_begin(project: Path) -> None:
    assert found(project)["no-input"].next_command == "reportgen hook --print-settings"
    assert run(["doctor"]) == 3
    put(Path(os.environ["CLAUDE_CONFIG_DIR"]) / "projects" / "-x" / "s1.jsonl", SESSION)
    one = found(project)["no-input"]
    assert "1 session file of claude-code is" in one.what
    assert one.next_command == "reportgen build --source claude-code"
    # So does a build, before anything else.
    with pytest.raises(ReportgenError) as raised:
        find_inputs(load_settings(project))
    assert raised.value.next_step.startswith(
        "Sessions of claude-code are on this machine: reportgen build --source claude-code. Or write one JSON object"
    )


def flat(number: int, **more: Any) -> dict[str, Any]:
    return {"timestamp": f"2026-11-02T09:{number:02d}:00Z", "agent": f"a{number % 2}", "run_id": "r", "pipeline": "p",
            "cost_usd": "0.5", **more}  # fmt: skip


def test_the_place_of_a_report_of_several_projects_is_no_empty_project(tmp_path: Path) -> None:
    # A build of somebody's own sessions would put them in the place of the team's report.
    (tmp_path / ".reportgen" / "projects").mkdir(parents=True)
    (found,) = examine(tmp_path)
    assert found.what.startswith("no files of a project are here")
    assert found.next_command.startswith("reportgen build PROJECT PROJECT")


def test_a_good_project_lacks_only_what_it_does_not_have(project: Path) -> None:
    put(project / "cost-events.jsonl", *(flat(number) for number in range(30)))
    assert {(code, one.kind) for code, one in found(project).items()} == {
        ("events", "good"), ("feedback", "missing"), ("healing", "missing"), ("budget", "missing"),
        ("settings", "missing"), ("report", "missing"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("code", "records"),
    [
        ("cost-all-zero", [flat(n, cost_usd=0) for n in range(30)]),
        ("one-agent", [flat(n, agent="same") for n in range(30)]),
        ("no-agent", [flat(n, agent=None) for n in range(30)]),
        ("no-pipeline", [flat(n, pipeline=None) for n in range(30)]),
        ("no-run", [flat(n, run_id=None) for n in range(30)]),
        ("looks-cumulative", [flat(n, session_id="s", cost_usd=n) for n in range(30)]),
        ("clock-jumps", [flat(n) | {"timestamp": f"2026-11-{9 - n % 3 * 2:02d}T09:00:00Z"} for n in range(30)]),
        ("cost-coverage", [flat(n, cost_usd=None if n % 2 else 1, tokens=5) for n in range(30)]),
        ("no-cost", [flat(n, cost_usd=None) for n in range(30)]),
        ("undated", [flat(n, timestamp=None) for n in range(30)]),
        ("rejected", [*(flat(n) for n in range(30)), [1]]),
        ("price-unknown", [flat(n, cost_usd=None, model="mystery", input_tokens=5) for n in range(30)]),
    ],
)
def test_what_looks_wrong(project: Path, code: str, records: list[Any]) -> None:
    put(project / "cost-events.jsonl", *records)
    wrong = {one.code for one in found(project).values() if one.kind == "wrong"}
    assert code in wrong


def test_of_sessions_three_detectors_more_are_asked_unless_they_are_switched_off(project: Path) -> None:
    put(project.parent / "claude" / "projects" / "-work-shop" / "s1.jsonl", SESSION)
    more = {"expensive_model", "low_cache_use", "run_cost_trend"}
    seen = {one.detector for one in build(project, source=["claude-code"]).report.detectors}
    assert (len(seen), seen & more) == (7, more)
    (project / "reportgen.toml").write_text("[detectors.low_cache_use]\nenabled = false\n", encoding="utf-8")
    assert more - {one.detector for one in build(project, source=["claude-code"]).report.detectors} == {"low_cache_use"}
    put(project / "cost-events.jsonl", FLAT)
    assert not more & {one.detector for one in build(project).report.detectors}


def test_what_doctor_says_to_do_next_can_be_done(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(project / "b d.jsonl", *(flat(n, agent="same", cost_usd=None, tokens=5) for n in range(30)))
    put(project / "a.jsonl", *(flat(n + 30, agent="same", cost_usd=1) for n in range(30)), [1])
    (project / "reportgen.toml").write_text('[inputs]\nevents = ["*.jsonl"]\n', encoding="utf-8")
    told = found(project)
    assert told["rejected"].next_command == "reportgen inspect a.jsonl"
    assert told["one-agent"].next_command.startswith("reportgen inspect a.jsonl 'b d.jsonl'   (")
    for one in (told["rejected"], told["one-agent"]):
        assert run(shlex.split(one.next_command.partition("   (")[0])[1:]) == 0
    # Sessions have no path that anybody is told: they are looked at together.
    put(project.parent / "claude" / "projects" / "-work-shop" / "s1.jsonl", SESSION, [1])
    told = {one.code: one for one in examine(project, ["claude-code"]) if "claude-code/" in one.what}
    assert told["rejected"].next_command == "reportgen inspect --source claude-code"
    assert run(shlex.split(told["rejected"].next_command)[1:]) == 0
    capsys.readouterr()


def test_models_without_a_price_lead_to_the_settings(project: Path) -> None:
    put(project / "cost-events.jsonl", *(flat(n, cost_usd=None, model="mystery", input_tokens=5) for n in range(30)))
    for has_file, wanted in ((False, "reportgen init "), (True, "edit reportgen.toml ")):
        if has_file:
            (project / "reportgen.toml").touch()
        told = found(project)
        assert told["price-unknown"].next_command.startswith(wanted)
        assert "[prices]" in told["price-unknown"].next_command


def test_settings_that_are_wrong_come_first(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "reportgen.toml").write_text("[inputs]\nevnts = 'x'\n")
    assert "did you mean 'events'" in found(project)["settings"].what
    assert run(["doctor"]) == 0
    assert run(["doctor", "--strict"]) == 1
    assert "wrong" in capsys.readouterr().out
    (project / "reportgen.toml").write_text("")
    put(project / "cost-events.jsonl", *(flat(number) for number in range(30)))
    assert run(["doctor", "--json"]) == 0
    assert {one["kind"] for one in json.loads(capsys.readouterr().out)} == {"missing", "good"}


def test_doctor_knows_of_the_sessions_that_the_last_build_read(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(project.parent / "claude" / "projects" / "-work-shop" / "s1.jsonl", SESSION)
    assert [one.code for one in examine(project, ["claude-code"]) if one.kind == "good"] == ["events"]
    assert run(["build", "--source", "claude-code", "-q"]) == 0
    found = {one.code: one for one in examine(project)}
    assert found["source"].kind == "missing"
    assert 'source = ["claude-code"] under [inputs]' in found["source"].next_command
    assert found["events"].kind == "good"
    assert "no-input" not in found
    # Once the settings name them there is nothing to say.
    (project / "reportgen.toml").write_text('[inputs]\nsource = ["claude-code"]\n', encoding="utf-8")
    assert "source" not in {one.code for one in examine(project)}
    # A build that leaves them out says so, and what is gone; the next one has nothing to say.
    (project / "reportgen.toml").unlink()
    put(project / "cost-events.jsonl", FLAT)
    capsys.readouterr()
    assert run(["build", "-q"]) == 0
    err = capsys.readouterr().err
    assert "the last build here read the sessions of claude-code, and this one did not" in err
    assert "agents/main.html" in err
    assert "pipelines/shop.html" in err
    assert "reportgen build --source claude-code" in err
    assert run(["build", "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_a_build_that_reads_no_cost_events_any_more_says_so(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(project / "logs" / "mine.jsonl", FLAT)
    (project / "FEEDBACK.md").write_text(
        "| Date | Pipeline | Agent | Score |\n|-|-|-|-|\n| 2026-05-02 | docs | w | 45 |\n"
    )
    assert run(["build", "--events", "logs/mine.jsonl", "-q"]) == 0
    capsys.readouterr()
    assert run(["build", "-q"]) == 0
    err = capsys.readouterr().err
    assert "the last build here read cost events (logs/mine.jsonl), and this one read none" in err
    assert "--events" in err
    assert run(["build", "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_what_is_missing_says_how_to_build_again(project: Path) -> None:
    put(project / "logs" / "mine.jsonl", FLAT)
    put(project / "cost-events.jsonl", FLAT)
    for flags, told in ((["--events", "logs/mine.jsonl"], "reportgen build --events …"), ([], "reportgen build\n")):
        assert run(["build", "-q", *flags]) == 0
        text = (project / "RECOMMENDATIONS.md").read_text("utf-8")
        assert (told in text, "named as for this report" in text) == (True, bool(flags))


def test_what_a_format_reads_is_not_held_against_keys_and_clocks(project: Path) -> None:
    # Sessions in any order of time, of one agent: nothing of that is wrong with them.
    for number in (3, 1, 2):
        put(
            project / "logs" / "-w-shop" / f"s{number}.jsonl",
            *(
                SESSION | {"uuid": f"{number}{n}", "sessionId": f"s{number}", "timestamp": f"2026-05-{29 - n:02}T09:00:00Z",
                           "message": SESSION["message"] | {"id": f"m{number}{n}"}}
                for n in range(20)
            ),
        )  # fmt: skip
    (project / "reportgen.toml").write_text('[inputs]\nevents = ["logs"]\n', encoding="utf-8")
    found = {one.code: one.kind for one in examine(project)}
    assert found["events"] == "good"
    assert found.keys().isdisjoint({"clock-jumps", "one-agent", "no-agent", "no-pipeline", "no-run"})


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"build":[]}', '{"build":{"sources":7},', '{"build":{"sources":["<b>", ["x"]]},']
)
def test_a_report_that_tells_nothing_of_its_sources_has_none(text: str, tmp_path: Path) -> None:
    put(tmp_path / "data" / "report.json", more=text.encode())
    assert sources_of(tmp_path) == []
