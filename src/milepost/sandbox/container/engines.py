"""Whether containers can be had on this machine, and hold what they promise."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

from milepost.core.errors import SandboxRefused
from milepost.sandbox.container import commands
from milepost.sandbox.container.commands import Container
from milepost.sandbox.walls import tree

_PREFIX = "milepost-"
_PATIENCE_S = 60.0
_NO_SUCH_PROGRAM = 127  # an image need not have it: the walls stood by the time that it was looked for


def require(container: Container) -> Container:
    """The container as it is to be run here; SandboxRefused when it cannot be, or would not be held."""
    facts = require_program(container)
    if ask(commands.image(container)).returncode != 0:
        fix = f"{container.program} pull {container.image}"
        raise SandboxRefused(f"the image {container.image!r} is not on this machine", fix)
    container = replace(container, keeps_id=is_rootless_podman(facts))
    tried = ask(commands.trial(container, f"{host_mark()}trial"))
    if tried.returncode not in (0, _NO_SUCH_PROGRAM):
        fix = (
            f"make this command work: {container.program} run --rm --memory 64m --pids-limit 16 {container.image} true"
        )
        raise SandboxRefused(f"{container.program} cannot start a container: {last_line(tried.stderr)}", fix)
    return container


def require_program(container: Container) -> dict[str, Any]:
    """What the program tells of itself; SandboxRefused when it is missing, silent, or cannot bound containers."""
    if shutil.which(container.program) is None:
        fix = "install it, or leave container out of [sandbox]"
        raise SandboxRefused(f"{container.program} is not installed", fix)
    told = ask(commands.about(container))
    try:
        facts: dict[str, Any] = json.loads(told.stdout) if told.returncode == 0 else {}
    except ValueError:
        facts = {}
    if not facts:
        fix = f"make this command work: {container.program} info"
        raise SandboxRefused(f"{container.program} does not answer: {last_line(told.stderr)}", fix)
    if missing := unbounded(facts):
        fix = "use a machine with cgroup v2; if you are not root, have its controllers delegated to you"
        raise SandboxRefused(f"{container.program} cannot limit the {' and the '.join(missing)} here", fix)
    return facts


def version(facts: dict[str, Any]) -> str:
    """The version in what the program tells of itself; docker's is its server's."""
    podman: dict[str, Any] = facts.get("version") or {}
    return str(podman.get("Version") or facts.get("ServerVersion") or "")


def unbounded(facts: dict[str, Any]) -> list[str]:
    """What a container could use without bound, by what the program tells of itself."""
    if "host" in facts:
        is_current = facts["host"].get("cgroupVersion") == "v2"
        controllers = (facts["host"].get("cgroupControllers") or []) if is_current else []
        return [name for name, key in {"memory": "memory", "processes": "pids"}.items() if key not in controllers]
    return [name for name, key in {"memory": "MemoryLimit", "processes": "PidsLimit"}.items() if not facts.get(key)]


def is_rootless_podman(facts: dict[str, Any]) -> bool:
    return bool(facts.get("host", {}).get("security", {}).get("rootless"))


def remove_leftovers(container: Container) -> None:
    """Remove the containers of hosts that are gone."""
    found = ask(commands.names(container)).stdout.split()
    if left_over := [name for name in found if not is_of_a_living_host(name)]:
        ask(commands.remove(container, *left_over))


def host_mark() -> str:
    """What the names of this process's containers begin with."""
    return f"{_PREFIX}{os.getpid()}-{_started_at(os.getpid())}-"


def is_of_a_living_host(name: str) -> bool:
    """Whether the process that named a container still runs; True for a name that is none of ours."""
    pid, _, rest = name.removeprefix(_PREFIX).partition("-")
    started_at = rest.partition("-")[0]
    if not name.startswith(_PREFIX) or not pid.isdigit() or not started_at.isdigit():
        return True
    try:
        return _started_at(int(pid)) == int(started_at)
    except OSError:
        return False


def ask(argv: list[str]) -> subprocess.CompletedProcess[str]:
    """What the program says to something that takes no time."""
    try:
        return subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE_S,
            check=False,
            cwd="/",
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return subprocess.CompletedProcess(argv, 125, "", str(problem))


def last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it printed nothing"])[-1]


def walls_folder() -> Path:
    return Path(tree.__file__).parent


def _started_at(pid: int) -> int:
    """When a process started, in ticks since the machine did: a number that is not given out again."""
    return int(tree.read(f"/proc/{pid}/stat").rpartition(b")")[2].split()[19])
