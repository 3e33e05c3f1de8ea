"""Random projects, built by the product and solved by the reference, agree in every field that both know."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from oracle import solve
from oracle_compare import disagreements
from random_projects import make_project

from reportgen import build


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        first, count = metafunc.config.getoption("--first-seed"), metafunc.config.getoption("--random-projects")
        metafunc.parametrize("seed", range(first, first + count))


def test_a_random_project_agrees(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_project(seed)
    made.write(tmp_path)
    if seed % 5:
        # Pages take half of a build, and nothing here reads them: every fifth project has them.
        monkeypatch.setattr("reportgen.render.site.render_site", lambda report, *, template_dirs: {})
    build(tmp_path)
    report = json.loads((tmp_path / "site" / "data" / "report.json").read_text("utf-8"))
    assert disagreements(report, solve(made.project), made) == []
