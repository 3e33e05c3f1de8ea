"""`reportgen build A B C`: projects and finished reports become one report; nothing of theirs is changed."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from project import event, read_report_json, write_project
from report_factory import sample_report

from reportgen import build
from reportgen.analysing import Analysed, with_retired
from reportgen.building import BuildResult
from reportgen.chartfiles import COLOURS
from reportgen.cli import run
from reportgen.errors import ReportgenError
from reportgen.publish.manifest import MANIFEST, Manifest
from reportgen.report.exported import read_export
from reportgen.settings import load_settings
from reportgen.several import build_several


def shop(folder: Path) -> Path:
    """Money, reviews, a healing log, a budget, a run that stands out, and a rejected line."""
    events = [
        event(f"2026-11-{day:02}T09:{minute:02}:00Z", agent, "docs", run_id=f"r{day}", cost_usd="0.1",
              model="m-large", input_tokens=100, output_tokens=10)
        for day in range(2, 9)
        for minute, agent in enumerate(["writer", "writer", "writer", "planner"])
    ]  # fmt: skip
    events.append(event("2026-11-09T09:00:00Z", "writer", "docs", run_id="r9", cost_usd="7.25"))
    feedback = [(f"2026-11-0{day}", "docs", "writer", "42/100", "loop-excess") for day in (2, 3, 4)]
    log = [
        {"timestamp": f"2026-11-05T10:0{n}:00Z", "agent": "writer", "pipeline": "docs", "run_id": "r5",
         "error_type": "timeout", "attempt": n, "max_attempts": 5, "action": "retry-shorter-scope", "exit_code": 0,
         "delay_seconds": 0, "reason": "again", "context": "slow"}
        for n in (1, 2)
    ]  # fmt: skip
    made = write_project(folder, events, feedback, log, files={"BUDGET.md": "- limit: 500 cents\n- window: daily\n"})
    with (made / "budget" / "cost-events.jsonl").open("a", encoding="utf-8") as file:
        file.write("not json\n")
    return made


def lab(folder: Path) -> Path:
    """The same names as in the shop, other measures: tokens only, and no reviews."""
    events = [
        event(f"2026-11-{day:02}T12:00:00Z", agent, "docs", run_id=f"r{day}", estimated_tokens=70 + day)
        for day in range(4, 12)
        for agent in ("writer", "helper")
    ]
    return write_project(folder, events)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both projects, each with its own report."""
    home = tmp_path_factory.mktemp("several")
    for folder in (shop(home / "shop"), lab(home / "lab")):
        build(folder)
    return home


@pytest.fixture(scope="module")
def whole(world: Path) -> Iterator[BuildResult]:
    """Both as one, from their inputs."""
    before = contents(world)
    (world / "all").mkdir()
    here = Path.cwd()
    os.chdir(world / "all")
    try:
        yield build_several(["../shop", "../lab"])
    finally:
        os.chdir(here)
    after = contents(world)
    assert {path: data for path, data in after.items() if path.parts[0] != "all"} == before, "theirs is not touched"


