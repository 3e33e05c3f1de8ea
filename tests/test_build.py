"""The whole path: exit codes, filters, properties of the reading, what must not be lost or written."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from project import HEADER, built, event, findings, outcomes, read_report_json, write_project

import reportgen.report.json
from reportgen import build
from reportgen.errors import ReportgenError
from reportgen.report.json import read_report, report_bytes, schema, schema_bytes

CASES = Path(__file__).parent / "cases"


def tree(folder: Path) -> dict[str, str]:
    """Every file of a project's outputs with its hash."""
    files = [folder / "RECOMMENDATIONS.md", *(folder / "site").rglob("*")]
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files if p.is_file()}


def ordinary() -> list[dict[str, Any]]:
    """Two agents, three runs told by id, and a pipeline told by gaps."""
    rows = []
    for day in (2, 3, 4):
        for minute in range(4):
            rows.append(event(f"2026-11-0{day}T09:{minute:02d}:00Z", "writer", run_id=f"r{day}", cost_usd=0.5))
        rows.append(event(f"2026-11-0{day}T10:00:00Z", "editor", run_id=f"r{day}", cost_usd=0.25))
        rows.append(event(f"2026-11-0{day}T11:00:00Z", "scout", "hunt", total_tokens=10))
        rows.append(event(f"2026-11-0{day}T11:30:00Z", "scout", "hunt", total_tokens=10))
        rows.append(event(f"2026-11-0{day}T12:00:01Z", "guide", "hunt", total_tokens=90))
    return rows


# --- exit codes and first runs --------------------------------------------------------------------------------------


def test_no_input_is_exit_3_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(ReportgenError) as caught:
        build(tmp_path)
    assert caught.value.exit_code == 3
    assert "cost-events.jsonl" in str(caught.value)
    assert "FEEDBACK.md" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_healing_log_alone_is_no_input(tmp_path: Path) -> None:
    write_project(tmp_path, None, healing=[])
    with pytest.raises(ReportgenError) as caught:
        build(tmp_path)
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("events", [(), None])
def test_files_without_data_give_a_report_that_says_so(tmp_path: Path, events: Any) -> None:
    template = "| {{DATE}} | {{PIPELINE_NAME}} | {{AGENT_NAME}} | {{SCORE}}/100 | {{ISSUE}} | {{FIX}} | {{TAG}} |\n"
    write_project(tmp_path, events, files={"FEEDBACK.md": HEADER + template})
    result = build(tmp_path)
    report = read_report_json(result)
    assert result.exit_code == 0
    assert set(outcomes(report).values()) == {"skipped"}
    assert all("not_enough_data: 0 of at least 1" in d["message"] or "missing input" in d["message"]
               for d in report["detectors"])  # fmt: skip
    assert report["recommendations"] == []
    text = result.recommendations.read_text("utf-8")
    assert "cost-events.jsonl" in text
    assert "FEEDBACK.md" in text


def test_only_events(tmp_path: Path) -> None:
    report = built(write_project(tmp_path, ordinary()))
    assert outcomes(report)["revision_loops"] == "skipped"
    assert [p["pipeline"] for p in report["pipelines"]] == ["docs", "hunt"]


def test_only_feedback(tmp_path: Path) -> None:
    rows = [(f"2026-11-0{d}", "docs", "writer", "50/100", "-") for d in (1, 2, 3)]
    report = built(write_project(tmp_path, None, rows))
    assert outcomes(report)["cost_outlier"] == "skipped"
    (docs,) = report["pipelines"]
    assert (docs["runs"], docs["events"], docs["cost"], docs["run_source"]) == (3, 0, None, "feedback dates")


def test_nothing_flagged_says_what_was_checked(tmp_path: Path) -> None:
    import shutil

    shutil.copytree(CASES / "clear", tmp_path / "p")
    result = build(tmp_path / "p")
    report = read_report_json(result)
    assert set(outcomes(report).values()) == {"clear"}
    assert {d["checked"] for d in report["detectors"]} >= {"24 events", "8 runs"}
    text = result.recommendations.read_text("utf-8")
    assert "24 events" in text
    assert "8 runs" in text


