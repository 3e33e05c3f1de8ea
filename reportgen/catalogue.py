"""`reportgen detectors`: which there are, what came of them last, what is in force; and one of them explained."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from reportgen.detectorfile import COUNTS, DetectorFile, check_settings, is_on, read_detector
from reportgen.errors import ReportgenError
from reportgen.quickclass import dataclass
from reportgen.render.prose import plain
from reportgen.report.sqltexts import digest
from reportgen.resources import resource_dir
from reportgen.settings import Settings, load_settings
from reportgen.sqlfile import find_sql_files, near
from reportgen.sqltree import read_tree

NOT_RUN = "not run yet"
#: What of a detector file's contract each finding must have.
CONTRACT = ("pipeline", "subject", "observed", "baseline", "threshold", "occurrences", "affected_runs", "total_runs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One detector: what came of it in the last build, its parameters in force, and where its file is."""

    detector: str
    title: str
    #: `found`, `clear`, `skipped`, `error`, `off`, or `not run yet`.
    outcome: str
    findings: int | None
    #: Why it was skipped, or what is wrong with it.
    message: str | None
    #: The file has changed since that build.
    changed: bool
    parameters: Mapping[str, str]
    origin: str
    file: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """All there is to know about one detector."""

    listed: Listed
    issue: str
    doc: str
    finding: str
    action: str
    effort: str
    subject_kind: str
    needs: Sequence[str]
    minimum: Mapping[str, int]
    #: Name, value in force, default, unit, doc.
    parameters: Sequence[tuple[str, str, str, str, str]]
    #: Name, label and unit of each column that the SELECT names, in its order.
    columns: Sequence[tuple[str, str, str]]
    test_file: str | None
    #: Name of each case, and whether it expects rows.
    cases: Sequence[tuple[str, bool]]
    sql: str


def list_detectors(project: Path) -> list[Listed]:
    """Return every detector of a project by id. Raises ReportgenError where the settings are wrong."""
    settings = load_settings(project)
    last = _last(settings)
    return [_listed(one, settings, last) for one in _readings(settings)]


def explain(project: Path, name: str) -> Explained:
    """Return what there is to know about one detector. Raises ReportgenError for one there is not, with the near."""
    from reportgen.detectortest import find_test
    from reportgen.testfile import read_test_file
    from reportgen.warehouse import Warehouse

    settings = load_settings(project)
    found = {one.file.id: one for one in _readings(settings)}
    if name not in found:
        raise ReportgenError("detectors show", f"no detector '{name}'{near(name, list(found))}", _known(list(found)))
    one = found[name]
    with Warehouse() as store:
        items = list(read_tree(store.serialized(one.file.text)).items)
    described = [column for column in one.columns if column not in items]
    test = find_test(one.file, project)
    test_name = one.file.name.removesuffix(".sql") + ".test.md"
    cases = read_test_file(test, name=test_name).cases if test is not None else ()
    return Explained(
        listed=_listed(one, settings, _last(settings)),
        issue=one.issue,
        doc=one.doc,
        finding=one.finding,
        action=one.action,
        effort=one.effort,
        subject_kind=one.subject_kind,
        needs=one.needs,
        minimum=one.minimum,
        parameters=[(p.name, p.value, p.default, p.unit, p.doc) for p in one.parameters],
        columns=[
            (column, label, unit or "")
            for column in items + described
            for label, unit in [one.columns.get(column, (column.replace("_", " "), None))]
        ],
        test_file=None if test is None else test_name,
        cases=[(case.name, case.expected is not None and bool(case.expected.rows)) for case in cases],
        sql=one.file.text,
    )


def _known(names: Sequence[str]) -> str:
    return f"Known: {', '.join(names)}."


def _readings(settings: Settings) -> list[DetectorFile]:
    files = find_sql_files("detectors", resource_dir("sql"), settings.project / "sql")
    check_settings(files, settings)
    return [read_detector(file, settings) for file in files]


def _last(settings: Settings) -> dict[str, dict[str, Any]]:
    """Return the outcomes of the last build by detector; none where it left no report, or one that can't be read."""
    try:
        report = json.loads((settings.site / "data" / "report.json").read_text(encoding="utf-8"))
        return {str(one["detector"]): one for one in report["detectors"]}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _listed(one: DetectorFile, settings: Settings, last: Mapping[str, Mapping[str, Any]]) -> Listed:
    before = last.get(one.file.id)
    outcome, message, findings = NOT_RUN, None, None
    if one.broken is not None:
        outcome, message = "error", f"{one.broken.where}: {one.broken.what}"
    elif not is_on(one, settings):
        outcome = "off"
    elif before is not None:
        outcome, message = str(before.get("status", NOT_RUN)), before.get("message")
        findings = int(before.get("findings") or 0) if outcome in ("found", "clear") else None
    return Listed(
        detector=one.file.id,
        title=one.title,
        outcome=outcome,
        findings=findings,
        message=message,
        changed=before is not None and before.get("digest") != digest(one.file.text),
        parameters={p.name: p.value for p in one.parameters},
        origin=one.file.origin,
        file=one.file.name,
        path=str(one.file.path),
    )


