"""One error type for everything a person has to act on, and the exit codes of SPEC 9."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What `reportgen build` tells its caller. `FAULT`: reportgen itself is wrong (sysexits' EX_SOFTWARE)."""

    DONE = 0
    DETECTOR_FAILED = 1
    USAGE = 2
    NO_INPUT = 3
    SCORE_REACHED = 4
    FAULT = 70
    INTERRUPTED = 130


class ReportgenError(Exception):
    """A problem that a person can mend: where it is, what is wrong, what to do next.

    `where` is a path, a `path:line`, a flag or a settings key; `what` a clause without a full stop;
    `next_step` an instruction. All three are shown; `exit_code` is what the command ends with.
    """

    def __init__(self, where: str, what: str, next_step: str = "", exit_code: int = ExitCode.USAGE) -> None:
        self.where = where
        self.what = what
        self.next_step = next_step
        self.exit_code = int(exit_code)
        super().__init__(str(self))

    @property
    def said(self) -> str:
        """Return what is wrong and what to do next, without the place."""
        return f"{self.what}. {self.next_step}" if self.next_step else self.what

    def __str__(self) -> str:
        return f"{self.where}: {self.said}" if self.where else self.said


def is_interrupt(error: BaseException) -> bool:
    """Say whether DuckDB tells so of a Ctrl-C that came while it was at work."""
    return type(error) is RuntimeError and str(error) == "Query interrupted"
