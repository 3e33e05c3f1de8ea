"""`reportgen feedback`: parse, call, print. Imported when it is asked for, never by `build`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reportgen.cli import print_json, print_lines, tell
from reportgen.cli_options import HELP
from reportgen.summary import Line, clean

if TYPE_CHECKING:
    from reportgen.feedbackadd import Added
    from reportgen.feedbackrow import NewRow


@click.group("feedback", context_settings=HELP, short_help="Add a review to FEEDBACK.md.")
def feedback() -> None:
    """Keep reviewers' feedback, which the report reads.

    \b
    Example:
      reportgen feedback add --pipeline docs --agent writer --score 45 --pattern loop-excess
    """


@feedback.command("add", short_help="Add one review as a row.")
@click.argument("project_dir", default=".", type=click.Path(file_okay=False))
@click.option("--pipeline", required=True, metavar="P", help="The pipeline that was reviewed.")
@click.option("--agent", required=True, metavar="A", help="The agent whose work it was.")
@click.option("--score", required=True, metavar="SCORE", help="0 to 100; 9/10 and 90% are understood too.")
@click.option("--issue", default="", metavar="TEXT", help="What was wrong.")
@click.option("--resolution", default="", metavar="TEXT", help="What was done about it.")
@click.option("--pattern", "patterns", multiple=True, metavar="TAG", help="loop-excess, timeout, … Repeatable.")
@click.option("--date", "day", metavar="DATE", help="Day of the reviewed run.  [default: today, UTC]")
@click.option("--file", "file", type=click.Path(), help="The file.  [default: the project's FEEDBACK.md]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def add_command(
    project_dir: str,
    pipeline: str,
    agent: str,
    score: str,
    issue: str,
    resolution: str,
    patterns: tuple[str, ...],
    day: str | None,
    file: str | None,
    as_json: bool,
) -> None:
    """Add one review to the feedback of the project in PROJECT_DIR (the current directory unless named).

    The row goes below the last feedback table, in the order of its columns; a table that does not stand at the end of
    the file, or lacks a column, is followed by a new one. No row is ever changed. The file is made where there is none.
    A tag that stands in three rows or more of the pipeline is said: that is a pattern.

    \b
    Known tags:
      quality-low  loop-excess  timeout  tool-fail  cost-spike  scope-drift  hallucination

    \b
    Examples:
      reportgen feedback add --pipeline docs --agent writer --score 45 \\
          --issue "too many rounds" --resolution "capped by hand" --pattern loop-excess
      reportgen feedback add --pipeline docs --agent writer --score 9/10 --date 2026-11-03

    \b
    Exit codes:
      0   the row is in the file, and on the disk
      2   a name, score, date or file that can't be used; nothing was written
      74  the file can't be written
    """
    from reportgen import feedbackadd, feedbackrow
    from reportgen.names import fold
    from reportgen.published import names_of
    from reportgen.settings import load_settings
    from reportgen.sqlfile import near

    row = feedbackrow.new_row(
        pipeline=pipeline,
        agent=agent,
        score=score,
        day=day,
        today=datetime.now(UTC).date(),
        issue=issue,
        resolution=resolution,
        patterns=patterns,
    )
    settings = load_settings(Path(project_dir))
    added = feedbackadd.add_row(Path(file) if file is not None else feedbackadd.feedback_file(settings), row)
    for remark in feedbackrow.about_tags(row.tags):
        tell(f"note: {remark}")
    if 0 < row.score < 1 and not row.score_text.endswith("%"):
        tell(f"note: {row.score_text} is less than 1 of 100; write a share as 67%.")
    pipelines, agents = names_of(settings.site)
    for kind, name, known in (("pipeline", row.pipeline, pipelines), ("agent", row.agent, agents)):
        # A new one is nothing odd, unless it is nearly one that there is.
        if fold(name) not in map(fold, known) and (hint := near(name, known)):
            tell(f"note: there is no {kind} '{clean(name)}' in the last report{clean(hint)}")
    if as_json:
        print_json(_as_object(added, row))
    else:
        print_lines(_lines(added))


def _lines(added: Added) -> list[Line]:
    what = " to a new table" if added.new_table and not added.new_file else ""
    lines: list[Line] = [
        [(f"Added{what}: ", "plain"), (f"{clean(_near(added.path))}:{added.line}", "strong")],
        [(clean(added.text, 1000), "faint")],
    ]
    for one in added.recurring:
        lines.append([(f"{clean(one.tag)}: {one.rows} rows in {clean(one.pipeline)}", "warn")])
    return lines


def _near(path: Path) -> str:
    """Return the path as it is reached from here, where it is below."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _as_object(added: Added, row: NewRow) -> dict[str, object]:
    return {
        "file": str(added.path),
        "line": added.line,
        "row": {
            "date": row.date.isoformat(),
            "pipeline": row.pipeline,
            "agent": row.agent,
            "score": f"{row.score.normalize():f}",
            "issue": row.issue,
            "resolution": row.resolution,
            "tags": list(row.tags),
        },
        "new_file": added.new_file,
        "new_table": added.new_table,
        "recurring": [{"tag": one.tag, "pipeline": one.pipeline, "rows": one.rows} for one in added.recurring],
    }
