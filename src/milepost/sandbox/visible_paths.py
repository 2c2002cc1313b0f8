"""What a guest can reach in the file system: the system, its toolchains, and the folders it was given."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from milepost.core.commands import Command

PROGRAMS = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix")))
SYSTEM = (
    *PROGRAMS,
    *map(Path, ("/etc", "/opt", "/proc", "/sys/devices/system/cpu", "/sys/fs/cgroup", "/sys/kernel/mm")),
)
NAME_SERVERS = (Path("/run/systemd/resolve"),)  # where a link in /etc often leads
DEVICES = tuple(
    Path("/dev", name) for name in (["null", "zero", "full", "random", "urandom", "shm"])
)  # fmt: skip

# What a process learns of the machine and of itself, and nothing of others.
OWN_PROC = tuple(
    Path("/proc", name)
    for name in (
        *("self", "cpuinfo", "meminfo", "stat", "vmstat", "version", "filesystems", "cgroups", "uptime", "loadavg"),
        *("sys/kernel", "sys/vm", "sys/fs", "sys/net/core"),
    )
)

_PROC, _ETC, _OPT = Path("/proc"), Path("/etc"), Path("/opt")
# What root opens around what is root's alone, and how deep it looks: all of /usr would take seconds.
_LEVELS_LOOKED_AT = {_ETC: 100, _OPT: 2}
_BIN = ("bin", "sbin")
_PARTS = ("bin", "sbin", "lib", "lib64", "libexec", "include", "share", "pyvenv.cfg")
_PARTS_OF_HOME = {
    ".": (),
    ".local": ("bin", "lib"),  # share holds keyrings and browser profiles
    ".cargo": ("bin", "registry", "git"),
}
_PARTS_OF_PYENV = ("bin", "libexec", "plugins", "pyenv.d", "shims", "version", "versions")
_INTERPRETERS = ("python3", "python", "node")
_INTERPRETER_NAMES = ("python", "pypy", "graalpy", "node")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The paths a guest may read and run, the folders it may also change, and the devices it may use."""

    readable: tuple[Path, ...]
    folders: tuple[Path, ...]
    devices: tuple[Path, ...] = ()

    @property
    def writable(self) -> tuple[Path, ...]:
        return (*self.folders, *self.devices)

    @property
    def mounted(self) -> tuple[Path, ...]:
        """What a private root must hold for it: a folder that is opened around something is one mount all the same."""
        return tuple(dict.fromkeys(_ETC if _within(path, (_ETC,)) else path for path in self.readable))

    def without_other_processes(self) -> Reach:
        """The same, with no more of /proc than what is about the guest's first process and the machine."""
        own = (each for path in self.readable for each in (OWN_PROC if path == _PROC else (path,)))
        return replace(self, readable=tuple(own))


@dataclass(frozen=True, slots=True)
class Missing:
    """Why there is no program to start."""

    reason: str


def find_program(name: str, path: str, cwd: Path) -> Path | Missing:
    """The file that `name` means, looked up as the guest's own shell would."""
    if "/" in name:
        return _executable(cwd / name, name)
    blocked = None
    for entry in path.split(os.pathsep):
        found = _executable(cwd / entry / name, name)
        if isinstance(found, Path):
            return found
        if _mode(cwd / entry / name):
            blocked = found
    return blocked or Missing(f"{name!r} is not on PATH: {path}")


def led_out_of(command: Command) -> Path | None:
    """The folder that guests write to and a link leads the working directory out of, to where the command may not."""
    given = (command.scratch, *command.writable)
    real = tuple(map(_real, given))
    if _within(_real(command.cwd), real):
        return None
    return next((folder for folder, at in zip(given, real, strict=True) if _within(command.cwd, (folder, at))), None)


def reach(command: Command, *, program: Path, path: str, home: Path, extra: Iterable[Path] = ()) -> Reach:
    """What `command` may reach. System folders that hold the home are opened around it, and /etc around its secrets.

    A working directory in a folder that may be written to is granted with that, and never by where its name leads.
    """
    given = (command.scratch, *command.writable)
    writable = given if _within(command.cwd, given) else (command.cwd, *given)
    folders = (*path.split(os.pathsep), str(program.parent))
    changed = tuple(map(_changed_at, (*folders, *map(str, _LEVELS_LOOKED_AT))))
    granted = _system_and_toolchains(path, home, program, (), changed)
    guests_own = _beginnings((*writable, *map(_real, writable)))
    if any(f"{place}/".startswith(guests_own) for place in (program, *folders, *granted)):
        granted = _system_and_toolchains(path, home, program, writable, changed)
    names = NAME_SERVERS if command.network.mode == "open" else ()
    return Reach(readable=(*granted, *names, *extra, *command.readable), folders=writable, devices=DEVICES)


@lru_cache(maxsize=256)
def _system_and_toolchains(
    path: str,
    home: Path,
    program: Path,
    writable: tuple[Path, ...],
    _changed: tuple[int, ...],
) -> tuple[Path, ...]:
    """Remembered, because it costs more than starting a program; a program added to a folder of PATH makes it anew.

    `writable` differs with every command, so it is given only where it matters: when something found lies in it.
    """
    system = tuple(part for folder in SYSTEM for part in _around(folder, _real(home)))
    if os.geteuid() == 0:  # others cannot read what is root's alone
        system = tuple(part for folder in system for part in _opened(folder))
    return (*system, *toolchains(path, home=home, program=program, covered=system, distrusted=writable))


