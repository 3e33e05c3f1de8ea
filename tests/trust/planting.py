"""Secrets planted into every field of every input; then every byte that was written or printed is searched for them."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from project import HEADER

from reportgen import build
from reportgen.cli import run as command_line
from reportgen.healing import main as heal_line
from reportgen.redact import redact
from reportgen.warehouse import Warehouse
from trust.secrets import Planted, corpus
from trust.tally import Count

_EVENT = (
    "agent",
    "pipeline",
    "run_id",
    "tool_name",
    "model",
    "session_id",
    "event_id",
    "note",
    "timestamp",
    "cost_usd",
)
_FEEDBACK = ("Date", "Pipeline", "Agent", "Score", "Issue", "Resolution", "Pattern")
_HEALING = ("timestamp", "agent", "pipeline", "run_id", "error_type", "action", "reason", "context", "more")
_HEAL = ("--agent", "--pipeline", "--run-id", "--error-type", "--context")
#: Places that are no field: each a whole line, or a name.
_LINES = ("torn event", "torn healing entry", "feedback outside a table", "feedback header", "other table", "budget item",
          "budget prose", "title", "roster", "file name")  # fmt: skip
PLACES = (
    *(f"event {name}" for name in _EVENT), *(f"feedback {name}" for name in _FEEDBACK),
    *(f"healing {name}" for name in _HEALING), *(f"heal {name}" for name in _HEAL), *_LINES,
)  # fmt: skip

Planting = list[tuple[str, Planted]]


def all_plantings() -> Planting:
    """Return every secret in every place."""
    return [(place, one) for place in PLACES for one in corpus()]


def some_plantings() -> Planting:
    """Return every secret once, and every place several times."""
    secrets = corpus()
    return [(PLACES[number % len(PLACES)], one) for number, one in enumerate(secrets)]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _said(one: Planted) -> str:
    # Names are as a rule short; in a sentence a secret stands between words.
    return f"failed with {one.text}, again"


def write(project: Path, plantings: Planting) -> None:
    """Write a project with these secrets in it, and let `heal` append to its log."""
    by_place: dict[str, list[Planted]] = {place: [] for place in PLACES}
    for place, one in plantings:
        by_place[place].append(one)
    events: list[str] = []
    for name in _EVENT:
        for number, one in enumerate(by_place[f"event {name}"]):
            row = {"timestamp": f"2026-11-02T09:{number % 60:02d}:00Z", "agent": "writer", "pipeline": "docs",
                   "run_id": f"r{number % 9}", "cost_usd": 1 + number % 3, name: one.text}  # fmt: skip
            events.append(json.dumps(row))
    events += [f'{{"agent": "x", "note": "{one.text}' for one in by_place["torn event"]]
    feedback = ["# Feedback", "", HEADER.rstrip()]
    for name in _FEEDBACK:
        for one in by_place[f"feedback {name}"]:
            cells = ["2026-11-02", "docs", "writer", "50/100", "slow", "none", "loop-excess"]
            cells[_FEEDBACK.index(name)] = _cell(one.text if name in ("Agent", "Pipeline") else _said(one))
            feedback.append("| " + " | ".join(cells) + " |")
    for one in by_place["feedback outside a table"]:
        feedback += ["", f"| {_cell(one.text)} | b | c |"]
    for one in by_place["feedback header"]:
        feedback += [
            "",
            f"| Agent | Score | Pattern | {_cell(one.text)} |",
            "|---|---|---|---|",
            "| writer | 40 | x | y |",
        ]
    for one in by_place["other table"]:
        feedback += ["", f"| Agent | {_cell(one.text)} |", "|---|---|", "| a | b |"]
    log = []
    for name in _HEALING:
        for number, one in enumerate(by_place[f"healing {name}"]):
            entry: dict[str, Any] = {
                "timestamp": "2026-11-02T10:00:00Z", "agent": "writer", "pipeline": "docs", "run_id": f"r{number % 9}",
                "error_type": "timeout", "attempt": 1, "action": "escalate", "exit_code": 2, "reason": "", "context": "",
            }  # fmt: skip
            log.append(json.dumps({**entry, name: one.text if name in ("agent", "pipeline", "run_id") else _said(one)}))
    log += [f'{{"agent": "x", "context": "{one.text}' for one in by_place["torn healing entry"]]
    budget = ["- limit: 500 cents", "- window: daily"]
    budget += [f"- {one.text}: 200 cents/daily" for one in by_place["budget item"]]
    budget += [f"about {one.text}" for one in by_place["budget prose"]]
    # A title is one, and short.
    title = min((one.text for one in by_place["title"]), key=len, default="Report")[:80]
    roster = [one.text for one in by_place["roster"]]
    settings = f"[report]\ntitle = {json.dumps(title)}\n\n[roster]\ndocs = {json.dumps([*roster, 'writer'])}\n"
    (project / "budget").mkdir(parents=True)
    for name, lines in (("budget/cost-events.jsonl", events), ("FEEDBACK.md", feedback), ("healing-log.jsonl", log),
                        ("BUDGET.md", budget)):  # fmt: skip
        (project / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    named = ["budget/cost-events.jsonl"]
    for number, one in enumerate(by_place["file name"]):
        if one.kind == "home" or "://" in one.text:
            # A path or an address is no name.
            continue
        name = f"more/{number}/{one.text[:200]}.jsonl"
        with contextlib.suppress(OSError, ValueError):
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_text('{"agent": "writer", "cost_usd": 1}\n{torn\n', encoding="utf-8")
            named.append(name)
    quoted = ", ".join(json.dumps(name.replace("[", "[[]")) for name in named if "*" not in name and "?" not in name)
    (project / "reportgen.toml").write_text(f"{settings}\n[inputs]\nevents = [{quoted}]\n", encoding="utf-8")
    for flag in _HEAL:
        for one in by_place[f"heal {flag}"]:
            given = {"--agent": "writer", "--attempt": "1", "--log": str(project / "healing-log.jsonl"), flag: one.text}
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                heal_line([*(f"{name}={value}" for name, value in given.items()), "--no-wait"])


def written(project: Path) -> Iterator[tuple[str, str]]:
    """Yield every text that a build has written: files, and each text in the warehouse."""
    for path in [project / "RECOMMENDATIONS.md", *sorted((project / "site").rglob("*"))]:
        if path.is_file():
            yield path.relative_to(project).as_posix(), path.read_text("utf-8", "replace")
            yield "the name of a file", path.relative_to(project).as_posix()
    for path in sorted((project / ".reportgen").iterdir()):
        if path.is_file() and path.suffix != ".duckdb":
            # What is kept for the next build has to know the files by their real names, and lies beside them.
            names = re.compile("|".join(re.escape(str(one.name)) for one in project.glob("more/*/*")) or "$^")
            yield path.name, names.sub("", path.read_bytes().decode("utf-8", "replace"))
    with Warehouse(project / ".reportgen" / "warehouse.duckdb", read_only=True) as store:
        tables = store.query("select schema_name, table_name from duckdb_tables() order by all").rows
        for schema, table in tables:
            for row in store.query(f'select * from "{schema}"."{table}"').rows:
                yield f"warehouse {schema}.{table}", repr(row)
    logged = (project / "healing-log.jsonl").read_text("utf-8").splitlines()
    yield from (("what heal has logged", line) for line in logged if '"max_attempts"' in line)


def searched(texts: Iterator[tuple[str, str]], plantings: Planting) -> list[str]:
    """Return where a planted word is found."""
    words = {one.secret.casefold(): one for _, one in plantings}
    found = []
    for where, text in texts:
        folded = text.casefold()
        found += [f"{words[word].kind} in {where}" for word in words if word in folded]
    return sorted(set(found))


def printed(project: Path, secret: Planted) -> Iterator[tuple[str, str]]:
    """Yield what the command line prints where it is given a secret that it must refuse, on both streams."""
    text = secret.text
    # What is told apart by a slash before it is no path within a path.
    is_place = "/" in text or "\\" in text
    calls: tuple[tuple[str, ...], ...] = (
        ("build", str(project), "--pipeline", text), ("build", str(project), "--events", text),
        ("build", str(project), "--since", text), ("build", str(project), "--settings", text),
        ("build", text if is_place else f"/nowhere/{text}"), ("build", str(project), "--json", "--pipeline", text),
        ("query", f"select '{text.replace(chr(39), '')}' +", "--project", str(project)), ("detectors", "show", text),
        ("feedback", "add", "--project", str(project), "--pipeline", "docs", "--agent", "writer", "--score", text),
    )  # fmt: skip
    for call in calls:
        yield " ".join(call[:2]).replace(str(project), "PROJECT"), _captured(command_line, call)
    for flags in (
        ("--agent=writer", "--attempt", text),
        (text,),
        (f"-- {text}",),
        ("--agent=a", "--attempt=1", f"--log={text}/x"),
    ):
        yield "heal", _captured(heal_line, flags)


def _captured(call: Callable[[Any], int], words: tuple[str, ...]) -> str:
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors), contextlib.suppress(SystemExit):
        call(list(words))
    return out.getvalue() + errors.getvalue()


def run(*, everywhere: bool) -> list[Count]:
    """Plant, build and search; then count what is redacted of the example's ordinary text."""
    plantings = all_plantings() if everywhere else some_plantings()
    planted = Count("planted secrets, by field", len(plantings))
    told = Count("secrets given to the command line")
    with TemporaryDirectory(prefix="reportgen-trust-") as folder:
        project = Path(folder) / "project"
        project.mkdir()
        write(project, plantings)
        result = build(project, single_file=project / "site" / "one.html")
        planted.losses = searched(written(project), plantings)
        planted.note = f"{len(corpus())} forms, {len(PLACES)} fields, {sum(1 for _ in result.site.rglob('*'))} files"
        before = Path.cwd()
        os.chdir(folder)
        try:
            for one in corpus() if everywhere else corpus()[:: len(corpus()) // 6]:
                for where, text in printed(project, one):
                    told.number += 1
                    if one.secret.casefold() in text.casefold():
                        told.losses.append(f"{one.kind} from {where}: {text[:200]}")
        finally:
            os.chdir(before)
    return [planted, told, ordinary()]


def ordinary() -> Count:
    """Count the texts of the example that are redacted although nothing in them is a secret."""
    count = Count("false positives, in the example's texts")
    with TemporaryDirectory(prefix="reportgen-trust-") as folder:
        script = Path(__file__).parents[2] / "examples" / "make_example.py"
        subprocess.run([sys.executable, str(script), folder], check=True, capture_output=True)
        texts: set[str] = set()
        for line in (Path(folder) / "budget" / "cost-events.jsonl").read_text("utf-8", "replace").splitlines():
            with contextlib.suppress(ValueError):
                row = json.loads(line)
                texts |= {value for value in row.values() if isinstance(value, str)} if isinstance(row, dict) else set()
        for path in sorted(Path(folder).glob("*")):
            if path.suffix in (".md", ".toml", ".jsonl") and path.is_file():
                texts |= set(path.read_text("utf-8").splitlines())
    count.number = len(texts)
    # What the example plants on purpose, to show that it is hidden.
    meant = ("@", "/home/", "/Users/", "sk-", "Bearer", "password", "token=", "ghp_")
    count.losses = [text for text in sorted(texts) if redact(text) != text and not any(sign in text for sign in meant)]
    return count
