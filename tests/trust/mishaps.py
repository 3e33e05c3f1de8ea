"""Mishaps around a build: a full disk, a folder that can't be written, a broken cache, inputs that change meanwhile.

Run as `python -m trust.mishaps FOLDER KILLS [--every]`: a warm process that forks builds and kills as many of them, then
lets everything else happen in a fork too (see `disk`); prints one JSON object.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from publish_world import ended, spawn

from reportgen import build, heal
from reportgen.errors import ReportgenError
from reportgen.render import pages, plotlyjs
from trust.disk import FOREIGN, Yard, outputs, run_kills
from trust.tally import Count

TESTS = Path(__file__).parents[1]
#: In memory where that is possible: these runs wait for the disk thousands of times.
MEMORY = Path("/dev/shm")
#: Linux' number of the call, and the bit of "may write although the mode forbids it".
_CAPSET_VERSION, _OVERRIDE = 0x20080522, 1 << 1


class Mishap:
    """A yard, and what came of the last build in it."""

    def __init__(self, yard: Yard) -> None:
        self.yard = yard
        self._said = yard.base / "said.json"

    def built(self, before: Callable[[], object] = lambda: None, **flags: Any) -> dict[str, Any]:
        """Build in a fork, `before` being called there first; return its exit code, and what it said of an error."""
        self._said.write_text('{"code": 70, "what": "it died"}', encoding="utf-8")

        def run() -> None:
            before()
            try:
                said = {"code": build(self.yard.project, **flags).exit_code, "what": "", "next": ""}
            except ReportgenError as error:
                said = {"code": error.exit_code, "what": f"{error.where}: {error.what}", "next": error.next_step}
            except Exception as error:
                said = {"code": 70, "what": f"{type(error).__name__}: {error}", "next": ""}
            resource.setrlimit(resource.RLIMIT_FSIZE, resource.getrlimit(resource.RLIMIT_FSIZE)[1:] * 2)
            os.write(descriptor, json.dumps(said).encode())

        descriptor = os.open(self._said, os.O_WRONLY | os.O_TRUNC)
        ended(spawn(run))
        os.close(descriptor)
        found = json.loads(self._said.read_text(encoding="utf-8") or '{"code": 70, "what": "it died", "next": ""}')
        assert isinstance(found, dict)
        return found

    def refused(self, when: str, said: dict[str, Any], *words: str) -> Iterator[str]:
        """Yield what is wrong where a build had to end with a message and leave the old outputs."""
        if said["code"] not in (2, 3) or not said["next"] or not any(word in said["what"].lower() for word in words):
            yield f"{when}: {said}"
        if outputs(self.yard.project) != self.yard.old:
            yield f"{when}: the old outputs have changed"
        yield from self.yard.problems(f"after {when}", killed=False)

    def right(self, when: str, said: dict[str, Any]) -> Iterator[str]:
        """Yield what is wrong where a build had to be done as if nothing were the matter."""
        if said["code"] != 0:
            yield f"{when}: {said}"
        if outputs(self.yard.project) != self.yard.new:
            yield f"{when}: not the bytes of an undisturbed build"
        if any((self.yard.project / name).read_bytes() != data for name, data in FOREIGN.items()):
            yield f"{when}: a foreign file has changed"


# --- a disk without room ----------------------------------------------------------------------------------------------


def no_room(mishap: Mishap) -> Iterator[tuple[str, list[str]]]:
    """Let files not grow beyond a size; on a real small disk, where one can be mounted, let there be no room."""
    for size in (100_000, 1_000, 2_000_000):
        mishap.yard.fresh()

        def limit(size: int = size) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

        when = f"no file above {size:,} bytes"
        yield when, list(mishap.refused(when, mishap.built(limit), "file too large", "no space", "room"))


def full_disk(mishap: Mishap) -> Iterator[tuple[str, list[str]]]:
    """Build on a file system of its own that fills up: while the warehouse is made, or while outputs are written."""
    project = mishap.yard.project
    project.mkdir(exist_ok=True)
    need = sum(path.stat().st_size for path in mishap.yard.start.rglob("*") if path.is_file()) // 1024
    for more in (4_000, 500, 8_000, 11_000):
        shutil.rmtree(project, ignore_errors=True)
        project.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={need + more}k", "tmpfs", str(project)]
        if subprocess.run(mount, capture_output=True).returncode:
            return
        try:
            mishap.yard.fill()
            mishap.yard.renew()
            said = mishap.built()
            when = f"a disk with {more:,} KB left"
            subprocess.run(["mount", "-o", "remount,size=200m", str(project)], check=True, capture_output=True)
            if said["code"] == 0:
                yield when, list(mishap.right(when, said))
            else:
                yield when, list(mishap.refused(when, said, "no space"))
        finally:
            subprocess.run(["umount", str(project)], check=True, capture_output=True)


# --- what can't be written --------------------------------------------------------------------------------------------


def _give_up_override() -> None:
    """Let modes count for the superuser, too."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_CAPSET_VERSION, 0)
    data = (ctypes.c_uint32 * 6)()
    libc.capget(header, data)
    # What is in force, and what could be taken up again.
    data[0] &= ~_OVERRIDE
    data[1] &= ~_OVERRIDE
    if libc.capset(header, data):
        raise OSError(ctypes.get_errno(), "capset")


