"""Stable, safe, unique names for pages, anchors and recommendations, made from what a thing is called."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping

from reportgen.names import ALL_PIPELINES, UNASSIGNED, UNATTRIBUTED

_SAFE = re.compile(r"^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$")
_HASHED = re.compile(r"-[0-9a-f]{8}$")
#: File names that mean something else to a host or a file system.
_RESERVED = frozenset(
    {"index", "con", "prn", "aux", "nul", "404", "unattributed", "unassigned", "all-pipelines", "others"}
    | {f"{port}{n}" for port in ("com", "lpt") for n in range(10)}
)
_BUCKETS = {UNATTRIBUTED: "unattributed", UNASSIGNED: "unassigned", ALL_PIPELINES: "all-pipelines"}


def words(text: str, limit: int = 32) -> str:
    """Return the text as small ASCII words joined by `-`, at most `limit` long; may be empty."""
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii").lower()
    return re.sub(r"[^a-z0-9]+", "-", ascii_text).strip("-")[:limit].strip("-")


def slug(key: str, key_hash: str) -> str:
    """Return the page name of an agent or pipeline: the name itself where it is plain, else words and a hash.

    `key` is the folded name, `key_hash` the hash of it before redaction. Two names never share a page: a plain name
    that looks like a hashed one gets a hash of its own.
    """
    if key in _BUCKETS:
        return _BUCKETS[key]
    if _SAFE.match(key) and len(key) <= 48 and key not in _RESERVED and not _HASHED.search(key):
        return key
    base = "" if "[" in key else words(key)
    return f"{base or 'n'}-{key_hash[:8]}"


def finding_id(detector: str, pipeline_hash: str, kind: str, subject_key: str, subject_hash: str) -> str:
    """Return the id of a recommendation: the same for one detector, pipeline and subject in every build."""
    digest = hashlib.sha256("\x1f".join((detector, pipeline_hash, kind, subject_hash)).encode()).hexdigest()[:10]
    base = "" if "[" in subject_key else words(subject_key)
    return "-".join(part for part in (detector.replace("_", "-"), base, digest) if part)


class Hashes:
    """Looks up the hash of a shown name, and of the buckets that have none."""

    def __init__(self, rows: Mapping[tuple[str, str], tuple[str, str]]) -> None:
        self._rows = rows

    def key_and_hash(self, kind: str, shown: str) -> tuple[str, str]:
        """Return the folded name and its hash for a shown name of a kind."""
        found = self._rows.get((kind, shown))
        return found if found else (shown, hashlib.sha256(f"{kind}\x1f{shown}".encode()).hexdigest()[:12])
