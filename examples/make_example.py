"""Write the example project: 45 days of a team with three agent pipelines, as their harness would have logged it.

    python examples/make_example.py [DIR]        (default: the folder `demo` beside this file)

The story: `doc-pipeline` went round in circles until its writer got acceptance criteria on 19 October; `code-review`
moved two agents to a larger model on 26 October and costs more since; `nightly-reports` is well, but for an API that
is often down. Everything is made up, seeded and the same on every machine: only `random()` and whole numbers are used.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from random import Random

from example_texts import BUDGET, FEEDBACK, FEEDBACK_HEAD, INCIDENTS, SETTINGS

FIRST_DAY = date(2026, 9, 28)
DAYS = 45
SEED = 20260928

#: Nano-dollars a token: input, output, cached input.
MODELS = {
    "claude-haiku-4-5": (1000, 5000, 100),
    "claude-sonnet-4-6": (3000, 15000, 300),
    "claude-opus-4-6": (5000, 25000, 500),
}
#: Milliseconds a call takes, about.
TOOLS = {"Read": 240, "Grep": 380, "Edit": 900, "Write": 1100, "Bash": 5200, "WebFetch": 2600, "Query": 3400}


@dataclass(frozen=True)
class Agent:
    """How one agent works: its model, its tools, and about how many tokens go in and out of a call."""

    pipeline: str
    model: str
    tools: tuple[str, ...]
    tokens_in: int
    tokens_out: int


SONNET, HAIKU, OPUS = "claude-sonnet-4-6", "claude-haiku-4-5", "claude-opus-4-6"
DOCS, CODE, NIGHT = "doc-pipeline", "code-review", "nightly-reports"
AGENTS = {
    "agent-researcher": Agent(DOCS, HAIKU, ("WebFetch", "Read", "Grep", "Read"), 2600, 260),
    "agent-writer": Agent(DOCS, SONNET, ("Edit", "Write", "Edit", "Read"), 2400, 520),
    "agent-reviewer": Agent(DOCS, SONNET, ("Read", "Read", "Grep"), 2100, 240),
    "agent-translator": Agent(DOCS, SONNET, ("Write", "Read"), 1500, 700),
    "agent-fact-checker": Agent(DOCS, HAIKU, ("WebFetch", "Grep"), 1800, 150),
    "planner": Agent(CODE, SONNET, ("Read", "Grep", "Bash"), 1900, 300),
    "code-reader": Agent(CODE, SONNET, ("Read", "Read", "Grep"), 2800, 180),
    "security-checker": Agent(CODE, SONNET, ("Grep", "Bash", "Read"), 2300, 260),
    "style-critic": Agent(CODE, HAIKU, ("Read", "Bash"), 1700, 210),
    "legacy-linter": Agent(CODE, HAIKU, ("Bash",), 900, 90),
    "data-collector": Agent(NIGHT, HAIKU, ("Query", "WebFetch", "Bash"), 1600, 140),
    "chart-maker": Agent(NIGHT, SONNET, ("Write", "Bash", "Edit"), 1400, 460),
    "report-editor": Agent(NIGHT, SONNET, ("Edit", "Read"), 2200, 380),
}
PREFIX = {DOCS: "doc", CODE: "rev", NIGHT: "night"}
#: The day on which the writer got acceptance criteria, and the day of the larger model, counted from the first.
CRITERIA_DAY, LARGER_MODEL_DAY, FACT_CHECK_DAY = 21, 28, 43
#: Runs that ran away: (pipeline, day, number of the day) and how many times the usual work they did.
RUNAWAYS = {(DOCS, 9, 3): 6, (CODE, 31, 5): 5, (CODE, 38, 2): 6, (NIGHT, 20, 1): 5}


@dataclass(frozen=True)
class Run:
    """One run: when it starts (milliseconds into its day) and who does how many calls, in order."""

    pipeline: str
    run_id: str
    day: int
    start_ms: int
    work: tuple[tuple[str, int], ...]


class Team:
    """The three pipelines at work; every number comes from one seeded stream."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed).random
        self.runs = list(self._runs())

    def below(self, limit: int) -> int:
        """Return a whole number from 0 up to, not including, `limit`."""
        return int(self._random() * limit)

    def about(self, amount: int) -> int:
        """Return a number around `amount`: 70% to 130%, the middle more often."""
        return int(amount * (0.7 + 0.3 * (self._random() + self._random())))

    def _runs(self) -> Iterator[Run]:
        """Yield the runs of all days: fewer at weekends, nightly ones every night."""
        for day in range(DAYS):
            weekend = (FIRST_DAY + timedelta(days=day)).weekday() >= 5
            for pipeline, counts in ((DOCS, (4, 1)), (CODE, (6, 1)), (NIGHT, (3, 3))):
                count = counts[weekend] + (0 if pipeline == NIGHT else self.below(3) - 1)
                for number in range(1, count + 1):
                    hour = number if pipeline == NIGHT else 8 + (number - 1) * 10 // count
                    start = hour * 3_600_000 + self.below(300_000 if pipeline == NIGHT else 2_400_000)
                    run_id = f"{PREFIX[pipeline]}-{FIRST_DAY + timedelta(days=day):%m%d}-{number:02}"
                    work = self._work(pipeline, day)
                    times = RUNAWAYS.get((pipeline, day, number), 1)
                    yield Run(pipeline, run_id, day, start, work * times)

    def _work(self, pipeline: str, day: int) -> tuple[tuple[str, int], ...]:
        if pipeline == DOCS:
            rounds = 6 + self.below(3) if day < CRITERIA_DAY else 4
            parts = [("agent-researcher", self.about(36))]
            parts += [("agent-writer", self.about(17)), ("agent-reviewer", self.about(7))] * rounds
            if self.below(100) < 5:
                parts.append(("agent-translator", self.about(24)))
            if day >= FACT_CHECK_DAY and self.below(10) < 7:
                parts.append(("agent-fact-checker", self.about(18)))
        elif pipeline == CODE:
            parts = [("planner", self.about(28)), ("code-reader", self.about(36))]
            parts += [("security-checker", self.about(32)), ("style-critic", self.about(30))]
            if day < 18 and self.below(100) < 10:
                parts.append(("legacy-linter", self.about(8)))
        else:
            parts = [
                ("data-collector", self.about(28)),
                ("chart-maker", self.about(23)),
                ("report-editor", self.about(19)),
            ]
        return tuple(parts)

    def events(self) -> list[str]:
        """Return the log's good lines in the order of their time, each with an id of its own."""
        timed: list[tuple[int, int, str]] = []
        for run in self.runs:
            clock, done, calls = run.start_ms, 0, sum(count for _, count in run.work)
            for agent, count in run.work:
                for _ in range(count):
                    clock += 2000 + self.below(20_000)
                    timed.append((run.day * 86_400_000 + clock, len(timed), self._event(run, agent, done, calls)))
                    done += 1
        for loose in range(12):
            # A developer's own session: no pipeline, no agent, no run.
            clock = (3 * loose + 2) * 86_400_000 + 13 * 3_600_000 + self.below(3_600_000)
            for _ in range(4):
                clock += 20_000 + self.below(60_000)
                timed.append((clock, len(timed), self._metrics(AGENTS["planner"], "Bash", SONNET, 1800, 200)))
        timed.sort()
        return [
            f'{{"event_id":"evt-{n:06}","timestamp":"{_stamp(at)}",{rest}}}' for n, (at, _, rest) in enumerate(timed)
        ]

    def _event(self, run: Run, agent: str, done: int, calls: int) -> str:
        who = AGENTS[agent]
        model, out = who.model, who.tokens_out
        if run.day >= LARGER_MODEL_DAY and agent in ("code-reader", "security-checker"):
            model, out = OPUS, out * 2
        # The longer a run, the more context goes into each call.
        tokens_in = who.tokens_in * (60 + 80 * done // calls) // 100
        tool = who.tools[self.below(len(who.tools))]
        named = f'"agent":"{self._spelled(agent)}",'
        place = f'"pipeline":"{run.pipeline}",'
        oddity = self.below(1000)
        if oddity < 8:
            named = ("", '"agent":"assistant",', '"agent":null,')[self.below(3)]
        elif oddity < 11 and agent == "planner":
            # Its pipeline can be told from the feedback: the planner is reviewed in one pipeline only.
            place = ""
        return f'{place}"run_id":"{run.run_id}",{named}{self._metrics(who, tool, model, tokens_in, out)}'

    def _spelled(self, agent: str) -> str:
        return "Agent-Reviewer" if agent == "agent-reviewer" and self.below(9) == 0 else agent

    def _metrics(self, who: Agent, tool: str, model: str, tokens_in: int, tokens_out: int) -> str:
        fresh, out = self.about(tokens_in), self.about(tokens_out)
        cached = self.about(3 * tokens_in) if self.below(3) else 0
        price_in, price_out, price_cached = MODELS[model]
        nano = fresh * price_in + out * price_out + cached * price_cached
        cost = f'"cost_usd":{nano // 10**9}.{nano % 10**9:09},' if self.below(200) else ""
        return (
            f'"tool_name":"{tool}","model":"{model}","input_tokens":{fresh},"output_tokens":{out},'
            f'"cache_read_tokens":{cached},{cost}"duration_ms":{self.about(TOOLS[tool])}'
        )


def _stamp(milliseconds: int) -> str:
    days, rest = divmod(milliseconds, 86_400_000)
    seconds, thousandths = divmod(rest, 1000)
    day = FIRST_DAY + timedelta(days=days)
    return f"{day}T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{thousandths:03}Z"


def event_log(team: Team) -> bytes:
    """Return cost-events.jsonl: the good lines, some of them twice, and what a harness leaves when it is cut short."""
    lines = [line.encode() for line in team.events()]
    # A record that was torn, with the next one glued to it: the next one is whole.
    lines[40000] = lines[39000][:75] + lines[40000]
    # A collector that did not get its receipt sends again.
    again = [lines[n] for n in (1200, 9000, 9001, 17500, 30250, 44000)]
    no_number = [
        lines[n].replace(b'"cost_usd":', b'"cost_usd":' + bad + b',"was":')
        for n, bad in ((2100, b"NaN"), (2101, b"-1"))
    ]
    lines[2100:2102] = no_number
    broken = [
        lines[500][:90],
        lines[5200][:41],
        lines[8100].replace(b"}", b",}"),
        b"Traceback (most recent call last):",
        b'  File "collector.py", line 88, in flush',
        b"null",
        b'"flush"',
        lines[21000].replace(b'"tool_name"', b'"tool\xff\xfe_name"'),
        lines[26000][:60] + b"\x00" * 16,
        lines[33000].replace(b'"', b"'"),
        b"<html><body>502 Bad Gateway</body></html>",
    ]
    other = [b"", b"", b'{"timestamp":"2026-10-05T06:00:00Z","event":"collector_started","version":"1.9.2"}']
    extra = [*again, *broken, *other, other[-1]]
    step = len(lines) // (len(extra) + 1)
    for number in reversed(range(len(extra))):
        lines.insert((number + 1) * step, extra[number])
    # The last line is still being written.
    return b"\n".join([*lines, lines[-1][:120]])


# --- what people wrote, and what the healing command logged -----------------------------------------------------------


def feedback() -> str:
    """Return FEEDBACK.md."""
    rows = []
    for line in FEEDBACK.splitlines():
        day, agent, score, issue, resolution, tags = line.split("|")
        shown = f"**{agent}**" if agent == "agent-reviewer" else agent
        tags = tags if tags == "-" else ", ".join(f"`{tag}`" for tag in tags.split(", "))
        cells = (f"2026-{day}", AGENTS[agent].pipeline, shown, f"{score}/100", issue, resolution, tags)
        rows.append(f"| {' | '.join(cells)} |\n")
    return FEEDBACK_HEAD + "".join(rows)


# --- what the healing command logged --------------------------------------------------------------------------------

#: Attempts allowed, action, what the caller is told.
POLICY = {
    "timeout": (5, "retry-shorter-scope", "try again with a shorter scope"),
    "api-error": (3, "retry-backoff", "wait, then try again"),
    "content-quality": (2, "retry-stricter-prompt", "try again with a stricter prompt"),
    "permission-denied": (0, "skip", "a retry cannot grant a permission, so skip the step"),
    "tool-not-found": (0, "alert-operator", "an operator has to install or name the tool"),
}


def healing_log(team: Team) -> str:
    """Return healing-log.jsonl, oldest first: each attempt as the healing command would have answered it."""
    starts = {run.run_id: run.start_ms for run in team.runs}
    lines: list[tuple[int, str]] = []
    for day, minute, agent, number, error, attempts, context in INCIDENTS:
        date_of = FIRST_DAY + timedelta(days=day)
        run_id = f"{PREFIX[AGENTS[agent].pipeline]}-{date_of:%m%d}-{number:02}"
        moment = day * 86_400_000 + starts[run_id] + minute * 60_000
        for attempt in range(1, attempts + 1):
            allowed, action, advice = POLICY[error]
            code, reason = (0 if allowed else 1), f"{error}: {advice}"
            if allowed:
                reason = f"{error}, attempt {attempt} of {allowed}: {advice}"
            if attempt > 5 or 0 < allowed < attempt:
                action, code = "escalate", 2
                reason = f"attempt {attempt} is over the {allowed} attempts that {error} gets; a person has to look"
            entry = {
                "timestamp": _stamp(moment),
                "agent": agent,
                "pipeline": AGENTS[agent].pipeline,
                "run_id": run_id,
                "error_type": error,
                "attempt": attempt,
                "max_attempts": allowed,
                "action": action,
                "exit_code": code,
                "delay_seconds": 2**attempt if action == "retry-backoff" else 0,
                "reason": reason,
                "context": context,
            }
            lines.append((moment, json.dumps(entry)))
            moment += 95_123 + 40_000 * attempt
    return "".join(f"{line}\n" for _, line in sorted(lines))


def make_example(folder: Path, seed: int = SEED) -> None:
    """Write the five files of the example into `folder`; other files there are left alone."""
    team = Team(seed)
    files = {
        "budget/cost-events.jsonl": event_log(team),
        "FEEDBACK.md": feedback().encode(),
        "healing-log.jsonl": healing_log(team).encode(),
        "BUDGET.md": BUDGET.encode(),
        "reportgen.toml": SETTINGS.encode(),
    }
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def main(arguments: Sequence[str]) -> int:
    """Write the example where the first argument says, and tell what to do with it."""
    folder = Path(arguments[0]) if arguments else Path(__file__).resolve().parent / "demo"
    make_example(folder)
    print(f"Example written to {folder}. Next: reportgen build {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
