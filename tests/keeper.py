"""A small relay for tests of the filter and the porter alone: one guest, no Landlock, any version of it pretended.

Run as a script, it reads a request as JSON, keeps a guest that runs Python code, and writes what came of it.
"""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from milepost.sandbox.walls.porter.supervisor import Rules
    from milepost.sandbox.walls.seccomp import Calls

_WALLS = Path(__file__).parent.parent / "src/milepost/sandbox"
_NO_STACK_SO_LARGE = 1 << 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What a guest said, how it ended, and what its porter did not let it do."""

    stdout: str
    stderr: str
    exit_code: int
    refused: tuple[str, ...]


def keep(code: str, *, calls: Calls, rules: Rules, cwd: Path, has_threads: bool = True) -> Kept:
    """Run code in a process behind the filter, with a porter that holds to the rules, if he can have threads or not."""
    request = {"code": code, "calls": asdict(calls), "rules": asdict(rules), "has_threads": has_threads}
    done = subprocess.run(
        [sys.executable, "-I", "-S", __file__, str(_WALLS)],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=60,
        check=True,
    )
    told: dict[str, Any] = json.loads(done.stdout)
    return Kept(**{**told, "refused": tuple(told["refused"])})


def _main() -> None:
    sys.path.insert(0, sys.argv[1])
    from walls import confine, seccomp  # type: ignore[import-not-found]
    from walls.porter import supervisor as porter  # type: ignore[import-not-found]

    request = json.load(sys.stdin)
    rules = porter.Rules(**request["rules"])
    text = seccomp.program(seccomp.Calls(**request["calls"]), os.uname().machine)
    outputs = [os.pipe(), os.pipe()]
    ours, guests = socket.socketpair()
    confine.adopt_orphans()
    if rules.abstract_names:
        assert confine.scope_abstract_names()
    guest = os.fork()
    if guest == 0:
        for target, (_, writer) in enumerate(outputs, start=1):
            os.dup2(writer, target)
        os.setsid()
        confine.forbid_new_privileges()
        listener = seccomp.install(text, listen=True)
        socket.send_fds(guests, [b"."], [listener])
        os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", request["code"]])
    for _, writer in outputs:
        os.close(writer)
    _, [listener], _, _ = socket.recv_fds(ours, 1, 1)
    answering = porter.Porter(listener, rules=rules)
    if not request["has_threads"]:
        threading.stack_size(_NO_STACK_SO_LARGE)
    said = _attend(guest, answering, [reader for reader, _ in outputs])
    _, how = os.waitpid(guest, 0)
    sys.stdout.write(
        json.dumps(
            {
                "stdout": said[0].decode(),
                "stderr": said[1].decode(),
                "exit_code": os.waitstatus_to_exitcode(how),
                "refused": answering.refused,
            }
        )
    )
    sys.stdout.flush()
    os._exit(0)


def _attend(guest: int, answering: Any, outputs: list[int]) -> list[bytes]:
    """Answer and listen until the guest has ended and its output, too."""
    said = dict.fromkeys(outputs, b"")
    poller = select.poll()
    for descriptor in (answering.fileno(), *outputs):
        poller.register(descriptor, select.POLLIN)
    left = set(outputs)
    while left:
        for descriptor, events in poller.poll():
            if descriptor in left:
                piece = os.read(descriptor, 65536)
                said[descriptor] += piece
                if not piece:
                    poller.unregister(descriptor)
                    left.discard(descriptor)
            elif events & select.POLLIN:
                answering.answer()
            else:
                poller.unregister(descriptor)
    return [said[reader] for reader in outputs]


if __name__ == "__main__":
    _main()