def toolchains(
    path: str, *, home: Path, program: Path, covered: tuple[Path, ...] = SYSTEM, distrusted: tuple[Path, ...] = ()
) -> tuple[Path, ...]:
    """The installations that PATH and the program belong to, as far as they are not `covered` already.

    In a `distrusted` folder, one that guests write to, any name may be a link to anywhere: nothing there is granted by
    name, and only the interpreters it borrows are followed.
    """
    found: dict[Path, None] = {}
    distrusted = (*distrusted, *map(_real, distrusted))
    todo: list[Path] = []
    for entry in (Path(text) for text in path.split(os.pathsep) if text.startswith("/")):
        todo.extend((entry,) if _within(entry, distrusted) else dict.fromkeys((entry, _real(entry))))
    real = _real(program)
    if _within(program, distrusted):
        todo.extend((program.parent, *_interpreter_folder(program)))
    else:
        todo.extend(folder for folder in (program.parent, real.parent) if folder.name in _BIN)
        found[real] = None
    for folder in todo:
        if not _within(folder, distrusted):
            found.update(dict.fromkeys(_installation(folder, home)))
        todo.extend(base for base in _bases(folder) if base not in todo)
    real_home = _real(home)
    wider = [
        each
        for each in found
        if _mode(each) and not real_home.is_relative_to(_real(each)) and not _within(each, covered)
    ]
    return tuple(each for each in wider if not _within(each.parent, wider))


def _executable(candidate: Path, name: str) -> Path | Missing:
    mode = _mode(candidate)
    if not mode:
        return Missing(f"{name!r} does not exist")
    if not stat.S_ISREG(mode):
        return Missing(f"{name!r} is not a file: {candidate}")
    if not os.access(candidate, os.X_OK):
        return Missing(f"{name!r} is not executable: {candidate}")
    return candidate


def _installation(folder: Path, home: Path) -> Iterator[Path]:
    yield folder
    prefix = folder.parent
    if _is_folder(prefix / "libexec") and _is_folder(prefix / "versions"):
        yield from (prefix / part for part in _PARTS_OF_PYENV)
    elif folder.name in _BIN:
        yield from (prefix / part for part in _PARTS_OF_HOME.get(_part_of_home(prefix, home), _PARTS))


def _part_of_home(prefix: Path, home: Path) -> str:
    """Which part of the home a folder is, by whatever name; empty for none that is opened by less than its parts."""
    real = _real(prefix)
    return next((part for part in _PARTS_OF_HOME if prefix == home / part or real == _real(home / part)), "")


def _bases(folder: Path) -> Iterator[Path]:
    """The bin folders of the interpreters that a bin folder borrows, by a link or as a virtual environment.

    A link or a line of text counts only when it leads to an interpreter in a folder of programs: it must not be a way
    to name any file of the user's as readable.
    """
    for name in _INTERPRETERS:
        yield from _interpreter_folder(folder / name)
    try:
        settings = (folder.parent / "pyvenv.cfg").read_text(errors="replace")
    except OSError:
        return
    for line in settings.splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "home" and value.strip().startswith("/"):
            yield from _interpreter_folder(Path(value.strip()) / "python3")


def _interpreter_folder(link: Path) -> Iterator[Path]:
    real = _real(link)
    if real.parent.name in _BIN and real.name.startswith(_INTERPRETER_NAMES) and os.access(real, os.X_OK):
        yield real.parent


def _around(folder: Path, home: Path) -> Iterator[Path]:
    """`folder`, or as much of its inside as leaves out the home: Landlock can grant, not take back."""
    if home == Path("/"):
        yield folder
    elif folder.is_relative_to(home):
        return
    elif not home.is_relative_to(folder):
        yield folder
    else:
        for inside in sorted(folder.iterdir()):
            yield from _around(inside, home)


def _opened(folder: Path) -> Iterable[Path]:
    """`folder`, or as much of it as everybody may read where that is looked at."""
    if folder not in _LEVELS_LOOKED_AT or not _is_folder(folder):
        return (folder,)
    return map(Path, for_all(str(folder), levels=_LEVELS_LOOKED_AT[folder]))


def for_all(folder: str, *, levels: int) -> list[str]:
    """As much of a folder as everybody may read: itself if that is all of it, else its parts.

    A link is no part: what it leads to is granted where that is, or not at all. What lies deeper than so many levels is
    taken for what it lies in.
    """
    if levels == 0:
        return [folder]
    parts: list[str] = []
    is_all = True
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                continue
            readable = [entry.path] if entry.stat().st_mode & stat.S_IROTH else []
            if readable and entry.is_dir():
                readable = for_all(entry.path, levels=levels - 1)
            is_all = is_all and readable == [entry.path]
            parts.extend(readable)
    return [folder] if is_all else sorted(parts)


def _within(path: Path, folders: Iterable[Path]) -> bool:
    return f"{path}/".startswith(_beginnings(folders))


def _beginnings(folders: Iterable[Path]) -> tuple[str, ...]:
    """What the paths within some folders begin with, as text because pathlib takes its time."""
    return tuple(f"{str(folder).rstrip('/')}/" for folder in folders)


def _is_folder(path: Path) -> bool:
    return stat.S_ISDIR(_mode(path))


def _mode(path: Path) -> int:
    """The mode of what is there, 0 when nothing is or this user may not see it."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return 0


def _changed_at(folder: str) -> int:
    try:
        return Path(folder).stat().st_mtime_ns
    except (OSError, ValueError):
        return 0


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))  # Path.resolve raises on a loop of links
