"""sql/README.md says what is so: its ten minutes are lived through block by block, its tables name what the code knows."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from reportgen import checkrules, detectorfile
from reportgen.chartfiles import _FRONT as CHART_FRONT
from reportgen.chartfiles import KINDS, PAGES
from reportgen.checking import check
from reportgen.cli import Commands
from reportgen.detectors import _OPTIONAL, _REQUIRED
from reportgen.martspage import marts_page
from reportgen.newdetector import new_detector
from reportgen.render.format import exact, show

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "sql" / "README.md"
TEXT = PAGE.read_text(encoding="utf-8")
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PATH = re.compile(r"Save\s+this\s+as\s+`([^`]+)`:\s*$")


def section(title: str) -> str:
    """The text under a heading of level 2, up to the next one; headings in fenced blocks are none."""
    inside, fenced, lines = False, False, []
    for line in TEXT.splitlines(keepends=True):
        fenced ^= line.startswith("```")
        if line.startswith("## ") and not fenced:
            inside = line == f"## {title}\n"
        if inside:
            lines.append(line)
    assert lines, title
    return "".join(lines)


@dataclass
class Block:
    """A fenced block: its language, its text, and the file that the sentence before it says to save it as."""

    language: str
    text: str
    path: str | None


def blocks(text: str) -> Iterator[Block]:
    for found in _BLOCK.finditer(text):
        path = _PATH.search(text[: found.start()])
        yield Block(found.group(1), found.group(2), path.group(1) if path else None)


def as_pattern(expected: str) -> str:
    """`…` at the end of a line is the rest of it; on a line of its own, any lines."""
    lines = []
    for line in expected.splitlines():
        if line == "…":
            lines.append(r"(?:.*\n)*?")
        else:
            head, dots, _ = line.partition(" …")
            lines.append(re.escape(head) + (r".*" if dots else "") + r"\n")
    return "".join(lines)


@pytest.fixture
def shell(tmp_path: Path) -> Path:
    """A folder with nothing but the command `reportgen` in it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    command = folder / "reportgen"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m reportgen "$@"\n')
    command.chmod(0o755)
    return folder


def test_a_detector_in_ten_minutes_as_it_is_written(tmp_path: Path, shell: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    env = {
        **os.environ,
        "PATH": f"{shell}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "LC_ALL": "C.UTF-8",
    }
    said = ""
    ran = 0
    for block in blocks(section("A detector in ten minutes")):
        if block.language == "text":
            assert re.fullmatch(as_pattern(block.text), said), f"wanted:\n{block.text}\ngot:\n{said}"
        elif block.path is not None:
            assert block.path.split(".")[-1] in {"sql": "sql", "markdown": "md", "toml": "toml"}[block.language]
            path = home / block.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        else:
            assert block.language == "sh"
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", block.text],
                cwd=home,
                env=env,
                capture_output=True,
                text=True,
                check=False,
            )
            said = done.stdout
            assert (done.returncode, done.stderr) == (0, ""), block.text
            ran += 1
    assert ran == 8
    # What one has then is what the page says: found, tested, drawn, documented, and right in every file.
    assert check(home) == []
    report = json.loads((home / "site/data/report.json").read_text("utf-8"))
    assert [(d["status"], d["origin"]) for d in report["detectors"] if d["detector"] == "slow_handoffs"] == [
        ("clear", "project")
    ]
    assert (home / "site/detectors/slow_handoffs.html").is_file()
    assert any(c["file"] == "sql/charts/handoffs.sql" and c["page"] == "pipeline" for c in report["charts"])


def keys_in_table(text: str) -> set[str]:
    """The words in back-ticks in the first column of a section's tables."""
    first = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    return {word for cell in first for word in re.findall(r"`([^`]+)`", cell)}


def part(text: str, title: str) -> str:
    start = text.index(f"### {title}\n")
    end = text.find("\n### ", start)
    return text[start : end if end > 0 else len(text)]


def test_the_contract_names_every_key_and_column_and_no_other() -> None:
    contract = section("The contract of a detector")
    assert keys_in_table(part(contract, "The header")) == set(detectorfile._FRONT)
    assert keys_in_table(part(contract, "The columns")) == {*_REQUIRED, *_OPTIONAL}
    assert {*checkrules._CONTRACT} == {*_REQUIRED}
    assert {*checkrules._OPTIONAL} == {*_OPTIONAL}
    assert keys_in_table(part(contract, "What comes of it")) == {"found", "clear", "skipped", "error"}
    header = part(contract, "The header")
    for word in (
        *detectorfile.COUNTS,
        *detectorfile.UNITS,
        *detectorfile._PARAM,
        *detectorfile._COLUMN,
        *detectorfile.NEEDS,
    ):
        assert f"`{word}`" in header or f'`"{word}"`' in header, word
    chart = section("The contract of a chart")
    assert keys_in_table(chart) == set(CHART_FRONT)
    for word in (*PAGES, *KINDS):
        assert f"`{word}`" in chart, word
    assert keys_in_table(section("The contract of a mart")) == set(checkrules._TABLE_FRONT)


def test_every_command_of_the_workshop_is_named() -> None:
    named = {word.split()[1] for word in keys_in_table(section("The commands"))}
    assert named == set(Commands.WORKSHOP)


def test_links_lead_somewhere() -> None:
    for goal in re.findall(r"\]\(([^)]+)\)", TEXT):
        path, _, anchor = goal.partition("#")
        target = (PAGE.parent / path).resolve() if path else PAGE
        assert target.exists(), goal
        if anchor and target.suffix == ".md":
            heads = re.findall(r"^#+ (.*)$", target.read_text("utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}, goal


def test_the_page_of_marts_is_current_and_says_what_every_column_holds() -> None:
    page = (ROOT / "docs" / "marts.md").read_text(encoding="utf-8")
    assert page == marts_page(), "run: python -m reportgen.martspage > docs/marts.md"
    assert not re.findall(r"^\| `.*\|\s*\|$", page, re.MULTILINE), "a column without a comment"


def test_the_page_leads_to_what_new_detector_writes(tmp_path: Path) -> None:
    sql, test = new_detector(tmp_path, "slow_handoffs")
    assert {problem.severity for problem in check(tmp_path)} == {"warning"}, "what its author has to say"
    assert "params.slow_handoffs" in sql.read_text("utf-8")
    assert "## " in test.read_text("utf-8")


def test_what_each_unit_prints_is_what_the_page_says() -> None:
    head = "| a value | of unit | is shown as | exactly |\n|---|---|---|---|\n"
    told = [
        [cell.strip() for cell in row.strip("|").split("|")] for row in TEXT.split(head)[1].split("\n\n")[0].split("\n")
    ]
    assert len(told) == 14
    for value, name, shown, whole in told:
        unit = None if name == "none" else name.split("`")[1]
        assert (show(value, unit), exact(value, unit)) == (shown, whole), name
    for measure in ("usd", "tokens", "events"):
        assert show("1234", "cost", measure) == show("1234", measure)
