"""One command, run as if the caller had run it: stdin and stdout are the caller's, stderr is passed on and looked at.

Signals that are meant for it reach it. Standard library only.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

#: Signals that are passed on, and those of them that ask to end: after one of these nothing is tried again.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
FORWARDED = (*ENDING, signal.SIGUSR1, signal.SIGUSR2)
#: What a shell says of a command that could not be found, and of one that could not be started.
NOT_FOUND, NOT_STARTED = 127, 126
#: Bytes and lines kept of the end of stderr.
_TAIL_BYTES, _TAIL_LINES = 8 << 10, 20
#: Seconds without a word after which stderr is let go of: a process left in the background may hold it for ever.
_SILENCE = 1.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: with a `code`, or killed by a `signal` (then `code` is 128 and its number, as in a shell).

    `tail`: the last lines of its stderr. `asked`: somebody asked it, or this process, to end.
    """

    code: int
    signal: int | None = None
    tail: str = ""
    asked: bool = False


class InterruptedBySignalError(BaseException):
    """A signal that asks to end came while no command was running."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)


class Runner:
    """Runs commands, one at a time. As a context it passes signals on to the command that runs.

    Signals that are ignored when it starts (as under nohup) stay ignored.
    """

    def __init__(self, tell: Callable[[str], object]) -> None:
        #: Says why a command could not be started.
        self._tell = tell
        self._child: subprocess.Popen[bytes] | None = None
        self._starting = False
        self._pending: list[int] = []
        self._asked = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Runner:
        for number in FORWARDED:
            if signal.getsignal(number) != signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *raised: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def run(self, command: Sequence[str], environ: Mapping[str, str]) -> Ended:
        """Run the command to its end. One that can't be started ends with 127 (not found) or 126."""
        self._starting, self._asked = True, False
        try:
            # Descriptors that the caller has opened for the command are its own; ours are closed as it starts.
            child = subprocess.Popen(list(command), env=dict(environ), stderr=subprocess.PIPE, close_fds=False)
        except (OSError, ValueError) as error:
            self._starting = False
            return self._not_started(command[0], error)
        self._child, self._starting = child, False
        while self._pending:
            self._pass_on(self._pending.pop(0))
        pump = _Pump(child)
        code = child.wait()
        self._child = None
        tail = pump.finish()
        killer = -code if code < 0 else None
        asked = self._asked or killer in ENDING or code in (128 + signal.SIGINT, 128 + signal.SIGTERM)
        return Ended(code if code >= 0 else 128 - code, killer, tail, asked)

    def _not_started(self, name: str, error: Exception) -> Ended:
        missing = isinstance(error, OSError) and error.errno in (errno.ENOENT, errno.ENOTDIR)
        why = error.strerror if isinstance(error, OSError) else None
        words = f"{name}: command not found" if missing else f"{name}: {why or error}"
        self._tell(words)
        asked = any(number in ENDING for number in self._pending)
        self._pending.clear()
        return Ended(NOT_FOUND if missing else NOT_STARTED, tail=words, asked=asked)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._starting:
            self._pending.append(number)
        elif self._child is not None:
            self._pass_on(number)
        elif number in ENDING:
            raise InterruptedBySignalError(number)

    def _pass_on(self, number: int) -> None:
        if number in ENDING:
            self._asked = True
        # Ctrl-C on a terminal reaches the command by itself, and many take a second one as "at once".
        if self._child is not None and not (number in (signal.SIGINT, signal.SIGQUIT) and _in_foreground()):
            self._child.send_signal(number)


def _in_foreground() -> bool:
    """Say whether this process, and so its child, gets what is typed at its terminal."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


class _Pump:
    """Passes a command's stderr on, byte for byte, and keeps its end."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        assert child.stderr is not None
        self._pipe = child.stderr
        self._tail = b""
        self._writing = False
        self._heard = time.monotonic()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        source = self._pipe.fileno()
        while data := os.read(source, 1 << 16):
            self._tail = (self._tail + data)[-_TAIL_BYTES:]
            self._writing = True
            try:
                while data:
                    data = data[os.write(2, data) :]
            except OSError:
                break  # nobody listens: closed below, so that the command learns it as it would have
            self._heard = time.monotonic()
            self._writing = False
        self._pipe.close()

    def finish(self) -> str:
        """Wait until all is passed on (as long as the reader takes), and return the last lines."""
        begun = time.monotonic()
        while self._thread.is_alive():
            self._thread.join(0.05)
            if not self._writing and time.monotonic() - max(begun, self._heard) > _SILENCE:
                break
        return "\n".join(self._tail.decode("utf-8", "replace").splitlines()[-_TAIL_LINES:])
