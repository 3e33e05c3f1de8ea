"""The frozen values that move between rooms; `Report` is the only thing the renderers read.

Exact numbers (money, counts that a rule compares) are strings of plain decimals without trailing zeros, never floats;
quotients made for showing are rounded to 6 places. None means unknown, and is shown as unknown. Times are UTC,
`2026-11-03T09:14:07Z`; dates `2026-11-03`. Every list is in the order in which it is shown.
All text in a `Report` is redacted (unless the build was told not to) and still hostile: renderers escape it.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from reportgen.quickclass import dataclass
from reportgen.told import Agent as Agent
from reportgen.told import Basis as Basis
from reportgen.told import BudgetWindow as BudgetWindow
from reportgen.told import Healing as Healing
from reportgen.told import HealingAttempt as HealingAttempt
from reportgen.told import Incident as Incident
from reportgen.told import InputFile as InputFile
from reportgen.told import InputKind as InputKind
from reportgen.told import Measure as Measure
from reportgen.told import Notice as Notice
from reportgen.told import Outcome as Outcome
from reportgen.told import Period as Period
from reportgen.told import Pipeline as Pipeline
from reportgen.told import RejectedLine as RejectedLine
from reportgen.told import Run as Run
from reportgen.told import TagCount as TagCount
from reportgen.told import ToolUse as ToolUse
from reportgen.told import Trend as Trend

SCHEMA_VERSION = 1

Decision = Literal["implement", "defer", "reject"]
Effort = Literal["S", "M", "L"]
#: `tag`: a feedback tag of the pipeline; `other`: anything else (a limit, a model), which has no reviews or incidents.
SubjectKind = Literal["agent", "run", "pipeline", "project", "tag", "other"]
Status = Literal["found", "clear", "skipped", "error"]
#: The folders of `sql/`, in the order in which they are built; the detectors stand between marts and scoring.
SqlKind = Literal["macros", "formats", "sources", "marts", "scoring", "charts", "tables"]
#: A cell of a chart's or a table's row: exact numbers as text, small counts as numbers.
Cell = str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """What made this report: versions, the choices in force, and one hash over all outputs."""

    reportgen: str
    versions: dict[str, str]
    #: The pipeline shown, when `--pipeline` was given; numbers are computed on all data all the same.
    pipeline_filter: str | None
    since: str | None
    until: str | None
    as_of: str | None
    #: The moment the report speaks of: `--as-of`, else the latest event, healing entry or feedback date.
    now: str | None
    redacted: bool
    #: The tools whose own sessions were read: `claude-code`.
    sources: list[str]
    #: The project's name, `[report] title` of the settings; empty without it.
    project: str
    #: Settings in force that change numbers, as `(name, value, unit)`.
    settings: list[tuple[str, str, str]]
    #: One hash over all outputs, the same in each of them: a mix of two builds would show.
    hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vfm:
    """The pre-score: four whole parts of 0 to 25, and their sum."""

    total: int
    frequency: int
    failure_reduction: int
    burden_reduction: int
    cost_savings: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One row of a recommendation's evidence table.

    `unit`: `events`, `runs`, `reviews`, `rows`, `days`, `cost` (the pipeline's measure), `usd`, `tokens`, `share` (0 to
    1), `score`, `times`, `time`, `date`, `text`, or None. `value` is exact text; None is unknown.
    """

    name: str
    label: str
    value: str | None
    unit: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """One finding with its action and its pre-score."""

    id: str
    rank: int
    detector: str
    #: The detector's short name of what is wrong: "Cost outlier".
    issue: str
    pipeline: str
    subject: str
    subject_kind: SubjectKind
    #: `group` is shared by the findings of one detector and pipeline with the same action.
    group: str
    #: One line, plain text, names subject and pipeline.
    title: str
    #: Markdown with the values filled in and escaped.
    finding: str
    action: str
    effort: Effort
    observed: str | None
    baseline: str | None
    threshold: str | None
    cost_measure: Measure
    saving: str | None
    saving_share: float | None
    saving_basis: Basis
    #: How the saving is worked out and what it rests on, in words; empty where the detector does not say.
    saving_words: str = ""
    vfm: Vfm
    #: For each part (`frequency`, …) the evidence in words, enough to recompute the number.
    vfm_evidence: dict[str, str]
    decision: Decision
    #: Labels such as `new` or `retired`.
    labels: list[str]
    evidence: list[Evidence]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Findings of one detector and pipeline that share an action, the worst first; a ranked view shows one row each."""

    group: str
    rank: int
    detector: str
    issue: str
    pipeline: str
    title: str
    action: str
    effort: Effort
    #: The best total of its members.
    total: int
    decision: Decision
    ids: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A detector's parameter with the value in force."""

    name: str
    value: str
    default: str
    unit: str
    doc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector:
    """One detector file and what came of it."""

    detector: str
    title: str
    issue: str
    #: What it looks for, Markdown.
    doc: str
    action: str
    status: Status
    findings: int
    #: Why it was skipped or what went wrong; `where` is `path:line`.
    message: str | None
    where: str | None
    #: What was looked at, in words: "12 runs of 3 pipelines".
    checked: str
    origin: Literal["built-in", "project"]
    file: str
    parameters: list[Parameter]
    #: The file's text; not in report.json, as its page has it.
    sql: str = ""
    #: The first 16 hexadecimal digits of the text's SHA-256, by which one sees whether the file has changed since.
    digest: str = ""
    #: The tables that its SQL reads.
    reads: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class OffDetector:
    """A detector that did not run, because its file or the settings switch it off."""

    detector: str
    title: str
    #: What it would look for, Markdown.
    doc: str
    origin: Literal["built-in", "project"]
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a chart's rows: its name, what a reader sees, and the unit (see `Evidence`)."""

    name: str
    label: str
    unit: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Rows of one chart file, for one place. The renderer makes the figure from `kind` and the column roles.

    `kind`: `bars` (x, y, series: stacked), `rows` (x value, y category; horizontal bars), `points` (x, y, mark, label),
    `lines` (x, y, series), `bubbles` (x, y, size, mark, label), `spans` (from x to end, a row for each y).
    `page`: `overview`, `recommendations`, `pipeline`, `agents`, `agent`, `recommendation`, `healing`, `budget`.
    `key`: which one (the pipeline's slug, the agent's slug, the recommendation's id), empty for one-page places.
    A row whose `mark` column is true is drawn as marked (an outlier, the subject). `line_at` draws a threshold.
    `level` is a column whose value is drawn as a level over the rows that have it (the mean of a window).
    """

    id: str
    page: str
    key: str
    #: What the chart says where something can be said, else what it shows.
    title: str
    #: What the chart shows, where the title says what was found; else empty.
    about: str = ""
    kind: Literal["bars", "rows", "points", "lines", "bubbles", "spans"]
    columns: list[Column]
    x: str
    y: str
    series: str | None
    mark: str | None
    label: str | None
    size: str | None = None
    end: str | None = None
    level: str | None = None
    #: The column that leads to a page: names of agents or pipelines, or ids of recommendations.
    link: str | None = None
    link_to: Literal["agents", "pipelines", "recommendations"] | None = None
    #: Colours of series by name, the same in every project: `good`, `warn`, `bad`, `grey`, `base`, or `1` to `6`.
    colours: dict[str, str] = field(default_factory=dict)
    #: Cost columns are in this measure.
    measure: Measure | None
    line_at: str | None
    line_label: str | None
    note: str
    #: The chart file, `sql/charts/cost_by_day.sql`; its text is in `Report.sql`.
    file: str
    #: Its rows in full: a file under `site/data/`.
    csv: str = ""
    #: Not in report.json, which names the CSV.
    rows: list[list[Cell]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlText:
    """One SQL file that took part; those of the detectors are with their detector."""

    #: `sql/marts/agents.sql`; unique but for a project's `sql/macros.sql`, which adds to the built-in one.
    file: str
    kind: SqlKind
    #: The file's name without `.sql`: the table that it makes, the chart, the CSV.
    name: str
    title: str
    #: What it is, Markdown.
    doc: str
    origin: Literal["built-in", "project"]
    #: Its text; not in report.json, as its page has it.
    sql: str = ""
    #: What it reads, by name: `agents`, `findings`, `raw.events`, `params.cost_outlier`.
    reads: list[str]
    #: As a detector's: the text is not in report.json, but this tells whether it is the same.
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retired:
    """A recommendation that an earlier build of this site published and that no longer holds."""

    id: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A CSV under `site/data/`: the whole of what a page shows a part of."""

    #: `runs.csv`
    file: str
    title: str
    rows: int
    #: The SQL file that gives its rows; None where no SQL does.
    sql_file: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything the outputs say."""

    build: Build
    period: Period
    pipelines: list[Pipeline]
    agents: list[Agent]
    recommendations: list[Recommendation]
    groups: list[Group]
    detectors: list[Detector]
    patterns: list[TagCount]
    healing: Healing
    budget: list[BudgetWindow]
    charts: list[Chart]
    inputs: list[InputFile]
    #: The first 200 of each file; `rejected_total` counts all, the CSV lists all.
    rejected: list[RejectedLine]
    rejected_total: int
    notices: list[Notice]
    tables: list[Table] = field(default_factory=list)
    sql: list[SqlText] = field(default_factory=list)
    retired: list[Retired] = field(default_factory=list)
    detectors_off: list[OffDetector] = field(default_factory=list)
    #: One for each measure that the pipelines use, money first.
    trends: list[Trend] = field(default_factory=list)
    #: Every run, by pipeline and start. Not in report.json: `runs.csv` has them.
    runs: list[Run] = field(default_factory=list)
    schema_version: int = SCHEMA_VERSION
