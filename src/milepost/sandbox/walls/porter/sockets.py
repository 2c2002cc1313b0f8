"""Whom a guest may talk to: its own servers on the loopback, a few ports it was given, its own sockets in files.

Connecting, binding and listening are done here, on a copy of the guest's socket and to an address that was copied
before it was judged; the kernel would look both up anew, and find what another thread has put there meanwhile. What the
guest listens on is remembered by inode, because a port may be another's by the time it is used again.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from .. import kernel
from . import listeners as porter_listeners
from .files import Places
from .refusal import SyscallRefused
from .requests import AT_CWD, NUMBERS, SyscallRequest
from .socket_diagnosis import Address

_LONGEST_ADDRESS = 128
_INET_FAMILIES = (socket.AF_INET, socket.AF_INET6)
_MOST_REMEMBERED = 16384
_LOOPBACK: dict[int, Address] = {4: ipaddress.IPv4Address("127.0.0.1"), 6: ipaddress.IPv6Address("::1")}
_LOOPBACK_FOR_BOTH = ipaddress.IPv6Address("::ffff:127.0.0.1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Connecting:
    """A connection that may be made, which can take as long as the other side likes."""

    question: SyscallRequest
    descriptor: int
    address: bytes

    def finish(self) -> int:
        try:
            with self.question.identity():
                return kernel.call(NUMBERS["connect"], self.descriptor, self.address, len(self.address))
        except PermissionError as problem:
            if not _is_abstract(self.address):
                raise
            raise SyscallRefused(errno.EPERM, _abstract_in_words(self.address)) from problem


class Sockets:
    """Connects, binds and listens for a guest as far as its network goes.

    `abstract_names` says that the kernel keeps this process from those of strangers; where it does not, all are
    refused.
    """

    def __init__(self, *, network: str, ports: tuple[int, ...], abstract_names: bool, places: Places) -> None:
        self._open = network == "open"
        self._ports = frozenset(ports)
        self._abstract_names = abstract_names
        self._places = places
        self._listening: dict[int, None] = {}

    @contextlib.contextmanager
    def connecting(self, question: SyscallRequest) -> Iterator[Connecting]:
        """The connection that a call asks for, if it may be made; what it needs is open until the end of the block."""
        address = _address(question)
        with contextlib.ExitStack() as opened:
            family = _family(address)
            if _is_abstract(address):
                self._require_scope(address)
            elif family == socket.AF_UNIX and len(address) > 2:
                address = self._file_of(question, address, opened)
            elif family in _INET_FAMILIES:
                self._require_reachable(*_host_and_port(address))
            elif family != socket.AF_UNSPEC and not self._open:
                raise SyscallRefused(errno.EAFNOSUPPORT, f"connect by address family {family}")
            descriptor = opened.enter_context(question.copy(question.number(0)))
            yield Connecting(question=question, descriptor=descriptor, address=address)

    def bind(self, question: SyscallRequest) -> bool:
        """Bind a socket to the loopback alone; False where Landlock judges the address and the kernel may go on."""
        address = _address(question)
        if _family(address) == socket.AF_UNIX:
            return False
        if _family(address) not in _INET_FAMILIES:
            raise OSError(errno.EAFNOSUPPORT, "only TCP and UNIX sockets are bound")
        host, port = _host_and_port(address)
        with question.copy(question.number(0)) as descriptor:
            if host.is_unspecified:
                address = _with_host(address, _loopback_like(descriptor, host))
            elif not _plain(host).is_loopback:
                raise SyscallRefused(errno.EADDRNOTAVAIL, f"bind {_in_words(host, port)}")
            kernel.call(NUMBERS["bind"], descriptor, address, len(address))
        return True

    def listen(self, question: SyscallRequest) -> int:
        """Listen, and remember that this socket is the guest's."""
        with question.copy(question.number(0)) as descriptor:
            wanted = socket.socket(fileno=os.dup(descriptor))
            with wanted:
                if wanted.family in _INET_FAMILIES and not self._open:
                    self._require_on_loopback(wanted)
                wanted.listen(question.number(1))
                self._remember(os.fstat(descriptor).st_ino)
        return 0

    def _require_reachable(self, host: Address, port: int) -> None:
        """Refuse what is neither on a port that was given nor a server of the guest's own."""
        if self._open:
            return
        plain = _LOOPBACK[host.version] if host.is_unspecified else _plain(host)
        if not plain.is_loopback:
            raise SyscallRefused(errno.ENETUNREACH, f"connect {_in_words(host, port)}")
        if port in self._ports and plain in _LOOPBACK.values():
            return
        found = porter_listeners.at_port(plain, port)
        if not found:
            raise OSError(errno.ECONNREFUSED, "nobody listens there")
        if not found <= self._listening.keys():
            raise SyscallRefused(errno.ECONNREFUSED, f"connect {_in_words(host, port)}")

    def _require_scope(self, address: bytes) -> None:
        if not self._abstract_names:
            raise SyscallRefused(errno.EPERM, _abstract_in_words(address))

    def _file_of(self, question: SyscallRequest, address: bytes, opened: contextlib.ExitStack) -> bytes:
        """The address of the very socket that a path leads to now, if it lies where files may be changed."""
        path = address[2:].partition(b"\0")[0]
        place = opened.enter_context(question.place(AT_CWD, path))
        self._places.require(place, "connect", errno.EACCES)
        return struct.pack("=H", socket.AF_UNIX) + f"/proc/self/fd/{place}\0".encode()

    def _require_on_loopback(self, wanted: socket.socket) -> None:
        """Bind what is not bound yet, and refuse what shares its port with a stranger."""
        host, port = ipaddress.ip_address(wanted.getsockname()[0]), wanted.getsockname()[1]
        if port == 0:
            wanted.bind((str(_loopback_like(wanted.fileno(), host)), 0))
        elif not _plain(host).is_loopback:
            raise SyscallRefused(errno.EACCES, f"listen {_in_words(host, port)}")
        elif not porter_listeners.at_port(_plain(host), port) <= self._listening.keys():
            raise SyscallRefused(errno.EADDRINUSE, f"listen {_in_words(host, port)}")

    def _remember(self, inode: int) -> None:
        """The oldest is forgotten for it, when there are too many."""
        if len(self._listening) >= _MOST_REMEMBERED:
            del self._listening[next(iter(self._listening))]
        self._listening[inode] = None


