"""What is said to podman or docker, as argv."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from milepost.core.commands import Bounds
from milepost.core.errors import SettingInvalid
from milepost.sandbox.launch import Launch

Program = Literal["podman", "docker"]
PROGRAMS: tuple[Program, ...] = get_args(Program)
LABEL = "milepost"
_MEBIBYTE = 1 << 20
_TMP_MB = 1024
# What the program itself would warn of appears among what the guest says.
_QUIETLY = ("--log-level", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """Which program runs containers, and the image they are made from. `keeps_id`: its containers are not root's."""

    program: Program
    image: str
    keeps_id: bool = False

    def __str__(self) -> str:
        return f"container ({self.program} {self.image})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Berth:
    """Where one container is known on this machine: its name, the owner of its files, its variables in a file."""

    name: str
    user: int
    group: int
    variables: Path


def container_named(program: str, image: str) -> Container | None:
    """The container that settings or flags ask for, None when they ask for none."""
    if not program and not image:
        return None
    for known in PROGRAMS:
        if program == known and image:
            return Container(program=known, image=image)
    if program in PROGRAMS:
        raise SettingInvalid(f"containers of {program} need an image", "name one that has python3, such as python:3.12")
    names = " or ".join(PROGRAMS)
    if not program:
        raise SettingInvalid(f"the image {image!r} needs a container program", f"name {names}")
    raise SettingInvalid(f"{program!r} is not a supported container program", f"name {names}")


def run(container: Container, launch: Launch, berth: Berth, mounts: Mapping[Path, Path] | None = None) -> list[str]:
    """Start a container for a launch and stay attached to it. `mounts` are further folders, by where they appear."""
    return [
        *(container.program, *_QUIETLY, "run", "--interactive", "--name", berth.name, *_walls(container)),
        *("--user", f"{berth.user}:{berth.group}"),
        *("--network", "host" if launch.network.mode == "open" else "none"),
        *_bounds(launch.bounds),
        *("--tmpfs", f"/tmp:rw,mode=1777,size={min(_TMP_MB, launch.bounds.disk_mb or _TMP_MB)}m"),  # noqa: S108
        *_mounts(launch, mounts or {}),
        *("--env-file", str(berth.variables), "--workdir", str(launch.cwd), "--entrypoint", launch.argv[0]),
        *(container.image, *launch.argv[1:]),
    ]


def trial(container: Container, name: str) -> list[str]:
    """Start a container that does nothing, with the walls that all have."""
    bounds = Bounds(memory_mb=64, processes=16)
    own = ("--rm", "--name", name, "--network", "none", *_walls(container), *_bounds(bounds), "--entrypoint", "true")
    return [container.program, *_QUIETLY, "run", *own, container.image]


def state(container: Container, name: str) -> list[str]:
    """Ask how a container stands, in JSON."""
    return [container.program, "inspect", "--type", "container", "--format", "{{json .State}}", name]


def remove(container: Container, *names: str) -> list[str]:
    return [container.program, "rm", "--force", "--volumes", *names]


def names(container: Container) -> list[str]:
    """Ask for the names of all containers that any Milepost made."""
    return [container.program, "ps", "--all", "--filter", f"label={LABEL}", "--format", "{{.Names}}"]


def about(container: Container) -> list[str]:
    """Ask what the program can do here, in JSON."""
    return [container.program, "info", "--format", "{{json .}}"]


def image(container: Container) -> list[str]:
    """Ask whether the image is here."""
    return [container.program, "image", "inspect", container.image]


def variables(env: Mapping[str, str]) -> str:
    """A file of variables as both programs read it; ValueError for one that it cannot hold."""
    for name, value in env.items():
        if "\n" in value or "\n" in name:
            raise ValueError(f"the variable {name!r} has more than one line, which a container does not support")
    return "".join(f"{name}={value}\n" for name, value in env.items())


def _walls(container: Container) -> Iterator[str]:
    yield from ("--label", LABEL, "--pull", "never", "--log-driver", "none", "--stop-timeout", "0")
    yield from ("--read-only", "--cap-drop", "ALL")
    yield from ("--security-opt", "no-new-privileges", "--security-opt", "label=disable")
    if container.keeps_id:
        yield from ("--userns", "keep-id")


def _bounds(bounds: Bounds) -> Iterator[str]:
    if bounds.memory_mb is not None:
        yield from ("--memory", f"{bounds.memory_mb}m", "--memory-swap", f"{bounds.memory_mb}m")
    if bounds.processes is not None:
        yield from ("--pids-limit", str(bounds.processes))
    limits = {
        "core": 0,
        "cpu": None if bounds.cpu_s is None else math.ceil(bounds.cpu_s),
        "fsize": None if bounds.file_mb is None else bounds.file_mb * _MEBIBYTE,
        "nofile": bounds.open_files,
    }
    for name, limit in limits.items():
        if limit is not None:
            yield from ("--ulimit", f"{name}={limit}:{limit}")


def _mounts(launch: Launch, further: Mapping[Path, Path]) -> Iterator[str]:
    for path in launch.reach.readable:
        yield from _mount(path, path, "readonly")
    for path in dict.fromkeys(launch.reach.folders):
        yield from _mount(path, path)
    for path in launch.protected:
        yield from _mount(path, path, "readonly")
    for inside, path in further.items():
        yield from _mount(path, inside, "readonly")


def _mount(source: Path, destination: Path, *options: str) -> Iterator[str]:
    fields = ("type=bind", f"source={source}", f"destination={destination}", *options)
    yield from ("--mount", ",".join(map(_field, fields)))


def _field(text: str) -> str:
    """As comma-separated values have it."""
    return '"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text
