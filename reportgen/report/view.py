"""What every part of a report is read from: the warehouse, the outcomes, and the pipeline that is shown."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from reportgen.detectors import Finding, Outcome, as_text
from reportgen.glossary import not_measured
from reportgen.identity import Hashes, finding_id, slug
from reportgen.model import Measure
from reportgen.names import ALL_PIPELINES
from reportgen.warehouse import Warehouse


class View:
    """The warehouse read for a report; `only` keeps one pipeline's part."""

    def __init__(self, warehouse: Warehouse, outcomes: Sequence[Outcome], only: str | None) -> None:
        self.warehouse = warehouse
        self.outcomes = outcomes
        self.only = only
        names = warehouse.query("select kind, shown, name_key, key_hash from names").rows
        self.hashes = Hashes({(r[0], r[1]): (r[2], r[3]) for r in names})
        self.vfm = {r["finding_no"]: r for r in warehouse.query("select * from vfm").dicts()}
        self.pipelines: list[dict[str, Any]] = warehouse.query(
            "select p.*, h.* exclude (pipeline) from pipelines as p inner join pipeline_halves as h"
            " on p.pipeline = h.pipeline order by p.pipeline"
        ).dicts()
        #: Pipelines whose cost is not measured; what is of all of them is not, either.
        self.not_measured = {p["pipeline"] for p in self.pipelines if not_measured(p["cost_basis"], p["cost_measure"])}
        if self.not_measured:
            self.not_measured.add(ALL_PIPELINES)
        self.measures: dict[str, Measure] = {p["pipeline"]: p["cost_measure"] for p in self.pipelines}

    def shows(self, pipeline: str) -> bool:
        """Say whether this pipeline's part is in the report."""
        return self.only is None or pipeline == self.only

    def slug(self, kind: str, name: str) -> str:
        """Return the page name of an agent or pipeline."""
        return slug(*self.hashes.key_and_hash(kind, name))

    def finding_id(self, finding: Finding) -> str:
        """Return the stable id of a finding."""
        kind = finding.subject_kind
        key, digest = finding.subject_key, finding.subject_key
        if kind in ("agent", "pipeline"):
            key, digest = self.hashes.key_and_hash(kind, finding.subject)
        elif kind == "run":
            key = finding.subject
            if finding.subject_key.startswith("id:"):
                digest = self.hashes.key_and_hash("run", finding.subject)[1]
        pipeline = self.hashes.key_and_hash("pipeline", finding.pipeline)[1]
        return finding_id(finding.detector.file.id, pipeline, kind, key, digest)

    def project_measure(self) -> Measure:
        """Return the measure that all pipelines share, else `events`."""
        measures = set(self.measures.values())
        return measures.pop() if len(measures) == 1 else "events"


def quotient(over: Decimal | int | None, under: Decimal | int | None) -> float | None:
    """Return over / under rounded to 6 places, for showing only; None where either is unknown or under is 0."""
    if over is None or under is None or under == 0:
        return None
    exact = Decimal(over) / Decimal(under)
    return float(exact.quantize(Decimal("0.000001"), rounding=ROUND_HALF_UP))


def as_float(value: Decimal | None) -> float | None:
    """Return the number rounded to 6 places, for showing only."""
    return None if value is None else float(value.quantize(Decimal("0.000001"), rounding=ROUND_HALF_UP))


def six_places(value: Decimal | None) -> str | None:
    """Return the number as text, rounded to 6 places."""
    return as_text(None if value is None else value.quantize(Decimal("0.000001"), rounding=ROUND_HALF_UP))


def as_time(value: dt.datetime | None) -> str | None:
    """Return the moment as `2026-11-03T09:14:07Z`."""
    return as_text(value)
