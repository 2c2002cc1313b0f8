"""The head of a request to a proxy: read within bounds, taken strictly, written anew for the host it is for."""

from __future__ import annotations

import base64
import re
import secrets
import socket
import time
from dataclasses import dataclass

from milepost.sandbox.egress.allow_list import spelled

LONGEST_HEAD = 65_536
HEAD_S = 30.0

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*")
_AUTHORITY = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^:@\[\]/?#]+)(?::(?P<port>[0-9]{1,5}))?")
_OF_ONE_HOP = frozenset(
    {
        *("connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te", "trailer"),
        *("upgrade", "host"),
    }
)


class Malformed(Exception):
    """A request that is not taken; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A request's first line and headers, names in lower case."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]

    def all(self, name: str) -> tuple[str, ...]:
        return tuple(value for each, value in self.headers if each == name)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestTarget:
    """The host that a request is for, and what of the address is for the host itself."""

    host: str
    port: int
    path: str = ""


def read_head(client: socket.socket) -> tuple[bytes, bytes]:
    """The bytes of a head without the empty line that ends it, and what was read after it."""
    deadline = time.monotonic() + HEAD_S
    text = b""
    while b"\r\n\r\n" not in text:
        if len(text) > LONGEST_HEAD:
            raise Malformed("the request's head is too long")
        client.settimeout(max(0.001, deadline - time.monotonic()))
        piece = client.recv(8192)
        if not piece:
            raise ConnectionError("the client left before its request was complete")
        text += piece
    head, _, rest = text.partition(b"\r\n\r\n")
    return head, rest


def head_of(text: bytes) -> Head:
    """A head as it is written; Malformed where two readers could understand it differently."""
    first, *lines = text.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or words[2] not in ("HTTP/1.1", "HTTP/1.0") or not _TOKEN.fullmatch(words[0]):
        raise Malformed("the first line is not an HTTP/1.1 request")
    if not words[1].isascii() or not words[1].isprintable():
        raise Malformed("the address contains invalid characters")
    return Head(method=words[0], target=words[1], headers=tuple(map(_header, lines)))


def target_of(head: Head) -> RequestTarget:
    """Whom a request is for, by CONNECT or by an absolute address."""
    if head.method == "CONNECT":
        authority, path = head.target, ""
        usual = None
    else:
        scheme, _, rest = head.target.partition("://")
        if scheme.lower() != "http":
            raise Malformed("only http:// addresses and CONNECT are accepted")
        end = re.search(r"[/?#]", rest)
        authority, path = (rest[: end.start()], rest[end.start() :]) if end else (rest, "/")
        path = path.partition("#")[0] if path.startswith("/") else "/" + path.partition("#")[0]
        usual = 80
    found = _AUTHORITY.fullmatch(authority)
    host = spelled(found["host"]) if found is not None else ""
    port = int(found["port"]) if found is not None and found["port"] else usual
    if not host or port is None or not 0 < port < 65536:
        raise Malformed("the address names no host and port")
    return RequestTarget(host=host, port=port, path=path)


def written_anew(head: Head, target: RequestTarget) -> bytes:
    """The head for the host itself: of what was meant for the proxy nothing is left, and `Host` is who is connected."""
    named = {name.strip().lower() for value in head.all("connection") for name in value.split(",")}
    # What says how long the body is stays, even if the client calls it a matter of this hop.
    dropped = _OF_ONE_HOP | (named - {"content-length", "transfer-encoding"})
    kept = [(name, value) for name, value in head.headers if name not in dropped]
    host = f"[{target.host}]" if ":" in target.host else target.host
    authority = host if target.port == 80 else f"{host}:{target.port}"
    lines = [f"{head.method} {target.path} HTTP/1.1", f"Host: {authority}"]
    lines += [f"{name}: {value}" for name, value in kept]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1")


def is_from(head: Head, credentials: str) -> bool:
    """Whether a request carries these credentials, `user:password`."""
    wanted = base64.b64encode(credentials.encode())
    given = [value.partition(" ") for value in head.all("proxy-authorization")]
    return any(
        scheme.lower() == "basic" and secrets.compare_digest(word.strip().encode(), wanted) for scheme, _, word in given
    )


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
        raise Malformed("a header cannot be read")
    return name.lower(), value.strip(" \t")
