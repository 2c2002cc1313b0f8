"""The keeper of a container: the part that a relay has for other guests, played by a thread of the host."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

from milepost.sandbox.container import commands, engines
from milepost.sandbox.container.commands import Berth, Container
from milepost.sandbox.container.watch import Vigil
from milepost.sandbox.launch import Launch
from milepost.sandbox.walls.frames import tell
from milepost.sandbox.warden_client import Guest, Welcome

_INSIDE = Path("/milepost")
# What the session writes goes straight into the pipe it is handed, so that none of it comes after the answer.
_SERVE = """
import os, socket, sys
sys.path.insert(0, sys.argv[1])
from walls.guest import serve
del sys.path[0]
channel = socket.socket(socket.AF_UNIX)
channel.connect(sys.argv[2])
_, (output,), _, _ = socket.recv_fds(channel, 1, 1)
os.dup2(output, 1)
os.dup2(output, 2)
os.close(output)
serve(channel.detach())
"""
_NEVER = "0001-01-01"
_KILLED = 128 + signal.SIGKILL


class Containers:
    """Launches guests in containers. Safe to share by threads."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._mark = engines.host_mark()
        self._numbers = itertools.count(1)
        self._keepers: set[threading.Thread] = set()
        engines.remove_leftovers(container)

    def launch(self, launch: Launch, descriptors: tuple[int, ...], welcome: Welcome | None = None) -> Guest:
        """Start a container with copies of `descriptors` as its 0, 1 and 2; a session's fourth has its questions."""
        ours, theirs = socket.socketpair()
        control, control_writer = os.pipe()
        name = f"{self._mark}{next(self._numbers)}"
        keeper = _Keeper(self._container, launch, name, theirs, control, [os.dup(each) for each in descriptors])
        thread = threading.Thread(target=keeper.keep, name=name, daemon=True)
        self._keepers = {each for each in self._keepers if each.is_alive()} | {thread}
        thread.start()
        return Guest(control=control_writer, status=ours.detach(), timeout_s=None)

    def close(self) -> None:
        """Return when every container that was launched here is gone; whoever holds its guest has ended it."""
        for thread in self._keepers:
            thread.join()


class _Keeper:
    """Sees one container from its start to its removal, and tells the host how it ended."""

    def __init__(
        self,
        container: Container,
        launch: Launch,
        name: str,
        host: socket.socket,
        control: int,
        descriptors: list[int],
    ) -> None:
        self._container = container
        self._launch = launch
        self._name = name
        self._host = host
        self._control = control
        self._descriptors = descriptors

    def keep(self) -> None:
        """Run the container until it ends or must, report, and leave nothing of it."""
        folder = Path(tempfile.mkdtemp(prefix="milepost-"))
        try:
            with self._host, socket.socket(socket.AF_UNIX) as door:
                door.bind(str(folder / "channel"))
                door.listen(1)
                try:
                    self._keep(folder, door)
                except (OSError, ValueError) as problem:
                    tell(self._host, failure={"stage": "exec", "errno": None, "text": str(problem)})
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            for descriptor in (self._control, *self._descriptors):
                os.close(descriptor)

    def _keep(self, folder: Path, door: socket.socket) -> None:
        process = self._start(folder)
        facts = {"started": True, "applied": _applied(self._container, self._launch)}
        try:
            with Vigil(self._host, process.pid, self._control) as vigil:
                if self._launch.program is None:
                    _, output, _, questions = self._descriptors
                    vigil.receive(door, facts, questions=questions, output=output)
                else:
                    tell(self._host, **facts)
                ended, words = vigil.wait(self._launch.timeout_s)
            told = engines.ask(commands.state(self._container, self._name)).stdout
        finally:
            # The program first: it might just be about to start what is to be removed.
            process.kill()
            process.wait()
            engines.ask(commands.remove(self._container, self._name))
        tell(self._host, **_facts(told, ended, words, self._launch))

    def _start(self, folder: Path) -> subprocess.Popen[bytes]:
        variables = folder / "variables"
        variables.touch(mode=0o600)
        variables.write_text(commands.variables(self._launch.env))
        berth = Berth(name=self._name, user=os.getuid(), group=os.getgid(), variables=variables)
        stdin, stdout, stderr = self._descriptors[:3]
        if self._launch.program is not None:
            argv = commands.run(self._container, self._launch, berth)
            process = subprocess.Popen(argv, stdin=stdin, stdout=stdout, stderr=stderr, cwd="/")
            while self._descriptors:
                os.close(self._descriptors.pop())
            return process
        serve = ("-I", "-X", "utf8", "-c", _SERVE, str(_INSIDE), str(_INSIDE / "channel"))
        launch = replace(self._launch, argv=(self._launch.argv[0], *serve))
        mounts = {_INSIDE / "walls": engines.walls_folder(), _INSIDE / "channel": folder / "channel"}
        argv = commands.run(self._container, launch, berth, mounts)
        nothing = subprocess.DEVNULL
        return subprocess.Popen(argv, stdin=nothing, stdout=nothing, stderr=nothing, cwd="/")


def _applied(container: Container, launch: Launch) -> list[str]:
    bounds = launch.bounds
    held = {
        str(container): True,
        "read-only-root": True,
        "dropped-capabilities": True,
        "no-new-privileges": True,
        "net-namespace": launch.network.mode != "open",
        "rlimits": True,
        "cgroup-memory": bounds.memory_mb is not None,
        "cgroup-pids": bounds.processes is not None,
    }
    return [name for name, is_held in held.items() if is_held]


def _facts(told: str, ended: str, words: str, launch: Launch) -> dict[str, Any]:
    """What a relay would tell, from the state that the program tells of the container."""
    if ended != "guest":
        return {"ended": ended, "words": words}
    try:
        state: dict[str, Any] = json.loads(told)
    except ValueError:
        return {"failure": {"stage": "start", "errno": None, "text": "the container could not be created"}}
    if str(state["StartedAt"]).startswith(_NEVER):
        text = state.get("Error") or f"{launch.argv[0]!r} cannot be run in the image"
        return {"failure": {"stage": "exec", "errno": None, "text": text}}
    # The first process of a container cannot be killed from inside it, and we have not: what is left is the kernel.
    if launch.bounds.memory_mb is not None and (state.get("OOMKilled") or state["ExitCode"] == _KILLED):
        return {"ended": "memory", "words": f"used more than {launch.bounds.memory_mb} MB of memory"}
    return {"ended": ended, "exit_code": state["ExitCode"]}
