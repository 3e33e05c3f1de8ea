"""A project folder to stand in, and two ways to read its settings: well, and refused."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from reportgen.errors import ReportgenError
from reportgen.settings import Settings, load_settings


def make_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty project and stand in it."""
    home = tmp_path / "project"
    home.mkdir()
    monkeypatch.chdir(home)
    return home.resolve()


def at(text: str) -> datetime:
    """A time as settings hold it: UTC, without saying so."""
    return datetime.fromisoformat(text)


def write(project: Path, text: str) -> Path:
    path = project / "reportgen.toml"
    path.write_text(text, encoding="utf-8")
    return path


def read(project: Path, text: str, **flags: object) -> Settings:
    write(project, text)
    return load_settings(project, flags=flags)


def refused(project: Path, text: str, **flags: object) -> ReportgenError:
    write(project, text)
    with pytest.raises(ReportgenError) as caught:
        load_settings(project, flags=flags)
    assert caught.value.exit_code == 2
    return caught.value
