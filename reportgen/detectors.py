"""Each detector file to one outcome: found, clear, skipped or error. A failed detector never stops the others."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, get_args

from reportgen.errors import ReportgenError
from reportgen.model import Basis, Effort, Parameter, Status, SubjectKind
from reportgen.settings import Settings
from reportgen.sqlfile import SqlFile, check_keys, near
from reportgen.warehouse import Result, SqlError, Warehouse

_FRONT: dict[str, type | tuple[type, ...]] = {
    "title": str,
    "issue": str,
    "doc": str,
    "finding": str,
    "action": str,
    "actions": dict,
    "effort": str,
    "burden": int,
    "failure_reduction": int,
    "subject_kind": str,
    "needs": list,
    "minimum": dict,
    "params": dict,
    "columns": dict,
}
_PARAM: dict[str, type | tuple[type, ...]] = {"default": (Decimal, int, str, bool), "unit": str, "doc": str}
_COLUMN: dict[str, type | tuple[type, ...]] = {"label": str, "unit": str}
#: What a detector may ask a minimum of, and how it is said.
COUNTS = {
    "events": "events",
    "runs": "runs",
    "feedback_rows": "feedback rows",
    "healing_attempts": "healing attempts",
}
_REQUIRED = ("pipeline", "subject", "observed", "baseline", "threshold", "occurrences", "affected_runs", "total_runs")
_OPTIONAL = ("saving", "saving_of", "saving_basis", "subject_kind", "subject_key", "labels", "wait")
UNITS = ("events", "runs", "rows", "days", "cost", "usd", "tokens", "share", "score", "times", "time", "date", "text")

#: The table `findings` in the warehouse, which scoring and charts read.
FINDINGS = (
    "finding_no integer, detector varchar, pipeline varchar, subject varchar, subject_kind varchar,"
    " subject_key varchar, observed decimal(38, 12), baseline decimal(38, 12), threshold decimal(38, 12),"
    " occurrences bigint, affected_runs bigint, total_runs bigint, saving decimal(38, 12), saving_of decimal(38, 12),"
    " saving_basis varchar, labels varchar[], wait boolean, effort varchar, burden integer, failure_reduction integer"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectorFile:
    """A detector as its file declares it, with the parameters in force."""

    file: SqlFile
    title: str
    issue: str
    doc: str
    finding: str
    action: str
    actions: Mapping[str, str]
    effort: Effort
    burden: int
    failure_reduction: int
    subject_kind: SubjectKind
    needs: tuple[str, ...]
    minimum: Mapping[str, int]
    parameters: tuple[Parameter, ...]
    values: Mapping[str, Decimal | int | str | bool]
    columns: Mapping[str, tuple[str, str | None]]
    broken: ReportgenError | None = None


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


SLOT = re.compile(r"\{([a-z_][a-z0-9_]*)(:n)?\}")


def read_detector(file: SqlFile, settings: Settings) -> DetectorFile:
    """Check a file's front matter and put the settings' parameters in.

    A file that is wrong gives a DetectorFile with its `broken` error, which becomes its outcome. Raises ReportgenError
    only where the settings are wrong.
    """
    try:
        if file.broken is not None:
            raise file.broken
        return _read(file, settings)
    except ReportgenError as error:
        if not error.where.startswith(file.name) and file.broken is None:
            raise
        name = file.id.replace("_", " ").capitalize()
        return DetectorFile(
            file=file, title=str(file.front.get("title", name)), issue=name, doc="", finding="", action="", actions={},
            effort="M", burden=0, failure_reduction=0, subject_kind="agent", needs=(), minimum={}, parameters=(),
            values={}, columns={}, broken=error,
        )  # fmt: skip


def _read(file: SqlFile, settings: Settings) -> DetectorFile:
    front = file.front
    check_keys(file, front, _FRONT, "")
    for key in ("title", "action", "finding"):
        if not str(front.get(key, "")).strip():
            raise file.problem(f"front matter needs '{key}'", f'Add {key} = "…" between /*--- and ---*/.')
    effort = front.get("effort", "M")
    if effort not in get_args(Effort):
        raise file.problem(f"effort must be S, M or L, not '{effort}'", key="effort")
    kind = front.get("subject_kind", "agent")
    if kind not in get_args(SubjectKind):
        raise file.problem(f"subject_kind must be one of {', '.join(get_args(SubjectKind))}", key="subject_kind")
    burden, failure = int(front.get("burden", 0)), int(front.get("failure_reduction", 0))
    if not 0 <= burden <= 25:
        raise file.problem("burden must be from 0 to 25", key="burden")
    if failure and not 21 <= failure <= 25:
        raise file.problem("failure_reduction, where declared, must be from 21 to 25", key="failure_reduction")
    needs = tuple(str(n) for n in front.get("needs", []))
    for need in needs:
        if need not in ("events", "feedback", "healing", "budget"):
            raise file.problem(f"needs: unknown input '{need}'", "Known: events, feedback, healing, budget.", "needs")
    check_keys(file, front.get("minimum", {}), dict.fromkeys(COUNTS, int), " in [minimum]")
    columns: dict[str, tuple[str, str | None]] = {}
    for name, entry in front.get("columns", {}).items():
        check_keys(file, entry, _COLUMN, f" in [columns.{name}]")
        unit = entry.get("unit")
        if unit is not None and unit not in UNITS:
            raise file.problem(f"unknown unit '{unit}'{near(unit, UNITS)}", f"Known: {', '.join(UNITS)}.", name)
        columns[name] = (str(entry.get("label", name.replace("_", " "))), unit)
    parameters, values = _parameters(file, settings)
    return DetectorFile(
        file=file,
        title=front["title"],
        issue=front.get("issue", front["title"]),
        doc=str(front.get("doc", "")).strip(),
        finding=front["finding"],
        action=front["action"],
        actions={str(k): str(v) for k, v in front.get("actions", {}).items()},
        effort=effort,
        burden=burden,
        failure_reduction=failure,
        subject_kind=kind,
        needs=needs,
        minimum=front.get("minimum", {}),
        parameters=parameters,
        values=values,
        columns=columns,
    )


def _parameters(
    file: SqlFile, settings: Settings
) -> tuple[tuple[Parameter, ...], dict[str, Decimal | int | str | bool]]:
    declared = file.front.get("params", {})
    given = settings.parameters.get(file.id, {})
    place = settings.file.name if settings.file else "settings"
    for name in given:
        if name not in declared:
            raise ReportgenError(
                place, f"unknown parameter '{name}' in [detectors.{file.id}]{near(name, list(declared))}",
                f"{file.name} declares: {', '.join(declared) or 'none'}.",
            )  # fmt: skip
    shown, values = [], {}
    for name, entry in declared.items():
        check_keys(file, entry, _PARAM, f" in [params.{name}]")
        if "default" not in entry:
            raise file.problem(f"parameter '{name}' needs a default", "Add default = … under it.", name)
        default = entry["default"]
        value = given.get(name, default)
        numeric = isinstance(default, int | Decimal) and not isinstance(default, bool)
        if numeric != (isinstance(value, int | Decimal) and not isinstance(value, bool)) or (
            not numeric and type(value) is not type(default)
        ):
            raise ReportgenError(
                place, f"'{name}' in [detectors.{file.id}] must be of the kind of its default, {_plain(default)}",
                "See the detector's file.",
            )  # fmt: skip
        if numeric and Decimal(value) < 0:
            raise ReportgenError(place, f"'{name}' in [detectors.{file.id}] must not be negative", "Mend the value.")
        values[name] = value
        shown.append(Parameter(
            name=name, value=_plain(value), default=_plain(default), unit=entry.get("unit", ""), doc=entry.get("doc", "")
        ))  # fmt: skip
    return tuple(shown), values


def _plain(value: object) -> str:
    if isinstance(value, Decimal):
        text = f"{value:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_settings(files: Sequence[SqlFile], settings: Settings) -> None:
    """Refuse settings of a detector that does not exist, with the near name."""
    known = [file.id for file in files]
    for name in sorted(set(settings.parameters) | set(settings.disabled)):
        if name not in known:
            raise ReportgenError(
                settings.file.name if settings.file else "settings",
                f"unknown detector '{name}' in [detectors]{near(name, known)}",
                f"Known: {', '.join(known)}.",
            )


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
