"""`reportgen hook post-tool-use`: one tool call of Claude Code, one cost event, one appended line.

It is started with every tool call of somebody's session, so it imports next to nothing, prints nothing on stdout, waits
for nobody for long, and ends with 0 whatever happens: what goes wrong here must never go wrong there.

What a hook is told names the tool, the session and the subagent, and how long the call took; nothing in it says what
the call cost. So an event carries neither a cost nor tokens: unknown, never 0.
"""

from __future__ import annotations

import json
import os
import time

from reportgen import linelog
from reportgen.redact import redact, redact_hashed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

#: Events of a hook that are tool calls, ended.
RECORDED = ("PostToolUse", "PostToolUseFailure")
#: Where a project's cost events are; the first that is there is appended to, else the first is made.
PLACES = ("budget/cost-events.jsonl", "cost-events.jsonl")
#: What makes a folder a project, on the way up from where the session is.
_MARKS = ("reportgen.toml", *PLACES)
#: Agent of a call that no subagent made.
MAIN = "main"
#: Seconds to wait for the lock: the session waits too.
LOCK_TIMEOUT = 2.0
#: Bytes of a hook's input; a tool's answer may be in it. Characters kept of a name, and of an error.
_INPUT_LIMIT, _LIMIT = 64 << 20, 200
_ID_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.:")

_HELP = """\
usage: {prog} post-tool-use [--events FILE] [--pipeline P] [--log FILE]
       {prog} --print-settings

Read what Claude Code tells a hook, as JSON on standard input, and append one
cost event to the project's budget/cost-events.jsonl. Always exit 0 and print
nothing on stdout, so that no tool call ever fails because of it.

  --events FILE     append to FILE (a relative one starts at the project)
  --pipeline P      the event's pipeline (default: the name of the project's folder)
  --log FILE        also append to FILE what went wrong; it is told on stderr anyway
  --print-settings  print the hooks for Claude Code's settings.json
  -h, --help        show this help

The project is the first folder with a reportgen.toml, a budget/cost-events.jsonl
or a cost-events.jsonl, from the session's directory upward, then from
$CLAUDE_PROJECT_DIR upward; else $CLAUDE_PROJECT_DIR or the session's directory.

What a call cost is not in what a hook is told: cost and tokens stay unknown.

set it up
  {prog} --print-settings      and put that into .claude/settings.json
"""


class _TroubleError(Exception):
    """Why there is no event, in words for a person."""


def main(
    argv: Sequence[str],
    prog: str = "reportgen hook",
    *,
    stdin: int = 0,
    clock: Callable[[], float] = time.time,
    environ: Mapping[str, str] = os.environ,
) -> int:
    """Do what `argv` says and return 0. `stdin` is a descriptor; `clock` gives seconds since 1970, UTC."""
    now = clock()
    log: str | None = None
    try:
        if not argv or argv[0] in ("-h", "--help"):
            _print(_HELP.format(prog=prog))
        elif argv[0] == "--print-settings":
            _print(settings_text(f"{prog} post-tool-use"))
        elif argv[0] != "post-tool-use":
            raise _TroubleError(f"no such hook: {argv[0]}; there is post-tool-use, see `{prog} --help`")
        elif not {"-h", "--help"}.isdisjoint(argv):
            _print(_HELP.format(prog=prog))
        else:
            flags, unknown = _flags(argv[1:])
            log = flags.get("--log")
            if unknown:
                # The event is not lost for a slip in somebody's settings.
                _tell(f"{prog}: {unknown}; the event is recorded without it", log, now)
            record(_read(stdin), now, events=flags.get("--events"), pipeline=flags.get("--pipeline"), environ=environ)
    except KeyboardInterrupt:
        pass
    except (_TroubleError, linelog.CannotAppendError) as error:
        _tell(f"{prog}: {error}", log, now)
    except Exception as error:
        _tell(f"{prog}: no event recorded: {type(error).__name__}: {error}", log, now)
    return 0


