"""Mounts of its own for a guest that shares the host's root: private shared memory, and paths that nobody can change.

Where this machine lets us mount nothing, the guest has no shared memory, and Landlock keeps the paths as they are.
"""

from __future__ import annotations

import os
from typing import Any

from . import mounts, namespaces

SHARED_MEMORY = "/dev/shm"  # noqa: S108 - the guest's own
_INODES_PER_MB = 256
_HARMLESS = mounts.NO_SETUID | mounts.NO_DEVICES
_PROBE_MB = 1


def can_be_had() -> bool:
    """Whether this machine lets us mount, found out in a throw-away process: a failed try leaves it half way in."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            _enter({"tmp_mb": _PROBE_MB, "protected": []})
            code = 0
        finally:
            os._exit(code)
    _, how = os.waitpid(pid, 0)
    return how == 0


def enter(wanted: dict[str, Any], *, may_mount: bool) -> list[str]:
    """Give the guest that `wanted` describes mounts of its own, or take from `wanted` what only they could hold."""
    if may_mount:
        _enter(wanted)
        hold(wanted)
        return ["private-shm"]
    for paths in (wanted["readable"], wanted["writable"], wanted["rules"]["writable"]):
        paths[:] = [path for path in paths if path != SHARED_MEMORY]
    return ["no-shm"]


def hold(wanted: dict[str, Any]) -> None:
    """Leave it to mounts to keep what is protected, so that names can be added and removed beside it."""
    wanted["protected"] = wanted["rules"]["protected"] = []


def read_only(path: str) -> int:
    """A tree of what is at `path` now, which nothing can be changed in."""
    root = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        place = mounts.find(root, path)
    finally:
        os.close(root)
    try:
        tree = mounts.take(place)
    finally:
        os.close(place)
    mounts.seal(tree, _HARMLESS | mounts.READ_ONLY)
    return tree


def _enter(wanted: dict[str, Any]) -> None:
    namespaces.leave_mounts()
    size_mb = wanted["tmp_mb"]
    bounds = {"size": f"{size_mb}m", "nr_inodes": str(size_mb * _INODES_PER_MB), "mode": "1777"}
    trees = [(path, read_only(path)) for path in wanted["protected"]]
    trees.append((SHARED_MEMORY, mounts.fresh("tmpfs", bounds, _HARMLESS | mounts.NO_PROGRAMS)))
    root = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for path, tree in trees:
            mounts.put(tree, mounts.find(root, path))
    finally:
        os.close(root)
