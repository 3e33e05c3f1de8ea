"""sql/sources/event_sums.sql: the sums that the marts are made of are those of the events, column by column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from project import event, write_project

from reportgen import build
from reportgen.warehouse import Warehouse

#: Each column of sums by its rule, over the events.
RULES = {
    "events": "count(*)",
    "carrying": "count(*) filter (where cost_usd is not null or total_tokens > 0)",
    "with_usd": "count(cost_usd)",
    "usd": "sum(cost_usd)",
    "with_tokens": "count(total_tokens)",
    "tokens": "sum(total_tokens)",
    "without_usd": "count(*) filter (where (cost_usd is not null or total_tokens > 0) and cost_usd is null)",
    "without_tokens": "count(*) filter (where (cost_usd is not null or total_tokens > 0) and total_tokens is null)",
    "estimated_usd": "count(*) filter (where cost_basis = 'estimated')",
    "priced_usd": "count(*) filter (where cost_basis = 'priced')",
    "token_usd_events": "count(*) filter (where total_tokens > 0 and cost_usd is not null)",
    "token_usd_tokens": "coalesce(sum(total_tokens) filter (where total_tokens > 0 and cost_usd is not null), 0)",
    "token_usd_usd": "sum(cost_usd) filter (where total_tokens > 0)",
    "token_usd_estimated": "count(*) filter (where total_tokens > 0 and cost_basis = 'estimated')",
    "token_usd_priced": "count(*) filter (where total_tokens > 0 and cost_basis = 'priced')",
    "cache_events": "count(*) filter (where input_tokens is not null and cache_read_tokens is not null)",
    "cache_input_tokens": "sum(input_tokens) filter (where cache_read_tokens is not null)",
    "cache_read_tokens": "sum(cache_read_tokens) filter (where input_tokens is not null)",
    "all_cache_reads": "sum(cache_read_tokens)",
    "all_cache_input": "sum(total_tokens - coalesce(output_tokens, 0)) filter (where cache_read_tokens is not null)",
    "duration_ms": "sum(duration_ms)",
}
#: Those that are no sum.
EXTREMES = {
    "largest_input": ("max", "max(input_tokens) filter (where cache_read_tokens is not null)"),
    "first_time": ("min", "min(event_time)"),
    "last_time": ("max", "max(event_time)"),
}
KEY = "pipeline, pipeline_inferred, agent, attributed, run_key, run, day, model"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two spellings, runs by id and by gap, undated and unnamed events; costs that are told, estimated and priced."""
    priced: dict[str, Any] = {"model": "claude-sonnet-4-5", "input_tokens": 1000, "output_tokens": 50}
    events = [
        event(cost_usd=0.25, run_id="r1", total_tokens=10, duration_ms=7),
        event(agent="Writer", cost_usd=0.5, run_id="r1", total_tokens=0),
        event(agent="Writer", run_id="r1", total_tokens=40),
        event("2026-11-03T09:00:00Z", run_id="r1", **priced),
        event("2026-11-03T09:00:00Z", run_id="r1", cache_read_tokens=600, **priced),
        event("2026-11-03T09:10:00Z", cost_usd=1, cache_read_tokens=5, output_tokens=3),
        event("2026-11-03T15:00:00Z", cost_usd=2),
        event("2026-11-03T15:00:05Z", pipeline=None, agent="reviewer", estimated_cost_usd=0.125, total_tokens=9),
        event(None, pipeline=None, agent=None, run_id="r2", cost_usd=0),  # type: ignore[arg-type]
        event(None, agent="reviewer", estimated_tokens=12),  # type: ignore[arg-type]
        event("2026-11-04T00:00:00Z", model="made-up-1", input_tokens=5, output_tokens=5),
    ]
    folder = write_project(tmp_path_factory.mktemp("sums"), events, [("2026-11-03", "docs", "reviewer", "70", "none")])
    build(folder)
    return folder


def test_sums_are_those_of_the_events(project: Path) -> None:
    sums = ", ".join(f"sum({name}) as {name}" for name in RULES)
    sums += "".join(f", {how}({name}) as {name}" for name, (how, _) in EXTREMES.items())
    rules = ", ".join(f"{rule} as {name}" for name, rule in RULES.items())
    rules += "".join(f", {rule} as {name}" for name, (_, rule) in EXTREMES.items())
    with Warehouse(project / ".reportgen" / "warehouse.duckdb", read_only=True) as store:
        found = store.query(f"select {KEY}, {sums} from event_sums group by all order by all").dicts()
        of_events = store.query(
            f"select {KEY}, {rules} from (select *, cast(event_time as date) as day from events)"
            f" group by {KEY} order by all"
        ).dicts()
    assert [_without_nothing(row) for row in found] == [_without_nothing(row) for row in of_events]
    # Each kind of event is there, or the rules were asked for nothing.
    assert all(any(row[name] for row in of_events) for name in (*RULES, *EXTREMES))
    assert {row["run"] for row in of_events if row["run_key"] and row["run_key"].startswith("at:")} != set()


def _without_nothing(row: dict[str, object]) -> dict[str, object]:
    """A sum of nothing is unknown, or 0: for tokens that cost nothing either will do."""
    return {name: (value or 0) if name.startswith("token_usd") else value for name, value in row.items()}
