"""What DuckDB says about a statement that failed, as a message and a place in the text of the file it came from."""

from __future__ import annotations

import json

from reportgen.sqlhint import syntax_step


class SqlError(Exception):
    """A statement of a SQL file failed: the message, the line and column of the file where DuckDB points, a hint."""

    def __init__(self, message: str, line: int | None, column: int | None = None, hint: str = "") -> None:
        self.message = message
        self.line = line
        self.column = column
        self.hint = hint
        super().__init__(message)

    @property
    def said(self) -> str:
        """Return the message with its hint."""
        return f"{self.message}. {self.hint}" if self.hint else self.message


class OutOfMemoryError(SqlError):
    """A statement needs more memory than the settings allow."""

    def __init__(self, memory: str) -> None:
        self.memory = memory
        super().__init__(f"needs more memory than {memory} ([limits] memory)", None)


def failure(told: str, text: str = "", lead: int = 0, memory: str = "") -> SqlError:
    """Read an error of a connection with `errors_as_json`, about `text`, which was sent after `lead` bytes of ours.

    `memory`: the limit in force, which the message names where it was reached.
    """
    try:
        facts = json.loads(told[told.index("{") :])
        kind, message = str(facts["exception_type"]), str(facts["exception_message"])
    except (ValueError, KeyError, TypeError):
        return SqlError(first_line(told), None)
    if kind == "Out of Memory" and memory:
        return OutOfMemoryError(memory)
    line, column = None, None
    place = str(facts.get("position", ""))
    if place.isdigit() and int(place) >= lead:
        # DuckDB counts bytes.
        before = text.encode()[: int(place) - lead].decode("utf-8", "replace")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    rest = [line.strip() for line in message.splitlines()[1:]]
    hint = next((line.replace(": :", ":") for line in rest if line.startswith(("Did you mean", "Candidate b"))), "")
    if kind == "Parser" and text:
        hint = hint or syntax_step(text, int(place) - lead if line is not None else None, message)
    return SqlError(f"{kind} Error: {first_line(message).rstrip('.!')}", line, column, hint)


def first_line(text: str) -> str:
    """Return the first line of a message."""
    return text.strip().splitlines()[0] if text.strip() else "it failed without a message"
