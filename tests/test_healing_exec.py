"""`heal exec`: how a failure is named, what a further try is told, and that the command stays the caller's own."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from healing_calls import NOW, TOKEN

from reportgen.childprocess import Ended
from reportgen.errors import ReportgenError
from reportgen.healing import HealDecision, main
from reportgen.healing_exec import CODE_TYPES, VARIABLES, classify, run_healed
from reportgen.healing_policy import POLICY

EXEC = (sys.executable, "-B", "-m", "reportgen", "heal", "exec", "--agent", "writer")
DOCS = (Path(__file__).parent.parent / "docs" / "healing.md").read_text("utf-8")
TIMEOUT = Ended(1, tail="request timed out")
OVERLOADED = Ended(1, tail="HTTP 503 from upstream")
BAD = Ended(1, tail="output failed validation")
GOOD = Ended(0)


class Script:
    """A command that ends as it is told to, try after try (the last one for ever), and remembers its environments."""

    def __init__(self, *ends: Ended) -> None:
        self.ends = list(ends)
        self.told: list[dict[str, str]] = []
        self.decisions: list[HealDecision] = []
        self.problems: list[ReportgenError] = []
        self.slept: list[float] = []

    def execute(self, command: Sequence[str], environ: Mapping[str, str]) -> Ended:
        assert command == ["step"]
        self.told.append({name: value for name, value in environ.items() if name in VARIABLES})
        return self.ends.pop(0) if len(self.ends) > 1 else self.ends[0]

    def tell(self, what: HealDecision | ReportgenError) -> None:
        self.problems.append(what) if isinstance(what, ReportgenError) else self.decisions.append(what)

    def run(self, log: Path, **more: Any) -> Ended:
        given: dict[str, Any] = {"environ": {}, "sleep": self.slept.append, "clock": lambda: NOW}
        return run_healed(["step"], "writer", self.execute, self.tell, log=log, **(given | more))

    @property
    def actions(self) -> list[str]:
        return [decision.action for decision in self.decisions]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "healing-log.jsonl"


def logged(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


# --- how a failure is named -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ended", "kind"),
    [
        (Ended(124, tail="HTTP 503"), "timeout"),
        (Ended(142, signal.SIGALRM), "timeout"),
        (Ended(75), "api-error"),
        (Ended(77, tail="timed out"), "permission-denied"),
        (Ended(126), "permission-denied"),
        (Ended(127, tail="sh: 1: pandoc: not found"), "tool-not-found"),
        (Ended(1, tail="RateLimitError: slow down"), "api-error"),
        (Ended(2, tail="score too low"), "content-quality"),
        (Ended(139, signal.SIGSEGV, tail="deadline exceeded"), "timeout"),
        (Ended(1), "unknown"),
        (Ended(137, signal.SIGKILL), "unknown"),
    ],
)
def test_the_exit_code_names_the_type_else_the_words(ended: Ended, kind: str) -> None:
    assert classify(ended) == kind


def test_every_type_of_the_table_has_a_rule_and_the_page_has_the_table() -> None:
    assert set(CODE_TYPES.values()) <= set(POLICY)
    part = DOCS[DOCS.index("## Running a command") :]
    rows = re.findall(r"^\| (\d+)(?: or (\d+))? \| `([a-z-]+)` \|", part, re.MULTILINE)
    assert {int(code): kind for *codes, kind in rows for code in codes if code} == CODE_TYPES
    assert set(re.findall(r"`(REPORTGEN_HEAL_[A-Z_]+)`", part)) == set(VARIABLES)


def test_the_page_and_the_help_say_the_same_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exec", "--help"]) == 0
    page = capsys.readouterr().out
    for code, kind in CODE_TYPES.items():
        assert re.search(rf"exit [\d or]*\b{code}\b[\d or]* +{kind}", page)
    for word in (*VARIABLES, "--type", "--run-id", "--log", "--quiet", "64", "reportgen heal exec --agent writer"):
        assert word in page
    assert max(map(len, page.splitlines())) <= 100


# --- what follows ---------------------------------------------------------------------------------------------------


def test_a_command_that_succeeds_is_run_once_and_logs_nothing(log: Path) -> None:
    script = Script(GOOD)
    assert script.run(log) == GOOD
    assert script.told == [{}]
    assert not log.exists()


def test_a_further_try_is_told_what_allowed_it(log: Path) -> None:
    script = Script(TIMEOUT, OVERLOADED, GOOD)
    assert script.run(log, environ=dict.fromkeys(VARIABLES, "left over") | {"OTHER": "kept"}) == GOOD
    assert script.told == [
        {},
        {
            "REPORTGEN_HEAL_ACTION": "retry-shorter-scope",
            "REPORTGEN_HEAL_ATTEMPT": "1",
            "REPORTGEN_HEAL_MAX_ATTEMPTS": "5",
            "REPORTGEN_HEAL_TYPE": "timeout",
            "REPORTGEN_HEAL_REASON": "timeout, attempt 1 of 5: try again with a shorter scope",
        },
        {
            "REPORTGEN_HEAL_ACTION": "retry-backoff",
            "REPORTGEN_HEAL_ATTEMPT": "2",
            "REPORTGEN_HEAL_MAX_ATTEMPTS": "3",
            "REPORTGEN_HEAL_TYPE": "api-error",
            "REPORTGEN_HEAL_REASON": "api-error, attempt 2 of 3: wait 4 s, then try again",
        },
    ]
    assert script.slept == [4]


@pytest.mark.parametrize(
    ("ends", "more", "actions", "slept"),
    [
        ((TIMEOUT,), {}, ["retry-shorter-scope"] * 5 + ["escalate"], []),
        ((OVERLOADED,), {}, ["retry-backoff"] * 3 + ["escalate"], [2, 4, 8]),
        ((BAD,), {}, ["retry-stricter-prompt"] * 2 + ["escalate"], []),
        ((BAD, TIMEOUT, GOOD), {}, ["retry-stricter-prompt", "retry-shorter-scope"], []),
        ((OVERLOADED, TIMEOUT, BAD), {}, ["retry-backoff", "retry-shorter-scope", "escalate"], [2]),
        ((Ended(127),), {}, ["alert-operator"], []),
        ((Ended(77),), {}, ["skip"], []),
        ((Ended(3),), {}, ["abort"], []),
        ((Ended(127),), {"error_type": "API_Error"}, ["retry-backoff"] * 3 + ["escalate"], [2, 4, 8]),
        ((TIMEOUT,), {"error_type": "nonsense"}, ["abort"], []),
    ],
)
def test_the_policy_table_is_applied_with_its_waits(
    log: Path, ends: tuple[Ended, ...], more: dict[str, Any], actions: list[str], slept: list[int]
) -> None:
    script = Script(*ends)
    assert script.run(log, run_id="r-1", **more) == script.ends[0]
    assert script.actions == actions
    assert [row["action"] for row in logged(log)] == actions
    assert script.slept == slept
    assert [row["attempt"] for row in logged(log)] == list(range(1, len(actions) + 1))


@pytest.mark.parametrize("run_id", ["r-1", None])
def test_the_cap_holds_over_calls(log: Path, run_id: str | None) -> None:
    """A loop around `heal exec` gets no more retries than one call: five are logged, then it is a person's turn."""
    runs = 0
    for _ in range(4):
        script = Script(OVERLOADED)
        script.run(log, run_id=run_id)
        runs += len(script.told)
    assert sum(row["exit_code"] == 0 for row in logged(log)) == (3 if run_id else 5)
    assert runs == 4 + (3 if run_id else 5)


