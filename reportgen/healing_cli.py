"""The command line of `heal` and `self-healing`: arguments in, one JSON object out, the exit code for a shell loop.

Not built with the other commands: their library would triple the time in which this one starts.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Sequence

from reportgen.errors import ReportgenError
from reportgen.healing import DEFAULT_LOG, HealDecision, heal
from reportgen.healing_policy import INTERRUPTED, POLICY, USAGE
from reportgen.redact import redact

# Said so, not imported: typing would be a tenth of the time in which a hook starts.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_DESCRIPTION = """\
Answer one failed step of an agent pipeline with one bounded recovery, and log it.
Prints the decision as one JSON object; the reason goes to stderr. Nothing is retried
here: the exit code tells your loop what to do."""

_EPILOG = """\
error types      attempts  action                 exit
{table}
  anything else         0  abort                  1
More attempts than that, or a sixth retry of one agent in one run whatever its
number says: escalate, exit 2. After that a person resumes with a new --run-id.

exit codes
  0   retry the step (retry-backoff has already waited 2^N seconds)
  1   do not retry
  2   escalate: a person has to look
  64  bad usage
  74  the attempt could not be logged, so it is not allowed
  130 interrupted while waiting; the attempt is logged

a shell loop
  run_id=$(date -u +%Y%m%dT%H%M%SZ)
  attempt=1
  until ./run-step.sh 2> step.err; do
    {prog} --agent writer --run-id "$run_id" --attempt "$attempt" \\
      --context "$(tail -n 20 step.err)" || exit $?
    attempt=$((attempt + 1))
  done
or the same in one line, see `{prog} exec --help`
  {prog} exec --agent writer --run-id "$run_id" -- ./run-step.sh
"""


class UsageError(Exception):
    """What is wrong with the arguments, and what to do about it."""


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Writes the help as wide as the terminal is. One is made for each flag, and argparse's own would load what packs
    and copies files, only to ask for that width.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


def _columns() -> int:
    try:
        given = int(os.environ.get("COLUMNS", "0"))
        return given if given > 0 else os.get_terminal_size(1).columns or 80
    except (ValueError, OSError):
        return 80


class Parser(argparse.ArgumentParser):
    """An argument parser that raises UsageError."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of ending."""
        # argparse would end with 2, which means "escalate" here.
        raise UsageError(f"{message}.")


def run(argv: Sequence[str], prog: str) -> int:
    """Parse, decide, print, wait; return the exit code."""
    try:
        given = parse(_parser(prog), argv)
    except UsageError as error:
        say(f"{prog}: {error} See `{prog} --help`.")
        return USAGE
    if given is None:
        return 0
    try:
        decision = heal(
            given.agent,
            given.attempt,
            error_type=given.error_type,
            context=given.context,
            pipeline=given.pipeline,
            run_id=given.run_id,
            log=given.log,
            wait=False,
        )
    except ReportgenError as error:
        say(f"{prog}: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        say(f"{prog}: interrupted")
        return INTERRUPTED
    try:
        _report(decision, prog)
        if decision.delay_seconds and not given.no_wait:
            time.sleep(decision.delay_seconds)
    except KeyboardInterrupt:
        say(f"{prog}: interrupted; the attempt is logged in {given.log}")
        return INTERRUPTED
    return decision.exit_code


def _parser(prog: str) -> Parser:
    table = "\n".join(
        f"  {name:<18}{rule.attempts:>5}  {rule.action:<22} {0 if rule.attempts else 1}"
        for name, rule in POLICY.items()
    )
    parser = Parser(
        prog=prog,
        description=_DESCRIPTION,
        epilog=_EPILOG.format(table=table, prog=prog),
        formatter_class=Formatter,
        allow_abbrev=False,
        add_help=False,
    )
    flag = parser.add_argument
    flag("--agent", required=True, metavar="A", help="the agent whose step failed")
    flag("--attempt", required=True, type=_attempt, metavar="N", help="number of this recovery attempt, from 1")
    flag("--error-type", metavar="T", help="one of the types below; left out: read from the words of --context")
    flag(
        "--context",
        default="",
        metavar="TEXT",
        help="the error text; secrets are removed, at most 2,000 characters kept",
    )
    flag("--pipeline", metavar="P", help="the pipeline that the agent works in")
    flag("--run-id", metavar="R", help="the run: the cap counts per run; without it per error type and hour")
    flag(
        "--log", default=DEFAULT_LOG, metavar="FILE", help=f"the log to count in and append to (default: {DEFAULT_LOG})"
    )
    flag("--no-wait", action="store_true", help="do not wait before a retry-backoff; the loop does (`delay_seconds`)")
    flag("-h", "--help", action="store_true", help="show this help")
    return parser


def _attempt(text: str) -> int:
    if not re.fullmatch(r"\+?[0-9]{1,4000}", text.strip(), re.ASCII) or not int(text):
        raise argparse.ArgumentTypeError(f"{redact(text)[:40]!r} is not a whole number from 1")
    return int(text)


def takes_value(parser: Parser) -> dict[str, bool]:
    """Return every flag, and whether it has a value."""
    return {option: action.nargs != 0 for action in parser._actions for option in action.option_strings}


def parse(parser: Parser, argv: Sequence[str]) -> argparse.Namespace | None:
    """Return the arguments, or None where help was asked for and shown. Raises UsageError."""
    takes = takes_value(parser)
    joined: list[str] = []
    rest = iter(argv)
    for word in rest:
        flag = word.partition("=")[0]
        if flag not in takes:
            raise UsageError(_unknown(word, list(takes)))
        if word in ("-h", "--help"):
            parser.print_help()
            return None
        if takes[flag] and "=" not in word:
            # An error text may start with a dash, so the value is taken whatever it looks like.
            value = next(rest, None)
            if value is None or value.partition("=")[0] in takes:
                raise UsageError(f"{flag} needs a value (one that is like a flag is given as {flag}=VALUE).")
            word = f"{word}={value}"
        joined.append(word)
    return parser.parse_args(joined)


def _unknown(word: str, flags: list[str]) -> str:
    if not word.startswith("-"):
        return f"{redact(word)[:40]!r}: unexpected word; put quotes around a value with blanks in it."
    from difflib import get_close_matches

    near = get_close_matches(word.partition("=")[0], flags, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"the flags are {', '.join(flags)}."
    return f"{redact(word)[:40]}: unknown flag; {hint}"


def _report(decision: HealDecision, prog: str) -> None:
    """Print the decision and its reason. The exit code holds even where nobody listens."""
    alert = "ALERT: " if decision.action in ("alert-operator", "escalate") else ""
    say(f"{prog}: {alert}{decision.action} for {decision.agent}: {decision.reason}")
    if decision.action == "alert-operator" and decision.context:
        say(f"  {decision.context}")
    try:
        print(decision.to_json(), flush=True)
    except OSError as error:
        say(f"{prog}: the decision can't be printed ({error.strerror}); it is logged, and the exit code holds")
        # Python would flush again at its end, fail again, and end with a code of its own.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def say(text: str) -> None:
    """Write to stderr what a terminal may show and a log may keep: no escapes, no secrets, one line a message."""
    if sys.stderr is None:  # closed by the caller; print would take stdout instead
        return
    line = "".join(char if char.isprintable() else " " if char in "\n\t" else "\ufffd" for char in redact(text))
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
