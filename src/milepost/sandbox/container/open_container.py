"""The way to a terminal or an executor whose guests run in containers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from milepost.core.commands import NO_NETWORK, Command, ExecutionLimits, Network
from milepost.core.errors import SandboxRefused
from milepost.sandbox.container import engines
from milepost.sandbox.container.commands import Container
from milepost.sandbox.container.supervisor import Containers
from milepost.sandbox.environment import prepare_scratch
from milepost.sandbox.executor import WalledExecutor
from milepost.sandbox.launch import Launch, Surroundings
from milepost.sandbox.terminal import WalledTerminal
from milepost.sandbox.visible_paths import Missing, Reach, led_out_of

_INTERPRETER = Path("python3")
_USUAL = ExecutionLimits()


def open_terminal(
    container: Container, *, extra_readable: tuple[Path, ...] = (), in_checkouts: bool = False
) -> WalledTerminal:
    """A terminal whose commands run in containers, with the programs of their image."""
    launcher = Containers(engines.require(container))
    return WalledTerminal(
        extra_readable=extra_readable, in_checkouts=in_checkouts, launcher=launcher, prepare=launch_in_image
    )


def open_executor(
    container: Container,
    limits: ExecutionLimits | None = None,
    *,
    workspace: Path | None = None,
    network: Network = NO_NETWORK,
    direct: bool = False,
) -> WalledExecutor:
    """An executor whose sessions run in containers, with the Python of their image."""
    _refuse_what_is_not_held(limits or _USUAL, network)
    return WalledExecutor(
        limits,
        workspace=workspace,
        direct=direct,
        network=network,
        interpreter=_INTERPRETER,
        launcher=Containers(engines.require(container)),
        prepare=launch_in_image,
    )


def _refuse_what_is_not_held(limits: ExecutionLimits, network: Network) -> None:
    """Raise on what is asked for beyond the usual, and no container can do."""
    asked = {
        "limit the processor time of one run": limits.cpu_s is not None,
        "limit the disk": (limits.disk_mb, limits.inodes) != (_USUAL.disk_mb, _USUAL.inodes),
        "limit the network to single hosts": network.mode == "hosts",
    }
    for what, is_asked in asked.items():
        if is_asked:
            raise SandboxRefused(f"a container cannot {what}", "leave that out, or use trust level 'sandboxed'")


def launch_in_image(command: Command, around: Surroundings) -> Launch | Missing:
    """What to start for a command in a container, its scratch folder made ready; or what it lacks."""
    if not command.argv:
        return Missing("there is no program to run: argv is empty")
    if command.network.mode == "hosts":
        return Missing(
            "a container cannot limit the network to single hosts: use trust level 'sandboxed', or another network"
        )
    command = replace(command, cwd=command.cwd.absolute(), scratch=command.scratch.absolute())
    try:
        prepare_scratch(command.scratch)
    except OSError as problem:
        return Missing(f"the scratch folder cannot be created: {problem}")
    if not command.cwd.is_dir():
        return Missing(f"the working directory does not exist: {command.cwd}")
    if (folder := led_out_of(command)) is not None:
        return Missing(f"the working directory is outside of {str(folder)!r}: {command.cwd}")
    readable = (path for path in (*around.readable, *command.readable) if path.exists())
    folders = (path for path in (command.cwd, command.scratch, *command.writable) if path.exists())
    own = {"HOME": str(command.scratch / "home"), "TMPDIR": str(command.scratch / "tmp"), "LANG": "C.UTF-8"}
    return Launch(
        program=Path(command.argv[0]),
        argv=command.argv,
        env={**own, **command.env},
        cwd=command.cwd,
        reach=Reach(readable=tuple(readable), folders=tuple(folders)),
        timeout_s=command.timeout_s,
        network=command.network,
        bounds=command.bounds,
        guard=around.guard(command),
    )