def record(
    data: bytes,
    now: float,
    *,
    events: str | None = None,
    pipeline: str | None = None,
    environ: Mapping[str, str] = os.environ,
    lock_timeout: float = LOCK_TIMEOUT,
) -> str:
    """Append the event of one hook's input to the project's file, and return the line.

    The line is in the file, whole, when this returns; it is not synced, so a power failure may take the last ones.
    """
    told = _parse(data)
    name = told.get("hook_event_name")
    if name is not None and name not in RECORDED:
        raise _TroubleError(f"{_clean(name)} is not recorded; use this for {' and '.join(RECORDED)}")
    project = project_of(told.get("cwd"), environ)
    event = event_of(told, now, pipeline or os.path.basename(project))  # noqa: PTH119 - pathlib costs start-up time
    path = os.path.join(project, events) if events else _place(project)  # noqa: PTH118
    line = json.dumps(event)
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)  # noqa: PTH103, PTH120
        file = linelog.take(path, lock_timeout)
        try:
            linelog.append(file, line)
        finally:
            os.close(file)
    except OSError as error:
        raise _TroubleError(f"{redact(path)}: can't be written ({error.strerror or error})") from error
    except linelog.CannotAppendError as error:
        raise _TroubleError(f"{redact(path)}: {error}") from error
    return line


# --- from what a hook is told to an event ---------------------------------------------------------------------------


def event_of(told: Mapping[str, object], now: float, pipeline: str) -> dict[str, object]:
    """Return the cost event: only what is known stands in it, names on one line, redacted, not too long.

    Raises where no tool is named: then there was no tool call.
    """
    tool = _shown(told.get("tool_name"))
    if not tool:
        raise _TroubleError("the input names no tool (tool_name), so there is no tool call to record")
    agent = _shown(told.get("agent_type")) or _shown(told.get("agent_id")) or MAIN
    found: dict[str, object] = {
        "timestamp": _stamp(now),
        "event_id": _id(told.get("tool_use_id")),
        "agent": agent,
        "pipeline": _shown(pipeline),
        "run_id": _shown(told.get("session_id")),
        "tool_name": tool,
        "model": _shown(told.get("model")),
        "duration_ms": _duration(told.get("duration_ms")),
        "error": _error(told),
    }
    return {key: value for key, value in found.items() if value not in (None, "")}


def _parse(data: bytes) -> dict[str, object]:
    if not data.strip():
        raise _TroubleError("nothing on standard input; Claude Code gives a hook one JSON object there")
    try:
        told = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        raise _TroubleError(f"standard input is not JSON ({type(error).__name__})") from error
    if not isinstance(told, dict):
        raise _TroubleError("standard input is not a JSON object")
    return told


