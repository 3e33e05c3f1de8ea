"""Random small projects, seeded: files in a folder, and the same facts as the reference takes them.

Each pipeline follows a recipe; then the project is roughened (missing words, other spellings, broken lines,
duplicates) as far as its seed says, or not at all, so that exact boundaries stay exact in some.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from oracle_reading import FeedbackCells, HealingEntry, Project
from random_recipes import AGENTS, BASE, NOBODY, NOWHERE, PIPELINES, RECIPES, Json, Kitchen, Raw

ALLOWED = {"timeout": 5, "api-error": 3, "content-quality": 2, "permission-denied": 0, "tool-not-found": 0, "odd": 0}
ACTIONS = {
    "timeout": "retry-shorter-scope",
    "api-error": "retry-backoff",
    "content-quality": "retry-stricter-prompt",
    "permission-denied": "skip",
    "tool-not-found": "alert-operator",
    "odd": "abort",
}


@dataclass
class MadeProject:
    """Files by their path in the project folder, the reference's view of them, and the account of the event lines."""

    seed: int
    files: dict[str, bytes] = field(default_factory=dict)
    project: Project = field(default_factory=lambda: Project([]))
    lines: int = 0
    blank: int = 0
    rejected: int = 0
    duplicates: int = 0

    def write(self, folder: Path) -> None:
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def make_project(seed: int) -> MadeProject:
    """Return the project of this seed: the same on every machine."""
    return _Maker(seed).make()


def dump(raw: Raw) -> str:
    """Write one JSON object with its decimals as they are."""

    def text(value: Json) -> str:
        return format(value, "f") if isinstance(value, Decimal) else json.dumps(value)

    return "{" + ", ".join(f"{json.dumps(name)}: {text(value)}" for name, value in raw.items()) + "}"


def load(line: str) -> dict[str, object]:
    """Read it back as the rules see it: exact numbers, and a bare NaN or Infinity is null."""
    value: dict[str, object] = json.loads(line, parse_float=Decimal, parse_constant=lambda _: None)
    return value


