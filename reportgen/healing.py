"""One failed step, one bounded answer, one logged line (SPEC 7). Standard library only: this must start at once.

Order: lock the log, read what it says about the caller, decide, append, sync, unlock, then wait.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from reportgen.errors import ReportgenError
from reportgen.frozen import frozen
from reportgen.healing_journal import append, lines, locked, records
from reportgen.healing_policy import (
    CAP,
    ESCALATE,
    RETRY,
    USAGE,
    WINDOW,
    Past,
    decide,
    fold_type,
    rule_of,
    type_from_context,
)
from reportgen.names import UNATTRIBUTED, Kind, clean_name, fold, is_missing, squeeze
from reportgen.redact import find_secrets, redact_hashed

# Said so, not imported: typing would be a tenth of the time in which a hook starts.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEFAULT_LOG = "healing-log.jsonl"
#: Seconds to wait for the lock before giving up.
LOCK_TIMEOUT = 10.0
#: Characters kept of a context, and of a name.
CONTEXT_LIMIT, NAME_LIMIT = 2_000, 200
#: A claimed attempt number beyond this is logged as this, so that a reader's column holds it.
_ATTEMPT_LIMIT = 2**31 - 1
#: Characters of a context that are looked at. A command line can't carry more.
_READ_LIMIT = 200_000
#: Characters of a run id that every JSON writer spells alike; and a line's run id that consists of them, or is null.
_SURE = "[A-Za-z0-9._:-]+"
_PLAIN_RUN = re.compile(rf'"run_id": ?(?:"({_SURE})"|null)'.encode())


@frozen
class HealDecision:
    """One answer, and one line of the healing log: names are cleaned, texts redacted, `timestamp` is UTC.

    `exit_code`: 0 retry, 1 do not retry, 2 escalate. `delay_seconds`: the wait before the retry. `max_attempts`: what
    the error type gets (0: no retry). `pipeline` and `run_id` are None where none was given.
    """

    timestamp: str
    agent: str
    pipeline: str | None
    run_id: str | None
    error_type: str
    attempt: int
    max_attempts: int
    action: str
    exit_code: int
    delay_seconds: int
    reason: str
    context: str

    def to_json(self) -> str:
        """Return the one-line JSON object that is logged and printed; ASCII only, so that a terminal is safe."""
        return json.dumps({name: getattr(self, name) for name in self.__match_args__})


def utc_now() -> datetime:
    """Return the present instant, UTC."""
    return datetime.now(UTC)


def heal(
    agent: str | None,
    attempt: int,
    *,
    error_type: str | None = None,
    context: str = "",
    pipeline: str | None = None,
    run_id: str | None = None,
    log: str | os.PathLike[str] = DEFAULT_LOG,
    wait: bool = True,
    sleep: Callable[[float], object] = time.sleep,
    clock: Callable[[], datetime] = utc_now,
    lock_timeout: float = LOCK_TIMEOUT,
) -> HealDecision:
    """Decide what follows attempt number `attempt` (from 1) of a failed step, log it, and wait if it says so.

    Without `error_type` the type is read from `context`. With `wait`, `sleep(delay_seconds)` is called once the log is
    unlocked. `clock` gives now (naive means UTC). No argument raises the cap of 5 retries per (run, agent): it is
    counted from the log, whatever `attempt` claims.

    Raises ReportgenError with exit code 64 for an attempt that is no whole number from 1, and 74 where the attempt
    can't be logged (an unwritable log, no lock within `lock_timeout` seconds): such an attempt is not allowed.
    """
    if type(attempt) is not int or attempt < 1:
        raise ReportgenError("--attempt", f"{attempt!r} is not a whole number from 1", "Count attempts from 1.", USAGE)
    words = _readable(context)[:_READ_LIMIT]
    kind = _error_type(error_type, words)
    caller = _Caller.of(agent, run_id, kind)
    flow = _name("pipeline", pipeline)
    kept = _shorten(redact_hashed(words).strip())
    path = os.fspath(log)
    with locked(path, lock_timeout) as journal:
        # The clock is read under the lock, so that lines stand in the order of their times.
        now = _milliseconds(clock())
        verdict = decide(kind, attempt, _past(journal, caller, now))
        decision = HealDecision(
            timestamp=_stamp(now),
            agent=caller.agent,
            pipeline=flow,
            run_id=caller.run,
            error_type=kind,
            attempt=min(attempt, _ATTEMPT_LIMIT),
            max_attempts=rule_of(kind).attempts,
            action=verdict.action,
            exit_code=verdict.exit_code,
            delay_seconds=verdict.delay_seconds,
            reason=verdict.reason,
            context=kept,
        )
        append(journal, path, decision.to_json())
    if wait and decision.delay_seconds:
        sleep(decision.delay_seconds)
    return decision


def main(argv: Sequence[str], prog: str = "reportgen heal") -> int:
    """Run the command line: print the decision, return 0, 1 or 2 as it says, 64 bad usage, 74 not logged, 130.

    `exec` and a command: run that, healed, and return its exit code.
    """
    if argv and argv[0] == "exec":
        from reportgen import healing_exec_cli

        return healing_exec_cli.run(argv[1:], f"{prog} exec")
    from reportgen.healing_cli import run  # it imports this room

    return run(argv, prog)


# --- who calls ------------------------------------------------------------------------------------------------------


@frozen
class _Caller:
    """Whose retries count. A log line is compared as it was cleaned, and as it is stored after redaction."""

    agent: str
    run: str | None
    error_type: str
    agent_keys: frozenset[str]
    run_keys: frozenset[str]
    #: Bytes that a line of this run must contain, or None where no such text is sure.
    needle: bytes | None

    @classmethod
    def of(cls, agent: str | None, run_id: str | None, error_type: str) -> _Caller:
        shown, run = _name("agent", agent), _name("run", run_id)
        cleaned = squeeze(run_id or "")
        return cls(
            agent=shown or UNATTRIBUTED,
            run=run,
            error_type=error_type,
            agent_keys=frozenset({_agent_key(agent), _agent_key(shown)}),
            run_keys=frozenset({run, cleaned}) if run else frozenset(),
            needle=_sure_bytes(cleaned) if run == cleaned else None,
        )

    def made(self, record: Mapping[str, Any]) -> bool:
        """Say whether a record of the log is of this agent, and of this run or (without one) of this error type.

        The pipeline is not looked at: naming another one gives no new retries.
        """
        run = _text(record.get("run_id"))
        if self.run is not None:
            if squeeze(run) not in self.run_keys:
                return False
        elif not is_missing("run", squeeze(run)) or fold_type(_text(record.get("error_type"))) != self.error_type:
            return False
        return _agent_key(_text(record.get("agent"))) in self.agent_keys


def _name(kind: Kind, raw: str | None) -> str | None:
    """Return a name as it is stored: cleaned, redacted, bounded; None for the words that mean "none given"."""
    cleaned = squeeze(raw or "") if kind == "run" else clean_name(raw or "")
    return None if is_missing(kind, cleaned) else _safe(cleaned, cleaned if kind == "run" else fold(cleaned))


def _safe(cleaned: str, key: str) -> str:
    """Redact and bound a cleaned name; where that would make names equal, the hash of `key` keeps them apart."""
    safe = redact_hashed(cleaned)
    if len(safe) > NAME_LIMIT or (safe != cleaned and any(label != "e-mail" for label, _ in find_secrets(cleaned))):
        import hashlib  # not above: it loads OpenSSL, and most names need no hash

        safe = f"{safe[: NAME_LIMIT - 14]} #{hashlib.sha256(key.encode()).hexdigest()[:12]}"
    return safe


def _agent_key(name: str | None) -> str:
    """Return the form in which two agents are compared; all words for "nobody" are one agent, the empty one."""
    cleaned = clean_name(name or "")
    return "" if is_missing("agent", cleaned) else fold(cleaned)


def _sure_bytes(cleaned: str) -> bytes | None:
    """Return the longest part of a run id that every JSON writer spells alike, or None where there is none."""
    parts = re.findall(_SURE, cleaned)
    return max(parts, key=len).encode() if parts else None


def _text(value: object) -> str:
    """Return a name from the log as text; whole numbers are names too (SPEC 2)."""
    return value if isinstance(value, str) else str(value) if type(value) is int else ""


def _error_type(given: str | None, words: str) -> str:
    """Return the folded error type that was given, else the one that the context's words name."""
    cleaned = squeeze(given or "")
    kind = fold_type(cleaned)
    if not kind:
        return type_from_context(words)
    # A key is told by its capitals, which folding would take away.
    return fold_type(_safe(cleaned, kind)) if find_secrets(cleaned) else _safe(kind, kind)


