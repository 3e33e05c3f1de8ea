"""Where report.json and the reference disagree, in words; an empty list is agreement in every field both know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from oracle import AgentAnswer, Answer, Finding
from oracle_reading import fold
from oracle_vfm import BURDEN
from random_projects import MadeProject

#: Quotients are rounded to 6 places for showing.
ROUNDED = Fraction(6, 10**7)
EFFORTS = "SML"

Check = tuple[str, object, object]


def disagreements(report: Mapping[str, Any], answer: Answer, made: MadeProject) -> list[str]:
    """Return one line for each difference: where, what the report says, what the rules say.

    Detectors that a project adds or switches on are not the reference's: it knows the four of SPEC 3.
    """
    report = {
        **report,
        "recommendations": [r for r in report["recommendations"] if r["detector"] in BURDEN],
        "detectors": [d for d in report["detectors"] if d["detector"] in BURDEN],
    }
    out: list[str] = []
    _keyed(out, "pipeline", report["pipelines"], answer.pipelines, lambda p: (p["pipeline"],), lambda p: (p.pipeline,))
    _keyed(out, "agent", _own_agents(report), answer.agents, _agent_key, lambda a: (fold(a.pipeline), a.agent))
    _keyed(out, "finding", report["recommendations"], answer.findings, _finding_key, _answer_key)
    checks = [*_pipelines(report, answer), *_agents(report, answer), *_findings(report, answer)]
    checks += [*_whole(report, answer), *_lines(report, made)]
    out += [f"{where}: report {ours!r}, rules {theirs!r}" for where, ours, theirs in checks if not _same(ours, theirs)]
    return out + _order(report, answer)


def _own_agents(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Agents that are in events or feedback; a report may also list those that only a roster names."""
    return [a for a in report["agents"] if a["events"] or a["feedback_rows"] or not a["in_roster"]]


def _keyed(
    out: list[str],
    what: str,
    ours: Iterable[Any],
    theirs: Iterable[Any],
    our_key: Callable[[Any], tuple[str, ...]],
    their_key: Callable[[Any], tuple[str, ...]],
) -> None:
    shown, right = Counter(map(our_key, ours)), Counter(map(their_key, theirs))
    out += [f"{what} {name}: in the report, not by the rules" for name in sorted((shown - right).elements())]
    out += [f"{what} {name}: by the rules, not in the report" for name in sorted((right - shown).elements())]


def _agent_key(agent: Mapping[str, Any]) -> tuple[str, ...]:
    return (fold(agent["pipeline"]), agent["agent"])


def _finding_key(finding: Mapping[str, Any]) -> tuple[str, ...]:
    return (finding["detector"], finding["pipeline"], finding["subject"])


def _answer_key(finding: Finding) -> tuple[str, ...]:
    return (finding.detector, finding.pipeline, finding.subject)


def _same(ours: object, theirs: object) -> bool:
    """Exact numbers come as text, quotients rounded to 6 places; None is only equal to None."""
    if isinstance(theirs, Fraction):
        if ours is None or isinstance(ours, bool):
            return False
        exact = Fraction(str(ours))
        return exact == theirs or (theirs.denominator > 1 and abs(exact - theirs) <= ROUNDED)
    return ours == theirs


def _pipelines(report: Mapping[str, Any], answer: Answer) -> Iterable[Check]:
    ours = {p["pipeline"]: p for p in report["pipelines"]}
    for right in answer.pipelines:
        if shown := ours.get(right.pipeline):
            for name in ("runs", "events", "cost_measure", "cost"):
                yield f"pipeline {right.pipeline}: {name}", shown[name], getattr(right, name)


def _agents(report: Mapping[str, Any], answer: Answer) -> Iterable[Check]:
    ours = {_agent_key(a): a for a in report["agents"]}
    fields = [name for name in AgentAnswer.__dataclass_fields__ if name not in ("agent", "pipeline")]
    for right in answer.agents:
        if shown := ours.get((fold(right.pipeline), right.agent)):
            for name in fields:
                yield f"agent {right.agent} in {right.pipeline}: {name}", shown[name], getattr(right, name)