def test_a_command_that_removes_the_log_gets_no_more_than_five(log: Path) -> None:
    class Remover(Script):
        def execute(self, command: Sequence[str], environ: Mapping[str, str]) -> Ended:
            log.unlink(missing_ok=True)
            return super().execute(command, environ)

    script = Remover(TIMEOUT)
    script.run(log, run_id="r-1")
    assert len(script.told) == 6
    assert script.actions[-1] == "escalate"


def test_each_attempt_is_logged_before_it_is_made(log: Path) -> None:
    class Counter(Script):
        def execute(self, command: Sequence[str], environ: Mapping[str, str]) -> Ended:
            assert len(logged(log) if log.exists() else []) == len(self.told)
            return super().execute(command, environ)

    Counter(TIMEOUT).run(log)


def test_what_is_logged_has_the_names_and_a_redacted_context(log: Path) -> None:
    script = Script(Ended(3, tail=f"first\ntimed out, key {TOKEN}"), Ended(139, signal.SIGSEGV, "x"))
    script.run(log, pipeline="docs", run_id="r-7")
    first, second = logged(log)
    assert (first["agent"], first["pipeline"], first["run_id"]) == ("writer", "docs", "r-7")
    assert first["context"] == "exit code 3\nfirst\ntimed out, key [token]"
    assert second["context"] == "killed by SIGSEGV\nx"


