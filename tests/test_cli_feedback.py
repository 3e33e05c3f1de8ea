"""cli_feedback.py: `reportgen feedback add` as it is typed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from feedback_help import HEAD

from reportgen.__main__ import main

ADD = ("feedback", "add", "--pipeline", "docs", "--agent", "writer", "--score", "45")
ROW = "| 2026-11-02 | docs | writer | 60/100 | slow | | loop-excess |\n"


def test_the_command_adds_a_row_of_today_and_says_what_recurs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "FEEDBACK.md").write_text(HEAD + ROW * 2)
    before = datetime.now(UTC).date()
    assert main([*ADD, "--issue", "a|b", "--pattern", "loop-excess", "--pattern", "loop-exces"]) == 0
    days = {before, datetime.now(UTC).date()}
    output, errors = capsys.readouterr()
    lines = output.splitlines()
    assert lines[0] == "Added: FEEDBACK.md:5"
    assert lines[1] in {f"| {day} | docs | writer | 45/100 | a\\|b | | loop-excess, loop-exces |" for day in days}
    assert lines[2:] == ["loop-excess: 3 rows in docs"]
    assert errors == "note: loop-exces is a tag of your own; did you mean loop-excess?\n"


def test_a_name_that_is_nearly_one_of_the_last_report_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cost-events.jsonl").write_text('{"agent": "Writer", "pipeline": "docs", "cost_usd": 1}\n')
    assert main(["build", str(tmp_path), "-q"]) == 0
    capsys.readouterr()
    for pipeline, agent in (("docs", "writer"), ("brand-new", "somebody"), ("dosc", "writter")):
        add = ["feedback", "add", "--pipeline", pipeline, "--agent", agent, "--score", "45", str(tmp_path)]
        assert main(add) == 0
    assert capsys.readouterr().err == (
        "note: there is no pipeline 'dosc' in the last report; did you mean 'docs'?\n"
        "note: there is no agent 'writter' in the last report; did you mean 'Writer'?\n"
    )


def test_the_command_speaks_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = [*ADD, "--date", "2026-11-01", "--pattern", "timeout", "--json", str(tmp_path)]
    for _ in range(3):
        assert main(args) == 0
    said = [json.loads(part + "}") for part in capsys.readouterr().out.split("\n}\n") if part]
    assert [one["line"] for one in said] == [5, 6, 7]
    assert [one["new_file"] for one in said] == [True, False, False]
    assert said[2] == {
        "file": str(tmp_path / "FEEDBACK.md"),
        "line": 7,
        "row": {
            "date": "2026-11-01",
            "pipeline": "docs",
            "agent": "writer",
            "score": "45",
            "issue": "",
            "resolution": "",
            "tags": ["timeout"],
        },
        "new_file": False,
        "new_table": False,
        "recurring": [{"tag": "timeout", "pipeline": "docs", "rows": 3}],
    }


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--score", "101"), "--score: '101' is not within 0 to 100"),
        (("--date", "soon"), "--date: 'soon' is not a day"),
        (("--agent", "unknown"), "names no agent"),
        (("--colour", "red"), "No such option"),
    ],
)
def test_what_is_wrong_is_2_and_writes_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    args: tuple[str, str],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*ADD, *args]) == 2
    output, errors = capsys.readouterr()
    assert (output, says in errors) == ("", True)
    assert list(tmp_path.iterdir()) == []


def test_a_share_for_a_score_is_remarked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ADD[:-1], "0.67", str(tmp_path)]) == 0
    assert "write a share as 67%" in capsys.readouterr().err


def test_the_help_names_tags_and_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["feedback", "add", "--help"]) == 0
    page = capsys.readouterr().out
    for word in ("quality-low", "hallucination", "--file", "--json", "74", "reportgen feedback add"):
        assert word in page
