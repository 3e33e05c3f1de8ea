"""What the input rooms say beside the rows."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen.model import InputFile, Notice, RejectedLine
from reportgen.quickclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the input rooms say beside the rows: accounts, rejected lines, remarks."""

    inputs: Sequence[InputFile]
    rejected: Sequence[RejectedLine]
    notices: Sequence[Notice]
    healing_present: bool
