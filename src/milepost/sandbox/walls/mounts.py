"""The kernel's calls for trees of files: taken from where they are, sealed, and put somewhere else.

A tree is a descriptor of mounts that no path leads to yet. Nothing here follows a link: what is taken and where it is
put are open descriptors, so that nobody can swap a folder for a link in between.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Mapping

from . import kernel

READ_ONLY, NO_SETUID, NO_DEVICES, NO_PROGRAMS = 1, 2, 4, 8

_OPEN_TREE, _MOVE_MOUNT, _FSOPEN, _FSCONFIG, _FSMOUNT = 428, 429, 430, 431, 432
_OPENAT2, _MOUNT_SETATTR = 437, 442  # these numbers are the same on every machine

_AT_EMPTY_PATH, _AT_RECURSIVE = 0x1000, 0x8000
_CLONE_TREE = 1
_FROM_DESCRIPTOR, _TO_DESCRIPTOR = 0x04, 0x40
_SET_FLAG, _SET_STRING, _CREATE = 0, 1, 6
_NO_SYMLINKS, _IN_ROOT = 0x04, 0x10
_DETACH = 2
_STAGE = "/tmp"  # noqa: S108 - a folder that every machine has, to mount on in a namespace of our own
_PRIVATE = 1 << 18

_libc = ctypes.CDLL(None, use_errno=True)


def find(root: int, path: str) -> int:
    """An open descriptor of `path` below `root`, for no other use than as a place; fails where a link is on the way."""
    how = struct.pack("=QQQ", os.O_PATH | os.O_CLOEXEC, 0, _NO_SYMLINKS | _IN_ROOT)
    return kernel.call(_OPENAT2, root, os.fsencode(path), how, len(how), what=path)


def take(place: int) -> int:
    """A copy of the tree at `place`, with all that is mounted in it."""
    flags = _CLONE_TREE | os.O_CLOEXEC | _AT_EMPTY_PATH | _AT_RECURSIVE
    return kernel.call(_OPEN_TREE, place, b"", flags, what="open_tree")


def fresh(kind: str, options: Mapping[str, str | None], attributes: int) -> int:
    """A new file system of this kind; an option without a value is a flag."""
    context = kernel.call(_FSOPEN, kind.encode(), 1, what=f"a new {kind}")
    try:
        for name, value in options.items():
            command, text = (_SET_FLAG, None) if value is None else (_SET_STRING, value.encode())
            kernel.call(_FSCONFIG, context, command, name.encode(), text, 0, what=f"{kind} with {name}={value}")
        kernel.call(_FSCONFIG, context, _CREATE, None, None, 0, what=f"a new {kind}")
        return kernel.call(_FSMOUNT, context, 1, attributes, what=f"a mount of a new {kind}")
    finally:
        os.close(context)


def seal(tree: int, attributes: int) -> None:
    """Give all of a tree these attributes, for good: inside a user namespace of less they cannot be taken back."""
    _set(tree, b"", _AT_EMPTY_PATH | _AT_RECURSIVE, attributes)


def seal_top(tree: int, attributes: int) -> None:
    """Give the attributes to a tree's own mount alone, and not to what was put in it."""
    _set(tree, b"", _AT_EMPTY_PATH, attributes)


def put(tree: int, place: int) -> None:
    """Let the path of `place` lead to the tree from now on; closes both."""
    try:
        kernel.call(_MOVE_MOUNT, tree, b"", place, b"", _FROM_DESCRIPTOR | _TO_DESCRIPTOR, what="move_mount")
    finally:
        os.close(tree)
        os.close(place)


def keep_to_ourselves() -> None:
    """Let no mount that is made from now on show in other mount namespaces, nor theirs here."""
    _set(-100, b"/", _AT_RECURSIVE, 0, _PRIVATE)


def stage(tree: int) -> int:
    """Put the tree on a path, for calls that know no detached ones; its top. It hides what was there before."""
    put(tree, os.open(_STAGE, os.O_PATH | os.O_CLOEXEC))
    return os.open(_STAGE, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)


def enter(root: int) -> None:
    """Make a staged tree the root of this mount namespace; to the one before, and all on it, no path leads any more."""
    os.fchdir(root)
    _check(_libc.pivot_root(b".", b"."), "pivot_root")
    _check(_libc.umount2(b".", _DETACH), "umount of the former root")
    os.chdir("/")


def _set(place: int, path: bytes, flags: int, attributes: int, propagation: int = 0) -> None:
    wanted = struct.pack("=QQQQ", attributes, 0, propagation, 0)
    kernel.call(_MOUNT_SETATTR, place, path, flags, wanted, len(wanted), what="mount_setattr")


def _check(returned: int, what: str) -> None:
    if returned < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
