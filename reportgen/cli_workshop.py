"""The commands of the analysts' workshop: parse, call, print. Imported when one is asked for, never by `build`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reportgen.cli import print_json, print_lines, print_text, tell
from reportgen.cli_options import HELP, given_flags, report_options
from reportgen.errors import ExitCode, ReportgenError
from reportgen.summary import Line, Tone, clean, clean_lines

if TYPE_CHECKING:
    from reportgen.checking import Problem
    from reportgen.detectortest import TestRun

#: Rows of a table on a terminal, where nothing else is asked for.
_SHOWN_ROWS = 1000
_ROOT = '<testsuites name="reportgen"'

project_option = click.option(
    "--project", "-p", default=".", metavar="DIR", type=click.Path(file_okay=False), help="The project.  [default: .]"
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


# --- detectors ------------------------------------------------------------------------------------------------------


@click.group("detectors", invoke_without_command=True, context_settings=HELP, short_help="List detectors, explain one.")
@project_option
@json_option
@click.pass_context
def detectors(ctx: click.Context, project: str, as_json: bool) -> None:
    """List the detectors: what came of each in the last build, its parameters in force, where its file is.

    \b
    Examples:
      reportgen detectors
      reportgen detectors show cost_outlier
      reportgen detectors show cost_outlier --sql > my_outlier.sql
    """
    if ctx.invoked_subcommand is None:
        _list(project, as_json)


@detectors.command("list")
@project_option
@json_option
def list_command(project: str, as_json: bool) -> None:
    """List the detectors; the same as `reportgen detectors`."""
    _list(project, as_json)


def _list(project: str, as_json: bool) -> None:
    from reportgen import catalogue

    listed = catalogue.list_detectors(Path(project))
    if as_json:
        print_json(catalogue.as_objects(listed))
    else:
        print_text(catalogue.list_text(listed).rstrip("\n"))


@detectors.command("show")
@click.argument("detector", metavar="ID")
@project_option
@json_option
@click.option("--sql", "as_sql", is_flag=True, help="Print the file itself.")
def show_command(detector: str, project: str, as_json: bool, as_sql: bool) -> None:
    """Explain one detector: what it looks for, its parameters and columns, how to change it, its test cases."""
    from reportgen import catalogue

    one = catalogue.explain(Path(project), detector)
    if as_sql:
        print_text(one.sql.rstrip("\n"))
    elif as_json:
        print_json(catalogue.as_objects(one))
    else:
        print_text(catalogue.explain_text(one).rstrip("\n"))


@click.group("new", context_settings=HELP, short_help="Write a new detector or format, and its test.")
def new() -> None:
    """Write a file to start from; nothing is ever overwritten."""


@new.command("detector")
@click.argument("detector", metavar="ID")
@project_option
def new_detector_command(detector: str, project: str) -> None:
    """Write sql/detectors/ID.sql and sql/detectors/ID.test.md, which work at once.

    ID is the file's name: small letters, digits and _.

    \b
    Example:
      reportgen new detector slow_handoffs
    """
    from reportgen.newdetector import new_detector

    for path in new_detector(Path(project), detector):
        print_lines([[("Wrote ", "plain"), (clean(str(path)), "strong")]])
    where = "" if project == "." else f" --project {clean(project)}"
    print_lines([[(f"Next: reportgen test{where} {detector}", "faint")]])


@new.command("format")
@click.argument("format_id", metavar="ID")
@click.argument("file", required=False, type=click.Path())
@project_option
def new_format_command(format_id: str, file: str | None, project: str) -> None:
    """Write sql/formats/ID.sql and sql/formats/ID.test.md: how lines of a log of your own are read.

    With FILE they are drafted from its lines: what looks like a time, an agent, tokens or a cost is taken for that.
    Nothing of the lines but names, times and numbers goes into the test.

    \b
    Examples:
      reportgen new format our_steps logs/steps.jsonl
      reportgen new format our_steps                    an example to change by hand
    """
    from reportgen.newformat import new_format

    made = new_format(Path(project), format_id, None if file is None else Path(file))
    for path in (made.sql, made.test):
        print_lines([[("Wrote ", "plain"), (clean(str(path)), "strong")]])
    if made.fields:
        told = ", ".join(f"{name} from {'.'.join(path)}" for name, path in made.fields.items())
        missing = f"; found no {', '.join(made.missing)}" if made.missing else ""
        print_lines([[(f"Read: {told}{missing}. The test shows what comes of it.", "plain")]])
    where = "" if project == "." else f" --project {clean(project)}"
    print_lines([[(f"Next: reportgen test{where} {format_id}", "faint")]])


# --- check ----------------------------------------------------------------------------------------------------------


@click.command("check", context_settings=HELP, short_help="Say what is wrong with the SQL files.")
@click.argument("project_dir", default=".", type=click.Path(file_okay=False))
@json_option
@click.pass_context
def check(ctx: click.Context, project_dir: str, as_json: bool) -> None:
    """Read every SQL file, the built-in ones and the project's, and say all that is wrong: path:line:column.

    Nothing runs and no input is read: each file is parsed, and bound against empty tables. Exit 1 where there is an
    error; warnings alone are exit 0.
    """
    from reportgen.checking import check as check_project

    home = _existing(project_dir)
    problems = check_project(home)
    errors = sum(problem.severity == "error" for problem in problems)
    if as_json:
        found = [asdict(problem) for problem in problems]
        print_json({"errors": errors, "warnings": len(problems) - errors, "problems": found})
    else:
        print_lines(_problem_lines(problems, errors))
    ctx.exit(ExitCode.DETECTOR_FAILED if errors else ExitCode.DONE)


def _existing(project: str) -> Path:
    path = Path(project)
    if not path.is_dir():
        raise ReportgenError(project, "no such directory", "Name the project's directory.")
    return path


def _problem_lines(problems: list[Problem], errors: int) -> list[Line]:
    lines: list[Line] = []
    for problem in problems:
        tone: Tone = "bad" if problem.severity == "error" else "warn"
        what = clean(problem.what, 1000)
        lines.append([(f"{clean(problem.where)}: ", "strong"), (problem.severity, tone), (f": {what}", "plain")])
        if problem.next_step:
            lines.append([(f"  next: {clean(problem.next_step, 1000)}", "faint")])
    warnings = len(problems) - errors
    if not problems:
        return [[("No problems.", "good")]]
    counts = [_count(errors, "error"), _count(warnings, "warning")]
    return [*lines, [(", ".join(counts), "bad" if errors else "warn")]]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


# --- test -----------------------------------------------------------------------------------------------------------


@click.command("test", context_settings=HELP, short_help="Run the detectors' tests.")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@project_option
@json_option
@click.option("--junit", metavar="FILE", type=click.Path(), help="Write JUnit XML to FILE, for CI; - is stdout.")
@click.pass_context
def test(ctx: click.Context, ids: tuple[str, ...], project: str, as_json: bool, junit: str | None) -> None:
    """Run the cases of ID.test.md beside each detector and format, or those that are named; exit 1 where one fails.

    What is built in and what the project has are tested, on the rows of their cases alone: a test never sees the
    project's data.

    \b
    Examples:
      reportgen test
      reportgen test slow_handoffs
      reportgen test --junit detectors.xml
    """
    from reportgen import detectortest, formattest

    done = formattest.run_all(_existing(project), ids)
    if junit is not None and junit != "-":
        _write_junit(Path(junit), detectortest.as_junit(done))
    if junit == "-":
        print_text(detectortest.as_junit(done).rstrip("\n"))
    elif as_json:
        print_text(detectortest.as_json(done).rstrip("\n"))
    else:
        print_lines(_test_lines(done))
    ctx.exit(ExitCode.DONE if done.passed else ExitCode.DETECTOR_FAILED)


def _write_junit(path: Path, text: str) -> None:
    try:
        if path.exists() and _ROOT not in path.read_text(encoding="utf-8", errors="replace")[:500]:
            what = "is there, and is no JUnit file of reportgen"
            raise ReportgenError(str(path), what, "Name another file, or move it away.")
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise ReportgenError(str(path), f"can't be written ({error.strerror})", "Check the directory.") from None


def _test_lines(done: TestRun) -> list[Line]:
    lines: list[Line] = []
    for result in done.results:
        if result.outcome == "passed":
            continue
        where = f"{clean(result.file)}:{result.line}"
        lines.append([(f"{where}: ", "strong"), (result.outcome, "bad"), (f": {clean(result.case)}", "plain")])
        lines += [[(f"  {line}", "plain")] for line in _aligned(result.message)]
    counts = [f"{done.count(outcome)} {outcome}" for outcome in ("passed", "failed", "error")]
    lines.append([(", ".join(counts), "good" if done.passed else "bad")])
    if done.missing:
        lines.append([(f"No test stands beside {', '.join(clean(one) for one in done.missing)}", "warn")])
    for name, what in done.unordered:
        lines.append([(f"{clean(name)}: {what}; `reportgen check` says where", "warn")])
    return lines


def _aligned(message: str) -> list[str]:
    """Return the lines of a difference, which is safe already and means something by its blanks."""
    return [line if line.isascii() and line.isprintable() else clean_lines(line, 4000) for line in message.split("\n")]


# --- query ----------------------------------------------------------------------------------------------------------


@click.command("query", context_settings=HELP, short_help="Ask the warehouse of the last build.")
@click.argument("sql", required=False, metavar='["SELECT …"]')
@project_option
@click.option(
    "--format", "-f", "form", default="table", type=click.Choice(["table", "csv", "json", "markdown"]),
    help="How rows are printed.  [default: table]",
)  # fmt: skip
@click.option("--limit", type=click.IntRange(0), metavar="N", help="The first N rows; 0: all.  [table: 1000, else all]")
@click.option("--schema", is_flag=True, help="List the tables with their columns; with a name: that table.")
def query(sql: str | None, project: str, form: Any, limit: int | None, schema: bool) -> None:  # noqa: ANN401 - a choice
    """Run one SELECT on the warehouse of the last build. Nothing in it can change, and no other file can be read.

    Without SQL, or with -, it is read from stdin.

    \b
    Examples:
      reportgen query "select agent, sum(cost) from agents group by agent order by 2 desc"
      reportgen query --schema runs
      reportgen query --format csv < costs.sql > costs.csv
    """
    from reportgen import querying

    home = _existing(project)
    if schema:
        print_text(querying.schema_text(home, sql).rstrip("\n"))
        return
    if sql in (None, "-"):
        if sql is None and sys.stdin.isatty():
            raise click.UsageError("Give a SELECT in quotes, or --schema.", click.get_current_context())
        sql = _read_stdin()
    most = _SHOWN_ROWS if limit is None and form == "table" else limit or None
    result = querying.run_query(home, str(sql), rows=None if most is None else most + 1)
    more = most is not None and len(result.rows) > most
    if more:
        del result.rows[most:]
    print_text(querying.render_rows(result, form).rstrip("\n"))
    if more:
        tell(f"These are the first {most:,} rows; --limit 0 gives all.")


def _read_stdin() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError:
        raise ReportgenError("stdin", "not UTF-8", "Save the query as UTF-8.") from None


# --- serve ----------------------------------------------------------------------------------------------------------


@click.command("serve", context_settings=HELP, short_help="Show the report, and every change as it is saved.")
@click.argument("project_dir", default=".", type=click.Path(file_okay=False))
@click.option("--port", default=8000, type=int, metavar="N", help="Port on 127.0.0.1; 0: any free.  [default: 8000]")
@report_options
@click.pass_context
def serve(
    ctx: click.Context,
    /,
    project_dir: str,
    port: int,
    settings_file: str | None,
    no_redact: bool,
    **flags: Any,  # noqa: ANN401 - named as the fields of Settings
) -> None:
    """Build a project's report, serve it to this machine only, and build anew what a saved file changes.

    SQL, tests, templates, settings and inputs are watched; open pages follow by themselves. An error stands in the
    page, with its line marked, beside the last content that was good. Ctrl-C stops.

    \b
    Examples:
      reportgen serve
      reportgen serve demo --port 8080
    """
    from reportgen import serving

    given = given_flags(no_redact, flags)
    code = serving.serve(project_dir, port=port, settings_file=settings_file, flags=given, on_message=tell)
    ctx.exit(code)


COMMANDS: dict[str, click.Command] = {
    "check": check,
    "detectors": detectors,
    "new": new,
    "query": query,
    "serve": serve,
    "test": test,
}