@pytest.mark.parametrize("place", ["folder", "no/such/folder/log"])
def test_without_a_log_the_command_is_run_once(tmp_path: Path, place: str) -> None:
    (tmp_path / "folder").mkdir()
    script = Script(TIMEOUT)
    assert script.run(tmp_path / place) == TIMEOUT
    assert len(script.told) == 1
    (problem,) = script.problems
    assert problem.exit_code == 74
    assert "do not retry" in str(problem)


@pytest.mark.parametrize("ended", [Ended(130, asked=True), Ended(1, tail="timed out", asked=True)])
def test_a_command_that_was_asked_to_end_is_not_repeated(log: Path, ended: Ended) -> None:
    script = Script(ended)
    assert script.run(log) == ended
    assert (len(script.told), log.exists()) == (1, False)


# --- usage ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ((), "--agent"),
        (("--agent", "a"), "no command to run"),
        (("--agent", "a", "--"), "no command to run"),
        (("--agent", "--", "true"), "--agent needs a value"),
        (("--agent", "a", "--tpye", "x", "--", "true"), "did you mean --type?"),
        (("--agent", "a", "--attempt", "1", "--", "true"), "unknown flag"),
        (("--agent", "a", "--max-attempts=9", "--", "true"), "unknown flag"),
        (("--agent", "a", "--type", " ", "--", "true"), "--type needs a value"),
        (("true",), "--agent"),
    ],
)
def test_bad_usage_is_64_and_runs_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    args: tuple[str, ...],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    args = tuple(f"{tmp_path}/ran" if word == "true" else word for word in args)
    assert main(["exec", *args]) == 64
    output, errors = capfd.readouterr()
    assert says in errors
    assert "reportgen heal exec --help" in errors
    assert output == ""


@pytest.mark.parametrize("args", [("--", "echo", "-n", "--agent", "--"), ("echo", "-n", "--agent", "--")])
def test_what_follows_is_the_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], args: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["exec", "--agent=a", "--pipeline", "-p", *args]) == 0
    assert capfd.readouterr().out == "--agent --"


def test_self_healing_runs_commands_too(tmp_path: Path) -> None:
    code = "import sys; from reportgen.__main__ import self_healing; sys.exit(self_healing(sys.argv[1:]))"
    command = [sys.executable, "-B", "-c", code, "exec", "--agent", "a", "--", "sh", "-c", "exit 6"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 6
    assert done.stderr.startswith("self-healing exec: abort for a:")


def test_heal_itself_does_not_load_it(tmp_path: Path) -> None:
    code = (
        "import sys; from reportgen.healing import main\n"
        "main(['--agent', 'a', '--attempt', '1', '--error-type', 'skip'])\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-B", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "reportgen.healing" in loaded
    assert not loaded & {"subprocess", "threading", "reportgen.healing_exec", "reportgen.childprocess"}
