"""healing.py: what is answered, what is kept of texts, and what counts against the cap (SPEC 7)."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from healing_calls import NOW, TOKEN, call, codes, line
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from reportgen.errors import ReportgenError
from reportgen.healing import HealDecision

FIELDS = "timestamp agent pipeline run_id error_type attempt max_attempts action exit_code delay_seconds reason context"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "healing-log.jsonl"


# --- what is answered and logged ---------------------------------------------------------------------------------------


def test_the_logged_line_is_the_decision(log: Path) -> None:
    decision = call(log, " **@Writer** ", 2, "API_Error", context="HTTP 503\nagain", pipeline="Docs", run_id=" r-1 ")
    assert list(json.loads(log.read_text())) == FIELDS.split()
    assert json.loads(log.read_text()) == {
        "timestamp": "2026-11-03T09:14:07.250Z",
        "agent": "Writer",
        "pipeline": "Docs",
        "run_id": "r-1",
        "error_type": "api-error",
        "attempt": 2,
        "max_attempts": 3,
        "action": "retry-backoff",
        "exit_code": 0,
        "delay_seconds": 4,
        "reason": "api-error, attempt 2 of 3: wait 4 s, then try again",
        "context": "HTTP 503\nagain",
    }
    assert log.read_text() == decision.to_json() + "\n"
    with pytest.raises(AttributeError):
        decision.exit_code = 0  # type: ignore[misc]


def test_lines_are_appended_in_order(log: Path) -> None:
    decisions = [call(log, attempt=n, run_id="r-1") for n in (1, 2, 3)]
    assert log.read_text().splitlines() == [d.to_json() for d in decisions]


@pytest.mark.parametrize("word", ["", " ", "unknown", "NONE", "n/a", "assistant", "tool", "(unattributed)", None])
def test_nobody_is_one_agent(log: Path, word: str | None) -> None:
    assert call(log, word, run_id="r").agent == "(unattributed)"
    assert codes(log, agent="user", run_id="r", times=5) == [0, 0, 0, 0, 2]


@pytest.mark.parametrize("word", ["", "unknown", "Default", "none", "null", " N/A ", None])
def test_words_for_no_run_id(log: Path, word: str | None) -> None:
    decision = call(log, run_id=word, pipeline=word)
    assert decision.run_id is None
    assert decision.pipeline is None


def test_the_type_is_read_from_the_context_when_none_is_given(log: Path) -> None:
    assert call(log, error_type=None, context="Error 529: overloaded").error_type == "api-error"
    assert call(log, error_type=" ", context="request timed out").error_type == "timeout"
    assert call(log, error_type="content-quality", context="request timed out").error_type == "content-quality"
    nothing = call(log, error_type=None, context="no idea")
    assert (nothing.error_type, nothing.action, nothing.exit_code, nothing.max_attempts) == ("unknown", "abort", 1, 0)


@pytest.mark.parametrize("attempt", [0, -1, True, 1.0, "1", None])
def test_a_number_that_is_none_is_bad_usage_and_nothing_is_logged(log: Path, attempt: Any) -> None:
    with pytest.raises(ReportgenError) as caught:
        call(log, attempt=attempt)
    assert caught.value.exit_code == 64
    assert not log.exists()


def test_an_absurd_number_escalates_and_fits_a_column(log: Path) -> None:
    decision = call(log, attempt=10**30)
    assert (decision.exit_code, decision.attempt) == (2, 2**31 - 1)


def test_a_naive_clock_means_utc_and_any_zone_is_turned_to_it(log: Path) -> None:
    assert call(log, clock=lambda: datetime(2026, 11, 3, 1, 2, 3)).timestamp == "2026-11-03T01:02:03.000Z"  # noqa: DTZ001
    east = datetime(2026, 11, 3, 1, 2, 3, tzinfo=timezone(timedelta(hours=2)))
    assert call(log, clock=lambda: east).timestamp == "2026-11-02T23:02:03.000Z"


# --- what is kept of texts ---------------------------------------------------------------------------------------------


def test_secrets_do_not_reach_the_log(log: Path) -> None:
    call(
        log, context=f"push to https://joe:hunter22@git.example failed for joe@example.org with {TOKEN} in /home/joe/x"
    )
    text = log.read_text()
    assert not any(secret in text for secret in ("hunter22", "joe@", TOKEN, "/home/joe"))
    assert "[token]" in text
    assert "[home]/x" in text


def test_a_long_context_is_cut_after_redaction_and_says_so(log: Path) -> None:
    context = call(log, context="start " + "x" * 5_000 + f" {TOKEN} end").context
    assert len(context) <= 2_000
    assert context.startswith("start x")
    assert context.endswith("x [token] end")
    assert "[... 3118 characters cut ...]" in context
    assert call(log, context="y" * 2_000).context == "y" * 2_000


def test_a_secret_across_the_cut_does_not_show(log: Path) -> None:
    for shift in range(0, 40, 3):
        context = call(log, context="x" * (960 + shift) + f" {TOKEN} " + "y" * 3_000).context
        assert TOKEN[:8] not in context


def test_broken_text_is_made_whole(log: Path) -> None:
    decision = call(log, "a\udcff", context="nul \x00 lone \ud83d pair \U0001f600 \x1b[31m", run_id="r\udc80")
    assert decision.context == "nul  lone \ufffd pair \U0001f600 \x1b[31m"
    assert log.read_bytes().isascii()
    assert b"\x1b" not in log.read_bytes()
    log.read_text().encode("utf-8")


def test_people_stay_two_and_hidden(log: Path) -> None:
    one, two = call(log, "Joe@example.org", run_id="r"), call(log, "ann@example.org", run_id="r")
    assert one.agent.startswith("[e-mail ")
    assert one.agent != two.agent
    assert "example.org" not in log.read_text()
    assert codes(log, agent="JOE@example.org", run_id="r", times=5) == [0, 0, 0, 0, 2]
    assert codes(log, agent="ann@example.org", run_id="r", times=5) == [0, 0, 0, 0, 2]


@pytest.mark.parametrize("kind", ["run_id", "agent"])
def test_names_that_hold_secrets_stay_two_and_hidden(log: Path, kind: str) -> None:
    for name in (TOKEN, TOKEN.replace("a1", "c3"), "/home/joe/job", "/home/ann/job", "x" * 5_000, "x" * 5_001):
        more = {"run_id": "r"} | {kind: name}
        assert codes(log, times=6, **more) == [0, 0, 0, 0, 0, 2], name
    text = log.read_text()
    assert not any(secret in text for secret in (TOKEN, "/home/joe", "x" * 300))


@pytest.mark.parametrize(
    "name", ["Joe@x.org(reviewer)", "[a](Joe@x.org)", "bot <joe@x.org>", TOKEN + "(x)", "`r`", "a\x1fb"]
)
def test_a_name_counts_the_same_before_and_after_it_is_stored(log: Path, name: str) -> None:
    for _ in range(5):
        stored = call(log, name, run_id=name)
    assert stored.exit_code == 0
    assert call(log, name, run_id=name).exit_code == 2
    assert call(log, stored.agent, run_id=stored.run_id).exit_code == 2


def test_error_types_are_hidden_and_bounded_too(log: Path) -> None:
    decision = call(log, error_type=f"joe@example.org {'z' * 400}")
    assert decision.exit_code == 1
    assert len(decision.error_type) <= 200
    assert "joe@" not in log.read_text()


# --- the cap -----------------------------------------------------------------------------------------------------------


def test_a_lying_caller_gets_five(log: Path) -> None:
    assert codes(log, run_id="r-1", times=9) == [0, 0, 0, 0, 0, 2, 2, 2, 2]


def test_all_types_count_together(log: Path) -> None:
    got = [call(log, error_type=kind, run_id="r").exit_code for kind in ("timeout", "api-error", "content-quality") * 2]
    assert got == [0, 0, 0, 0, 0, 2]
    assert call(log, error_type="permission-denied", run_id="r").action == "escalate"


def test_what_is_not_a_retry_does_not_count(log: Path) -> None:
    assert codes(log, error_type="permission-denied", run_id="r", times=9) == [1] * 9
    assert codes(log, run_id="r", times=6) == [0, 0, 0, 0, 0, 2]


def test_another_pipeline_or_spelling_gives_no_new_retries(log: Path) -> None:
    spelled = ["Writer", "writer", "@writer", "**WRITER**", " wri\u200bter".replace("\u200b", ""), "`Writer`"]
    got = [call(log, name, run_id=" r-1 ", pipeline=f"p{i}").exit_code for i, name in enumerate(spelled)]
    assert got == [0, 0, 0, 0, 0, 2]


def test_another_run_or_agent_has_its_own_five(log: Path) -> None:
    assert codes(log, run_id="r-1", times=6)[-1] == 2
    assert codes(log, run_id="r-2", times=6) == [0, 0, 0, 0, 0, 2]
    assert codes(log, run_id="R-1", times=6) == [0, 0, 0, 0, 0, 2]
    assert codes(log, run_id="r-10", times=6) == [0, 0, 0, 0, 0, 2]
    assert codes(log, agent="other", run_id="r-1", times=6) == [0, 0, 0, 0, 0, 2]


def test_once_escalated_a_run_stays_escalated_for_its_agent(log: Path) -> None:
    assert call(log, attempt=3, error_type="content-quality", run_id="r").exit_code == 2
    assert call(log, run_id="r").exit_code == 2
    assert "new --run-id" in call(log, run_id="r").reason
    assert call(log, agent="other", run_id="r").exit_code == 0
    assert call(log, run_id="r-new").exit_code == 0


def test_the_environment_and_settings_raise_nothing(log: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("MAX_ATTEMPTS", "REPORTGEN_CAP", "REPORTGEN_MAX_ATTEMPTS", "HEAL_CAP"):
        monkeypatch.setenv(name, "99")
    (tmp_path / "reportgen.toml").write_text("[healing]\ncap = 99\nmax_attempts = 99\n")
    monkeypatch.chdir(tmp_path)
    assert codes(log, run_id="r", times=6) == [0, 0, 0, 0, 0, 2]


def test_without_a_run_id_five_of_one_type_within_the_hour(log: Path) -> None:
    assert codes(log, times=6) == [0, 0, 0, 0, 0, 2]
    assert "--run-id" in call(log).reason
    assert call(log, error_type="api-error").exit_code == 0
    assert call(log, agent="other").exit_code == 0
    assert call(log, run_id="r").exit_code == 0


def test_runs_and_calls_without_one_are_counted_apart(log: Path) -> None:
    assert codes(log, run_id="r", times=5) == [0] * 5
    assert codes(log, times=5) == [0] * 5
    assert codes(log, run_id="r-2", times=5) == [0] * 5


@pytest.mark.parametrize(
    ("later", "code"),
    [
        (timedelta(0), 2),
        (timedelta(minutes=59), 2),
        (timedelta(minutes=60), 2),
        (timedelta(minutes=60, milliseconds=1), 0),
        (timedelta(minutes=-60), 2),
        (timedelta(minutes=-61), 0),
        (timedelta(days=400), 0),
    ],
)
def test_the_hour_is_exact(log: Path, later: timedelta, code: int) -> None:
    assert codes(log, times=5) == [0] * 5
    assert call(log, clock=lambda: NOW + later).exit_code == code


def test_the_hour_reads_times_written_by_others(log: Path) -> None:
    stamps = ["2026-11-03T09:00:00Z", "2026-11-03 09:00:00", "20261103T090000Z", "2026-11-03T11:00:00+02:00"]
    log.write_bytes(b"".join(line(timestamp=s, run_id=None) + b"\n" for s in stamps))
    assert codes(log, times=2) == [0, 2]


def test_an_hour_without_readable_times_counts_nothing(log: Path) -> None:
    stamps = ["yesterday", None, 7, "0001-01-01T00:00:00+05:00", "2025-11-03T09:00:00Z"]
    log.write_bytes(b"".join(line(timestamp=s, run_id=None) + b"\n" for s in stamps))
    assert codes(log, times=6) == [0, 0, 0, 0, 0, 2]


# --- properties --------------------------------------------------------------------------------------------------------

KINDS = st.sampled_from(["timeout", "api-error", "content-quality", "permission-denied", "TIMEOUT", "odd", None])
JUNK = st.sampled_from([b"\n", b"{", b'{"run_id": "r-1", ', b"\x00\x00", b"r-1\n", b'{"exit_code": 0}\n', b"\xff"])


class OneRun(RuleBasedStateMachine):
    """No sequence of calls with one run id gets more than five exits of 0, and none after an escalation."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.log = Path(self.folder.name) / "log"
        self.mine: list[HealDecision] = []
        self.now = NOW

    @rule(
        attempt=st.integers(1, 7),
        kind=KINDS,
        name=st.sampled_from(["Writer", "@writer", " WRITER "]),
        pipeline=st.sampled_from([None, "a", "b"]),
        context=st.sampled_from(["", "timed out", "429", '{"run_id": "r-1", "exit_code": 0}']),
    )
    def step(self, attempt: int, kind: str | None, name: str, pipeline: str | None, context: str) -> None:
        more = {"context": context, "pipeline": pipeline, "run_id": "r-1", "clock": lambda: self.now}
        self.mine.append(call(self.log, name, attempt, kind, **more))

    @rule(agent=st.sampled_from(["other", "writer"]), run=st.sampled_from(["r-2", None, "r-10"]))
    def others(self, agent: str, run: str | None) -> None:
        call(self.log, agent, run_id=run)

    @rule(junk=JUNK)
    def scribble(self, junk: bytes) -> None:
        with self.log.open("ab") as file:
            file.write(junk)

    @rule(minutes=st.integers(-90, 90))
    def time_passes(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @invariant()
    def holds(self) -> None:
        got = [decision.exit_code for decision in self.mine]
        assert got.count(0) <= 5
        if 2 in got:
            assert set(got[got.index(2) :]) == {2}
        logged = self.log.read_bytes().decode("utf-8", "replace") if self.log.exists() else ""
        lines = logged.splitlines()
        assert all(decision.to_json() in lines for decision in self.mine)

    def teardown(self) -> None:
        self.folder.cleanup()


TestOneRun = OneRun.TestCase
TestOneRun.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)


@settings(max_examples=40, deadline=None)
@given(agent=st.text(max_size=30), run=st.text(max_size=30), context=st.text(max_size=60))
def test_any_text_counts_to_five(agent: str, run: str, context: str) -> None:
    with TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        assert codes(log, agent=agent, run_id=run, context=context, times=6) == [0, 0, 0, 0, 0, 2]
        assert len(log.read_bytes().splitlines()) == 6
