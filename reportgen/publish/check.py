"""What is looked at before anything is written: may these outputs go where they are meant to go?"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from reportgen.errors import ReportgenError
from reportgen.publish.files import first_obstacle, plain_bytes, read_plain, sha256
from reportgen.publish.manifest import MANIFEST, STAGING, Manifest, is_site_path, read_manifest
from reportgen.quickclass import dataclass

#: How the first line of a RECOMMENDATIONS.md that reportgen wrote begins.
MARKER = b"<!-- reportgen:"

_MOVE_OUTPUTS = "Choose another place for the outputs"


@dataclass(frozen=True, slots=True)
class Changes:
    """What a build has to write: the site files and the RECOMMENDATIONS.md whose bytes differ from what is there.

    `stale`: what an earlier build wrote and this one does not, path to SHA-256.
    """

    site_files: tuple[str, ...]
    stale: dict[str, str]
    manifest: bool
    markdown: bool
    unchanged: int


def refuse_overlap(
    inputs: Sequence[Path], site: Path, recommendations: Path, work: Path, written: Iterable[str] = ()
) -> None:
    """Refuse places where an output would overwrite an input or another output: ReportgenError, exit code 2.

    Compared are real paths and inodes, so that a link or another spelling is no way round. `written`: paths in the
    site that are going to be written; the files of the site's manifest are counted among them, as they are replaced
    or removed. An input in the site that reportgen does not write is fine, and so is a RECOMMENDATIONS.md there.

    The site may not be the project folder or a folder around it: whoever hosts the site would publish the inputs and
    the work folder with it. Nothing may lie in the work folder, which anybody may delete at any time.
    """
    shown_site, site, work = site, real(site), real(work)
    place = real(recommendations.parent) / recommendations.name
    if site == work or work in site.parents:
        raise ReportgenError(str(shown_site), "the site lies in the work folder, which may be deleted", _advice())
    if site in work.parents:
        what = "the site is a folder that holds the project, so hosting it would publish the inputs and the work folder"
        raise ReportgenError(str(shown_site), what, _advice("such as site/ in the project"))
    if site in (work.parent / "sql", work.parent / "templates"):
        what = f"the site would fill the project's own {site.name} folder, from which builds read"
        raise ReportgenError(str(shown_site), what, _advice())
    if work in place.parents:
        raise ReportgenError(str(recommendations), "lies in the work folder, which may be deleted", _advice())
    if place == site or place in site.parents:
        raise ReportgenError(str(recommendations), "is the site's folder or one around it, not a file", _advice())
    owned = {MANIFEST, *written, *read_manifest(site).files}
    if site in place.parents:
        inside = place.relative_to(site).as_posix()
        if inside in owned or not is_site_path(inside):
            raise ReportgenError(str(recommendations), "is also a file of the site", _advice())
    outputs = {real(recommendations): recommendations, **{site / path: shown_site / path for path in owned}}
    numbers: dict[tuple[int, int], Path] = {}
    for output, shown in outputs.items():
        with contextlib.suppress(OSError):
            status = output.stat()
            numbers[(status.st_dev, status.st_ino)] = shown
    cleared = (f"{work}{os.sep}", f"{site / STAGING}{os.sep}")
    for given, path in zip(inputs, _all_real(inputs), strict=True):
        hit = outputs.get(path)
        with contextlib.suppress(OSError):
            status = path.stat()
            hit = hit or numbers.get((status.st_dev, status.st_ino))
        if hit is not None:
            raise ReportgenError(str(given), f"is an input, and {hit} would be written over it", _advice())
        if str(path).startswith(cleared):
            what = "is an input in a folder that reportgen clears or that may be deleted at any time"
            raise ReportgenError(str(given), what, "Move it somewhere else.")


def survey(
    site: Path,
    site_files: Mapping[str, bytes],
    manifest: Manifest,
    old: Manifest,
    recommendations: Path,
    markdown: bytes,
    *,
    adopt: bool,
) -> Changes:
    """Compare what is there with what is to be there, and refuse what must not be overwritten. Writes nothing.

    `site` and the folder of `recommendations` are real paths. ReportgenError (exit code 2) names each file that
    reportgen did not write, unless `adopt`; links, folders and odd things in the way are refused in any case.
    OSError where something can't be looked at.
    """
    stale = {path: digest for path, digest in old.files.items() if path not in manifest.files}
    owned = {MANIFEST, *old.files} if not old.problem else set(old.files)
    foreign: list[Path] = []
    changed: list[str] = []
    _refuse_unless_folder(site)
    if (site / STAGING).is_symlink() or ((site / STAGING).exists() and not (site / STAGING).is_dir()):
        raise ReportgenError(str(site / STAGING), "is in the way: reportgen gets its files ready there", "Remove it.")
    for path, data in sorted({**site_files, MANIFEST: manifest.to_bytes()}.items()):
        found = first_obstacle(site, path)
        if found is not None and not _gives_way(site, path, found, stale):
            _refuse_unless_file(site / found[0], found[1], here=found[0] == path)
            if found[1].st_size == len(data) and _reads_as(site, path, data):
                continue
            if path not in owned and not adopt:
                foreign.append(site / path)
        changed.append(path)
    same_markdown = False
    with contextlib.suppress(FileNotFoundError):
        _refuse_unless_file(recommendations, recommendations.lstat(), here=True)
        there = read_plain(recommendations) or b""
        same_markdown = there == markdown
        if not same_markdown and not there.startswith(MARKER) and not adopt:
            foreign.insert(0, recommendations)
    if foreign:
        raise _refusal(foreign, site, old.problem)
    leaving = [site / path for path in stale if plain_bytes(site, path) is not None]
    entries = [site / path for path in changed] + leaving + ([] if same_markdown else [recommendations])
    if entries:
        # Files are got ready in the site in any case.
        _refuse_read_only(site, [*entries, site / MANIFEST])
    pages = tuple(path for path in changed if path != MANIFEST)
    unchanged = len(site_files) - len(pages) + int(same_markdown)
    return Changes(pages, stale, MANIFEST in changed, not same_markdown, unchanged)


def real(path: Path) -> Path:
    """Return the real, absolute path, links followed; parts that do not exist stay as written."""
    if "\x00" in str(path):
        raise ReportgenError(str(path).replace("\x00", "\\0"), "is no path: it holds a NUL", "Correct it.")
    return Path(os.path.realpath(path))


def _all_real(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the real paths. There may be thousands, in a few folders, which are followed once."""
    folders: dict[str, Path] = {}
    for path in paths:
        folder, name = os.path.split(path)
        if name in ("", "..") or "\x00" in name or path.is_symlink():
            yield real(path)
            continue
        if folder not in folders:
            folders[folder] = real(Path(folder))
        yield folders[folder] / name


