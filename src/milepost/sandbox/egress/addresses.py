"""Addresses that lead into the user's own network instead of out of it."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterator

from milepost.sandbox.egress.allow_list import Address

_ANY_PORT = 9
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# A machine in a cloud is told its credentials there; the others of this kind are link-local.
_METADATA = frozenset({ipaddress.ip_address("168.63.129.16")})


def leads_inside(text: str) -> bool:
    """Whether an address is of this machine, a private network, or where clouds tell a machine its credentials."""
    return any(not each.is_global or each.is_multicast or each in _METADATA for each in _meant(text))


def is_of_this_machine(address: str) -> bool:
    """Whether an address is our own, which a public one can be: packets to it would leave from it. None is sent."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((address, _ANY_PORT))
        except OSError:
            return False
        return bool(probe.getsockname()[0] == address)


def _meant(text: str) -> Iterator[Address]:
    """The address, and the older one that it stands for, if any."""
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv4Address):
        yield address
        return
    within = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
    if within is None and address in _NAT64:
        within = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if within is not None:
        yield within
    if address.ipv4_mapped is None:
        yield address
