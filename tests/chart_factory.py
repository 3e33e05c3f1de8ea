"""Charts made by hand, plain and hostile, for the tests."""

from __future__ import annotations

from typing import Any, Literal

from reportgen.model import Cell, Chart, Column, Measure

LINK = '<a href="javascript:alert(1)">click</a>'
HOSTILE = [LINK, "<b>bold</b>", "a &lt;b&gt; c", "$x^2$", "%{y} %{customdata[0]}", "a<br>b", "\u202eevil\x00\n2"]


def make(
    kind: Literal["bars", "rows", "points", "lines", "bubbles", "spans"],
    columns: list[tuple[str, str, str | None]],
    rows: list[list[Cell]],
    *,
    series: str | None = None,
    mark: str | None = None,
    label: str | None = None,
    size: str | None = None,
    end: str | None = None,
    level: str | None = None,
    link: str | None = None,
    link_to: Literal["agents", "pipelines", "recommendations"] | None = None,
    colours: dict[str, str] | None = None,
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
        size=size,
        end=end,
        level=level,
        link=link,
        link_to=link_to,
        colours=colours or {},
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


REVIEWS: list[tuple[str, str, str | None]] = [
    ("reviewed", "Reviewed", "date"),
    ("score", "Score", "score"),
    ("mean", "Mean of ten", "score"),
]
AGENT_COSTS: list[tuple[str, str, str | None]] = [
    ("cost", "Cost", "cost"),
    ("score", "Mean score", "score"),
    ("agent", "Agent", None),
    ("runs", "Runs", "runs"),
    ("low", "Low score", None),
]
TIMES: list[tuple[str, str, str | None]] = [
    ("first", "From", "date"),
    ("recommendation", "Recommendation", None),
    ("last", "To", "date"),
    ("decision", "Decision hint", None),
    ("id", "Id", None),
]
DECISIONS = {"implement": "good", "defer": "warn", "reject": "grey"}


def reviews(rows: list[list[Cell]], **more: Any) -> Chart:
    return make("points", REVIEWS, rows, level="mean", **more)


def bubbles(rows: list[list[Cell]], **more: Any) -> Chart:
    roles: dict[str, Any] = {"size": "runs", "mark": "low", "label": "agent", "link": "agent", "link_to": "agents"}
    return make("bubbles", AGENT_COSTS, rows, **roles, **more)


def spans(rows: list[list[Cell]], **more: Any) -> Chart:
    roles: dict[str, Any] = {"end": "last", "series": "decision", "link": "id", "link_to": "recommendations"}
    return make("spans", TIMES, rows, **roles, colours=DECISIONS, **more)


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
        reviews(
            [[day, "44.5", "44.5" if day > "2026-11-04" else "61"] for day in days], line_at="60", line_label="low"
        ),
        reviews([]),
        bubbles([["12.5", "88", "writer", 30, False], ["3", "41.5", "tester", 2, True], ["9", None, "new", 1, False]]),
        bubbles([]),
        spans([["2026-11-01", "One", "2026-11-09", "defer", "a"], ["2026-11-03", "Two", "2026-11-03", "reject", "b"]]),
        spans([]),
    ]


def hostile_charts() -> list[Chart]:
    columns: list[tuple[str, str, str | None]] = [("x", LINK, "text"), ("y", LINK, "events"), ("s", LINK, None)]
    return [
        make("bars", columns, [[name, 3, name] for name in HOSTILE], series="s", line_at="2", line_label=LINK),
        agents([[9, name, True] for name in HOSTILE], line_at="2", line_label=LINK),
        make("points", columns, [[name, 3, name] for name in HOSTILE], series="s", label="s"),
        make("lines", columns, [[name, 3, name] for name in HOSTILE], series="s"),
        bubbles([[number, "50", name, 3, True] for number, name in enumerate(HOSTILE)], line_at="2", line_label=LINK),
        spans([["2026-11-01", name, "2026-11-02", name, name] for name in HOSTILE]),
    ]