def test_an_unknown_pipeline_is_exit_2_and_names_the_near_one(tmp_path: Path) -> None:
    write_project(tmp_path, ordinary())
    with pytest.raises(ReportgenError, match="did you mean 'docs'") as caught:
        build(tmp_path, pipeline="dosc")
    assert caught.value.exit_code == 2
    assert not (tmp_path / "site").exists()


def test_fail_on(tmp_path: Path) -> None:
    write_project(tmp_path, [event(run_id=f"r{i}", cost_usd=9 if i == 0 else 1) for i in range(10)])
    total = built(tmp_path)["recommendations"][0]["vfm"]["total"]
    assert build(tmp_path, fail_on=total).exit_code == 4
    assert build(tmp_path, fail_on=total + 1).exit_code == 0


def test_strict_counts_rejected_lines_but_not_the_one_still_being_written(tmp_path: Path) -> None:
    write_project(tmp_path, ordinary())
    log = tmp_path / "budget" / "cost-events.jsonl"
    whole = log.read_bytes()
    log.write_bytes(whole + b'{"timestamp": "2026-11-0')
    assert build(tmp_path, strict=True).exit_code == 0
    log.write_bytes(b"{broken}\n" + whole)
    assert build(tmp_path).exit_code == 0
    assert build(tmp_path, strict=True).exit_code == 1


# --- detectors as files ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ('/*---\ntitle = "Bad"\naction = "x"\nfinding = "y"\n---*/\nselect nothing\nfrom runs', ":6", "nothing"),
        ('/*---\ntitle = "Bad"\naction = "x"\nfinding = "y"\n---*/\nselect 1 as a; select 2', "", "one SELECT"),
        ('/*---\ntitle = "Bad"\naction = "x"\nfinding = "y"\n---*/\ncopy runs to \'out.csv\'', "", "one SELECT"),
        ('/*---\ntitel = "Bad"\n---*/\nselect 1', ":2", "did you mean 'title'"),
        ("/*---\ntitle = \n---*/\nselect 1", ":2", "not TOML"),
        (
            '/*---\ntitle = "Bad"\naction = "x"\nfinding = "y"\n---*/\nselect * from read_text(\'/etc/hostname\')',
            ":6",
            "disabled by configuration",
        ),
    ],
)
def test_a_broken_detector_is_an_outcome_and_the_others_run(
    tmp_path: Path, text: str, where: str, message: str
) -> None:
    write_project(tmp_path, ordinary(), files={"sql/detectors/bad.sql": text})
    result = build(tmp_path)
    report = read_report_json(result)
    assert result.exit_code == 1
    (bad,) = [d for d in report["detectors"] if d["detector"] == "bad"]
    assert bad["status"] == "error"
    assert message in bad["message"]
    assert bad["where"].startswith(f"sql/detectors/bad.sql{where}")
    assert outcomes(report)["bottleneck_agent"] == "found"
    assert not (tmp_path / "out.csv").exists()


def test_a_project_adds_a_detector_without_python(tmp_path: Path) -> None:
    own = """/*---
title = "Runs with many events"
action = "Split {subject}."
finding = "{subject} has {observed}."
effort = "S"
subject_kind = "run"
[params.most]
default = 4
unit = "events"
doc = "More than this."
[columns.observed]
label = "Events"
unit = "events"
---*/
select r.pipeline, r.run as subject, r.run_key as subject_key, r.events as observed, null as baseline,
    p.most as threshold, 1 as occurrences, 1 as affected_runs, pl.runs as total_runs
from runs as r inner join pipelines as pl on r.pipeline = pl.pipeline cross join params.long_runs as p
where r.events > p.most order by r.pipeline, r.run_key
"""
    write_project(tmp_path, ordinary(), files={"sql/detectors/long_runs.sql": own})
    report = built(tmp_path)
    mine = [r for r in report["recommendations"] if r["detector"] == "long_runs"]
    assert [(r["subject"], r["observed"], r["threshold"]) for r in mine] == [(r, "5", "4") for r in ("r2", "r3", "r4")]
    assert {r["finding"] for r in mine} == {f"{r} has 5 events." for r in ("r2", "r3", "r4")}
    write_project(tmp_path, None, settings="[detectors.long_runs]\nmost = 5\n")
    assert outcomes(built(tmp_path))["long_runs"] == "clear"


