"""What answers about a tree depend on beside the tree: the machine, its toolchains and packages, settings, services.

Two runs with the same fingerprint would hear the same answers, so the second need not ask again.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from milepost.engine.project.settings.settings import Settings
from milepost.engine.project.version import installed_version
from milepost.verify.suites.python_project import ProjectPython

VERSION = 1  # of what is asked and how: with another, what was answered before is not an answer
_PROGRAMS = ("python3", "node", "npm", "pnpm", "yarn", "deno", "cargo", "rustc", "go", "java", "mvn", "gradle", "make")
_PACKAGES = (".dist-info", ".egg-info", ".egg-link", ".pth")
# What package managers write of what they installed beside it.
_INSTALLED = ("node_modules/.package-lock.json", "node_modules/.modules.yaml", "node_modules/.yarn-integrity")
_LOOPBACK = ("127.", "localhost:", "[::1]:")
_KNOCK_S = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """`lasts` is false where commands can reach what no fingerprint covers: their answers are for one run."""

    fingerprint: str
    lasts: bool = True


Knock = Callable[[str], bool]


def surroundings_of(
    settings: Settings, repository: Path, interpreter: ProjectPython | None, path: str, copied: Iterable[bytes] = ()
) -> Surroundings:
    """The surroundings of a run on this machine, as they are now."""
    facts = (
        str(VERSION),
        installed_version(),
        *(platform.system(), platform.machine(), *platform.libc_ver()),
        *_python(interpreter),
        *_programs(path),
        *_node(repository),
        *_of_settings(settings),
        *services(settings),
        *(hashlib.sha256(content).hexdigest() for content in copied),
        time.strftime("%G-W%V"),  # what depends on the date is asked for again, sooner or later
    )
    digest = hashlib.sha256("\0".join(facts).encode(errors="surrogateescape")).hexdigest()
    return Surroundings(fingerprint=digest[:24], lasts=lasts(settings))


def lasts(settings: Settings) -> bool:
    """Whether commands reach no more of the network than the services whose state takes part."""
    network = settings.sandbox.network
    return network in ("none", "loopback") if isinstance(network, str) else all(map(_is_loopback, network))


def services(settings: Settings, knock: Knock | None = None) -> Iterator[str]:
    """Of each service on loopback that the settings let through, whether it is there now."""
    network = settings.sandbox.network
    for host in () if isinstance(network, str) else network:
        if _is_loopback(host):
            yield f"{host} {'answers' if (knock or _answers)(host) else 'is not there'}"


def _is_loopback(host: str) -> bool:
    return host.startswith(_LOOPBACK)


def _answers(host: str) -> bool:
    name, _, port = host.rpartition(":")
    with suppress(OSError, ValueError), socket.create_connection((name.strip("[]"), int(port)), timeout=_KNOCK_S):
        return True
    return False


def _python(interpreter: ProjectPython | None) -> Iterator[str]:
    if interpreter is None:
        return
    yield f"{os.path.realpath(interpreter.path)} {interpreter.version}"
    prefixes = {
        interpreter.environment or interpreter.path.parent.parent,
        Path(os.path.realpath(interpreter.path)).parent.parent,
    }
    for prefix in sorted(prefixes):
        for folder in sorted(prefix.glob("lib/python3*/*-packages")):
            with suppress(OSError):
                yield from sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(_PACKAGES))


def _programs(path: str) -> Iterator[str]:
    for name in _PROGRAMS:
        found = shutil.which(name, path=path)
        if found is not None:
            with suppress(OSError):
                state = Path(found).stat()
                yield f"{os.path.realpath(found)} {state.st_size} {state.st_mtime_ns}"


def _node(repository: Path) -> Iterator[str]:
    for name in _INSTALLED:
        with suppress(OSError):
            yield hashlib.sha256((repository / name).read_bytes()).hexdigest()


def _of_settings(settings: Settings) -> Iterator[str]:
    """What the settings say of how commands are run; values that may be secret only leave through the hash."""
    yield settings.verify.model_dump_json()
    yield settings.sandbox.model_dump_json()
    yield settings.surroundings.model_dump_json()
    yield str(settings.run.trust)
