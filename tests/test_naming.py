"""What the projects of a command line are, and what each is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from reportgen.errors import ReportgenError
from reportgen.naming import named, project_name, read_arguments


def names_of(*arguments: str, titles: tuple[str, ...] = ()) -> list[str]:
    found = read_arguments(arguments)
    told = dict(zip(arguments, titles, strict=False))
    return list(named([(one, told.get(one.shown, "")) for one in found], redacted=True).values())


def test_a_project_is_called_by_its_name_its_title_or_its_folder(tmp_path: Path) -> None:
    for folder in ("a/web", "b/web", "c/site/data"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "c/site/data/report.json").touch()
    web, other = str(tmp_path / "a/web"), str(tmp_path / "b/web")
    assert names_of(web, f"lab={other}") == ["web", "lab"]
    assert names_of(web, other) == ["a/web", "b/web"]
    assert names_of(web, other, titles=("Shop", "Shop")) == ["Shop (a/web)", "Shop (b/web)"]
    assert names_of(web, str(tmp_path / "c/site/data/report.json")) == ["web", "c"]
    assert project_name("", ["b", "a"], redacted=True) == "a and b"
    assert project_name("", list("abcdef"), redacted=True) == "6 projects"
    with pytest.raises(ReportgenError, match="same project"):
        read_arguments([web, f"{tmp_path}/a/../a/web"])
    with pytest.raises(ReportgenError, match="same name"):
        names_of(f"x={web}", f"X={other}")


def test_what_joins_a_project_and_its_pipeline_stands_in_no_name(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    one, other = str(tmp_path / "a"), str(tmp_path / "b")
    # "x / docs" of the one and "docs" of a project called "x" would read alike.
    assert names_of(one, other, titles=("x / docs", "y /  z")) == ["x/docs", "y/z"]


def test_a_finished_report_is_read_with_the_tables_beside_it(tmp_path: Path) -> None:
    data = tmp_path / "site" / "data"
    data.mkdir(parents=True)
    for name in ("report.json", "runs.csv", "chart-a.csv", "note.txt"):
        (data / name).touch()
    (tmp_path / "site" / "index.html").touch()
    (found,) = read_arguments([f"shop={tmp_path / 'site'}"])
    assert [path.name for path in found.files()] == ["report.json", "chart-a.csv", "runs.csv"]
