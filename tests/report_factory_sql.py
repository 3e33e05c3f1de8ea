"""The SQL files of the report made by hand: one of each kind, one of the project's own."""

from __future__ import annotations

from reportgen.model import SqlText


def sample_sql(chart_files: list[str]) -> list[SqlText]:
    """Return the files in the order of their kinds; `chart_files` are those that the charts name."""
    marts = [
        SqlText(file="sql/marts/agents.sql", kind="marts", name="agents", title="Agents", doc="One row per agent and pipeline.", origin="built-in", sql="select *\nfrom events\norder by all\n", reads=["events"]),
        SqlText(file="sql/marts/night.sql", kind="marts", name="night", title="What runs at night", doc="", origin="project", sql="select 'a < b' as \"x\" from agents -- & more\n", reads=["agents", "raw.events"]),
    ]  # fmt: skip
    charts = [
        SqlText(file=file, kind="charts", name=file[11:-4], title="A chart", doc="", origin="built-in", sql=f"select {number} as a\n", reads=["agents", "findings", "params.cost_outlier"])
        for number, file in enumerate(sorted(set(chart_files)))
    ]  # fmt: skip
    return [
        SqlText(file="sql/macros.sql", kind="macros", name="macros", title="Functions", doc="", origin="built-in", sql="create macro a() as 1;\n", reads=[]),
        SqlText(file="sql/macros.sql", kind="macros", name="macros", title="Functions", doc="", origin="project", sql="create macro b() as 2;\n", reads=[]),
        SqlText(file="sql/sources/events.sql", kind="sources", name="events", title="Canonical cost events", doc="", origin="built-in", sql="select * from raw.events\n", reads=["raw.events"]),
        *marts,
        SqlText(file="sql/scoring/vfm.sql", kind="scoring", name="vfm", title="The pre-score", doc="", origin="built-in", sql="select 1 as total from findings\n", reads=["findings"]),
        *charts,
        SqlText(file="sql/tables/runs.sql", kind="tables", name="runs", title="Every run", doc="", origin="built-in", sql="select * from runs order by 1\n", reads=["runs"]),
    ]  # fmt: skip
