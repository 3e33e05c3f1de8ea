"""A `build` that does nothing but what a test asks of it, for the tests of the command line alone."""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from report_factory import sample_report

import reportgen
from reportgen.model import Report


class FakeBuilding(types.ModuleType):
    """Stands in for `reportgen.building`: remembers how it was called, and answers with `report`."""

    def __init__(self) -> None:
        super().__init__("reportgen.building")
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.report: Report = well()
        self.exit_code = 0
        self.rejected_errors = 0
        self.kept: tuple[str, ...] = ()
        self.error: BaseException | None = None
        self.steps: Callable[[Callable[[str, int, int], None]], None] = lambda progress: None
        self.messages: list[str] = []

    def build(
        self,
        project: str | Path = ".",
        *,
        settings_file: str | Path | None = None,
        progress: Callable[[str, int, int], None] | None = None,
        on_message: Callable[[str], None] | None = None,
        **flags: object,
    ) -> Any:
        self.calls.append((str(project), {"settings_file": settings_file, **flags}))
        for message in self.messages:
            assert on_message is not None
            on_message(message)
        if progress is not None:
            self.steps(progress)
        if self.error is not None:
            raise self.error
        home = Path(project).resolve()
        return types.SimpleNamespace(
            report=self.report,
            recommendations=home / "RECOMMENDATIONS.md",
            site=home / "site",
            exit_code=self.exit_code,
            written=31,
            unchanged=4,
            removed=1,
            kept=self.kept,
            single_file=None,
            rejected_errors=self.rejected_errors,
            notices=tuple(self.report.notices),
            left_out=(),
            cautions=(),
        )


def well() -> Report:
    """The sample report without the detector that failed."""
    report = sample_report()
    return replace(report, detectors=[d for d in report.detectors if d.status != "error"])


def install(fake: FakeBuilding) -> FakeBuilding:
    """Put the fake in the place of the room, in this process."""
    sys.modules["reportgen.building"] = fake
    vars(reportgen)["building"] = fake
    return fake


def main() -> int:
    """Run a command line on the fake in a process of its own; `FAKE_BUILD` holds Python that sets it up."""
    from reportgen import __main__ as commands

    fake = install(FakeBuilding())
    exec(os.environ.get("FAKE_BUILD", ""), {"fake": fake, "os": os, "sys": sys})
    return commands.main()


if __name__ == "__main__":
    sys.exit(main())
