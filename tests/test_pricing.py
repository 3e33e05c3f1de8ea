"""Prices: what an event without a cost costs, by the list or a project's own prices, to the last digit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from genai_prices import Usage, calc_price
from project import built, write_project

from reportgen import pricelist
from reportgen.macros import make_macros
from reportgen.pricing import fill_prices, price_notices, usd
from reportgen.rawtables import EVENT_COLUMNS
from reportgen.resources import resource_dir
from reportgen.settings import Settings
from reportgen.sqlfile import find_sql_files
from reportgen.warehouse import Warehouse

NOON = datetime(2026, 5, 2, 12, tzinfo=UTC)


def event(model: str | None = "local", told: str | None = None, *, at: datetime | None = NOON, **numbers: Any) -> Any:
    total = sum(numbers.get(f"{name}_tokens", 0) for name in ("input", "output", "cache_read", "cache_write"))
    return {
        "model": model, "event_time": None if at is None else at.replace(tzinfo=None), "total_tokens": total or None,
        "cost_usd": None if told is None else Decimal(told), "cost_basis": None if told is None else "reported",
        "tokens_estimated": False, **numbers,
    }  # fmt: skip


class Priced:
    """What came of events: their costs and bases, in order, and the notices."""

    def __init__(self, *events: dict[str, Any], own: dict[str, dict[str, Decimal]] | None = None, use: bool = True):
        home = resource_dir("sql")
        settings = Settings(project=home, recommendations=home, site=home, prices=own or {}, price_list=use)
        with Warehouse() as store:
            rows = [(n, 0, n + 1, *(one.get(name) for name in list(EVENT_COLUMNS)[3:])) for n, one in enumerate(events)]
            marks = ", ".join("?" for _ in EVENT_COLUMNS)
            store.query("create schema raw")
            store.query(
                f"create table raw.events ({', '.join(f'{name} {kind}' for name, kind in EVENT_COLUMNS.items())})"
            )
            for row in rows:
                store.query(f"insert into raw.events values ({marks})", row)
            store.load_raw({"settings": [(None, None, None, None, 1800, 60)]}, None)
            fill_prices(store, settings)
            store.lock()
            make_macros(store, None)
            store.create_tables(find_sql_files("sources", home, None))
            found = store.query("select cost_usd, cost_basis from events order by event_no").rows
            self.costs = [row[0] for row in found]
            self.bases = [row[1] for row in found]
            self.notices = {notice.code: notice.message for notice in price_notices(store)}
            self.unlisted = {notice.code: notice.message for notice in price_notices(store, listed=False)}


LOCAL = {"local": {"input": Decimal(3), "output": Decimal(15), "cache_read": Decimal("0.3"),
                   "cache_write": Decimal("3.75")}}  # fmt: skip


def test_own_prices_worked_by_hand() -> None:
    seen = Priced(
        # 2 x 3 + 211 x 15 + 15030 x 0.3 + 8655 x 6 (an hour: twice the input) = 6 + 3165 + 4509 + 51930 millionths
        event(input_tokens=2, output_tokens=211, cache_read_tokens=15030, cache_write_tokens=8655,
              cache_write_1h_tokens=8655),
        # 655 of the writes for 5 minutes: 6 + 3165 + 4509 + 8000 x 6 + 655 x 3.75 = 58136.25
        event(input_tokens=2, output_tokens=211, cache_read_tokens=15030, cache_write_tokens=8655,
              cache_write_1h_tokens=8000),
        # The total says that the reads are in the input: 200 x 3 + 800 x 0.3 + 340 x 15 = 600 + 240 + 5100
        event(input_tokens=1000, output_tokens=340, cache_read_tokens=800) | {"total_tokens": 1340},
        event(input_tokens=1, output_tokens=0),
        event(told="0.5", input_tokens=1),
        event(told="0", input_tokens=0),
        event("other", input_tokens=5),
        event(None, input_tokens=5),
        event() | {"total_tokens": 900},
        event(input_tokens=1, output_tokens=1) | {"tokens_estimated": True},
        own=LOCAL, use=False,
    )  # fmt: skip
    wanted = ["0.05961", "0.05813625", "0.00594", "0.000003", "0.5", "0", None, None, None, "0.000018"]
    assert seen.costs == [None if cost is None else Decimal(cost) for cost in wanted]
    priced = "priced"
    assert seen.bases == [priced] * 4 + ["reported"] * 2 + [None] * 3 + ["estimated"]


def usages() -> Iterator[tuple[str, datetime, dict[str, Any]]]:
    """Models with one price, with dates, with tiers, and with times of day; calls on both sides of each bound."""
    for model, days in (
        ("claude-sonnet-4-6", (datetime(2026, 3, 12, 23, 59, tzinfo=UTC), datetime(2026, 3, 13, tzinfo=UTC))),
        ("claude-haiku-4-5", (NOON,)),
        ("gemini-2.5-pro", (NOON,)),
        ("gpt-4o", (NOON,)),
        ("deepseek-chat", (datetime(2026, 5, 2, 0, 29, tzinfo=UTC), datetime(2026, 5, 2, 0, 30, tzinfo=UTC),
                           datetime(2026, 5, 2, 16, 30, tzinfo=UTC))),
    ):  # fmt: skip
        for day in days:
            for fresh, reads in ((1200, 800), (199_000, 1000), (199_001, 1000), (5, 400_000)):
                yield model, day, {"input_tokens": fresh, "output_tokens": 777, "cache_read_tokens": reads}


def test_the_list_is_followed_to_the_last_digit() -> None:
    calls = list(usages())
    seen = Priced(*(event(model, at=at, **numbers) for model, at, numbers in calls))
    for (model, at, numbers), cost in zip(calls, seen.costs, strict=True):
        # The package counts what is read from a cache as input; the events here do not.
        usage = Usage(**{**numbers, "input_tokens": numbers["input_tokens"] + numbers["cache_read_tokens"]})
        assert cost == calc_price(usage, model, genai_request_timestamp=at).total_price, (model, at, numbers)
    assert set(seen.bases) == {"priced"}


def test_cache_writes_of_claude() -> None:
    # Haiku 4.5: input 1, writes 1.25 for 5 minutes and 2 for an hour, in dollars for a million tokens.
    seen = Priced(
        event("claude-haiku-4-5-20251001", input_tokens=0, cache_write_tokens=1000, cache_write_1h_tokens=0),
        event("claude-haiku-4-5", input_tokens=0, cache_write_tokens=1000, cache_write_1h_tokens=400),
        event("claude-haiku-4-5", input_tokens=0, cache_write_tokens=1000, cache_write_1h_tokens=5000),
    )
    assert seen.costs == [Decimal("0.00125"), Decimal("0.00155"), Decimal("0.002")]


def test_an_undated_event_has_the_latest_price() -> None:
    dated, undated = Priced(
        event("claude-sonnet-4-6", at=datetime(2026, 3, 1, tzinfo=UTC), input_tokens=300_000),
        event("claude-sonnet-4-6", at=None, input_tokens=300_000),
    ).costs
    # Until 13 March 2026 a call of more than 200,000 tokens cost twice as much.
    assert (dated, undated) == (Decimal("1.8"), Decimal("0.9"))


@pytest.mark.parametrize("name", ["anthropic/claude-haiku-4-5", "claude-haiku-4-5[1m]", "Claude-Haiku-4-5"])
def test_a_model_in_other_words(name: str) -> None:
    assert pricelist.listed([name])[name][0].output == "0.000005"


def test_the_fast_mode_of_a_model_has_a_price_of_its_own_or_none() -> None:
    # 30 and 150 dollars for a million tokens, where the model itself costs 5 and 25.
    calls = [event(name, input_tokens=1_000_000, output_tokens=100_000, cache_write_tokens=0)
             for name in ("claude-opus-4-6-fast", "claude-opus-4-6", "claude-opus-4-5-20251101-fast")]  # fmt: skip
    assert Priced(*calls).costs == [Decimal(45), Decimal("7.5"), None]
    # A model that is called so is another matter.
    assert pricelist.listed(["grok-4-fast"])["grok-4-fast"][0].input == "0.0000002"


def test_own_prices_win_and_the_list_can_be_left_alone() -> None:
    call = event("claude-haiku-4-5", input_tokens=1_000_000)
    own = {"Claude-Haiku-4-5": {"input": Decimal("0.5")}}
    assert Priced(call, own=own).costs == [Decimal("0.5")]
    assert Priced(call).costs == [Decimal(1)]
    assert Priced(call, use=False).costs == [None]


def test_what_is_said() -> None:
    seen = Priced(
        event(input_tokens=1_000_000), event("mystery", input_tokens=7, output_tokens=3), event("mystery", output_tokens=2),
        event(told="106", input_tokens=33_333_333), event("fair", told="1.05", input_tokens=1_000_000),
        own={**LOCAL, "fair": {"input": Decimal(1)}},
    )  # fmt: skip
    assert seen.notices["priced"].startswith("1 event of 1 model tells no cost")
    assert seen.notices["priced"].endswith("$3.00 in all")
    assert "'mystery': the cost of 2 events with 12 tokens is unknown" in seen.notices["price-unknown"]
    # Where the list was not asked, it is not said to know nothing.
    assert seen.notices["price-unknown"].startswith("no price is known for model 'mystery'")
    assert seen.unlisted["price-unknown"].startswith("the price list is switched off")
    assert "known for 60% of the events that tell a cost or tokens (3 of 5)" in seen.notices["cost-known"]
    # 5.7% is told, 4.8% is not.
    assert "'local': 1 event tells $106.00, and its price would give $100.00" in seen.notices["price-differs"]
    assert "fair" not in seen.notices["price-differs"]


def test_nothing_is_looked_up_where_nothing_needs_a_price(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise AssertionError("looked up")

    monkeypatch.setattr(pricelist, "listed", fail)
    assert Priced(event(None, input_tokens=5), event("m", told="1")).costs == [None, Decimal(1)]


def test_small_amounts_are_not_rounded_away() -> None:
    assert [usd(Decimal(text)) for text in ("1234.5", "0", "0.06889")] == ["$1,234.50", "$0.00", "$0.06889"]


def test_sentences_and_evidence_say_that_a_cost_is_priced(tmp_path: Path) -> None:
    def call(run: int, tokens: int) -> dict[str, Any]:
        at = f"2026-05-{run + 1:02}T10:00:00Z"
        return {"timestamp": at, "run_id": f"r{run}", "pipeline": "docs", "agent": "w", "model": "claude-haiku-4-5",
                "input_tokens": tokens, "output_tokens": 0}  # fmt: skip

    # Nine runs of 1 M input tokens, a dollar each, and one of 30: by the rule it is an outlier.
    write_project(tmp_path, [call(run, 1_000_000) for run in range(9)] + [call(9, 30_000_000)])
    (found,) = [one for one in built(tmp_path)["recommendations"] if one["detector"] == "cost_outlier"]
    assert "≈ $30.00" in found["finding"]
    text = (tmp_path / "RECOMMENDATIONS.md").read_text("utf-8")
    (evidence,) = [line for line in re.sub(r"\n +", " ", text).splitlines() if line.startswith("- Evidence: ")]
    assert "≈ $30.00" in evidence
    assert re.search(r"(?<!≈ )\$\d", evidence) is None
    page = (tmp_path / "site" / "recommendations" / f"{found['id']}.html").read_text("utf-8")
    assert "≈ $30.00" in re.sub(r"<[^>]+>", "", page[page.index("id=evidence") :])
