"""The report as one page: everything in it, nothing beside it, and never written over somebody else's file."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from page_reader import Page, read_page
from project import event, write_project
from report_factory import empty_report, hostile_report, sample_report

from reportgen import build
from reportgen.errors import ReportgenError
from reportgen.model import Report
from reportgen.publish import SINGLE_MARKER, refuse_single, write_single
from reportgen.render.singlefile import MOST_RECOMMENDATIONS, render_single
from reportgen.render.site import render_site

REPORTS = {"sample": sample_report, "empty": empty_report, "hostile": hostile_report}


def one_page(report: Report) -> bytes:
    return render_single(report, render_site(report))


@pytest.fixture(scope="module")
def made() -> dict[str, bytes]:
    return {name: one_page(report()) for name, report in REPORTS.items()}


@pytest.fixture(scope="module")
def pages(made: dict[str, bytes]) -> dict[str, Page]:
    # The mark that publishing knows it by is a comment, the only one.
    return {name: read_page(data.replace(b"<!-- reportgen:", b"", 1).replace(b" -->\n", b"", 1)) for name, data in made.items()}  # fmt: skip


def digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_its_markup_is_whole_and_every_id_stands_once(pages: dict[str, Page]) -> None:
    assert {name: page.faults for name, page in pages.items()} == {name: [] for name in pages}


def test_every_part_of_the_report_is_in_it(pages: dict[str, Page]) -> None:
    report = sample_report()
    parts = [one.attributes["id"] for one in pages["sample"].all("div", "part")]
    assert parts[:2] == ["index", "recommendations"]
    assert parts[2:12] == [f"recommendations/{one.id}" for one in report.recommendations]
    assert {"pipelines", "agents", "agents/agent-writer", "healing", "budget", "data-quality", "detectors"} <= set(
        parts
    )
    assert parts[-1] == "how-to-read"
    text = pages["sample"].text()
    for found in report.recommendations:
        for words in found.vfm_evidence.values():
            assert words in text


def test_every_link_leads_to_a_place_in_it_or_outside(pages: dict[str, Page]) -> None:
    for name, page in pages.items():
        ids = set(page.ids)
        for one in page.elements:
            link = one.attributes.get("href")
            if link is not None and link != "data:,":
                assert link.startswith("#"), (name, link)
                assert link[1:] in ids, (name, link)
            for attribute in ("aria-labelledby", "aria-describedby", "aria-controls", "for"):
                for target in one.attributes.get(attribute, "").split():
                    assert target in ids, (name, attribute, target)
            assert "src" not in one.attributes, name


def test_the_navigation_leads_to_the_parts_and_has_no_dead_entry(pages: dict[str, Page]) -> None:
    page = pages["sample"]
    (nav,) = page.all("nav", aria_label="Report")
    links = [one.attributes["href"] for one in page.all("a") if nav in one.inside]
    assert links[:4] == ["#index", "#recommendations", "#pipelines", "#agents"]
    items = [one for one in page.all("li") if nav in one.inside]
    assert len(items) == len(links)


def test_the_policy_allows_exactly_what_stands_in_it(pages: dict[str, Page]) -> None:
    for name, page in pages.items():
        (meta,) = page.all("meta", http_equiv="Content-Security-Policy")
        rules = {part.split()[0]: part.split()[1:] for part in meta.attributes["content"].split("; ")}
        assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == ["'none'"]
        scripts = [one.text for one in page.all("script") if one.attributes.get("type") != "application/json"]
        assert sorted(rules["script-src"]) == sorted(digest(text) for text in scripts), name
        (style,) = page.all("style")
        assert rules["style-src"] == [digest(style.text), digest("")]
        assert rules["img-src"] == ["data:"]
        for one in page.elements:
            assert "style" not in one.attributes
            assert not [key for key in one.attributes if key.startswith("on")]


def test_plotly_stands_in_it_once_and_only_where_there_are_charts(
    made: dict[str, bytes], pages: dict[str, Page]
) -> None:
    assert sum(len(one.text) > 1_000_000 for one in pages["sample"].all("script")) == 1
    assert len(pages["sample"].all("figure", "chart")) == len(sample_report().charts)
    assert len(made["empty"]) < 200_000


def test_hostile_text_is_shown_and_never_acts(made: dict[str, bytes], pages: dict[str, Page]) -> None:
    text = made["hostile"].decode()
    for scripts in ("<script>alert", "<img", "\x00", "\x1b", "\u202e"):
        assert scripts not in text
    assert "<script>alert(1)</script>" in pages["hostile"].text()
    allowed = {one.text for one in pages["sample"].all("script") if one.attributes.get("type") != "application/json"}
    for one in pages["hostile"].all("script"):
        if one.attributes.get("type") == "application/json":
            json.loads(one.text)
        else:
            # The same scripts as of a friendly report, but for the index of the search, which is one JSON value.
            assert one.text in allowed or json.loads(one.text.removeprefix("var reportgenIndex=").removesuffix(";"))


def test_the_same_report_gives_the_same_page(made: dict[str, bytes]) -> None:
    assert one_page(sample_report()) == made["sample"]


def test_a_large_project_is_told_in_part_and_says_so() -> None:
    report = sample_report()
    first = report.recommendations[0]
    many = [replace(first, id=f"x-{n:04d}", rank=n + 1) for n in range(MOST_RECOMMENDATIONS + 7)]
    known = {one.id for one in many}
    group = replace(report.groups[0], ids=sorted(known))
    clean = replace(
        report,
        recommendations=many,
        groups=[group],
        agents=[replace(one, recommendations=[]) for one in report.agents],
        pipelines=[replace(one, recommendations=[]) for one in report.pipelines],
        runs=[replace(one, recommendations=[]) for one in report.runs],
        charts=[chart for chart in report.charts if chart.page != "recommendation"],
    )
    page = read_page(one_page(clean).replace(b"<!-- reportgen:", b"", 1).replace(b" -->\n", b"", 1))
    parts = [one.attributes["id"] for one in page.all("div", "part")]
    assert sum(part.startswith("recommendations/") for part in parts) == MOST_RECOMMENDATIONS
    assert "7 more of these have a page in the site only." in page.text()
    # The table names them all; those without a part lead to the list.
    assert "x-0106" in " ".join(page.ids)


# --- written ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    write_project(
        folder, [event(f"2026-10-0{n}T09:00:00Z", "writer", run_id=f"r{n}", cost_usd=0.5) for n in range(1, 8)]
    )
    return folder


def test_a_build_writes_it_with_the_hash_of_the_site(project: Path) -> None:
    page = project / "out" / "report.html"
    first = build(project, single_file=str(page))
    data = page.read_bytes()
    assert data.startswith(SINGLE_MARKER)
    shown = json.loads((first.site / "data" / "report.json").read_text("utf-8"))["build"]["hash"]
    assert data.count(shown.encode()) >= 2
    # Plotly has texts with the two signs of its own.
    assert b"@@reportgen" not in data
    assert first.single_file == page
    assert [path.name for path in page.parent.iterdir()] == ["report.html"]
    # Nothing changed: nothing is written, and the page counts as an output.
    stamp = page.stat().st_mtime_ns
    again = build(project, single_file=str(page))
    assert page.stat().st_mtime_ns == stamp
    assert (again.written, again.unchanged) == (0, first.written)


def test_a_build_without_it_gives_the_same_site(project: Path) -> None:
    build(project, single_file=str(project / "report.html"))
    assert build(project).written == 0


def test_the_setting_makes_it_part_of_every_build(project: Path) -> None:
    (project / "reportgen.toml").write_text('[outputs]\nsingle_file = "all.html"\n', encoding="utf-8")
    build(project)
    assert (project / "all.html").read_bytes().startswith(SINGLE_MARKER)


def test_a_file_of_somebody_else_is_left_alone(project: Path) -> None:
    page = project / "report.html"
    page.write_text("<!doctype html>\nmine", encoding="utf-8")
    with pytest.raises(ReportgenError, match="was not written by reportgen") as caught:
        build(project, single_file=str(page))
    assert caught.value.exit_code == 2
    assert page.read_text("utf-8") == "<!doctype html>\nmine"
    assert not (project / "site").exists()
    build(project, single_file=str(page), adopt=True)
    assert page.read_bytes().startswith(SINGLE_MARKER)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("budget/cost-events.jsonl", "is an input"),
        ("linked.jsonl", "is an input"),
        ("RECOMMENDATIONS.md", "where the recommendations go"),
        ("site", "the site's folder"),
        (".", "the site's folder"),
        ("site/index.html", "also a file of the site"),
        ("site/reportgen-manifest.json", "also a file of the site"),
        # Before there is a site: what any build may write there is known.
        ("site/agents/all.html", "also a file of the site"),
        ("site/budget.html", "also a file of the site"),
        ("sql/detectors/report.html", "the project's own sql folder"),
        ("templates/report.html", "the project's own templates folder"),
        ("budget/cost-events.jsonl/report.html", "is a file, and a folder"),
        (".reportgen/report.html", "the work folder"),
        ("budget", "is a folder"),
        ("link.html", "is a symbolic link"),
    ],
)
def test_a_place_where_something_else_belongs_is_refused_before_anything_is_written(
    project: Path, place: str, words: str
) -> None:
    (project / "link.html").symlink_to("elsewhere.html")
    os.link(project / "budget" / "cost-events.jsonl", project / "linked.jsonl")
    before = (project / "budget" / "cost-events.jsonl").read_bytes()
    with pytest.raises(ReportgenError, match=words) as caught:
        build(project, single_file=str(project / place))
    assert caught.value.exit_code == 2
    assert (project / "budget" / "cost-events.jsonl").read_bytes() == before
    assert not (project / "elsewhere.html").exists()
    assert not (project / "RECOMMENDATIONS.md").exists()


def test_a_folder_that_can_t_be_written_to_is_refused_first(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Asked for, not tried: whoever runs the tests may write everywhere.
    locked = project / "locked"
    locked.mkdir()
    allowed = os.access
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != locked and allowed(path, mode))
    with pytest.raises(ReportgenError, match="read-only for this user") as caught:
        build(project, single_file=str(locked / "deep" / "report.html"))
    assert (caught.value.exit_code, caught.value.where) == (2, str(locked))
    assert not (project / "site").exists()


def test_beside_the_site_s_own_files_it_may_stand_in_the_site(project: Path) -> None:
    page = project / "site" / "all.html"
    build(project, single_file=str(page))
    build(project)
    assert page.read_bytes().startswith(SINGLE_MARKER)


def test_it_is_replaced_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "report.html"
    assert write_single(page, SINGLE_MARKER + b" old -->")
    inode = page.stat().st_ino

    def full(path: Path, data: bytes) -> None:
        path.write_bytes(data[:5])
        raise OSError(28, "No space left on device", str(path))

    with monkeypatch.context() as patch:
        patch.setattr("reportgen.publish.single.write_new", full)
        with pytest.raises(ReportgenError, match="can't be written") as caught:
            write_single(page, SINGLE_MARKER + b" new -->")
    assert "Free some space" in caught.value.next_step
    assert page.read_bytes() == SINGLE_MARKER + b" old -->"
    assert page.stat().st_ino == inode
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert write_single(page, SINGLE_MARKER + b" new -->")
    assert not write_single(page, SINGLE_MARKER + b" new -->")


def test_what_a_killed_build_left_is_cleared(tmp_path: Path) -> None:
    (tmp_path / ".report.html.reportgen-staging").write_bytes(b"half")
    write_single(tmp_path / "report.html", SINGLE_MARKER)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_what_is_no_plain_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ReportgenError, match="not a plain file"):
        refuse_single(
            tmp_path / "pipe", inputs=[], site=tmp_path / "site", recommendations=tmp_path / "R.md", work=tmp_path / "w"
        )
