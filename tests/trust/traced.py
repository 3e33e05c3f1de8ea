"""A build under strace: it opens its inputs read-only, writes under its outputs and its work folder, opens no socket."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from project import event, write_project

import reportgen
from trust.tally import Count

_CALLS = ("open,openat,openat2,creat,truncate,mkdir,mkdirat,rmdir,rename,renameat,renameat2,unlink,unlinkat,link,linkat,"
          "symlink,symlinkat,chmod,fchmodat,chown,fchownat,mknod,mknodat,socket,connect,bind,execve")  # fmt: skip
_LINE = re.compile(r"^\d+\s+(?P<call>\w+)\((?P<rest>.*)")
_PATH = re.compile(r'(?:(?:AT_FDCWD|\d+)<(?P<folder>[^>]*)>, )?"(?P<path>(?:[^"\\]|\\.)*)"')
_WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND")
#: A file of events that is large enough for the warehouse to read it itself.
_EVENTS = 9_000


def why_not() -> str:
    """Return why strace can't be used here; empty where it can."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    tried = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, text=True)
    return "" if tried.returncode == 0 else f"strace may not trace here: {tried.stderr.strip()[:100]}"


def make_project(folder: Path) -> Path:
    """Write a project with every kind of input."""
    events = [event(f"2026-11-{1 + n % 9:02d}T09:00:00Z", f"agent-{n % 3}", run_id=f"r{n % 50}", cost_usd=n % 7,
                    note="x" * 40) for n in range(_EVENTS)]  # fmt: skip
    entry = {"timestamp": "2026-11-02T10:00:00Z", "agent": "agent-1", "error_type": "timeout", "attempt": 1,
             "action": "escalate", "exit_code": 2}  # fmt: skip
    return write_project(
        folder, events, [("2026-11-02", "docs", "agent-1", "50/100", "loop-excess")], [entry],
        settings="[limits]\nmemory = \"1GB\"\n", files={"BUDGET.md": "- limit: 500 cents\n- window: daily\n"},
    )  # fmt: skip


def trace(project: Path, log: Path, *flags: str) -> None:
    """Build under strace."""
    build = [sys.executable, "-m", "reportgen", "build", str(project), "--quiet", *flags]
    done = subprocess.run(
        ["strace", "-f", "-y", "-qq", "-s", "4096", "-e", f"trace={_CALLS}", "-o", str(log), *build],
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])


def steps(log: Path) -> Iterator[tuple[str, bool, list[str], str]]:
    """Yield each call: its name, whether it writes, the paths in it, and the rest of its line."""
    for line in log.read_text("utf-8", "replace").splitlines():
        match = _LINE.match(line)
        if match is None or re.search(r"= -1 (ENOENT|EEXIST|ENOTDIR|ENOTEMPTY)", line):
            continue
        call, rest = match["call"], match["rest"]
        paths = [os.path.join(found["folder"] or "", found["path"]) for found in _PATH.finditer(rest)]  # noqa: PTH118
        opens = call in ("open", "openat", "openat2")
        yield call, bool(_WRITES.search(rest)) if opens else call != "execve", paths, rest


def problems(project: Path, log: Path) -> Iterator[str]:
    """Yield what a build did that it may not do."""
    inputs = {str(project / name) for name in ("budget/cost-events.jsonl", "FEEDBACK.md", "healing-log.jsonl",
                                               "BUDGET.md", "reportgen.toml")}  # fmt: skip
    may = (
        f"{project}/site", f"{project}/.reportgen", f"{project}/RECOMMENDATIONS.md",
        f"{project}/.RECOMMENDATIONS.md.reportgen-staging", "/dev/null",
    )  # fmt: skip
    package = Path(reportgen.__file__).parents[1]
    opened: Counter[str] = Counter()
    for call, writes, paths, rest in steps(log):
        if call in ("socket", "connect", "bind"):
            yield f"a socket: {rest[:120]}"
        for path in paths:
            if path in inputs:
                opened[path] += 1
                if writes:
                    yield f"{call} of an input for writing: {path}"
            # Python, and reportgen for its templates, keep compiled files beside their sources.
            compiled = "__pycache__" in path and path.startswith((str(package), sys.prefix, sys.base_prefix))
            if writes and not path.startswith(may) and not compiled:
                yield f"{call} outside of the outputs: {path}"
    for path in sorted(inputs - opened.keys()):
        yield f"{path} was not opened: the trace is blind"


def run() -> list[Count]:
    """Build twice under strace: from nothing, and again with one event more."""
    count = Count("system calls of two builds under strace")
    if reason := why_not():
        count.skipped = reason
        return [count]
    with TemporaryDirectory(prefix="reportgen-trust-") as folder:
        project, log = make_project(Path(folder) / "project"), Path(folder) / "trace"
        for again in (False, True):
            if again:
                with (project / "budget" / "cost-events.jsonl").open("a", encoding="utf-8") as file:
                    file.write('{"agent": "late", "cost_usd": 1}\n')
            trace(project, log, *(() if again else ("--single-file", str(project / "site" / "one.html"))))
            count.number += sum(1 for _ in steps(log))
            count.losses += list(problems(project, log))
    return [count]
