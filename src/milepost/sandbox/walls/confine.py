"""The kernel's own walls around one process: Landlock, capabilities, limits, descriptors.

All of it is meant for a freshly forked, single-threaded process that is about to become somebody else's program.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import resource
import signal
import struct
from collections.abc import Iterable, Iterator, Mapping

from . import kernel

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38

_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_ADD_RULE = 445
_LANDLOCK_RESTRICT_SELF = 446
_LANDLOCK_VERSION_FLAG = 1
_RULE_PATH_BENEATH = 1
_RULE = struct.Struct("=Qi")
_BIND_TCP, _CONNECT_TCP = 1, 2
_SCOPE_ABSTRACT_SOCKETS = 1
_SCOPE_SIGNALS = 2
_FIRST_WITH_SCOPES = 6

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
_MAKE_SOCK, _MAKE_FIFO, _MAKE_SYM = 1 << 9, 1 << 10, 1 << 12
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15

READ = _EXECUTE | _READ_FILE | _READ_DIR
WRITE = (
    READ | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG
    | _MAKE_SOCK | _MAKE_FIFO | _MAKE_SYM | _REFER | _TRUNCATE | _IOCTL_DEV
)  # fmt: skip
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV

# CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID, NET_BIND_SERVICE: what builds and installs of root use.
_LEFT_TO_ROOT = sum(1 << capability for capability in (0, 1, 3, 4, 5, 6, 7, 10))
_CAPABILITY_VERSION_3 = 0x20080522
_CAPABILITY_SETS = struct.Struct("=IIIIII")  # effective, permitted, inheritable; the lower 32 of each, then the rest
_CAPGET, _CAPSET = {"x86_64": (125, 126), "aarch64": (90, 91)}.get(os.uname().machine, (-1, -1))

_RLIMITS = {
    "core": resource.RLIMIT_CORE,
    "cpu": resource.RLIMIT_CPU,
    "data": resource.RLIMIT_DATA,
    "fsize": resource.RLIMIT_FSIZE,
    "nofile": resource.RLIMIT_NOFILE,
    "nproc": resource.RLIMIT_NPROC,
}

_CLOSE_RANGE = 436
_LAST_DESCRIPTOR = 0x7FFFFFFF

_libc = ctypes.CDLL(None, use_errno=True)


def landlock_abi() -> int:
    """The version of Landlock this kernel speaks, or a negative errno."""
    return _syscall(_LANDLOCK_CREATE_RULESET, None, 0, _LANDLOCK_VERSION_FLAG)


def handled_rights(abi: int) -> int:
    """The file rights that a version of Landlock knows; a ruleset that names others is refused."""
    bits = {1: 13, 2: 14, 3: 15, 4: 15}.get(abi, 16)
    return (1 << bits) - 1


def restrict_files(
    readable: Iterable[str], writable: Iterable[str], *, protected: Iterable[str] = (), tcp: bool = True
) -> tuple[str, ...]:
    """Leave this process only these paths, for good, and without `tcp` no port; returns the names of what now holds.

    A path that does not exist, or that this user may not even look up, is passed over: it grants nothing. What is
    `protected` in a writable folder can only be read; no name can be added or removed beside it then.
    """
    abi = landlock_abi()
    if abi < 1:
        raise OSError(-abi, f"Landlock is not available: {os.strerror(-abi)}")
    rights = handled_rights(abi)
    ports = _BIND_TCP | _CONNECT_TCP if abi >= 4 and not tcp else 0
    scope = _SCOPE_ABSTRACT_SOCKETS | _SCOPE_SIGNALS if abi >= _FIRST_WITH_SCOPES else 0
    with _ruleset(rights, ports, scope) as ruleset:
        changed = tuple(writable)
        kept = tuple(map(os.path.realpath, protected))
        for path in changed:
            _allow_around(ruleset, path, kept, rights)
        for path in _without_covered(readable, changed):
            _allow(ruleset, path, READ & rights)
    return (f"landlock-{abi}", *(["no-tcp"] if ports else []), *(["scoped-signals"] if scope else []))


def scope_abstract_names() -> bool:
    """Leave this process of all UNIX sockets without a path those of what it starts from here on, and its own.

    It can gain no privileges any more, which is Landlock's condition. False where this kernel's Landlock cannot.
    """
    if landlock_abi() < _FIRST_WITH_SCOPES:
        return False
    forbid_new_privileges()
    # Every layer must allow to move a file from one folder to another, also one that is about no files.
    with _ruleset(_REFER, 0, _SCOPE_ABSTRACT_SOCKETS) as ruleset:
        _allow(ruleset, "/", _REFER)
    return True


def forbid_new_privileges() -> None:
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def adopt_orphans() -> None:
    """Make every orphaned descendant this process's child."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def hide_memory() -> None:
    """Keep other processes of this user from tracing this one or reading its memory."""
    _prctl(_PR_SET_DUMPABLE, 0)


