"""Who listens: the TCP sockets of this machine that take connections at an address, by the number of their inode."""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import Iterator
from functools import cache

from . import socket_diagnosis as porter_diagnosis
from .socket_diagnosis import Address

_LISTENS = b"0A"


def at_port(address: Address, port: int) -> set[int]:
    """The TCP sockets that would take a connection to this address."""
    if _kernel_can_be_asked():
        taker = porter_diagnosis.taker(address, port)
        return set() if taker is None else {taker}
    keys = {f"{name}:{port:04X}".encode() for name in _names(address)}
    return {int(fields[9]) for fields in _tcp_listeners() if fields[1] in keys}


@cache
def _kernel_can_be_asked() -> bool:
    return porter_diagnosis.is_trusted()


def _names(address: Address) -> Iterator[str]:
    """What the kernel calls an address, and the addresses that take all connections to it."""
    if isinstance(address, ipaddress.IPv4Address):
        yield from (_hexadecimal(address.packed), "0" * 8)
        address = ipaddress.IPv6Address(b"\0" * 10 + b"\xff\xff" + address.packed)
    yield from (_hexadecimal(address.packed), "0" * 32)


def _hexadecimal(packed: bytes) -> str:
    words = (packed[start : start + 4] for start in range(0, len(packed), 4))
    return "".join(f"{int.from_bytes(word, 'little'):08X}" for word in words)


def _tcp_listeners() -> Iterator[list[bytes]]:
    """The kernel's list begins with the sockets that listen."""
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(FileNotFoundError), open(f"/proc/net/{name}", "rb") as lines:  # noqa: PTH123
            next(lines, None)
            for line in lines:
                fields = line.split()
                if fields[3] != _LISTENS:
                    break
                yield fields
