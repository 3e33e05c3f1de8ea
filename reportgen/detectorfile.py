"""What a detector file declares: its front matter, checked, with the parameters in force."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import get_args

from reportgen.errors import ReportgenError
from reportgen.model import Effort, Parameter, SubjectKind
from reportgen.settings import Settings
from reportgen.sqlfile import SqlFile, check_keys, near

_FRONT: dict[str, type | tuple[type, ...]] = {
    "title": str,
    "issue": str,
    "doc": str,
    "enabled": bool,
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
    "days": "days with events",
    "priced_events": "events with a known cost in US dollars",
    "cache_events": "events that tell input and cache-read tokens",
    "feedback_rows": "feedback rows",
    "scores": "review scores",
    "tags": "feedback tags",
    "healing_attempts": "healing attempts",
    "incidents": "healing incidents",
    "budget_limits": "limits in BUDGET.md",
}
UNITS = ("events", "runs", "rows", "days", "cost", "usd", "tokens", "share", "score", "times", "time", "date", "text")


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
    #: Whether it runs where the settings say nothing.
    enabled: bool
    needs: tuple[str, ...]
    minimum: Mapping[str, int]
    parameters: tuple[Parameter, ...]
    values: Mapping[str, Decimal | int | str | bool]
    columns: Mapping[str, tuple[str, str | None]]
    broken: ReportgenError | None = None


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
            effort="M", burden=0, failure_reduction=0, subject_kind="agent",
            enabled=file.front.get("enabled") is not False, needs=(), minimum={}, parameters=(), values={}, columns={},
            broken=error,
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
        enabled=bool(front.get("enabled", True)),
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
            name=name, value=_plain(value), default=_plain(default), unit=entry.get("unit", ""),
            doc=entry.get("doc", ""),
        ))  # fmt: skip
    return tuple(shown), values


def is_on(detector: DetectorFile, settings: Settings) -> bool:
    """Say whether a detector runs: as the settings say, else as its file does."""
    name = detector.file.id
    return name in settings.enabled or (detector.enabled and name not in settings.disabled)


def _plain(value: object) -> str:
    if isinstance(value, Decimal):
        text = f"{value:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_settings(files: Sequence[SqlFile], settings: Settings) -> None:
    """Refuse settings of a detector that does not exist, with the near name."""
    known = [file.id for file in files]
    for name in sorted({*settings.parameters, *settings.disabled, *settings.enabled}):
        if name not in known:
            raise ReportgenError(
                settings.file.name if settings.file else "settings",
                f"unknown detector '{name}' in [detectors]{near(name, known)}",
                f"Known: {', '.join(known)}.",
            )
