"""What is called what, when the reports of several projects become one: one `Renaming` for each project.

A pipeline becomes `project / pipeline`, and what is named by it follows: slugs, ids, titles. In slugs and ids a `_`
stands between the two parts, which no slug and no id of one project's report has. An agent stays who it is: one of the
same name in two projects is one agent with a row for each of their pipelines, as it is in one report. Two that only
look alike (`[e-mail 1]` in both) are told apart by their project.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import field, replace

from reportgen.identity import slug
from reportgen.model import Recommendation, Report
from reportgen.names import ALL_PIPELINES, JOIN, fold
from reportgen.quickclass import dataclass
from reportgen.report.findings import title

#: A pipeline, and nothing that is longer, is a name; see `names.NAME_LIMIT`.
SEPARATOR = "_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """One project's report, and the name by which the others know it; names differ, also when folded."""

    name: str
    report: Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Renaming:
    """The new names of one project's things. What has none keeps its own."""

    project: str
    slug: str
    #: By shown name, and by slug.
    agents: dict[str, str] = field(default_factory=dict)
    agent_slugs: dict[str, str] = field(default_factory=dict)
    detectors: dict[str, str] = field(default_factory=dict)
    #: SQL files by what they are called: `sql/charts/cost_by_day.sql`.
    files: dict[str, str] = field(default_factory=dict)
    #: Titles of the project's findings, by their former titles.
    titles: dict[str, str] = field(default_factory=dict)

    def within(self, name: str) -> str:
        """Return a name of something that belongs to the project: `shop / FEEDBACK.md`."""
        return f"{self.project}{JOIN}{name}"

    def pipeline(self, name: str) -> str:
        """Return the new name of a pipeline; a finding of all of them keeps theirs."""
        return name if name == ALL_PIPELINES else self.within(name)

    def pipeline_slug(self, old: str) -> str:
        """Return the new slug of a pipeline."""
        return f"{self.slug}{SEPARATOR}{old}"

    def key(self, old: str) -> str:
        """Return the new id of a finding or a group."""
        return f"{old}{SEPARATOR}{self.slug}"

    def agent(self, name: str) -> str:
        """Return the new name of an agent."""
        return self.agents.get(name, name)

    def agent_slug(self, old: str) -> str:
        """Return the new slug of an agent."""
        return self.agent_slugs.get(old, old)

    def subject(self, one: Recommendation) -> str:
        """Return the new name of what a finding is about."""
        if one.subject_kind == "agent":
            return self.agent(one.subject)
        if one.subject_kind == "pipeline" or one.pipeline == ALL_PIPELINES:
            return self.within(one.subject)
        return one.subject

    def finding(self, one: Recommendation) -> Recommendation:
        """Return the finding under its new names; its words stay those of its own report."""
        pipeline, subject = self.pipeline(one.pipeline), self.subject(one)
        about = title(one.issue, subject, one.subject_kind, pipeline)
        if pipeline == ALL_PIPELINES and one.subject == ALL_PIPELINES:
            about = f"{one.issue}: all pipelines of {self.project}"
        elif pipeline == ALL_PIPELINES and one.subject_kind == "agent":
            about += f" in {self.project}"
        return replace(
            one,
            id=self.key(one.id),
            group=self.key(one.group),
            detector=self.detectors.get(one.detector, one.detector),
            pipeline=pipeline,
            subject=subject,
            title=about,
        )


def project_slug(name: str) -> str:
    """Return the part of a slug or an id that stands for the project."""
    key = fold(name)
    return slug(key, hashlib.sha256(f"project\x1f{key}".encode("utf-8", "replace")).hexdigest())


def renamings(projects: Sequence[Project]) -> list[Renaming]:
    """Return the renaming of each project, with its agents settled; detectors, files and titles are empty."""
    return [
        Renaming(project=one.name, slug=project_slug(one.name), agents=names, agent_slugs=slugs)
        for one, (names, slugs) in zip(projects, _agents(projects), strict=True)
    ]


#: Who an agent is: its slug, which is made of its raw name, and the name itself unless it stands for a secret.
_Who = tuple[str, str]


def _who(name: str, old: str) -> _Who:
    # A report may come from anywhere: what merely claims another agent's page is not that agent.
    return old, "[" if "[" in name else fold(name)


def _agents(projects: Sequence[Project]) -> list[tuple[dict[str, str], dict[str, str]]]:
    """Return, for each project, the new names of its agents by the old, and the new slugs."""
    spellings: dict[_Who, Counter[str]] = {}
    for one in projects:
        for agent in one.report.agents:
            spellings.setdefault(_who(agent.agent, agent.slug), Counter())[agent.agent] += max(agent.events, 0)
    shown = {who: min(found, key=lambda name: (-found[name], name)) for who, found in spellings.items()}
    names = Counter(fold(name) for name in shown.values())
    slugs = Counter(old for old, _ in shown)
    out = []
    for one in projects:
        new: dict[str, str] = {}
        new_slugs: dict[str, str] = {}
        for agent in one.report.agents:
            who = _who(agent.agent, agent.slug)
            name = shown[who]
            if names[fold(name)] > 1:
                name = f"{agent.agent} ({one.name})"
            new[agent.agent] = name
            if slugs[agent.slug] > 1:
                new_slugs[agent.slug] = f"{agent.slug}{SEPARATOR}{project_slug(one.name)}"
        out.append((new, new_slugs))
    return out
