"""Requests to a server over HTTP byte by byte, as no decent client would send them, and as one would."""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass
from typing import Any, Final

VERSION: Final = "2026-07-28"
TIMEOUT_S: Final = 60
ACCEPT: Final = ("Accept", "application/json, text/event-stream")
JSON: Final = ("Content-Type", "application/json")
META: Final = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}

Header = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    def message(self) -> dict[str, Any]:
        """The JSON-RPC message in it, the last one if it is a stream of them."""
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            lines = [line[5:] for line in self.body.splitlines() if line.startswith(b"data:")]
            return dict(json.loads(lines[-1]))
        return dict(json.loads(self.body))


def head(port: int, *headers: Header, method: str = "POST", path: str = "/mcp", host: str | None = None) -> bytes:
    """The head of a request with these headers and no others, but for the host unless it is one of them."""
    named = () if any(name.lower() == "host" for name, _ in headers) else (("Host", host or f"127.0.0.1:{port}"),)
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in (*named, *headers))]
    return "\r\n".join([*lines, "", ""]).encode()


def call(method: str, params: dict[str, Any] | None = None, number: int = 1) -> tuple[bytes, list[Header]]:
    """A request of the newer protocol as one would send it: its body, and the headers that go with it."""
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": {**(params or {}), "_meta": META}}
    named = [("Mcp-Name", params["name"])] if params and "name" in params else []
    return json.dumps(message).encode(), [
        JSON,
        ACCEPT,
        ("MCP-Protocol-Version", VERSION),
        ("Mcp-Method", method),
        *named,
    ]


def opened(port: int, payload: bytes = b"") -> socket.socket:
    """A connection over which something was sent already."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S)
    connection.sendall(payload)
    return connection


def sent(port: int, payload: bytes) -> Reply:
    """What comes back for these bytes, to the end of the answer."""
    with opened(port, payload) as connection:
        return answer(connection)


def posted(port: int, body: bytes, *headers: Header) -> Reply:
    """What comes back for a body with these headers."""
    return sent(port, head(port, *headers, ("Content-Length", str(len(body))), ("Connection", "close")) + body)


def answer(connection: socket.socket) -> Reply:
    """The answer on a connection, whose sender closes it at its end."""
    received = b""
    while piece := connection.recv(65_536):
        received += piece
    first, _, body = received.partition(b"\r\n\r\n")
    status, *lines = first.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if headers.get("transfer-encoding") == "chunked":
        body = _joined(body)
    return Reply(status=int(status.split()[1]), headers=headers, body=body)


def _joined(chunks: bytes) -> bytes:
    joined = b""
    while chunks:
        size, _, rest = chunks.partition(b"\r\n")
        joined, chunks = joined + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return joined
