"""Whole outputs of a small project, byte by byte: a changed byte is a change to read, then to accept by a flag.

`pytest tests/test_golden.py --accept-goldens` writes them anew; the diff is what there is to read. The versions of the
dependencies and the hash over all outputs are the only parts that are blanked out, because they change by themselves.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from project import event, write_project

from reportgen import build

GOLDEN = Path(__file__).parent / "golden" / "small"


def small_project(folder: Path) -> Path:
    """Two pipelines, all four detections, a broken line, healing, a budget: each page has something to show."""
    events = []
    for day in range(1, 13):
        run, minute = f"run-{day:02d}", 0
        for agent, count in (("writer", 5), ("reviewer", 1)):
            for _ in range(count):
                cost = 0.9 if day == 9 and agent == "writer" else 0.05
                time = f"2026-10-{day:02d}T09:{minute:02d}:00Z"
                events.append(event(time, agent, run_id=run, cost_usd=cost, model="m-large", input_tokens=900))
                minute += 1
        events.append(event(f"2026-10-{day:02d}T12:00:00Z", "scout", "hunt", total_tokens=120))
    events.append(event("2026-10-03T09:30:00Z", "translator", run_id="run-03", cost_usd=0.01))
    feedback = [
        ("2026-10-02", "docs", "writer", "42/100", "loop-excess"),
        ("2026-10-03", "docs", "writer", "45/100", "loop-excess, timeout"),
        ("2026-10-04", "docs", "writer", "50/100", "loop-excess"),
        ("2026-10-05", "docs", "reviewer", "91/100", "-"),
    ]
    healing = [
        {"timestamp": f"2026-10-05T10:0{n}:00Z", "agent": "writer", "pipeline": "docs", "run_id": "run-05",
         "error_type": "api-error", "attempt": n, "max_attempts": 3,
         "action": "retry-backoff" if n < 4 else "escalate", "exit_code": 0 if n < 4 else 2,
         "delay_seconds": 2**n if n < 4 else 0, "reason": "made up", "context": "HTTP 529"}
        for n in (1, 2, 3, 4)
    ]  # fmt: skip
    files = {"BUDGET.md": "# Budget\n\n- window: daily\n- limit: 100 cents\n- warn_percent: 80\n"}
    write_project(folder, events, feedback, healing, files=files)
    with (folder / "budget" / "cost-events.jsonl").open("a", encoding="utf-8") as log:
        log.write('{"timestamp": "2026-10-12T09:00:00Z", "agent": \n')
    return folder


def blanked(data: bytes, build_hash: str, versions: dict[str, str]) -> bytes:
    text = data.decode("utf-8").replace(build_hash, "0" * len(build_hash))
    for name, version in versions.items():
        text = re.sub(rf'({re.escape(name)}"?:?\s?"?){re.escape(version)}', r"\1x.y.z", text)
    return text.encode("utf-8")


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = small_project(tmp_path_factory.mktemp("golden"))
    result = build(folder)
    facts = result.report.build
    report = json.loads((result.site / "data" / "report.json").read_text("utf-8"))
    versions = {"reportgen": facts.reportgen, **facts.versions}
    paths = {"RECOMMENDATIONS.md": folder / "RECOMMENDATIONS.md"}
    for path in sorted(result.site.rglob("*")):
        name = path.relative_to(result.site).as_posix()
        # The script is plotly's own, the manifest holds hashes of what is compared here, the assets are sources.
        if path.is_file() and not name.startswith("assets/") and name != "reportgen-manifest.json":
            paths[f"site/{name}"] = path
    return {name: blanked(path.read_bytes(), report["build"]["hash"], versions) for name, path in paths.items()}


def test_the_small_project_says_all_it_should(outputs: dict[str, bytes]) -> None:
    report = json.loads(outputs["site/data/report.json"])
    assert {d["detector"]: d["status"] for d in report["detectors"]} == {
        "bottleneck_agent": "found",
        "cost_outlier": "found",
        "revision_loops": "found",
        "underutilized_agent": "found",
    }


def test_every_byte_is_as_it_was_read(outputs: dict[str, bytes], request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--accept-goldens"):
        for old in sorted(GOLDEN.rglob("*"), reverse=True):
            old.unlink() if old.is_file() else old.rmdir()
        for name, data in outputs.items():
            (GOLDEN / name).parent.mkdir(parents=True, exist_ok=True)
            (GOLDEN / name).write_bytes(data)
    kept = {p.relative_to(GOLDEN).as_posix(): p.read_bytes() for p in sorted(GOLDEN.rglob("*")) if p.is_file()}
    assert sorted(outputs) == sorted(kept)
    changed = [name for name in outputs if outputs[name] != kept[name]]
    assert changed == [], "read the changes with --accept-goldens and git diff"
