"""Each detector file to one outcome: found, clear, skipped or error. A failed detector never stops the others."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, get_args

from reportgen.detectorfile import COUNTS, SLOT, DetectorFile
from reportgen.errors import ReportgenError
from reportgen.model import Basis, Status, SubjectKind
from reportgen.sqlfile import SqlFile, near
from reportgen.warehouse import Result, SqlError, Warehouse

_REQUIRED = ("pipeline", "subject", "observed", "baseline", "threshold", "occurrences", "affected_runs", "total_runs")
_OPTIONAL = ("saving", "saving_of", "saving_basis", "subject_kind", "subject_key", "labels", "wait")

#: The table `findings` in the warehouse, which scoring and charts read.
FINDINGS = (
    "finding_no integer, detector varchar, pipeline varchar, subject varchar, subject_kind varchar,"
    " subject_key varchar, observed decimal(38, 12), baseline decimal(38, 12), threshold decimal(38, 12),"
    " occurrences bigint, affected_runs bigint, total_runs bigint, saving decimal(38, 12), saving_of decimal(38, 12),"
    " saving_basis varchar, labels varchar[], wait boolean, effort varchar, burden integer, failure_reduction integer"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One row of a detector, checked. Amounts are in the pipeline's cost measure; None is unknown."""

    finding_no: int
    detector: DetectorFile
    pipeline: str
    subject: str
    subject_kind: SubjectKind
    #: What tells this subject from another of the same shown name: the run's key, else the shown name.
    subject_key: str
    observed: Decimal | None
    baseline: Decimal | None
    threshold: Decimal | None
    occurrences: int
    affected_runs: int
    total_runs: int
    saving: Decimal | None
    saving_of: Decimal | None
    saving_basis: Basis
    labels: tuple[str, ...]
    wait: bool
    #: Every column of the row as it came, by name: what the texts are filled from.
    row: Mapping[str, Any]

    def cells(self) -> tuple[Any, ...]:
        """Return the row for the table `findings`."""
        d = self.detector
        return (
            self.finding_no, d.file.id, self.pipeline, self.subject, self.subject_kind, self.subject_key,
            self.observed, self.baseline, self.threshold, self.occurrences, self.affected_runs, self.total_runs,
            self.saving, self.saving_of, self.saving_basis, list(self.labels), self.wait, d.effort, d.burden,
            d.failure_reduction,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one detector. `checked` says in words what was looked at."""

    detector: DetectorFile
    status: Status
    findings: tuple[Finding, ...] = ()
    message: str | None = None
    where: str | None = None
    checked: str = ""


def run_detectors(
    warehouse: Warehouse,
    detectors: Sequence[DetectorFile],
    *,
    present: frozenset[str],
    counts: Mapping[str, int],
) -> list[Outcome]:
    """Run each detector on a locked warehouse, in the order given.

    `present`: the inputs that exist (`events`, `feedback`, `healing`, `budget`). `counts`: what there is, by the names
    of COUNTS. A detector with too little to look at is skipped, one that fails is an error with `path:line`.
    """
    outcomes: list[Outcome] = []
    number = 0
    for detector in detectors:
        outcome = _run_one(warehouse, detector, present, counts)
        findings = tuple(replace(f, finding_no=number + i) for i, f in enumerate(outcome.findings))
        number += len(findings)
        outcomes.append(replace(outcome, findings=findings))
    return outcomes


def _run_one(
    warehouse: Warehouse, detector: DetectorFile, present: frozenset[str], counts: Mapping[str, int]
) -> Outcome:
    checked = ", ".join(f"{counts[name]:,} {COUNTS[name]}" for name in detector.minimum) or "all events and feedback"
    if detector.broken is not None:
        error = detector.broken
        return Outcome(detector=detector, status="error", message=error.what, where=error.where, checked="nothing")
    missing = [need for need in detector.needs if need not in present]
    if missing:
        return Outcome(detector=detector, status="skipped", message=_missing(missing[0]), checked="nothing")
    for name, least in detector.minimum.items():
        if counts[name] < least:
            message = f"not_enough_data: {counts[name]} of at least {least} {COUNTS[name]}"
            return Outcome(detector=detector, status="skipped", message=message, checked=checked)
    try:
        warehouse.check_one_select(detector.file)
        result = warehouse.query(detector.file.text)
        findings = _findings(detector, result)
    except SqlError as failure:
        where = f"{detector.file.name}:{failure.line}" if failure.line else detector.file.name
        return Outcome(detector=detector, status="error", message=failure.message, where=where, checked="nothing")
    except ReportgenError as error:
        return Outcome(detector=detector, status="error", message=error.what, where=error.where, checked="nothing")
    status: Status = "found" if findings else "clear"
    return Outcome(detector=detector, status=status, findings=tuple(findings), checked=checked)


def _missing(need: str) -> str:
    files = {
        "events": "cost events (budget/cost-events.jsonl)",
        "feedback": "feedback (FEEDBACK.md)",
        "healing": "a healing log (healing-log.jsonl)",
        "budget": "BUDGET.md",
    }
    return f"missing input: it needs {files[need]}"


def _findings(detector: DetectorFile, result: Result) -> list[Finding]:
    file = detector.file
    for name in _REQUIRED:
        if name not in result.columns:
            raise file.problem(f"the SELECT gives no column '{name}'{near(name, result.columns)}")
    for key, text in (("finding", detector.finding), ("action", detector.action), *detector.actions.items()):
        for name, _ in SLOT.findall(text):
            if name not in result.columns:
                raise file.problem(f"'{key}' names a column '{name}'{near(name, result.columns)}", key=key)
    seen: set[tuple[str, str, str]] = set()
    findings = []
    for row in result.dicts():
        pipeline, subject = row["pipeline"], row["subject"]
        if not isinstance(pipeline, str) or not isinstance(subject, str) or not pipeline or not subject:
            raise file.problem("a row has no pipeline or no subject", "Every finding must name both.")
        kind = row.get("subject_kind") or detector.subject_kind
        if kind not in get_args(SubjectKind):
            raise file.problem(f"subject_kind '{kind}' is not one of {', '.join(get_args(SubjectKind))}")
        key = str(row.get("subject_key") or subject)
        if (pipeline, kind, key) in seen:
            raise file.problem(f"subject '{subject}' of '{pipeline}' stands on two rows", "One finding a subject.")
        seen.add((pipeline, kind, key))
        basis: Any = row.get("saving_basis") or ("unknown" if row.get("saving") is None else "estimated")
        if basis not in get_args(Basis):
            raise file.problem(f"saving_basis '{basis}' is not one of {', '.join(get_args(Basis))}")
        findings.append(Finding(
            finding_no=0,
            detector=detector,
            pipeline=pipeline,
            subject=subject,
            subject_kind=kind,
            subject_key=key,
            observed=_decimal(file, row, "observed"),
            baseline=_decimal(file, row, "baseline"),
            threshold=_decimal(file, row, "threshold"),
            occurrences=_count(file, row, "occurrences"),
            affected_runs=_count(file, row, "affected_runs"),
            total_runs=_count(file, row, "total_runs"),
            saving=_decimal(file, row, "saving"),
            saving_of=_decimal(file, row, "saving_of"),
            saving_basis="unknown" if row.get("saving") is None else basis,
            labels=tuple(str(label) for label in row.get("labels") or ()),
            wait=bool(row.get("wait") or False),
            row=row,
        ))  # fmt: skip
    return findings


def _decimal(file: SqlFile, row: Mapping[str, Any], name: str) -> Decimal | None:
    value = row.get(name)
    if value is None or (isinstance(value, Decimal) and value.is_finite()):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return Decimal(value)
    if isinstance(value, float):
        raise file.problem(f"column '{name}' is a floating-point number", "Cast it to DECIMAL: sums must repeat.")
    raise file.problem(f"column '{name}' holds {type(value).__name__}, not a number")


def _count(file: SqlFile, row: Mapping[str, Any], name: str) -> int:
    value = row.get(name)
    if isinstance(value, Decimal) and value == value.to_integral_value():
        value = int(value)
    if value is None or isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise file.problem(f"column '{name}' must be a whole number from 0")
    return value


def evidence_columns(finding: Finding) -> list[str]:
    """Return the columns that make the evidence table: those with a label first, in the file's order."""
    labelled = [name for name in finding.detector.columns if name in finding.row]
    hidden = {*_REQUIRED, *_OPTIONAL}
    return labelled + [name for name in finding.row if name not in hidden and name not in labelled]


def as_text(value: object) -> str | None:
    """Return a cell as exact text: plain decimals without trailing zeros, UTC times, lists joined; None stays None."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Decimal):
        text = f"{value:f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return "0" if text in ("-0", "") else text
    if isinstance(value, dt.datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value)
    return str(value)
