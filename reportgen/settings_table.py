"""Every setting, once: the loader reads by this table, `reportgen init` and docs/settings.md are written from it."""

from __future__ import annotations

from collections.abc import Callable

from reportgen import settings_values as read
from reportgen.quickclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One key of `reportgen.toml`."""

    table: str
    key: str
    #: The field of `Settings` that it fills.
    field: str
    #: Turns the value of the file or the flag into the field's; raises ValueError with a clause.
    reads: Callable[[object], object]
    #: What a value may be, and what holds without the setting, for people.
    accepts: str
    default: str
    #: A TOML value for the starter file: the default itself where it can be written down.
    sample: str
    meaning: str
    #: The flag of `build` that wins over it.
    flag: str = ""

    @property
    def is_default(self) -> bool:
        """Say whether the sample is the default itself, not an example."""
        return self.sample == self.default


#: Each table of the file, with what it is for, in the order of the starter file. `<…>` is the reader's own key.
TABLES: dict[str, str] = {
    "inputs": "What to read. Paths and globs are relative to the project directory; .gz and .zst are read as they are.",
    "outputs": "Where to write.",
    "report": "What to show.",
    "period": "Which part of the inputs to look at. A date alone means its whole day; times without an offset are UTC.",
    "runs": "How events without a run id become runs.",
    "quality": "When feedback counts as bad.",
    "privacy": "What is left out of everything that is written.",
    "limits": "How far a detector of your own may go; one that goes further fails, and the others run.",
    "roster": "The agents a pipeline is meant to have, so that one that never ran is found too.",
    "events.fields": "Own names of the fields of cost events, tried before the names that reportgen knows.",
    "prices": "What tokens cost where an event tells no cost. The list is genai-prices; its version is in the report.",
    'prices."my-model"': "A price of your own for a model, in US dollars for a million tokens; it wins over the list.",
    "detectors.<id>": "One table for each detector: switch it on or off, or give its parameters other values.",
}

#: The fields of a cost event that a project may give names of its own (`[events.fields]`).
EVENT_FIELDS: tuple[str, ...] = (
    "event_time",
    "agent",
    "pipeline",
    "run_id",
    "event_id",
    "tool_name",
    "model",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "total_tokens",
    "estimated_tokens",
    "cost_usd",
    "duration_ms",
)

_PATHS = "a path or glob, or a list of them"
_MOMENT = "a date or a date and time"
_DURATION = 'a whole number with s, m, h or d: "30s", "12h"'

SETTINGS: tuple[Setting, ...] = (
    Setting(
        table="inputs",
        key="events",
        field="events",
        reads=read.paths,
        accepts=_PATHS + "; a folder is its .jsonl files",
        default="the first found of budget/cost-events.jsonl and cost-events.jsonl (also .gz, .zst)",
        sample='["budget/cost-events.jsonl", "logs/*.jsonl.gz"]',
        meaning="Cost events, one JSON object a line.",
        flag="--events",
    ),
    Setting(
        table="inputs",
        key="source",
        field="source",
        reads=read.event_sources,
        accepts='"claude-code", "codex", "opencode", or a list of them',
        default="the cost events of the project",
        sample='"claude-code"',
        meaning="Read the sessions that a tool keeps, in place of the default files or with those named: claude-code:"
        " ~/.claude ($CLAUDE_CONFIG_DIR); codex: ~/.codex ($CODEX_HOME); opencode: ~/.local/share/opencode.",
        flag="--source",
    ),
    Setting(
        table="inputs",
        key="feedback",
        field="feedback",
        reads=read.paths,
        accepts=_PATHS,
        default="the first found of FEEDBACK.md and feedback/FEEDBACK.md",
        sample='"FEEDBACK.md"',
        meaning="Reviewers' feedback, a Markdown table with a row for each reviewed run.",
        flag="--feedback",
    ),
    Setting(
        table="inputs",
        key="healing_log",
        field="healing_log",
        reads=read.path,
        accepts="a path",
        default="healing-log.jsonl, if there is one",
        sample='"healing-log.jsonl"',
        meaning="The log that `reportgen heal` writes.",
        flag="--healing-log",
    ),
    Setting(
        table="inputs",
        key="budget",
        field="budget",
        reads=read.path,
        accepts="a path",
        default="BUDGET.md, if there is one",
        sample='"BUDGET.md"',
        meaning="Limits to hold the spending against.",
        flag="--budget",
    ),
    Setting(
        table="inputs",
        key="running_totals",
        field="running_totals",
        reads=read.running_totals,
        accepts='"auto", "always" or "never"',
        default='"auto"',
        sample='"auto"',
        meaning="Whether the cost events of a session are its running totals, where only the last counts; auto: where"
        " they say so, or share a transcript and never fall.",
    ),
    Setting(
        table="outputs",
        key="recommendations",
        field="recommendations",
        reads=read.path,
        accepts="a path",
        default='"RECOMMENDATIONS.md"',
        sample='"RECOMMENDATIONS.md"',
        meaning="The whole result as one Markdown file.",
        flag="--recommendations",
    ),
    Setting(
        table="outputs",
        key="site",
        field="site",
        reads=read.path,
        accepts="a path",
        default='"site"',
        sample='"site"',
        meaning="The folder of the web pages.",
        flag="--site",
    ),
    Setting(
        table="outputs",
        key="single_file",
        field="single_file",
        reads=read.path,
        accepts="a path",
        default="no such page is written",
        sample='"report.html"',
        meaning="The whole report as one page that needs no other file, to send by mail.",
        flag="--single-file",
    ),
    Setting(
        table="report",
        key="pipeline",
        field="pipeline",
        reads=read.pipeline,
        accepts="a pipeline's name",
        default="all pipelines",
        sample='"doc-pipeline"',
        meaning="Show one pipeline only. Its numbers are the same as in the whole report.",
        flag="--pipeline",
    ),
    Setting(
        table="report",
        key="title",
        field="title",
        reads=read.title,
        accepts="a text on one line, at most 80 characters",
        default="none",
        sample='"Docs team"',
        meaning="What the project is called, in the titles of the report.",
    ),
    Setting(
        table="period",
        key="since",
        field="since",
        reads=read.start,
        accepts=_MOMENT,
        default="everything",
        sample="2026-11-01",
        meaning="The first moment looked at.",
        flag="--since",
    ),
    Setting(
        table="period",
        key="until",
        field="until",
        reads=read.end,
        accepts=_MOMENT,
        default="everything",
        sample="2026-11-30",
        meaning="The last moment looked at.",
        flag="--until",
    ),
    Setting(
        table="period",
        key="window",
        field="window",
        reads=read.duration,
        accepts=_DURATION,
        default="everything",
        sample='"30d"',
        meaning="Only so much time, backwards from now (the latest entry, or as_of). Not together with since.",
        flag="--window",
    ),
    Setting(
        table="period",
        key="as_of",
        field="as_of",
        reads=read.end,
        accepts=_MOMENT,
        default="now is the latest entry of the inputs",
        sample="2026-11-30",
        meaning="Report as if it were then: nothing later is seen.",
        flag="--as-of",
    ),
    Setting(
        table="runs",
        key="gap",
        field="run_gap",
        reads=read.duration,
        accepts=_DURATION + ", at least 1s",
        default='"30m"',
        sample='"30m"',
        meaning="A longer pause between two events without a run id starts a new run.",
    ),
    Setting(
        table="quality",
        key="score_flag",
        field="score_flag",
        reads=read.score,
        accepts="a number from 0 to 100",
        default="60",
        sample="60",
        meaning="A feedback score below this is low, and an agent whose mean is below it is flagged.",
    ),
    Setting(
        table="privacy",
        key="redact",
        field="redact",
        reads=read.truth,
        accepts="true or false",
        default="true",
        sample="true",
        meaning="Replace keys, passwords, e-mail addresses and home directories by labels such as [e-mail].",
        flag="--no-redact",
    ),
    Setting(
        table="limits",
        key="detector_seconds",
        field="detector_seconds",
        reads=read.seconds,
        accepts="a whole number from 1 to 86,400",
        default="30",
        sample="30",
        meaning="The longest one detector, chart or mart of the project may take; a format of its own: ten times that.",
    ),
    Setting(
        table="limits",
        key="detector_findings",
        field="detector_findings",
        reads=read.findings,
        accepts="a whole number from 1 to 1,000,000",
        default="10000",
        sample="10000",
        meaning="The most findings that one detector may have.",
    ),
    Setting(
        table="limits",
        key="pages",
        field="pages",
        reads=read.findings,
        accepts="a whole number from 1 to 1,000,000",
        default="10000",
        sample="10000",
        meaning="The most pages of agents, pipelines and findings; 10,000 take about 200 MB.",
    ),
    Setting(
        table="limits",
        key="memory",
        field="memory",
        reads=read.memory,
        accepts='a whole number with MB or GB, from "64MB" on',
        default='"2GB"',
        sample='"2GB"',
        meaning="The most memory that a query may use; one that can go on from disk does so, in the work folder.",
    ),
    Setting(
        table="roster",
        key='"doc-pipeline"',
        field="roster",
        reads=read.agents,
        accepts="a list of agents, under the pipeline's name",
        default="the agents that the inputs name",
        sample='["agent-writer", "agent-reviewer"]',
        meaning="The agents that this pipeline is meant to have.",
    ),
    Setting(
        table="events.fields",
        key="agent",
        field="fields",
        reads=read.field_names,
        accepts="a name or a list of names, dots for nested objects; the first that is present wins",
        default="the names that reportgen knows",
        sample='["worker", "meta.worker"]',
        meaning="What the producer calls this field. Keys: " + ", ".join(EVENT_FIELDS) + ".",
    ),
    Setting(
        table="prices",
        key="list",
        field="price_list",
        reads=read.truth,
        accepts="true or false",
        default="true",
        sample="true",
        meaning="Whether events with tokens and a model but no cost are priced by the list. What an event tells wins.",
    ),
    *(
        Setting(
            table='prices."my-model"',
            key=key,
            field="prices",
            reads=read.dollars,
            accepts="a number of US dollars, for a million tokens",
            default=default,
            sample=sample,
            meaning=meaning,
        )
        for key, default, sample, meaning in (
            ("input", "0", "3.00", "Input tokens."),
            ("output", "0", "15.00", "Output tokens."),
            ("cache_read", "as input", "0.30", "Input tokens that are read from a cache."),
            ("cache_write", "as input", "3.75", "Input tokens that are written to a cache for 5 minutes."),
            ("cache_write_1h", "twice the input, where cache_write is given", "6.00", "The same, kept for an hour."),
        )
    ),
    Setting(
        table="detectors.<id>",
        key="enabled",
        field="enabled",
        reads=read.truth,
        accepts="true or false",
        default="as the detector's file says",
        sample="true",
        meaning="Whether the detector runs. Four of the built-in ones are on; for the others, true switches them on.",
    ),
    Setting(
        table="detectors.<id>",
        key="<parameter>",
        field="parameters",
        reads=read.parameter,
        accepts="as the detector's file says",
        default="as the detector's file says",
        sample="",
        meaning="A threshold of the detector. The report's page of detectors names them all, with the values in force.",
    ),
)

#: Options that only a flag (or an argument of `build`) sets.
FLAG_ONLY: dict[str, tuple[str, Callable[[object], object]]] = {
    "strict": ("--strict", read.truth),
    "adopt": ("--adopt", read.truth),
    "verify_cache": ("--verify-cache", read.truth),
    "fail_on": ("--fail-on", read.whole_score),
}


def find(table: str, key: str) -> Setting | None:
    """Return the setting of that table and key, where the key is fixed."""
    return next((s for s in SETTINGS if s.table == table and s.key == key), None)


def keys_of(table: str) -> tuple[str, ...]:
    """Return the keys that a table knows."""
    return tuple(s.key for s in SETTINGS if s.table == table)
