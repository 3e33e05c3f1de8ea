"""`reportgen inspect` and `reportgen doctor`: parse, call, print. Imported when one is asked for."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from reportgen.cli import print_json, print_lines, print_text
from reportgen.cli_options import HELP
from reportgen.errors import ExitCode, ReportgenError
from reportgen.summary import Line, Tone, clean

_TONES: dict[str, Tone] = {"wrong": "bad", "missing": "warn", "good": "good"}

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command("inspect", context_settings=HELP, short_help="Say how a file of cost events is understood.")
@click.argument("files", nargs=-1, metavar="FILE…")
@click.option("--source", multiple=True, metavar="TOOL", help="claude-code, codex, opencode: your own sessions.")
@click.option(
    "--project", "-p", default=".", metavar="DIR", type=click.Path(file_okay=False),
    help="Whose settings and formats hold.  [default: .]",
)  # fmt: skip
@json_option
def inspect_command(files: tuple[str, ...], source: tuple[str, ...], project: str, as_json: bool) -> None:
    """Say how files are understood, before any build: files, folders, or globs in quotes.

    Formats with counts, the key that gives each field and the keys that nothing reads, times, agents, runs, what is
    counted once, prices, every warning, and ten events. Nothing is written.

    \b
    Examples:
      reportgen inspect cost-events.jsonl
      reportgen inspect 'logs/*.jsonl.gz' --json
      reportgen inspect --source claude-code
    """
    from reportgen import inspecting

    if not files and not source:
        raise click.UsageError("Name a file, or --source claude-code.", click.get_current_context())
    found = inspecting.inspect(files, _existing(project), source=source)
    if as_json:
        print_json(inspecting.as_object(found))
    else:
        print_text("\n".join(_safe(line) for line in inspecting.text_lines(found)))


def _safe(line: str) -> str:
    # Blanks at the beginning and between columns are ours.
    lead = line[: len(line) - len(line.lstrip(" "))]
    text = line.strip(" ")
    return lead + (text if text.isascii() and text.isprintable() else clean(text, 4000))


@click.command("doctor", context_settings=HELP, short_help="Say what a project lacks and what looks wrong.")
@click.argument("project_dir", default=".", type=click.Path(file_okay=False))
@click.option("--source", multiple=True, metavar="TOOL", help="claude-code, codex, opencode: your own sessions.")
@json_option
@click.option("--strict", is_flag=True, help="Exit 1 where something looks wrong.")
@click.pass_context
def doctor_command(ctx: click.Context, project_dir: str, source: tuple[str, ...], as_json: bool, strict: bool) -> None:
    """Look at a project, and say what is missing, what looks wrong, and the next command for each.

    Nothing is written. Without --source, the sessions that the last build read are looked at. Exit 3 where there is
    nothing to read.

    \b
    Examples:
      reportgen doctor
      reportgen doctor path/to/project --json
      reportgen doctor --source claude-code
    """
    from reportgen import doctor

    findings = doctor.examine(_existing(project_dir), source)
    if as_json:
        print_json([asdict(one) for one in findings])
    else:
        lines: list[Line] = []
        for one in findings:
            lines.append([(f"{one.kind:<8} ", _TONES[one.kind]), (clean(one.what, 1000), "plain")])
            if one.next_command:
                lines.append([(f"  next:  {clean(one.next_command, 1000)}", "faint")])
        print_lines(lines)
    if any(one.code == "no-input" for one in findings):
        ctx.exit(ExitCode.NO_INPUT)
    wrong = strict and any(one.kind == "wrong" for one in findings)
    ctx.exit(ExitCode.DETECTOR_FAILED if wrong else ExitCode.DONE)


def _existing(project: str) -> Path:
    path = Path(project)
    if not path.is_dir():
        raise ReportgenError(project, "no such directory", "Name the project's directory.")
    return path


COMMANDS: dict[str, click.Command] = {"doctor": doctor_command, "inspect": inspect_command}
