"""Frozen values for the rooms that must start at once: `dataclass` would be a third of the time in which a hook starts.

    from reportgen.frozen import frozen

    @frozen
    class Rule:
        attempts: int
        action: str = "skip"

Type checkers see `dataclass(frozen=True, slots=True)`, and what can be done with such a value here can be done there.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass
    from typing import TypeVar, dataclass_transform

    T = TypeVar("T")

    @dataclass_transform(frozen_default=True)
    def frozen(cls: type[T]) -> type[T]:
        """Make a class of annotated fields a frozen value."""
        return dataclass(frozen=True)(cls)

else:

    def frozen(cls: type) -> type:
        """Make a class of annotated fields a frozen value."""
        names = tuple(cls.__annotations__)
        left_out = (*names, "__dict__", "__weakref__")
        body = {key: value for key, value in cls.__dict__.items() if key not in left_out}
        body["_defaults"] = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
        body["__slots__"] = body["__match_args__"] = names
        body["__qualname__"] = cls.__qualname__
        return type(cls.__name__, (_Value,), body)


class _Value:
    """What all frozen values do."""

    __slots__ = ()
    _defaults: dict[str, object] = {}  # noqa: RUF012 - ClassVar would import typing
    __match_args__: tuple[str, ...] = ()

    def __init__(self, *values: object, **named: object) -> None:
        names, kind = self.__match_args__, type(self).__name__
        if len(values) == len(names) and not named:
            for name, value in zip(names, values, strict=True):
                object.__setattr__(self, name, value)
            return
        given = dict(zip(names, values, strict=False))
        if len(values) > len(names) or not given.keys().isdisjoint(named):
            raise TypeError(f"{kind} takes each of {', '.join(names)} once, and nothing else")
        given = {**self._defaults, **given, **named}
        if given.keys() != set(names):
            odd = sorted(given.keys() ^ set(names))
            raise TypeError(f"{kind} got too little or too much: {', '.join(odd)}")
        for name in names:
            object.__setattr__(self, name, given[name])

    def _values(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__match_args__)

    def __repr__(self) -> str:
        pairs = ", ".join(f"{name}={value!r}" for name, value in zip(self.__match_args__, self._values(), strict=True))
        return f"{type(self).__qualname__}({pairs})"

    def __eq__(self, other: object) -> bool:
        return self._values() == other._values() if isinstance(other, type(self)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._values())

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name!r} can't be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name!r} can't be changed")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), self._values()
