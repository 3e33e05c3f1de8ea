"""`reportgen serve`: the report of a project on this machine's own address, and every change as it is saved."""

from __future__ import annotations

import contextlib
import errno
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from reportgen.errors import ReportgenError
from reportgen.live.board import Board
from reportgen.live.preview import Pace, Preview, RunTests, Tell
from reportgen.live.server import ADDRESS, Server
from reportgen.settings import load_settings

PORT = 8000
#: What was begun may end: publishing what was shown last.
_STOP_SECONDS = 60.0
_ONCE_SECONDS = 1.0


def serve(
    project: str | Path = ".",
    *,
    port: int = PORT,
    settings_file: str | Path | None = None,
    flags: Mapping[str, object] | None = None,
    on_message: Tell | None = None,
    on_ready: Callable[[str], None] | None = None,
    stop: threading.Event | None = None,
    run_tests: RunTests | None = None,
    pace: Pace | None = None,
) -> int:
    """Serve a project's report on 127.0.0.1 until Ctrl-C (or `stop` is set), and return the exit code, 0.

    `flags` are those of `build`; `port` 0 takes any that is free; `on_ready` is told the address. What a file of the
    project has wrong is shown in the page. Raises ReportgenError (exit code 2) where the project directory, a flag or
    the port can't be used.
    """
    tell = on_message or (lambda _: None)
    home = Path(project)
    config = Path(settings_file) if settings_file is not None else None
    _check(home, config, flags or {})
    board = Board()
    board.show(busy="reading the inputs")
    preview = Preview(home, board, settings_file=config, flags=flags, tell=tell, run_tests=run_tests, pace=pace)
    with _open_server(port, board, preview, tell) as server, _ends_when_asked():
        builder = threading.Thread(target=preview.run, name="preview", daemon=True)
        answers = threading.Thread(target=server.serve_forever, args=(0.1,), name="server", daemon=True)
        answers.start()
        builder.start()
        tell(f"Serving {home} on {server.url} (only on this machine). Ctrl-C stops.")
        if on_ready is not None:
            on_ready(server.url)
        try:
            _wait(stop or threading.Event(), builder)
        except KeyboardInterrupt:
            tell("Stopping: what was shown last is written. Ctrl-C again stops at once.")
        finally:
            with contextlib.suppress(KeyboardInterrupt):
                board.close()
                preview.stop()
                builder.join(_STOP_SECONDS)
            server.shutdown()
    return 0


def _wait(stop: threading.Event, builder: threading.Thread) -> None:
    while not stop.wait(0.25):
        if not builder.is_alive():
            raise ReportgenError("reportgen", "the preview ended by itself", "Start it again; please report it.", 70)


def _check(project: Path, settings_file: Path | None, flags: Mapping[str, object]) -> None:
    """Raise what no change of a file can mend: a project that is none, a flag that is wrong."""
    try:
        load_settings(project, file=settings_file, flags=flags)
    except ReportgenError as error:
        if error.where.startswith("--") or not project.is_dir():
            raise


@contextlib.contextmanager
def _ends_when_asked(clock: Callable[[], float] = time.monotonic) -> Iterator[None]:
    """Turn Ctrl-C and SIGTERM into KeyboardInterrupt. Some who run others send the same signal twice at once: that
    counts as one, so that only a person's second Ctrl-C stops what is being written.
    """
    first: list[float] = []

    def end(number: int, frame: object) -> None:
        if not first or clock() - first[0] > _ONCE_SECONDS:
            first.append(clock())
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _open_server(port: int, board: Board, preview: Preview, tell: Tell) -> Server:
    if not 0 <= port <= 65535:
        raise ReportgenError("--port", f"{port} is no port", "Give a number from 1 to 65535, or 0 for any free one.")
    try:
        return Server(port, board, preview, tell)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            free = _free_port(port)
            step = f"reportgen serve --port {free}" if free else "reportgen serve --port 0 takes any free one"
            what = f"port {port} is in use: another program, or another reportgen serve, answers there"
            raise ReportgenError("--port", what, f"End that, or take another port: {step}.") from error
        if error.errno == errno.EACCES:
            what = f"port {port} may not be used by this user"
            raise ReportgenError("--port", what, "Take one from 1024 on: reportgen serve --port 8000.") from error
        what = f"port {port} can't be used ({error.strerror})"
        raise ReportgenError("--port", what, "Take another one: reportgen serve --port 0.") from error


def _free_port(port: int) -> int | None:
    for other in range(port + 1, min(port + 20, 65535) + 1):
        with socket.socket() as tried, contextlib.suppress(OSError):
            tried.bind((ADDRESS, other))
            return other
    return None