def read_only(mishap: Mishap) -> Iterator[tuple[str, list[str]]]:
    """Let folders of the outputs, and the work folder, not be writable."""
    for place in ("site/agents", "site", ".reportgen", "."):
        folder = mishap.yard.fresh() / place
        folder.chmod(0o555)
        said = mishap.built(_give_up_override)
        folder.chmod(0o755)
        when = f"'{place}' can't be written"
        yield when, list(mishap.refused(when, said, "can't be written", "read-only for this user"))


# --- the cache --------------------------------------------------------------------------------------------------------


def broken_cache(mishap: Mishap) -> Iterator[tuple[str, list[str]]]:
    """Let the work folder be lost, and each file in it be cut, emptied, filled with rubbish, or a folder."""
    harms: dict[str, Callable[[Path], object]] = {
        "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
        "empty": lambda path: os.truncate(path, 0),
        "rubbish": lambda path: path.write_bytes(os.urandom(path.stat().st_size)),
        "flipped": _flip,
    }
    cases = [(name, harm) for name in ("warehouse.duckdb", "marts.kept", "build.kept") for harm in harms]
    shutil.rmtree(mishap.yard.fresh() / ".reportgen")
    yield "no cache", list(mishap.right("no cache", mishap.built()))
    for name, harm in cases:
        # The inputs are those of before: what is kept would be taken.
        project = mishap.yard.fresh(new=False)
        harms[harm](project / ".reportgen" / name)
        said = mishap.built()
        when = f"{name} is {harm}"
        found = [] if said["code"] == 0 else [f"{when}: {said}"]
        if outputs(project) != mishap.yard.old:
            found.append(f"{when}: not the bytes of an undisturbed build")
        yield when, [*found, *_then_right(mishap, when)]


def _then_right(mishap: Mishap, when: str) -> Iterator[str]:
    mishap.yard.renew()
    yield from mishap.right(f"after {when}", mishap.built())


def _flip(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        byte = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte[0] ^ 0x55]))


# --- inputs that change -----------------------------------------------------------------------------------------------


