"""Detectors' tests: which run, how a case is judged, and what of a project they see."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from detector_bench import BUSY, GIVEN, HIT, only, project_with, run, run_project
from project import event, write_project

from reportgen import detectortest
from reportgen.errors import ReportgenError
from reportgen.resources import resource_dir
from reportgen.warehouse import Warehouse

DETECTORS = resource_dir("sql") / "detectors"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[detectortest.Bench]:
    with detectortest.Bench(project_with(tmp_path_factory.mktemp("bench"), None)) as one:
        yield one


# --- the built-in ones ----------------------------------------------------------------------------------------------


def test_every_built_in_detector_passes_its_tests() -> None:
    found = detectortest.run_tests(None)
    wrong = [f"{r.file}:{r.line}: {r.case}\n{r.message}" for r in found.results if r.outcome != "passed"]
    assert not wrong, "\n".join(wrong)
    assert found.passed
    assert not found.missing
    assert {r.detector for r in found.results} == {path.stem for path in DETECTORS.glob("*.sql")}


@pytest.mark.parametrize("path", sorted(DETECTORS.glob("*.sql")), ids=lambda path: path.stem)
def test_every_built_in_detector_has_hits_and_near_misses(path: Path) -> None:
    kinds = detectortest.case_kinds(path.with_suffix(".test.md"), name=path.stem)
    assert kinds.hits >= 1
    assert kinds.misses >= 1


def test_the_warehouse_is_built_once_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path | None] = []
    original = Warehouse.__init__

    def counted(self: Warehouse, path: Path | None = None, **more: Any) -> None:
        opened.append(path)
        original(self, path, **more)

    monkeypatch.setattr(Warehouse, "__init__", counted)
    two = f"{HIT}\n## Once more\n\nExpect: nothing\n"
    assert run_project(tmp_path, two).count("passed") == 2
    assert opened == [None]


# --- one case -------------------------------------------------------------------------------------------------------


def test_a_case_that_holds_passes(bench: detectortest.Bench, tmp_path: Path) -> None:
    result = only(run(bench, tmp_path, HIT))
    assert (result.outcome, result.message, result.case) == ("passed", "", "Six are reported")
    assert (result.detector, result.file, result.line) == ("busy", "sql/detectors/busy.test.md", 3)


def test_a_failing_case_shows_what_was_expected_and_what_came(bench: detectortest.Bench, tmp_path: Path) -> None:
    result = only(run(bench, tmp_path, HIT.replace("\n| ann | 6 |", "\n| ann | 7 |")))
    assert result.outcome == "failed"
    assert result.message.splitlines() == [
        "expected 2 rows, got 2 rows",
        "  subject  observed",
        "  cid      9",
        "- ann      7",
        "+ ann      6",
        "           ^",
    ]


def test_rows_are_compared_in_the_order_that_the_detector_gives(bench: detectortest.Bench, tmp_path: Path) -> None:
    turned = HIT.replace("| cid | 9 |\n| ann | 6 |", "| ann | 6 |\n| cid | 9 |")
    result = only(run(bench, tmp_path, turned))
    assert result.outcome == "failed"
    assert result.message.splitlines()[0] == "expected 2 rows, got 2 rows: the same rows in another order"


def test_a_row_too_many_or_too_few_fails(bench: detectortest.Bench, tmp_path: Path) -> None:
    result = only(run(bench, tmp_path, HIT.replace("| cid | 9 |\n", "")))
    assert result.message.splitlines() == [
        "expected 1 row, got 2 rows",
        "  subject  observed",
        "+ cid      9",
        "  ann      6",
    ]
    result = only(run(bench, tmp_path, HIT + "| dot | 8 |\n"))
    assert result.message.splitlines()[-1] == "- dot      8"


def test_expecting_nothing_fails_with_what_came(bench: detectortest.Bench, tmp_path: Path) -> None:
    result = only(run(bench, tmp_path, HIT[: HIT.index("Expect")] + "Expect: nothing"))
    assert result.message.splitlines() == [
        "expected nothing, got 2 rows",
        "  pipeline  subject  observed  baseline  threshold",
        "+ docs      cid      9         null      5",
        "+ docs      ann      6         null      5",
    ]


def test_expecting_rows_fails_where_none_come(bench: detectortest.Bench, tmp_path: Path) -> None:
    result = only(run(bench, tmp_path, "## None\n\nExpect:\n\n| subject | observed |\n|---|---|\n| ann | 6 |\n"))
    assert result.message.splitlines() == ["expected 1 row, got nothing", "  subject  observed", "- ann      6"]


def test_a_table_without_rows_expects_nothing(bench: detectortest.Bench, tmp_path: Path) -> None:
    assert only(run(bench, tmp_path, "## None\n\nExpect:\n\n| subject |\n|---|\n")).outcome == "passed"


@pytest.mark.parametrize("parameters", ["Parameters: `more_than` = 8.", "Parameters:\n\n| more_than |\n|---|\n| 8 |"])
def test_parameters_of_a_case(bench: detectortest.Bench, tmp_path: Path, parameters: str) -> None:
    head, tail = HIT.split("Expect:")
    rows = "\n\n| subject | threshold |\n|---|---|\n| cid | 8 |\n"
    # The next case has the default again.
    text = f"{head}{parameters}\n\nExpect:{rows}{HIT.replace('# Busy', '').replace('Six', 'Again six')}"
    assert [r.outcome for r in run(bench, tmp_path, text).results] == ["passed", "passed"], tail


def test_tables_before_the_first_case_hold_for_each_that_does_not_give_the_mart_itself(
    bench: detectortest.Bench, tmp_path: Path
) -> None:
    text = f"""# Busy

