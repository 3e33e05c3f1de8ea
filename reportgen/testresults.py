"""What came of the detectors' tests: results, the difference of two tables as a person reads it, JSON and JUnit."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Literal
from xml.etree import ElementTree  # Only written here; nothing is parsed.

from reportgen.quickclass import dataclass
from reportgen.render.prose import plain, visible

Outcome = Literal["passed", "failed", "error"]


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case. `message` is empty where it passed: else the difference, or what kept it from running."""

    detector: str
    case: str
    outcome: Outcome
    message: str
    #: Where the case stands: `sql/detectors/<id>.test.md` and the line of its heading (of the mistake, for an error).
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class TestRun:
    """Every case that was run, by detector, in the files' order; and the detectors that have no test file.

    `unordered`: the detectors whose rows may come in another order in another build, each with what its ORDER BY lacks.
    """

    results: tuple[CaseResult, ...]
    missing: tuple[str, ...]
    unordered: tuple[tuple[str, str], ...] = ()

    def count(self, outcome: Outcome) -> int:
        """Return how many cases ended so."""
        return sum(result.outcome == outcome for result in self.results)

    @property
    def passed(self) -> bool:
        """Say whether no case failed and none could not be run."""
        return all(result.outcome == "passed" for result in self.results)


def difference(columns: Sequence[str], expected: Sequence[Sequence[str]], got: Sequence[Sequence[str]]) -> str:
    """Return the rows one below the other: `-` is expected and missing, `+` came instead, `^` marks what differs.

    Empty where the two are the same, in the same order.
    """
    wanted, came = [tuple(row) for row in expected], [tuple(row) for row in got]
    if wanted == came:
        return ""
    clean = [tuple(plain(cell) for cell in row) for row in (columns, *wanted, *came)]
    widths = [max(len(row[i]) for row in clean) for i in range(len(columns))]

    def line(sign: str, row: Sequence[str]) -> str:
        return f"{sign} " + "  ".join(plain(c).ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()

    counts = f"expected {_rows(len(wanted))}, got {_rows(len(came))}"
    if sorted(wanted) == sorted(came):
        counts += ": the same rows in another order"
    lines = [counts, line(" ", columns)]
    for step, a, b, c, d in difflib.SequenceMatcher(None, wanted, came, autojunk=False).get_opcodes():
        if step == "equal":
            lines += [line(" ", row) for row in wanted[a:b]]
            continue
        pairs = min(b - a, d - c)
        for old, new in zip(wanted[a : a + pairs], came[c : c + pairs], strict=True):
            marks = ["^" * max(len(plain(x)), len(plain(y))) if x != y else "" for x, y in zip(old, new, strict=True)]
            lines += [line("-", old), line("+", new), line(" ", marks)]
        lines += [line("-", row) for row in wanted[a + pairs : b]]
        lines += [line("+", row) for row in came[c + pairs : d]]
    return "\n".join(lines)


def _rows(count: int) -> str:
    return "nothing" if count == 0 else "1 row" if count == 1 else f"{count} rows"


def as_json(run: TestRun) -> str:
    """Return the run for machines: counts by outcome, detectors without tests or order, and every case."""
    counts = {name: run.count(name) for name in ("passed", "failed", "error")}
    unordered = [{"detector": detector, "what": what} for detector, what in run.unordered]
    value = {
        **counts,
        "missing": list(run.missing),
        "unordered": unordered,
        "results": [asdict(result) for result in run.results],
    }
    return json.dumps(value, indent=2) + "\n"


#: What XML 1.0 can't hold, even escaped.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(run: TestRun) -> str:
    """Return JUnit XML: a suite a detector, a test case a case; a detector without tests is skipped. What an ORDER BY
    lacks stands in the suite's `system-err`: it fails no case.

    Times are left out: the same run gives the same bytes.
    """
    root = ElementTree.Element("testsuites", name="reportgen")
    _counts(root, run.results, len(run.missing))
    for detector in dict.fromkeys(result.detector for result in run.results):
        results = [result for result in run.results if result.detector == detector]
        suite = ElementTree.SubElement(root, "testsuite", name=_xml(detector))
        _counts(suite, results, 0)
        for result in results:
            case = ElementTree.SubElement(
                suite, "testcase", classname=_xml(detector), name=_xml(result.case), file=_xml(result.file),
                line=str(result.line),
            )  # fmt: skip
            if result.outcome != "passed":
                tag = "failure" if result.outcome == "failed" else "error"
                first = result.message.splitlines()[0] if result.message else ""
                problem = ElementTree.SubElement(case, tag, message=_xml(first), type=result.outcome)
                problem.text = _xml(f"{result.file}:{result.line}\n{result.message}")
        for what in (what for name, what in run.unordered if name == detector):
            ElementTree.SubElement(suite, "system-err").text = _xml(f"warning: {detector}: {what}")
    for detector in run.missing:
        suite = ElementTree.SubElement(root, "testsuite", name=_xml(detector))
        _counts(suite, (), 1)
        case = ElementTree.SubElement(suite, "testcase", classname=_xml(detector), name="(no test file)")
        ElementTree.SubElement(case, "skipped", message="no test file stands beside the detector")
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _counts(element: ElementTree.Element, results: Sequence[CaseResult], skipped: int) -> None:
    element.set("tests", str(len(results) + skipped))
    for key, outcome in (("failures", "failed"), ("errors", "error")):
        element.set(key, str(sum(result.outcome == outcome for result in results)))
    element.set("skipped", str(skipped))


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", visible(text))
