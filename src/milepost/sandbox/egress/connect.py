"""The world outside: names become addresses, and addresses that may be reached become connections."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from milepost.sandbox.egress.addresses import is_of_this_machine, leads_inside
from milepost.sandbox.egress.allow_list import AllowList

CONNECT_S = 10.0


class HostRefused(Exception):
    """A host may not be reached; the message says why."""


class Unreachable(Exception):
    """A host may be reached and could not be; the message says why."""


def addresses_of(host: str, port: int) -> tuple[str, ...]:
    """The addresses of a name, each once; OSError where it has none."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(row[4][0]) for row in found))


def connection_to(address: str, port: int) -> socket.socket:
    """A connection to an address, which is looked up nowhere any more."""
    return socket.create_connection((address, port), timeout=CONNECT_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """How the world is reached: `resolve` gives a name's addresses, `connect` a connection to one of them."""

    resolve: Callable[[str, int], Sequence[str]] = addresses_of
    connect: Callable[[str, int], socket.socket] = connection_to

    def reach(self, host: str, port: int, allowed: AllowList) -> socket.socket:
        """A connection to a host that the list covers.

        A name is looked up once, and what is judged is the address that is connected to: a name that leads into the
        user's own network is refused unless that very address is allowed, too.
        """
        if not allowed.covers(host, port):
            raise HostRefused("it is not one of the allowed hosts")
        try:
            addresses = self.resolve(host, port)
        except (OSError, UnicodeError) as problem:
            raise Unreachable(f"its name cannot be looked up: {problem}") from problem
        outer = [each for each in addresses if allowed.covers(each, port) or not _is_inner(each)]
        if not outer:
            raise HostRefused(f"it resolves to {', '.join(addresses) or 'nothing'}, inside the network of this machine")
        return self._first(outer, port)

    def _first(self, addresses: Sequence[str], port: int) -> socket.socket:
        problem: OSError | None = None
        for address in addresses:
            try:
                return self.connect(address, port)
            except OSError as each:
                problem = each
        raise Unreachable(f"no connection: {problem}") from problem


def _is_inner(address: str) -> bool:
    return leads_inside(address) or is_of_this_machine(address)
