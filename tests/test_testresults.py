"""What machines get to see of a run, and how a difference reads."""

from __future__ import annotations

import json
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import settings as sized
from hypothesis import strategies as st

from reportgen import detectortest, testresults

HOSTILE = 'a <b>&amp; "q" ]]> \x1b[31m\x00\u202e\ud800 \ufffe'


def results() -> detectortest.TestRun:
    def make(case: str, outcome: testresults.Outcome, message: str = "") -> detectortest.CaseResult:
        return detectortest.CaseResult("busy", case, outcome, message, "sql/detectors/busy.test.md", 3)

    cases = (make("fine", "passed"), make(HOSTILE, "failed", f"expected\n{HOSTILE}"), make("odd", "error", "no mart"))
    return detectortest.TestRun(cases, ("untested",), (("busy", "ORDER BY does not break ties: it lacks pipeline"),))


def test_json_for_machines() -> None:
    value = json.loads(detectortest.as_json(results()))
    assert {key: value[key] for key in ("passed", "failed", "error", "missing")} == {
        "passed": 1, "failed": 1, "error": 1, "missing": ["untested"],
    }  # fmt: skip
    assert value["unordered"] == [{"detector": "busy", "what": "ORDER BY does not break ties: it lacks pipeline"}]
    assert value["results"][0] == {
        "detector": "busy", "case": "fine", "outcome": "passed", "message": "",
        "file": "sql/detectors/busy.test.md", "line": 3,
    }  # fmt: skip
    detectortest.as_json(results()).encode("utf-8")


def test_junit_is_well_formed_and_counts_add_up() -> None:
    text = detectortest.as_junit(results())
    root = ElementTree.fromstring(text.encode("utf-8"))
    assert root.tag == "testsuites"
    assert (root.get("tests"), root.get("failures"), root.get("errors"), root.get("skipped")) == ("4", "1", "1", "1")
    suites = {suite.get("name"): suite for suite in root}
    assert list(suites) == ["busy", "untested"]
    assert (suites["busy"].get("tests"), suites["untested"].get("skipped")) == ("3", "1")
    cases = suites["busy"].findall("testcase")
    assert [len(case) for case in cases] == [0, 1, 1]
    assert suites["busy"].findtext("system-err") == "warning: busy: ORDER BY does not break ties: it lacks pipeline"
    assert suites["untested"].find("system-err") is None
    assert cases[0].attrib == {"classname": "busy", "name": "fine", "file": "sql/detectors/busy.test.md", "line": "3"}
    failure = cases[1].find("failure")
    assert failure is not None
    assert failure.get("message") == "expected"
    assert str(failure.text).startswith('sql/detectors/busy.test.md:3\nexpected\na <b>&amp; "q" ]]> ')
    assert "\x1b" not in text
    assert "\u202e" not in text


@sized(max_examples=80, deadline=None)
@given(st.text())
def test_junit_is_well_formed_whatever_a_cell_holds(text: str) -> None:
    result = detectortest.CaseResult(text, text, "failed", text, text, 1)
    ElementTree.fromstring(detectortest.as_junit(detectortest.TestRun((result,), (text,))).encode("utf-8"))


@sized(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("12"))),
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("12"))),
)
def test_a_difference_holds_every_row_of_both_sides(
    expected: list[tuple[str, str]], got: list[tuple[str, str]]
) -> None:
    text = testresults.difference(("x", "y"), expected, got)
    assert (text == "") == (expected == got)
    if text:
        lines = text.splitlines()[2:]
        assert [
            tuple(line[1:].split()) for line in lines if line[0] == "-" or (line[0] == " " and "^" not in line)
        ] == expected
        assert [
            tuple(line[1:].split()) for line in lines if line[0] == "+" or (line[0] == " " and "^" not in line)
        ] == got
