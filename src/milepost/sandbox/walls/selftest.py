"""What this machine can hold, found out by raising the walls around throw-away processes and running against them.

Run as a program in the warden's kind of interpreter, it prints what came of each level as JSON: the names of what
held, or at which stage it failed and why.
"""

from __future__ import annotations

import errno
import json
import os
import select
import socket
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from . import confine, kernel, namespaces, own_mounts, seccomp, syscalls
from .porter import supervisor as porter

_T = TypeVar("_T")

_WALLS = os.path.realpath(__file__).rpartition("/")[0]
_PROBE = "milepost-self-test"
_PLAN: dict[str, Any] = {
    "readable": [],
    "writable": [],
    "protected": [],
    "network": "none",
    "listen": [],
    "overlay": {"folder": _WALLS, "size_mb": 1, "inodes": 64},
    "tmp_mb": 1,
    "hostname": "sandbox",
}


def main() -> None:
    """Try both levels at once and print what came of them. A room holds also where it can have no overlay."""
    tries = {"isolated": _begin(_try_isolated), "sandboxed": _begin(partial(_try_sandboxed, _PLAN))}
    found = {level: _end(*tried) for level, tried in tries.items()}
    if "held" not in found["sandboxed"]:
        without_overlay = _end(*_begin(partial(_try_sandboxed, {**_PLAN, "overlay": None})))
        found["sandboxed"] = without_overlay if "held" in without_overlay else found["sandboxed"]
    if os.path.lexists(f"{_WALLS}/{_PROBE}"):
        found["sandboxed"] = _Failed("overlay", "what was written into it reached the folder below").found
    sys.stdout.write(json.dumps(found))


class _Failed(Exception):
    """A wall could not be raised, or let something through."""

    def __init__(self, stage: str, error: str, errno: int | None = None) -> None:
        super().__init__(error)
        self.found = {"stage": stage, "error": error, "errno": errno}


def _begin(attempt: Callable[[], list[str]]) -> tuple[int, int]:
    """Start an attempt in a process of its own; its number, and where it will tell what it found."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writer, json.dumps(_outcome(attempt)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    return pid, reader


def _outcome(attempt: Callable[[], list[str]]) -> dict[str, Any]:
    try:
        return {"held": attempt()}
    except _Failed as failed:
        return failed.found
    except Exception as problem:
        return {"stage": "self-test", "error": repr(problem), "errno": None}


def _end(pid: int, reader: int) -> dict[str, Any]:
    with open(reader, "rb") as file:
        text = file.read()
    _, status = os.waitpid(pid, 0)
    died = {"stage": "self-test", "error": f"it ended with status {status}", "errno": None}
    found: dict[str, Any] = json.loads(text) if text else died
    return found


def _try_isolated() -> list[str]:
    """Keep a guest as a relay would, one that may change nothing."""
    scoped = _stage("landlock", confine.scope_abstract_names)
    ours, theirs = socket.socketpair()
    guest, said = _begin(lambda: _behind_walls(theirs))
    theirs.close()
    _, listeners, _, _ = socket.recv_fds(ours, 1, 1)
    if not listeners:
        return _held(_end(guest, said))
    rules = porter.Rules(writable=(), network="none", abstract_names=scoped)
    answering = porter.Porter(listeners[0], rules=rules)
    _answer_until(said, answering)
    held = _held(_end(guest, said))
    if not answering.refused:
        raise _Failed("porter", "it was set up, but saw no system call")
    return [*held, "porter", "private-shm" if own_mounts.can_be_had() else "no-shm"]


def _behind_walls(keeper: socket.socket) -> list[str]:
    mode = os.stat(_WALLS).st_mode & 0o777  # noqa: PTH116
    _stage("capabilities", confine.limit_capabilities)
    confine.forbid_new_privileges()
    held = _stage("landlock", lambda: confine.restrict_files(readable=(), writable=()))
    _expect("landlock", errno.EACCES, lambda: os.open(_WALLS, os.O_RDONLY))
    calls = seccomp.Calls(level="isolated", network="none", ask=True, landlock=confine.landlock_abi())
    machine = os.uname().machine
    program = _stage("machine", lambda: seccomp.program(calls, machine))
    listener = _stage("seccomp", lambda: seccomp.install(program, listen=True))
    mount = syscalls.machine_named(machine).numbers["mount"]
    _expect("seccomp", errno.EPERM, lambda: kernel.call(mount, None, None, None, 0, None))
    socket.send_fds(keeper, [b"l"], [listener])
    keeper.close()
    _expect("porter", errno.EPERM, lambda: os.chmod(_WALLS, mode))  # noqa: PTH101
    return [*held, "seccomp"]


def _answer_until(said: int, answering: porter.Porter) -> None:
    """Answer the guest's questions until it has said all."""
    poller = select.poll()
    for each in (said, answering.fileno()):
        poller.register(each, select.POLLIN)
    while said not in {descriptor for descriptor, _ in poller.poll()}:
        answering.answer()


def _try_sandboxed(plan: dict[str, Any]) -> list[str]:
    _stage("namespaces", lambda: namespaces.leave_host(plan))
    return _held(_end(*_begin(partial(_try_room, plan))))


def _try_room(plan: dict[str, Any]) -> list[str]:
    held = _stage("room", lambda: namespaces.move_in(plan))
    namespaces.give_up_privileges()
    if os.getpid() != 1 or os.getuid() == 0:
        raise _Failed("namespaces", f"the sandbox's first process is number {os.getpid()} of user {os.getuid()}")
    _expect("private-root", errno.ENOENT, lambda: os.stat("/etc/passwd"))  # noqa: PTH116
    _expect("private-root", errno.EROFS, lambda: os.mkdir(f"/{_PROBE}"))  # noqa: PTH102
    _expect("net-namespace", errno.ENETUNREACH, _reach_documentation_address)
    if plan["overlay"] is not None:
        _stage("overlay", _write_into_overlay)
    return held


def _held(found: dict[str, Any]) -> list[str]:
    if "held" not in found:
        raise _Failed(**found)
    return list(found["held"])


def _reach_documentation_address() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as anywhere:
        anywhere.connect(("192.0.2.1", 9))  # looks for a route and sends nothing


def _write_into_overlay() -> None:
    """Put a folder in the place of a file: the hardest thing to note in memory, which old kernels cannot."""
    os.unlink(f"{_WALLS}/__init__.py")  # noqa: PTH108
    os.mkdir(f"{_WALLS}/__init__.py")  # noqa: PTH102
    os.mkdir(f"{_WALLS}/{_PROBE}")  # noqa: PTH102


def _stage(name: str, call: Callable[[], _T]) -> _T:
    try:
        return call()
    except OSError as problem:
        raise _Failed(name, problem.strerror or str(problem), problem.errno) from problem


def _expect(name: str, number: int, call: Callable[[], object]) -> None:
    """Call what must be refused with this error."""
    try:
        call()
    except OSError as problem:
        if problem.errno == number:
            return
        raise _Failed(name, f"it was set up, then failed: {problem.strerror}", problem.errno) from problem
    raise _Failed(name, "it was set up, but blocked nothing")
