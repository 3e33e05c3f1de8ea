"""Data-quality remarks that only the whole shows: attribution, dates, coverage, the roster."""

from __future__ import annotations

from decimal import Decimal

from reportgen.detectors import as_text
from reportgen.model import Notice
from reportgen.render.format import show
from reportgen.warehouse import Warehouse


def remarks(warehouse: Warehouse, pipeline: str | None) -> list[Notice]:
    """Return what a reader must know before trusting the figures of what is shown."""
    notices: list[Notice] = []
    aside = warehouse.query("select count(*), min(event_time) from dated_events where date_set_aside").rows[0][0]
    if aside:
        notices.append(
            Notice(
                code="dates-far-away",
                message=f"{_events(aside)} dated more than 366 days from all others: kept, but undated",
                count=aside,
            )
        )
    bounded = warehouse.query("select is_bounded from window_bounds").rows[0][0]
    undated = warehouse.query("select count(*) from dated_events where event_time is null").rows[0][0]
    if bounded and undated:
        notices.append(
            Notice(
                code="undated-left-out",
                message=f"{_events(undated)} without a usable time left out, because a period is asked for",
                count=undated,
            )
        )
    only = "" if pipeline is None else "where p.pipeline = ?"
    rows = warehouse.query(
        f"select p.*, m.with_usd, m.with_tokens, m.usd from pipelines as p left join measures as m"
        f" on p.pipeline = m.pipeline {only} order by p.pipeline",
        [] if pipeline is None else [pipeline],
    ).dicts()
    for p in rows:
        name, events = p["pipeline"], p["events"]

        def add(code: str, message: str, count: int = 1, *, warn: bool = True) -> None:
            notices.append(Notice(code=code, message=message, count=count, severity="warning" if warn else "info"))

        if p["unattributed_events"]:
            add("unattributed", f"{name}: {_events(p['unattributed_events'])} of {events:,} name no agent: counted as"
                " (unattributed), and never flagged", p["unattributed_events"],
                warn=p["unattributed_events"] * 5 >= events)  # fmt: skip
        if p["inferred_events"]:
            add("pipeline-inferred", f"{name}: {_events(p['inferred_events'])} name no pipeline, and count as its own"
                " because the feedback names their agent only there", p["inferred_events"], warn=False)  # fmt: skip
        if p["runless_events"]:
            add("no-run", f"{name}: {_events(p['runless_events'])} have no run id and no usable time, and belong to no"
                " run", p["runless_events"])  # fmt: skip
        if events and p["carrying"] * 20 < events:
            add("cost-rare", f"{name}: under 5% of its events carry a cost or tokens ({p['carrying']:,} of {events:,})",
                events - p["carrying"])  # fmt: skip
        if p["cost_measure"] != "usd" and p["with_usd"] and p["usd"] > Decimal(0):
            add("cost-partial", f"{name}: cost_usd is known for only {p['with_usd']:,} of {p['carrying']:,} events that"
                f" carry cost (95% are needed), so it is measured in {p['cost_measure']}; the"
                f" {show(as_text(p['usd']), 'usd')} that are known are in no sum", p["with_usd"])  # fmt: skip
        if p["incomplete_runs"]:
            add("runs-incomplete", f"{name}: {p['incomplete_runs']:,} of {p['runs']:,} runs hold events of unknown cost"
                " (each adds 0)", p["incomplete_runs"])  # fmt: skip
        if not events:
            add("no-events", f"{name}: no cost events; its runs are the dates of its feedback (a stand-in), its cost is"
                " unknown", warn=False)  # fmt: skip
    if pipeline is None:
        strangers = warehouse.query(
            "select distinct s.shown from raw.roster as r inner join spellings as s on r.pipeline_no = s.spelling_no"
            " where s.shown not in (select pipeline from pipelines) order by s.shown"
        ).rows
        notices.extend(
            Notice(code="roster-unknown", message=f"the roster names '{row[0]}', a pipeline without events or feedback")
            for row in strangers
        )
        nobody = warehouse.query(
            "select distinct subject from budget_windows where subject <> '(all agents)'"
            " and subject not in (select agent from agents where events > 0) order by subject"
        ).rows
        notices.extend(
            Notice(code="budget-unknown", message=f"BUDGET.md limits '{row[0]}', an agent that no event names")
            for row in nobody
        )
        homeless = [p for p in rows if p["pipeline"] == "(unassigned)" and p["events"]]
        for p in homeless:
            notices.append(
                Notice(
                    code="unassigned",
                    message=f"{_events(p['events'])} name no pipeline, and the feedback does not tell: they stand under"
                    " (unassigned)",
                    count=p["events"],
                )
            )
    return notices


def _events(count: int) -> str:
    return "1 event" if count == 1 else f"{count:,} events"
