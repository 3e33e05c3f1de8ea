"""A dataclass of which nothing is compiled before it is needed: half the time of our imports went there.

    from reportgen.quickclass import dataclass

    @dataclass(frozen=True, slots=True)
    class Run:
        name: str
        events: int = 0

What the standard library compiles for each such class, a text of Python for each method, two base classes do here; only
`__init__` is compiled, when the first value is made. `field`, `fields`, `replace` and `asdict` are those of
`dataclasses`, and take these classes for its own. Only what our rooms use is here: slots always, no base class, no
order, no `__post_init__`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses
    from collections.abc import Callable, Mapping
    from operator import attrgetter

    #: What belongs to a class itself, and not to the one that is made of its body with slots.
    _LEFT_OUT = ("__dict__", "__weakref__")

    def dataclass(*, slots: bool, frozen: bool = False, kw_only: bool = False) -> Callable[[type], type]:
        """Make a class of annotated fields what `dataclasses.dataclass` makes of it."""
        if not slots:
            raise TypeError("only with slots=True")
        return lambda cls: _made(cls, frozen=frozen, kw_only=kw_only)

    def _made(cls: type, *, frozen: bool, kw_only: bool) -> type:
        body = dict(cls.__dict__)
        names = tuple(body.get("__annotations__", ()))
        if cls.__bases__ != (object,) or "__post_init__" in body:
            raise TypeError(f"{cls.__name__} is more than fields: it needs dataclasses.dataclass")
        defaults = {name: body.pop(name) for name in names if name in body}
        for name, default in defaults.items():
            if type(default).__hash__ is None:
                raise ValueError(f"{cls.__name__}.{name}: all values would share this default: use default_factory")
        for name in _LEFT_OUT:
            body.pop(name, None)
        body["__qualname__"], body["__slots__"] = cls.__qualname__, names
        body["__match_args__"] = () if kw_only else names
        body["__dataclass_fields__"] = _Fields(defaults, kw_only=kw_only)
        body["_cells"] = _getter(names)

        def first(self: object, /, *values: object, **named: object) -> None:
            made.__init__ = init = _init(made, names, defaults, frozen=frozen, kw_only=kw_only)
            init(self, *values, **named)

        body["__init__"] = first
        made = type(cls.__name__, (_Frozen if frozen else _Value,), body)
        return made

    def _getter(names: tuple[str, ...]) -> property:
        """Return what gives all fields of a value as a tuple."""
        return property(attrgetter(*names) if len(names) > 1 else lambda self: tuple(getattr(self, n) for n in names))

    class _Value:
        """What all such values do."""

        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            return self._cells == other._cells if other.__class__ is self.__class__ else NotImplemented

        __hash__ = None

        def __repr__(self) -> str:
            pairs = zip(self.__slots__, self._cells, strict=True)
            return f"{type(self).__qualname__}({', '.join(f'{name}={value!r}' for name, value in pairs)})"

    class _Frozen(_Value):
        """What the frozen ones do."""

        __slots__ = ()

        def __hash__(self) -> int:
            return hash(self._cells)

        def __setattr__(self, name: str, value: object) -> None:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

        def __delattr__(self, name: str) -> None:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

        def __getstate__(self) -> list[object]:
            return list(self._cells)

        def __setstate__(self, state: list[object]) -> None:
            for name, value in zip(self.__slots__, state, strict=True):
                object.__setattr__(self, name, value)

    def _init(
        cls: type, names: tuple[str, ...], defaults: Mapping[str, object], *, frozen: bool, kw_only: bool
    ) -> Callable[..., None]:
        """Return `__init__`, compiled as dataclasses does it."""
        known: dict[str, object] = {"_set": object.__setattr__, "_MISSING": dataclasses.MISSING}
        given, lines = [], []
        for name in names:
            value, default = name, ""
            if name in defaults:
                default = f"=_of_{name}"
                known[f"_of_{name}"] = defaults[name]
                if isinstance(defaults[name], dataclasses.Field):
                    known[f"_of_{name}"], default = defaults[name].default_factory, "=_MISSING"
                    value = f"_of_{name}() if {name} is _MISSING else {name}"
            given.append(f"{name}{default}")
            lines.append(f" _set(self, {name!r}, {value})" if frozen else f" self.{name} = {value}")
        parameters = ", ".join(["self", *(["*"] if kw_only and given else []), *given])
        # Its text holds nothing but the names of fields in our own files.
        exec(f"def __init__({parameters}):\n" + "\n".join(lines or [" pass"]), known)  # noqa: S102
        init = known["__init__"]
        init.__qualname__ = f"{cls.__qualname__}.__init__"
        return init

    class _Fields:
        """What `dataclasses` knows of the fields of a class, found out when it is asked for the first time."""

        def __init__(self, defaults: Mapping[str, object], *, kw_only: bool) -> None:
            self._defaults, self._kw_only = defaults, kw_only

        def __get__(self, value: object, cls: type) -> object:
            same = {key: cls.__dict__[key] for key in ("__annotations__", "__module__")}
            # Without a text of its own, one would be made of its signature.
            like = type(cls.__name__, (), {**same, "__doc__": "Like it.", **self._defaults})
            like = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=self._kw_only)(like)
            cls.__dataclass_fields__ = like.__dataclass_fields__
            return cls.__dataclass_fields__
