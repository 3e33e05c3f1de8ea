"""The only writer of outputs. `with lock(work): recover(…)` first in every command; then `publish(…)`."""

from __future__ import annotations

from reportgen.publish.check import MARKER, refuse_overlap
from reportgen.publish.files import lock
from reportgen.publish.manifest import MANIFEST, Manifest, read_manifest, retire
from reportgen.publish.outputs import Published, publish, recover

__all__ = [
    "MANIFEST",
    "MARKER",
    "Manifest",
    "Published",
    "lock",
    "publish",
    "read_manifest",
    "recover",
    "refuse_overlap",
    "retire",
]
