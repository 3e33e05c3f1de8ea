"""Swapping many files as if they were one: get all of them ready, commit, move each into place.

    site/.reportgen-staging/plan.json      what is going to be swapped; written first
    site/.reportgen-staging/files/…        the new files
    .RECOMMENDATIONS.md.reportgen-staging  the new RECOMMENDATIONS.md, beside the old one
    site/.reportgen-staging/journal.json   the plan, renamed once all of it is on the disk: the commit
    .reportgen/publish.json                which site and which RECOMMENDATIONS.md; a hint for later commands

Cut short before the commit, a swap is undone; after it, finished: both only from what lies beside the outputs, so that
the work folder may be lost. The staging folder is in the site so that moving a file is one rename, on any disk.
"""

from __future__ import annotations

import contextlib
import errno
import json
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reportgen.publish.files import (
    first_obstacle,
    is_plain,
    plain_bytes,
    read_plain,
    remove_empty,
    remove_file,
    sha256,
    sync_all,
    sync_folder,
    write_new,
)
from reportgen.publish.manifest import (
    MANIFEST,
    STAGING,
    Manifest,
    json_bytes,
    load_manifest,
    parse_files,
    parse_manifest,
)
from reportgen.quickclass import dataclass

_PLAN = "plan.json"
_JOURNAL = "journal.json"
_FILES = "files"


@dataclass(frozen=True, slots=True)
class Journal:
    """What a swap will have done: the new manifest, the files of the old one that go (path to SHA-256), and the
    RECOMMENDATIONS.md to put in place (None: unchanged).
    """

    manifest: Manifest
    stale: dict[str, str]
    recommendations: Path | None
    recommendations_sha256: str

    def to_bytes(self) -> bytes:
        """Return the journal's file."""
        path = None if self.recommendations is None else str(self.recommendations)
        return json_bytes(
            {
                "format": 1,
                "manifest": self.manifest.as_object(),
                "stale": self.stale,
                "recommendations": path,
                "recommendations_sha256": self.recommendations_sha256,
            }
        )


@dataclass(frozen=True, slots=True)
class Swept:
    """Stale files: how many were removed, and which were left because somebody has changed them since."""

    removed: int
    kept: tuple[str, ...]


def staged_beside(recommendations: Path) -> Path:
    """Return where the new RECOMMENDATIONS.md waits: a hidden file in the same folder."""
    return recommendations.with_name(f".{recommendations.name[:40]}.reportgen-staging")


def stage(site: Path, journal: Journal, files: Mapping[str, bytes], markdown: bytes) -> None:
    """Write all that is new beside its place, wait until it is on the disk, then commit.

    `files` are those that differ, the manifest not among them. OSError leaves every output as it was.
    """
    staging = site / STAGING
    staging.mkdir()
    # The plan comes first: whatever is left behind can be found from it.
    write_new(staging / _PLAN, journal.to_bytes())
    folders, written = {staging / _FILES}, list[Path]()
    (staging / _FILES).mkdir()
    for path, data in [*sorted(files.items()), (MANIFEST, journal.manifest.to_bytes())]:
        target = staging / _FILES / path
        if target.parent not in folders:
            target.parent.mkdir(parents=True, exist_ok=True)
            folders.update(parent for parent in target.parents if parent.is_relative_to(staging / _FILES))
        write_new(target, data, sync=False)
        written.append(target)
    if journal.recommendations is not None:
        beside = staged_beside(journal.recommendations)
        remove_file(beside)
        write_new(beside, markdown, sync=False)
        written.append(beside)
        folders.add(beside.parent)
    sync_all(written, sorted(folders))
    (staging / _PLAN).replace(staging / _JOURNAL)
    sync_folder(staging)
    sync_folder(site)


def is_committed(site: Path) -> bool:
    """Say whether a swap in this site has passed the point from which it is finished, not undone."""
    return is_plain(site / STAGING / _JOURNAL)


