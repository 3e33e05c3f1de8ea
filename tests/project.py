"""Small projects for tests: write the files, build, read report.json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from reportgen import build
from reportgen.building import BuildResult

HEADER = "| Date | Pipeline | Agent | Score | Issue | Resolution | Pattern |\n|---|---|---|---|---|---|---|\n"


def event(
    time: str = "2026-11-02T09:00:00Z", agent: str | None = "writer", pipeline: str | None = "docs", **more: Any
) -> dict[str, Any]:
    """One cost event; None leaves a field out."""
    row = {"timestamp": time, "tool_name": "Edit", "agent": agent, "pipeline": pipeline, **more}
    return {key: value for key, value in row.items() if value is not None}


def write_project(
    folder: Path,
    events: Iterable[Mapping[str, Any]] | None = (),
    feedback: Iterable[tuple[str, ...]] | None = None,
    healing: Iterable[Mapping[str, Any]] | None = None,
    settings: str = "",
    files: Mapping[str, str] | None = None,
) -> Path:
    """Write a project; `feedback` rows are (date, pipeline, agent, score, pattern)."""
    folder.mkdir(parents=True, exist_ok=True)
    if events is not None:
        (folder / "budget").mkdir(exist_ok=True)
        text = "".join(json.dumps(row) + "\n" for row in events)
        (folder / "budget" / "cost-events.jsonl").write_text(text, encoding="utf-8")
    if feedback is not None:
        rows = "".join(f"| {d} | {p} | {a} | {s} | issue | fix | {t} |\n" for d, p, a, s, t in feedback)
        (folder / "FEEDBACK.md").write_text(f"# Feedback\n\n{HEADER}{rows}", encoding="utf-8")
    if healing is not None:
        text = "".join(json.dumps(row) + "\n" for row in healing)
        (folder / "healing-log.jsonl").write_text(text, encoding="utf-8")
    if settings:
        (folder / "reportgen.toml").write_text(settings, encoding="utf-8")
    for name, text in (files or {}).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def built(folder: Path, **flags: Any) -> dict[str, Any]:
    """Build, and return report.json as a reader sees it."""
    result = build(folder, **flags)
    return read_report_json(result)


def read_report_json(result: BuildResult) -> dict[str, Any]:
    value = json.loads((result.site / "data" / "report.json").read_text("utf-8"))
    assert isinstance(value, dict)
    return value


def findings(report: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """(detector, pipeline, subject, observed) of each recommendation, sorted."""
    return sorted((r["detector"], r["pipeline"], r["subject"], r["observed"]) for r in report["recommendations"])


def outcomes(report: Mapping[str, Any]) -> dict[str, str]:
    """Detector id to its status."""
    return {d["detector"]: d["status"] for d in report["detectors"]}
