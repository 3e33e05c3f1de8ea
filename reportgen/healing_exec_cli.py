"""The command line of `heal exec`: whose command it is, the command, and its own exit code for the caller."""

from __future__ import annotations

import argparse
import os
import signal
import time
from collections.abc import Callable, Sequence

from reportgen.childprocess import Ended, InterruptedBySignalError, Runner
from reportgen.errors import ReportgenError
from reportgen.healing import DEFAULT_LOG, HealDecision
from reportgen.healing_cli import Parser, UsageError, parse, say, takes_value
from reportgen.healing_exec import CODE_TYPES, run_healed
from reportgen.healing_policy import USAGE

_DESCRIPTION = """\
Run a command, and run it again where it fails and the policy table allows that, with
the table's waits. Never more than five times again for one agent in one run. The
command's output, and the exit code of its last try, are the caller's."""

_EPILOG = """\
why it failed, the first that fits
  --type            as given
{codes}
  words of stderr   as `reportgen heal --help` says; nothing fits: abort
  130, 143, and a signal that asks to end: nothing is repeated

what a further try finds in its environment
  REPORTGEN_HEAL_ACTION        retry-shorter-scope, retry-backoff, retry-stricter-prompt
  REPORTGEN_HEAL_ATTEMPT       number of this recovery attempt, from 1
  REPORTGEN_HEAL_MAX_ATTEMPTS  how many its error type gets
  REPORTGEN_HEAL_TYPE          the error type
  REPORTGEN_HEAL_REASON        the reason, in words
  The first try has none of them.

exit codes
  the command's own; it dies of the signal that killed the command
  64   bad usage; nothing was run
  126  the command could not be started
  127  the command was not found

examples
  {prog} --agent writer --pipeline docs --run-id "$run_id" -- ./run-step.sh
  {prog} --agent writer --type api-error -- curl --fail https://example.org/
"""


def run(
    argv: Sequence[str],
    prog: str,
    *,
    sleep: Callable[[float], object] = time.sleep,
    die: Callable[[int], object] | None = None,
) -> int:
    """Parse, run, and return the command's exit code; `die` is called with the signal that killed it."""
    parser = _parser(prog)
    try:
        words, command = _split(parser, argv)
        given = parse(parser, words)
        if given is None:
            return 0
        if not command:
            raise UsageError("there is no command to run.")
        if given.error_type is not None and not given.error_type.strip():
            raise UsageError("--type needs a value.")
    except UsageError as error:
        say(f"{prog}: {error} See `{prog} --help`.")
        return USAGE
    _fill_closed()

    def tell(what: HealDecision | ReportgenError) -> None:
        if isinstance(what, ReportgenError):
            say(f"{prog}: {what}")
        elif not given.quiet:
            alert = "ALERT: " if what.action in ("alert-operator", "escalate") else ""
            say(f"{prog}: {alert}{what.action} for {what.agent}: {what.reason}")

    try:
        with Runner(lambda words: say(f"{prog}: {words}")) as runner:
            ended = run_healed(
                command,
                given.agent,
                runner.run,
                tell,
                pipeline=given.pipeline,
                run_id=given.run_id,
                error_type=given.error_type,
                log=given.log,
                sleep=sleep,
            )
    except InterruptedBySignalError as interrupted:
        say(f"{prog}: interrupted by {signal.Signals(interrupted.number).name}; nothing is repeated")
        ended = Ended(128 + interrupted.number, interrupted.number, asked=True)
    if ended.signal is not None:
        (die or _die)(ended.signal)
    return ended.code


def _die(number: int) -> None:
    """End as the command ended, so that a shell loop stops at Ctrl-C as it would without us in between."""
    import resource

    # The command has left its core already, if it leaves one.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _fill_closed() -> None:
    """Open what is closed of stdin, stdout and stderr, so that a pipe never takes its number."""
    while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(opened, True)
    os.close(opened)


def _split(parser: Parser, argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the flags, and the command: what follows `--`, or begins with the first word that is no flag."""
    takes = takes_value(parser)
    flags: list[str] = []
    place = 0
    while place < len(argv):
        word = argv[place]
        if word == "--":
            return flags, list(argv[place + 1 :])
        if not word.startswith("-"):
            return flags, list(argv[place:])
        flags.append(word)
        if takes.get(word) and place + 1 < len(argv) and argv[place + 1] != "--":
            place += 1
            flags.append(argv[place])
        place += 1
    return flags, []


def _parser(prog: str) -> Parser:
    kinds: dict[str, list[str]] = {}
    for code, kind in CODE_TYPES.items():
        kinds.setdefault(kind, []).append(str(code))
    codes = "\n".join(f"  exit {' or '.join(some):<13}{kind}" for kind, some in kinds.items())
    parser = Parser(
        prog=prog,
        usage=f"{prog} --agent A [OPTIONS] -- COMMAND [ARGUMENTS]",
        description=_DESCRIPTION,
        epilog=_EPILOG.format(codes=codes, prog=prog),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        add_help=False,
    )
    flag = parser.add_argument
    flag("--agent", required=True, metavar="A", help="the agent whose step the command is")
    flag("--pipeline", metavar="P", help="the pipeline that the agent works in")
    flag("--run-id", metavar="R", help="the run: the cap counts per run; without it per error type and hour")
    flag("--type", "--error-type", dest="error_type", metavar="T", help="the type of every failure of this command")
    flag(
        "--log", default=DEFAULT_LOG, metavar="FILE", help=f"the log to count in and append to (default: {DEFAULT_LOG})"
    )
    flag("--quiet", action="store_true", help="say nothing about decisions on stderr; they are logged all the same")
    flag("-h", "--help", action="store_true", help="show this help")
    return parser
