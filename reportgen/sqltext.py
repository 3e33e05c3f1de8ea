"""Values as SQL text: for views of constants and comments, which take no parameters."""

from __future__ import annotations

from decimal import Decimal

#: For whatever reads a file: what the folders above it are called is no data. DuckDB takes `key=value` for a column.
NO_HIVE = "hive_partitioning = false"


def quoted(text: str) -> str:
    """Return a text literal."""
    return "'" + text.replace("'", "''") + "'"


def literal(value: Decimal | int | str | bool) -> str:
    """Return a literal of the value's own type; a decimal keeps its digits."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return f"cast('{value:f}' as decimal({_width(value)}))"
    if isinstance(value, int):
        return str(value)
    return quoted(value)


def _width(value: Decimal) -> str:
    _, digits, exponent = value.as_tuple()
    scale = max(-int(exponent), 0)
    return f"{max(len(digits) + max(int(exponent), 0), scale + 1)}, {scale}"
