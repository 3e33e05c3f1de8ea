"""A preview for tests: `serve` in a thread on a free port, and a client that waits for what it shows."""

from __future__ import annotations

import json
import queue
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from email.message import Message
from pathlib import Path
from typing import Any

from reportgen.live.preview import Pace
from reportgen.serving import serve

#: Long enough for a machine that does much else, short enough to end.
PATIENCE = 60.0
QUICK = Pace(look=0.02, doze=0.02, settle=0.05, patience=0.3, grace=0.0, idle=0.0)
State = dict[str, Any]


class Client:
    """Asks a preview for files, and follows what is to be seen."""

    def __init__(self, url: str, said: list[str]) -> None:
        self.url = url
        #: What the preview told its terminal.
        self.said = said
        self.state: State = {}
        self._states: queue.Queue[State] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        try:
            with urllib.request.urlopen(f"{self.url}.reportgen/events?page=/index.html", timeout=PATIENCE) as stream:
                for line in stream:
                    if line.startswith(b"data: "):
                        self._states.put(json.loads(line[6:]))
        except OSError:
            pass

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> tuple[int, Message, bytes]:
        """Return status, headers and content."""
        request = urllib.request.Request(self.url + path, headers=dict(headers or {}))
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as answer:
            return answer.code, answer.headers, answer.read()

    def text(self, path: str) -> str:
        """Return a page that must be there."""
        status, _, data = self.get(path)
        assert status == 200, (path, status)
        return data.decode()

    def until(self, wanted: Callable[[State], object]) -> State:
        """Wait until what is to be seen is as wanted (as it is now counts, too), and return it."""
        end = time.monotonic() + PATIENCE
        while not (self.state and wanted(self.state)):
            try:
                self.state = self._states.get(timeout=end - time.monotonic())
            except (queue.Empty, ValueError):
                raise AssertionError(f"not seen in {PATIENCE:g} s; seen: {self.state}; told: {self.said}") from None
        return self.state

    def shown(self) -> str:
        """Wait for a content, and return what names it."""
        return str(self.until(lambda state: state["content"])["content"])

    def newer(self, than: str) -> State:
        """Wait for another content."""
        return self.until(lambda state: state["content"] not in ("", than))


@contextmanager
def preview(project: Path, **options: Any) -> Iterator[Client]:
    """Serve a project for as long as this lasts."""
    address: queue.Queue[str] = queue.Queue()
    stop, said = threading.Event(), list[str]()
    options = {"pace": QUICK, **options}

    def run() -> None:
        serve(project, port=0, on_message=said.append, on_ready=address.put, stop=stop, **options)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield Client(address.get(timeout=PATIENCE), said)
    finally:
        stop.set()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def published(path: Path, wanted: Callable[[str], bool]) -> str:
    """Wait until a file on the disk holds what is wanted."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if path.is_file() and wanted(text := path.read_text("utf-8")):
            return text
        time.sleep(0.02)
    raise AssertionError(f"{path.name} is not as wanted")
