"""Remarks about one file, kept few: the first of each kind by name, the rest as a number."""

from __future__ import annotations

from typing import Literal

from reportgen.model import Notice
from reportgen.quickclass import dataclass

Severity = Literal["info", "warning"]

#: Remarks of one kind and file that are shown one by one.
SHOWN_EACH = 20


@dataclass(slots=True)
class _Tally:
    severity: Severity
    line: int | None
    count: int = 0


class Notes:
    """The notices of one file, in the order of their lines. Messages are clauses here and come out as sentences."""

    def __init__(self, file: str | None) -> None:
        self._file = file
        self._each: dict[str, list[Notice]] = {}
        self._more: dict[str, int] = {}
        self._tallies: dict[tuple[str, str, str], _Tally] = {}

    def add(
        self, code: str, message: str, line: int | None = None, severity: Severity = "warning", count: int = 1
    ) -> None:
        """Say one thing about one line (or about `count` things from that line on)."""
        shown = self._each.setdefault(code, [])
        if len(shown) < SHOWN_EACH:
            shown.append(self._notice(code, message, severity, line, count))
        else:
            self._more[code] = self._more.get(code, 0) + count

    def tally(self, code: str, message: str, line: int | None, severity: Severity = "warning", of: str = "row") -> None:
        """Count one of many; `message` says `{n}` for the number and the word (`3 rows`)."""
        entry = self._tallies.setdefault((code, message, of), _Tally(severity, line))
        entry.count += 1

    def notices(self) -> list[Notice]:
        """Return everything said, sorted by line; what was too much to show one by one is counted last."""
        out = [notice for shown in self._each.values() for notice in shown]
        for (code, said, of), entry in self._tallies.items():
            number = f"{entry.count} {of if entry.count == 1 else _plural(of)}"
            message = said.replace("{n}", number)
            out.append(self._notice(code, message, entry.severity, entry.line, entry.count))
        out.sort(key=lambda notice: (notice.line or 0, notice.code, notice.message))
        for code, more in sorted(self._more.items()):
            last = self._each[code][-1]
            out.append(
                self._notice(
                    code,
                    f"{more} more of this kind; the last one shown is of line {last.line}",
                    last.severity,
                    None,
                    more,
                )
            )
        return out

    def _notice(self, code: str, message: str, severity: Severity, line: int | None, count: int) -> Notice:
        sentence = message[:1].upper() + message[1:] + "."
        return Notice(code=code, message=sentence, severity=severity, file=self._file, line=line, count=count)


def _plural(word: str) -> str:
    return word[:-1] + "ies" if word.endswith("y") else word + "s"
