"""What to do about a wall that cannot be raised."""

from __future__ import annotations

import errno
from collections.abc import Mapping

# What can forbid an ordinary user namespaces: the value that does, and the one that does not.
_OF_NAMESPACES = {
    "kernel.apparmor_restrict_unprivileged_userns": ("1", "0"),
    "kernel.unprivileged_userns_clone": ("0", "1"),
    "user.max_user_namespaces": ("0", "15000"),
}
_TRACING = "kernel.yama.ptrace_scope"
SWITCHES = (*_OF_NAMESPACES, _TRACING)

_REFUSED = (errno.EPERM, errno.EACCES, errno.ENOSPC, errno.EUSERS)


def remedy(stage: str, number: int | None, switches: Mapping[str, str]) -> str:
    """What to do when a self-test failed at `stage` with this error, on a kernel with its switches set so."""
    match stage:
        case "platform":
            return "run on Linux, or use a container as the sandbox"
        case "landlock" if number == errno.EOPNOTSUPP:
            return "Landlock is compiled in but switched off: add landlock to the kernel's lsm= boot parameter"
        case "landlock":
            return "run on Linux 5.13 or later with landlock in the kernel's lsm list; it is not available on macOS"
        case "machine":
            return "run on an x86_64 or aarch64 machine"
        case "porter" if switches.get(_TRACING) in ("2", "3"):
            return _remedy_for_tracing(switches[_TRACING])
        case "seccomp" | "porter" | "capabilities":
            return "run on a kernel with CONFIG_SECCOMP_FILTER; in a container, use one whose seccomp profile allows it"
        case "namespaces" | "room" if number in _REFUSED:
            return _remedy_for_namespaces(stage, switches)
        case "namespaces" | "room" if number == errno.ENODEV:
            return "the kernel lacks a file system: modprobe overlay"
        case _:
            return "run on Linux 6.6 or later"


def _remedy_for_tracing(scope: str) -> str:
    """The highest scope stays until the machine starts anew."""
    forbidden = f"{_TRACING} is {scope}, so the sandbox may not inspect system calls"
    if scope == "2":
        return f"{forbidden}: sysctl -w {_TRACING}=1"
    return f"{forbidden}: put {_TRACING}=1 into /etc/sysctl.d and restart the machine"


def _remedy_for_namespaces(stage: str, switches: Mapping[str, str]) -> str:
    for name, (forbids, allows) in _OF_NAMESPACES.items():
        if switches.get(name) == forbids:
            return f"{name} is {forbids}, so users may not create namespaces: sysctl -w {name}={allows}"
    if stage == "room":
        return "parts of /proc are masked, as in most containers: docker run --security-opt systempaths=unconfined …"
    return "the container blocks namespaces: docker run --security-opt seccomp=unconfined …, or run outside of it"
