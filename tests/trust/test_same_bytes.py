"""Same inputs, same bytes: also where git has written templates and SQL with CRLF."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from project import event, write_project

import reportgen
from reportgen import build

ROOT = Path(reportgen.__file__).parents[1]


def outputs(project: Path) -> dict[str, bytes]:
    found = [project / "RECOMMENDATIONS.md", *(project / "site").rglob("*")]
    return {path.relative_to(project).as_posix(): path.read_bytes() for path in found if path.is_file()}


def test_the_line_ends_of_a_checkout_change_no_byte(tmp_path: Path) -> None:
    rows = [
        event(f"2026-11-0{day}T09:00:00Z", "writer", run_id=f"r{day}", cost_usd=9 if day == 9 else 1)
        for day in range(1, 10)
    ]
    first, second = (write_project(tmp_path / name, rows) for name in ("first", "second"))
    ignored = shutil.ignore_patterns("__pycache__")
    for part in ("reportgen", "sql", "templates"):
        shutil.copytree(ROOT / part, tmp_path / "checkout" / part, ignore=ignored)
    changed = 0
    for part in ("sql", "templates"):
        for path in (tmp_path / "checkout" / part).rglob("*"):
            if path.is_file() and b"\0" not in (data := path.read_bytes()):
                changed += b"\n" in data
                path.write_bytes(data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    assert changed > 100
    subprocess.run(
        [sys.executable, "-m", "reportgen", "build", str(second), "--quiet"],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "checkout")}, check=True, cwd=tmp_path / "checkout",
    )  # fmt: skip
    assert build(first).exit_code == 0
    assert outputs(first) == outputs(second)