def _advice(where: str = "") -> str:
    return f"{_MOVE_OUTPUTS}{', ' + where if where else ''}."


def _reads_as(site: Path, path: str, data: bytes) -> bool:
    # A file that this user may not read can still be replaced, if it is reportgen's own.
    with contextlib.suppress(PermissionError):
        return plain_bytes(site, path) == data
    return False


def _gives_way(site: Path, path: str, found: tuple[str, os.stat_result], stale: Mapping[str, str]) -> bool:
    """Say whether what is in the way is reportgen's own, unchanged, and leaves with this build."""

    def leaves(inside: str) -> bool:
        data = plain_bytes(site, inside) if inside in stale else None
        return data is not None and sha256(data) == stale[inside]

    if found[0] != path:
        return leaves(found[0])
    if not stat.S_ISDIR(found[1].st_mode):
        return False
    for folder, folders, files in os.walk(site / path):
        inside = Path(folder).relative_to(site).as_posix()
        if any((Path(folder) / name).is_symlink() for name in folders):
            return False
        if not (files or folders) or not all(leaves(f"{inside}/{name}") for name in files):
            return False
    return True


def _refuse_unless_folder(site: Path) -> None:
    for folder in (site, *site.parents):
        if folder.exists() or folder.is_symlink():
            if not folder.is_dir():
                raise ReportgenError(str(folder), "is not a folder, and the site has to go there", _advice())
            return


def _refuse_unless_file(path: Path, status: os.stat_result, *, here: bool) -> None:
    """Refuse what is no plain file where one goes (`here`), or anything where a folder has to go."""
    mode = status.st_mode
    if here and stat.S_ISREG(mode):
        return
    kind = "a symbolic link" if stat.S_ISLNK(mode) else "a folder" if stat.S_ISDIR(mode) else "a file"
    if here and kind == "a file":
        kind = "not a plain file"
    what = f"is {kind}, and {'an output file' if here else 'a folder for output files'} has to go there"
    raise ReportgenError(str(path), what, f"Move it away, or {_MOVE_OUTPUTS[0].lower()}{_MOVE_OUTPUTS[1:]}.")


def _refuse_read_only(site: Path, entries: Iterable[Path]) -> None:
    """Refuse where a folder can't be written to, or is another disk's: before anything is written, not half-way."""
    device = site.stat().st_dev if site.exists() else None
    for folder in sorted({entry.parent for entry in entries}):
        there = folder
        while not there.is_dir():
            there = there.parent
        if not os.access(there, os.W_OK | os.X_OK):
            what = "is read-only for this user, and outputs have to go there"
            raise ReportgenError(str(there), what, f"Make it writable, or {_MOVE_OUTPUTS.lower()}.")
        if device is not None and there.is_relative_to(site) and there.stat().st_dev != device:
            what = "lies on another file system than the rest of the site, so files can't be swapped in one step"
            raise ReportgenError(str(there), what, _advice())


def _refusal(foreign: Sequence[Path], site: Path, problem: str) -> ReportgenError:
    shown = 5
    others = [str(path.relative_to(site)) if site in path.parents else str(path) for path in foreign[1:shown]]
    what = "was not written by reportgen, and the build would overwrite it"
    if others:
        more = f" and {len(foreign) - shown} more" if len(foreign) > shown else ""
        what += f", and likewise {', '.join(others)}{more}"
    if problem:
        what += f"; the list of its own files, {MANIFEST}, can't be read: {problem}"
    return ReportgenError(str(foreign[0]), what, "Move it away, or pass --adopt to let reportgen overwrite it.")
