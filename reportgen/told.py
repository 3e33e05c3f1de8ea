"""What the inputs tell, before any detector has looked: files, pipelines, agents, runs, incidents. Part of the model.

Values are as `model` says; everybody takes them from there.
"""

from __future__ import annotations

from typing import Literal

from reportgen.quickclass import dataclass

Measure = Literal["usd", "tokens", "events"]
Basis = Literal["measured", "priced", "estimated", "unknown"]
Outcome = Literal["escalated", "blocked", "presumed recovered"]
InputKind = Literal["events", "feedback", "healing", "budget"]


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
    #: True where an event of unknown cost is in it: `cost` is then at least what is told.
    incomplete: bool = False


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
    #: True where an event of unknown cost is in it.
    incomplete: bool = False


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