def finish(site: Path, journal: Journal, recommendations: Path | None) -> Swept:
    """Move every staged file into place, remove what is stale, then put the manifest there and clear up.

    Safe to repeat after any interruption. `recommendations`: where the new RECOMMENDATIONS.md goes, if it does.
    """
    new, stale = journal.manifest.files, journal.stale
    # A stale file may stand where a folder has to go, or its folder where a file has to go: those leave first.
    new_folders = {parent for path in new for parent in _parents(path)}
    first = {p: d for p, d in stale.items() if p in new_folders or not new.keys().isdisjoint(_parents(p))}
    touched: set[Path] = set()
    removed, kept = _remove_stale(site, first, touched)
    for path in sorted(new):
        _move(site, path, touched)
    if recommendations is not None:
        beside = staged_beside(recommendations)
        if is_plain(beside):
            beside.replace(recommendations)
        touched.add(recommendations.parent)
    more_removed, more_kept = _remove_stale(site, {p: d for p, d in stale.items() if p not in first}, touched)
    sync_all([], [folder for folder in sorted(touched) if folder.is_dir()])
    # Last, and after all else is on the disk: a manifest never speaks of what is not there.
    _move(site, MANIFEST, touched)
    sync_folder(site)
    clear(site)
    return Swept(removed + more_removed, tuple(sorted(kept + more_kept)))


def clear(site: Path) -> None:
    """Remove the staging folder, its journal last."""
    staging = site / STAGING
    for name in (_FILES, _PLAN, _JOURNAL):
        path = staging / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            remove_file(path)
    # From here on the swap has ended, whatever becomes of the empty folder.
    with contextlib.suppress(OSError):
        shutil.rmtree(staging)
        sync_folder(site)


def undo(site: Path, recommendations: Path) -> bool:
    """Remove what was made ready for a swap that was never committed; say whether there was anything."""
    found = remove_file(staged_beside(recommendations))
    staging = site / STAGING
    if _is_folder(staging):
        # An empty one is only the last crumb of a swap that had ended.
        found = any(staging.iterdir()) or found
        planned = _read_journal(staging / _PLAN) or _read_journal(staging / _JOURNAL)
        if planned is not None and planned.recommendations is not None:
            # It may have been another file than the one that is written now.
            with contextlib.suppress(OSError):
                remove_file(staged_beside(planned.recommendations))
        clear(site)
    return found


def is_pending(site: Path, recommendations: Path) -> bool:
    """Say whether a swap was begun here and has not ended."""
    return _is_folder(site / STAGING) or is_plain(staged_beside(recommendations))


def mend(site: Path, recommendations: Path) -> str | None:
    """Finish or undo what a build left here, and say which in a clause; None where nothing was left.

    The folders must be held. OSError where that fails; it can be tried again.
    """
    if not is_pending(site, recommendations):
        return None
    journal = _read_journal(site / STAGING / _JOURNAL) if _is_folder(site / STAGING) else None
    if journal is None:
        return "undone: nothing had been swapped yet" if undo(site, recommendations) else None
    place = _recommendations_place(journal, recommendations)
    build = journal.manifest.build_hash[:12]
    wanted = {**journal.manifest.files, MANIFEST: sha256(journal.manifest.to_bytes())}
    lost = [path for path, digest in sorted(wanted.items()) if not _in_hand(site, path, digest)]
    if not lost and (place is not None or journal.recommendations is None):
        finish(site, journal, place)
        return f"finished: the outputs are those of build {build}"
    _claim(site, journal)
    undo(site, recommendations)
    return f"given up: {lost[0] if lost else 'RECOMMENDATIONS.md'} of build {build} is lost; build again"


def _in_hand(site: Path, path: str, digest: str) -> bool:
    """Say whether a new file is still there, staged or already in place, with the right bytes."""
    return any(
        data is not None and sha256(data) == digest
        for data in (plain_bytes(site, f"{STAGING}/{_FILES}/{path}"), plain_bytes(site, path))
    )


