"""What is to be said about the events of a file: one notice for each kind and file, with a count and the first line."""

from __future__ import annotations

from collections.abc import Mapping

from reportgen.inputs import records
from reportgen.model import Notice

_IF_TOTALS = ' if they are, set running_totals = "always" in [inputs] of reportgen.toml, else "never" to silence this.'
_IF_STRANGE = (
    " reportgen inspect FILE lists the keys; name yours in [events.fields] of reportgen.toml (docs/sources.md)."
)

#: code: (severity, what is said of one, what is said of `{n}`). In the order in which the notices of a file stand.
_MESSAGES: dict[str, tuple[str, str, str]] = {
    "file-empty": ("info", "The file has no line in it.", ""),
    "file-damaged": (
        "warning",
        "The compressed file is cut short or damaged; what could be unpacked was read. Copy it again from its source.",
        "",
    ),
    "database-strange": (
        "warning",
        "The file is a SQLite database, and none of opencode: nothing in it was read."
        " Write what it holds as cost events, one JSON object a line.",
        "",
    ),
    "database-unreadable": (
        "warning",
        "The database is damaged, or something has it locked: the rest of it was not read. Run it again when nothing"
        " writes to it, or name a copy.",
        "",
    ),
    "json-array": (
        "warning",
        "The file seems to hold one JSON array; cost events are one JSON object a line."
        " Write it as lines, for example with: jq -c '.[]' FILE > FILE.jsonl",
        "",
    ),
    "torn-records": (
        "warning",
        "One torn record is glued to a whole one; the whole one was used, the torn one is lost.",
        "{n} torn records are glued to whole ones; the whole ones were used, the torn ones are lost.",
    ),
    records.LONE_SURROGATE: (
        "warning",
        "One line has half a Unicode character (a lone surrogate); it was replaced by \N{REPLACEMENT CHARACTER}.",
        "{n} lines have half a Unicode character (a lone surrogate); it was replaced by \N{REPLACEMENT CHARACTER}.",
    ),
    records.ESCAPED_NUL: (
        "warning",
        "One line has an escaped NUL character in a text; it was dropped.",
        "{n} lines have an escaped NUL character in a text; it was dropped.",
    ),
    records.BARE_NAN: (
        "warning",
        "One line has a bare NaN or Infinity, which is not JSON; that value is unknown.",
        "{n} lines have a bare NaN or Infinity, which is not JSON; those values are unknown.",
    ),
    "integer-name": (
        "warning",
        "One name or id is a number, not a text; it was read as its digits.",
        "{n} names or ids are numbers, not texts; they were read as their digits.",
    ),
    "unusable-name": (
        "warning",
        "One name or id is neither a text nor a number; it counts as missing.",
        "{n} names or ids are neither texts nor numbers; they count as missing.",
    ),
    "time-missing": (
        "info",
        "One event has no time; it is kept, undated.",
        "{n} events have no time; they are kept, undated.",
    ),
    "time-unreadable": (
        "warning",
        "The time of one event can't be read (ISO 8601 or an epoch number is expected); it is kept, undated.",
        "The time of {n} events can't be read (ISO 8601 or an epoch number is expected); they are kept, undated.",
    ),
    "time-out-of-range": (
        "warning",
        "The time of one event is outside the years 2000 to 2100; it is kept, undated.",
        "The times of {n} events are outside the years 2000 to 2100; they are kept, undated.",
    ),
    "tokens-unusable": (
        "warning",
        "One token count is not a whole number from 0 to below 1e12; it is unknown.",
        "{n} token counts are not whole numbers from 0 to below 1e12; they are unknown.",
    ),
    "cost-unusable": (
        "warning",
        "One cost is not a number from 0 to below 1e9 dollars; it is unknown, not 0.",
        "{n} costs are not numbers from 0 to below 1e9 dollars; they are unknown, not 0.",
    ),
    "cost-rounded": (
        "info",
        "One cost has more than 12 decimal places; it was rounded to 12, half to even.",
        "{n} costs have more than 12 decimal places; they were rounded to 12, half to even.",
    ),
    "duration-unusable": (
        "warning",
        "One duration is not a number from 0 up; it is unknown.",
        "{n} durations are not numbers from 0 up; they are unknown.",
    ),
    "cost-all-zero": (
        "warning",
        "The only cost in the file is 0: more likely a collector that does not know its costs than a free event.",
        "All {n} costs in the file are 0: more likely a collector that does not know its costs than a cheap month.",
    ),
    "summary-rows": (
        "info",
        "One record sums up others (its type says so, or all its numbers are totals); it was not counted again.",
        "{n} records sum up others (their type says so, or all their numbers are totals); they were not counted again.",
    ),
    "otlp-not-read": (
        "warning",
        "One line exports OpenTelemetry logs or metrics (OTLP JSON); only spans are read: what it tells is missing.",
        "{n} lines export OpenTelemetry logs or metrics (OTLP JSON); only spans are read: what they tell is missing.",
    ),
    "otel-parent-spans": (
        "info",
        "One agent span repeats the usage of the model calls in it; only those calls are counted.",
        "{n} agent spans repeat the usage of the model calls in them; only those calls are counted.",
    ),
    "superseded-openers": (
        "info",
        "One opening row has a closing row for the same session and tool; only the closing one is counted.",
        "{n} opening rows have closing rows for the same session and tool; only the closing ones are counted.",
    ),
    "superseded-estimates": (
        "info",
        "One estimate was followed by an actual figure for its session; only the actual one is counted.",
        "{n} estimates were followed by an actual figure for their session; only the actual ones are counted.",
    ),
    "superseded-snapshots": (
        "info",
        "One row is an earlier running total of its session; only the last one is counted.",
        "{n} rows are earlier running totals of their sessions; only the last of each is counted.",
    ),
    "no-events": (
        "warning",
        "The only line is no cost event: it gives no agent, tool, tokens or cost under a key that is known."
        + _IF_STRANGE,
        "None of the {n} lines is a cost event: none gives an agent, tool, tokens or cost under a key that is known."
        + _IF_STRANGE,
    ),
    "looks-cumulative": (
        "warning",
        "The rows of one session look like running totals: no number ever falls. They were added up all the same;"
        + _IF_TOTALS,
        "The rows of {n} sessions look like running totals: no number ever falls. They were added up all the same;"
        + _IF_TOTALS,
    ),
}
_ORDER = {code: place for place, code in enumerate(_MESSAGES)}


