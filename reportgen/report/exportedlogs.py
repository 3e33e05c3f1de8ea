"""The runs and the healing log of a finished report, from the CSV files beside its report.json."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast, get_args

from reportgen.identity import slug
from reportgen.model import Healing, HealingAttempt, Incident, Outcome, Report, Run
from reportgen.render.format import to_decimal
from reportgen.report.logs import ENTRIES_SHOWN

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
#: The columns and the rows of a CSV file.
Csv = tuple[Sequence[str], Sequence[Sequence[str]]]


def _records(found: Csv | None, needs: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield the rows by column; none where the file is not there or lacks a column."""
    if found is not None and set(needs) <= set(found[0]):
        for row in found[1]:
            yield dict(zip(found[0], row, strict=True))


def runs_of(report: Report, found: Csv | None) -> list[Run]:
    """Return the runs of `runs.csv` that are of a pipeline of the report."""
    about: dict[tuple[str, str], list[str]] = {}
    for one in report.recommendations:
        if one.subject_kind == "run":
            about.setdefault((one.pipeline, one.subject), []).append(one.id)
    pipelines = {one.pipeline for one in report.pipelines}
    seen: Counter[tuple[str, str]] = Counter()
    out = []
    for row in _records(found, ("pipeline", "run", "started", "ended", "events", "agents", "cost", "incomplete")):
        where = (row["pipeline"], row["run"])
        if row["pipeline"] not in pipelines:
            continue
        seen[where] += 1
        # Of two runs that are shown alike each needs an anchor of its own.
        text = "\x1f".join((*where, str(seen[where])))
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        anchor = slug(row["run"], digest) if seen[where] == 1 else f"{slug(row['run'], digest)}-{digest[:8]}"
        out.append(
            Run(
                pipeline=row["pipeline"],
                run=row["run"],
                anchor=f"run-{anchor}",
                started=_time(row["started"]),
                ended=_time(row["ended"]),
                events=_count(row["events"]),
                agents=_count(row["agents"]),
                cost=row["cost"] if to_decimal(row["cost"]) is not None else None,
                incomplete=row["incomplete"] == "true",
                recommendations=about.get(where, []),
            )
        )
    return out


def healing_of(healing: Healing, log: Csv | None, incidents: Csv | None) -> Healing:
    """Return the healing with the entries of `healing.csv` and the incidents of `incidents.csv`, the newest first."""
    entries = [
        HealingAttempt(
            timestamp=_time(row["log_time"]),
            pipeline=row["pipeline"],
            agent=row["agent"],
            run_id=row["run_id"] or None,
            error_type=row["error_type"],
            attempt=_count(row["attempt"]) if row["attempt"] else None,
            action=row["action"],
            reason=row["reason"],
            context=row["context"],
        )
        for row in _records(
            log, ("log_time", "pipeline", "agent", "run_id", "error_type", "attempt", "action", "reason", "context")
        )
    ]
    found = [
        Incident(
            pipeline=row["pipeline"],
            agent=row["agent"],
            run_id=row["run_id"] or None,
            error_type=row["error_type"],
            outcome=cast(Outcome, row["outcome"]),
            attempts=_count(row["attempts"]),
            first=_time(row["first_time"]),
            last=_time(row["last_time"]),
            last_action=row["last_action"],
            reason=row["last_reason"],
        )
        for row in _records(
            incidents,
            ("pipeline", "agent", "run_id", "error_type", "outcome", "attempts", "first_time", "last_time",
             "last_action", "last_reason"),
        )
        if row["outcome"] in get_args(Outcome)
    ]  # fmt: skip
    found.sort(key=lambda one: one.last or "", reverse=True)
    return replace(healing, entries=entries[::-1][:ENTRIES_SHOWN], incident_list=found[:ENTRIES_SHOWN])


def is_time(text: str) -> bool:
    """Say whether the text is a moment as a report writes it: `2026-11-03T09:14:07Z`."""
    if not _TIME.fullmatch(text):
        return False
    try:
        dt.datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _time(text: str) -> str | None:
    return text if is_time(text) else None


def _count(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0
