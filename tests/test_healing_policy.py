"""healing_policy.py: the policy table of SPEC 7, the cap, and the rules that read an error type from words."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reportgen.healing_policy import CONTEXT_RULES, POLICY, Past, decide, fold_type, rule_of, type_from_context

DOCS = Path(__file__).parent.parent / "docs" / "healing.md"
NO_PAST = Past()

# SPEC 7, written out: error type -> action and exit code for attempt 1, 2, 3, 4, 5, 6.
ESC = ("escalate", 2)
SHORTER, BACKOFF, STRICTER = ("retry-shorter-scope", 0), ("retry-backoff", 0), ("retry-stricter-prompt", 0)
SKIP, ALERT, ABORT = ("skip", 1), ("alert-operator", 1), ("abort", 1)
TABLE = {
    "timeout": [SHORTER, SHORTER, SHORTER, SHORTER, SHORTER, ESC],
    "api-error": [BACKOFF, BACKOFF, BACKOFF, ESC, ESC, ESC],
    "content-quality": [STRICTER, STRICTER, ESC, ESC, ESC, ESC],
    "permission-denied": [SKIP, SKIP, SKIP, SKIP, SKIP, ESC],
    "tool-not-found": [ALERT, ALERT, ALERT, ALERT, ALERT, ESC],
    "unknown": [ABORT, ABORT, ABORT, ABORT, ABORT, ESC],
    "disk-on-fire": [ABORT, ABORT, ABORT, ABORT, ABORT, ESC],
}
CELLS = [(kind, n, *answer) for kind, row in TABLE.items() for n, answer in enumerate(row, 1)]


@pytest.mark.parametrize(("kind", "attempt", "action", "exit_code"), CELLS)
def test_every_cell_of_the_policy_table(kind: str, attempt: int, action: str, exit_code: int) -> None:
    verdict = decide(kind, attempt, NO_PAST)
    assert (verdict.action, verdict.exit_code) == (action, exit_code)
    assert verdict.delay_seconds == (2**attempt if action == "retry-backoff" else 0)


def test_attempts_allowed() -> None:
    allowed = {kind: rule_of(kind).attempts for kind in TABLE}
    assert allowed == {
        "timeout": 5,
        "api-error": 3,
        "content-quality": 2,
        "permission-denied": 0,
        "tool-not-found": 0,
        "unknown": 0,
        "disk-on-fire": 0,
    }


@pytest.mark.parametrize("kind", TABLE)
@pytest.mark.parametrize("attempt", [1, 2, 5, 6, 10**30])
def test_after_five_retries_everything_escalates(kind: str, attempt: int) -> None:
    assert decide(kind, attempt, Past(retries=5)).exit_code == 2
    assert decide(kind, attempt, Past(retries=0, escalated=True)).exit_code == 2
    assert decide(kind, attempt, Past(retries=5, by_run=False)).exit_code == 2


def test_four_retries_leave_a_fifth() -> None:
    assert decide("timeout", 1, Past(retries=4)).exit_code == 0
    assert decide("timeout", 1, Past(retries=4, by_run=False)).exit_code == 0


def test_the_reason_says_what_to_do() -> None:
    assert "--run-id" in decide("timeout", 1, Past(retries=5, by_run=False)).reason
    assert "new --run-id" in decide("timeout", 1, Past(retries=5)).reason
    assert "did you mean timeout?" in decide("time-out", 1, NO_PAST).reason
    assert "--error-type" in decide("unknown", 1, NO_PAST).reason


@pytest.mark.parametrize(
    "written", ["api-error", "API-Error", "api_error", "Api Error", "  API__ERROR ", "api-_error", "_api-error-"]
)
def test_spellings_of_an_error_type(written: str) -> None:
    assert fold_type(written) == "api-error"


# --- from words to a type -------------------------------------------------------------------------------------------

WORDS = {
    "api-error": [
        "429",
        "got 429",
        "HTTP 429",
        "http2 status=529",
        "Error code: 529 - {'type': 'error', 'error': {'type': 'overloaded_error'}}",
        "503 Service Unavailable",
        "server returned 500",
        "HTTP/1.1 502 Bad Gateway",
        "504 Gateway Timeout",
        "API rate limit exceeded",
        "ratelimit",
        "rate-limited, request timed out",
        "403 Forbidden: secondary rate limit",
        "anthropic.RateLimitError",
        "Model is overloaded",
        "RESOURCE_EXHAUSTED",
        "read ECONNRESET",
        "APIConnectionError",
    ],
    "timeout": [
        "timed out",
        "The operation TIMED OUT after 300 s",
        "TimeoutError",
        "httpx.ReadTimeout",
        "read_timeout",
        "DEADLINE_EXCEEDED",
        "context deadline exceeded",
        "connect ETIMEDOUT 10.0.0.1:443",
        "timed out while reading 500 lines",
        "exit code 124",
        "HTTP 408",
        "timed out waiting for permission prompt",
    ],
    "permission-denied": [
        "Permission denied",
        "bash: ./x.sh: Permission denied",
        "PermissionError: [Errno 13]",
        "EACCES",
        "Error: EPERM: operation not permitted, unlink",
        "403",
        "HTTP 403",
        "status: 401",
        "403 Forbidden",
        "access denied by policy",
        "missing permission: repo write",
    ],
    "tool-not-found": [
        "bash: pandoc: command not found",
        "Unknown tool: browse",
        "spawn npx ENOENT",
        "ENOENT: could not start tool browse",
        "No such tool available: Grepp",
        "ToolNotFoundError",
        "tool 'search' not found",
        'exec: "pandoc": executable file not found in $PATH',
        "'make' is not recognized as an internal or external command",
        "exit status 127",
    ],
    "content-quality": [
        "low score",
        "quality score 41 is below threshold",
        "Score too low: 41/100",
        "failed validation",
        "Output validation failed",
        "pydantic ValidationError",
        "schema mismatch",
        "SchemaMismatch in field title",
        "answer does not match the expected schema",
        "failed validation: expected 500 words",
        "invalid JSON in the answer",
    ],
    "unknown": [
        "",
        "something odd happened",
        "wrote 512 tokens in 503 ms",
        "at main.py:503",
        "see line 503",
        "price 4.29 and $529",
        "5000 items, 42900 rows",
        "ENOENT: no such file or directory, open 'notes.md'",
        "run r-503x ended",
        "runtime outage",
        "the third time out of ten",
        "5.03 and 1,429",
    ],
}


@pytest.mark.parametrize(("kind", "words"), [(kind, words) for kind, many in WORDS.items() for words in many])
def test_error_type_from_words(kind: str, words: str) -> None:
    assert type_from_context(words) == kind


def test_words_far_apart_and_over_lines() -> None:
    assert (
        type_from_context("Traceback (most recent call last):\n  File x\nTimeoutError:\n  timed\n   out") == "timeout"
    )


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300))
def test_any_text_has_a_type(text: str) -> None:
    assert type_from_context(text) in {*POLICY, "unknown"}


@pytest.mark.parametrize(
    "piece", ["A", "Aa", "tool ", "spawn ", "5", "a_", "command \n", "tool x ", "score a ", "timeout o"]
)
def test_hostile_context_takes_no_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    start = time.process_time()
    type_from_context(text)
    assert time.process_time() - start < 2


# --- the page says what the code does -------------------------------------------------------------------------------


def _rows(header: str) -> list[list[str]]:
    lines = DOCS.read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(header))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip().strip("`") for cell in line.strip("|").split("|")])
    return rows


def test_the_documented_policy_is_the_policy() -> None:
    rows = _rows("| error type | attempts |")
    assert [row[0] for row in rows] == [*POLICY, "anything else"]
    for kind, attempts, action, exit_code in rows:
        rule = rule_of(kind)
        assert (rule.attempts, rule.action) == (int(attempts), action)
        assert decide(kind, 1, NO_PAST).exit_code == int(exit_code)


def test_the_documented_rules_are_the_rules() -> None:
    rows = _rows("| error type | read from |")
    assert [(kind, words) for kind, words, _ in rows] == [(kind, words) for kind, words, _ in CONTEXT_RULES]
    for number, (kind, _, example) in enumerate(rows):
        assert type_from_context(example) == kind
        # The example is of this row and of none above it.
        text = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", example).casefold()
        assert [bool(re.search(pattern, text)) for _, _, pattern in CONTEXT_RULES[: number + 1]] == [False] * number + [
            True
        ]
