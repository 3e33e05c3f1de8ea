"""The healing log, the budget and the account of the inputs of the report made by hand."""

from __future__ import annotations

from reportgen.model import BudgetWindow, Healing, HealingAttempt, Incident, InputFile, Notice, RejectedLine


def sample_healing() -> Healing:
    errors = [
        ("timeout", "retry-shorter-scope"),
        ("api-error", "retry-backoff"),
        ("content-quality", "retry-stricter-prompt"),
    ]
    entries = [
        HealingAttempt(
            timestamp=f"2026-10-{31 - number // 2:02d}T{20 - number % 9:02d}:14:07Z",
            pipeline="doc-pipeline" if number % 3 else "review-pipeline",
            agent="agent-writer" if number % 3 else "code-reader",
            run_id=None if number % 7 == 6 else f"run-{200 - number:06d}",
            error_type=errors[number % 3][0],
            attempt=number % 5 + 1,
            action="escalate" if number in (4, 19) else errors[number % 3][1],
            reason="attempt 6 is over the cap of 5" if number in (4, 19) else "within what its type allows",
            context="model call ran past 120 s",
        )
        for number in range(26)
    ]
    incidents = [
        Incident(
            pipeline=entry.pipeline,
            agent=entry.agent,
            run_id=entry.run_id,
            error_type=entry.error_type,
            outcome="escalated" if number in (4, 19) else "blocked" if number in (8, 9) else "presumed recovered",
            attempts=number % 4 + 1,
            first=entry.timestamp,
            last=entry.timestamp,
            last_action=entry.action,
            reason=entry.reason,
        )
        for number, entry in enumerate(entries)
        if number % 5 != 2
    ]
    by_outcome = {
        name: sum(i.outcome == name for i in incidents) for name in ("escalated", "blocked", "presumed recovered")
    }
    return Healing(
        present=True,
        attempts=len(entries),
        incidents=len(incidents),
        escalated=by_outcome["escalated"],
        blocked=by_outcome["blocked"],
        recovered=by_outcome["presumed recovered"],
        entries=entries,
        incident_list=incidents,
    )


def sample_inputs() -> list[InputFile]:
    names = (
        "file",
        "kind",
        "lines",
        "used",
        "superseded",
        "duplicates",
        "not_cost",
        "rejected",
        "blank",
        "events",
        "broken_parts",
        "outside_period",
    )
    rows = [
        ("budget/cost-events.jsonl", "events", 51604, 51567, 4, 12, 15, 5, 1, 51570, 1, 0),
        ("FEEDBACK.md", "feedback", 171, 157, 0, 0, 4, 1, 9, 157, 0, 0),
        ("healing-log.jsonl", "healing", 27, 26, 0, 0, 0, 1, 0, 26, 0, 0),
        ("BUDGET.md", "budget", 9, 5, 0, 0, 2, 0, 2, 2, 0, 0),
    ]
    return [InputFile(**dict(zip(names, row, strict=True))) for row in rows]  # type: ignore[arg-type]


def sample_budget() -> list[BudgetWindow]:
    return [
            BudgetWindow(subject="(all agents)", window="daily", limit_usd="10", warn_percent="80", hard_stop=True, window_start="2026-10-31", spent_usd="8.914", share=0.8914, state="warn", windows_over=11, windows=44),
            BudgetWindow(subject="agent-writer", window="monthly", limit_usd="120", warn_percent=None, hard_stop=None, window_start="2026-10-01", spent_usd="168.2", share=1.401667, state="over", windows_over=0, windows=1),
            BudgetWindow(subject="triage", window="weekly", limit_usd="2", warn_percent="80", hard_stop=False, window_start="2026-10-26", spent_usd=None, share=None, state="unknown", windows_over=0, windows=6),
        ]  # fmt: skip


def sample_rejected() -> list[RejectedLine]:
    return [
            RejectedLine(file="budget/cost-events.jsonl", line=17, reason="not JSON: the text ends inside a value", snippet='{"timestamp":"2026-09-17T09:'),
            RejectedLine(file="budget/cost-events.jsonl", line=902, reason="invalid UTF-8", snippet='{"agent":"wr\ufffdter","cost_usd":1'),
            RejectedLine(file="budget/cost-events.jsonl", line=40110, reason="not an object", snippet="[1, 2, 3]"),
            RejectedLine(file="budget/cost-events.jsonl", line=40111, reason="trailing comma", snippet='{"agent":"writer",}'),
            RejectedLine(file="budget/cost-events.jsonl", line=51604, reason="still being written", snippet='{"timestamp":"2026-10-31T22:4'),
            RejectedLine(file="FEEDBACK.md", line=88, reason="more cells than the header", snippet="| 2026-10-02 | doc-pipeline | **[e-mail]** | 4"),
            RejectedLine(file="healing-log.jsonl", line=27, reason="still being written", snippet='{"timestamp":"2026'),
        ]  # fmt: skip


def sample_notices() -> list[Notice]:
    return [
            Notice(code="cost-bad-value", message="cost is not a number that counts (NaN, negative or too large): read as unknown", file="budget/cost-events.jsonl", line=311, count=9),
            Notice(code="low-coverage", message="under 5% of the events of intake carry a cost or tokens: its cost is counted in events", count=2210),
            Notice(code="budget-line", message="line not understood: `- ceiling: lots`", file="BUDGET.md", line=7),
            Notice(code="names-merged", message="agent-writer is also spelled Agent-Writer", severity="info", count=31),
        ]  # fmt: skip