class _Maker(Kitchen):
    def make(self) -> MadeProject:
        rng = self.rng
        places = rng.sample(PIPELINES, rng.randint(1, 3))
        for spellings in places:
            recipe = rng.choice(RECIPES)
            recipe(self, spellings[0])
        self.review([spellings[0] for spellings in places])
        if self.chance(35):
            self.far_away()
        if self.rough:
            self.events = [self._roughen(event) for event in self.events]
            self.cells = [self._roughen_cells(cells) for cells in self.cells]
            self._repeat_ids()
        rng.shuffle(self.events)
        if self.chance(40):
            self._make_roster([spellings[0] for spellings in places])
        return self._finish()

    def _roughen(self, raw: Raw) -> Raw:
        rng, often = self.rng, 3 if self.rough == 1 else 12
        if not raw["timestamp"] or self.chance(often):
            raw["timestamp"] = rng.choice(("", None, "yesterday", "1970-01-01T00:00:00Z", "2101-01-01T00:00:00Z"))
        elif self.chance(3 * often):
            time = datetime.fromisoformat(str(raw["timestamp"]))
            shifted = time.astimezone(UTC).replace(tzinfo=None)
            raw["timestamp"] = rng.choice(
                (
                    shifted.isoformat(" "),
                    (shifted + timedelta(hours=2)).isoformat() + "+02:00",
                    shifted.strftime("%Y%m%dT%H%M%SZ"),
                    int(time.timestamp()),
                    int(time.timestamp()) * 1000,
                )
            )
        for name, pool, nothing in (("agent", AGENTS, NOBODY), ("pipeline", PIPELINES, NOWHERE)):
            if self.chance(often):
                raw[name] = rng.choice(nothing)
            elif name in raw and self.chance(5 * often):
                raw[name] = rng.choice(next(spellings for spellings in pool if spellings[0] == raw[name]))
        if "run_id" in raw and self.chance(often):
            raw["run_id"] = rng.choice((*NOWHERE, 7, f" {raw['run_id']} ", "Run-1"))
            if self.chance(50):
                raw["session_id"] = rng.choice(("s-1", "run-1", "default", None))
        if "cost_usd" in raw and self.chance(often):
            raw["cost_usd"] = rng.choice(
                (None, Decimal(-1), True, "0.5", "", 0, Decimal("1000000000"), Decimal("0.05"))
            )
        return raw

    def _roughen_cells(self, cells: FeedbackCells) -> FeedbackCells:
        rng, often = self.rng, 6 if self.rough == 1 else 15
        date, place, agent = cells.date, cells.pipeline, cells.agent
        if self.chance(often):
            date = rng.choice(("", "soon", "-"))
        if self.chance(often):
            place = rng.choice([text for text in NOWHERE if text is not None])
        elif self.chance(40):
            place = rng.choice(next(spellings for spellings in PIPELINES if spellings[0] == place))
        if self.chance(often):
            agent = rng.choice([text for text in NOBODY if text is not None])
        elif agent and self.chance(40):
            agent = rng.choice(next(spellings for spellings in AGENTS if spellings[0] == agent))
        return FeedbackCells(date, place, agent.strip(), cells.score, cells.pattern)

    def _repeat_ids(self) -> None:
        """Give most events an id, and write some again: the same, later, dearer, or differing in text only."""
        again: list[Raw] = []
        for n, raw in enumerate(self.events):
            if not self.chance(70):
                continue
            raw["event_id"] = f"e-{n}"
            for _ in range(2 if self.chance(5 * self.rough) else 0):
                copy = dict(raw)
                change = self.rng.choice(("same", "tokens", "cost", "tool", "time"))
                if change == "tokens":
                    copy["total_tokens"] = self.rng.randint(0, 300)
                elif change == "cost":
                    copy["cost_usd"] = Decimal(self.rng.randint(0, 50)) / 100
                elif change == "tool":
                    copy["agent"], copy["tool_name"] = AGENTS[self.rng.choice(self.agents)][0], "Grep"
                elif change == "time":
                    copy["timestamp"] = "2026-09-20T12:00:00Z"
                again.append(copy)
        self.events += again

    def _make_roster(self, places: list[str]) -> None:
        for place in places:
            if self.chance(60):
                extra = ["on-call"] if self.chance(50) else []
                self.roster[place] = [AGENTS[agent][0] for agent in self.rng.sample(self.agents, 3)] + extra

    def _healing(self) -> list[HealingEntry]:
        """Attempts of several incidents, mixed, each in its order; a pipeline is given always or never in one."""
        rng, chains = self.rng, []
        # How an agent is shown that neither events nor feedback name, SPEC leaves open.
        logged = {raw.get("agent") for raw in self.events}
        other_spelling = "Writer" if logged & set(AGENTS[0]) else "unknown"
        for _ in range(rng.choice((0, 0, 3, 8))):
            error = rng.choice(sorted(ALLOWED))
            agent = rng.choice([AGENTS[n][0] for n in self.agents] + [other_spelling, "unknown"])
            place = rng.choice((None, None, *(spelling for spellings in PIPELINES[:2] for spelling in spellings)))
            run_id = rng.choice(("run-0", "run-1", "run-2", "run-7", "elsewhere", None, "unknown"))
            # The same step may fail again later, from attempt 1.
            numbers = [n for last in ((rng.randint(1, 7),) if rng.randrange(3) else (1, 2)) for n in range(1, last + 1)]
            chains.append([HealingEntry(agent, place, run_id, error, n, self._action(error, n)) for n in numbers])
        mixed = []
        while chains:
            chain = rng.choice(chains)
            mixed.append(chain.pop(0))
            chains = [chain for chain in chains if chain]
        return mixed

    @staticmethod
    def _action(error: str, attempt: int) -> str:
        over = attempt > 5 or 0 < ALLOWED[error] < attempt
        return "escalate" if over else ACTIONS[error]

    # Files

    def _finish(self) -> MadeProject:
        made = MadeProject(self.seed)
        lines = [dump(raw) for raw in self.events]
        healing = self._healing() if self.events else []
        made.project = Project([load(line) for line in lines], tuple(self.cells), tuple(healing), self.roster)
        ids = [raw["event_id"] for raw in self.events if raw.get("event_id")]
        made.duplicates = len(ids) - len(set(ids))
        if self.rough and lines:
            for bad in ('{"agent": "a", ', '{"agent": "a", "tool_name": "Edit",}', "42", '"text"', "oops", '{"a": 1}}'):
                if self.chance(40):
                    lines.insert(self.rng.randint(0, len(lines) - 1), bad)
                    made.rejected += 1
            for _ in range(self.rng.randint(0, 3)):
                lines.insert(self.rng.randint(0, len(lines) - 1), self.rng.choice(("", "  ")))
                made.blank += 1
        made.lines = len(lines)
        content = ("\r\n" if self.chance(20) else "\n").join([*lines, ""]).encode()
        if lines and self.chance(15):
            made.files["cost-events.jsonl.gz"] = gzip.compress(content, mtime=0)
        elif lines:
            made.files["budget/cost-events.jsonl"] = content
        if self.cells:
            made.files["FEEDBACK.md"] = _table(self.cells).encode()
        if healing:
            made.files["healing-log.jsonl"] = "".join(_healing_line(n, e) for n, e in enumerate(healing)).encode()
        if self.roster:
            rows = [f"{json.dumps(place)} = {json.dumps(names)}\n" for place, names in self.roster.items()]
            made.files["reportgen.toml"] = ("[roster]\n" + "".join(rows)).encode()
        return made


def _table(rows: list[FeedbackCells]) -> str:
    head = "| Date | Pipeline | Agent | Score | Issue | Resolution | Pattern |\n|---|---|---|---|---|---|---|\n"
    body = "".join(f"| {r.date} | {r.pipeline} | {r.agent} | {r.score} | x | y | {r.pattern} |\n" for r in rows)
    return "# Feedback\n\n" + head + body


def _healing_line(number: int, entry: HealingEntry) -> str:
    exit_code = 2 if entry.action == "escalate" else 0 if entry.action.startswith("retry") else 1
    line = {
        "timestamp": (BASE + timedelta(days=2, seconds=number)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "agent": entry.agent,
        "pipeline": entry.pipeline,
        "run_id": entry.run_id,
        "error_type": entry.error_type,
        "attempt": entry.attempt,
        "max_attempts": ALLOWED[entry.error_type],
        "action": entry.action,
        "exit_code": exit_code,
        "delay_seconds": 2**entry.attempt if entry.action == "retry-backoff" else 0,
        "reason": "made",
        "context": "made",
    }
    return json.dumps(line) + "\n"
