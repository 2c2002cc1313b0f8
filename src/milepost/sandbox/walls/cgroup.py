"""A control group for one guest: the kernel itself bounds the memory, processes and CPU of its whole tree.

A group is made only inside one that was delegated to us: the root of what we see (a container's own), one that systemd
marks as delegated, or an old-style (v1) one that an administrator gave to this user. To make groups elsewhere would
meddle with whoever manages that place.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CONTROLLERS = ("memory", "pids")
FIX = "start in its own control group: systemd-run --user --scope -p Delegate=yes milepost …"


def _pid_namespace() -> int:
    try:
        return os.stat("/proc/self/ns/pid").st_ino  # noqa: PTH116 - pathlib costs start-up time
    except OSError:  # no /proc, and so no control groups either
        return 0


# Process numbers are those of a pid namespace, of which several may share a place.
_PREFIX = f"milepost-{_pid_namespace()}-"
_OUR_OWN_LEAF = "milepost-host"
_MEBIBYTE = 1 << 20
_CHUNK = 1 << 16
_ROUNDS = 50
_BETWEEN_ROUNDS_S = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class CgroupFolder:
    """A folder of the kernel's in which groups may be made for a controller; `version` is 1 or 2."""

    folder: str
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What can be had here: for each controller the place to make a group in, or why there is none."""

    places: Mapping[str, CgroupFolder]
    missing: Mapping[str, str]


def probe() -> Offer:
    """What this process can have; makes the places ready, and removes the groups that dead processes left there."""
    places: dict[str, CgroupFolder] = {}
    missing: dict[str, str] = {}
    for controller in CONTROLLERS:
        try:
            places[controller] = _place(controller)
        except OSError as problem:
            missing[controller] = problem.strerror or str(problem)
    for place in frozenset(places.values()):
        _remove_leftovers(place)
    return Offer(places=places, missing=missing)


def name_of(maker: int) -> str:
    """What the group of a process that makes one is called."""
    return f"{_PREFIX}{maker}"


def remove(maker: int, offer: Offer) -> None:
    """Remove the group that a process made, and end what runs in it."""
    for place in frozenset(offer.places.values()):
        _remove(name_of(maker), place)


class Group:
    """One group, made by this process; usable from other namespaces, but to `remove` it is for somebody outside them.

    Of `bounds` it takes `memory_mb` and `processes`; `names` are the names of what holds.
    """

    def __init__(self, bounds: Mapping[str, Any], offer: Offer) -> None:
        wanted = {"memory": bounds.get("memory_mb"), "pids": bounds.get("processes")}
        held = {name: bound for name, bound in wanted.items() if bound is not None and name in offer.places}
        self.names = [f"cgroup-{name}" for name in held]
        self._folders: dict[CgroupFolder, int] = {}
        self._doors: list[int] = []
        self._memory = offer.places["memory"] if "memory" in held else None
        try:
            for controller, bound in held.items():
                place = offer.places[controller]
                if place not in self._folders:
                    self._make(place)
                _bound(controller, bound, place.version, self._folders[place])
        except OSError:
            self.close()
            raise

    def enter(self, pid: int = 0) -> None:
        """Move a process into the group, by default the one that calls; what it starts from then on is in it, too."""
        for door in self._doors:
            os.write(door, str(pid).encode())

    def oom_killed(self) -> bool:
        """Whether the kernel has ended a process of it for its memory."""
        file = "memory.oom_control" if self._memory and self._memory.version == 1 else "memory.events"
        return self._memory is not None and _field(self._read(self._memory, file), "oom_kill") > 0

    def peak_bytes(self) -> int:
        """The most memory it ever used; 0 where the kernel does not tell."""
        if self._memory is None:
            return 0
        file = "memory.max_usage_in_bytes" if self._memory.version == 1 else "memory.peak"
        return int(self._read(self._memory, file) or 0)

    def kill(self) -> None:
        """End every process in it."""
        for folder in self._folders.values():
            _kill(folder)

    def close(self) -> None:
        """Let go of it."""
        for descriptor in (*self._doors, *self._folders.values()):
            os.close(descriptor)
        self._doors, self._folders = [], {}

    def _make(self, place: CgroupFolder) -> None:
        folder = f"{place.folder}/{name_of(os.getpid())}"
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder)  # noqa: PTH102 - pathlib costs start-up time
        self._folders[place] = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        self._doors.append(os.open("cgroup.procs", os.O_WRONLY, dir_fd=self._folders[place]))

    def _read(self, place: CgroupFolder, file: str) -> str:
        with contextlib.suppress(OSError):
            return _read(file, self._folders[place])
        return ""


def _bound(controller: str, bound: int, version: int, folder: int) -> None:
    match controller, version:
        case "memory", 2:
            _write("memory.max", str(bound * _MEBIBYTE), folder)
            _write("memory.oom.group", "1", folder)
            with contextlib.suppress(FileNotFoundError):  # a kernel without swap
                _write("memory.swap.max", "0", folder)
        case "memory", _:
            _write("memory.limit_in_bytes", str(bound * _MEBIBYTE), folder)
            with contextlib.suppress(FileNotFoundError):
                _write("memory.memsw.limit_in_bytes", str(bound * _MEBIBYTE), folder)
        case "pids", _:
            _write("pids.max", str(bound), folder)


def _place(controller: str) -> CgroupFolder:
    """Where a group for a controller can be made; OSError with the reason when nowhere."""
    own = _own_groups()
    version = 1 if controller in own else 2
    hierarchy = controller if version == 1 else ""
    mount = _mounts().get(hierarchy)
    if mount is None or hierarchy not in own:
        raise OSError(errno.ENOENT, "control groups are not mounted here")
    path = own[hierarchy].removesuffix(f"/{_OUR_OWN_LEAF}") or "/"
    root, point = mount
    folder = f"{point}/{path.removeprefix(root.rstrip('/')).strip('/')}".rstrip("/")
    if not _is_delegated(folder, path, version):
        raise OSError(errno.EPERM, f"the control group {path} is not delegated to this user")
    if not os.access(folder, os.W_OK) or not os.access(f"{folder}/cgroup.procs", os.W_OK):
        raise OSError(errno.EACCES, f"the control group {path} may not be changed by this user")
    if version == 2:
        _offer_to_children(controller, folder)
    return CgroupFolder(folder=folder, version=version)


def _is_delegated(folder: str, path: str, version: int) -> bool:
    if path == "/":
        return True
    if version == 1:
        return os.geteuid() != 0 and os.stat(folder).st_uid == os.geteuid()  # noqa: PTH116
    for mark in ("user.delegate", "trusted.delegate"):
        with contextlib.suppress(OSError):
            if os.getxattr(folder, mark) == b"1":
                return True
    return False


def _offer_to_children(controller: str, folder: str) -> None:
    """Switch a controller on for the groups inside; what runs in the group itself has to move into a leaf for it."""
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if controller not in _read("cgroup.controllers", place).split():
            raise OSError(errno.ENOENT, f"the controller {controller} is not delegated to this user")
        if controller in _read("cgroup.subtree_control", place).split():
            return
        try:
            _write("cgroup.subtree_control", f"+{controller}", place)
        except OSError as problem:
            if problem.errno != errno.EBUSY:
                raise
            _move_into_leaf(place)
            _write("cgroup.subtree_control", f"+{controller}", place)
    finally:
        os.close(place)


def _move_into_leaf(place: int) -> None:
    with contextlib.suppress(FileExistsError):
        os.mkdir(_OUR_OWN_LEAF, dir_fd=place)
    for pid in _read("cgroup.procs", place).split():
        with contextlib.suppress(ProcessLookupError):
            _write(f"{_OUR_OWN_LEAF}/cgroup.procs", pid, place)


def _own_groups() -> dict[str, str]:
    """The path of this process's group for each v1 controller, and for "" that of v2."""
    found = {}
    for line in _read("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        found.update(dict.fromkeys(controllers.split(","), path))
    return found


def _mounts() -> dict[str, tuple[str, str]]:
    """For each v1 controller, and for "" that of v2, which group is mounted and where."""
    found: dict[str, tuple[str, str]] = {}
    for line in _read("/proc/self/mountinfo").splitlines():
        where, _, what = line.partition(" - ")
        _, _, _, root, point, *_ = where.split()
        kind, _, options = what.split(" ", 2)
        names = {"cgroup": options.split(","), "cgroup2": [""]}.get(kind, [])
        found.update(dict.fromkeys(names, (root, point)))
    return found


def _remove_leftovers(place: CgroupFolder) -> None:
    for name in os.listdir(place.folder):  # noqa: PTH208 - names only
        maker = name.removeprefix(_PREFIX)
        if name.startswith(_PREFIX) and maker.isdigit() and not _is_alive(int(maker)):
            _remove(name, place)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _kill(folder: int) -> None:
    try:
        _write("cgroup.kill", "1", folder)
    except OSError:
        for _ in range(_ROUNDS):
            pids = _read("cgroup.procs", folder).split()
            for pid in pids:
                with contextlib.suppress(OSError):
                    os.kill(int(pid), signal.SIGKILL)
            if not pids:
                return
            time.sleep(_BETWEEN_ROUNDS_S)


def _remove(name: str, place: CgroupFolder) -> None:
    """End what runs in a group and remove it; the kernel lets go of one a moment after its last process has ended."""
    group = f"{place.folder}/{name}"
    with contextlib.suppress(FileNotFoundError):
        folder = os.open(group, os.O_RDONLY | os.O_DIRECTORY)
        try:
            _kill(folder)
        finally:
            os.close(folder)
    for _ in range(_ROUNDS):
        try:
            os.rmdir(group)  # noqa: PTH106
            return
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(_BETWEEN_ROUNDS_S)


def _field(text: str, name: str) -> int:
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith(f"{name} ")), 0)


def _read(path: str, folder: int | None = None) -> str:
    file = os.open(path, os.O_RDONLY, dir_fd=folder)
    try:
        text = piece = os.read(file, _CHUNK)
        while piece:
            piece = os.read(file, _CHUNK)
            text += piece
        return text.decode()
    finally:
        os.close(file)


def _write(path: str, value: str, folder: int) -> None:
    file = os.open(path, os.O_WRONLY, dir_fd=folder)
    try:
        os.write(file, value.encode())
    finally:
        os.close(file)
