"""Where a server listens, and what it may be called there."""

from __future__ import annotations

import ipaddress
import socket
from typing import Final

from milepost.core.errors import MachineFailed, SettingInvalid

LOOPBACK: Final = "127.0.0.1"


def host_names(host: str, port: int) -> tuple[str, ...]:
    """What a request may call this server, the name in its address first."""
    others = ("127.0.0.1", "localhost", "[::1]") if local(host) else ()
    return tuple(dict.fromkeys(f"{each}:{port}" for each in (in_address(host), *others)))


def in_address(host: str) -> str:
    """A host as it stands in an address."""
    return f"[{host}]" if ":" in host else host.lower()


def local(host: str) -> bool:
    """Whether a host is this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there; an address that stands for all of them has no name to hold requests to."""
    if host in ("", "0.0.0.0", "::", "*"):  # noqa: S104
        raise SettingInvalid(f"{host!r} is no address that clients could name", "name the one that they will use")
    if not 0 <= port <= 65_535:
        raise SettingInvalid(f"there is no port {port}", "give one from 1 to 65535, or 0 for any that is free")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=256)
    except OSError as error:
        advice = "give another port, or 0 for any that is free"
        reason = str(error.strerror or error).partition(" (while")[0]
        raise MachineFailed(f"cannot listen on {host} port {port}: {reason}", advice) from None
