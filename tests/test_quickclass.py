"""A class of ours is, for whoever uses it, the dataclass that the standard library would make of the same body."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from reportgen import quickclass


def _body(make: Callable[..., Any], *, frozen: bool, kw_only: bool) -> Any:
    class Point:
        """A point."""

        x: int
        y: int = 2
        tags: list[str] = dataclasses.field(default_factory=list)

        def sum(self) -> int:
            return self.x + self.y

        @property
        def double(self) -> int:
            return 2 * self.x

        @classmethod
        def at(cls, x: int) -> Any:
            make: Any = cls
            return make(x=x)

    return make(frozen=frozen, slots=True, kw_only=kw_only)(Point)


@quickclass.dataclass(frozen=True, slots=True)
class Kept:
    """One that can be found by its name."""

    name: str
    sizes: tuple[int, ...] = ()


def _outcome(call: Callable[[], object]) -> object:
    try:
        return call()
    except Exception as error:
        return type(error)


def _calls(cls: Any, one: Any) -> list[Callable[[], object]]:
    return [
        lambda: cls(1).y,
        lambda: cls(1, 5, ["b"]).tags,
        lambda: cls(),
        lambda: cls(1, x=1),
        lambda: cls(x=1, z=2),
        lambda: cls(1, 2, [], 4),
        lambda: hash(cls(x=1, tags=())) == hash((1, 2, ())),
        lambda: hash(one),
        lambda: setattr(one, "x", 3),
        lambda: one.z,
        lambda: delattr(one, "y"),
    ]


@pytest.mark.parametrize("frozen", [True, False])
@pytest.mark.parametrize("kw_only", [True, False])
def test_it_does_what_the_standard_one_does(frozen: bool, kw_only: bool) -> None:
    said = []
    for make in (dataclasses.dataclass, quickclass.dataclass):
        cls = _body(make, frozen=frozen, kw_only=kw_only)
        one, other = cls(x=1), cls(x=1, y=2, tags=["a"])
        changed = dataclasses.replace(one, y=7)
        calls = _calls(cls, one)
        equal = (one == cls(x=1), one == other, one != other, one == (1, 2, []), dataclasses.replace(other) == other)
        names = [(f.name, f.type, f.default, f.kw_only) for f in dataclasses.fields(cls)]
        told = (repr(one), repr(other), changed.y, changed.x, one.sum(), other.double, cls.at(4).x)
        about = (cls.__match_args__, cls.__slots__, cls.__doc__, cls.__name__, cls.__qualname__, cls.__module__)
        sure = (dataclasses.is_dataclass(cls), dataclasses.asdict(other), msgspec.json.encode(other))
        said.append((equal, names, told, about, sure, [_outcome(call) for call in calls], one.tags is other.tags))
    assert said[0] == said[1]


def test_a_default_that_is_made_is_made_for_each() -> None:
    cls = _body(quickclass.dataclass, frozen=True, kw_only=False)
    one, other = cls(1), cls(1)
    one.tags.append("a")
    assert other.tags == []


def test_it_can_be_copied_pickled_and_read_again() -> None:
    kept = Kept("a", (1, 2))
    assert copy.deepcopy(kept) == copy.copy(kept) == pickle.loads(pickle.dumps(kept)) == kept
    assert msgspec.json.decode(msgspec.json.encode(kept), type=Kept) == kept
    assert msgspec.json.decode(b'{"name": "b"}', type=Kept) == Kept("b")


def test_what_it_does_not_do_is_refused() -> None:
    with pytest.raises(TypeError, match="slots"):
        _body(lambda **given: quickclass.dataclass(**{**given, "slots": False}), frozen=True, kw_only=False)
    shared: dict[str, object] = {"__annotations__": {"x": "list[int]"}, "x": []}
    with pytest.raises(ValueError, match="default_factory"):
        quickclass.dataclass(frozen=True, slots=True)(type("Shared", (), shared))
    with pytest.raises(TypeError, match="more than fields"):
        quickclass.dataclass(frozen=True, slots=True)(type("Below", (Kept,), {"__annotations__": {"x": "int"}}))
