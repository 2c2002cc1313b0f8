"""The keeper of one guest: starts it behind the walls, ends its whole tree, tells what happened.

The warden calls `keep` in a process forked for one guest.
What the host learns about how a guest ended comes from here and never from the guest.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import time
from typing import Any, NoReturn

from . import confine

_LONGEST_POLL_S = 3600.0  # the kernel counts milliseconds in an int
_KERNEL_LISTS_CHILDREN = os.path.exists(f"/proc/self/task/{os.getpid()}/children")  # noqa: PTH110
# Python ignores the first two, the warden and its relays the rest; a guest starts with none of it.
_SIGNALS_TO_RESTORE = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def keep(launch: int, control: int, status: int, descriptors: list[int], *, warden: int, held: list[str]) -> None:
    """Run the guest that `launch` (a file of JSON) describes until it ends or must, and report on `status`.

    The guest gets `descriptors` from 0 on; `held` names the walls that already stand.
    """
    try:
        os.setsid()
        confine.adopt_orphans()
        confine.hide_memory()
        wanted = _read_launch(launch)
        warden_ended = os.pidfd_open(warden)
        if os.getppid() != warden:
            return
        watch = _start(wanted, descriptors, held, _Watch(control=control, warden=warden_ended, status=status))
    except OSError as problem:
        _tell(status, failure={"stage": "start", "errno": problem.errno, "text": problem.strerror})
        return
    ended = watch.wait(wanted["timeout_s"])
    ending = sweep(watch.guest)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    _tell(
        status,
        ended=ended,
        exit_code=os.WEXITSTATUS(ending) if os.WIFEXITED(ending) else None,
        signal=os.WTERMSIG(ending) if os.WIFSIGNALED(ending) else None,
        max_rss_bytes=usage.ru_maxrss * 1024,
        **watch.setup_facts(),
    )


def sweep(guest: int) -> int:
    """Kill and reap every descendant of this process; returns how `guest` ended.

    Each round kills the tree as it stands and then waits for a death. Whatever was forked meanwhile is a child of
    something that was just killed, so it is adopted here before the next round, however it tried to get away.
    """
    ending = 0
    while True:
        try:
            while (reaped := os.waitpid(-1, os.WNOHANG))[0] != 0:
                ending = reaped[1] if reaped[0] == guest else ending
            for child in children(os.getpid()):
                kill_tree(child)
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        except ChildProcessError:
            return ending


def kill_tree(child: int) -> None:
    """Send SIGKILL to a child of this process, its group, and all that descend from it at this moment.

    A process that forks and exits without end is gone before its number can be used; its group is not, and the kernel
    lets nobody fork out of a group that is being killed. Guests start in a session of their own, so a child's group
    holds nothing but guests, except for the moment before that, when it is still ours.
    """
    doomed = [child]
    with contextlib.suppress(OSError):
        group = os.getpgid(child)
        if group != os.getpgrp():
            os.killpg(group, signal.SIGKILL)
    for pid in doomed:
        doomed.extend(children(pid))
    for pid in doomed:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def children(pid: int) -> list[int]:
    """The children of a process, those that have ended but were not waited for among them."""
    if not _KERNEL_LISTS_CHILDREN:
        return _children_by_scan(pid)
    texts = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - names only, and often
            texts.append(_read(f"/proc/{pid}/task/{thread}/children"))
    return [int(child) for text in texts for child in text.split()]


def _children_by_scan(parent: int) -> list[int]:
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208
        with contextlib.suppress(OSError):
            if name.isdigit() and int(_read(f"/proc/{name}/stat").rpartition(b")")[2].split()[1]) == parent:
                found.append(int(name))
    return found


def _read(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - pathlib costs start-up time
        return file.read()


def _start(wanted: dict[str, Any], descriptors: list[int], held: list[str], watch: _Watch) -> _Watch:
    setup, setup_writer = os.pipe()
    relay = os.getpid()
    guest = os.fork()
    if guest == 0:
        _become(wanted, descriptors, held, setup_writer, relay)
    for descriptor in (setup_writer, *descriptors):
        os.close(descriptor)
    watch.begin(guest, setup)
    return watch


class _Watch:
    """Waits for the first reason to end a guest, and notes how its start went."""

    def __init__(self, *, control: int, warden: int, status: int) -> None:
        self._control = control
        self._warden_ended = warden
        self._status = status
        self._setup_text = b""

    def begin(self, guest: int, setup: int) -> None:
        self.guest = guest
        self._guest_ended = os.pidfd_open(guest)
        self._setup = setup

    def wait(self, timeout_s: float | None) -> str:
        """Who or what ended it: guest, host, warden or timeout."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        poller = select.poll()
        for descriptor in (self._guest_ended, self._control, self._warden_ended, self._setup):
            poller.register(descriptor, select.POLLIN)
        while True:
            left_ms = None if deadline is None else min(max(0.0, deadline - time.monotonic()), _LONGEST_POLL_S) * 1000
            ready = {descriptor for descriptor, _ in poller.poll(left_ms)}
            if self._guest_ended in ready:
                return "guest"
            if self._control in ready:
                return "host"
            if self._warden_ended in ready:
                return "warden"
            if self._setup in ready and not self._read_setup():
                poller.unregister(self._setup)
                _tell(self._status, pid=self.guest, **self._setup_lines())
            if deadline is not None and time.monotonic() >= deadline:
                return "timeout"

    def setup_facts(self) -> dict[str, Any]:
        """What holds the guest, and why its program never began if it did not; for when its tree is gone."""
        while self._read_setup():
            pass
        return self._setup_lines()

    def _read_setup(self) -> bytes:
        piece = os.read(self._setup, 65536)
        self._setup_text += piece
        return piece

    def _setup_lines(self) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        for line in self._setup_text.splitlines():
            facts.update(json.loads(line))
        return facts


def _become(wanted: dict[str, Any], descriptors: list[int], held: list[str], setup: int, relay: int) -> NoReturn:
    """Turn this process into the guest's program, or say on `setup` why it could not."""
    stage = "descriptors"
    try:
        os.setsid()
        confine.die_with(relay)
        for number in _SIGNALS_TO_RESTORE:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        setup = confine.place_descriptors(descriptors, setup)
        stage = "cwd"
        os.chdir(wanted["cwd"])
        stage = "confine"
        applied = ["closed-descriptors", *held, *_raise_walls(wanted)]
        stage = "exec"
        _tell(setup, applied=applied)
        os.execve(wanted["program"], wanted["argv"], wanted["env"])  # noqa: S606 - replacing the process is the point
    except OSError as problem:
        _tell(setup, failure={"stage": stage, "errno": problem.errno, "text": problem.strerror})
    except Exception as problem:
        _tell(setup, failure={"stage": stage, "errno": None, "text": str(problem)})
    finally:
        os._exit(127)


def _raise_walls(wanted: dict[str, Any]) -> list[str]:
    confine.limit_resources(wanted["rlimits"])
    confine.forbid_new_privileges()
    held = confine.restrict_files(wanted["readable"], wanted["writable"])
    return ["rlimits", "no-new-privileges", *held]


def _read_launch(launch: int) -> dict[str, Any]:
    with open(launch, "rb") as file:
        file.seek(0)
        wanted: dict[str, Any] = json.load(file)
    return wanted


def _tell(descriptor: int, **facts: Any) -> None:
    with contextlib.suppress(BrokenPipeError):
        os.write(descriptor, json.dumps(facts).encode() + b"\n")
