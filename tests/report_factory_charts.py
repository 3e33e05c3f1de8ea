"""The charts of the report made by hand: every kind, every page, with rows."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Literal

from report_factory_findings import sample_recommendations

from reportgen.model import Cell, Chart, Column, Measure

_DAYS = [str(date(2026, 9, 17) + timedelta(days=n)) for n in range(45)]
_Kind = Literal["bars", "rows", "points", "lines", "bubbles", "spans"]


def wave(day: int, scale: int, seed: int = 7) -> int:
    return scale + (day * seed * 37 + day * day * 11) % (scale + 1)


def chart(
    name: str,
    page: str,
    key: str,
    title: str,
    kind: _Kind,
    columns: list[tuple[str, str, str | None]],
    rows: list[list[Cell]],
    *,
    series: str | None = None,
    mark: str | None = None,
    label: str | None = None,
    measure: Measure | None = None,
    line_at: str | None = None,
    line_label: str | None = None,
    note: str = "",
    about: str = "",
    size: str | None = None,
    end: str | None = None,
    level: str | None = None,
    link: str | None = None,
    link_to: Literal["agents", "pipelines", "recommendations"] | None = None,
    colours: dict[str, str] | None = None,
) -> Chart:
    """Make a chart whose first column is x and second is y."""
    return Chart(
        id=name,
        page=page,
        key=key,
        title=title,
        about=about,
        kind=kind,
        columns=[Column(name=n, label=text, unit=unit) for n, text, unit in columns],
        x=columns[0][0],
        y=columns[1][0],
        series=series,
        mark=mark,
        label=label,
        size=size,
        end=end,
        level=level,
        link=link,
        link_to=link_to,
        colours=colours or {},
        measure=measure,
        line_at=line_at,
        line_label=line_label,
        note=note,
        file=f"sql/charts/{name}.sql",
        csv=f"chart-{name}{'-' if key else ''}{key}.csv",
        rows=rows,
    )


def _overview() -> list[Chart]:
    day = ("day", "Day", "date")
    pipe = ("pipeline", "Pipeline", "text")
    return [
        chart("cost_over_time_usd", "overview", "", "doc-pipeline costs 21% more a run than at the start", "bars",
              [day, ("cost", "Cost", "cost"), pipe],
              [[d, f"{wave(n, 6) + n // 15}.{wave(n, 41, 3)}", "doc-pipeline"] for n, d in enumerate(_DAYS)],
              series="pipeline", measure="usd", line_at="10", line_label="daily budget"),
        chart("cost_over_time_tokens", "overview", "", "review-pipeline uses 18% fewer tokens a run", "bars",
              [day, ("cost", "Tokens", "cost"), pipe],
              [[d, str(wave(n, 800000, 5) - n * 4000), "review-pipeline"] for n, d in enumerate(_DAYS)],
              series="pipeline", measure="tokens", note="Tokens of this pipeline are estimates of its producer."),
        chart("agents_cost_score", "agents", "", "agent-writer costs most and scores lowest", "bubbles",
              [("cost", "Cost", "cost"), ("mean_score", "Mean score", "score"), ("agent", "Agent", "text"), ("flagged", "Flagged", None), ("runs", "Runs", "runs")],
              [["240.118", 54.25, "agent-writer", True, 209], ["81.4402", 88.1, "agent-planner", False, 214], ["61.0001", 79.9, "agent-reviewer", False, 190], ["20.4", 91.0, "agent-publisher", False, 201], ["4.914904", 77.5, "agent-illustrator", False, 11], ["1.5", None, "linter", False, 3]],
              mark="flagged", label="agent", size="runs", link="agent", link_to="agents", measure="usd",
              line_at="60", line_label="low score below", about="Cost and mean score of each agent"),
        chart("recommendation_times", "recommendations", "", "All of them rest on something of October", "spans",
              [("first", "From", "date"), ("recommendation", "Recommendation", "text"), ("recommendation_id", "Id", None), ("last", "To", "date"), ("decision", "Decision hint", None)],
              [[_DAYS[n], found.title, found.id, _DAYS[44 - n], found.decision] for n, found in enumerate(sample_recommendations())],
              series="decision", end="last", link="recommendation_id", link_to="recommendations",
              colours={"implement": "good", "defer": "warn", "reject": "grey"}),
    ]  # fmt: skip


def outlier(run: str) -> list[Cell]:
    """Return title and id of the recommendation about a run; of one that has none, nothing."""
    found = [one for one in sample_recommendations() if one.subject_kind == "run" and one.subject == run]
    return [found[0].title, found[0].id] if found else [None, None]


def _pipelines() -> list[Chart]:
    out = []
    scales: list[tuple[str, Measure, int, str]] = [
        ("doc-pipeline", "usd", 1, "5.787939"),
        ("review-pipeline", "tokens", 190000, "803515.733333"),
        ("intake", "events", 16, "69.0625"),
    ]
    for slug, measure, scale, line in scales:
        runs: list[list[Cell]] = [
            [
                f"{d}T{6 + n % 12:02d}:02:11Z",
                f"{wave(n, scale)}.{wave(n, 40, 3)}" if measure == "usd" else str(wave(n, scale)),
                f"run-{n * 4:06d}",
                False,
                None,
                None,
            ]
            for n, d in enumerate(_DAYS)
        ]
        if measure == "usd":
            runs[16] = ["2026-10-03T09:14:07Z", "9.1", "2026-10-03T09:14:07Z", True, *outlier("2026-10-03T09:14:07Z")]
            runs[21] = ["2026-10-08T11:02:11Z", "5.98", "run-000087", True, *outlier("run-000087")]
            runs[30] = ["2026-10-17T10:02:11Z", "18.2", "run-000123", True, *outlier("run-000123")]
        title = "3 of 214 runs cost three times the usual" if measure == "usd" else "No run costs three times the usual"
        out.append(chart("runs_over_time", "pipeline", slug, title, "points",
                         [("start", "Start", "time"), ("cost", "Cost", "cost"), ("run", "Run", "text"), ("outlier", "Outlier", None), ("recommendation", "Recommendation", "text"), ("recommendation_id", "Id", None)], runs,
                         mark="outlier", label="run", link="recommendation_id", link_to="recommendations", measure=measure, line_at=line, line_label="3 times the mean"))  # fmt: skip
    shares: dict[str, list[list[Cell]]] = {
        "doc-pipeline": [[0.5553, "agent-writer", True], [0.2014, "agent-planner", False], [0.1628, "agent-reviewer", False], [0.0782, "agent-publisher", False], [0.0022, "agent-illustrator", False]],
        "review-pipeline": [[0.547, "code-reader", True], [0.2263, "security-auditor", False], [0.149, "summariser", False], [0.0712, "agent-reviewer", False], [0.0066, "linter", False]],
        "intake": [[0.9864, "triage", False], [0.0136, "archivist", False]],
    }  # fmt: skip
    for slug, rows in shares.items():
        out.append(chart("agent_shares", "pipeline", slug, "Who does the work", "rows",
                         [("share", "Share of events", "share"), ("agent", "Agent", "text"), ("flagged", "Reported", None)], rows,
                         mark="flagged", link="agent", link_to="agents", line_at=str(round(1.5 / len(rows), 4)), line_label="1.5 times an even share"))  # fmt: skip
    return out


def _agents() -> list[Chart]:
    out = []
    for slug, base in (("agent-writer", 45), ("agent-planner", 80), ("code-reader", 72)):
        rows: list[list[Cell]] = [
            [d, wave(n, 20, 3) % 20 + base - (n // 8 if base == 45 else 0), "score"]
            for n, d in enumerate(_DAYS)
            if n % 2 == 0
        ]
        rows += [
            [d, base + 10 - (n // 9 if base == 45 else 0), "mean of 10"] for n, d in enumerate(_DAYS) if n % 8 == 0
        ]
        out.append(chart("agent_scores", "agent", slug, "Scores fall from 57 to 50" if base == 45 else "Scores are steady", "lines",
                         [("date", "Date", "date"), ("score", "Score", "score"), ("series", "Line", "text")], rows,
                         series="series", line_at="60", line_label="flag below 60"))  # fmt: skip
        out.append(chart("agent_tools", "agent", slug, "Bash is half of the calls", "rows",
                         [("events", "Events", "events"), ("tool", "Tool", "text")],
                         [[8560, "Bash"], [5706, "Read"], [2853, "WebSearch"]]))  # fmt: skip
    return out


def _findings() -> list[Chart]:
    out = []
    for found in sample_recommendations():
        if found.detector in ("bottleneck_agent", "cost_outlier"):
            unit = "events" if found.detector == "bottleneck_agent" else "cost"
            out.append(chart(f"{found.detector}_evidence", "recommendation", found.id, f"{found.subject} against the others", "rows",
                             [("value", unit.title(), unit), ("name", "Name", "text"), ("subject", "This one", None)],
                             [[found.observed, found.subject, True], [found.baseline, "mean", False]],
                             mark="subject", measure=found.cost_measure, line_at=found.threshold, line_label="reported from"))  # fmt: skip
        if found.detector == "revision_loops":
            out.append(chart("loop_rows", "recommendation", found.id, "Loops come every few days", "bars",
                             [("date", "Date", "date"), ("rows", "Rows", "rows"), ("tag", "Tag", "text")],
                             [[d, wave(n, 1), "loop-excess"] for n, d in enumerate(_DAYS) if n % 3 == 0], series="tag"))  # fmt: skip
    return out


def sample_charts() -> list[Chart]:
    healing: list[list[Cell]] = [
        [d, (n * 5) % 4, kind]
        for n, d in enumerate(_DAYS)
        for kind in ("timeout", "api-error", "content-quality")
        if (n + len(kind)) % 3 == 0
    ]
    return [
        *_overview(),
        *_pipelines(),
        *_agents(),
        *_findings(),
        chart("healing_over_time", "healing", "", "Timeouts cause most attempts", "bars", [("day", "Day", "date"), ("attempts", "Attempts", "rows"), ("error_type", "Error type", "text")], healing, series="error_type"),
        chart("budget_spend", "budget", "", "11 of 44 days went over the daily limit", "lines", [("day", "Day", "date"), ("spent", "Spent", "usd"), ("subject", "Subject", "text")], [[d, f"{wave(n, 6)}.{wave(n, 41, 3)}", "(all agents)"] for n, d in enumerate(_DAYS)], series="subject", line_at="10", line_label="daily limit"),
    ]  # fmt: skip
