"""Charts made by hand, plain and hostile, for the tests."""

from __future__ import annotations

from typing import Any, Literal

from reportgen.model import Cell, Chart, Column, Measure

LINK = '<a href="javascript:alert(1)">click</a>'
HOSTILE = [LINK, "<b>bold</b>", "a &lt;b&gt; c", "$x^2$", "%{y} %{customdata[0]}", "a<br>b", "\u202eevil\x00\n2"]


def make(
    kind: Literal["bars", "rows", "points", "lines"],
    columns: list[tuple[str, str, str | None]],
    rows: list[list[Cell]],
    *,
    series: str | None = None,
    mark: str | None = None,
    label: str | None = None,
    measure: Measure | None = "usd",
    line_at: str | None = None,
    line_label: str | None = None,
) -> Chart:
    """Return a chart whose first column is x and second is y."""
    return Chart(
        id="chart",
        page="overview",
        key="",
        title="Title",
        kind=kind,
        columns=[Column(name=name, label=text, unit=unit) for name, text, unit in columns],
        x=columns[0][0],
        y=columns[1][0],
        series=series,
        mark=mark,
        label=label,
        measure=measure,
        line_at=line_at,
        line_label=line_label,
        note="",
        file="sql/charts/chart.sql",
        csv="chart-chart.csv",
        rows=rows,
    )


DAY_COST: list[tuple[str, str, str | None]] = [
    ("day", "Day", "date"),
    ("cost", "Cost", "cost"),
    ("pipeline", "Pipeline", None),
]
AGENT_EVENTS: list[tuple[str, str, str | None]] = [
    ("events", "Events", "events"),
    ("agent", "Agent", None),
    ("flagged", "Bottleneck", None),
]
RUN_COST: list[tuple[str, str, str | None]] = [
    ("started", "Started", "time"),
    ("cost", "Cost", "cost"),
    ("run", "Run", None),
    ("outlier", "Outlier", None),
]


def bars(rows: list[list[Cell]], **more: Any) -> Chart:
    return make("bars", DAY_COST, rows, series="pipeline", **more)


def agents(rows: list[list[Cell]], **more: Any) -> Chart:
    return make("rows", AGENT_EVENTS, rows, mark="flagged", **more)


def runs(rows: list[list[Cell]], **more: Any) -> Chart:
    return make("points", RUN_COST, rows, mark="outlier", label="run", **more)


def scores(rows: list[list[Cell]], **more: Any) -> Chart:
    columns: list[tuple[str, str, str | None]] = [
        ("week", "Week", "date"),
        ("score", "Score", "score"),
        ("p", "P", None),
    ]
    return make("lines", columns, rows, series="p", **more)


def samples() -> list[Chart]:
    days = [f"2026-11-{day:02d}" for day in range(1, 15)]
    by_error: list[tuple[str, str, str | None]] = [("error", "Error", None), ("n", "Incidents", None), ("o", "O", None)]
    return [
        bars([[day, "1.25", name] for day in days for name in ("docs", "release")], line_at="2.5", line_label="budget"),
        bars([[day, str(number), f"p{number}"] for day in days for number in range(15)]),
        bars([]),
        make("bars", by_error, [["404", 2, "blocked"], ["timeout", 1, "escalated"]], series="o", measure=None),
        agents(
            [[30, "writer", True], [3, "reviewer", False], [None, "idle", False]], line_at="16.5", line_label="from"
        ),
        agents([]),
        runs([["2026-11-03T09:14:07Z", "0.5", "r1", False], ["2026-11-04T00:00:00Z", "9.1", "r2", True]], line_at="3"),
        runs([]),
        scores([[day, "44.5", name] for day in days for name in ("docs", "release")], line_at="60", line_label="low"),
        make("points", [("score", "Score", "score"), ("c", "Cost", "cost")], [["44", "1.5"], [None, "2"], ["9", None]]),
        make(
            "lines", [("name", "Name", "text"), ("share", "Share", "share")], [["a", 0.5], ["b", None], ["a", "0.25"]]
        ),
    ]


def hostile_charts() -> list[Chart]:
    columns: list[tuple[str, str, str | None]] = [("x", LINK, "text"), ("y", LINK, "events"), ("s", LINK, None)]
    return [
        make("bars", columns, [[name, 3, name] for name in HOSTILE], series="s", line_at="2", line_label=LINK),
        agents([[9, name, True] for name in HOSTILE], line_at="2", line_label=LINK),
        make("points", columns, [[name, 3, name] for name in HOSTILE], series="s", label="s"),
        make("lines", columns, [[name, 3, name] for name in HOSTILE], series="s"),
    ]
