"""The proxy: one connection of a guest, from its request to the last byte."""

from __future__ import annotations

import socket
from dataclasses import dataclass

from milepost.sandbox.egress.allow_list import AllowList
from milepost.sandbox.egress.connect import HostRefused, Outside, Unreachable
from milepost.sandbox.egress.connections import Connections
from milepost.sandbox.egress.log import HostRequest, Log
from milepost.sandbox.egress.relay_bytes import Lane, carry
from milepost.sandbox.egress.request_body import Body, Endless, body_of
from milepost.sandbox.egress.request_head import Malformed, head_of, is_from, read_head, target_of, written_anew

_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"
_PATIENCE_S = 1.0
_MOST_HEARD = 4_000_000
_REASONS = {400: "Bad Request", 403: "Forbidden", 407: "Proxy Authentication Required", 502: "Bad Gateway"}


@dataclass(frozen=True, slots=True, kw_only=True)
class WayOut:
    """What every connection of a guest is judged by, noted in, and ended with."""

    allowed: AllowList
    outside: Outside
    log: Log
    connections: Connections

    def proxy(self, client: socket.socket, credentials: str = "") -> None:
        """Answer one request; with `credentials` only whoever has them."""
        try:
            text, rest = read_head(client)
            head = head_of(text)
            if credentials and not is_from(head, credentials):
                return _answer(client, 407, "these are not the credentials of this guest")
            target, tunnels = target_of(head), head.method == "CONNECT"
            body = Endless() if tunnels else body_of(head)
            connection, number = self._reached(target.host, target.port)
        except Malformed as problem:
            return _answer(client, 400, str(problem))
        except HostRefused as refused:
            return _answer(client, 403, f"{target.host}:{target.port} is refused: {refused}")
        except Unreachable as problem:
            return _answer(client, 502, f"{target.host}:{target.port} cannot be reached: {problem}")
        with self.connections.held(connection):
            client.settimeout(None)
            if tunnels:
                client.sendall(_ESTABLISHED)
            else:
                connection.sendall(written_anew(head, target))
            return self._carry(number, client, connection, body, rest)

    def forward(self, client: socket.socket, port: int) -> None:
        """Connect a port of the guest's own loopback with the same one of this machine."""
        try:
            connection, number = self._reached("127.0.0.1", port)
        except (HostRefused, Unreachable):
            return
        with self.connections.held(connection):
            self._carry(number, client, connection, Endless())

    def _reached(self, host: str, port: int) -> tuple[socket.socket, int]:
        """A connection to a host, and the number under which it was noted."""
        try:
            connection = self.outside.reach(host, port, self.allowed)
        except HostRefused as refused:
            self.log.note(HostRequest(host=host, port=port, allowed=False, why=str(refused)))
            raise
        except Unreachable as problem:
            self.log.note(HostRequest(host=host, port=port, allowed=True, why=str(problem)))
            raise
        return connection, self.log.note(HostRequest(host=host, port=port, allowed=True))

    def _carry(
        self, number: int, client: socket.socket, connection: socket.socket, body: Body, rest: bytes = b""
    ) -> None:
        out, back = Lane(client, connection, body), Lane(connection, client)
        try:
            out.hold(rest)
            carry((out, back))
        except Malformed as problem:
            self.log.failed(number, str(problem))
        finally:
            self.log.carried(number, out.carried, back.carried)


def _answer(client: socket.socket, status: int, text: str) -> None:
    content = f"milepost: {text}\n".encode()
    asks = 'Proxy-Authenticate: Basic realm="milepost"\r\n' if status == 407 else ""
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(content)}\r\n{asks}Connection: close\r\n\r\n"
    )
    client.sendall(head.encode() + content)
    _let_finish(client)


def _let_finish(client: socket.socket) -> None:
    """Hear the client out for a moment: one that is cut off while it speaks does not hear the answer."""
    client.shutdown(socket.SHUT_WR)
    client.settimeout(_PATIENCE_S)
    heard = 1
    while 0 < heard < _MOST_HEARD:
        piece = client.recv(65_536)
        heard = heard + len(piece) if piece else 0
