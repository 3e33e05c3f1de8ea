"""The search index: everything that can be opened is in it, as data, and it stays small whatever the project holds."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import pytest
from page_reader import read_page
from report_factory import empty_report, hostile_report, sample_report

from reportgen.model import Run, SqlText
from reportgen.render.searchindex import MOST_ENTRIES, MOST_TEXT, PATH, Entry, script_of, search_index
from reportgen.render.site import render_site

Site = dict[str, bytes]


def groups_of(script: bytes) -> list[dict[str, Any]]:
    """Read the script as what it is: one variable that holds one JSON value."""
    text = script.decode("ascii")
    assert text.startswith("var reportgenIndex=")
    assert text.endswith(";\n")
    groups: list[dict[str, Any]] = json.loads(text.removeprefix("var reportgenIndex=").removesuffix(";\n"))
    return groups


def rows_of(group: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the title, the place and the other words of each row: a text is both title and path."""
    rows = [[row, row] if isinstance(row, str) else row for row in group["rows"]]
    return [(row[0], f"{group['at']}{row[1]}{group['end']}", (*row[2:], group.get("also", ""))[0]) for row in rows]


def entries_of(script: bytes) -> dict[str, dict[str, str]]:
    """Return title by place, for each kind; runs come in a group for each page."""
    out: dict[str, dict[str, str]] = {}
    for group in groups_of(script):
        out.setdefault(group["kind"], {}).update({place: title for title, place, _ in rows_of(group)})
    return out


@pytest.fixture(scope="module")
def sample() -> Site:
    return render_site(sample_report())


def test_every_page_of_the_report_is_found(sample: Site) -> None:
    report = sample_report()
    found = entries_of(sample[PATH])
    assert found["Recommendations"] == {f"recommendations/{r.id}.html": r.title for r in report.recommendations}
    assert found["Agents"] == {f"agents/{a.slug}.html": a.agent for a in report.agents}
    assert found["Pipelines"] == {f"pipelines/{p.slug}.html": p.pipeline for p in report.pipelines}
    assert found["Detectors"] == {f"detectors/{d.detector}.html": d.title for d in report.detectors}
    assert found["Pages"]["data-quality.html"] == "Data quality"


def test_sql_files_are_found_where_they_stand() -> None:
    text = SqlText(
        file="sql/marts/agents.sql", kind="marts", name="agents", title="Agents by pipeline", doc="", origin="built-in",
        sql="select 1", reads=[],
    )  # fmt: skip
    found = entries_of(render_site(replace(sample_report(), sql=[text]))[PATH])
    assert found["SQL"] == {"sql/marts.html#agents": "Agents by pipeline"}
    assert found["Pages"]["sql.html"] == "SQL"


def test_runs_are_found_at_their_rows_those_with_a_recommendation_first() -> None:
    def run(name: str, cost: str, ids: list[str]) -> Run:
        return Run(
            pipeline="doc-pipeline", run=name, anchor=f"run-{name}", started="2026-10-03T09:14:07Z", ended=None,
            events=1, agents=1, cost=cost, incomplete=False, recommendations=ids,
        )  # fmt: skip

    known = sample_report().recommendations[0].id
    report = replace(sample_report(), runs=[run("a", "1", []), run("b", "2", []), run("c", "0.5", [known])])
    (group,) = [one for one in groups_of(render_site(report)[PATH]) if one["kind"] == "Runs"]
    assert group["rows"] == ["c", "b", "a"]
    page = "pipelines/doc-pipeline/runs-2026-10.html"
    assert rows_of(group) == [(name, f"{page}#run-{name}", "doc-pipeline 2026-10") for name in "cba"]


def test_every_place_in_it_is_there(sample: Site) -> None:
    pages = {path: read_page(data) for path, data in sample.items() if path.endswith(".html")}
    for kind, entries in entries_of(sample[PATH]).items():
        for place in entries:
            path, _, fragment = place.partition("#")
            assert path in pages, (kind, place)
            if fragment:
                assert unquote(fragment) in pages[path].ids, (kind, place)


def test_the_words_that_are_explained_are_found(sample: Site) -> None:
    words = entries_of(sample[PATH])["How to read this"]
    page = read_page(sample["how-to-read.html"])
    explained = {e.attributes["id"] for e in page.elements if e.tag in ("h2", "dt") and "id" in e.attributes}
    assert explained
    assert explained <= {place.partition("#")[2] for place in words}


def test_a_project_s_own_page_is_found(tmp_path: Any) -> None:
    (tmp_path / "cost-notes.html").write_text('{% extends "_base.html" %}{% block content %}<h1>x</h1>{% endblock %}')
    found = entries_of(render_site(sample_report(), template_dirs=[tmp_path])[PATH])
    assert found["Pages"]["cost-notes.html"] == "Cost notes"


def test_an_empty_project_has_its_pages(tmp_path: Any) -> None:
    found = entries_of(render_site(empty_report())[PATH])
    assert "index.html" in found["Pages"]
    assert "Agents" not in found


def test_hostile_names_are_data() -> None:
    script = render_site(hostile_report())[PATH]
    assert b"<" not in script
    assert script.isascii()
    titles = [title for group in groups_of(script) for title, _, _ in rows_of(group)]
    assert any("<script>alert(1)</script>" in title for title in titles)
    assert not any("\u202e" in title or "\x00" in title or "\x1b" in title for title in titles)
    assert max(len(title) for title in titles) <= MOST_TEXT


def test_the_same_report_gives_the_same_bytes(sample: Site) -> None:
    assert render_site(sample_report())[PATH] == sample[PATH]


def test_its_size_is_bounded_and_what_is_left_out_is_counted() -> None:
    report = sample_report()
    many = [replace(report.recommendations[0], id=f"x-{n}", title=f"{n} {'long ' * 50}") for n in range(20_000)]
    pages = [(f"recommendations/{one.id}.html", one.title) for one in many]
    script = search_index(replace(report, recommendations=many), pages)
    (group,) = [group for group in groups_of(script) if group["kind"] == "Recommendations"]
    assert (len(group["rows"]), group["left"]) == (MOST_ENTRIES, 20_000 - MOST_ENTRIES)
    # The best of them: the report's order.
    assert [row[1] for row in group["rows"]] == [f"x-{n}" for n in range(MOST_ENTRIES)]
    assert len(script) < 120_000


def test_paths_of_a_kind_share_what_they_begin_and_end_with() -> None:
    entries = [Entry("agents", "a", "agents/a.html"), Entry("agents", "b", "agents/b.html", "docs"), Entry("odd", "c", "c.html#d")]  # fmt: skip
    agents, odd = groups_of(script_of(entries))
    assert agents == {"kind": "Agents", "at": "agents/", "end": ".html", "left": 0, "rows": ["a", ["b", "b", "docs"]]}  # fmt: skip
    assert odd == {"kind": "odd", "at": "", "end": "", "left": 0, "rows": [["c", "c.html#d"]]}
