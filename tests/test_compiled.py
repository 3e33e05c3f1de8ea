"""What is kept beside the package's own files: whole, for the very same source, and never a project's code."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reportgen import compiled
from reportgen.render import pages
from reportgen.render.pages import environment, fill
from reportgen.resources import resource_dir


@pytest.fixture
def writing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python writes bytecode, whatever the tests run with."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_text("text", encoding="utf-8")
    return path


def kept_file(source: Path) -> Path:
    (found,) = (source.parent / "__pycache__").iterdir()
    return found


@pytest.mark.usefixtures("writing")
class TestKeeping:
    def test_what_was_written_is_read(self, source: Path) -> None:
        key = compiled.key_of("a", b"b")
        compiled.write(source, key, b"made of it")
        assert compiled.read(source, key) == b"made of it"

    def test_another_key_finds_nothing(self, source: Path) -> None:
        compiled.write(source, compiled.key_of("a", "bc"), b"made of it")
        assert compiled.read(source, compiled.key_of("ab", "c")) is None

    @pytest.mark.parametrize("left", [0, 10, 40, 70])
    def test_what_was_cut_short_is_not_read(self, source: Path, left: int) -> None:
        key = compiled.key_of("a")
        compiled.write(source, key, b"made of it")
        place = kept_file(source)
        place.write_bytes(place.read_bytes()[:left])
        assert compiled.read(source, key) is None

    def test_a_changed_byte_is_noticed(self, source: Path) -> None:
        key = compiled.key_of("a")
        compiled.write(source, key, b"made of it")
        place = kept_file(source)
        place.write_bytes(place.read_bytes()[:-1] + b"?")
        assert compiled.read(source, key) is None

    def test_it_is_written_again_over_a_broken_one(self, source: Path) -> None:
        key = compiled.key_of("a")
        compiled.write(source, key, b"made of it")
        kept_file(source).write_bytes(b"broken")
        compiled.write(source, key, b"made of it")
        assert compiled.read(source, key) == b"made of it"

    def test_nothing_is_left_beside_it(self, source: Path) -> None:
        compiled.write(source, compiled.key_of("a"), b"1")
        compiled.write(source, compiled.key_of("b"), b"2")
        assert len(list((source.parent / "__pycache__").iterdir())) == 1

    def test_a_folder_that_can_t_be_written_is_left_alone(self, source: Path) -> None:
        # A plain file where the folder would go: for root, too, nothing can be written there.
        (source.parent / "__pycache__").write_text("in the way", encoding="utf-8")
        compiled.write(source, compiled.key_of("a"), b"made of it")
        assert compiled.read(source, compiled.key_of("a")) is None

    def test_python_s_own_place_for_bytecode_is_used(
        self, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "elsewhere"))
        compiled.write(source, compiled.key_of("a"), b"made of it")
        assert not (source.parent / "__pycache__").exists()
        assert compiled.read(source, compiled.key_of("a")) == b"made of it"


def test_nothing_is_written_where_python_writes_no_bytecode(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    compiled.write(source, compiled.key_of("a"), b"made of it")
    assert list(source.parent.iterdir()) == [source]


@pytest.mark.usefixtures("writing")
class TestTemplates:
    @pytest.fixture
    def built_in(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A package's folder of templates with one in it."""
        folder = tmp_path / "package"
        folder.mkdir()
        (folder / "one.html").write_text("<p>{{ word }}</p>", encoding="utf-8")
        monkeypatch.setattr(pages, "resource_dir", lambda _: folder)
        monkeypatch.setattr(pages._Compiled, "_kept", {})
        return folder

    def test_a_built_in_template_is_kept_for_the_next_process(
        self, built_in: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert fill(environment(), "one.html", {"word": "a & b"}) == "<p>a &amp; b</p>"
        assert kept_file(built_in / "one.html").name.startswith("one.html.")
        monkeypatch.setattr(pages._Compiled, "_kept", {})
        env = environment()
        monkeypatch.setattr(env, "compile", None)
        assert fill(env, "one.html", {"word": "a & b"}) == "<p>a &amp; b</p>"

    def test_an_edited_template_is_compiled_again(self, built_in: Path) -> None:
        fill(environment(), "one.html", {"word": "a"})
        (built_in / "one.html").write_text("<b>{{ word }}</b>", encoding="utf-8")
        assert fill(environment(), "one.html", {"word": "a"}) == "<b>a</b>"

    def test_another_way_to_escape_is_another_code(self, built_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        fill(environment(), "one.html", {"word": "<"})
        monkeypatch.setattr(pages._Compiled, "_kept", {})
        env = environment()
        env.autoescape = False
        assert fill(env, "one.html", {"word": "<"}) == "<p><</p>"

    def test_code_beside_a_project_s_template_is_never_run(self, built_in: Path, tmp_path: Path) -> None:
        own = tmp_path / "project"
        own.mkdir()
        text = (built_in / "one.html").read_text(encoding="utf-8")
        (own / "one.html").write_text(text, encoding="utf-8")
        # Whoever knows every key puts code of his own where a built-in template's would be looked for.
        evil = marshal.dumps(compile("raise SystemExit('ran')", "one.html", "exec"))
        bucket = pages._Compiled().get_bucket(environment((own,)), "one.html", str(own / "one.html"), text)
        assert isinstance(bucket, pages._Bucket)
        compiled.write(own / "one.html", bucket.kept, evil)
        assert fill(environment((own,)), "one.html", {"word": "a"}) == "<p>a</p>"

    def test_a_project_s_template_leaves_nothing(self, built_in: Path, tmp_path: Path) -> None:
        own = tmp_path / "project"
        own.mkdir()
        (own / "two.html").write_text("{{ word }}", encoding="utf-8")
        assert fill(environment((own,)), "two.html", {"word": "a"}) == "a"
        assert [path.name for path in own.iterdir()] == ["two.html"]


def test_two_processes_at_once_both_have_the_page(tmp_path: Path) -> None:
    text = (
        "from reportgen.render.pages import environment; e = environment();"
        "e.filters.update(plain=str, prose=str); e.get_template('_parts.html'); print('compiled')"
    )
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPYCACHEPREFIX"] = str(tmp_path)
    both = [subprocess.Popen([sys.executable, "-c", text], env=env, stdout=subprocess.PIPE) for _ in range(2)]
    said = [process.communicate()[0] for process in both]
    assert said == [b"compiled\n"] * 2
    names = [path.name for path in tmp_path.rglob(f"{resource_dir('templates').name}/*")]
    assert [name for name in names if name.startswith("_parts.html.")] == [
        f"_parts.html.{sys.implementation.cache_tag}.pyc"
    ]
