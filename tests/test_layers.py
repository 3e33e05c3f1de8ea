"""The house's one rule: data flows one way, and each outside package has one room."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "reportgen"

#: Rooms from the top down. A room may import rooms of its own level or below, never above.
LEVELS = [
    {"__main__"},
    {
        "cli",
        "cli_help",
        "cli_options",
        "cli_progress",
        "cli_feedback",
        "cli_looking",
        "cli_workshop",
        "starter",
        "newdetector",
        "newfile",
        "newformat",
        "martspage",
    },
    {"summary"},
    {"serving"},
    {"live"},
    {
        "building",
        "checking",
        "checkrules",
        "doctor",
        "formatcheck",
        "inspecting",
        "mergedtables",
        "naming",
        "published",
        "querying",
        "several",
        "catalogue",
        "",
        "making",
        "analysing",
        "cache",
    },
    {"loading", "pricing", "formattest", "formatdraft", "feedbackadd", "feedbackrow", "marks"},
    {"report", "tables", "publish", "render", "inputs"},
    {"chartfiles", "wording", "quality", "detectortest"},
    {"detectors", "macros"},
    {"warehouse", "detectorfile", "formatfile", "testfile", "testcells", "testresults"},
    {"blank"},
    {"sqlorder", "shapes", "engine"},
    {
        "rawtables",
        "sqlfile",
        "sqlerror",
        "sqlhint",
        "sqltext",
        "sqltree",
        "healing",
        "healing_cli",
        "healing_exec",
        "healing_exec_cli",
        "sqlfacts",
        "sqlempty",
    },
    {"settings", "healing_journal", "hook"},
    {"settings_file", "settings_values", "settings_table", "tomlfile", "healing_policy"},
    {"found", "names", "identity", "glossary"},
    {"model"},
    {
        "redact",
        "told",
        "errors",
        "resources",
        "linelog",
        "childprocess",
        "compiled",
        "pricelist",
        "beside",
        "stages",
        "versions",
        "second",
        "frozen",
    },
    {"quickclass", "packed"},
]

#: Parts of a room that lower rooms may use: they know nothing but the model.
LOW_PARTS = {"reportgen.render.format", "reportgen.render.prose", "reportgen.render.csvtext", "reportgen.render"}

OWNERS = {
    "click": {"cli", "cli_feedback", "cli_looking", "cli_options", "cli_progress", "cli_workshop"},
    "duckdb": {"engine"},
    "genai_prices": {"pricelist"},
    "msgspec": {"report.json", "packed"},
    "zstandard": {"inputs.lines"},
    "jinja2": {"render.pages"},
    "markupsafe": {"render.pages"},
    "plotly": {"render.plotlyjs"},
    # Three readers of Markdown that share nothing: rows people wrote by hand, prose to show, the detectors' tests.
    "markdown_it": {"inputs.feedback", "render.prose", "testfile"},
}
#: Rooms that must start at once: the standard library only, and nothing of ours but each other and these.
LIGHT = {"healing", "healing_cli", "healing_exec", "healing_exec_cli", "healing_journal", "healing_policy"}
LIGHT |= {"childprocess", "frozen", "hook", "linelog", "names", "redact"}


def rooms() -> dict[str, Path]:
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(p for p in parts if p != "__init__")] = path
    return found


def imports(path: Path) -> set[str]:
    """Every module that a file names in an import, at its top or inside a function; not those for types only."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    names: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def level(room: str) -> int:
    top = room.split(".")[0]
    for number, names in enumerate(LEVELS):
        if top in names:
            return number
    raise AssertionError(f"reportgen.{room} stands on no level: add it to LEVELS")


@pytest.mark.parametrize("room", sorted(rooms()))
def test_a_room_imports_only_what_is_below_it(room: str) -> None:
    known = rooms()
    for name in imports(known[room]):
        if not name.startswith("reportgen.") or name in LOW_PARTS:
            continue
        inner = name.removeprefix("reportgen.")
        while inner not in known and "." in inner:
            inner = inner.rpartition(".")[0]
        if inner not in known or any(name.startswith(f"{part}.") for part in LOW_PARTS if part != "reportgen.render"):
            continue
        assert level(inner) >= level(room), f"reportgen.{room} imports reportgen.{inner}, which stands above it"


@pytest.mark.parametrize("room", sorted(rooms()))
def test_an_outside_package_has_one_owner(room: str) -> None:
    for name in imports(rooms()[room]):
        top = name.split(".")[0]
        if top == "reportgen" or top in sys.stdlib_module_names:
            continue
        assert top in OWNERS, f"reportgen.{room} imports {top}, which no room owns"
        assert room in OWNERS[top], f"reportgen.{room} imports {top}; its owner is {sorted(OWNERS[top])}"


@pytest.mark.parametrize("room", sorted(LIGHT))
def test_healing_stands_on_the_standard_library(room: str) -> None:
    for name in imports(rooms()[room]):
        top = name.split(".")[0]
        if top == "reportgen":
            inner = name.removeprefix("reportgen").removeprefix(".").split(".")[0]
            assert inner in {*LIGHT, "", "errors"}, f"reportgen.{room} imports {name}"
        else:
            assert top in sys.stdlib_module_names


def test_the_rule_itself_finds_an_upward_import(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("def f():\n    from reportgen.cli import run\n", encoding="utf-8")
    assert "reportgen.cli" in imports(bad)
    assert level("cli") < level("warehouse")
