"""What a detector file declares: its front matter, checked, with the parameters in force."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, get_args

from reportgen.errors import ReportgenError
from reportgen.model import Effort, Parameter, SubjectKind
from reportgen.quickclass import dataclass
from reportgen.settings import Settings
from reportgen.sqlfile import SqlFile, key_problems, near, of_their_types, raise_first

_FRONT: dict[str, type | tuple[type, ...]] = {
    "title": str,
    "issue": str,
    "doc": str,
    "enabled": bool,
    "sessions": bool,
    "finding": str,
    "action": str,
    "actions": dict,
    "effort": str,
    "burden": int,
    "failure_reduction": int,
    "counts_failures": bool,
    "occurrences": list,
    "affected": str,
    "saving": str,
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
    "pipeline_runs": "runs of one pipeline",
    "days": "days with events",
    "priced_events": "events with a known cost in US dollars",
    "cache_events": "events with input and cache-read tokens",
    "feedback_rows": "reviews",
    "scores": "review scores",
    "agent_scores": "review scores of one agent",
    "tags": "feedback tags",
    "healing_attempts": "healing attempts",
    "incidents": "healing incidents",
    "reports": "reports of reviewers and of the healing log",
    "period_limits": "weekly or monthly limits in BUDGET.md",
}
UNITS = (
    "events", "runs", "reviews", "rows", "days", "cost", "usd", "tokens", "share", "score", "times", "time",
    "date", "text",
)  # fmt: skip

#: What units are called elsewhere. A span of time has no unit of its own but days.
_UNIT_NAMES = {
    **dict.fromkeys(("percent", "percents", "percentage", "%", "pct", "ratio", "fraction"), "share"),
    **dict.fromkeys(("dollar", "dollars", "$", "us$", "money", "price"), "usd"),
    **dict.fromkeys(("ms", "millisecond", "milliseconds", "s", "sec", "secs", "second", "seconds", "min", "mins",
                     "minute", "minutes", "h", "hour", "hours", "duration", "day", "d", "weeks"), "days"),
    **dict.fromkeys(("x", "factor", "multiple"), "times"),
    **dict.fromkeys(("timestamp", "datetime", "moment"), "time"),
    **dict.fromkeys(("points", "point", "rating"), "score"),
    **dict.fromkeys(("string", "str", "varchar", "words"), "text"),
}  # fmt: skip
_UNIT_STEPS = {"share": " A share is from 0 to 1.", "days": " A span of time is told in days, parts of a day included."}


def unit_problem(unit: str, place: str = "", *, also: str = "") -> tuple[str, str]:
    """Return what is wrong with a unit that there is not, with the one that is meant, and the next step."""
    name = unit.strip().lower()
    meant = name if name in UNITS else _UNIT_NAMES.get(name)
    hint = f"; did you mean '{meant}'?" if meant else near(name, UNITS)
    return f"unknown unit '{unit}'{place}{hint}", f"Known: {also}{', '.join(UNITS)}.{_UNIT_STEPS.get(meant or '', '')}"


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
    #: Whether reviews and incidents of the subject count: false where the action would not prevent a failure.
    counts_failures: bool
    #: What one occurrence is, and what several are: `("run with the agent", "runs with the agent")`.
    occurrences: tuple[str, str]
    #: What is counted as affected, several of it: `runs`, `dates with reviews`.
    affected: str
    #: How a saving is worked out and what it rests on, with slots; empty: not said.
    saving: str
    subject_kind: SubjectKind
    #: Whether it runs where the settings say nothing.
    enabled: bool
    needs: tuple[str, ...]
    minimum: Mapping[str, int]
    parameters: tuple[Parameter, ...]
    values: Mapping[str, Decimal | int | str | bool]
    columns: Mapping[str, tuple[str, str | None]]
    broken: ReportgenError | None = None


#: The inputs that a detector may need.
NEEDS = ("events", "feedback", "healing", "budget")
#: What a detector's occurrences are called where it does not say.
_OCCURRENCES = ("occurrence", "occurrences")
_NAME = re.compile(r"[a-z_][a-z0-9_]*")
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
            effort="M", burden=0, failure_reduction=0, counts_failures=True, occurrences=_OCCURRENCES, affected="runs",
            saving="", subject_kind="agent", enabled=file.front.get("enabled") is not False, needs=(), minimum={},
            parameters=(), values={}, columns={}, broken=error,
        )  # fmt: skip


def _read(file: SqlFile, settings: Settings) -> DetectorFile:
    raise_first(front_problems(file))
    front = file.front
    parameters, values = _parameters(file, settings)
    return DetectorFile(
        file=file,
        title=front["title"],
        issue=front.get("issue", front["title"]),
        doc=str(front.get("doc", "")).strip(),
        finding=front["finding"],
        action=front["action"],
        actions={str(k): str(v) for k, v in front.get("actions", {}).items()},
        effort=front.get("effort", "M"),
        burden=front.get("burden", 0),
        failure_reduction=front.get("failure_reduction", 0),
        counts_failures=front.get("counts_failures", True),
        occurrences=(str(named[0]), str(named[1])) if (named := front.get("occurrences")) else _OCCURRENCES,
        affected=front.get("affected", "runs"),
        saving=" ".join(str(front.get("saving", "")).split()),
        subject_kind=front.get("subject_kind", "agent"),
        enabled=front.get("enabled", True) or (front.get("sessions", False) and bool(settings.source)),
        needs=tuple(front.get("needs", [])),
        minimum=front.get("minimum", {}),
        parameters=parameters,
        values=values,
        columns={
            name: (str(entry.get("label", name.replace("_", " "))), entry.get("unit"))
            for name, entry in front.get("columns", {}).items()
        },
    )


def front_problems(file: SqlFile) -> Iterator[ReportgenError]:
    """Yield everything that is wrong with a detector's front matter, each with its `path:line`."""
    yield from key_problems(file, file.front, _FRONT)
    for key in ("title", "action", "finding"):
        if not str(file.front.get(key, "")).strip():
            yield file.problem(f"front matter needs '{key}'", f'Add {key} = "…" between /*--- and ---*/.')
    # What is of another type is told above; the rest is looked at all the same.
    front = of_their_types(file.front, _FRONT)
    for key, known in (("effort", get_args(Effort)), ("subject_kind", get_args(SubjectKind))):
        if key in front and front[key] not in known:
            what = f"{key} must be one of {', '.join(known)}, not '{front[key]}'{near(front[key], known)}"
            yield file.problem(what, key=key)
    if not 0 <= front.get("burden", 0) <= 25:
        yield file.problem("burden must be from 0 to 25", key="burden")
    if front.get("failure_reduction") and not 21 <= front["failure_reduction"] <= 25:
        yield file.problem("failure_reduction, where declared, must be from 21 to 25", key="failure_reduction")
    named = front.get("occurrences", list(_OCCURRENCES))
    if len(named) != 2 or not all(isinstance(word, str) and word.strip() for word in named):
        step = 'For example ["run with the agent", "runs with the agent"].'
        yield file.problem("occurrences must name one and several of what is counted", step, "occurrences")
    for need in front.get("needs", []):
        if need not in NEEDS:
            what = f"needs: unknown input '{need}'{near(str(need), NEEDS)}"
            yield file.problem(what, f"Known: {', '.join(NEEDS)}.", "needs")
    yield from key_problems(file, front.get("minimum", {}), dict.fromkeys(COUNTS, int), ("minimum",))
    for label, action in front.get("actions", {}).items():
        if not isinstance(action, str):
            yield file.problem(f"'{label}' in [actions] must be text in quotes", key=("actions", label))
    yield from column_problems(file)
    yield from _parameter_problems(file, front.get("params", {}))


