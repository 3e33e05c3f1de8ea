"""A finished report from anywhere: read where it is one, refused in words where it is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from report_factory import hostile_report, sample_report

from reportgen.errors import ReportgenError
from reportgen.model import Report
from reportgen.report import exported
from reportgen.report.exported import read_export
from reportgen.report.json import report_bytes


def with_real_keys(report: Report) -> Report:
    """A report made by hand with keys of groups as a build makes them."""
    keys = {group.group: f"group-{number}" for number, group in enumerate(report.groups)}
    return replace(
        report,
        groups=[replace(one, group=keys[one.group]) for one in report.groups],
        recommendations=[replace(one, group=keys[one.group]) for one in report.recommendations],
    )


SAMPLE = with_real_keys(sample_report())
WHOLE = report_bytes(SAMPLE)


def broken(change: Callable[[dict[str, Any]], object]) -> bytes:
    value = json.loads(WHOLE)
    change(value)
    return json.dumps(value).encode()


def set_in(*path: Any) -> Callable[[dict[str, Any]], object]:
    *way, last, new = path

    def change(value: Any) -> None:
        for key in way:
            value = value[key]
        value[last] = new

    return change


def test_a_report_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(WHOLE)
    report = read_export(path, "report.json").report
    assert (report.pipelines, report.agents, report.recommendations, report.groups) == (
        SAMPLE.pipelines, SAMPLE.agents, SAMPLE.recommendations, SAMPLE.groups,
    )  # fmt: skip


def test_hostile_text_is_no_reason_to_refuse_a_report(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(report_bytes(with_real_keys(hostile_report())))
    assert read_export(path, "report.json").report.pipelines


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (set_in("schema_version", 2), "schema version 2,"),
        (set_in("schema_version", "1\nx"), "schema version '1\\nx',"),
        (set_in("pipelines", 0, "slug", "../../../etc/x"), "pipelines.slug can't be"),
        (set_in("recommendations", 0, "id", "x/y"), "recommendations.id can't be"),
        (set_in("charts", 0, "csv", "../../secret.csv"), "charts.csv can't be"),
        (set_in("tables", 0, "file", "/etc/passwd"), "tables.file can't be"),
        (set_in("detectors", 0, "detector", "a b"), "detectors.detector can't be"),
        (set_in("pipelines", 0, "cost", "NaN"), "cost is no such number"),
        (set_in("pipelines", 0, "cost", "1e999999999"), "cost is no such number"),
        (set_in("period", "first", "yesterday"), "first is no time"),
        (set_in("pipelines", 0, "cost", "-0.01"), "cost is no such number"),
        (set_in("pipelines", 0, "events", 2**60), "pipelines.events is"),
        (set_in("pipelines", 0, "events", -1), "pipelines.events is"),
        (set_in("rejected_total", -1), "rejected_total is"),
        (set_in("agents", 0, "pipeline", "nowhere"), "pipelines lacks one that an agent works in"),
        (set_in("pipelines", 0, "events", "many"), "is not a report"),
        (set_in("recommendations", 0, "group", "none"), "don't fit"),
        (set_in("detectors", []), "detectors lacks one"),
        (set_in("pipelines", 0, "recommendations", ["nobody"]), "recommendations lacks one"),
        (lambda value: value["pipelines"].append(value["pipelines"][0]), "twice"),
        (set_in("recommendations", 0, "vfm", "total", 900), "from 0 to 100"),
        (set_in("drawings", []), "is not a report"),
        (set_in("charts", ["x"]), "is not a report"),
    ],
)
def test_a_report_that_is_none_is_refused(
    change: Callable[[dict[str, Any]], object], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(broken(change))
    with pytest.raises(ReportgenError) as raised:
        read_export(path, "box/report.json")
    assert raised.value.where == "box/report.json"
    assert said in raised.value.what
    assert raised.value.exit_code == 3
    assert raised.value.next_step


@pytest.mark.parametrize("data", [b"", b"{", b"[1]", b"null", b'{"schema_version": 1}', b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_report_at_all_is_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(data)
    with pytest.raises(ReportgenError) as raised:
        read_export(path, "report.json")
    assert raised.value.exit_code == 3


def test_a_report_that_was_cut_short_or_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(WHOLE[:-200])
    with pytest.raises(ReportgenError, match="not JSON"):
        read_export(path, "report.json")
    path.write_bytes(WHOLE)
    monkeypatch.setattr(exported, "MOST_BYTES", len(WHOLE) - 1)
    with pytest.raises(ReportgenError, match="is larger than"):
        read_export(path, "report.json")
