"""FEEDBACK.md as people and scripts leave it (INPUTS 5), hurt at random places: which line is which row is known."""

from __future__ import annotations

import codecs
import gzip
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import zstandard

from reportgen.inputs.feedback import FeedbackRead, read_feedback
from reportgen.inputs.sources import Source
from reportgen.names import Names
from trust.tally import Count, time_limit

NAMES = ("Date", "Pipeline", "Agent", "Score", "Issue", "Resolution", "Pattern")
_SECONDS = 20.0
#: A cell as it is written, and what a reader sees of it.
_TEXTS = (
    ("too many rounds", None), ("fixed \\| pending", "fixed | pending"), ("a <br> b", "a b"), ("[see](x.md)", "see"),
    ("5 < 6 & 7 > 2", None), ("snake_case_name", None), ("**bold** words", "bold words"), ("R&amp;D", "R&D"),
    ("<b>x</b>", "x"), ("a \\* b", "a * b"), ("<script>alert(1)</script>", "alert(1)"), ("日本 é 🚀", None), ("", None),
    ("—", None), ("`code` here", "code here"), ("~~old~~ new", "old new"), ("100 %", None), ("x" * 3000, None),
    ("{{ not_a_template }} words", None), ("\u202eabc", None), ("'quoted' \"twice\"", None), ("a\\\\b", "a\\b"),
)  # fmt: skip
_AGENTS = (("writer", "writer"), ("**Code Reader**", "Code Reader"), ("@reviewer", "reviewer"), ("`agent-x`", "agent-x"),
           ("[Revisor](r.md)", "Revisor"), ("-", None), ("unknown", None), ("n/a", None))  # fmt: skip
_PIPELINES = (("docs", "docs"), ("*release  notes*", "release notes"), ("", None), ("none", None))
_SCORES = (("96/100", 96), ("45", 45), ("8.1%", Decimal("8.1")), ("**3/4**", 75), ("5/5, tests pass", 100), ("—", None),
           ("TBD", None), ("Critical / High", None), ("-5", None), ("101", None), ("0.67", Decimal("0.67")))  # fmt: skip
_TAGS = (("`loop-excess`", ("loop-excess",)), ("timeout, tool-fail", ("timeout", "tool-fail")), ("—", ()), ("", ()),
         ("Quality Low", ("quality-low",)), ("Own_Tag; own-tag", ("own-tag",)))  # fmt: skip

#: Pipeline, agent, date, score, issue, resolution and tags of a row.
Truth = tuple[Any, ...]


