"""Settings and flags, as one frozen value that every room reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a build works with: `reportgen.toml`, then flags over it. Paths are absolute; globs are as written."""

    project: Path
    #: The settings file that was read, if any (for messages).
    file: Path | None = None
    #: Paths or globs, relative to the project; empty: the default places of SPEC 1.
    events: tuple[str, ...] = ()
    feedback: tuple[str, ...] = ()
    healing_log: str | None = None
    budget: str | None = None
    #: Outputs; the defaults are `RECOMMENDATIONS.md` and `site` in the project.
    recommendations: Path
    site: Path
    run_gap: timedelta = timedelta(minutes=30)
    #: A feedback score below this is low, and an agent whose mean is below it is flagged.
    score_flag: Decimal = Decimal(60)
    redact: bool = True
    #: First instant and last instant looked at, both included, UTC. A date given for the end means its whole day.
    since: datetime | None = None
    until: datetime | None = None
    window: timedelta | None = None
    #: "Now is this": nothing later is seen.
    as_of: datetime | None = None
    pipeline: str | None = None
    #: Agents that a pipeline is meant to have, by pipeline name as written.
    roster: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: Parameters per detector id, as written in TOML with numbers read exactly.
    parameters: dict[str, dict[str, Decimal | int | str | bool]] = field(default_factory=dict)
    disabled: frozenset[str] = frozenset()
    #: Own names for canonical event fields, tried before the built-in ones: `{"agent": ("worker",)}`.
    fields: dict[str, tuple[str, ...]] = field(default_factory=dict)
    strict: bool = False
    adopt: bool = False
    fail_on: int | None = None

    @property
    def work(self) -> Path:
        """The hidden work folder, which may be deleted at any time."""
        return self.project / ".reportgen"
