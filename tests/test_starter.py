"""The starter file and the page of settings say what the loader does."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from decimal import Decimal
from pathlib import Path

import pytest
from settings_help import make_project, read, write

from reportgen import settings_table as table
from reportgen.errors import ReportgenError
from reportgen.settings import Settings, load_settings
from reportgen.starter import init, settings_page, starter_text


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return make_project(tmp_path, monkeypatch)


# --- the starter file and the page ----------------------------------------------------------------------------------


def test_the_starter_file_as_written_changes_nothing(project: Path) -> None:
    assert init(project) == project / "reportgen.toml"
    settings = load_settings(project)
    assert settings == Settings(
        project=project,
        file=project / "reportgen.toml",
        recommendations=project / "RECOMMENDATIONS.md",
        site=project / "site",
    )


@pytest.mark.parametrize("setting", [s for s in table.SETTINGS if s.sample], ids=lambda s: f"{s.table}.{s.key}")
def test_each_setting_stands_in_the_starter_file_and_can_be_switched_on(project: Path, setting: table.Setting) -> None:
    text = starter_text()
    line = f"#{setting.key} = {setting.sample}"
    if setting.table == "detectors.<id>":
        text += f"\n[detectors.x]\n{line}\n"
    assert text.count(f"\n{line}\n") == 1
    head = text[: text.index(line)]
    about = " ".join(head[head.rindex("\n#" if head.endswith("\n") else "#") :].split())
    assert about
    settings = read(project, text.replace(f"\n{line}\n", f"\n{line[1:]}\n"))
    defaults = Settings(
        project=project,
        file=project / "reportgen.toml",
        recommendations=project / "RECOMMENDATIONS.md",
        site=project / "site",
    )
    changed = {f.name for f in fields(Settings) if getattr(settings, f.name) != getattr(defaults, f.name)}
    # A sample that is called the default is the default.
    assert changed == (set() if setting.is_default else {setting.field})


def test_the_starter_file_says_meaning_default_and_flag_of_every_setting() -> None:
    text = " ".join(starter_text().replace("\n# ", " ").split())
    for setting in table.SETTINGS:
        if setting.table != "detectors.<id>":
            said = f"{setting.meaning} Default: {setting.default}."
            assert said + (f" Flag: {setting.flag}." if setting.flag else "") in text


def test_the_starter_file_lists_the_parameters_of_every_detector(project: Path) -> None:
    own = project / "sql" / "detectors"
    own.mkdir(parents=True)
    (own / "slow_tools.sql").write_text(
        "/*---\ntitle = 'Slow tools'\n[params.min_ms]\ndefault = 2.50\nunit = 'ms'\ndoc = 'Slower than this.'\n"
        "[params.word]\ndefault = 'a\"b'\ndoc = 'A word.'\n---*/\nselect 1\n"
    )
    text = init(project).read_text(encoding="utf-8")
    assert "# Slow tools\n[detectors.slow_tools]\n#enabled = true\n# Slower than this. (ms)\n#min_ms = 2.50\n" in text
    settings = read(project, text.replace("#min_ms", "min_ms").replace("#word", "word"))
    assert settings.parameters == {"slow_tools": {"min_ms": Decimal("2.50"), "word": 'a"b'}}


def test_init_never_overwrites(project: Path) -> None:
    path = write(project, "# mine\n")
    with pytest.raises(ReportgenError, match="is there already") as caught:
        init(project)
    assert caught.value.exit_code == 2
    assert path.read_text() == "# mine\n"
    path.unlink()
    path.symlink_to("elsewhere.toml")
    with pytest.raises(ReportgenError, match="is there already"):
        init(project)
    assert not (project / "elsewhere.toml").exists()
    with pytest.raises(ReportgenError, match="no such directory"):
        init(project / "nowhere")


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder that not even root can write to")
def test_init_in_a_folder_that_can_not_be_written() -> None:
    with pytest.raises(ReportgenError, match="can't be written"):
        init(Path("/proc/self"))


def test_the_page_of_settings_is_current() -> None:
    page = Path(__file__).parent.parent / "docs" / "settings.md"
    written = page.read_text(encoding="utf-8")
    assert written == settings_page(), "run: python -m reportgen.starter > docs/settings.md"


def test_the_examples_of_the_page_are_accepted(project: Path) -> None:
    blocks = re.findall(r"```toml\n(.*?)```", settings_page(), re.DOTALL)
    assert len(blocks) == len(table.TABLES)
    for block in blocks:
        assert tomllib.loads(block)
        read(project, block)
