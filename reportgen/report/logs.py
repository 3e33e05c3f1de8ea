"""The healing log, the budget and the period."""

from __future__ import annotations

from typing import Any

from reportgen.detectors import as_text
from reportgen.model import BudgetWindow, Healing, HealingAttempt, Incident, Period
from reportgen.report.view import View, as_time, quotient, six_places

ENTRIES_SHOWN = 500


def healing(view: View, present: bool) -> Healing:
    """Return the healing log summed up, for what is shown."""
    attempts = [
        r
        for r in view.warehouse.query("select * from healing_attempts order by row_no").dicts()
        if view.shows(r["pipeline"])
    ]
    incidents = [
        r
        for r in view.warehouse.query(
            "select * from healing_incidents"
            " order by last_time desc nulls last, pipeline, agent, run_id, error_type, incident_no desc"
        ).dicts()
        if view.shows(r["pipeline"])
    ]
    count = {outcome: sum(r["outcome"] == outcome for r in incidents) for outcome in ("escalated", "blocked")}
    return Healing(
        present=present,
        attempts=len(attempts),
        incidents=len(incidents),
        escalated=count["escalated"],
        blocked=count["blocked"],
        recovered=len(incidents) - count["escalated"] - count["blocked"],
        entries=[
            HealingAttempt(
                timestamp=as_time(r["log_time"]),
                pipeline=r["pipeline"],
                agent=r["agent"],
                run_id=r["run_id"],
                error_type=r["error_type"] or "",
                attempt=r["attempt"],
                action=r["action"] or "",
                reason=r["reason"] or "",
                context=r["context"] or "",
            )
            for r in reversed(attempts[-ENTRIES_SHOWN:])
        ],
        incident_list=[
            Incident(
                pipeline=r["pipeline"],
                agent=r["agent"],
                run_id=r["run_id"],
                error_type=r["error_type"] or "",
                outcome=r["outcome"],
                attempts=r["attempts"],
                first=as_time(r["first_time"]),
                last=as_time(r["last_time"]),
                last_action=r["last_action"] or "",
                reason=r["last_reason"] or "",
            )
            for r in incidents[:ENTRIES_SHOWN]
        ],
    )


def budget(view: View) -> list[BudgetWindow]:
    """Return each limit of BUDGET.md with its current window and how often earlier ones went over."""
    by_limit: dict[int, list[dict[str, Any]]] = {}
    for r in view.warehouse.query("select * from budget_windows order by row_no, window_start").dicts():
        by_limit.setdefault(r["row_no"], []).append(r)
    out = []
    for rows in by_limit.values():
        now = next((r for r in rows if r["is_current"]), rows[-1])
        limit, spent, warn = now["limit_usd"], now["spent_usd"], now["warn_percent"]
        state = "ok"
        if spent is None:
            state = "unknown"
        elif spent > limit:
            state = "over"
        elif warn is not None and spent * 100 >= limit * warn:
            state = "warn"
        out.append(
            BudgetWindow(
                subject=now["subject"],
                window=now["window_name"],
                limit_usd=as_text(limit) or "0",
                warn_percent=as_text(warn),
                hard_stop=now["hard_stop"],
                window_start=as_text(now["window_start"]),
                spent_usd=as_text(spent),
                share=quotient(spent, limit),
                state=state,  # type: ignore[arg-type]
                windows_over=sum(1 for r in rows if r["spent_usd"] is not None and r["spent_usd"] > r["limit_usd"]),
                windows=len(rows),
            )
        )
    return out


def period(view: View) -> tuple[Period, str | None]:
    """Return the period of the dated entries looked at, and "now"."""
    first, last, days, now = view.warehouse.query(
        """
        with events_span as (select min(first_time) as a, max(last_time) as b from event_sums),
        healing_span as (select min(log_time) as a, max(log_time) as b from healing_attempts),
        feedback_span as (
            select cast(min(feedback_date) as timestamp) as a, cast(max(feedback_date) as timestamp) as b
            from feedback
        ),
        chosen as (
            select
                coalesce(e.a, f.a, h.a) as first_time,
                coalesce(e.b, f.b, h.b) as last_time
            from events_span as e cross join feedback_span as f cross join healing_span as h
        )
        select
            first_time, last_time,
            prorate(1, date_diff('microsecond', first_time, last_time), 86400000000),
            (select now_time from window_bounds)
        from chosen
        """
    ).rows[0]
    return Period(first=as_time(first), last=as_time(last), days=six_places(days)), as_time(now)
