"""Recipes for random pipelines: each puts one rule exactly at its boundary or one step beside it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random

from oracle_reading import FeedbackCells

AGENTS = (
    ("writer", "Writer", "**Writer**", "@writer", " WRITER "),
    ("Straße-Bot", "STRASSE-BOT", "`strasse-bot`"),
    ("café coder", "cafe\u0301 coder", "Café  Coder"),
    ("planner", "Planner"),
    ("critic", "*critic*", "CRITIC"),
    ("agent_x",),
    ("zed",),
)
PIPELINES = (("docs", "Docs", "`docs`"), ("Ship it", "ship  it", "**ship it**"), ("alpha",), ("Ωmega", "ωMEGA"))
NOBODY = ("", "unknown", "Default", "none", "N/A", "user", "Assistant", "tool", None)
NOWHERE = ("", "unknown", "default", "None", "null", "n/a", None)
TAGS = ("quality-low", "timeout", "tool-fail", "Tool_Fail", "cost-spike", "scope-drift", "`hallucination`", "own-tag")
BASE = datetime(2026, 9, 1, tzinfo=UTC)

Json = str | int | Decimal | bool | None
Raw = dict[str, Json]


class Kitchen:
    """Events and feedback rows of one random project, in the making."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = Random(seed)
        #: 0: boundaries stay exact; 1: every kind of oddity once in a while; 2: often.
        self.rough = self.rng.choice((0, 0, 1, 1, 2))
        self.agents = self.rng.sample(range(len(AGENTS)), 5)
        self.metric = self.rng.choice(("usd", "usd", "tokens", "parts", "estimate", "mixed", "none"))
        self.events: list[Raw] = []
        self.cells: list[FeedbackCells] = []
        self.roster: dict[str, list[str]] = {}

    def chance(self, percent: int) -> bool:
        return self.rng.randrange(100) < percent

    # Recipes: what they are exact about stands in their names.

    def even_work(self, place: str) -> None:
        """Every agent in every run, the same cost: nothing to find."""
        team = self.agents[: self.rng.randint(2, 4)]
        for run in range(self.rng.randint(1, 12)):
            for agent in team:
                self.event(place, agent, run)

    def anything(self, place: str) -> None:
        for run in range(self.rng.randint(1, 24)):
            for _ in range(self.rng.randint(1, 4)):
                self.event(place, self.rng.choice(self.agents), run, cost=Decimal(self.rng.randint(0, 9)) / 10)

    def work_at_one_and_a_half_times_the_mean(self, place: str) -> None:
        """3, 1, 2 is N/A = 2 and 3 = 1.5 x 2; times a factor; half of the time one event more elsewhere."""
        factor = self.rng.randint(1, 5)
        counts = self.rng.choice(([3, 1], [3, 1, 2], [3, 3, 1, 1], [6, 3, 3, 3, 1], [2, 2, 2]))
        for agent, count in zip(self.agents, counts, strict=False):
            for n in range(count * factor):
                self.event(place, agent, n % 6)
        if self.chance(50):
            self.event(place, self.agents[1], 0)

    def three_agents_at_one_and_a_half_times_the_mean(self, place: str) -> None:
        """6, 6, 6, 1, 1 is N/A = 4: only two of the three are flagged, by cost, then by name."""
        for agent, count in zip(self.agents, (6, 6, 6, 1, 1), strict=True):
            cost = Decimal(self.rng.choice(("0.1", "0.1", "0.2")))
            for n in range(count):
                self.event(place, agent, n, cost=cost, tokens=int(cost * 1000))

    def an_agent_in_a_tenth_of_the_runs(self, place: str) -> None:
        runs = self.rng.choice((9, 10, 11, 19, 20, 21))
        rare = self.rng.choice((1, 1, 2))
        # New: in a tenth of the runs since it came. Retired: not in the last half.
        start = self.rng.choice((0, runs // 2, runs // 2 - 1, runs - rare, max(0, runs - 10 * rare)))
        for run in range(runs):
            self.event(place, self.agents[0], run)
            if start <= run < start + rare:
                self.event(place, self.agents[1], run)

    def an_agent_in_nine_tenths_of_the_runs(self, place: str) -> None:
        runs = self.rng.choice((10, 20))
        for run in range(runs):
            self.event(place, self.agents[0], run)
            if run >= runs // 10 + self.rng.choice((0, 0, 1)):
                for _ in range(4):
                    self.event(place, self.agents[1], run)

    def a_run_at_three_times_the_mean(self, place: str) -> None:
        """R runs: x R = 3 (x + (R - 1) y), so x (R - 3) = 3 (R - 1) y."""
        runs, step = self.rng.randint(4, 12), Decimal(self.rng.choice(("0.01", "0.1", "1", "0.000000000001")))
        beside = self.rng.choice((0, 0, 1, -1))
        for run in range(runs):
            cost = step * (3 * (runs - 1) if run == 1 else runs - 3)
            cost += beside * Decimal("0.000000000001") if run == 1 else 0
            self.event(place, self.agents[run % 2], run, cost=cost, tokens=int(cost / step))

    def costs_for_95_percent(self, place: str) -> None:
        carrying = self.rng.choice((19, 20, 20, 21, 40))
        without = self.rng.choice((1, 2))
        zero = self.chance(20)
        for n in range(carrying):
            raw = self.event(place, self.agents[n % 3], n % 7)
            raw.pop("cost_usd", None)
            raw["total_tokens"] = 100
            if n >= without:
                raw["cost_usd"] = Decimal(0) if zero else Decimal("0.25")
        for n in range(self.rng.randint(0, 3)):
            raw = self.event(place, self.agents[0], n)
            for name in ("cost_usd", "input_tokens", "output_tokens", "estimated_tokens"):
                raw.pop(name, None)
            raw["total_tokens"] = 0

    def gaps_of_thirty_minutes(self, place: str) -> None:
        """No run ids: 30:00 stays in the run, 30:01 begins one."""
        time = BASE + timedelta(hours=self.rng.randint(0, 500))
        for _ in range(self.rng.randint(3, 40)):
            raw = self.event(place, self.rng.choice(self.agents[:3]), 0, time=time)
            del raw["run_id"]
            time += timedelta(seconds=self.rng.choice((0, 5, 1799, 1800, 1800, 1801, 1801, 7200)))

    def original_format(self, place: str) -> None:
        """Four fields: the pipeline can only come from feedback."""
        self.gaps_of_thirty_minutes(place)
        for raw in self.events[-3:]:
            raw.pop("pipeline", None)
        for agent in self.agents[:2]:
            self.row(place, agent)

    def feedback_only(self, place: str) -> None:
        for day in range(self.rng.choice((3, 10, 11, 20, 21))):
            self.row(place, self.agents[0], day=day)
        self.row(place, self.agents[1], day=self.rng.choice((0, 1, 25)))

    def a_reviewed_agent_without_events(self, place: str) -> None:
        for run in range(self.rng.randint(1, 11)):
            self.event(place, self.agents[0], run)
        self.row(place, self.agents[3])
        if self.chance(30):
            raw = self.event(place, self.agents[3], 0)
            del raw["pipeline"]
        elif self.chance(30):
            # Its only event belongs to no run.
            raw = self.event(place, self.agents[3], 0)
            del raw["run_id"]
            raw["timestamp"] = None

    # Pieces

    def event(
        self,
        place: str,
        agent: int,
        run: int,
        *,
        cost: Decimal | None = None,
        tokens: int = 100,
        time: datetime | None = None,
    ) -> Raw:
        if time is None:
            time = BASE + timedelta(hours=7 * run + self.rng.choice((0, 0, 1)), minutes=self.rng.choice((0, 0, 5, 20)))
        raw: Raw = {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "agent": AGENTS[agent][0],
            "tool_name": self.rng.choice(("Edit", "Bash", "Read")),
            "pipeline": place,
            "run_id": f"run-{run}",
        }
        metric = self.rng.choice(("usd", "tokens", "parts", "estimate")) if self.metric == "mixed" else self.metric
        if metric == "usd":
            raw["cost_usd"] = Decimal("0.1") if cost is None else cost
        if metric == "tokens":
            raw["total_tokens"] = tokens
        elif metric == "parts":
            raw["input_tokens"], raw["output_tokens"] = tokens - tokens // 3, tokens // 3
        elif metric == "estimate":
            raw["estimated_tokens"] = tokens
        self.events.append(raw)
        return raw

    def row(self, place: str, agent: int | None, *, pattern: str | None = None, day: int | None = None) -> None:
        rng = self.rng
        date = BASE.date() + timedelta(days=rng.randint(0, 12) if day is None else day)
        score = rng.choice(("59/100", "60/100", "61/100", "**59.9/100**", "3/5", "2/5", "88%", "45", "N/A", "—"))
        if pattern is None:
            pattern = rng.choice(("-", "none", "—", rng.choice(TAGS), ", ".join(rng.sample(TAGS, 2))))
        name = "" if agent is None else AGENTS[agent][0]
        self.cells.append(FeedbackCells(date.isoformat(), place, name, score, pattern))

    def review(self, places: list[str]) -> None:
        """Feedback, with loops that reach three at one scope, just miss it, or are spread over pipelines."""
        rng = self.rng
        loop = ("loop-excess", "Loop_Excess", "`loop-excess`, timeout")
        for _ in range(rng.choice((0, 2, 6))):
            self.row(rng.choice(places), rng.choice([*self.agents, None]))
        plan = rng.choice(("none", "agent", "agents", "pipeline", "unnamed", "project", "project", "random"))
        targets: list[tuple[str, int | None]] = []
        if plan == "agent":
            targets = [(places[0], self.agents[0]) for _ in range(rng.choice((2, 3, 4)))]
            targets += [(places[0], self.agents[1])]
        elif plan == "agents":
            targets = [(places[-1], agent) for agent in self.agents[:2] for _ in range(3)]
        elif plan == "pipeline":
            targets = [(places[0], agent) for agent in self.agents[: rng.choice((2, 3, 4))]]
        elif plan == "unnamed":
            targets = [(places[0], None)] * 2 + [(places[0], self.agents[0])] * 2
        elif plan == "project":
            targets.extend((place, self.agents[n % 2]) for n, place in enumerate(places))
            targets += [(rng.choice(places), self.agents[2])] * rng.choice((0, 1))
        elif plan == "random":
            targets = [(rng.choice(places), rng.choice(self.agents)) for _ in range(rng.randint(2, 9))]
        for place, agent in targets:
            self.row(place, agent, pattern=rng.choice(loop), day=rng.choice((1, 1, 2, 3)))

    def far_away(self) -> None:
        """One or two events years away, or exactly 366 days; beside one event, a few, or about 200."""
        if self.chance(15):
            self.events = [{**raw, "run_id": None} for raw in self.events[:1]]
        times = [datetime.fromisoformat(str(raw["timestamp"])) for raw in self.events if raw["timestamp"]]
        if not times:
            return
        place, agent = str(self.events[0].get("pipeline", "docs")), self.agents[0]
        away = self.rng.choice((timedelta(days=366), timedelta(days=366, seconds=1), timedelta(days=3000)))
        if len(self.events) > 1 and self.chance(40):
            wanted = self.rng.choice((197, 198, 199))
            while len(self.events) < wanted:
                self.event(place, self.rng.choice(self.agents), self.rng.randint(0, 5), time=max(times))
        for _ in range(self.rng.choice((1, 2))):
            raw = self.event(place, agent, 90, time=max(times) + away)
            raw["run_id"] = raw["run_id"] if len(self.events) > 3 else None


RECIPES: tuple[Callable[[Kitchen, str], None], ...] = (
    Kitchen.even_work,
    Kitchen.anything,
    Kitchen.anything,
    Kitchen.work_at_one_and_a_half_times_the_mean,
    Kitchen.three_agents_at_one_and_a_half_times_the_mean,
    Kitchen.an_agent_in_a_tenth_of_the_runs,
    Kitchen.an_agent_in_nine_tenths_of_the_runs,
    Kitchen.a_run_at_three_times_the_mean,
    Kitchen.costs_for_95_percent,
    Kitchen.gaps_of_thirty_minutes,
    Kitchen.original_format,
    Kitchen.feedback_only,
    Kitchen.a_reviewed_agent_without_events,
)
