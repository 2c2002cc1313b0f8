"""A room of its own for a guest: namespaces, and a root that holds nothing but what the guest was given.

`leave_host` and `move_in` are for two processes, one the parent of the other, both single-threaded: the second is the
first process of the room. Paths lead to the same files inside as outside, or to nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import socket
import struct
from typing import Any

from . import mounts
from .private_root import enter_private_root

_NEW_MOUNTS, _NEW_CGROUPS, _NEW_NAME, _NEW_IPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
_NEW_USERS, _NEW_PROCESSES, _NEW_NETWORK = 0x10000000, 0x20000000, 0x40000000

_PR_GET_DUMPABLE, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_CAP_AMBIENT = 3, 4, 24, 47
_AMBIENT_CLEAR_ALL = 4
_CAPABILITIES_VERSION_3 = 0x20080522
_LAST_CAPABILITY = 63
_SIOCSIFFLAGS, _IFF_UP_AND_RUNNING = 0x8914, 0x41

_INNER_ID_OF_ROOT = 1000
_BACKLOG = 128
_FIRST_FREE_PORT = "/proc/sys/net/ipv4/ip_unprivileged_port_start"

_libc = ctypes.CDLL(None, use_errno=True)


def leave_host(plan: dict[str, Any]) -> None:
    """Put this process into namespaces of its own, and its future children into a process namespace of theirs."""
    user, group = os.geteuid(), os.getegid()
    wanted = _NEW_USERS | _NEW_MOUNTS | _NEW_PROCESSES | _NEW_IPC | _NEW_NAME
    _unshare(wanted if plan["network"] == "open" else wanted | _NEW_NETWORK)
    myself = _my_own_proc()
    try:
        # Terminals can be had only where there is a user 0; `move_in` leaves that user behind.
        _map_ids(myself, user=(0, user), group=(0, group))
    finally:
        os.close(myself)


def move_in(plan: dict[str, Any]) -> list[str]:
    """Build the room and go into it; returns the names of the walls that stand now."""
    held = ["user-namespace", "mount-namespace", "pid-namespace", "ipc-namespace", "uts-namespace"]
    mounts.keep_to_ourselves()
    socket.sethostname(plan["hostname"])
    with contextlib.suppress(OSError):  # a kernel may be without them
        _unshare(_NEW_CGROUPS)
        held.append("cgroup-namespace")
    if plan["network"] != "open":
        held.append("net-namespace")
        _start_network(plan["network"])
    myself = _my_own_proc()
    try:
        user, group = _outer_id(myself, "uid_map"), _outer_id(myself, "gid_map")
        enter_private_root(plan)
        _unshare(_NEW_USERS)
        _map_ids(myself, user=(user or _INNER_ID_OF_ROOT, 0), group=(group or _INNER_ID_OF_ROOT, 0))
    finally:
        os.close(myself)
    return [*held, "private-root", "overlay"] if plan["overlay"] else [*held, "private-root"]


def leave_mounts() -> None:
    """Give this process mounts of its own and nothing else: who is not root needs a user namespace for that."""
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        _unshare(_NEW_MOUNTS)
    else:
        _unshare(_NEW_USERS | _NEW_MOUNTS)
        myself = _my_own_proc()
        try:
            _map_ids(myself, user=(user, user), group=(group, group))
        finally:
            os.close(myself)
    mounts.keep_to_ourselves()


def listeners(plan: dict[str, Any]) -> list[socket.socket]:
    """Sockets that listen in the room at the ports of the plan, for somebody outside to answer."""
    opened = []
    for port in plan["listen"] if plan["network"] == "hosts" else ():
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        opened.append(listener)
        listener.bind(("127.0.0.1", port))
        listener.listen(_BACKLOG)
    return opened


def give_up_privileges() -> None:
    """Leave this process, and all that it becomes, without any capability."""
    for capability in range(_LAST_CAPABILITY + 1):
        if _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            if ctypes.get_errno() == errno.EINVAL:
                break  # one past the last capability of this kernel
            _check(-1, "dropping a capability")
    _check(_libc.prctl(_PR_CAP_AMBIENT, _AMBIENT_CLEAR_ALL, 0, 0, 0), "clearing ambient capabilities")
    _check(_libc.capset(struct.pack("=Ii", _CAPABILITIES_VERSION_3, 0), bytes(24)), "dropping all capabilities")


def _my_own_proc() -> int:
    return os.open("/proc/self", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)


def _map_ids(myself: int, *, user: tuple[int, int], group: tuple[int, int]) -> None:
    """Let the first id of each pair, inside, stand for the second, outside."""
    dumpable = _libc.prctl(_PR_GET_DUMPABLE, 0, 0, 0, 0)
    _libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)  # else these files belong to root
    try:
        _write(myself, "setgroups", "deny")
        _write(myself, "gid_map", f"{group[0]} {group[1]} 1")
        _write(myself, "uid_map", f"{user[0]} {user[1]} 1")
    finally:
        _libc.prctl(_PR_SET_DUMPABLE, dumpable, 0, 0, 0)


def _outer_id(myself: int, name: str) -> int:
    file = os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=myself)
    try:
        return int(os.read(file, 1024).split()[1])
    finally:
        os.close(file)


def _start_network(mode: str) -> None:
    if mode == "none":
        return
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _IFF_UP_AND_RUNNING))
    with contextlib.suppress(OSError):
        _write(None, _FIRST_FREE_PORT, "0")


def _write(folder: int | None, name: str, text: str) -> None:
    file = os.open(name, os.O_WRONLY | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.write(file, text.encode())
    except OSError as problem:
        raise OSError(problem.errno, f"{name}: {problem.strerror}") from problem
    finally:
        os.close(file)


def _unshare(namespaces: int) -> None:
    _check(_libc.unshare(ctypes.c_int(namespaces)), "new namespaces")


def _check(returned: int, what: str) -> None:
    if returned < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
