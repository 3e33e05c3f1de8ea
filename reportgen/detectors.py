"""Each detector file to one outcome: found, clear, skipped or error. A failed detector never stops the others."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, get_args

from reportgen.detectorfile import SLOT, DetectorFile, counted
from reportgen.errors import ReportgenError
from reportgen.model import Basis, Status, SubjectKind
from reportgen.names import ALL_PIPELINES, UNATTRIBUTED
from reportgen.quickclass import dataclass
from reportgen.sqlfile import SqlFile, near
from reportgen.sqltree import read_tree
from reportgen.warehouse import Result, SqlError, Warehouse

_REQUIRED = ("pipeline", "subject", "observed", "baseline", "threshold", "occurrences", "affected_runs", "total_runs")
_OPTIONAL = ("saving", "saving_of", "saving_basis", "subject_kind", "subject_key", "labels", "wait")

#: What scoring can work with exactly: amounts below these, counts below this.
_LARGEST = {"observed": 10**26, "baseline": 10**26, "threshold": 10**26, "saving": 10**14, "saving_of": 10**14}
_MOST_COUNTED = 10**12
#: What to do about a number whose sums differ from machine to machine.
NOT_EXACT = "/ and avg() give floating-point numbers: use prorate(), or cast to decimal."
#: More text than this in all rows of one detector would make pages that no browser opens.
_MOST_TEXT = 50_000_000

#: The table `findings` in the warehouse, which scoring and charts read.
FINDINGS = (
    "finding_no integer, detector varchar, pipeline varchar, subject varchar, subject_kind varchar,"
    " subject_key varchar, observed decimal(38, 12), baseline decimal(38, 12), threshold decimal(38, 12),"
    " occurrences bigint, affected_runs bigint, total_runs bigint, saving decimal(38, 12), saving_of decimal(38, 12),"
    " saving_basis varchar, labels varchar[], wait boolean, effort varchar, burden integer, failure_reduction integer,"
    " counts_failures boolean, occurrences_name varchar, affected_name varchar"
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
            d.failure_reduction, d.counts_failures, d.occurrences[self.occurrences != 1], d.affected,
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
    most: int = 10_000,
    pipelines: Collection[str] | None = None,
) -> list[Outcome]:
    """Run each detector on a locked warehouse, in the order given.

    `present`: the inputs that exist (`events`, `feedback`, `healing`, `budget`). `counts`: what there is, by the names
    of COUNTS. A detector with too little to look at is skipped, one that fails is an error with `path:line`; so is one
    that takes too long or too much memory for the warehouse's limits, or has more than `most` findings, or names a
    pipeline that is not one of `pipelines` (None: any will do).
    """
    outcomes: list[Outcome] = []
    number = 0
    for detector in detectors:
        outcome = _run_one(warehouse, detector, present, counts, most, pipelines)
        findings = tuple(replace(f, finding_no=number + i) for i, f in enumerate(outcome.findings))
        number += len(findings)
        outcomes.append(replace(outcome, findings=findings))
    return outcomes


def _run_one(
    warehouse: Warehouse,
    detector: DetectorFile,
    present: frozenset[str],
    counts: Mapping[str, int],
    most: int,
    pipelines: Collection[str] | None,
) -> Outcome:
    checked = ", ".join(counted(name, counts[name]) for name in detector.minimum) or "all events and feedback"
    if detector.broken is not None:
        error = detector.broken
        return Outcome(detector=detector, status="error", message=error.said, where=error.where, checked="nothing")
    missing = [need for need in detector.needs if need not in present]
    if missing:
        return Outcome(detector=detector, status="skipped", message=_missing(missing[0]), checked="nothing")
    for name, least in detector.minimum.items():
        if counts[name] < least:
            message = f"not_enough_data: {counts[name]} of at least {counted(name, least)}"
            return Outcome(detector=detector, status="skipped", message=message, checked=checked)
    try:
        warehouse.check_one_select(detector.file)
        result = warehouse.query(detector.file.text, bounded=True, most=most)
        findings = _findings(detector, result, _Select(detector.file, warehouse))
        _check_pipelines(_Select(detector.file, warehouse), findings, pipelines)
    except SqlError as failure:
        where = f"{detector.file.name}:{failure.line}" if failure.line else detector.file.name
        return Outcome(detector=detector, status="error", message=failure.said, where=where, checked="nothing")
    except ReportgenError as error:
        return Outcome(detector=detector, status="error", message=error.said, where=error.where, checked="nothing")
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


def _check_pipelines(file: _Select, findings: Sequence[Finding], pipelines: Collection[str] | None) -> None:
    for finding in findings:
        if finding.subject_kind in ("project", "other") and finding.pipeline == ALL_PIPELINES:
            continue
        if pipelines is not None and finding.pipeline not in pipelines:
            raise file.problem(
                f"pipeline '{finding.pipeline[:80]}' is none of the pipelines{near(finding.pipeline, list(pipelines))}",
                "Take it from the column pipeline of a mart.",
                "pipeline",
            )


class _Select:
    """Where the outer SELECT of a detector stands, read only where there is something to say about it."""

    def __init__(self, file: SqlFile, warehouse: Warehouse) -> None:
        self._file = file
        self._warehouse = warehouse

    def problem(self, what: str, next_step: str = "", column: str = "") -> ReportgenError:
        """Make an error at the line of an output column, or of the SELECT where none is named or it is not."""
        tree = read_tree(self._warehouse.serialized(self._file.text))
        at = tree.items.get(column)
        at = tree.at if at is None else at
        if at is None:
            return ReportgenError(self._file.name, what, next_step)
        line = self._file.text.encode()[:at].count(b"\n") + 1
        return ReportgenError(f"{self._file.name}:{line}", what, next_step)


def _findings(detector: DetectorFile, result: Result, file: _Select) -> list[Finding]:
    for number, name in enumerate(result.columns):
        if name in result.columns[:number]:
            raise file.problem(f"the SELECT gives two columns '{name}'", "Name them apart.", name)
    for name in _REQUIRED:
        if name not in result.columns:
            raise file.problem(f"the SELECT gives no column '{name}'{near(name, result.columns)}")
    texts: dict[tuple[str, ...], str] = {
        ("finding",): detector.finding,
        ("saving",): detector.saving,
        ("action",): detector.action,
    }
    texts |= {("actions", label): text for label, text in detector.actions.items()}
    for place, text in texts.items():
        for found, where in detector.file.slots(place, SLOT, text):
            name = found.group(1)
            if name not in result.columns:
                what = f"'{'.'.join(place)}' names a column '{name}'{near(name, result.columns)}"
                raise ReportgenError(where(), what, "The SELECT does not give it.")
    if sum(len(cell) for row in result.rows for cell in row if isinstance(cell, str)) > _MOST_TEXT:
        raise file.problem(f"its rows hold more than {_MOST_TEXT:,} characters of text", "Give less.")
    seen: set[tuple[str, str, str]] = set()
    findings = []
    for row in result.dicts():
        pipeline, subject = row["pipeline"], row["subject"]
        for name, value in (("pipeline", pipeline), ("subject", subject)):
            if not isinstance(value, str) or not value.strip():
                what = "is empty" if value is None or isinstance(value, str) else f"holds {type(value).__name__}"
                raise file.problem(f"column '{name}' {what} in a row", "Every finding names both, as text.", name)
        kind = row.get("subject_kind") or detector.subject_kind
        if kind not in get_args(SubjectKind):
            raise file.problem(
                f"subject_kind '{kind}' is not one of {', '.join(get_args(SubjectKind))}", column="subject_kind"
            )
        if kind == "agent" and subject == UNATTRIBUTED:
            raise file.problem(f"flags {UNATTRIBUTED}, which is no agent", "Leave it out: where attributed", "subject")
        key = str(row.get("subject_key") or subject)
        if (pipeline, kind, key) in seen:
            what = f"subject '{subject[:80]}' of '{pipeline[:80]}' stands on two rows"
            raise file.problem(what, "One finding a subject.")
        seen.add((pipeline, kind, key))
        basis: Any = row.get("saving_basis") or ("unknown" if row.get("saving") is None else "estimated")
        if basis not in get_args(Basis):
            raise file.problem(
                f"saving_basis '{basis}' is not one of {', '.join(get_args(Basis))}", column="saving_basis"
            )
        labels, wait = row.get("labels"), row.get("wait")
        if not isinstance(labels, list | None) or not isinstance(wait, bool | None):
            raise file.problem("'labels' must be a list of texts, and 'wait' true or false")
        saving, saving_of = _saving(file, row)
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
            saving=saving,
            saving_of=saving_of,
            saving_basis="unknown" if saving is None else basis,
            labels=tuple(str(label) for label in labels or () if label is not None),
            wait=wait or False,
            row=row,
        ))  # fmt: skip
    return findings


def _saving(file: _Select, row: Mapping[str, Any]) -> tuple[Decimal | None, Decimal | None]:
    saving, of = _decimal(file, row, "saving"), _decimal(file, row, "saving_of")
    if saving is not None and saving < 0:
        raise file.problem(f"column 'saving' is {as_text(saving)}", "A saving is 0 or more.", "saving")
    if saving is not None and of is not None and saving > of:
        what = f"column 'saving' is {as_text(saving)}, more than 'saving_of', {as_text(of)}"
        raise file.problem(what, "saving_of is the cost of the whole pipeline.", "saving")
    return saving, of


def _decimal(file: _Select, row: Mapping[str, Any], name: str) -> Decimal | None:
    value = row.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        value = Decimal(value)
    if isinstance(value, float):
        raise file.problem(f"column '{name}' is a floating-point number", NOT_EXACT, name)
    if value is not None and not isinstance(value, Decimal):
        raise file.problem(f"column '{name}' holds {type(value).__name__}, not a number", "Cast it.", name)
    if value is not None and abs(value) >= _LARGEST[name]:
        raise file.problem(f"column '{name}' is {value:.3e}: too large to be scored exactly", "Give less.", name)
    return value


def _count(file: _Select, row: Mapping[str, Any], name: str) -> int:
    value = row.get(name)
    if isinstance(value, Decimal) and value == value.to_integral_value():
        value = int(value)
    if value is None:
        raise file.problem(f"column '{name}' is null", "Give a whole number from 0, such as coalesce(…, 0).", name)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise file.problem(f"column '{name}' must be a whole number from 0", "Cast it.", name)
    if value >= _MOST_COUNTED:
        raise file.problem(f"column '{name}' is {value:,}: too large to be scored exactly", "Give less.", name)
    return value


def evidence_columns(finding: Finding) -> list[str]:
    """Return the columns that make the evidence table: those with a label first, in the file's order.

    One whose label is empty is for sentences only.
    """
    labels = {name: label for name, (label, _) in finding.detector.columns.items()}
    labelled = [name for name, label in labels.items() if label and name in finding.row]
    hidden = {*_REQUIRED, *_OPTIONAL, *(name for name, label in labels.items() if not label)}
    return labelled + [name for name in finding.row if name not in hidden and name not in labelled]


def as_text(value: object) -> str | None:
    """Return a cell as exact text: plain decimals without trailing zeros, UTC times, lists joined; None stays None.

    A number that is none (NaN, infinity) is not known either.
    """
    # The kinds of which there are most come first: every cell of every chart and table passes here.
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Decimal):
        text = f"{value:f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return "0" if text in ("-0", "") else text
    if isinstance(value, dt.datetime):
        utc = value if value.tzinfo is None else value.astimezone(dt.UTC).replace(tzinfo=None)
        return utc.isoformat(timespec="seconds") + "Z"
    if isinstance(value, float):
        return as_text(Decimal(repr(value))) if math.isfinite(value) else None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return ", ".join(as_text(item) or "null" if item is None else str(as_text(item)) for item in value)
    return str(value)