@dataclass(slots=True)
class Written:
    """A file's lines, and what must come of them. `open_at`: the line from which all is swallowed, and said to be."""

    lines: list[bytes] = field(default_factory=list)
    rows: dict[int, Truth] = field(default_factory=dict)
    rejected: dict[int, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    open_at: int = 0
    data: bytes = b""

    #: Whether the next line belongs to a table.
    inside: bool = False

    def add(self, text: str | bytes) -> int:
        """Add a line and return its number."""
        self.inside = self.inside and bool(text.strip())
        self.lines.append(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
        return len(self.lines)


class _Author:
    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.out = Written()
        self.columns: list[str] = []

    def write(self) -> Written:
        rng, out = self.rng, self.out
        if rng.randrange(2):
            out.add("# Feedback")
            out.add("")
        for _ in range(rng.choice((1, 1, 2))):
            self._table()
        if rng.randrange(10) == 0:
            self._never_closed()
        end = rng.choice((b"\n", b"\n", b"\r\n"))
        last = end if rng.randrange(2) or not out.lines[-1] else b""
        data = end.join(out.lines) + last
        kind = rng.choice(("plain",) * 6 + ("mark", "utf-16-le", "utf-16-be"))
        try:
            if kind.startswith("utf-16"):
                data = ("\ufeff" + data.decode()).encode(kind)
                out.faults.append(kind)
        except UnicodeDecodeError:
            pass
        if kind == "mark":
            data = codecs.BOM_UTF8 + data
        pack = rng.choice((bytes,) * 6 + (gzip.compress, zstandard.compress))
        out.data = pack(data)
        return out

    def _table(self) -> None:
        rng, out = self.rng, self.out
        columns = [name for name in NAMES if name in ("Agent", "Score", "Pattern") or rng.randrange(8)]
        columns += rng.choice(([], [], ["Note"]))
        if rng.randrange(3) == 0:
            rng.shuffle(columns)
        self.columns = columns
        shown = [rng.choice((name, name.upper(), f"**{name}**", name.lower())) for name in columns]
        out.add("| " + " | ".join(shown) + " |")
        out.add("|" + "|".join(rng.choice(("---", ":--", ":-:", "--:", "-")) for _ in columns) + "|")
        out.inside = True
        for _ in range(rng.choice((0, 1, 4, 12, 40))):
            if rng.randrange(5):
                self._row()
            else:
                fault = rng.choice(_FAULTS)
                out.faults.append(fault.__name__.strip("_"))
                fault(self)
        out.add("")

    # --- rows ---------------------------------------------------------------------------------------------------------

    def _cells(self) -> tuple[list[str], dict[str, Any]]:
        rng = self.rng
        day = date(2026, 1, 1) + timedelta(days=rng.randrange(400))
        written: dict[str, tuple[str, Any]] = {
            "Date": rng.choice(((day.isoformat(), day), (f"{day:%Y/%m/%d}", day), (f"{day:%d %b %Y}", day),
                                (day.isoformat(), day), ("—", None), (f"{day:%b %d}", None), ("02/03/2026", None))),
            "Pipeline": rng.choice(_PIPELINES), "Agent": rng.choice(_AGENTS), "Score": rng.choice(_SCORES),
            "Issue": self._text(), "Resolution": self._text(), "Pattern": rng.choice(_TAGS), "Note": ("n", None),
        }  # fmt: skip
        if written["Agent"][1] is None and written["Score"][1] is None:
            written["Agent"] = _AGENTS[0]
        return [written[name][0] for name in self.columns], {name: written[name][1] for name in self.columns}

    def _text(self) -> tuple[str, str]:
        raw, shown = self.rng.choice(_TEXTS)
        return raw, raw if shown is None else shown

    def _line(self, cells: list[str]) -> str:
        form = self.rng.choice(("| {} |", "|{}|", "| {} | ", "  | {} |"))
        # Without a border an empty first or last cell could not be told.
        if self.rng.randrange(4) == 0 and cells[0].strip() and cells[-1].strip() and cells[0][0].isalnum():
            form = "{}"
        return form.format(" | ".join(cells))

    def _truth(self, values: dict[str, Any]) -> Truth:
        score = values.get("Score")
        return (
            values.get("Pipeline"), values.get("Agent"), values.get("Date"), None if score is None else Decimal(score),
            values.get("Issue") or "", values.get("Resolution") or "", tuple(values.get("Pattern") or ()),
        )  # fmt: skip

    def _row(self) -> None:
        cells, values = self._cells()
        self.out.rows[self.out.add(self._line(cells))] = self._truth(values)

    # --- faults -------------------------------------------------------------------------------------------------------

    def _blank_between(self) -> None:
        for _ in range(self.rng.randint(1, 3)):
            self.out.add(self.rng.choice(("", "", "   ")))
        self._bordered()

    def _bordered(self) -> None:
        """Write a row that a reader knows by its border, since it stands outside of the table."""
        cells, values = self._cells()
        self.out.rows[self.out.add("| " + " | ".join(cells) + " |")] = self._truth(values)

    def _under_a_heading(self) -> None:
        self.out.add("")
        self.out.add(self.rng.choice(("## Later", "some words", "- a list", "> a quote")))
        self.out.add("")
        self._bordered()

    def _too_few(self) -> None:
        cells, values = self._cells()
        keep = self.rng.randint(2, len(cells))
        needed = set(self.columns[:keep])
        if not any(cell.strip(" -—") for cell in cells[:keep]) or not {"Agent", "Score"} & needed:
            return
        kept = {name: value for name, value in values.items() if name in needed}
        self._of_other_length(cells[:keep], len(cells), kept)

    def _too_many(self) -> None:
        cells, values = self._cells()
        self._of_other_length([*cells, "more", "x"], len(cells), values)

    def _of_other_length(self, cells: list[str], count: int, values: dict[str, Any]) -> None:
        """In a table a row may have any number of cells; outside only the header's number makes one."""
        inside = self.out.inside
        number = self.out.add("| " + " | ".join(cells) + " |")
        if inside or len(cells) == count:
            self.out.rows[number] = self._truth(values)
        elif len(cells) >= 3:
            self.out.rejected[number] = "outside every table"

    def _pipe_in_code(self) -> None:
        cells, values = self._cells()
        where = [name for name in ("Issue", "Resolution") if name in values]
        if where:
            place = self.columns.index(where[0])
            cells[place], values[where[0]] = "`a | b` x", "a | b x"
        if not any("`" in cell for number, cell in enumerate(cells) if not where or number != place):
            self.out.rows[self.out.add("| " + " | ".join(cells) + " |")] = self._truth(values)

    def _bad_byte(self) -> None:
        cells, _ = self._cells()
        line = ("| " + " | ".join(cells) + " |").encode()
        at = self.rng.randint(1, len(line) - 2)
        # Not within a character, and not between a backslash and its pipe.
        while 0x80 <= line[at] < 0xC0 or line[at - 1] == ord("\\"):
            at -= 1
        self.out.rejected[self.out.add(line[:at] + b"\xff" + line[at:])] = "UTF-8"

    def _nul(self) -> None:
        cells, values = self._cells()
        text = "| " + " | ".join(cells) + " |"
        at = self.rng.randint(2, len(text) - 2)
        self.out.rows[self.out.add(text[:at] + "\x00" + text[at:])] = self._truth(values)

    def _template(self) -> None:
        self.out.add("| " + " | ".join(f"{{{{{name.upper()}}}}}" for name in self.columns) + " |")

    def _total(self) -> None:
        cells = ["" for _ in self.columns]
        cells[0] = self.rng.choice(("**Average**", "Total", "Mean score"))
        self.out.add("| " + " | ".join(cells) + " |")

    def _header_again(self) -> None:
        self.out.add("| " + " | ".join(self.columns) + " |")
        self.out.add("|" + "---|" * len(self.columns))
        self.out.inside = True

    def _empty_row(self) -> None:
        self.out.add("|" + "  |" * len(self.columns))

    def _in_a_fence(self) -> None:
        self._shut("```markdown", "```")

    def _in_a_comment(self) -> None:
        self._shut("<!--", "-->")

    def _shut(self, opening: str, closing: str) -> None:
        self.out.add("")
        self.out.add(opening)
        cells, _ = self._cells()
        self.out.add("| " + " | ".join(self.columns) + " |")
        self.out.add("|" + "---|" * len(self.columns))
        self.out.add("| " + " | ".join(cells) + " |")
        self.out.add(closing)
        self.out.add("")
        self._bordered()

    def _other_table(self) -> None:
        for line in ("", "| Key | Value |", "|---|---|", "| a | 1 |", "", "## Back", ""):
            self.out.add(line)
        self._bordered()

    def _cut_off(self) -> None:
        """A row outside of every table, with another number of cells, is said to be unreadable."""
        self.out.add("")
        self.out.rejected[self.out.add("| x |" + " y |" * (len(self.columns) + 2))] = "outside every table"
        self.out.add("")

    def _never_closed(self) -> None:
        self.out.add("")
        self.out.open_at = self.out.add(self.rng.choice(("```", "<!-- later:")))
        cells, _ = self._cells()
        self.out.add("| " + " | ".join(cells) + " |")


_FAULTS = (
    _Author._blank_between, _Author._blank_between, _Author._under_a_heading, _Author._too_few, _Author._too_many,
    _Author._pipe_in_code, _Author._bad_byte, _Author._nul, _Author._template, _Author._total, _Author._header_again,
    _Author._empty_row, _Author._in_a_fence, _Author._in_a_comment, _Author._other_table, _Author._cut_off,
)  # fmt: skip


def corrupted(seed: int) -> Written:
    """Return the file of this seed."""
    return _Author(Random(seed)).write()


def read(path: Path) -> tuple[FeedbackRead, Counter[tuple[int, Truth]]]:
    """Read a file; also its rows by their lines, with names in place of numbers."""
    names = Names()
    found = read_feedback([Source(path=path, name=path.name, kind="feedback")], names, redact=True)
    shown = {row.spelling_no: row.spelling for row in names.rows(redacted=False)}

    def name(number: int | None) -> str | None:
        return None if number is None else shown[number]

    rows = Counter(
        (r.line, (name(r.pipeline_no), name(r.agent_no), r.date, r.score, r.issue, r.resolution, tuple(r.tags)))
        for r in found.rows
    )
    return found, rows


def problems(file: Written, found: FeedbackRead, rows: Counter[tuple[int, Truth]]) -> Iterator[str]:
    """Yield how a reading differs from the truth."""
    wanted = Counter((number, truth) for number, truth in file.rows.items())
    for number, truth in (wanted - rows).elements():
        yield f"lost: line {number}: {truth}"
    for number, truth in (rows - wanted).elements():
        yield f"made up: line {number}: {truth}"
    said = {line.line: line.reason for line in found.rejected}
    for number in said.keys() ^ file.rejected.keys():
        yield f"line {number} is {'not ' * (number not in said)}rejected ({said.get(number)})"
    for number in said.keys() & file.rejected.keys():
        if file.rejected[number] not in said[number]:
            yield f"line {number}: '{said[number]}', and not '{file.rejected[number]}'"
    (account,) = found.files
    blank = sum(not line.strip() for line in file.lines)
    if (account.lines, account.blank, account.used) != (len(file.lines), blank, len(file.rows)):
        yield f"{account}, and not {len(file.lines)} lines, {blank} blank, {len(file.rows)} used"
    fates = account.used + account.not_cost + account.rejected + account.blank
    if fates != account.lines or account.not_cost < 0:
        yield f"{account.lines} lines and {fates} fates"
    never = [notice.line for notice in found.notices if notice.code == "feedback-never-closed"]
    if never != [file.open_at] * bool(file.open_at):
        yield f"never closed from {file.open_at}, said of {never}"


def run(files: int, *, first: int = 0) -> list[Count]:
    """Read so many mutated feedback files."""
    count = Count("mutated feedback files")
    lines = faults = 0
    with TemporaryDirectory(prefix="reportgen-trust-") as folder:
        path = Path(folder) / "FEEDBACK.md"
        for seed in range(first, first + files):
            file = corrupted(seed)
            path.write_bytes(file.data)
            lines += len(file.lines)
            faults += len(file.faults)
            count.number += 1
            try:
                with time_limit(_SECONDS):
                    found = list(problems(file, *read(path)))
            except Exception as error:
                found = [f"{type(error).__name__}: {error}"]
            count.losses += [f"seed {seed}: {problem[:300]}" for problem in found]
    count.note = f"{lines:,} lines, {faults:,} faults"
    return [count]