def changing_inputs(mishap: Mishap) -> Iterator[tuple[str, list[str]]]:
    """Let the cost events be appended to, cut or replaced at the moment in which they have been read once."""
    events = mishap.yard.project / "budget" / "cost-events.jsonl"

    def append() -> None:
        with events.open("ab") as log:
            log.write(b'{"timestamp": "2026-11-11T10:00:00Z", "agent": "late", "cost_usd": 1}\n')

    def cut() -> None:
        os.truncate(events, events.stat().st_size // 3)

    def replace() -> None:
        fresh = events.with_name("fresh")
        fresh.write_bytes(b'{"timestamp": "2026-11-11T10:00:00Z", "agent": "other", "cost_usd": 1}\n')
        fresh.replace(events)

    for what, change in (("appended to", append), ("cut", cut), ("replaced", replace)):
        for stage in ("read events", "load"):
            mishap.yard.fresh()
            done: list[int] = []

            def told(
                now: str, _done: int, _total: int, change: Any = change, stage: str = stage, done: Any = done
            ) -> None:
                if now == stage and not done:
                    done.append(1)
                    change()

            said = mishap.built(progress=told)
            when = f"the cost events are {what} while the build says '{stage}'"
            found = [] if said["code"] == 0 or (said["code"] == 3 and said["next"]) else [f"{when}: {said}"]
            if said["code"] == 0:
                report = json.loads((mishap.yard.project / "site" / "data" / "report.json").read_bytes())
                events_told = sum(pipeline["events"] for pipeline in report["pipelines"])
                (account,) = (one for one in report["inputs"] if one["kind"] == "events")
                if not account["used"] == account["lines"] == events_told:
                    found.append(f"{when}: {account} and {events_told} events")
            elif outputs(mishap.yard.project) != mishap.yard.old:
                found.append(f"{when}: the old outputs have changed")
            yield when, found


# --- others at work ---------------------------------------------------------------------------------------------------


def at_once(mishap: Mishap) -> Iterator[tuple[str, list[str]]]:
    """Let two builds run at once; let `heal` append while one runs."""
    project = mishap.yard.fresh()
    both = [spawn(lambda: build(project)) for _ in range(2)]
    codes = [ended(one) for one in both]
    when = "two builds at once"
    yield when, list(mishap.right(when, {"code": max(codes), "what": f"{codes}", "next": ""}))

    project = mishap.yard.fresh()
    log = project / "healing-log.jsonl"
    heal("writer", 1, error_type="timeout", run_id="first", log=log, wait=False)

    def keep_healing() -> None:
        for number in range(10_000):
            heal("writer", 1, error_type="timeout", run_id=f"r{number}", log=log, wait=False)

    healer = spawn(keep_healing)
    said = mishap.built()
    os.kill(healer, 9)
    ended(healer)
    when = "a build while heal appends"
    found = [] if said["code"] == 0 else [f"{when}: {said}"]
    report = json.loads((project / "site" / "data" / "report.json").read_bytes())
    (account,) = (one for one in report["inputs"] if one["kind"] == "healing")
    whole = log.read_bytes().count(b"\n")
    if not 1 <= account["used"] == report["healing"]["attempts"] <= whole or account["rejected"] > 1:
        found.append(f"{when}: {account} of {whole} whole lines, {report['healing']['attempts']} attempts")
    if mishap.built()["code"] != 0:
        found.append(f"{when}: the next build fails")
    report = json.loads((project / "site" / "data" / "report.json").read_bytes())
    if report["healing"]["attempts"] != whole:
        found.append(f"{when}: {report['healing']['attempts']} attempts of {whole} in the next report")
    yield when, found


def run_all(base: Path, kills: int, *, every: bool) -> dict[str, Any]:
    """Kill so many builds, then let everything happen once; return how much there was, and the losses."""
    pages.warm()
    plotlyjs.plotly_js()
    yard = Yard(base)
    killed = run_kills(yard, kills, seed=1) if kills else {}
    mishap = Mishap(yard)
    happened, losses = [], []
    kinds = [no_room, full_disk, read_only, broken_cache, changing_inputs, at_once]
    for kind in kinds:
        for number, (what, found) in enumerate(kind(mishap)):
            happened.append(what)
            losses += found
            if not every and number >= (kind is at_once):
                # A short run: one of each kind.
                break
    return {"kills": killed, "happened": happened, "losses": losses}


def run(kills: int, *, every: bool) -> list[Count]:
    """Kill so many builds and let everything happen once; a short run has one mishap of each kind."""
    killed, mishaps = Count("builds killed", kills), Count("other mishaps around a build")
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    roomy = os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 300 << 20
    with tempfile.TemporaryDirectory(dir=MEMORY if roomy else None) as folder:
        command = [sys.executable, "-m", "trust.mishaps", folder, str(kills), *(["--every"] if every else [])]
        done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, text=True, capture_output=True)
    if done.returncode:
        killed.losses.append(done.stderr[-2000:])
        return [killed, mishaps]
    found = json.loads(done.stdout.splitlines()[-1])
    killed.losses = found["kills"]["losses"]
    killed.note = f"{found['kills']['died']} died of it; {found['kills']['steps']} disk steps of Python in a build"
    mishaps.number, mishaps.losses = len(found["happened"]), found["losses"]
    if not any("left" in what for what in found["happened"]):
        mishaps.note = "no small disk could be mounted here"
    return [killed, mishaps]


if __name__ == "__main__":
    print(json.dumps(run_all(Path(sys.argv[1]), int(sys.argv[2]), every="--every" in sys.argv)))
