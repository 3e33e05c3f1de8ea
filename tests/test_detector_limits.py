"""A detector that goes too far or gives nonsense: a clear outcome of its own, and a whole site for all the others."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from page_reader import read_page
from project import event, outcomes, read_report_json, write_project

from reportgen import build
from reportgen.detectors import as_text
from reportgen.errors import ReportgenError

HEAD = """/*---
title = "Odd"
finding = "{subject}: {observed} {extra}"
action = "Mend {subject}."
[columns.extra]
label = "Extra"
---*/
"""
ROW = {
    "pipeline": "'docs'", "subject": "'writer'", "observed": "1", "baseline": "null", "threshold": "1",
    "occurrences": "1", "affected_runs": "1", "total_runs": "2", "extra": "'x'",
}  # fmt: skip


def select(rows: str = "from range(1)", **columns: str) -> str:
    cells = ", ".join(f"{value} as {name}" for name, value in {**ROW, **columns}.items())
    return f"{HEAD}select {cells} {rows} order by pipeline, subject"


def build_with(
    folder: Path, detectors: Mapping[str, str], settings: str = "", files: Mapping[str, str] | None = None
) -> tuple[dict[str, Any], Path, int]:
    """Build a small project with detectors of its own; return the report, the site and the exit code."""
    events = [event(f"2026-11-0{day}T09:00:00Z", "writer", run_id=f"r{day}", cost_usd=1) for day in (2, 3)]
    own = {f"sql/detectors/{name}.sql": sql for name, sql in detectors.items()}
    write_project(folder, events, settings=settings, files={**own, **(files or {})})
    result = build(folder)
    report = read_report_json(result)
    assert outcomes(report)["cost_outlier"] == "clear"
    return report, result.site, result.exit_code


def outcome(report: Mapping[str, Any], name: str) -> dict[str, Any]:
    (found,) = [d for d in report["detectors"] if d["detector"] == name]
    return dict(found)


def assert_whole(site: Path) -> None:
    for path in sorted(site.rglob("*.html")):
        assert read_page(path.read_bytes()).faults == [], path


# --- rows that are none ---------------------------------------------------------------------------------------------

NONSENSE = {
    "two_rows": (select("from range(3)"), "stands on two rows"),
    "null_subject": (select(subject="null"), "column 'subject' is empty in a row"),
    "blank_subject": (select(subject="' '"), "column 'subject' is empty in a row"),
    "null_pipeline": (select(pipeline="null"), "column 'pipeline' is empty in a row"),
    "number_subject": (select(subject="12"), "column 'subject' holds int in a row"),
    "unknown_pipeline": (select(pipeline="'doc'"), "pipeline 'doc' is none of the pipelines; did you mean 'docs'?"),
    "nobody": (select(subject="'(unattributed)'"), "flags (unattributed), which is no agent"),
    "nan": (select(observed="'nan'::double"), "column 'observed' is a floating-point number"),
    "infinity": (select(saving="'infinity'::double"), "column 'saving' is a floating-point number"),
    "float": (select(threshold="0.5::float"), "column 'threshold' is a floating-point number"),
    "text_number": (select(observed="'many'"), "column 'observed' holds str, not a number"),
    "huge": (select(observed="(10::hugeint ** 30)::hugeint"), "column 'observed' is 1.000e+30: too large"),
    "negative": (select(occurrences="-1"), "column 'occurrences' must be a whole number from 0"),
    "part": (select(occurrences="1.5"), "column 'occurrences' must be a whole number from 0"),
    "no_count": (select(occurrences="null"), "column 'occurrences' is null"),
    "huge_count": (select(total_runs="1000000000000"), "column 'total_runs' is 1,000,000,000,000: too large"),
    "negative_saving": (select(saving="-0.01"), "column 'saving' is -0.01"),
    "more_than_all": (select(saving="2", saving_of="1.5"), "column 'saving' is 2, more than 'saving_of', 1.5"),
    "huge_saving": (select(saving="100000000000000"), "column 'saving' is 1.000e+14: too large"),
    "guessed": (select(saving="1", saving_basis="'guessed'"), "saving_basis 'guessed' is not one of"),
    "person": (select(subject_kind="'person'"), "subject_kind 'person' is not one of"),
    "bare_label": (select(labels="'new'"), "'labels' must be a list of texts"),
    "bare_wait": (select(wait="1"), "'wait' true or false"),
    "two_columns": (select(extra="'x' as extra, 'y'"), "the SELECT gives two columns 'extra'"),
    "million": (
        select("from range(1000000)", subject="concat('s', range)"),
        "gives more than 10,000 rows ([limits] detector_findings)",
    ),
    "novel": (
        select("from range(600)", subject="concat('s', range)", extra="repeat('x', 100000)"),
        "more than 50,000,000 characters of text",
    ),
    "eternity": (select(extra="interval '100000000 years'"), "gives a value that can't be read"),
    "complains": (select("from range(1) where error('no') is null"), "no"),
}


@pytest.fixture(scope="module")
def nonsense(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path, int]:
    return build_with(tmp_path_factory.mktemp("nonsense"), {f"odd_{key}": sql for key, (sql, _) in NONSENSE.items()})


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_an_error_that_names_it(nonsense: tuple[dict[str, Any], Path, int], name: str) -> None:
    report, _, _ = nonsense
    mine = outcome(report, f"odd_{name}")
    assert (mine["status"], mine["findings"]) == ("error", 0)
    assert NONSENSE[name][1] in mine["message"]
    assert mine["where"].startswith(f"sql/detectors/odd_{name}.sql")
    assert not [r for r in report["recommendations"] if r["detector"] == f"odd_{name}"]


def test_the_site_is_whole_beside_nonsense(nonsense: tuple[dict[str, Any], Path, int]) -> None:
    report, site, code = nonsense
    assert code == 1
    assert sum(d["status"] == "error" for d in report["detectors"]) == len(NONSENSE)
    assert_whole(site)
    page = (site / "detectors" / "odd_million.html").read_text("utf-8")
    assert "gives more than 10,000 rows" in page


# --- odd, but right -------------------------------------------------------------------------------------------------

HOSTILE = "<script>alert(1)</script>|`*_[x](javascript:alert(1))"
ODD_VALUES = {
    "nan": ("'nan'::double", None),
    "minus_infinity": ("'-inf'::float", None),
    "double": ("0.1::double + 0.2::double", "0.30000000000000004"),
    "large_double": ("1e22::double", "10000000000000000000000"),
    "blob": ("'a'::blob", "b'a'"),
    "struct": ("{'a': 1}", "{'a': 1}"),
    "texts": ("['a', null, 'b']", "a, null, b"),
    "zoned": ("timestamptz '2026-11-02 10:00:00+02'", "2026-11-02T08:00:00Z"),
    "far": ("timestamp '200000-01-01 00:00:00'", "200000-01-01 00:00:00"),
    "formula": ("'=1+1'", "=1+1"),
    "late": ("date 'infinity'", "9999-12-31"),
}


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path, int]:
    detectors = {
        f"odd_{name}": select(extra=value, observed=f"'{10**25}'::decimal(38, 0)", saving="99999999999999",
                              saving_of="99999999999999", occurrences="999999999999")
        for name, (value, _) in ODD_VALUES.items()
    }  # fmt: skip
    hostile = f"concat('{HOSTILE}', chr(0), chr(27), '[31m', chr(8238), 'x')"
    detectors["odd_hostile"] = select(subject=hostile, extra=hostile, subject_kind="'other'")
    detectors["odd_project"] = select(
        pipeline="'(all pipelines)'", subject="'(all pipelines)'", subject_kind="'project'"
    )
    return build_with(tmp_path_factory.mktemp("odd"), detectors)


@pytest.mark.parametrize("name", ODD_VALUES)
def test_an_odd_value_is_evidence_and_nan_is_unknown(odd: tuple[dict[str, Any], Path, int], name: str) -> None:
    report, _, code = odd
    assert (code, outcome(report, f"odd_{name}")["status"]) == (0, "found")
    (mine,) = [r for r in report["recommendations"] if r["detector"] == f"odd_{name}"]
    assert {e["name"]: e["value"] for e in mine["evidence"]}["extra"] == ODD_VALUES[name][1]
    # The largest that scoring takes is scored exactly.
    assert mine["vfm"]["cost_savings"] == 25
    assert mine["observed"] == str(10**25)


def test_hostile_text_of_a_detector_stays_text(odd: tuple[dict[str, Any], Path, int]) -> None:
    report, site, _ = odd
    assert outcome(report, "odd_hostile")["status"] == "found"
    assert outcome(report, "odd_project")["status"] == "found"
    assert_whole(site)
    for path in [*site.rglob("*.html"), site.parent / "RECOMMENDATIONS.md"]:
        text = path.read_text("utf-8")
        assert "<script>alert(1)" not in text.replace(r"\<script>", ""), path
        assert not set(text) & {"\x00", "\x1b", "\u202e"}, path


def test_numbers_that_are_none_are_not_known() -> None:
    assert [as_text(float(x)) for x in ("nan", "inf", "-inf", "-0.0")] == [None, None, None, "0"]


# --- too far --------------------------------------------------------------------------------------------------------

ENDLESS = "with recursive t as (select 1 as n union all select n + 1 from t) select max(n) from t"


def test_too_long_or_too_large_is_an_error_that_names_the_setting(tmp_path: Path) -> None:
    chart = '/*---\ntitle = "C"\npage = "overview"\nkind = "bars"\nx = "n"\ny = "n"\n---*/\n'
    detectors = {
        "odd_endless": select(f"where exists ({ENDLESS})"),
        "odd_fat": select("where (select len(list(range)) from range(1000000000)) > 0"),
        "odd_three": select("from range(3)", subject="concat('s', range)"),
        "odd_fine": select("from range(2)", subject="concat('s', range)"),
    }
    started = time.monotonic()
    report, site, code = build_with(
        tmp_path,
        detectors,
        '[limits]\ndetector_seconds = 1\nmemory = "100MB"\ndetector_findings = 2\n',
        {"sql/charts/endless.sql": f"{chart}{ENDLESS.replace('max(n)', 'max(n) as n')} order by n"},
    )
    assert time.monotonic() - started < 60
    messages = {name: outcome(report, name)["message"] for name in detectors}
    assert messages == {
        "odd_endless": "stopped after 1 s ([limits] detector_seconds)",
        "odd_fat": "needs more memory than 100MB ([limits] memory)",
        "odd_three": "gives more than 2 rows ([limits] detector_findings)",
        "odd_fine": None,
    }
    assert (outcome(report, "odd_fine")["findings"], code) == (2, 1)
    (notice,) = [n for n in report["notices"] if n["code"] == "chart-failed"]
    assert "stopped after 1 s ([limits] detector_seconds)" in notice["message"]
    assert_whole(site)


def test_a_mart_of_the_project_is_bounded_too_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(ReportgenError) as caught:
        build_with(tmp_path, {}, "[limits]\ndetector_seconds = 1\n", {"sql/marts/endless.sql": ENDLESS})
    assert (caught.value.where, caught.value.exit_code) == ("sql/marts/endless.sql", 2)
    assert "[limits] detector_seconds" in caught.value.what
    assert not (tmp_path / "site").exists()
