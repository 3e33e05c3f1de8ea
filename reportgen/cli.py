"""The command line: parse, call, print, exit. The only room that knows click; other rooms are imported when used."""

from __future__ import annotations

import errno
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click
from click.shell_completion import get_completion_class

from reportgen.cli_help import BUILD_EXAMPLES, GROUP_EXAMPLES, INSTALL, OPTIMIZER_EXAMPLES
from reportgen.cli_options import HELP, build_options, given_flags, project_argument
from reportgen.cli_progress import Progress as Progress
from reportgen.errors import ExitCode, ReportgenError, is_interrupt
from reportgen.redact import redact
from reportgen.summary import Line, Tone, as_object, cautions, clean, clean_lines, complaints, error_object, summary

if TYPE_CHECKING:
    from reportgen.building import BuildResult
    from reportgen.model import Notice

#: A fault of reportgen itself (sysexits' EX_SOFTWARE), and a result that could not be printed (EX_IOERR).
FAULT = ExitCode.FAULT
NOT_PRINTED = 74

_STYLES: dict[Tone, dict[str, Any]] = {
    "plain": {},
    "strong": {"bold": True},
    "good": {"fg": "green"},
    "warn": {"fg": "yellow"},
    "bad": {"fg": "red", "bold": True},
    "faint": {"dim": True},
}
#: Failures of the file system that a person can mend; any other OSError is a fault.
_MENDABLE = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE})


def run(args: Sequence[str], prog: str = "reportgen") -> int:
    """Run a command line under the name `prog` and return the exit code; nothing escapes but SystemExit."""
    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure"):
        # An agent's name must not stop a build on a terminal that can't show it.
        sys.stdout.reconfigure(errors="backslashreplace")
    command: click.Command = optimizer if prog == "pipeline-optimizer" else cli
    try:
        code = command.main(list(args), prog_name=prog, standalone_mode=False)
        return code if isinstance(code, int) else 0
    except ReportgenError as error:
        complain(error)
        return error.exit_code
    except click.Abort:
        return _interrupted()
    except click.ClickException as error:
        # What was mistyped may hold a secret, and an escape.
        vars(error)["message"] = clean_lines(redact(error.message))
        error.show()
        return error.exit_code
    except Exception as error:
        if is_interrupt(error):
            return _interrupted()
        problem = _as_problem(error)
        complain(problem)
        _show_traceback(problem, error)
        return problem.exit_code
    finally:
        _flush(sys.stdout)
        _flush(sys.stderr)


class Commands(click.Group):
    """The commands; those of the analysts' workshop are imported only when one of them, or the help, is asked for."""

    LOOKING = ("doctor", "inspect")
    WORKSHOP = ("check", "detectors", "new", "query", "serve", "test")

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, sorted."""
        return sorted({*super().list_commands(ctx), *self.WORKSHOP, *self.LOOKING, "feedback"})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name."""
        if cmd_name in self.WORKSHOP:
            from reportgen.cli_workshop import COMMANDS

            return COMMANDS.get(cmd_name)
        if cmd_name in self.LOOKING:
            from reportgen.cli_looking import COMMANDS as LOOKING

            return LOOKING.get(cmd_name)
        if cmd_name == "feedback":
            from reportgen.cli_feedback import feedback

            return feedback
        return super().get_command(ctx, cmd_name)


@click.group(cls=Commands, context_settings=HELP, epilog=GROUP_EXAMPLES)
@click.version_option(message="%(prog)s %(version)s", package_name="reportgen", prog_name="reportgen")
def cli() -> None:
    """Find what wastes money and quality in agent pipelines, and write a report that a team can review.

    reportgen reads cost events, reviewers' feedback and the healing log, ranks what it finds, and writes
    RECOMMENDATIONS.md and a web site. It never changes a pipeline: people decide.
    """


