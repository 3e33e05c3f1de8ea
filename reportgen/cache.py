"""What a build leaves in the work folder for the next one: what it was made from, and what came of it.

    .reportgen/warehouse.duckdb   the marts, with the findings of the last build
    .reportgen/marts.kept         what the marts in it were made from
    .reportgen/build.kept         what the outputs were made from, and how each was left

All of it may be deleted at any time. Nothing is taken on trust: a file that was cut short or edited is no cache, and
what was kept holds only while the warehouse, and each output, is as the build left it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from reportgen import packed
from reportgen.marks import Marks, Stamp, stamp_of
from reportgen.model import InputFile, Notice, RejectedLine, Report
from reportgen.publish import MANIFEST
from reportgen.quickclass import dataclass

_MAGIC = b"reportgen kept 1\n"
_DIGEST = hashlib.sha256().digest_size


@dataclass(frozen=True, slots=True, kw_only=True)
class MartsMade:
    """The marts: what they were made from, and what was said of the inputs when they were read."""

    marks: Marks
    #: How the warehouse was left.
    warehouse: Stamp
    pipeline: str | None
    inputs: tuple[InputFile, ...]
    rejected: tuple[RejectedLine, ...]
    notices: tuple[Notice, ...]
    healing_present: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What must be as a build left it: every output by its path, with its stamp and SHA-256, and the warehouse."""

    marks: Marks
    warehouse: Stamp
    outputs: dict[str, tuple[Stamp, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildMade:
    """What a build gave beside its outputs. `outputs`: how many there are."""

    report: Report
    exit_code: int
    rejected_errors: int
    outputs: int


class Cache:
    """The files in the work folder. Hold its lock."""

    def __init__(self, work: Path) -> None:
        self._marts = work / "marts.kept"
        self._build = work / "build.kept"
        self._warehouse = work / "warehouse.duckdb"

    def unchanged(self, marks: Marks, outputs: Iterable[Path], *, full: bool) -> BuildMade | None:
        """Return what the last build gave, if one now would change nothing; `outputs`: those that it would write."""
        parts = _read(self._build, 2)
        left = None if parts is None else packed.read(parts[0], Left)
        if parts is None or left is None or not marks.are_as(left.marks, full=full):
            return None
        if not self._is_same_warehouse(left.warehouse) or not {str(path) for path in outputs} <= left.outputs.keys():
            return None
        if not all(_is_intact(Path(path), *seen) for path, seen in left.outputs.items()):
            return None
        return packed.read(parts[1], BuildMade)

    def keep_build(self, marks: Marks, outputs: Mapping[Path, str], made: BuildMade) -> None:
        """Keep what a build gave; `outputs`: the SHA-256 of each file."""
        with contextlib.suppress(OSError):
            stamps = {str(path): (stamp_of(path), digest) for path, digest in sorted(outputs.items())}
            left = Left(marks=marks, warehouse=stamp_of(self._warehouse), outputs=stamps)
            _write(self._build, packed.write(left), packed.write(made))

    def marts(self, marks: Marks, *, full: bool) -> MartsMade | None:
        """Return what was said of the marts in the warehouse, if those that a build now would make are the same."""
        parts = _read(self._marts, 1)
        made = None if parts is None else packed.read(parts[0], MartsMade)
        if made is None or not marks.are_as(made.marks, full=full, marts_only=True):
            return None
        return made if self._is_same_warehouse(made.warehouse) else None

    def keep_marts(self, made: MartsMade) -> None:
        """Keep what was said of the marts."""
        _write(self._marts, packed.write(made))

    def warehouse_stamp(self) -> Stamp:
        """Return the stamp of the warehouse as it is now. Raises OSError."""
        return stamp_of(self._warehouse)

    def _is_same_warehouse(self, before: Stamp) -> bool:
        with contextlib.suppress(OSError):
            # Whoever opened it to write left a log beside it, or has changed it.
            return (
                stamp_of(self._warehouse) == before and not self._warehouse.with_name("warehouse.duckdb.wal").exists()
            )
        return False


def published(site: Path, manifest_files: Mapping[str, str], others: Mapping[Path, bytes]) -> dict[Path, str]:
    """Return the SHA-256 of each output: those that the manifest names, the manifest, and `others`."""
    manifest = site / MANIFEST
    return {
        **{site / path: digest for path, digest in manifest_files.items()},
        manifest: hashlib.sha256(manifest.read_bytes()).hexdigest(),
        **{path: hashlib.sha256(data).hexdigest() for path, data in others.items()},
    }


def _is_intact(path: Path, stamp: Stamp, digest: str) -> bool:
    with contextlib.suppress(OSError):
        if stamp_of(path) == stamp:
            return True
        # Copied, or touched: its content tells.
        return not path.is_symlink() and hashlib.sha256(path.read_bytes()).hexdigest() == digest
    return False


def _read(path: Path, parts: int) -> list[bytes] | None:
    """Return the parts of a file that `_write` wrote; None where it is not there, or not whole."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    body = data[len(_MAGIC) + _DIGEST :]
    if not data.startswith(_MAGIC) or hashlib.sha256(body).digest() != data[len(_MAGIC) : len(_MAGIC) + _DIGEST]:
        return None
    found = []
    for _ in range(parts):
        length = int.from_bytes(body[:8], "big")
        found.append(body[8 : 8 + length])
        body = body[8 + length :]
    return found


def _write(path: Path, *parts: bytes) -> None:
    """Write a file that is there whole or not at all; where that can't be done there is none."""
    body = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    fresh = path.with_name(f"{path.name}.new")
    try:
        fresh.write_bytes(_MAGIC + hashlib.sha256(body).digest() + body)
        os.replace(fresh, path)  # noqa: PTH105
    except OSError:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
