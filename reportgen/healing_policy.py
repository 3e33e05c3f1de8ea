"""What one failed step may do next (SPEC 7): the policy table, the cap, and the rules that read a type from an error.

Pure: no clock, no file. Whoever changes a number here changes `docs/healing.md` too; a test compares the two.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

from reportgen.frozen import frozen

#: Retries that one (run, agent) gets in all types together. A constant: no flag, setting or variable reaches it.
CAP = 5
#: Without a run id, retries of one (agent, error type) are counted over this long.
WINDOW = timedelta(minutes=60)

#: What no rule fits; like any type without a row it is an `abort`.
UNKNOWN = "unknown"

RETRY, STOP, ESCALATE = 0, 1, 2
USAGE, CANNOT_LOG, INTERRUPTED = 64, 74, 130


@frozen
class Rule:
    """One row of the policy table: how many attempts an error type gets, and what is done with each."""

    attempts: int
    action: str
    advice: str


ABORT = Rule(0, "abort", "nothing is known to help against it, so do not repeat the step")
POLICY: Mapping[str, Rule] = MappingProxyType(
    {
        "timeout": Rule(5, "retry-shorter-scope", "try again with a shorter scope"),
        "api-error": Rule(3, "retry-backoff", "wait, then try again"),
        "content-quality": Rule(2, "retry-stricter-prompt", "try again with a stricter prompt"),
        "permission-denied": Rule(0, "skip", "a retry cannot grant a permission, so skip the step"),
        "tool-not-found": Rule(0, "alert-operator", "an operator has to install or name the tool"),
    }
)


@frozen
class Past:
    """What the log already says about the caller: retries that count against the cap, and an earlier escalation."""

    retries: int = 0
    escalated: bool = False
    #: Whether the count is of one run (else of one agent and error type within `WINDOW`).
    by_run: bool = True


@frozen
class Verdict:
    """What the caller is told."""

    action: str
    exit_code: int
    delay_seconds: int
    reason: str


def rule_of(error_type: str) -> Rule:
    """Return the row of the table for a folded error type; the last row, `abort`, for any other text."""
    return POLICY.get(error_type, ABORT)


def decide(error_type: str, attempt: int, past: Past) -> Verdict:
    """Return what attempt number `attempt` (from 1) at a folded `error_type` leads to, given what is logged.

    The claimed number can only make the answer stricter: the cap holds from the log alone.
    """
    rule = rule_of(error_type)
    if past.by_run and past.escalated:
        return _escalate("this agent was already escalated in this run; a person resumes with a new --run-id")
    if past.retries >= CAP:
        if past.by_run:
            return _escalate(
                f"{past.retries} retries of this agent in this run are logged and {CAP} is the cap for all error types"
                " together; a person resumes with a new --run-id"
            )
        minutes = int(WINDOW.total_seconds() // 60)
        return _escalate(
            f"{past.retries} retries of this agent for {error_type} without a run id are logged within {minutes}"
            f" minutes and {CAP} is the cap; pass --run-id so that only the retries of one run count"
        )
    if attempt > CAP:
        return _escalate(f"attempt {attempt} is over the cap of {CAP}; a person has to look")
    if rule.attempts and attempt > rule.attempts:
        allowed = f"{rule.attempts} attempts"
        return _escalate(f"attempt {attempt} is over the {allowed} that {error_type} gets; a person has to look")
    if not rule.attempts:
        hint = "" if error_type in POLICY else _hint(error_type)
        return Verdict(rule.action, STOP, 0, f"{error_type}: {rule.advice}{hint}")
    delay = 2**attempt if rule.action == "retry-backoff" else 0
    advice = f"wait {delay} s, then try again" if delay else rule.advice
    return Verdict(rule.action, RETRY, delay, f"{error_type}, attempt {attempt} of {rule.attempts}: {advice}")


def _hint(error_type: str) -> str:
    if error_type == UNKNOWN:
        return "; if its type is known, pass --error-type"
    from difflib import get_close_matches

    near = get_close_matches(error_type, POLICY, n=1, cutoff=0.7)
    return f"; did you mean {near[0]}?" if near else f" (error types with an answer: {', '.join(POLICY)})"


def _escalate(reason: str) -> Verdict:
    return Verdict("escalate", ESCALATE, 0, reason)


def fold_type(text: str) -> str:
    """Return the one spelling of an error type: `API_Error`, `api error` and ` api-error ` are `api-error`."""
    return "-".join(re.split(r"[\s_-]+", text.casefold())).strip("-")


# --- from the words of an error to its type -------------------------------------------------------------------------

#: A status number that stands alone: not in a file name, a decimal, an amount or a line number, nor before a unit.
_BEFORE = r"(?<![\w.,#$/:])(?<!\bline )(?<!\blines )"
_AFTER = (
    r"(?![\w%]|[.,:]\d| ?(?:(?:milli|micro)?seconds?|secs?|ms|s|minutes?|min|hours?|tokens?|words?|lines?|characters?"
    r"|chars?|bytes?|[kmg]i?b|files?|rows?|items?|times|steps?|usd|cents?)\b)"
)
_STATUS = r"\b(?:https?[\w./]*|status|code|error|returned|got|response)(?: code)?[ :=(\"']{0,4}"
_SERVER = r"(?:429|529|5\d\d)"

#: (error type, what it is read from, pattern). Tried in this order; the first that fits decides. Patterns see the
#: text in lower case, white space squeezed, `_` and `-` between letters as blanks, `RateLimitError` as three words.
CONTEXT_RULES: tuple[tuple[str, str, str], ...] = (
    (
        "api-error",
        "rate limit, too many requests, overloaded, quota, a broken connection",
        r"\b(?:rate ?limit(?:s|ed|ing)?|too many requests|over ?loaded|throttl(?:ed|ing)|quota exceeded"
        r"|resource exhausted|internal server error|bad gateway|(?:service|temporarily) unavailable|gateway time ?out"
        r"|api (?:connection |status )?error|connection (?:error|reset|refused|aborted)"
        r"|econn(?:reset|refused|aborted))\b",
    ),
    ("api-error", "status 429, 529 or 5xx, named as a status", _STATUS + _SERVER + _AFTER),
    (
        "timeout",
        "timeout, timed out, deadline, status 408, exit code 124",
        r"\b(?:(?:\w*[a-z])?time ?outs?(?! of\b)|timed ?out|e?timedout|deadline|exit (?:code|status) 124)\b"
        r"|" + _STATUS + r"408" + _AFTER,
    ),
    (
        "permission-denied",
        "permission denied, access denied, forbidden, EACCES, EPERM, status 401 or 403",
        r"\b(?:permissions? (?:was |is )?denied|denied permission|access (?:was |is )?denied|not permitted|forbidden"
        r"|unauthori[sz]ed|not authori[sz]ed|eacces|eperm)\b|" + _STATUS + r"40[13]" + _AFTER,
    ),
    (
        "tool-not-found",
        "command not found, unknown tool, no such tool, ENOENT of a tool, exit code 127",
        r"\b(?:command not found|(?:unknown|no such|missing|unavailable|unrecogni[sz]ed) (?:tool|command|executable)s?"
        r"|no (?:tool|command) (?:named|called)"
        r"|(?:tool|executable|program|command|binary)(?: [\w.:\"'`/-]{1,80})? (?:was |is |file |could )?not (?:be )?"
        r"(?:found|available|installed|registered)"
        r"|not recogni[sz]ed as an? (?:internal|external|command|name of)"
        r"|(?:spawn|exec|tool|command|executable)\b[^\n]{0,200}\benoent"
        r"|enoent\b[^\n]{0,200}\b(?:spawn|exec|tool|command|executable)"
        r"|exit (?:code|status) 127)\b",
    ),
    (
        "content-quality",
        "low score, failed validation, schema mismatch, invalid or incomplete output",
        r"\b(?:(?:low|poor|bad) (?:\w+ )?(?:score|quality)|(?:score|quality) (?:\w+ ){0,2}(?:too )?(?:low|poor|below)"
        r"|below (?:the )?(?:\w+ )?threshold|fail(?:ed|s|ing)? (?:\w+ )?validations?"
        r"|validations? (?:has |have )?fail(?:ed|s|ure)?"
        r"|validation errors?|did not validate|schema (?:mismatch(?:es)?|violations?|errors?|validation)"
        r"|(?:does|do|did) not match (?:the |its )?(?:\w+ )?schema"
        r"|(?:invalid|malformed|incomplete|empty) (?:json|output|response|answer)|hallucinat\w+|acceptance criteria)\b",
    ),
    ("api-error", "429, 529 or 5xx standing alone", _BEFORE + _SERVER + _AFTER),
    (
        "permission-denied",
        "permission, or 401 or 403 standing alone",
        r"\bpermissions?\b|" + _BEFORE + r"40[13]" + _AFTER,
    ),
)
#: Rules look at no more than this much of an error text.
_READ = 200_000


def type_from_context(text: str) -> str:
    """Return the error type that the first fitting row of `CONTEXT_RULES` names; `UNKNOWN` if none does."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text[:_READ])
    text = re.sub(r"(?<=[a-z])[_-]+(?=[a-z])", " ", " ".join(text.casefold().split()))
    return next((kind for kind, _, pattern in CONTEXT_RULES if re.search(pattern, text)), UNKNOWN)
