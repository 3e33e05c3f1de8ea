"""`reportgen init`: a commented `reportgen.toml`, or a workflow that builds every night; and the table of settings as a
page of the documentation.

Settings file and page are written from `settings_table`, which the loader reads by, so that neither can drift from
what is accepted.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from textwrap import wrap
from typing import Any

from reportgen import settings_table as table
from reportgen.errors import ReportgenError
from reportgen.resources import resource_dir
from reportgen.settings import FILE_NAME
from reportgen.sqlfile import SqlFile, find_sql_files

#: Where code hosts look for it.
WORKFLOW = ".github/workflows/reportgen.yml"

_HEAD = """\
# Settings of reportgen. Every setting is here with its meaning and its default, and a # that switches it off:
# take the # away and change the value. Flags of `reportgen build` win over this file.
"""


def init(directory: Path) -> Path:
    """Write a commented `reportgen.toml` into `directory` and return its path.

    Raises ReportgenError (exit 2) where there is no such directory, or a file of that name: nothing is overwritten.
    """
    _refuse_unless_folder(directory)
    return _write_new(
        directory / FILE_NAME, starter_text(find_sql_files("detectors", resource_dir("sql"), directory / "sql"))
    )


def init_workflow(directory: Path) -> Path:
    """Write a workflow that builds every night and publishes the site into `directory`, and return its path.

    Raises ReportgenError (exit 2) as `init` does: nothing is overwritten.
    """
    _refuse_unless_folder(directory)
    path = directory / WORKFLOW
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"can't be made ({error.strerror})"
        raise ReportgenError(str(path.parent), what, "Check what is there.") from None
    return _write_new(path, (resource_dir("templates") / "workflow" / "reportgen.yml").read_text("utf-8"))


def _refuse_unless_folder(directory: Path) -> None:
    if not directory.is_dir():
        raise ReportgenError(str(directory), "no such directory", "Make it first, or name another one.")


def _write_new(path: Path, text: str) -> Path:
    try:
        # "x" makes the file or fails, also where a link of that name leads nowhere.
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        what = "is there already, and is left as it is"
        raise ReportgenError(str(path), what, "Change it by hand, or move it away and run this again.") from None
    except OSError as error:
        raise ReportgenError(str(path), f"can't be written ({error.strerror})", "Check the directory.") from None
    return path


def starter_text(detectors: Iterable[SqlFile] = ()) -> str:
    """Return the starter file: each table with its settings, and the parameters of the given detectors."""
    parts = [_HEAD]
    for name, about in table.TABLES.items():
        if name == "detectors.<id>":
            parts.append(_comment(about))
            parts += [_detector(detector) for detector in detectors]
        else:
            parts.append(f"{_comment(about)}[{name}]\n" + "".join(_entry(s) for s in _of(name)))
    return "\n".join(parts)


def _of(name: str) -> list[table.Setting]:
    return [s for s in table.SETTINGS if s.table == name]


def _entry(setting: table.Setting) -> str:
    flag = f" Flag: {setting.flag}." if setting.flag else ""
    return f"{_comment(f'{setting.meaning} Default: {setting.default}.{flag}')}#{setting.key} = {setting.sample}\n"


def _detector(detector: SqlFile) -> str:
    """Return the table of one detector, with a line for each parameter that its file declares."""
    enabled = table.find("detectors.<id>", "enabled")
    assert enabled is not None  # it stands in the table
    off = detector.front.get("enabled") is False
    about = _comment("Off by default; this line switches it on.") if off else ""
    lines = [f"[detectors.{detector.id}]\n", f"{about}#enabled = {enabled.sample}\n"]
    parameters: dict[str, Any] = detector.front.get("params", {})
    for name, facts in parameters.items():
        about = " ".join(str(facts[key]) for key in ("doc",) if key in facts)
        unit = f" ({facts['unit']})" if facts.get("unit") else ""
        lines.append(f"{_comment(about + unit)}#{name} = {_toml(facts.get('default'))}\n")
    return _comment(str(detector.front.get("title", detector.id))) + "".join(lines)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return str(value)


def _comment(text: str) -> str:
    lines = wrap(" ".join(text.split()), width=116, break_long_words=False, break_on_hyphens=False)
    return "".join(f"# {line}\n" for line in lines)


# --- docs/settings.md -----------------------------------------------------------------------------------------------

_PAGE_HEAD = f"""\
# Settings

<!-- Written by `python -m reportgen.starter > docs/settings.md`; a test keeps it current. -->

Settings stand in `{FILE_NAME}` in the project directory, or in the file that `--config` names. `reportgen init` writes
one with all of them, switched off. Everything has a default, so the file may be missing or empty.

- Flags of `reportgen build` win over the file. Relative paths in the file start at the project directory, relative
  paths in flags at the current one. A leading `~` is the home directory.
- An unknown table or key, or a value of another kind, is an error (exit 2): the message names the line, and the near
  name where there is one. All of them are named at once; what the detectors themselves refuse (a
  parameter that one does not have, or of another kind) is told when the file is right.
- A date alone means its whole day: `since` its first instant, `until` and `as_of` its last. A time with an offset is
  turned into UTC; without one it is UTC.
- Decimal numbers are read exactly, never through binary floating point.
"""


def settings_page() -> str:
    """Return docs/settings.md: every table, every key, what it takes, its default, its flag and its meaning."""
    parts = [_PAGE_HEAD]
    for name, about in table.TABLES.items():
        rows = ["| key | value | default | flag | meaning |", "|---|---|---|---|---|"]
        rows += [_row(s) for s in _of(name)]
        parts.append(f"## `[{name}]`\n\n{about}\n\n" + "\n".join(rows) + f"\n\n```toml\n{_example(name)}```\n")
    flags = [f"`{flag}`" for flag, _ in table.FLAG_ONLY.values()]
    parts.append(
        f"## Flags only\n\n{', '.join(flags[:-1])} and {flags[-1]} say how one build behaves, and have no setting.\n"
    )
    return "\n".join(parts)


def _row(setting: table.Setting) -> str:
    cells = (
        f"`{setting.key}`",
        setting.accepts,
        f"`{setting.default}`" if setting.is_default else setting.default,
        f"`{setting.flag}`" if setting.flag else "",
        setting.meaning,
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _example(name: str) -> str:
    if name == "detectors.<id>":
        return "[detectors.cost_outlier]\nmin_ratio = 4\n\n[detectors.underutilized_agent]\nenabled = false\n"
    # since and window exclude each other.
    return f"[{name}]\n" + "".join(f"{s.key} = {s.sample}\n" for s in _of(name) if s.key != "window")


if __name__ == "__main__":
    import sys

    sys.stdout.write(settings_page())