def show_memory() -> None:
    """Let whoever keeps this process look into it again."""
    _prctl(_PR_SET_DUMPABLE, 1)


def die_with_parent() -> None:
    """Die when the parent does from now on."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def die_with(parent: int) -> None:
    """Die when `parent` does, also when it already did."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def limit_capabilities() -> bool:
    """Keep of root's capabilities only what builds need, and of another user's none; False when there were none.

    Where no new privileges can be had, no program that is started from here on has more.
    """
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    found = bytearray(_CAPABILITY_SETS.size)
    kernel.call(_CAPGET, header, found, what="capget")
    permitted = _CAPABILITY_SETS.unpack(found)[1::3]
    allowed = _LEFT_TO_ROOT if os.geteuid() == 0 else 0
    left = permitted[0] & allowed
    kernel.call(_CAPSET, header, _CAPABILITY_SETS.pack(left, left, 0, 0, 0, 0), what="capset")
    return any(permitted)


def limit_resources(limits: Mapping[str, int]) -> None:
    """Set soft and hard limits by short name, never above what is already allowed."""
    for name, wanted in limits.items():
        which = _RLIMITS[name]
        hard = resource.getrlimit(which)[1]
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(which, (value, value))


def place_descriptors(descriptors: Iterable[int], last: int) -> int:
    """Number `descriptors` from 0, put `last` behind them to vanish at exec, close all others; the new `last`."""
    clear_of_targets = 64
    lifted = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, clear_of_targets) for each in (*descriptors, last)]
    for target, source in enumerate(lifted):
        os.dup2(source, target, inheritable=target < len(lifted) - 1)
    close_from(len(lifted))
    return len(lifted) - 1


def close_from(first: int) -> None:
    """Close every descriptor from `first` on, in one call where the kernel has it and not one by one."""
    if _syscall(_CLOSE_RANGE, first, _LAST_DESCRIPTOR, 0) < 0:
        os.closerange(first, os.sysconf("SC_OPEN_MAX"))


@contextlib.contextmanager
def _ruleset(rights: int, ports: int, scope: int) -> Iterator[int]:
    """A ruleset of Landlock's to add rules to; this process is behind it from the end of the block on."""
    attributes = struct.pack("=QQQ", rights, ports, scope)
    ruleset = _checked(_syscall(_LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0), "landlock_create_ruleset")
    try:
        yield ruleset
        _checked(_syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")
    finally:
        os.close(ruleset)


def _without_covered(paths: Iterable[str], granted: tuple[str, ...]) -> Iterator[str]:
    """Those that need a rule of their own because they are not within one before."""
    covering = tuple(f"{path.rstrip('/')}/" for path in granted)
    for path in paths:
        if not f"{path}/".startswith(covering):
            yield path
            covering = (*covering, f"{path.rstrip('/')}/")


def _allow_around(ruleset: int, path: str, kept: tuple[str, ...], rights: int) -> None:
    """Allow to change a folder, or where something in it is to be kept, all else in it that is no link."""
    inside = os.path.realpath(path).rstrip("/") + "/"
    if not any(f"{each}/".startswith(inside) for each in kept):
        _allow(ruleset, path, WRITE & rights)
        return
    _allow(ruleset, path, READ & rights)
    if inside.rstrip("/") not in kept:
        with os.scandir(path) as entries:
            names = [entry.path for entry in entries if not entry.is_symlink()]
        for name in names:
            _allow_around(ruleset, name, kept, rights)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        anchor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        done = _add_rule(ruleset, rights, anchor)
        if done == -errno.EINVAL:  # it is no folder
            done = _add_rule(ruleset, rights & _FILE_RIGHTS, anchor)
        _checked(done, f"landlock_add_rule {path}")
    finally:
        os.close(anchor)


def _add_rule(ruleset: int, rights: int, anchor: int) -> int:
    return _syscall(_LANDLOCK_ADD_RULE, ruleset, _RULE_PATH_BENEATH, _RULE.pack(rights, anchor), 0)


def _prctl(option: int, value: int) -> None:
    done = _libc.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0))
    _checked(done if done >= 0 else -ctypes.get_errno(), f"prctl {option}")


def _syscall(number: int, *arguments: object) -> int:
    done = int(_libc.syscall(ctypes.c_long(number), *arguments))
    return done if done >= 0 else -ctypes.get_errno()


def _checked(done: int, what: str) -> int:
    if done < 0:
        raise OSError(-done, f"{what}: {os.strerror(-done)}")
    return done