def _findings(report: Mapping[str, Any], answer: Answer) -> Iterable[Check]:
    ours = {_finding_key(r): r for r in report["recommendations"]}
    for right in answer.findings:
        shown = ours.get(_answer_key(right))
        if shown is None:
            continue
        where = " ".join(("finding", *_answer_key(right)))
        for name in ("observed", "baseline", "threshold"):
            yield f"{where}: {name}", shown[name], getattr(right, name)
        for name in ("total", "frequency", "failure_reduction", "burden_reduction", "cost_savings"):
            yield f"{where}: vfm {name}", shown["vfm"][name], getattr(right.vfm, name)
        yield f"{where}: decision", shown["decision"], right.vfm.decision
        yield f"{where}: labels", sorted({"new", "retired"} & set(shown["labels"])), sorted(right.labels)
        if "new" not in right.labels and not (right.never_logged and shown["saving"] in (None, "0")):
            yield f"{where}: saving", shown["saving"], right.saving
            yield f"{where}: saving share", shown["saving_share"], right.share


def _whole(report: Mapping[str, Any], answer: Answer) -> Iterable[Check]:
    outcomes = Counter(i.outcome for i in answer.incidents)
    healing = report["healing"]
    yield "healing: attempts", healing["attempts"], sum(i.attempts for i in answer.incidents)
    yield "healing: incidents", healing["incidents"], len(answer.incidents)
    yield "healing: escalated", healing["escalated"], outcomes["escalated"]
    yield "healing: blocked", healing["blocked"], outcomes["blocked"]
    found = Counter(f.detector for f in answer.findings)
    for detector in report["detectors"]:
        name = detector["detector"]
        yield f"detector {name}: findings", detector["findings"], found[name]
        yield f"detector {name}: found", detector["status"] == "found", found[name] > 0
    recurring = {tag["tag"]: tag["rows"] for tag in report["patterns"] if tag["recurring"]}
    yield "recurring patterns", recurring, answer.recurring
    ids = [r["id"] for r in report["recommendations"]]
    yield "ids are unique", len(set(ids)), len(ids)


def _lines(report: Mapping[str, Any], made: MadeProject) -> Iterable[Check]:
    for row in report["inputs"]:
        if row["file"].endswith((".jsonl", ".gz")) and "cost-events" in row["file"]:
            used = made.lines - made.blank - made.rejected - made.duplicates
            yield "lines", row["lines"], made.lines
            yield "lines blank", row["blank"], made.blank
            yield "lines rejected", row["rejected"], made.rejected
            yield "lines duplicates", row["duplicates"], made.duplicates
            yield "lines used", row["used"], used
            yield "events", row["events"], used


def _order(report: Mapping[str, Any], answer: Answer) -> list[str]:
    """Total descending, effort S first, exact saving share descending (unknown last), id."""
    shares = {_answer_key(f): Fraction(0) if "new" in f.labels else f.share for f in answer.findings}
    open_ones = {_answer_key(f) for f in answer.findings if f.never_logged}

    def place(shown: Mapping[str, Any]) -> tuple[int, int, bool, Fraction, str]:
        share = shares.get(_finding_key(shown))
        if _finding_key(shown) in open_ones and shown["saving"] == "0":
            share = Fraction(0)
        total = -shown["vfm"]["total"]
        return (total, EFFORTS.index(shown["effort"]), share is None, -(share or Fraction(0)), shown["id"])

    shown = report["recommendations"]
    right = sorted(shown, key=place)
    return [
        f"order: place {n} has {_finding_key(a)}, by the rules {_finding_key(b)}"
        for n, (a, b) in enumerate(zip(shown, right, strict=True), 1)
        if a is not b
    ]
