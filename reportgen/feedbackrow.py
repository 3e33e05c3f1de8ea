"""One review, checked, and written so that the reader of feedback reads back exactly what was given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal

from reportgen.errors import ReportgenError
from reportgen.inputs.feedback_cells import KNOWN_TAGS, is_nothing, read_score, read_tags
from reportgen.inputs.times import FIRST_YEAR, LAST_YEAR
from reportgen.names import Kind, clean_name, is_missing, squeeze
from reportgen.quickclass import dataclass

#: A cell of more characters is not read as Markdown, so what is escaped in it would be read as it is written.
_LONGEST_CELL = 4000
_LONGEST_NAME = 200
_NUMBER = r"[0-9]+(?:\.[0-9]+)?|\.[0-9]+"
_SCORE = re.compile(rf"(?P<a>[-−]?(?:{_NUMBER}))(?P<rest>[ \t]*(?:/[ \t]*(?:{_NUMBER})|%))?")


@dataclass(frozen=True, slots=True)
class NewRow:
    """One review. Texts have their white space squeezed; `score_text` is how the score is written, `score` 0 to 100."""

    date: date
    pipeline: str
    agent: str
    score: Decimal
    score_text: str
    issue: str
    resolution: str
    tags: tuple[str, ...]
    #: Column (folded) to the cell as it is written.
    written: dict[str, str]

    def line(self, columns: Sequence[str]) -> str:
        """Return the row for a table with these (folded) columns; those it does not know, and repeated ones, empty."""
        left = dict(self.written)
        cells = (left.pop(name, "") for name in columns)
        return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"

    def needs(self) -> set[str]:
        """Return the columns without which something given would be lost."""
        return {name for name, cell in self.written.items() if cell}


def new_row(
    *,
    pipeline: str,
    agent: str,
    score: str,
    day: str | None,
    today: date,
    issue: str = "",
    resolution: str = "",
    patterns: Sequence[str] = (),
) -> NewRow:
    """Check what was given and return the row; `today` (UTC) is its date where `day` is None.

    Raises ReportgenError (exit 2) for a name that names nobody, a score that is not of 0 to 100, a date that is no day
    or is still to come, and a text that is too long for a cell.
    """
    tags = tuple(dict.fromkeys(tag for pattern in patterns for tag in read_tags(squeeze(pattern))))
    pattern = ", ".join(tags)
    if read_tags(pattern) != tags:
        what = f"{pattern[:40]!r} would not be read as tags again"
        raise ReportgenError("--pattern", what, "Write tags in letters, digits and hyphens.")
    value, text = _score(score)
    when = _date(day, today) if day is not None else today
    row = NewRow(
        date=when,
        pipeline=_name("pipeline", pipeline),
        agent=_name("agent", agent),
        score=value,
        score_text=text,
        issue=squeeze(issue),
        resolution=squeeze(resolution),
        tags=tags,
        written={
            "date": when.isoformat(),
            "pipeline": escape(pipeline),
            "agent": escape(agent),
            "score": text,
            "issue": escape(issue),
            "resolution": escape(resolution),
            "pattern": escape(pattern),
        },
    )
    for name, cell in row.written.items():
        if len(cell) > _LONGEST_CELL:
            what = f"{len(cell):,} characters are too long for a cell of a table; {_LONGEST_CELL:,} fit"
            raise ReportgenError(f"--{name}", what, "Say it shorter, and link to the rest.")
    return row


# --- what is given --------------------------------------------------------------------------------------------------


def _name(kind: Kind, given: str) -> str:
    name = squeeze(given)
    if is_nothing(name) or is_missing(kind, clean_name(name)):
        what = f"{name[:40]!r} names no {kind}"
        raise ReportgenError(f"--{kind}", what, f"Give the name that the {kind} has in the cost events.")
    if len(name) > _LONGEST_NAME:
        what = f"the name has {len(name):,} characters; {_LONGEST_NAME} are allowed"
        raise ReportgenError(f"--{kind}", what, "Did a text get into the wrong flag?")
    return name


def _score(given: str) -> tuple[Decimal, str]:
    text = squeeze(given)
    match = _SCORE.fullmatch(text)
    if match is None:
        what = f"{text[:40]!r} is not a score"
        raise ReportgenError("--score", what, "Give a number from 0 to 100; 9/10 and 90% are understood too.")
    value = read_score(text)
    if value is None:
        what = f"{text[:40]!r} is not within 0 to 100"
        raise ReportgenError("--score", what, "Give a number from 0 to 100; 9/10 and 90% are understood too.")
    # A bare number is written with its scale, so that nobody has to know it.
    return value, text if match["rest"] else f"{text}/100"


def _date(given: str, today: date) -> date:
    text = given.strip()
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        what = f"{text[:40]!r} is not a day of the calendar"
        raise ReportgenError("--date", what, f"Write it as {today.isoformat()}.")
    if not FIRST_YEAR <= day.year <= LAST_YEAR:
        what = f"{text} is outside the years {FIRST_YEAR} to {LAST_YEAR}"
        raise ReportgenError("--date", what, f"Write it as {today.isoformat()}.")
    # Somebody in the far east may already be in tomorrow.
    if day > today + timedelta(days=1):
        raise ReportgenError("--date", f"{text} is still to come", "Give the day of the run that was reviewed.")
    return day


def about_tags(tags: Sequence[str]) -> list[str]:
    """Return a remark for each tag that is not one of the known ones: it is kept, but may be a slip."""
    from difflib import get_close_matches

    remarks = []
    for tag in tags:
        if tag not in KNOWN_TAGS:
            near = get_close_matches(tag, sorted(KNOWN_TAGS), n=1, cutoff=0.7)
            hint = f"did you mean {near[0]}?" if near else f"the known ones are {', '.join(sorted(KNOWN_TAGS))}."
            remarks.append(f"{tag} is a tag of your own; {hint}")
    return remarks


# --- how it is written ----------------------------------------------------------------------------------------------

#: What Markdown, or the reader of tables, would take for markup. A backslash before it makes it the character itself.
_SPECIAL = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|$)"  # a backslash is one, unless a letter, a digit or a blank follows
    r"|[`\[\]~|]"
    r"|\*(?!(?<=[ ]\*)[ ])"  # `2 * 3` is no emphasis
    r"|(?<![^\W_])_|_(?![^\W_])"  # an underscore within a word is none
    r"|<(?=[A-Za-z/!?])"
    r"|&(?=[#A-Za-z])"
    r"|\{(?=\{)|(?<=\{)\{"  # `{{AGENT}}` is what a template leaves for somebody to fill in
)


def escape(text: str) -> str:
    """Return the Markdown of a table cell that shows `text`; a line break becomes `<br>`, other white space a blank."""
    lines = (squeeze(line) for line in text.splitlines())
    return "<br>".join(_SPECIAL.sub(r"\\\g<0>", line) for line in lines if line)
