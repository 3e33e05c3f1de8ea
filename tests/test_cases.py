"""The worked cases: projects with right answers, each under cases/."""

from __future__ import annotations

import json
import shutil
from decimal import Decimal
from pathlib import Path

import pytest
from project import built

CASES = sorted(path for path in (Path(__file__).parent / "cases").iterdir() if path.is_dir())


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_a_worked_case(case: Path, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    shutil.copytree(case, folder)
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    report = built(folder)
    found = [(r["detector"], r["pipeline"], r["subject"], Decimal(r["observed"])) for r in report["recommendations"]]
    assert sorted(found) == sorted((d, p, s, Decimal(str(o))) for d, p, s, o in expected["findings"])
    shown = {
        p["pipeline"]: {"runs": p["runs"], "events": p["events"], "cost_measure": p["cost_measure"]}
        for p in report["pipelines"]
    }
    assert shown == expected["pipelines"]