@cli.command(epilog=BUILD_EXAMPLES, short_help="Read logs, write RECOMMENDATIONS.md and the site.")
@project_argument
@build_options
@click.pass_context
def build(ctx: click.Context, /, projects: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - click's own
    """Read a project's logs and write RECOMMENDATIONS.md and the site.

    PROJECT is a directory, the current one unless named. Cost events are looked for in budget/cost-events.jsonl and
    cost-events.jsonl, feedback in FEEDBACK.md and feedback/FEEDBACK.md; one of the two is enough. Paths in flags start
    at the current directory.

    Several projects become one report, in the current directory. Each may also be a report.json, or the site that
    holds it; NAME=PATH names it. docs/several.md says more.
    """
    ctx.exit(_build(ctx, projects, **options))


@click.command(context_settings=HELP, epilog=OPTIMIZER_EXAMPLES)
@build_options
@click.version_option(message="%(prog)s %(version)s", package_name="reportgen", prog_name="reportgen")
@click.pass_context
def optimizer(ctx: click.Context, /, **options: Any) -> None:  # noqa: ANN401 - click gives what it parsed
    """Read the logs of the current directory and write RECOMMENDATIONS.md and the site.

    The same as `reportgen build`.
    """
    ctx.exit(_build(ctx, (), **options))


@cli.command("init", short_help="Write a reportgen.toml that explains every setting.")
@click.argument("directory", default=".", type=click.Path(file_okay=False))
@click.option("--workflow", is_flag=True, help="Write .github/workflows/reportgen.yml instead.")
def init_command(directory: str, workflow: bool) -> None:
    """Write a commented reportgen.toml into DIRECTORY; never overwrite one.

    Every setting is in it, with its meaning and its default, and switched off. With --workflow, write a workflow that
    builds the report every night and publishes the site to static hosting; its first lines say what to fill in.

    \b
    Examples:
      reportgen init
      reportgen init demo
      reportgen init --workflow
    """
    from reportgen.starter import init, init_workflow

    path = init_workflow(Path(directory)) if workflow else init(Path(directory))
    hint = ". Its first lines say what to fill in." if workflow else ". Take the # away from what you change."
    lines: list[Line] = [[("Wrote ", "plain"), (clean(str(path)), "strong"), (hint, "plain")]]
    if not workflow:
        more = "To build every night and publish the site: reportgen init --workflow"
        lines.append([(more, "faint")])
    print_lines(lines)


@cli.command(
    "heal",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True},
    short_help="Answer one failed step with one bounded recovery.",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="--agent A --attempt N [OPTIONS]")
@click.pass_context
def heal_command(ctx: click.Context, arguments: tuple[str, ...]) -> None:
    """Answer one failed step with one bounded recovery.

    Usually answered before this room is entered; here for the list of commands and for whoever comes another way.
    """
    from reportgen import healing

    ctx.exit(healing.main(list(arguments)))


@cli.command(
    "hook",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True},
    short_help="Record Claude Code's tool calls as cost events.",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="post-tool-use [OPTIONS]")
@click.pass_context
def hook_command(ctx: click.Context, arguments: tuple[str, ...]) -> None:
    """Record Claude Code's tool calls as cost events. Answered before this room is entered, as `heal` is."""
    from reportgen import hook

    ctx.exit(hook.main(list(arguments)))


@cli.command("completion", short_help="Print a script that completes commands in a shell.")
@click.argument("shell", type=click.Choice(list(INSTALL)), required=False)
def completion_command(shell: str | None) -> None:
    """Print the script that completes reportgen's commands and flags in a shell.

    Without SHELL, the one of $SHELL. Make the folder first if it is not there, and open a new shell after.

    \b
    To install it:
      reportgen completion bash > ~/.local/share/bash-completion/completions/reportgen
      reportgen completion zsh  > ~/.zfunc/_reportgen    with ~/.zfunc in fpath, before compinit
      reportgen completion fish > ~/.config/fish/completions/reportgen.fish
    """
    name = shell or Path(os.environ.get("SHELL", "")).name
    kind = get_completion_class(name) if name in INSTALL else None
    if kind is None:
        raise click.UsageError(f"Name a shell: {', '.join(INSTALL)}.", click.get_current_context())
    script = kind(cli, {}, "reportgen", "_REPORTGEN_COMPLETE").source()
    print_text(f"{script.rstrip()}\n# To install: {INSTALL[name]}")


# --- build ----------------------------------------------------------------------------------------------------------


def _build(
    ctx: click.Context,
    projects: Sequence[str],
    *,
    settings_file: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    no_color: bool,
    no_redact: bool,
    profile: bool,
    **flags: Any,  # noqa: ANN401 - named as the fields of Settings
) -> int:
    if no_color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        ctx.color = False
    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose exclude each other.", ctx)
    given = given_flags(no_redact, flags)
    try:
        with Progress(sys.stderr, shown=not quiet) as progress:
            result = _builder(projects)(
                settings_file=settings_file,
                progress=progress,
                on_message=(lambda _: None) if quiet else tell,
                **given,
            )
    except Exception as error:
        if is_interrupt(error):
            raise click.Abort from error
        problem = _as_problem(error)
        complain(problem)
        if verbose:
            _show_traceback(problem, error)
        if as_json:
            print_json(error_object(_hidden(problem)))
        return problem.exit_code
    if verbose:
        _tell_notices(result.report.notices)
    if profile:
        from reportgen.stages import profile_lines

        click.echo("\n".join(profile_lines(result.stages)), err=True)
    for complaint in complaints(result, flags.get("fail_on")):
        complain(complaint)
    for caution in cautions(result, flags.get("fail_on")):
        tell(f"warning: {caution}")
    if as_json:
        print_json(as_object(result))
    elif not quiet:
        print_lines(summary(result, Path.cwd()))
    return int(result.exit_code)