def test_settings_of_a_detector_that_does_not_exist(tmp_path: Path) -> None:
    write_project(tmp_path, ordinary(), settings="[detectors.cost_outlir]\nmin_ratio = 2\n")
    with pytest.raises(ReportgenError, match="did you mean 'cost_outlier'"):
        build(tmp_path)
    write_project(tmp_path, None, settings="[detectors.cost_outlier]\nmin_ration = 2\n")
    with pytest.raises(ReportgenError, match="did you mean 'min_ratio'"):
        build(tmp_path)


def test_a_detector_can_be_switched_off(tmp_path: Path) -> None:
    write_project(tmp_path, ordinary(), settings="[detectors.cost_outlier]\nenabled = false\n")
    assert "cost_outlier" not in outcomes(built(tmp_path))


def test_every_built_in_file_runs_when_pasted(tmp_path: Path) -> None:
    """In a plain DuckDB on the warehouse, as an analyst would; the finished build left it behind."""
    import duckdb

    from reportgen.resources import resource_dir

    write_project(tmp_path, ordinary(), [("2026-11-02", "docs", "writer", "50/100", "loop-excess")] * 3)
    build(tmp_path)
    with duckdb.connect(str(tmp_path / ".reportgen" / "warehouse.duckdb"), read_only=True) as con:
        for path in sorted(resource_dir("sql").rglob("*.sql")):
            # What a format reads is there only while inputs are read.
            if path.name == "macros.sql" or path.parent.name == "formats":
                continue
            rows = con.execute(path.read_text("utf-8")).fetchall()
            assert isinstance(rows, list), path
        commented = con.execute("select count(*) from duckdb_tables() where comment is not null").fetchone()
        assert commented
        assert commented[0] > 15


# --- filters and properties -----------------------------------------------------------------------------------------


def mixed_project(folder: Path) -> Path:
    rows = ordinary()
    rows += [event(f"2026-11-05T{h:02d}:00:00Z", "writer", run_id=f"x{h}", cost_usd=1) for h in range(12)]
    rows.append(event("2026-11-05T20:00:00Z", "rare", run_id="x1", cost_usd=40))
    feedback = [("2026-11-02", "docs", "writer", "50/100", "loop-excess")] * 3
    feedback += [("2026-11-03", "hunt", "scout", "70/100", "timeout")]
    return write_project(folder, rows, feedback)


def test_a_pipeline_is_exactly_its_part(tmp_path: Path) -> None:
    whole = built(mixed_project(tmp_path))
    for name in ("docs", "hunt"):
        part = built(tmp_path, pipeline=name.upper(), site=tmp_path / "part", recommendations=tmp_path / "part.md")
        assert part["build"]["pipeline_filter"] == name

        def rows(report: dict[str, Any], key: str, name: str = name) -> list[dict[str, Any]]:
            return [{k: v for k, v in row.items() if k != "rank"} for row in report[key] if row["pipeline"] == name]

        for key in ("pipelines", "agents", "recommendations"):
            assert rows(part, key) == rows(whole, key)
            assert len(rows(part, key)) == len(part[key])
        assert name in (tmp_path / "part.md").read_text("utf-8")


def test_the_whole_project_finding_is_not_shown_with_a_pipeline(tmp_path: Path) -> None:
    feedback = [("2026-11-02", p, a, "50/100", "loop-excess") for p, a in (("a", "x"), ("b", "x"), ("c", "y"))]
    write_project(tmp_path, None, feedback)
    whole = built(tmp_path)
    assert findings(whole) == [("revision_loops", "(all pipelines)", "(all pipelines)", "3")]
    assert findings(built(tmp_path, pipeline="a")) == []


def analysis(report: dict[str, Any]) -> dict[str, Any]:
    """What must not depend on the order of the lines or the files they are in."""
    return {key: report[key] for key in ("period", "pipelines", "agents", "recommendations", "groups", "detectors")}