def column_problems(file: SqlFile) -> Iterator[ReportgenError]:
    """Yield what is wrong with the [columns] of a detector or a chart."""
    columns = file.front.get("columns", {})
    for name, entry in columns.items() if isinstance(columns, Mapping) else ():
        yield from key_problems(file, entry, _COLUMN, ("columns", name))
        unit = of_their_types(entry, _COLUMN).get("unit")
        if unit is not None and unit not in UNITS:
            yield file.problem(*unit_problem(unit), ("columns", name, "unit"))


def _parameter_problems(file: SqlFile, params: Mapping[str, Any]) -> Iterator[ReportgenError]:
    for name, entry in params.items():
        at = ("params", name)
        if not _NAME.fullmatch(name) or name == "enabled":
            yield file.problem(f"a parameter can't be named '{name}'", "Use small letters, digits and _.", at)
        yield from key_problems(file, entry, _PARAM, at)
        if not isinstance(entry, Mapping):
            continue
        if "default" not in entry:
            # A key that is nearly it is told of as such.
            if not any(near(key, ["default"]) for key in entry if key not in _PARAM):
                yield file.problem(f"parameter '{name}' needs a default", "Add default = … under it.", at)
        elif is_number(entry["default"]) and not fits(Decimal(entry["default"])):
            what = f"parameter '{name}' must be from 0 to below 1e12, with at most 6 decimals"
            yield file.problem(what, "Mend the value.", (*at, "default"))


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
        default = entry["default"]
        value = given.get(name, default)
        numeric = is_number(default)
        if numeric != is_number(value) or (not numeric and type(value) is not type(default)):
            raise ReportgenError(
                place, f"'{name}' in [detectors.{file.id}] must be of the kind of its default, {_plain(default)}",
                "See the detector's file.",
            )  # fmt: skip
        if numeric and not fits(Decimal(value)):
            raise ReportgenError(
                place, f"'{name}' in [detectors.{file.id}] must be from 0 to below 1e12, with at most 6 decimals",
                "Mend the value.",
            )  # fmt: skip
        values[name] = value
        shown.append(Parameter(
            name=name, value=_plain(value), default=_plain(default), unit=entry.get("unit", ""),
            doc=entry.get("doc", ""),
        ))  # fmt: skip
    return tuple(shown), values


def is_number(value: object) -> bool:
    """Say whether a value of TOML is a number; a truth value is none."""
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def fits(value: Decimal) -> bool:
    """Say whether a parameter can be multiplied with any amount without losing a digit."""
    return value.is_finite() and 0 <= value < 10**12 and value == round(value, 6)


def counted(name: str, number: int) -> str:
    """Return a count of COUNTS in words: `1 day with events`, `1,204 days with events`."""
    words = COUNTS[name]
    if number == 1:
        words = re.sub(r"\b(event|run|day|score|review|tag|attempt|incident|report|limit)s\b", r"\1", words, count=1)
    return f"{number:,} {words}"


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
