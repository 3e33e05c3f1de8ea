"""Names that attack, from the inputs to every output: two subjects never share a page, and nothing leaves its place."""

from __future__ import annotations

import contextlib
import io
import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from page_reader import read_page

from reportgen.building import BuildResult, build
from reportgen.cli import run as command_line
from trust.hostile import EMPTY, NAMES, SAME, write_hostile

_RESERVED = re.compile(r"(?i)^(con|prn|aux|nul|com\d|lpt\d)(\.|$)")
#: What may steer a terminal or hide text: controls but line ends and tabs, and marks of direction.
_STEERING = {chr(code) for code in (*range(9), 11, 12, *range(14, 32), 127, *range(128, 160), *range(0x202A, 0x202F),
                                    *range(0x2066, 0x206A), 0x2028, 0x2029, 0x200B, 0xFEFF)}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[BuildResult, dict[str, Any]]:
    result = build(write_hostile(tmp_path_factory.mktemp("hostile") / "project"))
    return result, json.loads((result.site / "data" / "report.json").read_bytes())


def test_each_subject_has_a_page_of_its_own(made: tuple[BuildResult, dict[str, Any]]) -> None:
    result, report = made
    agents = {agent["agent"]: agent["slug"] for agent in report["agents"] if agent["attributed"]}
    pages = [slug.casefold() for slug in agents.values()]
    # Also where a file system does not tell capitals apart.
    assert len(set(pages)) == len(pages)
    assert len(pages) >= len(NAMES)
    for slug in agents.values():
        assert (result.site / "agents" / f"{slug}.html").is_file(), slug
    pipelines = [pipeline["slug"].casefold() for pipeline in report["pipelines"]]
    assert len(set(pipelines)) == len(pipelines) > len(NAMES) // 4


def test_names_that_are_one_have_one_page_and_empty_ones_none(made: tuple[BuildResult, dict[str, Any]]) -> None:
    shown = [agent["agent"].casefold() for agent in made[1]["agents"] if agent["pipeline"] == "docs"]
    for group in SAME:
        assert sum(unicodedata.normalize("NFC", " ".join(group[0].split())).casefold() == name for name in shown) <= 1
    assert not {name.strip().casefold() for name in EMPTY} & set(shown)
    assert all(name.strip() for name in shown)


def test_files_lie_in_the_site_under_plain_names(made: tuple[BuildResult, dict[str, Any]]) -> None:
    result, _ = made
    project = result.site.parent
    paths = [path.relative_to(result.site).as_posix() for path in result.site.rglob("*") if path.is_file()]
    assert len({path.casefold() for path in paths}) == len(paths)
    for path in paths:
        assert re.fullmatch(r"[A-Za-z0-9._/-]+", path), path
        assert not any(_RESERVED.match(part) or part.startswith("-") for part in path.split("/")), path
        assert max(map(len, path.split("/"))) < 150
    there = {path.name for path in project.iterdir()}
    assert there == {"budget", "FEEDBACK.md", "healing-log.jsonl", "RECOMMENDATIONS.md", "site", ".reportgen"}
    assert [path.name for path in project.parent.iterdir()] == ["project"]


def test_pages_are_whole_and_their_anchors_are_one_each(made: tuple[BuildResult, dict[str, Any]]) -> None:
    for path in sorted(made[0].site.rglob("*.html")):
        page = read_page(path.read_bytes())
        assert page.faults == [], path
        ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
        assert len(ids) == len(set(ids)), path
        for element in page.elements:
            assert not [name for name in element.attributes if name.startswith("on")], path
            link = element.attributes.get("href", "").lower()
            # The empty icon is the page's own.
            assert link == "data:," or not link.startswith(("javascript:", "data:")), path
            assert element.tag not in ("img", "iframe", "object", "embed"), path


def test_no_output_can_steer_a_terminal_or_a_spreadsheet(made: tuple[BuildResult, dict[str, Any]]) -> None:
    result, _ = made
    for path in [result.recommendations, *result.site.rglob("*.html"), *(result.site / "data").glob("*.csv")]:
        text = path.read_text("utf-8")
        assert not set(text) & _STEERING, (path, sorted(map(ascii, set(text) & _STEERING)))
        if path.suffix == ".csv":
            assert not re.search(r"(?m)(^|,)\"?[=+@]", text), path


def test_the_command_line_prints_no_escape(made: tuple[BuildResult, dict[str, Any]]) -> None:
    project = str(made[0].site.parent)
    for words in (["build", project, "--verbose", "--verify-cache"], ["build", project, "--json"],
                  ["query", "select * from agents", "--project", project], ["build", project, "--pipeline", "\x1b[31m\u202e"]):  # fmt: skip
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors), contextlib.suppress(SystemExit):
            command_line(words)
        assert out.getvalue() + errors.getvalue()
        assert not set(out.getvalue() + errors.getvalue()) & _STEERING, words


def test_the_recommendations_stay_one_row_and_one_anchor_each(made: tuple[BuildResult, dict[str, Any]]) -> None:
    result, report = made
    text = result.recommendations.read_text("utf-8")
    anchors = re.findall(r'<a id="([^"]+)"></a>', text)
    assert len(anchors) == len(set(anchors))
    assert "<script" not in re.sub(r"\\<", "", text)
    assert len(report["recommendations"]) > 10
    assert len(text) < 1_000_000


def test_every_line_is_accounted_for(made: tuple[BuildResult, dict[str, Any]]) -> None:
    (events,) = (one for one in made[1]["inputs"] if one["kind"] == "events")
    assert events["rejected"] == 1
    assert events["used"] == events["lines"] - 1


def test_the_site_stays_small_although_names_are_long(made: tuple[BuildResult, dict[str, Any]]) -> None:
    pages: list[Path] = sorted(made[0].site.rglob("*.html"))
    assert max(page.stat().st_size for page in pages) < 1_000_000