class Remarks:
    """Counts remarks by file and kind. `line` is the number of the line being read; set it before `add`."""

    def __init__(self) -> None:
        self.file = 0
        self.line = 0
        self._counts: dict[tuple[int, str], tuple[int, int | None]] = {}
        #: What is said of the kinds that formats bring along.
        self._messages = dict(_MESSAGES)

    def learn(self, messages: Mapping[str, tuple[str, str, str]]) -> None:
        """Learn what further kinds say: severity, of one, of `{n}`. Those that are known keep their words."""
        self._messages = {**messages, **self._messages}

    def __bool__(self) -> bool:
        return bool(self._counts)

    def add(self, code: str, count: int = 1) -> None:
        """Count one remark about the line at hand."""
        self.add_at(self.file, self.line, code, count)

    def add_at(self, file: int, line: int | None, code: str, count: int = 1) -> None:
        """Count one remark about a line (None: the whole file; file -1: all files)."""
        before, first = self._counts.get((file, code), (0, line))
        # Lines do not come in their order where some of a file were put off.
        self._counts[(file, code)] = (before + count, min(first, line) if first and line else first)

    def notices(self, shown: list[str]) -> tuple[Notice, ...]:
        """Return one notice for each file and kind; `shown` are the files' names."""
        out = []
        for (file, code), (count, line) in sorted(
            self._counts.items(), key=lambda item: (item[0][0], _ORDER.get(item[0][1], len(_ORDER)), item[0][1])
        ):
            severity, one, many = self._messages[code]
            out.append(
                Notice(
                    code=code,
                    message=one if count == 1 or not many else many.replace("{n}", f"{count:,}"),
                    severity="info" if severity == "info" else "warning",
                    file=shown[file] if file >= 0 else None,
                    line=line,
                    count=count,
                )
            )
        return tuple(out)
