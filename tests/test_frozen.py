"""A frozen value is what a frozen dataclass would be, as far as the rooms that use it can tell."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import reportgen
from reportgen.frozen import frozen


@frozen
class Point:
    """A point."""

    x: int
    y: int = 2

    def sum(self) -> int:
        return self.x + self.y

    @classmethod
    def at(cls, x: int) -> Point:
        return cls(x=x)


def test_it_is_made_by_place_by_name_and_by_default() -> None:
    assert (Point(1).y, Point(1, 5).y, Point(x=1, y=6).y, Point.at(3).x) == (2, 5, 6, 3)
    assert Point(1, 5).sum() == 6
    assert Point.__doc__ == "A point."


@pytest.mark.parametrize("given", [((), {}), ((1, 2, 3), {}), ((1,), {"z": 3}), ((1,), {"x": 3})])
def test_too_little_or_too_much_is_refused(given: tuple[tuple[int, ...], dict[str, int]]) -> None:
    make: Callable[..., object] = Point
    with pytest.raises(TypeError, match="Point"):
        make(*given[0], **given[1])


def test_it_can_t_be_changed() -> None:
    point = Point(1)
    changes: list[Callable[[], None]] = [
        lambda: setattr(point, "x", 2),
        lambda: delattr(point, "x"),
        lambda: setattr(point, "z", 2),
    ]
    for change in changes:
        with pytest.raises(AttributeError):
            change()
    assert point == Point(1)


def test_equal_values_are_equal_and_copies_too() -> None:
    assert Point(1) == Point(1, 2)
    assert Point(1) != Point(2)
    assert (Point(1) == (1, 2)) is False  # type: ignore[comparison-overlap]
    assert len({Point(1), Point(1, 2), Point(2)}) == 2
    assert copy.deepcopy(Point(4)) == pickle.loads(pickle.dumps(Point(4))) == Point(4)
    assert repr(Point(1)) == "Point(x=1, y=2)"
    match Point(7, 8):
        case Point(x, y):
            assert (x, y) == (7, 8)


def test_healing_starts_without_what_takes_long_to_import(tmp_path: Path) -> None:
    text = (
        "import sys\n"
        "from reportgen.__main__ import main\n"
        "main(['heal', '--agent', 'a', '--attempt', '1', '--error-type', 'timeout', '--log', sys.argv[1]])\n"
        "print([name for name in ('dataclasses', 'inspect', 'typing', 'hashlib', 'shutil') if name in sys.modules])"
    )
    # Without what the machine's own start-up imports.
    command = [sys.executable, "-S", "-c", text, str(tmp_path / "log.jsonl")]
    env = {**os.environ, "PYTHONPATH": str(Path(reportgen.__file__).parent.parent)}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