def _address(question: SyscallRequest) -> bytes:
    size = question.number(2)
    if not 0 <= size <= _LONGEST_ADDRESS:
        raise OSError(errno.EINVAL, "no address is so long")
    address = question.memory(question.arguments[1], size) if size else b""
    if len(address) < size:
        raise OSError(errno.EFAULT, "the pointer leads nowhere")
    if size < 2:
        raise OSError(errno.EINVAL, "there is no address")
    return address


def _family(address: bytes) -> int:
    return int.from_bytes(address[:2], "little")


def _is_abstract(address: bytes) -> bool:
    return _family(address) == socket.AF_UNIX and address[2:3] == b"\0"


def _abstract_in_words(address: bytes) -> str:
    return f"connect @{address[3:].decode(errors='backslashreplace')}"


def _host_and_port(address: bytes) -> tuple[Address, int]:
    is_ipv4 = _family(address) == socket.AF_INET
    if len(address) < (16 if is_ipv4 else 24):
        raise OSError(errno.EINVAL, "the address is too short")
    port = int.from_bytes(address[2:4], "big")
    if is_ipv4:
        return ipaddress.IPv4Address(address[4:8]), port
    return ipaddress.IPv6Address(address[8:24]), port


def _with_host(address: bytes, host: Address) -> bytes:
    start = 4 if host.version == 4 else 8
    return address[:start] + host.packed + address[start + len(host.packed) :]


def _loopback_like(descriptor: int, host: Address) -> Address:
    """The loopback to bind in place of every address; of both kinds, the older one is what clients try."""
    if host.version == 6:
        with socket.socket(fileno=os.dup(descriptor)) as wanted:
            if not wanted.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY):
                return _LOOPBACK_FOR_BOTH
    return _LOOPBACK[host.version]


def _plain(host: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for, or itself."""
    return (host.ipv4_mapped or host) if isinstance(host, ipaddress.IPv6Address) else host


def _in_words(host: Address, port: int) -> str:
    return f"[{host}]:{port}" if host.version == 6 else f"{host}:{port}"
