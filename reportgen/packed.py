"""Values of ours as bytes, and back: for what a build leaves to the next one."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def write(value: object) -> bytes:
    """Return the bytes of a dataclass value."""
    # Here, not at the top: a first build has nothing to read, and comes to this when others work beside it.
    import msgspec

    return msgspec.msgpack.encode(value)


def read(data: bytes, kind: type[T]) -> T | None:
    """Return the value of this type that the bytes hold; None where they hold another."""
    import msgspec

    try:
        return msgspec.msgpack.decode(data, type=kind)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None
