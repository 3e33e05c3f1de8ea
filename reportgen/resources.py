"""Where the built-in SQL and templates are: inside the wheel, or at the top of a source checkout."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).resolve().parent


def resource_dir(name: str) -> Path:
    """Return the folder of built-in `sql` or `templates`, wherever this package was installed from."""
    shipped = _HERE / "shipped" / name
    return shipped if shipped.is_dir() else _HERE.parent / name
