"""The way to a terminal or an executor whose guests run in containers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from milepost.core.commands import NO_NETWORK, Command, ExecutionLimits, Network
from milepost.core.errors import SandboxRefused
from milepost.sandbox.container import here
from milepost.sandbox.container.commands import Container
from milepost.sandbox.container.keeper import Containers
from milepost.sandbox.environment import prepare_scratch
from milepost.sandbox.executor import IsolatedExecutor
from milepost.sandbox.launch import Launch, Surroundings
from milepost.sandbox.reach import Missing, Reach
from milepost.sandbox.terminal import IsolatedTerminal

_INTERPRETER = Path("python3")


def open_terminal(container: Container, *, extra_readable: tuple[Path, ...] = ()) -> IsolatedTerminal:
    """A terminal whose commands run in containers, with the programs of their image."""
    launcher = Containers(here.require(container))
    return IsolatedTerminal(extra_readable=extra_readable, launcher=launcher, prepare=launch_in_image)


def open_executor(
    container: Container,
    limits: ExecutionLimits | None = None,
    *,
    workspace: Path | None = None,
    network: Network = NO_NETWORK,
) -> IsolatedExecutor:
    """An executor whose sessions run in containers, with the Python of their image."""
    if limits is not None and limits.cpu_s is not None:
        fix = "leave cpu_s out, or use trust level 'sandboxed'"
        raise SandboxRefused("a container cannot bound the processor time of one run", fix)
    return IsolatedExecutor(
        limits,
        workspace=workspace,
        network=network,
        interpreter=_INTERPRETER,
        launcher=Containers(here.require(container)),
        prepare=launch_in_image,
    )


def launch_in_image(command: Command, around: Surroundings) -> Launch | Missing:
    """What to start for a command in a container, its scratch folder made ready; or what it lacks."""
    if not command.argv:
        return Missing("there is no program to run: argv is empty")
    if command.network.mode == "hosts":
        return Missing("a container cannot be given single hosts: use trust level 'sandboxed', or another network")
    command = replace(command, cwd=command.cwd.absolute(), scratch=command.scratch.absolute())
    try:
        prepare_scratch(command.scratch)
    except OSError as problem:
        return Missing(f"the scratch folder cannot be made: {problem}")
    if not command.cwd.is_dir():
        return Missing(f"the working directory does not exist: {command.cwd}")
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
    )