def _clean(value: object) -> str:
    """Return a text on one line, without what no reader takes; other values are no text."""
    if not isinstance(value, str):
        return ""
    # What is cut off here is looked at by nobody, so a hostile megabyte costs nothing.
    text = value[: 20 * _LIMIT].replace("\x00", "")
    return " ".join(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").split())


def _shown(value: object) -> str:
    """Return a name as it is stored; an e-mail address becomes a hash of it, so that two agents stay two."""
    return redact_hashed(_clean(value))[:_LIMIT]


def _id(value: object) -> str | None:
    """Return the id of the tool call, where it is one that can be told from others: equal ids count once."""
    if not isinstance(value, str) or not 0 < len(value) <= _LIMIT or not _ID_CHARACTERS.issuperset(value):
        return None
    return value if redact(value) == value else None


def _duration(value: object) -> int | float | None:
    """Return the milliseconds, where they are a number that a duration can be."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 <= value < 1e12 else None


def _error(told: Mapping[str, object]) -> str | None:
    """Return the first line of what went wrong: the rest may be the output of a program."""
    error = told.get("error")
    lines = error.strip().splitlines() if isinstance(error, str) else []
    if lines:
        return redact(_clean(lines[0]))[:_LIMIT]
    return "failed" if told.get("hook_event_name") == "PostToolUseFailure" else None


def _stamp(now: float) -> str:
    milliseconds = int(now * 1000)
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(milliseconds // 1000))
    return f"{moment}.{milliseconds % 1000:03d}Z"


# --- where it goes --------------------------------------------------------------------------------------------------


def project_of(cwd: object, environ: Mapping[str, str] = os.environ) -> str:
    """Return the project's folder: the first with a mark, from `cwd` upward, then from $CLAUDE_PROJECT_DIR upward.

    Without one: $CLAUDE_PROJECT_DIR, else `cwd`; where that is no folder, the current one.
    """
    here = _folder(cwd) or os.getcwd()  # noqa: PTH109 - pathlib costs start-up time, here and below
    root = _folder(environ.get("CLAUDE_PROJECT_DIR"))
    for start in (here, root) if root else (here,):
        folder = start
        while True:
            if any(os.path.isfile(os.path.join(folder, mark)) for mark in _MARKS):  # noqa: PTH113, PTH118
                return folder
            above = os.path.dirname(folder)  # noqa: PTH120
            if above == folder:
                break
            folder = above
    return root or here


def _folder(path: object) -> str:
    """Return the path of a folder that is there, without a slash at its end; else an empty text."""
    if not isinstance(path, str) or not os.path.isabs(path) or not os.path.isdir(path):  # noqa: PTH112, PTH117
        return ""
    return os.path.normpath(path)


def _place(project: str) -> str:
    paths = [os.path.join(project, place) for place in PLACES]  # noqa: PTH118
    return next((path for path in paths if os.path.lexists(path)), paths[0])


# --- what a person sees ---------------------------------------------------------------------------------------------


def settings_text(command: str = "reportgen hook post-tool-use") -> str:
    """Return the part of Claude Code's settings.json that calls `command` after every tool call, failed ones too."""
    hooks = [{"matcher": "*", "hooks": [{"type": "command", "command": command, "timeout": 10}]}]
    return json.dumps({"hooks": dict.fromkeys(RECORDED, hooks)}, indent=2) + "\n"


def _flags(argv: Sequence[str]) -> tuple[dict[str, str], str]:
    """Return the flags, and what is wrong with the rest (nothing: an empty text)."""
    flags: dict[str, str] = {}
    rest = iter(argv)
    for word in rest:
        flag, joined, value = word.partition("=")
        if flag not in ("--events", "--pipeline", "--log"):
            return flags, f"unknown argument {_clean(word)[:40]}"
        if not joined:
            value = next(rest, "")
        if not value:
            return flags, f"{flag} needs a value"
        flags[flag] = value
    return flags, ""


def _read(stdin: int) -> bytes:
    if os.isatty(stdin):
        raise _TroubleError("this is for Claude Code's hooks, which give JSON on standard input; see --help")
    parts, size = [], 0
    while part := os.read(stdin, 1 << 20):
        parts.append(part)
        size += len(part)
        if size > _INPUT_LIMIT:
            raise _TroubleError(f"standard input is over {_INPUT_LIMIT >> 20} MiB; no event recorded")
    return b"".join(parts)


def _print(text: str) -> None:
    data = text.encode()
    while data:
        data = data[os.write(1, data) :]


def _tell(text: str, log: str | None, now: float) -> None:
    """Say what went wrong on stderr, and in the file of --log: one line, nothing that steers a terminal."""
    line = "".join(char if char.isprintable() else " " if char in "\n\t" else "\ufffd" for char in redact(text))
    places = [(2, line)]
    file = -1
    try:
        if log:
            file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o666)
            places.append((file, f"{_stamp(now)} {line}"))
    except OSError as error:
        places[0] = (2, f"{line}\nreportgen hook: --log can't be opened ({error.strerror})")
    for place, words in places:
        try:
            os.write(place, words.encode("utf-8", "replace") + b"\n")
        except OSError:
            continue  # nobody listens; the tool call goes on all the same
    if file >= 0:
        os.close(file)
