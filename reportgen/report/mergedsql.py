"""The SQL of several projects' reports as one: what is the same text is one file, what is not is told apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from reportgen.glossary import why_skipped
from reportgen.model import Detector, OffDetector, Parameter, Report, SqlText, Status
from reportgen.names import fold
from reportgen.report.renaming import Renaming
from reportgen.report.sqltexts import ELSEWHERE

_Parts = Sequence[tuple[Report, Renaming]]
#: From what must be told first to what can wait.
_STATUSES: tuple[Status, ...] = ("error", "found", "clear", "skipped")


def merged_sql(parts: _Parts) -> list[SqlText]:
    """Return every file once; a second text of one file is named after the project. Fills `files` of the renamings."""
    variants: dict[tuple[str, str], dict[str, list[tuple[SqlText, Renaming]]]] = {}
    for report, names in parts:
        for file in report.sql:
            # Both files of functions take part in one report, and have one name.
            kind = file.origin if file.kind == "macros" else ""
            variants.setdefault((file.file, kind), {}).setdefault(file.digest, []).append((file, names))
    kinds = list(dict.fromkeys(file.kind for report, _ in parts for file in report.sql))
    out = []
    for texts in variants.values():
        # The built-in one keeps its name, where it is among them.
        ordered = sorted(texts.values(), key=lambda owners: owners[0][0].origin != "built-in")
        for place, owners in enumerate(ordered):
            file, first = next((pair for pair in owners if pair[0].sql not in ("", ELSEWHERE)), owners[0])
            if place:
                told = f"{file.title} ({', '.join(names.project for _, names in owners)})"
                new = replace(
                    file, name=f"{file.name}--{first.slug}", file=_beside(file.file, first.slug), title=told
                )  # fmt: skip
                for _, names in owners:
                    names.files[file.file] = new.file
                file = new
            out.append(file)
    order = {kind: place for place, kind in enumerate(kinds)}
    return sorted(out, key=lambda file: (order[file.kind], file.name, file.origin))


def _beside(file: str, slug: str) -> str:
    return f"{file.removesuffix('.sql')}--{slug}.sql"


def merged_detectors(parts: _Parts) -> tuple[list[Detector], list[OffDetector]]:
    """Return every detector with what came of it in each project, and those that ran in none.

    One of another text gets a name of its own, after the first project that has it; fills `detectors` of the renamings.
    """
    variants: dict[str, dict[tuple[str, str], list[tuple[Detector, Renaming]]]] = {}
    for report, names in parts:
        for one in report.detectors:
            text = (one.digest, one.origin)
            variants.setdefault(one.detector, {}).setdefault(text, []).append((one, names))
    off: dict[str, dict[str, OffDetector]] = {}
    for report, names in parts:
        for two in report.detectors_off:
            off.setdefault(two.detector, {})[names.project] = two
    out = []
    for detector, texts in variants.items():
        ordered = sorted(texts.values(), key=lambda owners: owners[0][0].origin != "built-in")
        for place, owners in enumerate(ordered):
            switched = [] if place else list(off.get(detector, ()))
            made = _detector(owners, switched, many=len(parts) > 1)
            if place:
                first = owners[0][1]
                title = f"{made.title} ({', '.join(names.project for _, names in owners)})"
                made = replace(
                    made, detector=f"{detector}--{first.slug}", file=_beside(made.file, first.slug), title=title
                )  # fmt: skip
                for _, names in owners:
                    names.detectors[detector] = made.detector
            out.append(made)
    left = [next(iter(owners.values())) for name, owners in off.items() if name not in variants]
    return sorted(out, key=lambda one: one.detector), sorted(left, key=lambda one: one.detector)


def _detector(owners: Sequence[tuple[Detector, Renaming]], switched_off: Sequence[str], *, many: bool) -> Detector:
    ones = [one for one, _ in owners]
    status = min((one.status for one in ones), key=_STATUSES.index)
    messages = {names.project: why_skipped(one.message) for one, names in owners if one.status == status}
    message = ones[0].message
    if len({one.message for one in ones if one.status == status}) > 1:
        message = "; ".join(f"{project}: {said}" for project, said in messages.items())
    elif status not in ("skipped", "error"):
        message = None
    elif many:
        message = next(one.message for one in ones if one.status == status)
    failed = [(one.where, names) for one, names in owners if one.where is not None]
    told = {**dict(_told(owners)), **dict.fromkeys(switched_off, "switched off")}
    told = {project: told[project] for project in sorted(told, key=lambda name: (fold(name), name))}
    return replace(
        ones[0],
        status=status,
        findings=sum(one.findings for one in ones),
        message=message,
        where=None if not failed else ", ".join(names.within(str(where)) for where, names in failed),
        checked="; ".join(f"{project}: {words}" for project, words in told.items()) if many else ones[0].checked,
        parameters=_parameters(owners),
        sql=next((one.sql for one in ones if one.sql not in ("", ELSEWHERE)), ones[0].sql),
    )


def _told(owners: Sequence[tuple[Detector, Renaming]]) -> Iterator[tuple[str, str]]:
    for one, names in owners:
        if one.status == "skipped":
            yield names.project, f"not looked at, {why_skipped(one.message)}"
        elif one.status == "error":
            yield names.project, "it failed"
        else:
            yield names.project, one.checked or "looked at"


def _parameters(owners: Sequence[tuple[Detector, Renaming]]) -> list[Parameter]:
    values: dict[str, dict[str, list[str]]] = {}
    known: dict[str, Parameter] = {}
    for one, names in owners:
        for parameter in one.parameters:
            known.setdefault(parameter.name, parameter)
            values.setdefault(parameter.name, {}).setdefault(parameter.value, []).append(names.project)
    return [
        parameter
        if len(values[name]) == 1
        else replace(
            parameter, value=", ".join(f"{value} ({', '.join(owners)})" for value, owners in values[name].items())
        )
        for name, parameter in known.items()
    ]  # fmt: skip
