"""What is too much is refused, with the name of the setting, before the work is done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from event_world import jsonl, read_files
from project import event, write_project

from reportgen import build
from reportgen.errors import ReportgenError
from reportgen.querying import run_query

MANY = """/*---
title = "Many"
action = "Look."
finding = "{subject}"
---*/
select 'docs' as pipeline, 's' || i as subject, 1 as observed, null as baseline, null as threshold, 1 as occurrences,
    1 as affected_runs, 1 as total_runs from range(30) as t (i) order by pipeline, subject
"""


@pytest.mark.parametrize(
    ("limit", "flags", "says"),
    [
        (9, {}, "10 agents, 2 pipelines, which is more than 9"),
        (40, {}, "10 agents, 2 pipelines and 30 findings, which is more than 40"),
        (35, {"pipeline": "docs"}, "7 agents, 1 pipelines and 30 findings, which is more than 35"),
    ],
)
def test_more_pages_than_asked_for_are_refused(tmp_path: Path, limit: int, flags: dict[str, Any], says: str) -> None:
    rows = [event(agent=f"agent-{n}", pipeline="docs" if n < 7 else "other", cost_usd=1) for n in range(10)]
    write_project(tmp_path, rows, settings=f"[limits]\npages = {limit}\n", files={"sql/detectors/many.sql": MANY})
    with pytest.raises(ReportgenError) as caught:
        build(tmp_path, **flags)
    assert (caught.value.where, caught.value.exit_code) == ("[limits] pages", 2)
    assert says in caught.value.what
    assert not (tmp_path / "site").exists()


def test_a_long_line_is_read_and_a_longer_one_named(tmp_path: Path) -> None:
    whole = jsonl(event(cost_usd=1))
    long = whole[:-2] + b',"blob":"' + b"x" * (5 << 20) + b'"}\n'
    seen = read_files(tmp_path, whole + long + whole)
    assert seen.fates() == {"used": 3}
    seen = read_files(tmp_path, whole + whole[:-2] + b',"blob":"' + b"x" * (65 << 20) + b'"}\n' + whole)
    assert (seen.fates(), seen.reasons) == ({"used": 2, "rejected": 1}, {2: "longer than 64 MiB"})
    assert len(seen.result.rejected[0].snippet) < 200


@pytest.mark.parametrize("rows", [None, 5])
def test_a_query_runs_no_longer_than_allowed(tmp_path: Path, rows: int | None) -> None:
    write_project(tmp_path, [event(cost_usd=1)], settings="[limits]\ndetector_seconds = 1\n")
    build(tmp_path)
    endless = "with recursive t as (select 1 as n union all select n + 1 from t) select max(n) from t"
    with pytest.raises(ReportgenError, match=r"stopped after 1 s \(\[limits\] detector_seconds\)"):
        run_query(tmp_path, endless, rows=rows)
