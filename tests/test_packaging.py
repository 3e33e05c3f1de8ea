"""The wheel holds sql/ and templates/ and works in another environment, from another folder."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
from project import event, write_project

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder), str(ROOT)],
        check=True,
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    (made,) = folder.glob("*.whl")
    return made


def test_the_wheel_ships_what_it_needs(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("sql", "templates"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and path.parent.name != "__pycache__":
                assert f"reportgen/shipped/{path.relative_to(ROOT).as_posix()}" in names
    assert "reportgen/py.typed" in names
    assert not any(name.startswith("tests/") or name.endswith(("plotly.min.js", ".pyc")) for name in names)


def test_it_works_in_another_environment_from_another_folder(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "venv"
    venv.create(home, with_pip=False)
    packages = next((home / "lib").glob("python*/site-packages"))
    # The dependencies come from this environment by path, so that nothing is fetched; reportgen from the wheel alone.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(packages), str(wheel)],
        check=True,
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    project = write_project(tmp_path / "somewhere else", [event(run_id="r1", cost_usd=1)])
    python = home / "bin" / "python"
    where = subprocess.run(
        [python, "-c", "import reportgen; print(reportgen.__file__)"],
        check=True,
        capture_output=True,
        text=True,
        cwd="/",
    )
    assert str(home) in where.stdout
    subprocess.run([python, "-m", "reportgen", "build", str(project)], check=True, cwd="/", capture_output=True)
    assert (project / "site" / "index.html").is_file()
    done = subprocess.run(
        [python, "-m", "reportgen", "heal", "--agent", "a", "--attempt", "1", "--error-type", "timeout", "--log", "l"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
