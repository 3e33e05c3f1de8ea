"""The one-page report, where it is asked for: written last, in one step, and never over a file of somebody else.

It says nothing that the site does not, so it is no part of the swap of the site and RECOMMENDATIONS.md: a build that
is killed between the two leaves the old page whole, with the hash of its own build in it, and the next build that asks
for it writes it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from reportgen.errors import ReportgenError
from reportgen.publish.check import real
from reportgen.publish.files import cannot, make_folders, read_plain, remove_file, sync_folder, write_new
from reportgen.publish.manifest import MANIFEST, STAGING, read_manifest
from reportgen.resources import resource_dir

#: How a page that reportgen wrote begins.
SINGLE_MARKER = b"<!doctype html>\n<!-- reportgen:"

_ADVICE = "Choose another place with --single-file."
#: The folders of a site, in which every name may become one of its own.
_FOLDERS = ("agents", "assets", "data", "detectors", "pipelines", "recommendations", "sql")


def refuse_single(
    path: Path,
    *,
    inputs: Sequence[Path],
    site: Path,
    recommendations: Path,
    work: Path,
    written: Iterable[str] = (),
    adopt: bool = False,
) -> None:
    """Refuse a place where the page would overwrite an input, another output, or a file that reportgen did not write.

    `written`: paths in the site that are going to be written. ReportgenError, exit code 2; nothing is changed.
    """
    place = _place(path)
    site, work = real(site), real(work)
    if place in {real(given) for given in inputs} or _is_one_of(place, inputs):
        raise ReportgenError(str(path), "is an input, and the page would be written over it", _ADVICE)
    if place == real(recommendations.parent) / recommendations.name:
        raise ReportgenError(str(path), "is also where the recommendations go", _ADVICE)
    if work == place or work in place.parents:
        raise ReportgenError(str(path), "lies in the work folder, which may be deleted", _ADVICE)
    if place == site or place in site.parents:
        raise ReportgenError(str(path), "is the site's folder or one around it, not a file", _ADVICE)
    for own in (work.parent / "sql", work.parent / "templates"):
        if place == own or own in place.parents:
            what = f"lies in the project's own {own.name} folder, from which builds read"
            raise ReportgenError(str(path), what, _ADVICE)
    if site in place.parents:
        inside = place.relative_to(site).as_posix()
        owned = {MANIFEST, *written, *read_manifest(site).files, *_pages(work.parent / "templates")}
        if inside in owned or inside.split("/")[0] in {STAGING, *_FOLDERS}:
            raise ReportgenError(str(path), "is also a file of the site", _ADVICE)
    if path.is_symlink() or (path.exists() and not path.is_file()):
        kind = "a symbolic link" if path.is_symlink() else "a folder" if path.is_dir() else "not a plain file"
        raise ReportgenError(str(path), f"is {kind}, and an output file has to go there", _ADVICE)
    try:
        there = read_plain(place)
    except OSError as error:
        raise cannot(error, "can't see what is there", path) from error
    if there is not None and not there.startswith(SINGLE_MARKER) and not adopt:
        what = "was not written by reportgen, and the build would overwrite it"
        raise ReportgenError(str(path), what, "Move it away, or pass --adopt to let reportgen overwrite it.")
    _refuse_unwritable(place.parent)


def write_single(path: Path, data: bytes) -> bool:
    """Put the page in place in one step; say whether it changed. `refuse_single` comes first.

    ReportgenError, exit code 2, where it can't be written: what was there is as it was.
    """
    place = _place(path)
    beside = place.with_name(f".{place.name[:40]}.reportgen-staging")
    try:
        if read_plain(place) == data:
            return False
        make_folders(place.parent)
        remove_file(beside)
        write_new(beside, data)
        beside.replace(place)
        sync_folder(place.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            remove_file(beside)
        raise cannot(error, "can't be written; the other outputs are done", path) from error
    return True


def _refuse_unwritable(folder: Path) -> None:
    """Refuse a folder in which no file can be made, or a way to it that is none: before the build, not at its end."""
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise ReportgenError(str(there), "is a file, and a folder for the page has to be there", _ADVICE)
    if not os.access(there, os.W_OK | os.X_OK):
        what = "is read-only for this user, and the page has to go there"
        raise ReportgenError(str(there), what, f"Make it writable, or c{_ADVICE[1:]}")


def _pages(own: Path) -> set[str]:
    """Return the pages at the top of every site, and those that the project's own templates add."""
    folders = (resource_dir("templates"), own)
    return {path.name for folder in folders if folder.is_dir() for path in folder.glob("*.html")}


def _place(path: Path) -> Path:
    return real(path.parent) / path.name


def _is_one_of(place: Path, inputs: Sequence[Path]) -> bool:
    """Say whether another name of the file is an input (a hard link, another spelling)."""
    with contextlib.suppress(OSError):
        mine = place.stat()
        for given in inputs:
            with contextlib.suppress(OSError):
                other = given.stat()
                if (mine.st_dev, mine.st_ino) == (other.st_dev, other.st_ino):
                    return True
    return False
