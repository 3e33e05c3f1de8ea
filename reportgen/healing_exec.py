"""A command, repeated as far as the policy table lets it be: run, look at how it failed, ask `heal`, wait, run again.

Whether a further try is allowed is decided by `heal` alone, from the log; nothing here counts, and nothing raises the
cap. Each attempt is logged and synced before it is made.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from reportgen.childprocess import Ended
from reportgen.errors import ReportgenError
from reportgen.healing import DEFAULT_LOG, LOCK_TIMEOUT, HealDecision, heal, utc_now
from reportgen.healing_policy import RETRY, type_from_context

#: Exit codes that name an error type, whatever stderr says. Those of `timeout`, of shells, and two of sysexits.
CODE_TYPES: Mapping[int, str] = MappingProxyType(
    {
        124: "timeout",
        128 + signal.SIGALRM: "timeout",
        75: "api-error",
        77: "permission-denied",
        126: "permission-denied",
        127: "tool-not-found",
    }
)
#: What a further try is told, in its environment.
VARIABLES = tuple(f"REPORTGEN_HEAL_{name}" for name in ("ACTION", "ATTEMPT", "MAX_ATTEMPTS", "TYPE", "REASON"))


def classify(ended: Ended) -> str:
    """Return the error type of a failure: by its exit code, else by the words of its stderr; `unknown` if neither."""
    return CODE_TYPES.get(ended.code) or type_from_context(ended.tail)


def run_healed(
    command: Sequence[str],
    agent: str,
    execute: Callable[[Sequence[str], Mapping[str, str]], Ended],
    tell: Callable[[HealDecision | ReportgenError], object],
    *,
    pipeline: str | None = None,
    run_id: str | None = None,
    error_type: str | None = None,
    log: str | os.PathLike[str] = DEFAULT_LOG,
    environ: Mapping[str, str] = os.environ,
    sleep: Callable[[float], object] = time.sleep,
    clock: Callable[[], datetime] = utc_now,
    lock_timeout: float = LOCK_TIMEOUT,
) -> Ended:
    """Run the command until it succeeds or no further try is allowed, and return how its last try ended.

    `execute` runs it once, with an environment; `tell` hears each decision, and why there could be none (a log that
    can't be written: then the command is not repeated). `error_type` wins over what exit code and stderr say. The first
    try has none of `VARIABLES`, each further one has the decision that allowed it. Somebody who asked the command to
    end is obeyed: nothing is decided or repeated then.
    """
    clean = {name: value for name, value in environ.items() if name not in VARIABLES}
    told: dict[str, str] = {}
    attempt = 0
    while True:
        ended = execute(command, clean | told)
        if ended.code == 0 or ended.asked:
            return ended
        attempt += 1
        how = f"killed by {_name(ended.signal)}" if ended.signal else f"exit code {ended.code}"
        try:
            decision = heal(
                agent,
                attempt,
                error_type=error_type or classify(ended),
                context=f"{how}\n{ended.tail}",
                pipeline=pipeline,
                run_id=run_id,
                log=log,
                wait=False,
                clock=clock,
                lock_timeout=lock_timeout,
            )
        except ReportgenError as error:
            tell(error)
            return ended
        tell(decision)
        if decision.exit_code != RETRY:
            return ended
        if decision.delay_seconds:
            sleep(decision.delay_seconds)
        facts = (decision.action, decision.attempt, decision.max_attempts, decision.error_type, decision.reason)
        told = dict(zip(VARIABLES, map(str, facts), strict=True))


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
