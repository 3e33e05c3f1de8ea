"""The flags that commands share, and what was given of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from reportgen.errors import ReportgenError

HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

F = TypeVar("F", bound=Callable[..., Any])


def _with(command: F, options: Sequence[Callable[[F], F]]) -> F:
    for option in reversed(options):
        command = option(command)
    return command


class _Projects(click.Path):
    """A project's directory; one of several may also be a file, or `NAME=PATH`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Return the path as it is: whether it is one is known when all are."""
        return value


def _only_directory(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a single project that is a file or has a name: only several are told apart, and become one report."""
    for one in value if len(value) == 1 else ():
        # Unlike those of Path, these raise nothing for names that no file can have.
        if one.endswith(".json") and os.path.isfile(one):  # noqa: PTH113
            what = "is a finished report, and nothing else is named that it could become one report with"
            raise ReportgenError(one, what, "Name the other projects too, or open its site/index.html.")
        name, _, folder = one.partition("=")
        if name and not os.path.lexists(one) and os.path.isdir(folder):  # noqa: PTH112
            what = "gives a name to the only project, and names tell several apart"
            raise ReportgenError(one, what, f"Run it on {folder}; its title is in its settings: [report] title.")
        click.Path(file_okay=False).convert(one, param, ctx)
    return value


def project_argument(command: F) -> F:
    """Add the projects that a report is made of: none is the current directory."""
    kind = _Projects()
    return click.argument("projects", nargs=-1, metavar="[PROJECT]...", type=kind, callback=_only_directory)(command)


def report_options(command: F) -> F:
    """Add the flags that say what a report is made of: of `build`, and of `serve`."""
    path = click.Path()
    options = [
        click.option("--pipeline", metavar="NAME", help="Show this pipeline only; its numbers stay the same."),
        click.option("--since", metavar="DATE", help="Look at nothing before this date or time (UTC)."),
        click.option("--until", metavar="DATE", help="Look at nothing after it; a date means its whole day."),
        click.option("--window", metavar="TIME", help="Look at the last 30d (or 12h, 90m) only."),
        click.option("--as-of", metavar="DATE", help="Report as if it were then: nothing later is seen."),
        click.option(
            "--events", type=path, multiple=True, help="Cost events: file, folder or quoted glob. Repeatable."
        ),
        click.option(
            "--source", multiple=True, metavar="TOOL", help="claude-code, codex, opencode: read your own sessions."
        ),
        click.option("--feedback", type=path, multiple=True, help="Feedback: a file or a quoted glob. Repeatable."),
        click.option("--healing-log", type=path, help="The log that `reportgen heal` wrote."),
        click.option("--budget", type=path, help="Limits to hold the spending against."),
        click.option("--site", type=path, help="Folder of the web pages.  [default: site]"),
        click.option("--recommendations", type=path, help="Markdown file.  [default: RECOMMENDATIONS.md]"),
        click.option("--config", "settings_file", type=path, help="Settings.  [default: reportgen.toml, if there]"),
        click.option("--adopt", is_flag=True, help="Overwrite outputs that reportgen did not write."),
        click.option("--no-redact", is_flag=True, help="Leave keys, e-mail addresses and homes in the report."),
    ]
    return _with(command, options)


def build_options(command: F) -> F:
    """Add the flags of `build` to a command."""
    options = [
        click.option("--single-file", type=click.Path(), help="Write the report as one page too, to send by mail."),
        click.option("--strict", is_flag=True, help="Exit 1 where a line of an input was rejected."),
        click.option("--fail-on", type=click.IntRange(0, 100), metavar="SCORE", help="Exit 4 from this total on."),
        click.option("--verify-cache", is_flag=True, help="Hash every input whole to see whether it changed."),
        click.option("--profile", is_flag=True, help="Print where the time went, a row a stage."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the summary."),
        click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors (and the object of --json)."),
        click.option("--verbose", "-v", is_flag=True, help="Print every warning, and tracebacks of faults."),
        click.option("--no-color", is_flag=True, help="No colours (also: NO_COLOR). None without a terminal."),
    ]
    return report_options(_with(command, options))


def given_flags(no_redact: bool, flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return the flags that were given, named as the fields of Settings."""
    # A score of 0 is given; a flag that is off is not.
    given = {name: value for name, value in flags.items() if value is not None and value is not False and value != ()}
    return {**given, "redact": False} if no_redact else given
