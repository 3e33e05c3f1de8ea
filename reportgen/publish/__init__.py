"""The only writer of outputs. `with lock(work): recover(…)` first in every command; then `publish(…)`."""

from __future__ import annotations

from reportgen.publish.check import MARKER, refuse_overlap
from reportgen.publish.files import lock
from reportgen.publish.manifest import MANIFEST, Manifest, read_manifest, retire
from reportgen.publish.outputs import Published, publish, recover
from reportgen.publish.single import SINGLE_MARKER, refuse_single, write_single

__all__ = [
    "MANIFEST",
    "MARKER",
    "SINGLE_MARKER",
    "Manifest",
    "Published",
    "lock",
    "publish",
    "read_manifest",
    "recover",
    "refuse_overlap",
    "refuse_single",
    "retire",
    "write_single",
]
