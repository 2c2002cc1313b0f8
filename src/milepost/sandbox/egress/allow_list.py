"""The allow-list of a guest: which hosts, at which ports."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from milepost.core.errors import SettingInvalid

USUAL_PORTS = frozenset({80, 443})
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_ENTRY = re.compile(r"(?P<below>\*\.)?(?P<host>\[[^\]]*\]|[^:\[\]]+)(?::(?P<port>[0-9]{1,5}))?")
_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowListEntry:
    """One host of an allow-list, or with `below` every name that ends in it but not itself; `port` None: 80 and 443."""

    host: str
    below: bool = False
    port: int | None = None

    def covers(self, host: str, port: int) -> bool:
        """Whether this is a host, in the spelling of `spelled`, that may be reached at this port."""
        named = host.endswith(f".{self.host}") if self.below else host == self.host
        return named and (port in USUAL_PORTS if self.port is None else port == self.port)


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowList:
    """All that a guest may reach. An empty one allows nothing."""

    entries: tuple[AllowListEntry, ...] = ()

    def covers(self, host: str, port: int) -> bool:
        return any(entry.covers(host, port) for entry in self.entries)

    @property
    def own_ports(self) -> tuple[int, ...]:
        """The ports of this machine's loopback that the guest may reach as if they were of its own."""
        ports = (entry.port for entry in self.entries if entry.host == _LOOPBACK and entry.port is not None)
        return tuple(dict.fromkeys(ports))


def allow_list(hosts: tuple[str, ...]) -> AllowList:
    """The allow-list that these texts mean; SettingInvalid names the first that means nothing."""
    return AllowList(entries=tuple(entry_of(text) for text in hosts))


def entry_of(text: str) -> AllowListEntry:
    """`example.org`, `*.example.org`, `example.org:8443`, `10.0.0.5:80`, `[::1]:80` or `127.0.0.1:5432`."""
    found = _ENTRY.fullmatch(text.strip())
    host = spelled(found["host"]) if found is not None else ""
    port = int(found["port"]) if found is not None and found["port"] else None
    if host and not port and "." not in host and ":" not in host and host != "localhost":
        raise SettingInvalid(
            f"{text!r} is neither a network nor a host with a domain",
            f"the networks are none, loopback and open; name a host without a domain with its port: {text}:443",
        )
    if found is None or not host or port == 0 or (port or 0) > 65535 or (found["below"] and _is_address(host)):
        raise SettingInvalid(
            f"{text!r} is not a host that can be allowed",
            "write example.org, *.example.org, example.org:8443, or a port of this machine as 127.0.0.1:5432",
        )
    return AllowListEntry(host=host, below=bool(found["below"]), port=port)


def spelled(host: str) -> str:
    """A host in the one spelling that is compared; empty when it is neither a name nor an address."""
    plain = host.lower().removesuffix(".")
    if plain == "localhost":
        return _LOOPBACK
    inner = plain[1:-1] if plain.startswith("[") and plain.endswith("]") else plain
    try:
        return str(ipaddress.ip_address(inner))
    except ValueError:
        pass
    try:
        ascii_only = plain.encode("idna").decode("ascii") if not plain.isascii() else plain
    except UnicodeError:
        return ""
    return ascii_only if len(ascii_only) <= 253 and _NAME.fullmatch(ascii_only) else ""


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