@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6))
def test_order_and_files_of_the_lines_do_not_matter(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = mixed_project(tmp_path_factory.mktemp("shuffled"))
    base = analysis(built(folder))
    log = folder / "budget" / "cost-events.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    random.Random(seed).shuffle(lines)
    log.write_bytes(b"".join(lines))
    assert analysis(built(folder)) == base
    cut = seed % len(lines)
    log.unlink()
    (folder / "budget" / "a.jsonl.gz").write_bytes(gzip.compress(b"".join(lines[:cut])))
    (folder / "budget" / "b.jsonl.zst").write_bytes(zstandard.compress(b"".join(lines[cut:])))
    assert analysis(built(folder, events=[str(folder / "budget" / "*.jsonl.*")])) == base


@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(agent=st.sampled_from(["writer", "rare", "brand-new"]), day=st.integers(1, 9))
def test_one_more_event_never_lowers_its_agents_count(
    agent: str, day: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = mixed_project(tmp_path_factory.mktemp("more"))

    def count() -> int:
        return sum(a["events"] for a in built(folder)["agents"] if a["agent"] == agent)

    before = count()
    with (folder / "budget" / "cost-events.jsonl").open("a", encoding="utf-8") as log:
        log.write(json.dumps(event(f"2026-11-0{day}T07:00:00Z", agent)) + "\n")
    assert count() == before + 1


@pytest.mark.parametrize(
    ("flags", "runs"),
    [
        ({"since": "2026-11-03"}, 2),
        ({"until": "2026-11-03"}, 2),
        ({"as_of": "2026-11-03"}, 2),
        ({"since": "2026-11-03", "until": "2026-11-03"}, 1),
        # Now is 2026-11-04T12:00:01Z: a day back takes what is after 2026-11-03T12:00:01Z.
        ({"window": "1d"}, 1),
        ({"window": "1d", "as_of": "2026-11-03"}, 1),
    ],
)
def test_the_period_looked_at(tmp_path: Path, flags: dict[str, str], runs: int) -> None:
    report = built(write_project(tmp_path, ordinary()), **flags)
    assert next(p["runs"] for p in report["pipelines"] if p["pipeline"] == "docs") == runs


def test_a_window_is_the_same_as_a_file_that_holds_only_it(tmp_path: Path) -> None:
    rows = ordinary()
    feedback = [(f"2026-11-0{d}", "docs", "writer", "50/100", "loop-excess") for d in (2, 3, 4)]
    part = built(write_project(tmp_path / "a", rows, feedback), since="2026-11-03")
    late = [r for r in rows if r["timestamp"] >= "2026-11-03"]
    alone = built(write_project(tmp_path / "b", late, feedback[1:]))
    for key in ("pipelines", "agents", "recommendations"):
        assert part[key] == alone[key]


def test_names_that_differ_only_in_dress_are_one(tmp_path: Path) -> None:
    rows = [event(agent=a, run_id="r1") for a in ("Writer", "Writer", "**writer**", "@WRITER", " `writer` ")]
    report = built(write_project(tmp_path, rows))
    assert [(a["agent"], a["events"]) for a in report["agents"]] == [("Writer", 5)]


def test_a_far_away_date_is_set_aside_and_said(tmp_path: Path) -> None:
    rows = [*ordinary(), event("2099-01-01T00:00:00Z", "writer", run_id="r2")]
    report = built(write_project(tmp_path, rows))
    assert report["period"]["last"].startswith("2026-11-04")
    assert "dates-far-away" in {n["code"] for n in report["notices"]}


# --- outputs --------------------------------------------------------------------------------------------------------


def test_report_json_keeps_to_its_schema_and_reads_back(tmp_path: Path) -> None:
    result = build(mixed_project(tmp_path))
    data = (result.site / "data" / "report.json").read_bytes()
    jsonschema.validate(json.loads(data), schema())
    assert report_bytes(read_report(data)) == data


def test_the_schema_that_is_shipped_is_the_models_own() -> None:
    """After a change of the model: `python -m reportgen.report.json > reportgen/report/report.schema.json`."""
    shipped = Path(reportgen.report.json.__file__).with_name("report.schema.json")
    assert shipped.read_bytes() == schema_bytes()


def test_the_account_adds_up(tmp_path: Path) -> None:
    mixed_project(tmp_path)
    log = tmp_path / "budget" / "cost-events.jsonl"
    log.write_bytes(log.read_bytes() + b"\n{broken\n[1]\n" + json.dumps({"event": "note"}).encode() + b"\n")
    for row in built(tmp_path)["inputs"]:
        fates = ("used", "superseded", "duplicates", "not_cost", "rejected", "blank")
        assert sum(row[f] for f in fates) == row["lines"], row


def test_one_build_hash_in_both_outputs(tmp_path: Path) -> None:
    report = built(mixed_project(tmp_path))
    build_hash = report["build"]["hash"]
    assert len(build_hash) == 16
    assert build_hash in (tmp_path / "RECOMMENDATIONS.md").read_text("utf-8")
    assert build_hash in (tmp_path / "site" / "index.html").read_text("utf-8")


def test_a_second_build_changes_nothing(tmp_path: Path) -> None:
    mixed_project(tmp_path)
    build(tmp_path)
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "site").rglob("*")}
    result = build(tmp_path)
    assert (result.written, result.removed) == (0, 0)
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "site").rglob("*")} == before