def contents(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def table(result_site: Path, name: str) -> list[dict[str, str]]:
    with (result_site / "data" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def report_of(folder: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((folder / "site" / "data" / "report.json").read_text("utf-8"))
    return value


def test_the_merged_report_holds_what_each_report_holds(world: Path, whole: BuildResult) -> None:
    parts = {name: report_of(world / name) for name in ("shop", "lab")}
    report = read_report_json(whole)
    assert {(p["pipeline"], p["cost"], p["runs"], p["events"]) for p in report["pipelines"]} == {
        (f"{name} / {p['pipeline']}", p["cost"], p["runs"], p["events"])
        for name, part in parts.items()
        for p in part["pipelines"]
    }
    assert {(r["id"], r["vfm"]["total"], r["saving"], r["finding"]) for r in report["recommendations"]} == {
        (f"{r['id']}_{name}", r["vfm"]["total"], r["saving"], r["finding"])
        for name, part in parts.items()
        for r in part["recommendations"]
    }
    assert parts["shop"]["recommendations"], "there is something to compare"
    assert report["healing"]["attempts"] == 2
    assert report["rejected_total"] == 1
    assert [one["subject"] for one in report["budget"]] == ["shop / (all agents)"]
    assert report["build"]["project"] == "lab and shop"
    assert whole.exit_code == 0
    # The same agent of both projects: one page, a row for each.
    writers = [a for a in report["agents"] if a["agent"] == "writer"]
    assert {(a["slug"], a["pipeline"]) for a in writers} == {("writer", "lab / docs"), ("writer", "shop / docs")}


def test_its_tables_hold_the_rows_of_both(world: Path, whole: BuildResult) -> None:
    for name in ("runs.csv", "agents.csv", "pipelines.csv", "healing.csv", "tags.csv"):
        mine = [{key: value for key, value in row.items() if key not in ("project", "pipeline")}
                for row in table(whole.site, name)]  # fmt: skip
        theirs = [{key: value for key, value in row.items() if key != "pipeline"}
                  for part in ("lab", "shop") for row in table(world / part / "site", name)]  # fmt: skip
        assert mine == theirs, name
    assert {(row["project"], row["pipeline"]) for row in table(whole.site, "runs.csv")} == {
        ("lab", "lab / docs"),
        ("shop", "shop / docs"),
    }
    assert [row["file"] for row in table(whole.site, "rejected.csv")] == ["shop / budget/cost-events.jsonl"]
    costs = [Decimal(row["cost_usd"]) for row in table(whole.site, "chart-cost-by-day_shop.csv")]
    assert sum(costs) == Decimal("10.05")


def test_its_pages_name_the_projects(whole: BuildResult) -> None:
    page = (whole.site / "pipelines" / "shop_docs.html").read_text("utf-8")
    assert "shop / docs" in page
    assert list((whole.site / "pipelines" / "shop_docs").glob("runs-2026-11.html"))
    text = whole.recommendations.read_text("utf-8")
    assert "# Recommendations for lab and shop" in text
    assert "lab / docs" in text


def test_every_link_of_the_site_leads_to_a_page_and_a_place(whole: BuildResult) -> None:
    pages = {path.relative_to(whole.site).as_posix(): path.read_text("utf-8") for path in whole.site.rglob("*.html")}
    ids = {path: set(re.findall(r"""\bid=["']?([^"'\s>]+)""", text)) for path, text in pages.items()}
    seen = 0
    for path, text in pages.items():
        for link in re.findall(r"""<a\b[^>]*?\bhref=["']?([^"'\s>]+)""", text) if path != "404.html" else ():
            place, _, anchor = link.partition("#")
            goal = os.path.normpath(os.path.join(os.path.dirname(path), place)) if place else path  # noqa: PTH118, PTH120
            assert (whole.site / goal).is_file(), f"{path}: {link}"
            assert not anchor or goal not in ids or anchor in ids[goal], f"{path}: {link}"
            seen += 1
    assert seen > 500


def test_finished_reports_give_what_their_inputs_give(
    world: Path, whole: BuildResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    again = build_several([f"lab={world / 'lab' / 'site'}", f"shop={world / 'shop' / 'site' / 'data' / 'report.json'}"])
    mine, theirs = read_report_json(again), read_report_json(whole)
    for report, result in ((mine, again), (theirs, whole)):
        # One hash over all outputs, in each of them.
        assert report["build"].pop("hash") in result.recommendations.read_text("utf-8").splitlines()[0]
        report["notices"] = [one for one in report["notices"] if one["code"] != "project"]
    assert mine == theirs
    for name in sorted(path.name for path in (whole.site / "data").glob("*.csv")):
        assert (again.site / "data" / name).read_bytes() == (whole.site / "data" / name).read_bytes(), name
    # Of the pages only those differ that tell where the data came from; the SQL is shown in full.
    assert (again.site / "sql" / "marts.html").exists()
    page = (again.site / "pipelines" / "shop_docs.html").read_text("utf-8")
    assert page.count("<table") == (whole.site / "pipelines" / "shop_docs.html").read_text("utf-8").count("<table")


def test_a_report_without_its_csv_files_says_what_is_missing(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lone = tmp_path / "box.json"
    lone.write_bytes((world / "shop" / "site" / "data" / "report.json").read_bytes())
    found = read_export(lone, "box.json")
    assert len(found.report.recommendations) == len(report_of(world / "shop")["recommendations"])
    assert found.report.charts == []
    assert found.report.runs == []
    assert [one.code for one in found.notices] == ["project-part"]


def broken(world: Path, change: Callable[[dict[str, Any]], object]) -> bytes:
    value = report_of(world / "shop")
    change(value)
    return json.dumps(value).encode()


def set_in(*path: Any) -> Callable[[dict[str, Any]], object]:
    *way, last, new = path

    def change(value: Any) -> None:
        for key in way:
            value = value[key]
        value[last] = new

    return change


def test_broken_csv_files_beside_a_report_are_told_and_left_out(world: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for path in (world / "shop" / "site" / "data").iterdir():
        (data / path.name).write_bytes(path.read_bytes())
    (data / "runs.csv").write_bytes(b"pipeline,run\n1,2,3\n")
    (data / "chart-cost-by-day.csv").unlink()
    (data / "chart-cost-by-day.csv").symlink_to("/etc/hostname")
    found = read_export(data / "report.json", "data/report.json")
    assert {one.count for one in found.notices} == {1}
    assert found.report.runs == []
    assert not any(chart.file == "sql/charts/cost_by_day.sql" for chart in found.report.charts)
    assert any(chart.rows for chart in found.report.charts)


def test_hostile_rows_beside_a_report_stay_rows(world: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for path in (world / "shop" / "site" / "data").iterdir():
        (data / path.name).write_bytes(path.read_bytes())
    rows = ["docs,../../x,2026-1-01T00:00:0Z,<b>,-5,many,NaN,yes", "docs,../../x,2026-02-30T00:00:00Z,,1,1,1,true",
            "nowhere,r1,,,1,1,1,false"]  # fmt: skip
    (data / "runs.csv").write_text("\n".join(["pipeline,run,started,ended,events,agents,cost,incomplete", *rows, ""]))
    strange = set_in("drawings", "sql/charts/recommendation_times.sql", "colours", {"implement": "url(x)"})
    (data / "report.json").write_bytes(broken(world, strange))
    report = read_export(data / "report.json", "report.json").report
    assert {colour for chart in report.charts for colour in chart.colours.values()} <= set(COLOURS)
    first, second = report.runs
    assert (first.started, first.ended, first.events, first.agents, first.cost) == (None, None, 0, 0, None)
    assert (second.started, second.cost, second.incomplete) == (None, "1", True)
    assert first.anchor != second.anchor
    assert all(re.fullmatch(r"run-[a-z0-9-]+", run.anchor) for run in (first, second))


def test_a_project_that_is_not_there_is_told_and_the_others_are_shown(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bare").mkdir()
    (tmp_path / "torn.json").write_text("{", encoding="utf-8")
    void = write_project(tmp_path / "void", [])
    code = run(["build", str(world / "lab" / "site"), "bare", "box=torn.json", str(void), "--json", "-q"])
    out, err = capsys.readouterr()
    assert code == 3
    told = json.loads(out)
    assert (told["exit_code"], [one["where"] for one in told["left_out"]][1]) == (3, "box=torn.json")
    assert "neither cost events nor feedback found" in err
    assert "torn.json: is not JSON" in err
    page = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert "bare is not in this report" in page
    assert "box is not in this report" in page
    assert "void holds no data" in page
    assert "box is not in this report" in (tmp_path / "RECOMMENDATIONS.md").read_text("utf-8")
    # What was looked at, and where, stands with each detector.
    report = json.loads((tmp_path / "site" / "data" / "report.json").read_text("utf-8"))
    checked = next(d["checked"] for d in report["detectors"] if d["detector"] == "cost_outlier")
    assert "void: not looked at" in checked


def test_with_no_project_at_all_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    with pytest.raises(ReportgenError) as raised:
        build_several(["a", "b"])
    assert raised.value.exit_code == 3
    assert not (tmp_path / "site").exists()
    assert not (tmp_path / "RECOMMENDATIONS.md").exists()


def test_what_no_longer_holds_in_a_project_is_named_and_what_is_away_is_not(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lab_site = str(world / "lab" / "site")
    first = build_several([f"lab={lab_site}", f"shop={world / 'shop' / 'site'}"])
    gone = first.report.recommendations[0]
    assert gone.id.endswith("_shop")

    def drop(value: dict[str, Any]) -> None:
        old = gone.id.removesuffix("_shop")
        value["recommendations"] = [one for one in value["recommendations"] if one["id"] != old]
        value["groups"] = [one for one in value["groups"] if one["ids"] != [old]]
        for one in (*value["pipelines"], *value["agents"]):
            one["recommendations"] = [name for name in one["recommendations"] if name != old]

    (tmp_path / "shop.json").write_bytes(broken(world, drop))
    # The shop away: nothing of it has gone.
    away = build_several([f"lab={lab_site}", "shop=nowhere"])
    assert away.report.retired == []
    then = build_several([f"lab={lab_site}", "shop=shop.json"])
    assert [one.id for one in then.report.retired] == [gone.id]


def test_a_project_that_takes_the_place_of_a_merged_report_does_not_retire_the_others(tmp_path: Path) -> None:
    report = sample_report()
    detector = next(one for one in report.detectors if one.status == "clear")
    own = f"{detector.detector.replace('_', '-')}-x-1234567890"
    manifest = Manifest(ids={own: "Gone", f"{own}_shop": "Of a shop"}, retired={f"{own}_lab": "Of a lab"})
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / MANIFEST).write_bytes(manifest.to_bytes())
    analysed = Analysed(report=report, ids={}, failed=(), csvs={})
    after = with_retired(load_settings(tmp_path), analysed)
    assert [one.id for one in after.report.retired] == [own]
    assert not any("_" in key for key in after.ids)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({"pipeline": "docs"}, "--pipeline"),
        ({"events": ("x.jsonl",)}, "--events"),
        ({"source": ("claude-code",)}, "--source"),
        ({"feedback": ("x.md",)}, "--feedback"),
        ({"healing_log": "x"}, "--healing-log"),
        ({"budget": "x"}, "--budget"),
        ({"settings_file": "x.toml"}, "--config"),
        ({"since": "2026-11-01"}, "--since"),
        ({"window": "3d"}, "--window"),
    ],
)
def test_flags_that_do_not_fit_are_refused(
    flags: dict[str, Any], said: str, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ReportgenError) as raised:
        build_several([world / "shop", world / "lab" / "site"], **flags)
    assert (raised.value.where, raised.value.exit_code) == (said, 2)
    assert raised.value.next_step
    assert list(tmp_path.iterdir()) == []


def test_a_report_that_shows_secrets_is_merged_only_where_that_is_asked_for(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "open.json").write_bytes(broken(world, set_in("build", "redacted", False)))
    sites = [str(world / "lab" / "site"), "open.json"]
    top = report_of(world / "shop")["recommendations"][0]["vfm"]["total"]
    result = build_several(sites)
    assert [error.where for error in result.left_out] == ["open.json"]
    assert "--no-redact" in result.left_out[0].what
    # The gate holds for all of them together.
    asked = build_several(sites, redact=False, fail_on=top)
    assert (asked.left_out, asked.exit_code) == ((), 4)


def test_a_report_is_not_written_over_by_the_one_it_goes_into(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world / "lab")
    with pytest.raises(ReportgenError, match="would be written over it"):
        build_several(["site", "../shop"])


@pytest.mark.parametrize("place", ["sql", "templates", ".reportgen/x", "."])
def test_a_site_in_the_own_folders_of_a_project_is_refused(
    place: str, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = contents(world)
    with pytest.raises(ReportgenError) as raised:
        build_several([world / "shop", world / "lab"], site=str(world / "lab" / place))
    assert raised.value.exit_code == 2
    assert (contents(world), list(tmp_path.iterdir())) == (before, [])


def test_a_project_and_its_own_report_are_one_project(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for other in ("site", "site/data/report.json"):
        with pytest.raises(ReportgenError, match=r"is the report of .*shop, which is named, too") as raised:
            build_several([f"a={world / 'shop'}", f"b={world / 'shop' / other}"])
        assert raised.value.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_copies_of_one_report_are_one_project(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("desk", "backup"):
        shutil.copytree(world / "shop" / "site", tmp_path / name)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for named in (["../desk", "../backup"], [str(world / "shop"), "../desk"]):
        with pytest.raises(ReportgenError, match="is the same report as that of") as caught:
            build_several(named)
        assert (caught.value.where, caught.value.exit_code) == (named[1], 2)
    assert list((tmp_path / "here").glob("site")) == []


def test_a_file_under_two_names_is_one_file(world: Path, tmp_path: Path) -> None:
    twin = tmp_path / "twin"
    twin.mkdir()
    (twin / "cost-events.jsonl").hardlink_to(next((world / "shop").rglob("cost-events.jsonl")))
    with pytest.raises(ReportgenError, match=r"reads .*cost-events\.jsonl, which .*shop reads, too"):
        build_several([world / "shop", twin], site=tmp_path / "site", recommendations=tmp_path / "R.md")


def test_rows_that_are_missing_beside_a_report_are_told(world: Path, tmp_path: Path) -> None:
    shutil.copytree(world / "shop" / "site", tmp_path / "copy")
    runs = tmp_path / "copy" / "data" / "runs.csv"
    lines = runs.read_text("utf-8").splitlines(keepends=True)
    runs.write_text("".join(lines[:2]), "utf-8")
    (notice,) = read_export(tmp_path / "copy" / "data" / "report.json", "copy").notices
    assert notice.message.startswith(
        f"runs.csv holds 1 rows where the report tells of {len(lines) - 1}: a file was cut"
    )


def test_settings_that_are_wrong_are_told_with_their_project(
    world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "reportgen.toml").write_text("[[[")
    site, said = tmp_path / "site", tmp_path / "R.md"
    assert (
        run(["build", str(tmp_path / "odd"), str(world / "lab"), "--site", str(site), "--recommendations", str(said)])
        == 2
    )
    assert "odd/reportgen.toml:1:" in capsys.readouterr().err


def test_cost_events_that_two_projects_read_are_refused(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.jsonl").symlink_to(world / "shop" / "budget" / "cost-events.jsonl")
    here = tmp_path / "here"
    here.mkdir()
    (here / "reportgen.toml").write_text('[inputs]\nevents = ["../logs/*.jsonl"]\n', encoding="utf-8")
    with pytest.raises(ReportgenError, match=r"reads .*a\.jsonl, which .*shop reads, too") as raised:
        build_several([world / "lab", world / "shop", here])
    assert (raised.value.where, raised.value.exit_code) == (str(here), 2)
    assert not (tmp_path / "site").exists()


def test_a_merged_report_without_data_says_how_it_was_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    (tmp_path / "claude" / "projects" / "x").mkdir(parents=True)
    (tmp_path / "claude" / "projects" / "x" / "s.jsonl").write_text("{}\n")
    for name in ("a", "b"):
        write_project(tmp_path / name, [])
    (tmp_path / "a" / "reportgen.toml").write_text('[inputs]\nsource = ["claude-code"]\n', encoding="utf-8")
    assert build_several(["a", "b"]).report.build.sources == []
    for page in ("RECOMMENDATIONS.md", "site/index.html"):
        text = (tmp_path / page).read_text("utf-8")
        assert "reportgen build PROJECT PROJECT …" in text
        assert "--source" not in text


def test_tables_beside_a_report_are_not_written_over(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The site that is written has files of these names, too, and its own report.json is not the one that is read.
    data = tmp_path / "site" / "data"
    data.mkdir(parents=True)
    for path in (world / "shop" / "site" / "data").iterdir():
        (data / path.name.replace("report.json", "shop.json")).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    before = contents(data)
    with pytest.raises(ReportgenError, match=r"is an input, and .* would be written over it"):
        build_several([f"shop={data / 'shop.json'}", str(world / "lab")])
    assert contents(data) == before
    assert not (tmp_path / "RECOMMENDATIONS.md").exists()


def test_what_the_page_about_it_shows_works(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parent.parent / "docs" / "several.md").read_text("utf-8")
    (command,) = re.findall(r"^reportgen (build .+)$", page, re.MULTILINE)
    here = tmp_path / "here"
    (here / "box").mkdir(parents=True)
    (here / "shop").symlink_to(world / "shop")
    (tmp_path / "lab").symlink_to(world / "lab")
    (here / "box" / "site").mkdir()
    for path in (world / "shop" / "site").rglob("*"):
        target = here / "box" / "site" / path.relative_to(world / "shop" / "site")
        target.mkdir() if path.is_dir() else target.write_bytes(path.read_bytes())
    # The box has a shop of its own, of another build.
    box = here / "box" / "site" / "data" / "report.json"
    box.write_text(re.sub(r'"hash":\s*"[0-9a-f]+"', '"hash": "0123456789abcdef"', box.read_text("utf-8")), "utf-8")
    monkeypatch.chdir(here)
    # A rejected line of the shop, and of its report.
    assert run([*shlex.split(command), "--strict", "-q"]) == 1
    report = report_of(here)
    assert {p["pipeline"] for p in report["pipelines"]} == {"shop / docs", "lab / docs", "box / docs"}
    total = sum(Decimal(p["cost"]) for p in report["pipelines"] if p["cost_measure"] == "usd")
    assert total == 2 * Decimal("10.05")
    # The same costs, day by day, in one chart.
    rows = table(here / "site", "chart-cost-by-day.csv")
    assert sum(Decimal(row["cost_usd"]) for row in rows) == total
    assert {row["pipeline"] for row in rows} == {"shop / docs", "box / docs"}
    assert (here / ".reportgen" / "projects").is_dir()


def test_the_command_says_what_it_takes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["build", "--help"]) == 0
    out = capsys.readouterr().out
    assert "[PROJECT]..." in out
    assert "reportgen build shop lab=../lab" in out
    file = tmp_path / "report.json"
    file.touch()
    assert run(["build", str(file)]) == 2
    assert "is a finished report, and nothing else is named" in capsys.readouterr().err
    assert run(["build", f"shop={tmp_path}"]) == 2
    assert f"Run it on {tmp_path}" in capsys.readouterr().err
    assert run(["build", f"{tmp_path}/none=here"]) == 2
    assert "no such directory" in capsys.readouterr().err