def _builder(projects: Sequence[str]) -> Callable[..., BuildResult]:
    """Return what builds one project, or several; what only the other one needs is not imported."""
    if len(projects) > 1:
        from reportgen.several import build_several

        return partial(build_several, projects)
    from reportgen import building

    return partial(building.build, projects[0] if projects else ".")


def tell(message: str) -> None:
    """Print a message of a room to stderr."""
    click.echo(clean(redact(message)), err=True)


def _tell_notices(notices: Iterable[Notice]) -> None:
    for notice in notices:
        place = f"{notice.file}:{notice.line}" if notice.file and notice.line else notice.file or ""
        text = f"{notice.severity}: {place}: {notice.message}" if place else f"{notice.severity}: {notice.message}"
        tell(text)


# --- printing -------------------------------------------------------------------------------------------------------


def _interrupted() -> int:
    complain(ReportgenError("", "interrupted", "Files on disk are whole. Run the command again."))
    return ExitCode.INTERRUPTED


def _as_problem(error: Exception) -> ReportgenError:
    if isinstance(error, ReportgenError):
        return error
    if isinstance(error, OSError) and error.errno in _MENDABLE:
        where = str(error.filename or "reportgen")
        return ReportgenError(
            where,
            (error.strerror or str(error)).lower(),
            "Raise the limit of open files (ulimit -n)."
            if error.errno == errno.EMFILE
            else "Check its permissions and the free space.",
        )
    what = redact(f"unexpected {type(error).__name__}: {error}")
    step = "This is a fault of reportgen, not of your files. --verbose shows where; please report it."
    return ReportgenError("reportgen", what, step, FAULT)


def _hidden(error: ReportgenError) -> ReportgenError:
    """Return the error without secrets and home directories: what a job prints, many can read."""
    return ReportgenError(redact(error.where), redact(error.what), redact(error.next_step), error.exit_code)


def complain(error: ReportgenError) -> None:
    """Print an error to stderr: where, what, and what to do next."""
    error = _hidden(error)
    where = f"{clean(error.where)}: " if error.where else ""
    # Several problems are several lines; what follows the first is indented, so that no text can pose as an error.
    what = "\n  ".join(clean(line, 1000) for line in error.what.split("\n"))
    click.echo(f"{click.style('error:', **_STYLES['bad'])} {where}{what}", err=True)
    if error.next_step:
        click.echo(f"  next: {clean(error.next_step, 1000)}", err=True)


def _show_traceback(problem: ReportgenError, error: Exception) -> None:
    if problem.exit_code == FAULT:
        click.echo(clean_lines(redact("".join(traceback.format_exception(error)))), err=True)


def print_lines(lines: Iterable[Line]) -> None:
    """Print lines to stdout, coloured where it is a terminal."""
    print_text("\n".join("".join(click.style(text, **_STYLES[tone]) for text, tone in line) for line in lines))


def print_json(value: object) -> None:
    """Print one JSON value to stdout."""
    # ASCII only, so that nothing in it can steer a terminal; json leaves DEL as it is.
    print_text(json.dumps(value, indent=2).replace("\x7f", "\\u007f"))


def print_text(text: str) -> None:
    """Print to stdout. A reader that has gone away is no error; a full disk is."""
    try:
        click.echo(text)
    except OSError as error:
        _silence(sys.stdout)
        if error.errno != errno.EPIPE:
            what = f"can't be written ({error.strerror})"
            raise ReportgenError("stdout", what, "The outputs themselves are done.", NOT_PRINTED) from None


def _flush(stream: TextIO | None) -> None:
    try:
        if stream is not None:
            stream.flush()
    except OSError:
        _silence(stream)


def _silence(stream: TextIO | None) -> None:
    """Let what is still buffered go nowhere, or Python would complain about it when it ends."""
    if stream is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
