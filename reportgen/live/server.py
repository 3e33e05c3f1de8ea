"""The preview's HTTP server: pages of a site with a script added, their files, and a stream of what changed.

Only this machine is answered, under the names that only this machine has, so that no page from elsewhere can read a
report by pointing its own name here. Files outside the site, links and hidden files are not served.
"""

from __future__ import annotations

import http.server
import mimetypes
import os
import secrets
import socketserver
import stat
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote_to_bytes, urlsplit

from reportgen.errors import ReportgenError
from reportgen.live import pages
from reportgen.live.board import Board
from reportgen.live.preview import Preview, Tell
from reportgen.live.problems import Teller
from reportgen.publish.manifest import is_site_path, read_manifest
from reportgen.redact import redact
from reportgen.render.site import PLOTLY
from reportgen.resources import resource_dir

ADDRESS = "127.0.0.1"
#: The names of this machine that nobody else can take. Behind a tunnel the port may be another one.
_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
_MOST_LISTENERS = 100
_HEARTBEAT_SECONDS = 10.0
#: Nobody keeps a connection open without saying anything for longer.
_SILENCE_SECONDS = 60
#: The large script of the charts never changes: while it need not be asked for, a browser keeps it compiled.
_KEEP = "max-age=600"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".csv": "text/csv; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".svg": "image/svg+xml",
}
#: Types by file name that are the same on every machine.
_OTHER_TYPES = mimetypes.MimeTypes()


