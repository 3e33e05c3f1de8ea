"""The healing log: the lines that `reportgen heal` appends become rows, every line with one fate (SPEC 2 and 7)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation

from reportgen.errors import ExitCode, ReportgenError
from reportgen.inputs.lines import MAX_LINE_BYTES, LineFile, TooLong
from reportgen.inputs.notes import Notes
from reportgen.inputs.records import BARE_NAN, ESCAPED_NUL, LONE_SURROGATE, STILL_BEING_WRITTEN, LineReader, canonical
from reportgen.inputs.sources import Source, shown_name
from reportgen.inputs.textlines import shortened, snippet
from reportgen.inputs.times import utc_text
from reportgen.model import InputFile, Notice, RejectedLine
from reportgen.names import Names, squeeze
from reportgen.quickclass import dataclass
from reportgen.redact import redact as redact_text

#: What `heal` answers; another action is kept as it is, and said.
ACTIONS = frozenset(
    {"retry-shorter-scope", "retry-backoff", "retry-stricter-prompt", "skip", "alert-operator", "abort", "escalate"}
)

_TOO_LONG = f"longer than {MAX_LINE_BYTES // (1024 * 1024)} MiB"
_NOT_AN_ENTRY = "no entry of a healing log: it has no"
_ODDITIES = {
    LONE_SURROGATE: "{n} with half a Unicode character (a lone surrogate); replaced by \N{REPLACEMENT CHARACTER}",
    ESCAPED_NUL: "{n} with an escaped NUL character; it was dropped",
    BARE_NAN: "{n} with a bare NaN or Infinity, which is not JSON; that value is unknown",
}


@dataclass(frozen=True, slots=True)
class HealingRow:
    """One recovery attempt. `timestamp` is UTC without a zone; names are numbers of `Names`; texts are as shown.

    `row_no` counts from 0 in the order of the log, `line` from 1. What is missing or unusable is None, or "" in texts.
    """

    row_no: int
    line: int
    timestamp: datetime | None
    pipeline_no: int | None
    agent_no: int | None
    run_no: int | None
    error_type: str
    attempt: int | None
    max_attempts: int | None
    action: str
    exit_code: int | None
    delay_seconds: Decimal | None
    reason: str
    context: str


@dataclass(frozen=True, slots=True)
class HealingRead:
    """The account of the log (one file), its entries in order, every rejected line, and remarks."""

    files: tuple[InputFile, ...]
    rows: tuple[HealingRow, ...]
    rejected: tuple[RejectedLine, ...]
    notices: tuple[Notice, ...]


def read_healing(source: Source, names: Names, *, redact: bool) -> HealingRead:
    """Read the healing log. A line counts where it holds at least one object with an `action` and an `error_type`.

    All other lines are rejected, or blank. Raises ReportgenError (exit 3) where the file can't be read.
    """
    reader = _Reader(shown_name(source, redacted=redact), names, redacted=redact)
    file = LineFile(source.path)
    try:
        for line in file:
            reader.take(line, unterminated=file.unterminated)
    except OSError as error:
        what = f"can't be read: {error.strerror or error}"
        raise ReportgenError(reader.shown, what, "Check that it is a file you may read.", ExitCode.NO_INPUT) from error
    return reader.result(file)


class _Reader:
    def __init__(self, shown: str, names: Names, *, redacted: bool) -> None:
        self.shown = shown
        self._names = names
        self._redacted = redacted
        self._lines = LineReader()
        self._notes = Notes(shown)
        self._rows: list[HealingRow] = []
        self._rejected: list[RejectedLine] = []
        self._number = self._used = self._blank = self._broken = 0

    def take(self, line: bytes, *, unterminated: bool) -> None:
        """Take the next line; `unterminated`: it is the last, and has no line end."""
        self._number += 1
        if isinstance(line, TooLong):
            self._reject(_TOO_LONG, line[1:])
            return
        parsed = self._lines.read(line)
        if parsed.reason is not None:
            self._reject(STILL_BEING_WRITTEN if parsed.unparsed and unterminated else parsed.reason, line)
            return
        if not parsed.records:
            self._blank += 1
            return
        missing = [_what_is_missing(record) for record in parsed.records]
        if all(missing):
            self._reject(f"{_NOT_AN_ENTRY} {missing[0]}", line)
            return
        self._used += 1
        broken = parsed.broken + sum(map(bool, missing))
        if broken:
            self._broken += broken
            message = "{n} with a torn or foreign record beside a whole one, which was used"
            self._notes.tally("torn-records", message, self._number, of="line")
        for oddity in parsed.oddities:
            self._notes.tally(oddity, _ODDITIES[oddity], self._number, of="line")
        for record, lacks in zip(parsed.records, missing, strict=True):
            if not lacks:
                self._rows.append(self._row(record))

    def result(self, file: LineFile) -> HealingRead:
        """Return everything, with one rejected line more where a compressed log breaks off."""
        if file.damage:
            last = self._rejected[-1] if self._rejected else None
            if last and last.line == self._number and file.unterminated:
                self._rejected[-1] = RejectedLine(
                    file=last.file, line=last.line, reason=file.damage, snippet=last.snippet
                )
            else:
                self._number += 1
                self._reject(file.damage, b"")
        account = InputFile(
            file=self.shown,
            kind="healing",
            lines=self._number,
            used=self._used,
            superseded=0,
            duplicates=0,
            not_cost=0,
            rejected=len(self._rejected),
            blank=self._blank,
            events=len(self._rows),
            broken_parts=self._broken,
        )
        return HealingRead((account,), tuple(self._rows), tuple(self._rejected), tuple(self._notes.notices()))

    def _reject(self, reason: str, line: bytes) -> None:
        shown = snippet(line[:16384].decode("utf-8", "replace"), redacted=self._redacted)
        self._rejected.append(RejectedLine(file=self.shown, line=self._number, reason=reason, snippet=shown))

    # --- fields -----------------------------------------------------------------------------------------------------

    def _row(self, record: Mapping[str, object]) -> HealingRow:
        action = _fold_word(self._text(record, "action"))
        if action not in ACTIONS:
            self._notes.tally("healing-action", "{n} with an action that heal does not know", self._number, of="line")
        agent = self._name(record, "agent")
        return HealingRow(
            row_no=len(self._rows),
            line=self._number,
            timestamp=self._time(record.get("timestamp")),
            pipeline_no=self._names.pipeline(self._name(record, "pipeline")),
            agent_no=self._names.agent(agent),
            run_no=self._names.run(self._name(record, "run_id")),
            error_type=_fold_word(self._text(record, "error_type")),
            attempt=self._whole(record, "attempt", 2**63),
            max_attempts=self._whole(record, "max_attempts", 2**63),
            action=action,
            exit_code=self._whole(record, "exit_code", 2**31),
            delay_seconds=self._seconds(record.get("delay_seconds")),
            reason=self._text(record, "reason"),
            context=self._text(record, "context"),
        )

    def _time(self, value: object) -> datetime | None:
        text, problem = utc_text(value)
        if not problem:
            return datetime.fromisoformat(text)
        what = "no timestamp" if value is None or value == "" else "a timestamp that can't be used"
        self._notes.tally("healing-time", "{n} with " + what + "; kept, undated", self._number, of="entry")
        return None

    def _name(self, record: Mapping[str, object], key: str) -> str | None:
        value = record.get(key)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        self._unusable(key)
        return None

    def _text(self, record: Mapping[str, object], key: str) -> str:
        value = record.get(key)
        if value is None:
            return ""
        text = squeeze(value if isinstance(value, str) else canonical({key: value}))
        return shortened(redact_text(text) if self._redacted else text)

    def _whole(self, record: Mapping[str, object], key: str, limit: int) -> int | None:
        number = _number(record.get(key))
        if number is not None and 0 <= number < limit and number == number.to_integral_value():
            return int(number)
        if record.get(key) not in (None, ""):
            self._unusable(key)
        return None

    def _seconds(self, value: object) -> Decimal | None:
        number = _number(value)
        if number is not None and 0 <= number < 10**9:
            return number.quantize(Decimal("0.001"))
        if value not in (None, ""):
            self._unusable("delay_seconds")
        return None

    def _unusable(self, key: str) -> None:
        message = "{n} with " + f"a value of {key} that can't be used; it counts as missing"
        self._notes.tally("healing-value", message, self._number, of="entry")


def _what_is_missing(record: Mapping[str, object]) -> str:
    for key in ("action", "error_type"):
        value = record.get(key)
        if not isinstance(value, str) or not value.strip():
            return key
    return ""


def _number(value: object) -> Decimal | None:
    """Return a JSON number or a numeric string as a finite Decimal; booleans are not numbers."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        return None
    try:
        number = Decimal(value.strip() if isinstance(value, str) else value)
    except InvalidOperation:
        return None
    return number if number.is_finite() and number.adjusted() < 30 else None


def _fold_word(text: str) -> str:
    """Return the one spelling of a type or an action: `API_Error` and `api error` are `api-error`."""
    return "-".join(text.casefold().replace("_", " ").replace("-", " ").split())
