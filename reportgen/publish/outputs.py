"""The only writer of outputs: RECOMMENDATIONS.md and the site change together, or not at all."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reportgen.errors import ReportgenError
from reportgen.publish import journal as swap
from reportgen.publish.check import MARKER, Changes, real, refuse_overlap, survey
from reportgen.publish.files import (
    cannot,
    hold,
    make_folders,
    read_plain,
    remove_empty,
    remove_file,
    sha256,
    sync_folder,
    write_new,
)
from reportgen.publish.manifest import Manifest, is_site_path, json_bytes, load_manifest, parse_manifest, read_manifest
from reportgen.quickclass import dataclass

_HINT = "publish.json"


@dataclass(frozen=True, slots=True)
class Published:
    """How many outputs (RECOMMENDATIONS.md and the site's files, without the manifest) were written, left alone
    because their bytes are the same, and removed because this build no longer makes them.

    `kept`: paths in the site that an earlier build made, this one does not, and somebody has changed since; they are
    left alone, and from now on belong to whoever changed them.
    """

    written: int
    unchanged: int
    removed: int
    kept: tuple[str, ...] = ()


def publish(
    *,
    site: Path,
    site_files: Mapping[str, bytes],
    recommendations: Path,
    markdown: bytes,
    ids: Mapping[str, str],
    retired: Mapping[str, str],
    build_hash: str,
    work: Path,
    adopt: bool = False,
    inputs: Sequence[Path] = (),
) -> Published:
    """Make the outputs be exactly these, in one step as far as a reader or a crash can tell.

    `site_files` maps plain relative paths to bytes; `markdown` begins with `<!-- reportgen:`; `ids` and `retired` map
    a recommendation's id to its title and go into the manifest. Only files whose bytes differ are written. A file of
    reportgen's own that a person edited is written again; one that reportgen did not write is refused, unless `adopt`.

    A file that is there with the very bytes that were to be written counts as reportgen's own from then on.

    First heals what an earlier build left. Raises ReportgenError (exit code 2): before the swap begins every output is
    as it was; if the swap itself is stopped (the message says so), the next command finishes it.
    """
    manifest = _manifest(site_files, ids, retired, build_hash)
    if not markdown.startswith(MARKER):
        raise ValueError(f"the recommendations must begin with {MARKER.decode()}")
    if manifest.build_hash != build_hash:
        raise ValueError(f"not a build hash: {build_hash!r}")
    refuse_overlap(inputs, site, recommendations, work, site_files)
    site = real(site)
    recommendations = real(recommendations.parent) / recommendations.name
    made: list[Path] = []
    try:
        if not (site.is_dir() and recommendations.parent.is_dir()):
            # Refuse what has to be refused before a folder is made.
            survey(site, site_files, manifest, read_manifest(site), recommendations, markdown, adopt=adopt)
            make_folders(site, made)
            make_folders(recommendations.parent, made)
        with hold((site, recommendations.parent)):
            _mend(site, recommendations)
            old = load_manifest(site)
            changes = survey(site, site_files, manifest, old, recommendations, markdown, adopt=adopt)
            if not (changes.site_files or changes.manifest or changes.markdown):
                return Published(0, changes.unchanged, 0)
            swept = _swap(site, site_files, manifest, recommendations, markdown, changes, work)
    except OSError as error:
        remove_empty(reversed(made))
        raise cannot(error, "can't publish there, and no output was changed", site) from error
    except BaseException:
        remove_empty(reversed(made))
        raise
    written = len(changes.site_files) + int(changes.markdown)
    return Published(written, changes.unchanged, swept.removed, swept.kept)


def recover(*, site: Path, recommendations: Path, work: Path) -> str | None:
    """Finish or undo a swap that was cut short, here or where the last build of this project wrote.

    Call it first in every command, inside `lock(work)`. Returns what was done in a sentence, None where nothing was
    to be done. Raises ReportgenError (exit code 2) where it can't be done; it can be tried again.
    """
    pairs = [(real(site), real(recommendations.parent) / recommendations.name)]
    hinted = _read_hint(work)
    if hinted is not None and hinted not in pairs:
        pairs.append(hinted)
    said: list[str] = []
    for place, file in pairs:
        if hinted is None and not _is_pending(place, file):
            continue
        with hold((place, file.parent)):
            done = _mend(place, file)
            if (place, file) == hinted:
                _forget_hint(work)
        if done is not None:
            said.append(f"{place}: an earlier build was cut short while it swapped its outputs; {done}.")
    return "\n".join(said) or None


def _manifest(
    site_files: Mapping[str, bytes], ids: Mapping[str, str], retired: Mapping[str, str], build_hash: str
) -> Manifest:
    """Return the new manifest in the form in which it is read back; ValueError for paths that no site can have."""
    for path in site_files:
        folders = [path[:at] for at, letter in enumerate(path) if letter == "/"]
        if not is_site_path(path) or any(folder in site_files for folder in folders):
            raise ValueError(f"not a path for a site file: {path!r}")
    digests = {path: sha256(data) for path, data in sorted(site_files.items())}
    plain = Manifest(digests, dict(sorted(ids.items())), dict(sorted(retired.items())), build_hash)
    return parse_manifest(plain.as_object())


def _swap(
    site: Path,
    site_files: Mapping[str, bytes],
    manifest: Manifest,
    recommendations: Path,
    markdown: bytes,
    changes: Changes,
    work: Path,
) -> swap.Swept:
    """Stage, commit, move. An OSError that leaves here means that nothing was changed."""
    goes = recommendations if changes.markdown else None
    journal = swap.Journal(manifest, changes.stale, goes, sha256(markdown) if changes.markdown else "")
    try:
        _write_hint(work, site, recommendations)
        swap.stage(site, journal, {path: site_files[path] for path in changes.site_files}, markdown)
        swept = swap.finish(site, journal, goes)
    except BaseException as error:
        if not swap.is_committed(site):
            # Best effort: what is left here by a second failure is undone by the next command.
            with contextlib.suppress(OSError):
                swap.undo(site, recommendations)
                _forget_hint(work)
        elif isinstance(error, OSError):
            doing = f"stopped while the outputs of build {manifest.build_hash[:12]} were swapped in"
            raise cannot(error, doing, site, "; the next command finishes the swap") from error
        raise
    _forget_hint(work)
    return swept


def _mend(site: Path, recommendations: Path) -> str | None:
    try:
        return swap.mend(site, recommendations)
    except OSError as error:
        raise cannot(error, "can't finish or undo the swap that an earlier build left", site) from error


def _is_pending(site: Path, recommendations: Path) -> bool:
    try:
        return swap.is_pending(site, recommendations)
    except OSError as error:
        raise cannot(error, "can't see whether an earlier build was cut short there", site) from error


def _write_hint(work: Path, site: Path, recommendations: Path) -> None:
    """Note where this build swaps, for a later command that is told other places."""
    make_folders(work)
    fresh = work / f"{_HINT}.new"
    remove_file(fresh)
    write_new(fresh, json_bytes({"site": str(site), "recommendations": str(recommendations)}))
    fresh.replace(work / _HINT)
    sync_folder(work)


def _forget_hint(work: Path) -> None:
    """Remove the note. One that can't be removed is harmless: where it points, nothing is left to do."""
    for name in (f"{_HINT}.new", _HINT):
        with contextlib.suppress(OSError):
            remove_file(work / name)


def _read_hint(work: Path) -> tuple[Path, Path] | None:
    """Return the places that were noted; None where none were, or where the note makes no sense."""
    try:
        value: Any = json.loads(read_plain(work / _HINT) or b"")
        site, recommendations = Path(value["site"]), Path(value["recommendations"])
        return (real(site), real(recommendations.parent) / recommendations.name)
    except (OSError, ValueError, KeyError, TypeError, RecursionError, ReportgenError):
        return None
