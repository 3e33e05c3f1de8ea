"""What is there for hosting: a workflow that a code host takes, with least rights, and words that agree with it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from reportgen.cli import cli
from reportgen.errors import ReportgenError
from reportgen.starter import WORKFLOW, init, init_workflow

DOCS = (Path(__file__).parent.parent / "docs" / "hosting.md").read_text("utf-8")


@pytest.fixture
def workflow(tmp_path: Path) -> dict[Any, Any]:
    value = yaml.safe_load(init_workflow(tmp_path).read_text("utf-8"))
    assert isinstance(value, dict)
    return value


def steps(workflow: dict[Any, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_it_runs_at_night_and_by_hand_and_nobody_else_can_start_it(workflow: dict[Any, Any]) -> None:
    # YAML 1.1 takes the key `on` for a truth.
    when = workflow[True]
    assert set(when) == {"schedule", "workflow_dispatch"}
    (entry,) = when["schedule"]
    assert re.fullmatch(r"\d+ \d+ \* \* \*", entry["cron"])
    assert entry["cron"] in DOCS


def test_each_job_has_the_least_rights(workflow: dict[Any, Any]) -> None:
    assert workflow["permissions"] == {}
    rights = {name: job.get("permissions", {}) for name, job in workflow["jobs"].items()}
    assert rights == {
        "build": {"contents": "read"},
        "publish": {"pages": "write", "id-token": "write"},
        "verdict": {},
    }
    (checkout,) = [step for step in steps(workflow) if step.get("uses", "").startswith("actions/checkout")]
    assert checkout["with"]["persist-credentials"] is False
    assert all(job["timeout-minutes"] <= 30 for job in workflow["jobs"].values())


def test_every_action_is_pinned_to_a_major_version(workflow: dict[Any, Any]) -> None:
    used = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert len(used) == 5
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", one) for one in used), used


def test_no_text_of_others_gets_into_a_command(workflow: dict[Any, Any]) -> None:
    assert [step["run"] for step in steps(workflow) if "${{" in step.get("run", "")] == []


@pytest.mark.parametrize(("code", "goes_on"), [(0, True), (1, True), (4, True), (2, False), (3, False), (130, False)])
def test_a_report_that_is_whole_is_published_whatever_it_says(
    workflow: dict[Any, Any], tmp_path: Path, code: int, goes_on: bool
) -> None:
    (step,) = [step for step in steps(workflow) if step.get("id") == "report"]
    fake = tmp_path / "bin" / "reportgen"
    fake.parent.mkdir()
    fake.write_text(f'#!/bin/sh\n[ "$1 $2" = "build ." ] && exit {code}\n', encoding="utf-8")
    fake.chmod(0o755)
    told = tmp_path / "told"
    env = {"PATH": f"{fake.parent}{os.pathsep}{os.environ['PATH']}", "PROJECT": ".", "GITHUB_OUTPUT": str(told)}
    done = subprocess.run(["bash", "-e", "-c", step["run"]], env=env, check=False)
    assert done.returncode == (0 if goes_on else code)
    assert told.read_text("utf-8") == f"code={code}\n"


def test_without_saying_what_to_install_it_stops_and_says_so(workflow: dict[Any, Any]) -> None:
    assert workflow["env"]["REPORTGEN"] == ""
    (step,) = [step for step in steps(workflow) if step.get("name") == "Install reportgen"]
    done = subprocess.run(["bash", "-e", "-c", step["run"]], env={"REPORTGEN": ""}, capture_output=True, check=False)
    assert done.returncode != 0
    assert b"say in the workflow what pip is to install" in done.stderr


def test_init_writes_what_it_is_asked_for_and_never_over_a_file(tmp_path: Path) -> None:
    runner = CliRunner()
    first = runner.invoke(cli, ["init", str(tmp_path)])
    assert first.exit_code == 0
    assert "reportgen init --workflow" in first.output
    assert [path.name for path in tmp_path.iterdir()] == ["reportgen.toml"]
    second = runner.invoke(cli, ["init", "--workflow", str(tmp_path)])
    assert second.exit_code == 0
    assert WORKFLOW in second.output
    path = tmp_path / WORKFLOW
    path.write_text("mine\n", encoding="utf-8")
    with pytest.raises(ReportgenError, match="is there already") as caught:
        init_workflow(tmp_path)
    assert caught.value.exit_code == 2
    assert path.read_text("utf-8") == "mine\n"


def test_init_says_where_it_can_not_write(tmp_path: Path) -> None:
    (tmp_path / ".github").write_text("a file", encoding="utf-8")
    with pytest.raises(ReportgenError, match="can't be made"):
        init_workflow(tmp_path)
    with pytest.raises(ReportgenError, match="no such directory"):
        init_workflow(tmp_path / "nowhere")
    assert init(tmp_path).exists()


def test_the_page_about_hosting_says_what_the_pages_say() -> None:
    from reportgen.render.searchindex import MOST_ENTRIES
    from reportgen.render.singlefile import MOST_OTHERS, MOST_RECOMMENDATIONS

    assert WORKFLOW in DOCS
    assert f"at most {MOST_ENTRIES} of a kind" in DOCS
    assert f"the first {MOST_RECOMMENDATIONS}\nrecommendations and the first {MOST_OTHERS} pipelines" in DOCS
    for rule in ("default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "base-uri 'none'"):
        assert f"`{rule}`" in DOCS
