"""A root for a room: what is shared with the host at its own paths, and /proc, /dev and /tmp of its own."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from typing import Any

from . import mounts, overlay, own_mounts
from .shares import Share, shares

# Writable in every room, and gone with it.
_IN_MEMORY = ("/tmp", "/dev/shm")  # noqa: S108
OWN_DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty"))

_HARMLESS = mounts.NO_SETUID | mounts.NO_DEVICES
_DEVICE = mounts.NO_SETUID | mounts.READ_ONLY  # it can be written to, but its node not be changed
_LINKS_OF_DEV = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
}
# They tell of the whole machine; all of /proc is read-only besides.
_MASKED = ("kcore", "keys", "kmsg", "sysrq-trigger", "timer_list", "vmallocinfo")
_INODES_PER_MB = 256
_AS_PLACE = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def enter_private_root(plan: dict[str, Any]) -> None:
    """Build the root that `plan` describes and make it this mount namespace's, read-only; the host's is out of reach.

    For the first process of a process namespace, with the host's /proc still in place.
    """
    layer = plan["overlay"]
    wanted, links = shares(plan["readable"], plan["writable"], layer and layer["folder"])
    places = [(share, place) for share in wanted if (place := _place_of(share)) is not None]
    devices = [(path, _tree_at(path, _DEVICE)) for path in OWN_DEVICES]
    kept = [(path, own_mounts.read_only(path)) for path in plan["protected"]]
    trees = [(share.path, _taken(share, place, layer)) for share, place in places]
    memory = _own_memory(plan["tmp_mb"])
    root = mounts.stage(mounts.fresh("tmpfs", {"size": "2m", "nr_inodes": "8192", "mode": "755"}, _HARMLESS))
    try:
        _furnish(root, memory)
        for path, text in links.items():
            above, _, name = path.rpartition("/")
            with _folder(root, above) as folder, contextlib.suppress(FileExistsError):
                os.symlink(text, name, dir_fd=folder)
        for path, tree in (*devices, *trees):
            mounts.put(tree, _made(root, path, like=tree))
        for path, tree in kept:
            mounts.put(tree, mounts.find(root, path))
        _mask_proc(root)
        if plan["network"] != "open":
            _write_over(root, "/etc/hosts", f"127.0.0.1 localhost {plan['hostname']}\n::1 localhost\n")
            _write_over(root, "/etc/resolv.conf", "# there is no name server here\n")
        for path in ("/dev", "/"):
            _seal_own(root, path)
        mounts.enter(root)
    finally:
        os.close(root)


def _place_of(share: Share) -> int | None:
    try:
        return _place(share.path)
    except PermissionError:
        return None  # this user may not even look


def _taken(share: Share, place: int, layer: dict[str, Any]) -> int:
    """The tree of a share, with what may be done in it."""
    try:
        if share.way == "overlay":
            return overlay.lay_over(place, size_mb=layer["size_mb"], inodes=layer["inodes"])
        tree = mounts.take(place)
    finally:
        os.close(place)
    mounts.seal(tree, _HARMLESS | mounts.READ_ONLY if share.way == "read" else _HARMLESS)
    return tree


def _own_memory(size_mb: int) -> dict[str, int]:
    """The trees of what lies in memory, by path: folders of one file system, which bounds them together.

    That file system is on the stage, as an overlay's is.
    """
    bounds = {"size": f"{size_mb}m", "nr_inodes": str(size_mb * _INODES_PER_MB), "mode": "755"}
    top = mounts.stage(mounts.fresh("tmpfs", bounds, _HARMLESS))
    trees = {}
    try:
        for path in _IN_MEMORY:
            name = path.rpartition("/")[2]
            os.mkdir(name, dir_fd=top)
            os.chmod(name, 0o1777, dir_fd=top)  # noqa: S103 - as /tmp is everywhere
            trees[path] = _tree_at(name, _HARMLESS, top)
    finally:
        os.close(top)
    return trees


def _furnish(root: int, memory: dict[str, int]) -> None:
    """What every room has: a terminal, memory and temporary files of its own, and only its own processes."""
    terminals = {"ptmxmode": "666", "mode": "600"}
    _put_fresh(root, "/dev", "tmpfs", {"size": "64k", "mode": "755"})
    for path, tree in memory.items():
        mounts.put(tree, _made(root, path, like=tree))
    _put_fresh(root, "/dev/pts", "devpts", terminals, mounts.NO_SETUID | mounts.NO_PROGRAMS)
    _put_fresh(root, "/proc", "proc", {}, _HARMLESS | mounts.NO_PROGRAMS | mounts.READ_ONLY)
    with _folder(root, "/dev") as dev:
        for name, text in _LINKS_OF_DEV.items():
            os.symlink(text, name, dir_fd=dev)


def _mask_proc(root: int) -> None:
    for name in _MASKED:
        with contextlib.suppress(FileNotFoundError):
            place = mounts.find(root, f"/proc/{name}")
            mounts.put(_tree_at("/dev/null", _DEVICE, root), place)


def _write_over(root: int, path: str, text: str) -> None:
    """Let `path`, if the room has it, say something else than on the host."""
    name = ".written"
    try:
        place = mounts.find(root, os.path.realpath(path))
    except OSError:
        return
    file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644, dir_fd=root)
    os.write(file, text.encode())
    os.close(file)
    mounts.put(_tree_at(f"/{name}", _HARMLESS | mounts.READ_ONLY, root), place)
    os.unlink(name, dir_fd=root)


def _seal_own(root: int, path: str) -> None:
    place = mounts.find(root, path)
    mounts.seal_top(place, _HARMLESS | mounts.READ_ONLY)
    os.close(place)


def _put_fresh(root: int, path: str, kind: str, options: dict[str, str], attributes: int = _HARMLESS) -> None:
    with _folder(root, path) as folder:
        mounts.put(mounts.fresh(kind, dict(options), attributes), os.dup(folder))


def _tree_at(path: str, attributes: int, root: int | None = None) -> int:
    place = _place(path, root)
    try:
        tree = mounts.take(place)
    finally:
        os.close(place)
    mounts.seal(tree, attributes)
    return tree


def _place(path: str, root: int | None = None) -> int:
    if root is not None:
        return mounts.find(root, path)
    host = os.open("/", _AS_PLACE)
    try:
        return mounts.find(host, path)
    finally:
        os.close(host)


def _made(root: int, path: str, *, like: int) -> int:
    """The place in the new root for a tree, made if it is not there: a folder for a folder, a file for a file."""
    if stat.S_ISDIR(os.fstat(like).st_mode):
        with _folder(root, path) as folder:
            return os.dup(folder)
    above, _, name = path.rpartition("/")
    with _folder(root, above) as folder:
        with contextlib.suppress(FileExistsError):
            os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644, dir_fd=folder))
        return os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)


@contextlib.contextmanager
def _folder(root: int, path: str) -> Iterator[int]:
    """A folder of the new root, made if it is not there. No link is followed, whoever may have put one there."""
    here = os.dup(root)
    try:
        for name in filter(None, path.split("/")):
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, 0o755, dir_fd=here)
            above, here = here, os.open(name, _AS_PLACE, dir_fd=here)
            os.close(above)
        yield here
    finally:
        os.close(here)
