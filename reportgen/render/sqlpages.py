"""The pages that show the SQL behind the numbers, and where on them one file stands."""

from __future__ import annotations


def sql_place(key: str) -> tuple[str, str]:
    """Return where a SQL file is shown, as a path from the top of the site, and its short name.

    `key` names it under `sql/`: `marts/agents.sql`, or with the folder: `sql/marts/agents.sql`.
    """
    kind, _, name = key.removeprefix("sql/").partition("/")
    stem = name.removesuffix(".sql")
    return (f"detectors/{stem}.html#sql" if kind == "detectors" else f"sql/{kind}.html#{stem}"), stem