class Server(http.server.ThreadingHTTPServer):
    """Answers from a board, each request in a thread of its own. OSError where the port can't be had."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, port: int, board: Board, preview: Preview, tell: Tell) -> None:
        self.board = board
        self.preview = preview
        self.tell = tell
        #: Tells the content of this server from that of one before it on the same port.
        self.name = secrets.token_hex(4)
        super().__init__((ADDRESS, port), _Handler)

    @property
    def url(self) -> str:
        """The address to open."""
        return f"http://{ADDRESS}:{self.server_address[1]}/"

    def server_bind(self) -> None:
        """Bind without asking a name server who we are, as the base class would."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = ADDRESS, int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as the base class has it
        """Say what went wrong; a browser that went away is nothing to tell."""
        error = sys.exception() if sys.version_info >= (3, 12) else sys.exc_info()[1]
        if error is not None and not isinstance(error, ConnectionError | TimeoutError):
            self.tell(redact("".join(traceback.format_exception(error))))


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "reportgen"
    sys_version = ""
    timeout = _SILENCE_SECONDS

    def do_GET(self) -> None:
        """Answer a request for a file."""
        self._answer()

    def do_HEAD(self) -> None:
        """Answer as to GET, without the content."""
        self._answer()

    def log_message(self, format: str, *args: object) -> None:
        """Keep no log of requests: what matters here is what was built."""

    # --- who asks, and for what ---------------------------------------------------------------------------------------

    def _answer(self) -> None:
        if not self._is_for_us():
            self.close_connection = True
            text = f"This preview answers only as http://{ADDRESS} or http://localhost.\n"
            self._send(403, "text/plain; charset=utf-8", text.encode())
            return
        path, _, query = self.path.partition("#")[0].partition("?")
        if path.startswith(pages.OWN):
            self._answer_own(path.removeprefix(pages.OWN), parse_qs(query))
            return
        with self.server.board.answering():
            self._answer_site(path)

    def _is_for_us(self) -> bool:
        """Say whether the request names this machine: a page from elsewhere that points its own name here does not."""
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or not self.path.startswith("/") or not _is_own_name(hosts[0]):
            return False
        origin = self.headers.get("Origin")
        # Pages from elsewhere may link to us, and get nothing else: no script, no stream, no image.
        from_elsewhere = self.headers.get("Sec-Fetch-Site", "none") in ("cross-site", "same-site")
        if from_elsewhere and self.headers.get("Sec-Fetch-Mode") != "navigate":
            return False
        return origin is None or _is_own_name(urlsplit(origin).netloc)

    def _answer_own(self, name: str, query: Mapping[str, list[str]]) -> None:
        if name == "events":
            self._stream(query)
        elif name in ("live.js", "live.css"):
            self._send_file(name, (resource_dir("templates") / "serve" / name).read_bytes())
        else:
            self._send(404, "text/plain; charset=utf-8", b"There is nothing here.\n")

    def _answer_site(self, asked: str) -> None:
        view = self.server.board.view
        if view.content is None:
            self._send(503, _TYPES[".html"], pages.waiting_page(view), {"Retry-After": "1"})
            return
        path = site_path(asked)
        found = None
        try:
            if path is not None:
                found = view.content.get(path)
        except ReportgenError as error:
            self._send_problem(error)
            return
        if found is None and path is not None:
            if view.content.get(f"{path}/index.html") is not None:
                self._send(302, "text/plain; charset=utf-8", b"", {"Location": f"{asked}/"})
                return
            found = self._other_file(path)
        if found is not None and path is not None:
            self._send_file(path, found)
        else:
            missing = view.content.get("404.html") or b"<!doctype html><title>Not found</title><p>Not found."
            self._send(404, _TYPES[".html"], pages.with_script(missing, self._mark(view.content.number)))

    def _other_file(self, path: str) -> bytes | None:
        """Return a file of the site that reportgen does not make; what only an older build made is not there."""
        site = self.server.preview.site
        if site is None or path in read_manifest(site).files:
            return None
        return read_inside(site, path)

    def _send_problem(self, error: ReportgenError) -> None:
        view = self.server.board.view
        told = view.problems or (Teller(Path()).problem(error),)
        self._send(500, _TYPES[".html"], pages.waiting_page(view, told))

    # --- the stream of what is to be seen -----------------------------------------------------------------------------

    def _stream(self, query: Mapping[str, list[str]]) -> None:
        """Send the state at once, and again each time it changes, for as long as the page is there."""
        board = self.server.board
        page = site_path(query.get("page", ["/"])[0]) or "index.html"
        with board.listening(page, _MOST_LISTENERS) as room:
            if not room or self.command == "HEAD":
                self._send(503 if not room else 200, "text/event-stream", b"")
                return
            self.close_connection = True
            self._head(200, "text/event-stream", {"Connection": "close"})
            self.wfile.write(b"retry: 500\n\n")
            number, sent = -1, ""
            while not board.is_closed():
                view = board.wait(number, _HEARTBEAT_SECONDS)
                number = view.number
                mark = self._mark(view.content.number) if view.content is not None else ""
                state = pages.state(view, mark)
                # An empty comment finds out whether the browser is still there.
                self.wfile.write(f"data: {state}\n\n".encode() if state != sent else b":\n\n")
                self.wfile.flush()
                sent = state

    def _mark(self, number: int) -> str:
        return f"{self.server.name}-{number}"

    # --- sending ------------------------------------------------------------------------------------------------------

    def _send_file(self, path: str, data: bytes) -> None:
        kind = _TYPES.get(Path(path).suffix.lower())
        kind = kind or _OTHER_TYPES.guess_type(Path(path).name)[0] or "application/octet-stream"
        if kind == _TYPES[".html"]:
            content = self.server.board.view.content
            data = pages.with_script(data, self._mark(content.number if content is not None else 0))
            self._send(200, kind, data)
            return
        # A hash of bytes is remembered with them, so that a large script costs nothing the second time.
        tag = f'"{self.server.name}-{hash(data) & 0xFFFFFFFFFFFFFFFF:x}"'
        more = {"ETag": tag, "Cache-Control": _KEEP if path == PLOTLY else "no-cache"}
        if self.headers.get("If-None-Match") == tag:
            self._send(304, kind, b"", more)
        else:
            self._send(200, kind, data, more)

    def _send(self, status: int, kind: str, data: bytes, more: Mapping[str, str] | None = None) -> None:
        self._head(status, kind, {"Content-Length": str(len(data)), **(more or {})})
        if self.command != "HEAD" and status != 304:
            self.wfile.write(data)

    def _head(self, status: int, kind: str, more: Mapping[str, str]) -> None:
        self.send_response(status)
        headers = {
            "Content-Type": kind,
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Content-Security-Policy": "frame-ancestors 'none'",
            **more,
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


def _is_own_name(host: str) -> bool:
    name, _, port = host.rpartition(":")
    if not port.isdigit() or not name or name.endswith(":"):
        name = host
    return name.lower() in _NAMES


def site_path(asked: str) -> str | None:
    """Return the path of a site that a URL's path asks for; None where no file of a site can have it.

    `/agents/` is `agents/index.html`. What leads up, is hidden, or holds a NUL, a backslash or bytes that are no UTF-8
    is none.
    """
    try:
        text = unquote_to_bytes(asked).decode("utf-8").removeprefix("/")
    except UnicodeDecodeError:
        return None
    path = f"{text}index.html" if text == "" or text.endswith("/") else text
    hidden = any(part.startswith(".") for part in path.split("/"))
    return path if is_site_path(path) and not hidden else None


def read_inside(root: Path, path: str) -> bytes | None:
    """Return a plain file below `root`; None where there is none, or where a link stands on the way or in its place."""
    *folders, name = path.split("/")
    plain = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    opened: list[int] = []
    try:
        opened.append(os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        for folder in folders:
            opened.append(os.open(folder, plain | os.O_DIRECTORY, dir_fd=opened[-1]))
        opened.append(os.open(name, plain | os.O_NONBLOCK, dir_fd=opened[-1]))
        if not stat.S_ISREG(os.fstat(opened[-1]).st_mode):
            return None
        with os.fdopen(opened[-1], "rb", closefd=False) as file:
            return file.read()
    except OSError:
        return None
    finally:
        for descriptor in opened:
            os.close(descriptor)
