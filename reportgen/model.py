"""The frozen values that move between rooms; `Report` is the only thing the renderers read.

Exact numbers (money, counts that a rule compares) are strings of plain decimals without trailing zeros, never floats;
quotients made for showing are rounded to 6 places. None means unknown, and is shown as unknown. Times are UTC,
`2026-11-03T09:14:07Z`; dates `2026-11-03`. Every list is in the order in which it is shown.
All text in a `Report` is redacted (unless the build was told not to) and still hostile: renderers escape it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

SCHEMA_VERSION = 1

Measure = Literal["usd", "tokens", "events"]
Basis = Literal["measured", "priced", "estimated", "unknown"]
Decision = Literal["implement", "defer", "reject"]
Effort = Literal["S", "M", "L"]
#: `tag`: a feedback tag of the pipeline; `other`: anything else (a limit, a model), which has no reviews or incidents.
SubjectKind = Literal["agent", "run", "pipeline", "project", "tag", "other"]
Status = Literal["found", "clear", "skipped", "error"]
#: The folders of `sql/`, in the order in which they are built; the detectors stand between marts and scoring.
SqlKind = Literal["macros", "sources", "marts", "scoring", "charts", "tables"]
Outcome = Literal["escalated", "blocked", "presumed recovered"]
InputKind = Literal["events", "feedback", "healing", "budget"]
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
    #: The project's name, `[report] title` of the settings; empty without it.
    project: str
    #: Settings in force that change numbers, as `(name, value, unit)`.
    settings: list[tuple[str, str, str]]
    #: One hash over all outputs, the same in each of them: a mix of two builds would show.
    hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """First and last dated entry looked at, and the exact days between them (text, 6 places)."""

    first: str | None
    last: str | None
    days: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile:
    """The account of one input file. used + superseded + duplicates + not_cost + rejected + blank = lines."""

    file: str
    kind: InputKind
    lines: int
    used: int
    superseded: int
    duplicates: int
    not_cost: int
    rejected: int
    blank: int
    #: Records taken (a line may hold several events), and torn records glued to a good one.
    events: int
    broken_parts: int
    #: Records that are fine but outside `--since`/`--until`/`--as-of`.
    outside_period: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedLine:
    """One line nothing could be taken from, and why; the snippet is short and redacted."""

    file: str
    line: int
    reason: str
    snippet: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One data-quality remark. `code` is stable (`cost-all-zero`), `count` how many things it is about."""

    code: str
    message: str
    severity: Literal["info", "warning"] = "warning"
    file: str | None = None
    line: int | None = None
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """One pipeline. `cost` is in `cost_measure`; None where nothing is known (a pipeline without events)."""

    pipeline: str
    #: File name of its page, without `.html`; unique, stable, safe.
    slug: str
    runs: int
    #: How runs were told apart: `run ids`, `gaps`, `run ids and gaps`, `feedback dates`, or `none`.
    run_source: str
    events: int
    agents: int
    cost_measure: Measure
    cost: str | None
    #: Share of the pipeline's events whose cost is known in the measure (None without events).
    cost_coverage: float | None
    cost_basis: Basis
    #: Share of the project's cost among pipelines of the same measure.
    cost_share: float | None
    mean_run_cost: str | None
    #: Runs with an event of unknown cost in them (it adds 0).
    incomplete_runs: int
    unattributed_events: int
    inferred_events: int
    undated_events: int
    runless_events: int
    first: str | None
    last: str | None
    feedback_rows: int
    mean_score: float | None
    #: The later and the earlier half of the period: cost per run, and mean score ("is it getting better").
    recent_run_cost: str | None
    earlier_run_cost: str | None
    recent_score: float | None
    earlier_score: float | None
    #: Ids of its recommendations, best first.
    recommendations: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """The cost of one measure, the later half of the period beside the earlier, over the pipelines shown.

    A run counts where it started; runs without a time count in neither half. Costs are None where no run of that half
    is there to tell, so that a change is only ever a measured one.
    """

    measure: Measure
    #: The middle of the project's period: what starts then or later is of the later half.
    middle: str | None
    earlier_runs: int
    recent_runs: int
    earlier_cost: str | None
    recent_cost: str | None
    #: Quotients, 6 places.
    earlier_run_cost: str | None
    recent_run_cost: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a pipeline; `cost` is in the pipeline's measure, None where nothing is known."""

    pipeline: str
    run: str
    #: Its anchor on the page of its month, the same in every build: `run-doc-1007-03`.
    anchor: str
    started: str | None
    ended: str | None
    events: int
    agents: int
    cost: str | None
    #: True where an event of unknown cost is in it.
    incomplete: bool
    #: Ids of the recommendations about it.
    recommendations: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """How often an agent used a tool, and at what cost (in the pipeline's measure)."""

    tool: str
    events: int
    cost: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TagCount:
    """A feedback tag and how many rows carry it; `recurring` from 3 rows on."""

    tag: str
    rows: int
    recurring: bool
    known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One agent in one pipeline (the bucket `(unattributed)` included, with `attributed` false)."""

    agent: str
    pipeline: str
    #: File name of the agent's page (one page an agent, over all its pipelines), without `.html`.
    slug: str
    attributed: bool
    events: int
    runs: int
    cost: str | None
    cost_share: float | None
    cost_basis: Basis
    cost_per_run: str | None
    feedback_rows: int
    scores: int
    mean_score: float | None
    low_scores: int
    error_rate: float | None
    #: Mean of the last 10 scores less the mean of the 10 before; None with fewer than 20 scores.
    trend: float | None
    flagged: bool
    first_seen: str | None
    last_seen: str | None
    in_roster: bool
    tools: list[ToolUse]
    patterns: list[TagCount]
    recommendations: list[str]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class HealingAttempt:
    """One line of the healing log."""

    timestamp: str | None
    pipeline: str
    agent: str
    run_id: str | None
    error_type: str
    attempt: int | None
    action: str
    reason: str
    context: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """Consecutive attempts of one (run, agent, error type) whose number rises."""

    pipeline: str
    agent: str
    run_id: str | None
    error_type: str
    outcome: Outcome
    attempts: int
    first: str | None
    last: str | None
    last_action: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Healing:
    """The healing log summed up; `entries` are the newest first, at most 500 (the CSV has all)."""

    present: bool
    attempts: int
    incidents: int
    escalated: int
    blocked: int
    recovered: int
    entries: list[HealingAttempt]
    incident_list: list[Incident]


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetWindow:
    """A limit of BUDGET.md against what was spent in its current window (the one that holds `now`)."""

    #: `(all agents)` or an agent's name.
    subject: str
    window: str
    limit_usd: str
    warn_percent: str | None
    hard_stop: bool | None
    window_start: str | None
    spent_usd: str | None
    share: float | None
    state: Literal["ok", "warn", "over", "unknown"]
    #: Earlier windows of the period that went over, and how many there were.
    windows_over: int
    windows: int


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
