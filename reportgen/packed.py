"""Values of ours as bytes, and back: for what a build leaves to the next one."""

from __future__ import annotations

from typing import TypeVar

import msgspec

T = TypeVar("T")


def write(value: object) -> bytes:
    """Return the bytes of a dataclass value."""
    return msgspec.msgpack.encode(value)


def read(data: bytes, kind: type[T]) -> T | None:
    """Return the value of this type that the bytes hold; None where they hold another."""
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None
