"""How a model's server receives requests and sends what it has to say, whole, torn or stalled."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import sys
import threading
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal, Protocol

from tests.fakes.wires.wire import Plain

MOST_BYTES = 64 * 1024 * 1024
MOST_AT_ONCE = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A request as it came, whatever it is about; names of headers are in small letters."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Plain | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What is sent back, in parts when it is a stream. `torn` hangs up half way, `stalled` is silent from there."""

    parts: tuple[bytes, ...]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = "application/json"
    streamed: bool = False
    ending: Literal["complete", "torn", "stalled"] = "complete"
    stall_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """Nothing is sent for a while; then the connection is closed."""

    seconds: float = 0.0


class Answering(Protocol):
    """Says what is sent back to a request."""

    def respond(self, arrival: Arrival) -> Response | Silence: ...


class Listener(ThreadingHTTPServer):
    """Listens on this machine only; a client that hangs up is no error."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, answering: Answering, leaving: threading.Event) -> None:
        self.answering = answering
        self.leaving = leaving
        self.gate = threading.BoundedSemaphore(MOST_AT_ONCE)
        super().__init__(("127.0.0.1", port), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    server: Listener
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        self._answer(None)

    def do_HEAD(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        raw = self._received()
        try:
            body = json.loads(_unpacked(raw, self.headers.get("Content-Encoding", "")) or b"{}")
        except (ValueError, OSError, EOFError, zlib.error):
            body = None
        if isinstance(body, dict):
            self._answer(body)
        else:
            self._send(Response(status=400, parts=(b'{"error": {"message": "this is no JSON object"}}',)))

    def log_message(self, *_: object) -> None:
        pass

    def _answer(self, body: Plain | None) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        with self.server.gate:
            answer = self.server.answering.respond(
                Arrival(method=self.command, path=self.path, headers=headers, body=body)
            )
            if isinstance(answer, Silence):
                self._wait(answer.seconds)
                self._hang_up()
            else:
                self._send(answer)

    def _send(self, response: Response) -> None:
        self.close_connection = True
        self.send_response(response.status)
        self.send_header("Content-Type", response.kind)
        self.send_header("Connection", "close")
        for name, value in response.headers.items():
            self.send_header(name, value)
        if response.streamed:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(sum(map(len, response.parts))))
        self.end_headers()
        if self.command == "HEAD":
            return
        for part in _sent(response):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part) if response.streamed else part)
            self.wfile.flush()
        if response.ending != "complete":
            self._wait(response.stall_s)
            self._hang_up()
        elif response.streamed:
            self.wfile.write(b"0\r\n\r\n")

    def _received(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            return self.rfile.read(min(int(self.headers.get("Content-Length") or 0), MOST_BYTES))
        parts: list[bytes] = []
        while (size := int(self.rfile.readline(64).split(b";")[0], 16)) and sum(map(len, parts)) < MOST_BYTES:
            parts.append(self.rfile.read(size))
            self.rfile.readline(8)
        self.rfile.readline(8)
        return b"".join(parts)

    def _wait(self, seconds: float) -> None:
        """Say nothing until the time is over, the server closes, or nobody listens any more."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and not self.server.leaving.is_set():
            self.connection.settimeout(min(left, 0.2))
            try:
                if not self.connection.recv(1, socket.MSG_PEEK):
                    return
                self.server.leaving.wait(0.2)
            except TimeoutError:
                continue

    def _hang_up(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


def _sent(response: Response) -> tuple[bytes, ...]:
    """What of it is really sent."""
    if response.ending == "complete":
        return response.parts
    if response.streamed:
        return response.parts[: max(1, len(response.parts) // 2)]
    whole = b"".join(response.parts)
    return (whole[: len(whole) // 2],)


def _unpacked(raw: bytes, encoding: str) -> bytes:
    match encoding.lower():
        case "":
            return raw
        case "gzip":
            return gzip.decompress(raw)
        case "deflate":
            return zlib.decompress(raw)
        case _:
            raise ValueError(f"cannot read {encoding!r}")
