"""The command line: what is parsed, what goes on to a build, and every exit code; on a build that only pretends."""

from __future__ import annotations

import errno
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from fake_building import FakeBuilding, well
from report_factory import sample_report

import reportgen
from reportgen import cli
from reportgen.__main__ import main, pipeline_optimizer
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


# --- help, version, usage -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["build", "init", "heal", "completion"])
def test_help_lists_every_command_and_each_has_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert f"\n  {command} " in capsys.readouterr().out
    assert main([command, "--help"]) == 0
    page = capsys.readouterr().out
    assert page.count(f"reportgen {command}") >= 2  # in the usage line, and in an example


def test_no_line_of_the_command_list_is_cut_short(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--help"])
    out = capsys.readouterr().out
    assert "..." not in out[out.index("Commands:") :]


def test_help_of_build_names_every_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    main(["build", "--help"])
    page = capsys.readouterr().out
    for code in (0, 1, 2, 3, 4, 130):
        assert f"\n    {code:<5}" in page


@pytest.mark.parametrize("command", [["--version"], ["build", "--help"], ["--help"]])
def test_help_and_version_need_no_room_but_the_command_line(command: list[str], fake: FakeBuilding) -> None:
    assert main(command) == 0
    assert fake.calls == []


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"reportgen {reportgen.__version__}\n"
    assert pipeline_optimizer(["--version"]) == 0
    assert capsys.readouterr().out == f"reportgen {reportgen.__version__}\n"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["buidl"], "No such command 'buidl'"),
        (["build", "--pipelin", "x"], "Did you mean '--pipeline'?"),
        (["build", "--fail-on", "101"], "101 is not in the range 0<=x<=100"),
        (["build", "--fail-on", "much"], "'much' is not a valid integer"),
        (["init", "a", "b"], "unexpected extra argument"),
        (["build", "--quiet", "--verbose"], "--quiet and --verbose exclude each other"),
        (["completion", "tcsh"], "'tcsh' is not one of"),
        (["init", "--force"], "No such option"),
    ],
)
def test_wrong_usage_is_exit_2_and_says_where_to_look(
    args: list[str], said: str, fake: FakeBuilding, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(args) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert "--help' for help" in err
    assert out == ""
    assert fake.calls == []


def test_usage_of_the_optimizer_carries_its_own_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert pipeline_optimizer(["--nope"]) == 2
    assert capsys.readouterr().err.startswith("Usage: pipeline-optimizer ")


# --- flags to build -------------------------------------------------------------------------------------------------

EVERY_FLAG = [
    *("--pipeline", "p", "--since", "2026-11-01", "--until", "2026-11-02", "--window", "30d", "--as-of", "2026-11-03"),
    *("--events", "a.jsonl", "--events", "b/*.jsonl", "--feedback", "f.md", "--feedback", "g.md"),
    *("--healing-log", "h.jsonl", "--budget", "b.md", "--site", "pages", "--recommendations", "R.md"),
    *("--config", "other.toml", "--strict", "--fail-on", "0", "--adopt", "--no-redact"),
]
EVERY_OPTION = {
    "pipeline": "p",
    "since": "2026-11-01",
    "until": "2026-11-02",
    "window": "30d",
    "as_of": "2026-11-03",
    "events": ("a.jsonl", "b/*.jsonl"),
    "feedback": ("f.md", "g.md"),
    "healing_log": "h.jsonl",
    "budget": "b.md",
    "site": "pages",
    "recommendations": "R.md",
    "settings_file": "other.toml",
    "strict": True,
    "fail_on": 0,
    "adopt": True,
    "redact": False,
}


def test_every_flag_reaches_build_under_the_name_of_its_field(fake: FakeBuilding) -> None:
    assert main(["build", "demo", *EVERY_FLAG]) == 0
    assert fake.calls == [("demo", EVERY_OPTION)]


def test_the_optimizer_is_a_build_of_the_current_directory_with_every_flag(fake: FakeBuilding) -> None:
    assert pipeline_optimizer(["--pipeline", "p"]) == 0
    assert pipeline_optimizer(EVERY_FLAG) == 0
    assert fake.calls == [(".", {"settings_file": None, "pipeline": "p"}), (".", EVERY_OPTION)]


def test_flags_that_are_not_given_are_not_passed_on(fake: FakeBuilding) -> None:
    assert main(["build"]) == 0
    assert fake.calls == [(".", {"settings_file": None})]


# --- errors and exit codes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [2, 3])
def test_an_error_says_where_what_and_next_even_when_quiet(
    code: int, fake: FakeBuilding, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.error = ReportgenError("reportgen.toml:3", "unknown key 'sit'", "Mend it.", code)
    assert main(["build", "--quiet"]) == code
    assert capsys.readouterr() == ("", "error: reportgen.toml:3: unknown key 'sit'\n  next: Mend it.\n")


def test_a_failed_detector_is_exit_1_with_its_place(fake: FakeBuilding, capsys: pytest.CaptureFixture[str]) -> None:
    fake.report = sample_report()
    fake.exit_code = 1
    failed = next(d for d in fake.report.detectors if d.status == "error")
    assert main(["build", "--quiet"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {failed.where}: detector {failed.detector} failed: {failed.message}\n  next: ")


def test_a_failed_chart_is_told_too(fake: FakeBuilding, capsys: pytest.CaptureFixture[str]) -> None:
    notice = Notice(code="chart-failed", message="chart costs failed: no column x", file="sql/charts/costs.sql:4")
    fake.report = replace(well(), notices=[notice])
    fake.exit_code = 1
    assert main(["build"]) == 1
    assert "error: sql/charts/costs.sql:4: chart costs failed: no column x\n" in capsys.readouterr().err


def test_strict_says_how_many_lines_were_rejected(fake: FakeBuilding, capsys: pytest.CaptureFixture[str]) -> None:
    fake.exit_code = 1
    fake.rejected_errors = 7
    assert main(["build", "--strict"]) == 1
    out, err = capsys.readouterr()
    assert err.startswith("error: --strict: 7 lines were rejected\n  next: ")
    assert "Worth doing now" in out
    # Rejected lines alone are no error.
    fake.exit_code = 0
    assert main(["build"]) == 0
    assert capsys.readouterr().err == ""


def test_fail_on_says_what_reached_it(fake: FakeBuilding, capsys: pytest.CaptureFixture[str]) -> None:
    fake.exit_code = 4
    totals = [r.vfm.total for r in fake.report.recommendations]
    reached = sum(total >= 50 for total in totals)
    assert 0 < reached < len(totals)
    assert main(["build", "--fail-on", "50"]) == 4
    assert (
        f"error: --fail-on 50: {reached} of the recommendations reached it, the highest with {max(totals)}\n"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("Query interrupted")])
def test_an_interrupt_is_130(error: BaseException, fake: FakeBuilding, capsys: pytest.CaptureFixture[str]) -> None:
    # The second is how DuckDB tells of a Ctrl-C that came while it was at work.
    fake.error = error
    assert main(["build"]) == 130
    out, err = capsys.readouterr()
    assert out == ""
    assert "error: interrupted\n" in err


def test_a_fault_is_70_short_and_in_full_on_demand(fake: FakeBuilding, capsys: pytest.CaptureFixture[str]) -> None:
    key = "sk-" + "proj-" + "A1b2C3d4E5f6G7h8"
    fake.error = RuntimeError(f"boom {key}")
    assert main(["build"]) == 70
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[0] == "error: reportgen: unexpected RuntimeError: boom [key]"
    assert "fault of reportgen" in err
    assert "Traceback" not in err
    assert main(["build", "--verbose"]) == 70
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "fake_building.py" in err
    assert key not in err


def test_a_full_disk_is_no_fault(fake: FakeBuilding, capsys: pytest.CaptureFixture[str]) -> None:
    fake.error = OSError(28, "No space left on device", "site/index.html")
    assert main(["build"]) == 2
    assert capsys.readouterr().err.startswith("error: site/index.html: no space left on device\n  next: ")
    fake.error = OSError(errno.EMFILE, "Too many open files", "site/index.html")
    assert main(["build"]) == 2
    assert "too many open files\n  next: Raise the limit of open files (ulimit -n)" in capsys.readouterr().err


# --- the other commands ---------------------------------------------------------------------------------------------


def test_init_writes_one_file_and_says_which(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"Wrote {tmp_path / 'reportgen.toml'}.")
    assert err == ""
    assert [p.name for p in tmp_path.iterdir()] == ["reportgen.toml"]
    assert main(["init", str(tmp_path)]) == 2
    assert "is there already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("shell", "word"), [("bash", "complete -o"), ("zsh", "#compdef reportgen"), ("fish", "complete")]
)
def test_completion_prints_the_script_of_a_shell(
    shell: str, word: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["completion", shell]) == 0
    named = capsys.readouterr().out
    assert word in named
    assert "_REPORTGEN_COMPLETE" in named
    assert f"# To install: reportgen completion {shell} > " in named
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    assert main(["completion"]) == 0
    assert capsys.readouterr().out == named


def test_completion_of_an_unknown_shell_asks_for_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert main(["completion"]) == 2
    assert "Name a shell: bash, zsh, fish." in capsys.readouterr().err


def test_completion_offers_commands_and_flags() -> None:
    runner = CliRunner()
    asked = {"_REPORTGEN_COMPLETE": "bash_complete", "COMP_CWORD": "1", "COMP_WORDS": "reportgen "}
    offered = runner.invoke(cli.cli, prog_name="reportgen", env=asked).output.split()
    names = ["build", "check", "completion", "detectors", "feedback", "heal", "hook", "init", "new", "query", "serve"]
    names = sorted([*names, "doctor", "inspect", "test"])
    assert offered == [f"plain,{name}" for name in names]
    asked |= {"COMP_CWORD": "2", "COMP_WORDS": "reportgen build --re"}
    assert "plain,--recommendations" in runner.invoke(cli.cli, prog_name="reportgen", env=asked).output.split()


def test_heal_reached_through_the_group_is_the_same_heal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    args = ["heal", "--agent", "writer", "--attempt", "1", "--error-type", "permission-denied"]
    assert CliRunner().invoke(cli.cli, args).exit_code == 1
    assert json.loads((tmp_path / "healing-log.jsonl").read_text())["action"] == "skip"