# --- as text --------------------------------------------------------------------------------------------------------


def list_text(listed: Sequence[Listed]) -> str:
    """Return the list as a person reads it: one line each."""
    rows = [("DETECTOR", "LAST OUTCOME", "PARAMETERS", "FILE")]
    for one in listed:
        set_to = ", ".join(f"{name} = {value}" for name, value in one.parameters.items())
        where = one.file if one.origin == "project" else "built-in"
        rows.append((one.detector, _outcome(one), plain(set_to) or "none", plain(where)))
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    wrong = [f"{one.detector}: {plain(one.message)}" for one in listed if one.outcome == "error" and one.message]
    return "\n".join([*lines, *(["", *wrong] if wrong else []), ""])


def _outcome(one: Listed) -> str:
    words = {"found": f"{one.findings} found", "clear": "nothing found"}.get(one.outcome, one.outcome)
    return f"{words}, file changed since" if one.changed and one.outcome != "off" else words


def explain_text(one: Explained) -> str:
    """Return one detector explained, as a person reads it."""
    listed = one.listed
    own = listed.origin == "project"
    minimum = [f"{COUNTS[name]}: at least {count}" for name, count in one.minimum.items()]
    facts = [
        ("File", f"{listed.file} ({'of the project' if own else 'built-in'})"),
        ("Outcome", _outcome(listed) + (f": {plain(listed.message)}" if listed.message else "")),
        ("Needs", ", ".join([*one.needs, *minimum]) or "nothing in particular"),
        ("About", f"{one.subject_kind}s; effort {one.effort}"),
        ("Says", plain(one.finding)),
        ("Advises", plain(one.action)),
    ]
    lines = [f"{listed.detector}: {plain(listed.title)}", ""]
    lines += [f"{plain(line)}" for line in one.doc.splitlines()] + ([""] if one.doc else [])
    lines += [f"{name:<9}{text}" for name, text in facts]
    lines += ["", "Parameters" if one.parameters else "No parameters"]
    for name, value, default, unit, doc in one.parameters:
        changed = f" (default {default})" if value != default else ""
        lines.append(f"  {name} = {value}{changed} {plain(unit)}".rstrip())
        lines += [f"    {plain(doc)}"] if doc else []
    lines += ["", "Columns of a finding"]
    wide = max((len(name) for name, _, _ in one.columns), default=0)
    for name, label, unit in one.columns:
        mark = "*" if name in CONTRACT else " "
        described = "" if label == name.replace("_", " ") else plain(label)
        told = f"{described} ({unit})" if described and unit else described or unit
        lines.append(f"  {mark} {name:<{wide}}  {told}".rstrip())
    lines += ["  * every detector gives it; the others are evidence, or what scoring uses", "", "To change it"]
    lines += _how(one)
    lines += ["", f"Tests ({one.test_file})" if one.test_file else "No test stands beside it"]
    lines += [f"  {'hit      ' if hit else 'near miss'}  {plain(name)}" for name, hit in one.cases]
    return "\n".join([*lines, ""])


def _how(one: Explained) -> list[str]:
    name = one.listed.detector
    switch = "true" if one.listed.outcome == "off" else "false"
    table = [f"    {p[0]} = {p[1]}" for p in one.parameters[:1]] or []
    lines = ["  in reportgen.toml:", f"    [detectors.{name}]", *table, f"    enabled = {switch}"]
    if one.listed.origin == "project":
        return [*lines, f"  or edit {one.listed.file}"]
    own = f"sql/detectors/{name}.sql"
    return [
        *lines,
        f"  or with a file of the project that takes its place, {own}:",
        # The shell empties the target first: what is shown must not be read from it.
        f"    mkdir -p sql/detectors && reportgen detectors show {name} --sql > {name}.new && mv {name}.new {own}",
    ]


def as_objects(found: Sequence[Listed] | Explained) -> list[dict[str, Any]] | dict[str, Any]:
    """Return a list or one explanation for `--json`."""
    if isinstance(found, Explained):
        return {
            **asdict(found.listed),
            **{key: value for key, value in asdict(found).items() if key not in ("listed", "parameters", "columns")},
            "parameters": [dict(zip(("name", "value", "default", "unit", "doc"), p, strict=True)) for p in
                           found.parameters],
            "columns": [dict(zip(("name", "label", "unit"), c, strict=True)) for c in found.columns],
            "cases": [{"name": name, "hit": hit} for name, hit in found.cases],
        }  # fmt: skip
    return [asdict(one) for one in found]