# --- what the log says ----------------------------------------------------------------------------------------------


def _past(journal: int, caller: _Caller, now: datetime) -> Past:
    """Count the caller's logged retries, and look for an escalation, until one of them settles the answer."""
    by_run = caller.run is not None
    first, last = now - WINDOW, now + WINDOW
    early, late = _stamp(first).encode(), _stamp(last).encode()
    retries = 0
    for line in lines(journal, caller.needle):
        if _is_other_run(line, caller.run_keys) if by_run else _is_outside(line, early, late):
            continue
        for record in records(line):
            code = _exit_code(record)
            if code not in (RETRY, ESCALATE) or not caller.made(record):
                continue
            if by_run:
                if code == ESCALATE:
                    return Past(retries, escalated=True)
                retries += 1
            elif code == RETRY and (when := _instant(record.get("timestamp"))) and first <= when <= last:
                retries += 1
        if retries >= CAP:
            break
    return Past(retries, by_run=by_run)


def _exit_code(record: Mapping[str, Any]) -> int | None:
    """Return a record's exit code; where it has none, the one that its action means."""
    code = record.get("exit_code")
    if type(code) is int:
        return code
    action = _text(record.get("action"))
    return RETRY if action.startswith("retry-") else ESCALATE if action == "escalate" else None


def _is_other_run(line: bytes, runs: frozenset[str]) -> bool:
    """Say whether a line names plainly, and once, a run other than this, without parsing it."""
    named = _PLAIN_RUN.search(line)
    return named is not None and (named[1] or b"").decode() not in runs and line.count(b'"run_id"') == 1


def _is_outside(line: bytes, first: bytes, last: bytes) -> bool:
    """Say whether a line that starts as `heal` writes them is outside the window, without parsing it."""
    if not line.startswith(b'{"timestamp": "') or line.count(b'"timestamp"') != 1 or line[38:40] != b'Z"':
        return False
    return not first <= line[15:39] <= last


def _instant(value: object) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        return _milliseconds(datetime.fromisoformat(value.strip()))
    except (ValueError, OverflowError):
        return None


def _milliseconds(moment: datetime) -> datetime:
    """Return a moment as the log keeps it: UTC (naive means UTC), whole milliseconds."""
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


# --- what is kept of a text -----------------------------------------------------------------------------------------


def _readable(text: str) -> str:
    """Drop NUL and put U+FFFD for lone surrogates; line breaks stay."""
    text = text.replace("\x00", "")
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _shorten(text: str) -> str:
    """Keep `CONTEXT_LIMIT` characters: the start, and the end where errors say what they are; note what was cut."""
    if len(text) <= CONTEXT_LIMIT:
        return text
    head, tail = text[:1_000], text[-900:]
    return f"{head} [... {len(text) - 1_900} characters cut ...] {tail}"
