"""Every run, for the pages that have a row and an anchor for each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from reportgen.detectors import as_text
from reportgen.identity import slug
from reportgen.model import Recommendation, Run
from reportgen.report.view import View, as_time


def runs(view: View, subject_keys: Iterable[tuple[Recommendation, str]]) -> list[Run]:
    """Return the runs shown, by pipeline and start, those without a time last.

    `subject_keys`: each recommendation with its finding's key, which for a run is its `run_key`.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for one, key in subject_keys:
        if one.subject_kind == "run":
            found.setdefault((one.pipeline, key), []).append(one.id)
    rows = view.warehouse.query(
        "select pipeline, run_key, run, started, ended, events, agents, cost, incomplete from runs"
        " order by pipeline, run_rank"
    ).rows
    return [
        Run(
            pipeline=pipeline,
            run=run,
            anchor=f"run-{anchor(view, run_key, run)}",
            started=as_time(started),
            ended=as_time(ended),
            events=events,
            agents=agents,
            cost=as_text(cost),
            incomplete=bool(incomplete),
            recommendations=found.get((pipeline, run_key), []),
        )
        for pipeline, run_key, run, started, ended, events, agents, cost, incomplete in rows
        if view.shows(pipeline)
    ]


def anchor(view: View, run_key: str, run: str) -> str:
    """Return the run's name where it is plain, else words of it and a hash: the same in every build."""
    if run_key.startswith("id:"):
        key, digest = view.hashes.key_and_hash("run", run)
        # Two run ids that differ are never shown alike, but one that is not in `names` has no hash of its own.
        return slug(key, digest)
    return slug(run_key.partition(":")[2], hashlib.sha256(run_key.encode()).hexdigest())