def test_ids_are_stable_and_retired_ones_are_named(tmp_path: Path) -> None:
    mixed_project(tmp_path)
    first = {r["id"] for r in built(tmp_path)["recommendations"]}
    (tmp_path / "FEEDBACK.md").write_text(
        HEADER + "| 2026-11-02 | docs | writer | 90 | a | b | - |\n", encoding="utf-8"
    )
    report = built(tmp_path)
    second = {r["id"] for r in report["recommendations"]}
    gone = first - second
    assert gone
    assert second <= first
    assert {r["id"] for r in report["retired"]} == gone
    for page in ("index.html", "404.html"):
        assert all(one in (tmp_path / "site" / page).read_text("utf-8") for one in gone)


def test_a_view_of_one_pipeline_retires_nothing_of_the_others(tmp_path: Path) -> None:
    mixed_project(tmp_path)
    ids = {r["id"] for r in built(tmp_path)["recommendations"]}
    assert built(tmp_path, pipeline="hunt")["retired"] == []
    report = built(tmp_path)
    assert {r["id"] for r in report["recommendations"]} == ids
    assert report["retired"] == []


def test_bytes_do_not_depend_on_the_place_or_the_machine(tmp_path: Path) -> None:
    """Another time zone, locale, hash seed, umask, thread count and folder: the same bytes in every output."""
    first = mixed_project(tmp_path / "a")
    second = mixed_project(tmp_path / "a much longer" / "folder name" / "b")
    code = "import os, sys; os.umask(int(sys.argv[2], 8)); from reportgen import build; build(sys.argv[1])"
    one = {"TZ": "Pacific/Auckland", "LC_ALL": "C", "PYTHONHASHSEED": "1"}
    two = {"TZ": "America/St_Johns", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "77", "LANG": "de_DE.UTF-8"}
    for folder, extra, umask, cpus in ((first, one, "022", {0}), (second, two, "077", None)):
        subprocess.run(
            [sys.executable, "-c", code, str(folder), umask],
            env={**os.environ, **extra},
            check=True,
            cwd=folder,
            # One processor for the first: DuckDB then works with one thread.
            preexec_fn=(lambda c=cpus: os.sched_setaffinity(0, c))
            if cpus and hasattr(os, "sched_setaffinity")
            else None,
        )
    assert tree(first) == tree(second)


def test_inputs_are_not_touched(tmp_path: Path) -> None:
    mixed_project(tmp_path)
    inputs = [tmp_path / "budget" / "cost-events.jsonl", tmp_path / "FEEDBACK.md"]
    before = [(p.read_bytes(), p.stat().st_mtime_ns) for p in inputs]
    build(tmp_path)
    assert [(p.read_bytes(), p.stat().st_mtime_ns) for p in inputs] == before
    assert {p.name for p in tmp_path.iterdir()} == {"budget", "FEEDBACK.md", "RECOMMENDATIONS.md", "site", ".reportgen"}
    assert [p.name for p in (tmp_path / ".reportgen").iterdir() if p.name.startswith("load-")] == []


def test_two_agents_named_by_addresses_stay_two_and_no_address_is_written(tmp_path: Path) -> None:
    rows = [event(agent=a, run_id=r) for a in ("ann@example.com", "bob@example.com") for r in ("r1", "r2")]
    report = built(write_project(tmp_path, rows))
    assert sorted(a["agent"] for a in report["agents"]) == ["[e-mail 1]", "[e-mail 2]"]
    for path in [
        tmp_path / "RECOMMENDATIONS.md",
        *(tmp_path / "site").rglob("*"),
        *(tmp_path / ".reportgen").rglob("*"),
    ]:
        if path.is_file():
            assert b"example.com" not in path.read_bytes(), path