{GIVEN}
## With those above

Expect:

| subject |
|---|
| cid |
| ann |

## With its own

Given `agents`:

| pipeline | agent | events | runs |
|---|---|---|---|
| docs | eve | 7 | 2 |

Expect:

| subject |
|---|
| eve |

## With those above once more

Expect:

| subject |
|---|
| cid |
| ann |
"""
    assert [r.outcome for r in run(bench, tmp_path, text).results] == ["passed"] * 3


def test_a_mart_that_a_case_does_not_give_is_empty(bench: detectortest.Bench, tmp_path: Path) -> None:
    result = run(bench, tmp_path, HIT + "\n## Nothing given\n\nExpect: nothing\n")
    assert [r.outcome for r in result.results] == ["passed", "passed"]


def test_missing_columns_are_null_and_the_pre_score_can_be_expected(bench: detectortest.Bench, tmp_path: Path) -> None:
    # 6 events in one day by default: 2 occurrences a day give 16; the saving of 1.5% a little over the 5 of 1%; the
    # burden of 3 is declared. Half of the cost gives 20.
    text = HIT[: HIT.index("Expect")].replace(
        GIVEN, GIVEN + "\nGiven `pipelines`:\n\n| pipeline | span_microseconds |\n|---|---|\n| docs | 86400000000 |\n"
    )
    expect = (
        "Expect:\n\n| subject | subject_kind | first_seen | in_roster | frequency | cost_savings | burden_reduction |"
        " total | decision |\n|---|---|---|---|---|---|---|---|---|\n"
        "| cid | agent | null |  | 16 | 20 | 3 | 39 | defer |\n| ann | agent | | null | 16 | 5 | 3 | 24 | reject |\n"
    )
    result = only(run(bench, tmp_path, text + expect))
    assert result.message == ""
    result = only(run(bench, tmp_path, text + expect.replace("24 | reject", "25 | reject")))
    assert result.message.splitlines()[-3].split() == [
        "-",
        "ann",
        "agent",
        "null",
        "null",
        "16",
        "5",
        "3",
        "25",
        "reject",
    ]


def test_settings_have_their_defaults_unless_a_case_gives_them(tmp_path: Path) -> None:
    flagged = BUSY.replace("cross join params.busy as p", "cross join params.busy as p\ncross join window_bounds as w")
    flagged = flagged.replace("in_roster\n", "in_roster,\n    score_flag,\n    now_time\n")
    default = HIT.replace("observed |\n|---|", "score_flag | now_time |\n|---|---|")
    default = default.replace("\n| cid | 9 |", "\n| cid | 60 | |").replace("\n| ann | 6 |", "\n| ann | 60 | |")
    assert only(run_project(tmp_path, default, detector=flagged)).message == ""
    table = "Given `window_bounds`:\n\n| now_time |\n|---|\n| 2026-11-03 |\n\nExpect:"
    later = default.replace("60 | |", "60 | 2026-11-03 |").replace("Expect:", table)
    assert only(run_project(tmp_path / "b", later, detector=flagged)).message == ""


# --- which tests run ------------------------------------------------------------------------------------------------


def test_a_detector_without_a_test_is_missing(tmp_path: Path) -> None:
    found = run_project(tmp_path, None)
    assert (found.results, found.missing) == ((), ("busy",))
    assert found.passed


def test_an_unknown_id_is_an_error_with_the_near_one(tmp_path: Path) -> None:
    with pytest.raises(ReportgenError, match="no detector 'bussy'; did you mean 'busy'"):
        detectortest.run_tests(project_with(tmp_path, HIT), ["bussy"])


def test_a_projects_test_takes_the_place_of_the_built_in_one(tmp_path: Path) -> None:
    own = "## Nothing from nothing\n\nExpect: nothing\n"
    project = write_project(tmp_path / "p", events=None, files={"sql/detectors/cost_outlier.test.md": own})
    found = detectortest.run_tests(project, ["cost_outlier"])
    assert [(r.case, r.outcome) for r in found.results] == [("Nothing from nothing", "passed")]


def test_a_replaced_detector_is_not_held_to_the_built_in_ones_test(tmp_path: Path) -> None:
    project = write_project(tmp_path / "p", events=None, files={"sql/detectors/cost_outlier.sql": BUSY})
    assert detectortest.run_tests(project, ["cost_outlier"]).missing == ("cost_outlier",)
    shutil.copy(DETECTORS / "cost_outlier.sql", project / "sql/detectors/cost_outlier.sql")
    shutil.copy(DETECTORS / "cost_outlier.test.md", project / "sql/detectors/cost_outlier.test.md")
    assert detectortest.run_tests(project, ["cost_outlier"]).passed


def test_a_test_without_a_detector_is_an_error(tmp_path: Path) -> None:
    project = project_with(tmp_path, HIT, **{"bussy.test.md": HIT})
    result = only(detectortest.run_tests(project, ["bussy"]))
    assert result.outcome == "error"
    assert "there is no detector sql/detectors/bussy.sql; did you mean 'busy'?" in result.message


def test_a_run_sees_neither_the_projects_data_nor_its_settings(tmp_path: Path) -> None:
    settings = "[detectors.busy]\nmore_than = 100\n"
    files = {"sql/detectors/busy.sql": BUSY, "sql/detectors/busy.test.md": HIT + "\n## Empty\n\nExpect: nothing\n"}
    project = write_project(tmp_path / "p", [event()] * 200, settings=settings, files=files)
    before = sorted(path for path in project.rglob("*"))
    (project / "reportgen.toml").chmod(0)
    (project / "budget" / "cost-events.jsonl").chmod(0)
    assert detectortest.run_tests(project, ["busy"]).passed
    assert sorted(path for path in project.rglob("*")) == before


def test_a_projects_marts_can_be_given(tmp_path: Path) -> None:
    mart = "select pipeline, agent, 2 * events as twice from agents order by pipeline, agent"
    detector = BUSY.replace("from agents", "from agents natural join doubled").replace(
        "in_roster\n", "in_roster,\n    twice\n"
    )
    text = HIT.replace(
        "Expect:", "Given `doubled`:\n\n| pipeline | agent | twice |\n|---|---|---|\n| docs | cid | 3 |\n\nExpect:"
    )
    text = text.replace("| observed |\n|---|", "| twice |\n|---|").replace("| cid | 9 |\n| ann | 6 |", "| cid | 3 |")
    project = project_with(tmp_path, text, detector)
    (project / "sql" / "marts").mkdir()
    (project / "sql" / "marts" / "doubled.sql").write_text(mart, encoding="utf-8")
    assert only(detectortest.run_tests(project, ["busy"])).message == ""


def test_a_test_can_not_reach_a_file(tmp_path: Path) -> None:
    result = only(
        run_project(tmp_path, HIT, detector=BUSY.replace("from agents", f"from read_text('{tmp_path}/*'), agents"))
    )
    assert result.outcome == "error"
    assert "Permission" in result.message


def test_kinds_of_cases(tmp_path: Path) -> None:
    path = tmp_path / "busy.test.md"
    path.write_text(HIT + "\n## Miss\n\nExpect: nothing\n\n## Empty table\n\nExpect:\n\n| a |\n|---|\n\n## Broken\n")
    assert detectortest.case_kinds(path, name="busy.test.md") == detectortest.CaseKinds(hits=1, misses=2)
    path.write_text("no case")
    with pytest.raises(ReportgenError, match=r"busy\.test\.md: holds no case"):
        detectortest.case_kinds(path, name="busy.test.md")


def test_marts_that_can_not_be_built_are_told_of(tmp_path: Path) -> None:
    project = project_with(tmp_path, HIT)
    (project / "sql" / "marts").mkdir()
    (project / "sql" / "marts" / "odd.sql").write_text("select *\nfrom nowhere\n", encoding="utf-8")
    with pytest.raises(ReportgenError, match=r"sql/marts/odd\.sql:2: .*nowhere"):
        detectortest.run_tests(project)
