"""Rooms of their own for hosts under attack: namespaces where even a bare attack of root harms nobody.

Run as root as a program: `quarters.py UID argv…`. It leaves the machine's network, mounts, processes and names behind,
gives the loopback the address where clouds keep their secrets, becomes that user, and runs the program there.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import socket
import struct
import sys

_NEW_MOUNTS, _NEW_NAMES, _NEW_IPC, _NEW_PIDS, _NEW_NETWORK = 0x20000, 0x4000000, 0x8000000, 0x20000000, 0x40000000
_MS_REC, _MS_PRIVATE = 0x4000, 0x40000
_SET_ADDRESS, _GET_FLAGS, _SET_FLAGS, _UP = 0x8916, 0x8913, 0x8914, 1


def main() -> None:
    uid, argv = int(sys.argv[1]), sys.argv[2:]
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_MOUNTS | _NEW_NAMES | _NEW_IPC | _NEW_PIDS | _NEW_NETWORK) != 0:
        sys.exit(f"no namespaces: {os.strerror(ctypes.get_errno())}")
    first = os.fork()
    if first:
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]) % 256)
    libc.prctl(1, 9, 0, 0, 0)  # PR_SET_PDEATHSIG, SIGKILL: and with the first process of a namespace go all
    libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None)
    libc.mount(b"proc", b"/proc", b"proc", 0, None)
    _bring_up_loopback()
    host = os.fork()
    if host == 0:
        os.setsid()
        if uid:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
        os.execv(argv[0], argv)
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.wait()
            if pid == host:
                os._exit(os.waitstatus_to_exitcode(status) % 256)


def _bring_up_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        for name in (b"lo", b"lo:1"):
            if name == b"lo:1":
                address = struct.pack("16sH2s4s8x", name, socket.AF_INET, b"", socket.inet_aton("169.254.169.254"))
                fcntl.ioctl(handle, _SET_ADDRESS, address)
            flags = struct.unpack("16sH", fcntl.ioctl(handle, _GET_FLAGS, struct.pack("16sH22x", name, 0))[:18])[1]
            fcntl.ioctl(handle, _SET_FLAGS, struct.pack("16sH22x", name, flags | _UP))


if __name__ == "__main__":
    main()
