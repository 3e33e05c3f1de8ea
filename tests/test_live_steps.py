"""After any edit, the steps that were kept and those done again give together what a build from nothing gives."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

from project import HEADER, event, write_project

from reportgen import build
from reportgen.live.places import MACROS, source_places
from reportgen.live.steps import Steps
from reportgen.live.watching import Watcher
from reportgen.render import BUILD_HASH
from reportgen.report.json import report_bytes
from reportgen.resources import resource_dir
from reportgen.settings import load_settings

SQL = resource_dir("sql")
HASH = re.compile(rb'"hash":\s*"[0-9a-f]{16}"')
OWN = """/*---
title = "Every run"
finding = "{subject} of {pipeline} is a run."
action = "Look at it."
subject_kind = "run"
[params.least]
default = 2
---*/
select pipeline, run as subject, run_key as subject_key, agents as observed, null as baseline, p.least as threshold,
    1 as occurrences, 1 as affected_runs, 1 as total_runs
from runs cross join params.every_run as p
where agents >= p.least order by pipeline, run_key
"""


def write(path: Path, text: str) -> Callable[[], None]:
    def save() -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    return save


def changed(folder: str, name: str, old: str, new: str, project: Path) -> Callable[[], None]:
    """Save the built-in file as the project's own, with one thing changed."""
    text = (SQL / folder / name).read_text("utf-8")
    assert old in text, (name, old)
    return write(project / "sql" / folder / name, text.replace(old, new, 1))


def test_kept_steps_give_what_a_build_from_nothing_gives(tmp_path: Path) -> None:
    rows = [
        event(f"2026-11-{day:02d}T{hour:02d}:00:00Z", agent, pipeline, run_id=f"{pipeline}-{day}", cost_usd=day * 0.5)
        for day in range(1, 9)
        for hour, agent in ((9, "writer"), (10, "editor"))
        for pipeline in ("docs", "code")
    ]
    feedback = [("2026-11-02", "docs", "writer", "40/100", "loop-excess")] * 3
    project = write_project(tmp_path / "project", rows, feedback)
    detectors = project / "sql" / "detectors"
    rate = "order by pipeline, run_key"
    edits: list[Callable[[], None]] = [
        lambda: None,
        write(detectors / "every_run.sql", OWN),
        write(project / "reportgen.toml", "[detectors.every_run]\nleast = 1\n"),
        write(detectors / "every_run.sql", OWN.replace("agents as observed", "agents + 1 as observed")),
        write(detectors / "every_run.sql", OWN.replace("from runs", "from rns")),
        write(detectors / "every_run.sql", OWN.replace(rate, f"{rate} limit 3")),
        (detectors / "every_run.sql").unlink,
        write(project / "reportgen.toml", "[quality]\nscore_flag = 30\n"),
        changed("scoring", "bands.sql", "select", "select /* the same */", project),
        changed("charts", "pipeline_runs.sql", 'title = "', 'title = "Own ', project),
        changed("marts", "runs.sql", "select", "select /* the same */", project),
        write(project / "FEEDBACK.md", HEADER + "| 2026-11-03 | code | editor | 20/100 | a | b | timeout |\n"),
        lambda: shutil.rmtree(project / "sql"),
        write(project / "reportgen.toml", "[roster]\ndocs = ['sleeper']\n[report]\npipeline = 'docs'\n"),
    ]
    reports: set[bytes] = set()
    with Steps(threading.Event(), tell=lambda _: None, on_busy=lambda _: None) as steps:
        for number, edit in enumerate(edits):
            edit()
            if number == 6:
                # Its settings would speak of a detector that is none.
                (project / "reportgen.toml").unlink()
            stamps = Watcher(source_places(project, None)).stamps
            settings = load_settings(project)
            steps.look_for_inputs()
            found, marks = steps.find_inputs(settings)
            loaded = steps.load(settings, found, marks, {p: s for p, s in stamps.items() if p.endswith(MACROS)})
            analysed = steps.analyse(settings, found, loaded, {p: s for p, s in stamps.items() if p.endswith(".sql")})
            fresh = tmp_path / f"fresh-{number}"
            shutil.copytree(project, fresh, ignore=shutil.ignore_patterns(".reportgen"))
            site = build(fresh).site
            wanted = HASH.sub(f'"hash":"{BUILD_HASH}"'.encode(), (site / "data" / "report.json").read_bytes())
            kept = report_bytes(analysed.report).replace(
                f'"hash": "{BUILD_HASH}"'.encode(), f'"hash":"{BUILD_HASH}"'.encode()
            )
            assert kept == wanted, f"edit {number}"
            reports.add(kept)
            for path, make in analysed.csvs.items():
                assert make() == (site / path).read_bytes(), f"edit {number}: {path}"
    # One edit takes all back. A comment in a table's SQL is told too: the report says that the file is the project's.
    assert len(reports) == len(edits) - 1
