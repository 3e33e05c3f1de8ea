from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from reportgen.errors import ReportgenError
from reportgen.sqlfile import SqlFile, find_sql_files, near, read_sql_file


def write(folder: Path, text: str, name: str = "slow.sql") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def read(tmp_path: Path, text: str, name: str = "slow.sql") -> SqlFile:
    return read_sql_file(write(tmp_path, text, name), name=f"sql/detectors/{name}", origin="project")


def test_front_matter_and_body_stay_one_text(tmp_path: Path) -> None:
    text = '/*---\ntitle = "Slow"\n[params.most]\ndefault = 1.10\n---*/\nselect 1\n'
    file = read(tmp_path, text)
    assert (file.id, file.text, file.front["title"]) == ("slow", text, "Slow")
    # A float here would turn the comparison in the SQL into a binary one.
    assert file.front["params"]["most"]["default"] == Decimal("1.10")


def test_a_file_without_front_matter_is_fine(tmp_path: Path) -> None:
    assert read(tmp_path, "select 1").front == {}


def test_a_byte_order_mark_and_crlf_do_not_matter(tmp_path: Path) -> None:
    file = read(tmp_path, '\ufeff/*---\r\ntitle = "Slow"\r\n---*/\r\nselect 1\r\n')
    assert file.front == {"title": "Slow"}
    assert "\r" not in file.text


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ('/*---\ntitle = "a"\nselect 1', "sql/detectors/slow.sql:1", "never closed"),
        ('/*---\ntitle = "a"\nnote = "see /* x"\n---*/\nselect 1', "sql/detectors/slow.sql:3", "SQL comments nest"),
        ("/*---\ntitle = 'a'\nissue = \n---*/\nselect 1", "sql/detectors/slow.sql:3", "not TOML"),
    ],
)
def test_broken_front_matter_names_its_line(tmp_path: Path, text: str, where: str, what: str) -> None:
    with pytest.raises(ReportgenError) as caught:
        read(tmp_path, text)
    assert caught.value.where == where
    assert what in caught.value.what


@pytest.mark.parametrize("name", ["Slow.sql", "slow-one.sql", "1slow.sql", "slow one.sql"])
def test_the_name_is_the_id(tmp_path: Path, name: str) -> None:
    with pytest.raises(ReportgenError, match="name is its id"):
        read(tmp_path, "select 1", name)


def test_bytes_that_are_not_utf8_are_named(tmp_path: Path) -> None:
    path = tmp_path / "slow.sql"
    path.write_bytes(b"select '\xff'")
    with pytest.raises(ReportgenError, match="not UTF-8 at byte 8"):
        read_sql_file(path, name="slow.sql", origin="project")


def test_a_project_file_replaces_one_and_adds_others(tmp_path: Path) -> None:
    write(tmp_path / "own" / "detectors", "select 'own'", "slow.sql")
    write(tmp_path / "own" / "detectors", "select 'new'", "new.sql")
    write(tmp_path / "ours" / "detectors", "select 'ours'", "slow.sql")
    write(tmp_path / "ours" / "detectors", "select 'kept'", "kept.sql")
    files = find_sql_files("detectors", tmp_path / "ours", tmp_path / "own")
    assert [(f.id, f.origin) for f in files] == [("kept", "built-in"), ("new", "project"), ("slow", "project")]


def test_a_broken_file_is_returned_with_its_error(tmp_path: Path) -> None:
    write(tmp_path / "detectors", "/*---\nx", "slow.sql")
    (file,) = find_sql_files("detectors", tmp_path, None)
    assert file.broken is not None
    assert "never closed" in file.broken.what


def test_near_names_help() -> None:
    assert near("titel", ["title", "action"]) == "; did you mean 'title'?"
    assert near("zzz", ["title", "action"]) == ""