def _recommendations_place(journal: Journal, asked: Path) -> Path | None:
    """Return where the new RECOMMENDATIONS.md is staged or already stands: as asked now, else as in the journal."""
    places = [] if journal.recommendations is None else [asked, journal.recommendations]
    for find in (staged_beside, lambda place: place):
        for place in places:
            data = read_plain(find(place)) if is_plain(find(place)) else None
            if data is not None and sha256(data) == journal.recommendations_sha256:
                return place
    return None


def _claim(site: Path, journal: Journal) -> None:
    """Add the new files that are in place to the old manifest, so that the next build knows them for its own."""
    old = load_manifest(site)
    files = dict(old.files)
    for path, digest in journal.manifest.files.items():
        data = plain_bytes(site, path)
        if data is not None and sha256(data) == digest:
            files[path] = digest
    claim = Manifest(dict(sorted(files.items())), old.ids, old.retired, old.build_hash)
    fresh = site / STAGING / MANIFEST
    remove_file(fresh)
    write_new(fresh, claim.to_bytes())
    fresh.replace(site / MANIFEST)
    sync_folder(site)


def _move(site: Path, path: str, touched: set[Path]) -> None:
    """Move one staged file into place; nothing to do where it has been moved before."""
    inside = f"{STAGING}/{_FILES}/{path}"
    found = first_obstacle(site, inside)
    # The journal may come from anywhere: only a plain file that is really in the staging folder is moved.
    if found is None or found[0] != inside or not stat.S_ISREG(found[1].st_mode):
        return
    parents = list(reversed(_parents(path)))
    for parent in parents:
        here = first_obstacle(site, parent)
        if here is None:
            (site / parent).mkdir()
            touched.add((site / parent).parent)
        elif not stat.S_ISDIR(here[1].st_mode):
            raise NotADirectoryError(errno.ENOTDIR, "A folder has to go here", str(site / here[0]))
    (site / inside).replace(site / path)
    touched.add((site / path).parent)


def _remove_stale(site: Path, stale: Mapping[str, str], touched: set[Path]) -> tuple[int, list[str]]:
    """Remove files (path to SHA-256) that still have the bytes of their build, and the folders this leaves empty."""
    removed = 0
    kept: list[str] = []
    folders: set[str] = set()
    for path, digest in stale.items():
        folders.update(_parents(path))
        found = first_obstacle(site, path)
        if found is None:
            continue
        data = plain_bytes(site, path)
        if data is None or sha256(data) != digest:
            kept.append(path)
            continue
        (site / path).unlink()
        removed += 1
        touched.add((site / path).parent)
    deepest_first = sorted(folders, key=lambda folder: (-folder.count("/"), folder))
    for folder in deepest_first:
        # Only real folders of this site: the way to a stale name may have become a link.
        here = first_obstacle(site, folder)
        if here is not None and here[0] == folder and stat.S_ISDIR(here[1].st_mode):
            remove_empty([site / folder])
            touched.add((site / folder).parent)
    return removed, kept


def _parents(path: str) -> list[str]:
    """Return the folders of a site path, the innermost first: `a/b/c` gives `a/b`, `a`."""
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(len(parts) - 1, 0, -1)]


def _is_folder(path: Path) -> bool:
    return not path.is_symlink() and path.is_dir()


def _is_absolute(place: object) -> bool:
    return isinstance(place, str) and "\x00" not in place and Path(place).is_absolute() and Path(place).name != ""


def _read_journal(path: Path) -> Journal | None:
    """Return the journal or plan at this path, None where there is none or it makes no sense.

    OSError where the disk does not give it: whether a swap was committed is never guessed.
    """
    data = read_plain(path) if is_plain(path) else None
    if data is None:
        return None
    try:
        value: Any = json.loads(data)
        manifest, stale = parse_manifest(value["manifest"]), parse_files(value["stale"])
        place, digest = value["recommendations"], value["recommendations_sha256"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(digest, str) or not (place is None or _is_absolute(place)):
        return None
    return Journal(manifest, stale, None if place is None else Path(place), digest)
