"""BUDGET.md: limits as list items (INPUTS.md 5). What is not understood is named, and never becomes 0 or no limit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from decimal import Decimal

from reportgen.inputs.budget_values import (
    Window,
    read_amount,
    read_percent,
    read_switch,
    read_window,
    says_no_limit,
)
from reportgen.inputs.notes import Notes
from reportgen.inputs.sources import Source, shown_name
from reportgen.inputs.textlines import TextFile, read_text, snippet
from reportgen.model import InputFile, Notice
from reportgen.names import Names, clean_name, fold
from reportgen.quickclass import dataclass

_ITEM = re.compile(r"\s*(?:>\s*)*(?:[-*+]|[0-9]{1,9}[.)])\s+(?:\[[ xX]\]\s+)?(?P<text>.*)")
_COMMENT = re.compile(r"<!--.*?-->|(?:^|\s)#\s.*$")
_FENCE = re.compile(r"\s*(?:>\s*)*(?P<marks>`{3,}|~{3,})(?P<info>.*)")
_TEMPLATE = re.compile(r"\{\{.*?\}\}")
_MARKS = "*_`~ \t"
#: Keys of the whole project's budget, after folding `_` and `-`.
_SETTINGS = frozenset({"window", "limit", "warn percent", "hard stop"})
#: Items that only introduce others, and words for "all agents" in a place where an agent can stand.
_LABELS = frozenset({"agents", "agent", "per agent", "budget", "budgets", "limits", "limit per agent", "agent limits"})
_EVERYBODY = frozenset({"all", "all agents", "(all agents)", "project", "everyone", "overall", "total"})


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """One limit: of one agent (a number of `Names`) or, with None, of all together, in US dollars per window."""

    agent_no: int | None
    window: Window
    limit_usd: Decimal
    #: Percent of the limit from which to warn, 1 to 100; and whether spending is meant to stop at the limit.
    warn_percent: Decimal | None
    hard_stop: bool | None


@dataclass(frozen=True, slots=True)
class BudgetRead:
    """The account of the file, its limits in order (one per agent and window), and remarks."""

    files: tuple[InputFile, ...]
    rows: tuple[BudgetRow, ...]
    notices: tuple[Notice, ...]


def read_budget(source: Source, names: Names, *, redact: bool = True) -> BudgetRead:
    """Read the list items `- window: daily`, `- limit: 500 cents`, `- agent-writer: 200 cents/daily` and their kin.

    `warn_percent` and `hard_stop` hold for all limits. An item that is not understood gives a warning that names its
    line, and no limit. Other lines are prose (`not_cost`). Raises ReportgenError (exit 3) where the file can't be read.
    """
    shown = shown_name(source, redacted=redact)
    reader = _Reader(shown, read_text(source.path, shown), names, redacted=redact)
    return reader.read()


@dataclass(slots=True)
class _Limit:
    """A limit as it stands: its window may be named on another line."""

    line: int
    who: str
    agent_no: int | None
    amount: Decimal
    window: Window | None


@dataclass(slots=True)
class _Project:
    """What holds for the whole file."""

    window: Window | None = None
    #: Whether a window line stands in the file at all, understood or not.
    window_named: bool = False
    warn_percent: Decimal | None = None
    hard_stop: bool | None = None
    seen: set[str] = field(default_factory=set)


class _Reader:
    def __init__(self, shown: str, text: TextFile, names: Names, *, redacted: bool) -> None:
        self._shown = shown
        self._text = text
        self._names = names
        self._redacted = redacted
        self._notes = Notes(shown)
        self._project = _Project()
        self._limits: list[_Limit] = []
        self._used: set[int] = set()

    def read(self) -> BudgetRead:
        for number, line in self._open_lines():
            self._line(number, line)
        rows = self._rows()
        if not self._used and not self._notes.notices():
            self._notes.add("budget-empty", "no limit was found; a limit is a list item such as - limit: 500 cents")
        written = {n for n, line in zip(self._text.numbers, self._text.lines, strict=True) if line.strip()}
        damaged = self._text.damage is not None
        if damaged:
            self._notes.add("file-damaged", self._text.damage or "", self._text.count)
        account = InputFile(
            file=self._shown,
            kind="budget",
            lines=self._text.count,
            used=len(self._used),
            superseded=0,
            duplicates=0,
            not_cost=len(written - self._used),
            rejected=0,
            blank=self._text.count - len(written),
            events=len(rows),
            broken_parts=0,
        )
        return BudgetRead((account,), tuple(rows), tuple(self._notes.notices()))

    # --- lines ------------------------------------------------------------------------------------------------------

    def _open_lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines outside code fences and HTML comments, comments within a line taken out."""
        fence = ""
        comment = False
        for number, line in zip(self._text.numbers, self._text.lines, strict=True):
            if comment:
                _, end, line = line.partition("-->")
                comment = not end
                if comment:
                    continue
            mark = _FENCE.match(line)
            if fence:
                closes = mark and mark["marks"].startswith(fence) and not mark["info"].strip()
                fence = "" if closes else fence
                continue
            if mark and "`" not in mark["info"]:
                fence = mark["marks"]
                continue
            line = _COMMENT.sub("", line) if not line.lstrip().startswith("#") else ""
            line, begin, _ = line.partition("<!--")
            comment = bool(begin)
            yield number, line

    def _line(self, number: int, line: str) -> None:
        item = _ITEM.fullmatch(line)
        text = (item["text"] if item else line).strip()
        key, separator, value = text.rpartition(":") if ":" in text else text.rpartition("=")
        key, value = clean_name(key.strip(_MARKS)), value.strip(_MARKS)
        folded = " ".join(key.casefold().replace("_", " ").replace("-", " ").split())
        if not item and folded not in _SETTINGS:
            if line.lstrip().startswith("|"):
                message = "a table is not read here; write list items such as - agent-writer: 200 cents/daily"
                self._notes.tally("budget-table", "{n} of " + message, number)
            return
        if not text:
            return
        if _TEMPLATE.search(text):
            self._notes.tally("budget-template", "{n} of an unfilled template, not read", number, "info", of="line")
            return
        if number in self._text.invalid:
            self._refuse(number, text, "is not valid UTF-8")
        elif not value and folded in _LABELS:
            self._used.add(number)
        elif not separator or not key or not value:
            self._refuse(number, text, "is not understood: write a name, a colon and a value")
        elif folded in _SETTINGS:
            self._setting(number, folded, value, text)
        else:
            self._limit_of(number, key, folded, value, text)

    def _refuse(self, number: int, text: str, why: str) -> None:
        self._notes.add(
            "budget-line", f"“{snippet(text, redacted=self._redacted)}” {why}; the line is not used", number
        )

    # --- what a line says -------------------------------------------------------------------------------------------

    def _setting(self, number: int, key: str, value: str, text: str) -> None:
        project = self._project
        if key == "limit":
            self._limit(number, "", None, value, text)
            return
        if key == "window":
            project.window_named = True
            window = read_window(value)
            if window is None:
                self._refuse(number, text, "names no window that is known: daily, weekly, monthly or total")
                return
            project.window = window
        elif key == "warn percent":
            percent = read_percent(value)
            if percent is None:
                self._refuse(number, text, "is no share of 1 to 100 percent")
                return
            project.warn_percent = percent
        else:
            switch = read_switch(value)
            if switch is None:
                self._refuse(number, text, "is neither true nor false")
                return
            project.hard_stop = switch
        if key in project.seen:
            self._notes.add("budget-twice", f"{key.replace(' ', '_')} is set twice; the last one holds", number)
        project.seen.add(key)
        self._used.add(number)

    def _limit_of(self, number: int, key: str, folded: str, value: str, text: str) -> None:
        """Read `agent: amount`, and `daily: amount` or `daily limit: amount` for all agents together."""
        window = read_window(re.sub(r" (?:limit|budget|cap)$", "", folded))
        if window is not None:
            self._limit(number, "", None, value, text, window)
            return
        if folded in _EVERYBODY:
            self._limit(number, "", None, value, text)
            return
        # Only an item with an amount names an agent: prose must not invent one.
        amount = read_amount(value)
        if isinstance(amount, str) and not says_no_limit(value):
            self._refuse(number, text, f"is not understood: its value {amount}")
            return
        agent_no = self._names.agent(key)
        if agent_no is None:
            self._refuse(number, text, "names no agent")
            return
        self._limit(number, key, agent_no, value, text)

    def _limit(
        self, number: int, who: str, agent_no: int | None, value: str, text: str, window: Window | None = None
    ) -> None:
        if says_no_limit(value):
            self._used.add(number)
            return
        amount = read_amount(value)
        if isinstance(amount, str):
            self._refuse(number, text, amount)
            return
        dollars, behind = amount
        if behind:
            named = read_window(behind)
            if named is None or window not in (None, named):
                why = "names no window that is known: daily, weekly, monthly or total"
                self._refuse(number, text, why if named is None else "names two windows")
                return
            window = named
        self._limits.append(_Limit(number, who, agent_no, dollars, window))

    def _rows(self) -> list[BudgetRow]:
        """Give each limit its window, and keep one per agent and window: the last."""
        project = self._project
        kept: dict[tuple[str, Window], BudgetRow] = {}
        for limit in self._limits:
            window = limit.window or project.window
            if window is None:
                which = "the window of the file is not known" if project.window_named else "no window is named"
                self._refuse(limit.line, self._line_text(limit.line), f"can't be used: {which}")
                continue
            who = fold(limit.who)
            if (who, window) in kept:
                whose = f"of “{snippet(limit.who, redacted=self._redacted)}”" if limit.who else "of all agents"
                self._notes.add(
                    "budget-twice", f"the {window} limit {whose} stands twice; the last one holds", limit.line
                )
            kept[(who, window)] = BudgetRow(
                limit.agent_no, window, limit.amount, project.warn_percent, project.hard_stop
            )
            self._used.add(limit.line)
        return list(kept.values())

    def _line_text(self, number: int) -> str:
        return self._text.lines[self._text.numbers.index(number)].strip()
