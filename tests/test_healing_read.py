"""inputs/healing_log.py: what `heal` wrote comes back, and every other line has one fate (SPEC 2 and 7)."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reportgen.errors import ReportgenError
from reportgen.healing import heal
from reportgen.inputs.healing_log import HealingRead, read_healing
from reportgen.inputs.sources import Source
from reportgen.names import Names

ENTRY = {
    "timestamp": "2026-03-10T09:14:07.250Z",
    "agent": "Writer",
    "pipeline": "docs",
    "run_id": "r-7",
    "error_type": "timeout",
    "attempt": 2,
    "max_attempts": 5,
    "action": "retry-shorter-scope",
    "exit_code": 0,
    "delay_seconds": 0,
    "reason": "timeout, attempt 2 of 5",
    "context": "took 30 s",
}


def entry(**changes: object) -> str:
    return json.dumps({**ENTRY, **changes})


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "healing-log.jsonl"


def read(log: Path, content: str | bytes, names: Names | None = None) -> HealingRead:
    log.write_bytes(content.encode() if isinstance(content, str) else content)
    source = Source(path=log, name="healing-log.jsonl", kind="healing")
    result = read_healing(source, Names() if names is None else names, redact=True)
    (file,) = result.files
    assert file.used + file.rejected + file.blank == file.lines
    assert file.rejected == len(result.rejected)
    assert file.events == len(result.rows)
    assert (file.kind, file.file) == ("healing", "healing-log.jsonl")
    return result


def codes(result: HealingRead) -> dict[str, int]:
    return {notice.code: notice.count for notice in result.notices}


def test_an_entry(log: Path) -> None:
    names = Names()
    (row,) = read(log, entry() + "\n", names).rows
    spelled = {spelling.spelling_no: (spelling.kind, spelling.spelling) for spelling in names.rows()}
    assert (row.row_no, row.line, row.timestamp) == (0, 1, datetime(2026, 3, 10, 9, 14, 7, 250000))  # noqa: DTZ001
    assert row.agent_no is not None
    assert row.pipeline_no is not None
    assert row.run_no is not None
    assert spelled[row.agent_no] == ("agent", "Writer")
    assert spelled[row.pipeline_no] == ("pipeline", "docs")
    assert spelled[row.run_no] == ("run", "r-7")
    assert (row.error_type, row.attempt, row.max_attempts) == ("timeout", 2, 5)
    assert (row.action, row.exit_code, row.delay_seconds) == ("retry-shorter-scope", 0, Decimal(0))
    assert (row.reason, row.context) == ("timeout, attempt 2 of 5", "took 30 s")


def test_what_heal_writes_is_read_back(log: Path) -> None:
    kinds = ["timeout", "api-error", "permission-denied", "tool-not-found", "content-quality", "own type"]
    made = [
        heal("**Joe@X.com**", 1, error_type=kind, context=f"{kind} \u202e \x1b[31m for joe@x.com", run_id=f"r{n}", log=log,
             wait=False, clock=lambda: datetime(2026, 3, 10, 9, 14, 7, tzinfo=UTC))
        for n, kind in enumerate(kinds)
    ]  # fmt: skip
    names = Names()
    joe = names.agent("joe@x.com")
    result = read(log, log.read_bytes(), names)
    assert result.notices == ()
    for row, decision in zip(result.rows, made, strict=True):
        assert row.timestamp == datetime(2026, 3, 10, 9, 14, 7)  # noqa: DTZ001
        assert (row.error_type, row.action, row.exit_code) == (decision.error_type, decision.action, decision.exit_code)
        assert (row.attempt, row.max_attempts) == (1, decision.max_attempts)
        assert (row.delay_seconds, row.pipeline_no) == (Decimal(decision.delay_seconds), None)
    # The log knows the agent by a hash of the address; the events know the address.
    keys = {spelling.spelling_no: spelling.key_no for spelling in names.rows()}
    assert joe is not None
    assert {keys[row.agent_no] for row in result.rows if row.agent_no is not None} == {keys[joe]}


def test_names_and_sentinels_are_cleaned(log: Path) -> None:
    names = Names()
    who: list[tuple[object, object, object]] = [
        ("`@writer`", 7, " docs "),
        ("(unattributed)", None, None),
        ("unknown", "n/a", "default"),
        (["x"], {}, True),
    ]
    text = "".join(entry(agent=a, run_id=r, pipeline=p) + "\n" for a, r, p in who)
    result = read(log, text, names)
    spelled = {spelling.spelling_no: spelling.spelling for spelling in names.rows()}
    first, *others = result.rows
    assert [spelled[number] for number in (first.agent_no, first.run_no, first.pipeline_no) if number is not None] == [
        "writer",
        "7",
        "docs",
    ]
    assert [(row.agent_no, row.run_no, row.pipeline_no) for row in others] == [(None, None, None)] * 3
    assert codes(result) == {"healing-value": 1}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("not json", "not JSON"),
        ('{"action": "skip", }', "not JSON: a trailing comma"),
        ('{"action": "skip", "error_ty', "not JSON: the record is cut short"),
        ("[1, 2]", "not an object but an array"),
        ('{"tool": "Bash", "cost_usd": 1}', "no entry of a healing log: it has no action"),
        ('{"action": "skip"}', "no entry of a healing log: it has no error_type"),
        ('{"action": 7, "error_type": "x"}', "no entry of a healing log: it has no action"),
        (entry() + " and more", "not JSON: more text"),
        ("\x00" + entry(), "raw NUL bytes"),
    ],
)
def test_broken_and_foreign_lines_are_rejected_and_nothing_else(log: Path, line: str, reason: str) -> None:
    result = read(log, f"{entry()}\n{line}\n\n{entry()}\n")
    assert [row.line for row in result.rows] == [1, 4]
    ((number, why),) = [(rejected.line, rejected.reason) for rejected in result.rejected]
    assert number == 2
    assert why.startswith(reason)
    (file,) = result.files
    assert (file.lines, file.used, file.rejected, file.blank) == (4, 2, 1, 1)


def test_invalid_utf8_is_rejected(log: Path) -> None:
    result = read(log, entry().encode() + b"\n" + entry(context="@").encode().replace(b"@", b"\xff") + b"\n")
    assert [(line.line, line.reason) for line in result.rejected] == [(2, "not valid UTF-8")]


def test_the_last_line_may_still_be_being_written(log: Path) -> None:
    whole = entry()
    assert [line.reason for line in read(log, f"{whole}\n{whole[:40]}").rejected] == ["still being written"]
    assert read(log, f"{whole}\n{whole}").rejected == ()
    assert read(log, f"{whole}\n{whole[:40]}\n").rejected[0].reason != "still being written"


def test_two_entries_on_a_line_and_a_torn_one_glued_to_a_whole_one(log: Path) -> None:
    result = read(log, f"{entry(attempt=1)}{entry(attempt=2)}\n{entry()[:50]}{entry(attempt=3)}\n")
    assert [(row.line, row.attempt) for row in result.rows] == [(1, 1), (1, 2), (2, 3)]
    (file,) = result.files
    assert (file.used, file.events, file.broken_parts) == (2, 3, 1)
    assert codes(result) == {"torn-records": 1}


@pytest.mark.parametrize("value", [-1, 1.5, True, "two", [], "1e400", 2**63, "NaN"])
def test_an_unusable_number_is_missing_not_zero(log: Path, value: object) -> None:
    result = read(log, entry(attempt=value, exit_code=None) + "\n")
    assert [(row.attempt, row.exit_code) for row in result.rows] == [(None, None)]
    assert codes(result) == {"healing-value": 1}


def test_numeric_strings_count(log: Path) -> None:
    (row,) = read(log, entry(attempt="3", max_attempts=3.0, exit_code="2", delay_seconds="2.5") + "\n").rows
    assert (row.attempt, row.max_attempts, row.exit_code, row.delay_seconds) == (3, 3, 2, Decimal("2.500"))


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2026-03-10T09:14:07+02:00", datetime(2026, 3, 10, 7, 14, 7)),  # noqa: DTZ001
        (1773134047, datetime(2026, 3, 10, 9, 14, 7)),  # noqa: DTZ001
        ("yesterday", None),
        (None, None),
        ("0001-01-01T00:00:00Z", None),
    ],
)
def test_times(log: Path, value: object, moment: datetime | None) -> None:
    result = read(log, entry(timestamp=value) + "\n")
    assert [row.timestamp for row in result.rows] == [moment]
    assert codes(result) == ({} if moment else {"healing-time": 1})


def test_types_and_actions_have_one_spelling(log: Path) -> None:
    result = read(log, entry(error_type="API_Error", action="Retry Backoff") + "\n" + entry(action="reboot") + "\n")
    assert [(row.error_type, row.action) for row in result.rows] == [
        ("api-error", "retry-backoff"),
        ("timeout", "reboot"),
    ]
    assert codes(result) == {"healing-action": 1}


def test_texts_are_redacted(log: Path) -> None:
    secret = "gh" + "p_" + "a1B2" * 9
    line = entry(context=f"with {secret}", reason="ask joe@x.com", error_type=f"x {secret}", pipeline="/home/joe/p")
    names = Names()
    result = read(log, line + "\n" + line[:-30].replace("docs", secret) + "\n", names)
    assert secret not in repr(result)
    assert "joe" not in repr(result) + repr(names.rows())
    assert (result.rows[0].context, result.rows[0].reason) == ("with [token]", "ask [e-mail]")


def test_a_context_that_is_no_text(log: Path) -> None:
    (row,) = read(log, entry(context={"code": 7}) + "\n").rows
    assert row.context == '{"context":{"code":7}}'


def test_encodings_and_compression(log: Path) -> None:
    text = entry(agent="wrïter") + "\r\n" + entry() + "\r\n"
    for content in (
        b"\xef\xbb\xbf" + text.encode(),
        b"\xff\xfe" + text.encode("utf-16-le"),
        gzip.compress(text.encode()),
    ):
        assert [row.line for row in read(log, content).rows] == [1, 2]


def test_a_truncated_log_gives_what_could_be_unpacked(log: Path) -> None:
    text = "".join(entry(context=str(n * 7919 % 10007)) + "\n" for n in range(300))
    result = read(log, gzip.compress(text.encode(), mtime=0)[:-40])
    assert 200 < len(result.rows) < 300
    assert len(result.rejected) == 1
    assert "cut short" in result.rejected[0].reason


def test_an_empty_log_and_a_missing_one(log: Path) -> None:
    assert read(log, "").rows == ()
    with pytest.raises(ReportgenError) as caught:
        read_healing(Source(path=log.parent / "no.jsonl", name="no.jsonl", kind="healing"), Names(), redact=True)
    assert (caught.value.where, caught.value.exit_code) == ("no.jsonl", 3)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda x: st.lists(x, max_size=2),
    max_leaves=3,
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.dictionaries(st.sampled_from(sorted(ENTRY)), JSON, max_size=4).map(
            lambda changes: entry(**changes).encode("utf-8", "surrogatepass")
        )
        | st.binary(max_size=12).map(lambda b: b.replace(b"\n", b""))
        | st.sampled_from([b"", b"{}", b"{", entry().encode()[:60], entry().encode() * 2]),
        max_size=8,
    )
)
def test_any_log_is_read_and_its_account_adds_up(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]) -> None:
    log = tmp_path_factory.mktemp("logs") / "log.jsonl"
    content = b"\x20\n" + b"\n".join(lines)
    result = read(log, content)
    assert result.files[0].lines == content.count(b"\n") + (not content.endswith(b"\n"))
    for row in result.rows:
        assert row.attempt is None or 0 <= row.attempt < 2**63
        assert row.delay_seconds is None or 0 <= row.delay_seconds < 10**9
        assert row.action
        (row.reason + row.context + row.error_type).encode("utf-8")
