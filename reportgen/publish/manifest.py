"""The manifest in the site: which files there are reportgen's own, and which recommendations were published.

A manifest that was read is a claim, not a fact: the folder may come from anywhere. Names that would lead out of the
site are dropped here, and nothing is deleted on its word unless the file still has the bytes that it names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from reportgen.publish.files import plain_bytes
from reportgen.quickclass import dataclass

#: The manifest's own name, and the hidden folder in which a build gets its files ready; both inside the site.
MANIFEST = "reportgen-manifest.json"
STAGING = ".reportgen-staging"

_NOTE = "Written by reportgen: the files here that it made. It replaces and removes these, and leaves all others alone."
_HEX = frozenset("0123456789abcdef")
_HASH = re.compile(r"[0-9A-Za-z]{1,128}")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a site says of itself. `files`: path in the site to SHA-256; `ids` and `retired`: id to title."""

    files: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    retired: dict[str, str] = field(default_factory=dict)
    build_hash: str = ""
    #: Why a manifest that is there could not be read; it then counts as somebody else's file.
    problem: str = ""

    def as_object(self) -> dict[str, Any]:
        """Return the manifest as a JSON object."""
        return {
            "note": _NOTE,
            "format": 1,
            "build_hash": self.build_hash,
            "files": self.files,
            "ids": self.ids,
            "retired": self.retired,
        }

    def to_bytes(self) -> bytes:
        """Return the manifest's file: JSON with sorted keys, the same bytes for the same values."""
        return json_bytes(self.as_object())


def json_bytes(value: object) -> bytes:
    """Return JSON with sorted keys, in ASCII, with a line end."""
    return (json.dumps(value, sort_keys=True, indent=1) + "\n").encode("ascii")


def is_site_path(path: str) -> bool:
    """Say whether this is a plain relative path that stays in the site and is not one of the reserved names.

    Unprintable characters, which could play tricks on a terminal, are never part of one.
    """
    if "\\" in path or not path.isprintable():
        return False
    parts = path.split("/")
    reserved = parts[0].casefold() == STAGING or path.casefold() == MANIFEST
    return not reserved and not any(part in ("", ".", "..") for part in parts)


def read_manifest(site: Path) -> Manifest:
    """Return the site's manifest: empty where there is none, with `problem` where it can't be read or trusted.

    Entries that are no plain path in the site, no SHA-256 or no text are dropped. Nothing is raised.
    """
    try:
        return load_manifest(site)
    except OSError as error:
        return Manifest(problem=(error.strerror or str(error)).lower())


def load_manifest(site: Path) -> Manifest:
    """As `read_manifest`, but OSError where a manifest is there and the disk does not give it."""
    data = plain_bytes(site, MANIFEST)
    try:
        return Manifest() if data is None else parse_manifest(json.loads(data))
    except (ValueError, RecursionError):
        return Manifest(problem="not the JSON that reportgen writes")


def parse_manifest(value: object) -> Manifest:
    """Return the manifest in a JSON value, without what is unsafe in it; ValueError where it is no manifest."""
    if not isinstance(value, dict) or not isinstance(value.get("files"), dict):
        raise ValueError("not a manifest")
    build_hash = value.get("build_hash")
    return Manifest(
        files=parse_files(value["files"]),
        ids=_texts(value.get("ids")),
        retired=_texts(value.get("retired")),
        build_hash=build_hash if isinstance(build_hash, str) and _HASH.fullmatch(build_hash) else "",
    )


def parse_files(value: object) -> dict[str, str]:
    """Return the pairs of a site's path and a SHA-256 in a JSON object, sorted; what is anything else is dropped."""
    return {
        path: digest
        for path, digest in _texts(value).items()
        if is_site_path(path) and len(digest) == 64 and _HEX.issuperset(digest)
    }


def retire(manifest: Manifest, current: Mapping[str, str], limit: int = 500) -> dict[str, str]:
    """Return the recommendations (id to title) that this site showed before and no longer shows, sorted by id.

    At most `limit`: those that the last build still published come before those retired earlier.
    """
    fresh = [key for key in sorted(manifest.ids) if key not in current]
    older = [key for key in sorted(manifest.retired) if key not in current and key not in manifest.ids]
    titles = {**manifest.retired, **manifest.ids}
    return {key: titles[key] for key in sorted((fresh + older)[:limit])}


def _texts(value: object) -> dict[str, str]:
    """Return the pairs of text in a JSON object, sorted."""
    if not isinstance(value, dict):
        return {}
    return {k: v for k, v in sorted(value.items()) if isinstance(v, str) and _is_text(k) and _is_text(v)}


def _is_text(text: str) -> bool:
    """Say whether the text can be written as UTF-8 (no lone surrogate)."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
