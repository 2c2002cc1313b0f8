"""Where the page and its previews listen, and by what address a browser finds them."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Final
from urllib.parse import urlsplit

import milepost
from milepost.core.errors import MachineFailed
from milepost.serving.listen import LOOPBACK, bound

PAGE_PORT: Final = 8780
PREVIEW_PORT: Final = 8880
_NEXT: Final = 20  # ports that are tried before any that is free is taken
_V6: Final = "::1"


def page_socket(host: str, port: int | None) -> socket.socket:
    """Where the page listens: on the port that was asked for, else on the usual one or the next that is free."""
    if host.lower() == "localhost":
        raise milepost.Misuse("the name localhost is that of previews", f"give the page an address: --host {LOOPBACK}")
    return _first_free(host, PAGE_PORT) if port is None else bound(host, port)


@contextmanager
def preview_sockets(port: int | None) -> Iterator[list[socket.socket]]:
    """Where previews listen: at all that the name localhost stands for, so that nobody else answers to it."""
    sockets = _first_pair() if port is None else _pair(port)
    with ExitStack() as held:
        yield [held.enter_context(each) for each in sockets]


def port_of(listening: socket.socket) -> int:
    """The port of a socket that listens."""
    port: int = listening.getsockname()[1]
    return port


def _first_free(host: str, usual: int) -> socket.socket:
    for port in range(usual, usual + _NEXT):
        with suppress(MachineFailed):
            return bound(host, port)
    return bound(host, 0)


def _first_pair() -> list[socket.socket]:
    for port in range(PREVIEW_PORT, PREVIEW_PORT + _NEXT):
        with suppress(MachineFailed):
            return _pair(port)
    return _pair(0)


def _pair(port: int) -> list[socket.socket]:
    with ExitStack() as held:
        sockets = [held.enter_context(bound(LOOPBACK, port))]
        if _has_v6():
            sockets.append(held.enter_context(bound(_V6, port_of(sockets[0]))))
        held.pop_all()  # whoever asked for them closes them
    return sockets


def _has_v6() -> bool:
    with suppress(MachineFailed), bound(_V6, 0):
        return True
    return False


def outer_origin(url: str) -> str:
    """The origin of an address by which a tunnel is reached from outside, as browsers send it."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    plain = parts.path in ("", "/") and not (parts.query or parts.fragment or parts.username or parts.password)
    if parts.scheme not in ("http", "https") or not parts.hostname or not plain or not url.isprintable():
        raise milepost.Misuse(
            f"{url!r} is not the address of a page", "give scheme and host alone: https://host.example"
        )
    usual = {"http": 80, "https": 443}[parts.scheme]
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}" + ("" if port in (None, usual) else f":{port}")
